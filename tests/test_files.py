"""Files are written whole or not at all, with the mode they had, and never over a device."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dikin
from dikin.errors import BusyError, ParameterError
from dikin.files import OWNERS_ALONE, replace_file, replacing

LONELY = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # forking wants a process without threads


def step(learner: dikin.AdaptiveSmooth) -> dikin.AdaptiveSmooth:
    learner.tell(learner.ask(), (-1.0) ** learner.rounds)
    return learner


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    step(dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, seed=0)).save(tmp_path / "a.json")
    return tmp_path / "a.json"


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_that_exists_keeps_its_mode(saved: Path) -> None:
    for mode in (0o600, 0o640, 0o664):
        saved.chmod(mode)
        step(dikin.load(saved)).save(saved)
        assert mode_of(saved) == mode
    assert dikin.load(saved).rounds == 4


@pytest.fixture
def umask() -> Iterator[Any]:
    before = os.umask(0)
    yield os.umask
    os.umask(before)


def test_a_new_file_is_its_owners_alone_or_follows_the_umask(umask: Any, tmp_path: Path) -> None:
    with replacing(tmp_path / "tuner.json", OWNERS_ALONE):
        assert [mode_of(path) for path in tmp_path.iterdir()] == [0o600]
    dikin.Predictive(dikin.Ball(2)).save(tmp_path / "learner.json")
    assert [mode_of(path) for path in tmp_path.iterdir()] == [0o600, 0o600]
    umask(0o027)
    replace_file(tmp_path / "table.csv", b"")
    assert mode_of(tmp_path / "table.csv") == 0o640


def test_a_link_stays_a_link(saved: Path) -> None:
    (link := saved.with_name("link.json")).symlink_to(saved)
    step(dikin.load(saved)).save(link)
    assert (link.is_symlink(), dikin.load(saved).rounds) == (True, 2)
    assert sorted(os.listdir(saved.parent)) == ["a.json", "link.json"]


def test_a_target_that_is_no_file_is_refused_and_stays(tmp_path: Path) -> None:
    folder, pipe, link = (tmp_path / name for name in ("folder", "pipe", "link"))
    folder.mkdir()
    os.mkfifo(pipe)
    link.symlink_to(folder)
    for target in (folder, pipe, link, Path("/dev/null")):
        before = os.stat(target).st_mode
        with pytest.raises(ParameterError, match="a folder, a device or a pipe"):
            replace_file(target, b"")
        assert os.stat(target).st_mode == before
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("path", [None, b"tuner.json", 3, "a\0b"])
@pytest.mark.parametrize("act", [dikin.load, dikin.Predictive(dikin.Ball(2)).save])
def test_a_value_that_is_no_path_is_refused(path: Any, act: Any) -> None:
    with pytest.raises(ParameterError, match="path"):
        act(path)


@pytest.mark.parametrize("place", ["replace", "fsync", "dumps"])
def test_a_save_that_fails(saved: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    before, learner = saved.read_bytes(), step(dikin.load(saved))

    def fail(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(json if place == "dumps" else os, place, fail)
    with pytest.raises(KeyboardInterrupt):
        learner.save(saved)
    monkeypatch.undo()
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == ["a.json"]
    learner.save(saved)
    assert dikin.load(saved).state() == learner.state()


def test_an_error_of_the_library_keeps_its_words(tmp_path: Path) -> None:
    """It may also be an `OSError`, which is given the path of the file otherwise."""
    with pytest.raises(BusyError, match="try again"), replacing(tmp_path / "history.csv"):
        raise BusyError("others wait; try again")
    assert not list(tmp_path.iterdir())


CONTENTS = [bytes([65 + number]) * 200_000 for number in range(2)]
SAVES = """
import sys
from pathlib import Path
from dikin.files import replace_file
for _ in range(40):
    replace_file(Path(sys.argv[1]), sys.argv[2].encode() * 200_000)
"""


def test_processes_that_save_to_one_path(tmp_path: Path) -> None:
    path = tmp_path / "tuner.json"
    replace_file(path, CONTENTS[0])
    commands = [[sys.executable, "-c", SAVES, str(path), chr(c[0])] for c in CONTENTS]
    running = [subprocess.Popen(command) for command in commands]
    while any(process.poll() is None for process in running):
        assert path.read_bytes() in CONTENTS
    assert [process.wait() for process in running] == [0, 0]
    assert os.listdir(tmp_path) == ["tuner.json"]


KILLED = """
import os, signal, sys, time
from pathlib import Path
import dikin
from dikin import serialization

def naive(path, content, *_):
    with open(path, "wb") as file:
        file.write(content[:500])
        file.flush()
        time.sleep(0.002)
        file.write(content[500:])

if sys.argv[2] == "naive":
    serialization.replace_file = naive

def step(learner):
    learner.tell(learner.ask(), (-1) ** learner.rounds)
    return learner

path = Path(sys.argv[1])
twin = dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, seed=0)
twin.save(path)
for kill in range(30):
    hears, says = os.pipe()
    child = os.fork()
    if not child:
        learner = dikin.load(path)
        step(learner).save(path)
        os.write(says, b".")
        while True:
            step(learner).save(path)
    os.read(hears, 1)
    time.sleep(0.005 + 0.0007 * kill)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(hears), os.close(says)
    found = dikin.load(path)
    while twin.rounds < found.rounds:
        step(twin)
    assert found.state() == twin.state(), (found.rounds, twin.rounds)
print(twin.rounds)
"""


@pytest.mark.parametrize("way", ["shipped", "naive"])
def test_killed_while_saving(tmp_path: Path, way: str) -> None:
    """The file is always the state of a round, never an older one, in 30 kills.

    A writer that is not atomic spends most of its time with a torn file: all miss it once in 1e9.
    """
    command = [sys.executable, "-c", KILLED, str(tmp_path / "a.json"), way]
    game = subprocess.run(command, capture_output=True, text=True, timeout=600, env=LONELY)
    if way == "naive":
        assert "StateError" in game.stderr
        return
    assert game.returncode == 0, game.stderr
    assert int(game.stdout) >= 30
