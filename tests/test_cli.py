"""The command line where its output or its files cannot be written: a sentence, no traceback."""

import subprocess
import sys
from pathlib import Path

import pytest

import dikin


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a study of one round."""
    tuner = dikin.Tuner({"x": dikin.Real(0, 1)}, seed=1)
    with dikin.Study(tmp_path / "studies.db", "shop", tuner) as study:
        study.tell(study.ask(), 1.0)
    return tmp_path


def ended(folder: Path, line: str) -> tuple[int, str]:
    """Return the exit status and the last line of standard error of a command of the shell."""
    command = ["bash", "-o", "pipefail", "-c", line.replace("dikin", f"{sys.executable} -m dikin")]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert "Traceback" not in run.stderr
    return run.returncode, run.stderr.strip().rpartition("\n")[2]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
@pytest.mark.parametrize("line", ["--help", "--version", "study list", "study export shop"])
def test_a_full_standard_output(folder: Path, line: str) -> None:
    assert ended(folder, f"dikin {line} > /dev/full") == (2, "dikin: No space left on device")


@pytest.mark.parametrize("line", ["study --help | head -1", "study history shop | :", "--help >&-"])
def test_a_reader_that_ends_early(folder: Path, line: str) -> None:
    assert ended(folder, f"dikin {line}")[1] == ""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("study export shop --out no/a.csv", "no/a.csv: No such file or directory"),
        ("study show shop --out no/a.png", "no/a.png: No such file or directory"),
        ("study report shop --out no/a.html", "no/a.html: No such file or directory"),
        ("reproduce --out studies.db", "studies.db cannot be written"),
        ("study create b --param x=1:2 --url no/a.db", "no/a.db cannot be opened: there is no fol"),
        ("token create me --url no/a.db", "no/a.db cannot be opened: there is no folder"),
        ("serve --url no/a.db", "no/a.db cannot be opened: there is no folder"),
    ],
)
def test_a_path_that_cannot_be_written(folder: Path, line: str, message: str) -> None:
    status, error = ended(folder, f"dikin {line}")
    assert (status, error[:6], message in error) == (2, "dikin:", True)
