"""Saving is atomic: whatever happens meanwhile, the path holds the whole old file or the new."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dikin

LONELY = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # forking wants a process without threads


def step(learner: dikin.AdaptiveSmooth) -> dikin.AdaptiveSmooth:
    learner.tell(learner.ask(), (-1.0) ** learner.rounds)
    return learner


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    step(dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, seed=0)).save(tmp_path / "a.json")
    return tmp_path / "a.json"


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


def test_a_folder_that_cannot_be_synced(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last step of a save fails: the new file is already there, and whole."""
    learner, fsync, calls = step(dikin.load(saved)), os.fsync, []

    def second_fails(handle: int) -> None:
        calls.append(handle)
        if len(calls) == 2:
            raise OSError(5, "Input/output error")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", second_fails)
    with pytest.raises(OSError, match="Input/output"):
        learner.save(saved)
    assert dikin.load(saved).state() == learner.state()
    assert os.listdir(saved.parent) == ["a.json"]


# --- a process that dies -------------------------------------------------------------------------

KILLED = """
import json, os, signal, sys, time
from pathlib import Path
import dikin
from dikin import serialization

def naive(path, state):
    head = {"format": serialization.FORMAT, "version": serialization.VERSION}
    head["digest"] = serialization._digest(state)
    text = json.dumps(head | {"state": state})
    with open(path, "w") as file:
        file.write(text[:500])
        file.flush()
        time.sleep(0.002)
        file.write(text[500:])

if sys.argv[2] == "naive":
    serialization.write = naive

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
    """Thirty kills: the file is always whole, exactly the state of some round, never an older one.

    The same game with a writer that is not atomic must leave a torn file. That writer spends most
    of its time with a torn file, so thirty kills all miss it less than once in 1e9 runs.
    """
    command = [sys.executable, "-c", KILLED, str(tmp_path / "a.json"), way]
    game = subprocess.run(
        command, capture_output=True, text=True, timeout=600, check=False, env=LONELY
    )
    if way == "naive":
        assert "StateError" in game.stderr
        return
    assert game.returncode == 0, game.stderr
    assert int(game.stdout) >= 30
