"""A log (-wal) that was damaged after kill -9: what was acknowledged is there, or it is said."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dikin
from dikin import errors
from dikin.studies.database import Sqlite

PLAY = """
import os, signal, sys, dikin
study = dikin.Study(sys.argv[1], "a")
for _ in range(int(sys.argv[2])):
    study.tell(study.ask(), 0.5)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def killed(file: str) -> str:
    """A study with 30 rounds in its log, whose only client was killed."""
    dikin.Study(file, "a", dikin.Predictive(dikin.Ball(2), seed=1)).close()
    done = subprocess.run([sys.executable, "-c", PLAY, file, "30"], check=False)
    assert done.returncode == -9
    assert Path(f"{file}-wal").stat().st_size > 0
    return file


def opened(file: str) -> int:
    with dikin.Study(file, "a") as study:
        return study.rounds


def damage_is_said(file: str) -> bool:
    """Whether opening is refused; if not, all rounds are there."""
    try:
        rounds = opened(file)
    except errors.StateError:
        return True
    assert rounds == 30
    return False


def copies(killed: str, count: int) -> list[str]:
    """The database and all beside it, that many times."""
    source, found = Path(killed), []
    for i in range(count):
        folder = source.parent / f"copy{i}"
        folder.mkdir()
        for part in ("", "-wal", "-marks"):
            shutil.copy(f"{killed}{part}", folder / f"studies.db{part}")
        found.append(str(folder / "studies.db"))
    return found


def test_an_undamaged_log_has_all_rounds(killed: str) -> None:
    assert opened(killed) == 30


def test_flipped_bytes_are_noticed_or_do_no_harm(killed: str) -> None:
    rng, said = np.random.default_rng(5), 0
    for file in copies(killed, 20):
        log = Path(f"{file}-wal")
        content = bytearray(log.read_bytes())
        content[int(rng.integers(32, len(content)))] ^= 1 << int(rng.integers(8))
        log.write_bytes(content)
        said += damage_is_said(file)
    assert said > 10


def test_a_log_that_was_cut_is_noticed(killed: str) -> None:
    for share, file in zip((0.0, 0.3, 0.9), copies(killed, 3), strict=True):
        log = Path(f"{file}-wal")
        log.write_bytes(log.read_bytes()[: int(share * log.stat().st_size)])
        with pytest.raises(errors.StateError, match=r"row 60 was committed.*-marks"):
            opened(file)
        Path(f"{file}-marks").unlink()  # the way to go on with what is there
        assert opened(file) < 30


def test_without_a_mark_it_would_go_unnoticed(killed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (file,) = copies(killed, 1)
    log = Path(f"{file}-wal")
    log.write_bytes(log.read_bytes()[: log.stat().st_size // 2])
    monkeypatch.setattr(Sqlite, "marked", lambda self, study: None)  # the mutant
    assert opened(file) < 30


def test_a_deleted_study_leaves_no_mark_for_the_next(file: str) -> None:
    with dikin.Study(file, "a", dikin.Predictive(dikin.Ball(2), seed=1)) as study:
        study.tell(study.ask(), 0.5)
    dikin.Study.delete(file, "a")
    dikin.Study(file, "b", dikin.Predictive(dikin.Ball(2), seed=1)).close()
    with dikin.Study(file, "b") as study:
        study.tell(study.ask(), 0.5)
        assert study.rounds == 1


def test_another_row_in_the_place_of_the_marked_one_is_noticed(file: str) -> None:
    with dikin.Study(file, "a", dikin.Predictive(dikin.Ball(2), seed=1)) as study:
        study.tell(study.ask(), 0.5)
    marks = Path(f"{file}-marks")
    text = marks.read_text()
    marks.write_text(text[:-4] + ("aaa\n" if text[-4:] != "aaa\n" else "bbb\n"))
    with pytest.raises(errors.StateError, match="not the one that was committed"):
        opened(file)
