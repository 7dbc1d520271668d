"""Standard input or output that is closed, full or a device: a line about it, and no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import dikin

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = str(tmp_path / "studies.db")
    with dikin.Study(path, "a", dikin.Tuner({"x": dikin.Real(0, 1)}, seed=1)) as study:
        for _ in range(3):
            study.tell(study.ask(), 0.5)
    return path


def run(command: str, store: str) -> tuple[int, str]:
    """Run a command line by the shell, `dikin` meaning this one; exit status and messages."""
    script = command.replace("dikin", f"{sys.executable} -m dikin")
    done = subprocess.run(
        ["sh", "-c", script],
        env=os.environ | {"DIKIN_URL": store},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "command",
    [
        "dikin --help > /dev/full",
        "dikin study export a > /dev/full",
        "dikin study list > /dev/full",
    ],
)
def test_an_output_that_is_full(store: str, command: str) -> None:
    status, said = run(command, store)
    assert status == 2
    assert said == "dikin: standard input or output: No space left on device\n"


@pytest.mark.parametrize(
    ("command", "status", "words"),
    [
        ("dikin study delete a <&-", 1, "Aborted"),
        ("dikin study verify a 2>&-", 0, ""),
        ("dikin study export a >&-", 2, "--out"),
    ],
)
def test_a_stream_that_is_closed(store: str, command: str, status: int, words: str) -> None:
    found, said = run(command, store)
    assert found == status
    assert words in said
    with dikin.Study(store, "a") as study:
        assert (study.rounds, study.open_queries) == (3, [])
