"""Files that are written: whole or not at all, with the mode they had, and never a device."""

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import dikin
from dikin.errors import ParameterError
from dikin.files import OWNERS_ALONE, replace_file, replacing


def learner() -> dikin.Predictive:
    return dikin.Predictive(dikin.Ball(2), seed=1)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_file_that_exists_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "tuner.json"
    file.write_text("old")
    file.chmod(mode)
    learner().save(file)
    assert stat.S_IMODE(file.stat().st_mode) == mode
    assert dikin.load(file).rounds == 0


@pytest.fixture
def generous() -> Iterator[None]:
    """A process that gives everybody everything it makes, unless it is told otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("generous")
def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    with replacing(tmp_path / "tuner.json", OWNERS_ALONE):
        assert [stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()] == [0o600]
    learner().save(tmp_path / "learner.json")
    assert [stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()] == [0o600, 0o600]


def test_what_is_made_to_be_read_follows_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        replace_file(tmp_path / "table.csv", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "table.csv").stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    file, link = tmp_path / "real" / "tuner.json", tmp_path / "link.json"
    file.write_text("old")
    link.symlink_to(file)
    learner().save(link)
    assert link.is_symlink()
    assert dikin.load(file).rounds == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "real"]


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "link to a folder"])
def test_what_is_no_file_is_refused_and_stays(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "target"
    if kind == "folder":
        target.mkdir()
    elif kind == "pipe":
        os.mkfifo(target)
    elif kind == "device":
        target = Path("/dev/null")
    else:
        target.symlink_to(tmp_path)
    before = os.stat(target).st_mode
    with pytest.raises(ParameterError, match=r"folder|device or a pipe"):
        learner().save(target)
    assert os.stat(target).st_mode == before
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("path", [None, b"tuner.json", 3, "a\0b"])
def test_what_is_no_path_is_refused(path: object) -> None:
    with pytest.raises(ParameterError, match="path"):
        learner().save(path)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="path"):
        dikin.load(path)  # type: ignore[arg-type]


# --- many at once --------------------------------------------------------------------------------

CONTENTS = [bytes([65 + number]) * 200_000 for number in range(4)]

SAVES = """
import sys
from pathlib import Path
from dikin.files import replace_file
for _ in range(int(sys.argv[3])):
    replace_file(Path(sys.argv[1]), sys.argv[2].encode() * 200_000)
"""


def read_until(path: Path, done: threading.Event) -> int:
    """Read a file again and again; how often, if it was always one whole file."""
    count = 0
    while not done.is_set() or not count:
        assert path.read_bytes() in CONTENTS
        count += 1
    return count


def test_processes_that_save_to_one_path(tmp_path: Path) -> None:
    path, done = tmp_path / "tuner.json", threading.Event()
    replace_file(path, CONTENTS[0])
    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(read_until, path, done)
        commands = [[sys.executable, "-c", SAVES, str(path), chr(c[0]), "100"] for c in CONTENTS]
        try:
            running = [subprocess.Popen(command) for command in commands]
            assert [process.wait() for process in running] == [0, 0, 0, 0]
        finally:
            done.set()
        assert reader.result() > 0
    assert os.listdir(tmp_path) == ["tuner.json"]
