"""Small studies for tests of what may go wrong, and calls of the command line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner, Result

import dikin
from dikin.cli import main

LATER = 300.0
"""Seconds that events may wait for others: no test lasts so long."""


def plain(seed: int = 1) -> dikin.Tuner:
    """Two parameters, and a range of values that is not known."""
    return dikin.Tuner({"x": dikin.Real(-1, 1), "y": dikin.Real(-1, 1)}, seed=seed)


def fresh() -> dikin.Tuner:
    """The same on the unit square, with values from 0 to 1."""
    parameters = {"x": dikin.Real(0, 1), "y": dikin.Real(0, 1)}
    return dikin.Tuner(parameters, value_range=(0, 1), seed=5)


def prices(seed: int = 5) -> dikin.Tuner:
    """A cost of 0 to 40, with a certificate."""
    parameters = {"price": dikin.Real(0, 10), "ads": dikin.Real(0, 2)}
    return dikin.Tuner(parameters, value_range=(0, 40), smoothness=9.0, seed=seed)


def step(player: Any, value: float = 0.25) -> dikin.Trial:
    trial: dikin.Trial = player.ask()
    player.tell(trial, value)
    return trial


def alone(tuner: dikin.Tuner, name: str = "a") -> dikin.Tuner:
    """Return what the study of this name makes of a tuner, without a database."""
    twin: dikin.Tuner = dikin.restore(tuner.state_in_study(name))
    return twin


def begin(file: str) -> None:
    """Four rounds, and a trial open."""
    with dikin.Study(file, "a", fresh()) as study:
        for _ in range(4):
            step(study)
        study.ask()


def sharing(*arguments: Any, seconds: float = LATER, **options: Any) -> dikin.Study:
    """A study as the service opens it: calls return before their events are committed."""
    study = dikin.Study(*arguments, **options)
    study._share_commits(seconds)
    return study


HOLD = """
import sys, time, dikin
study = dikin.Study(sys.argv[1], "a", patience=0.3)
with study._backend.session.transaction():
    print("held", flush=True)
    sys.stdin.readline()
print(study.ask().id, flush=True)
"""


def holder(url: str, code: str = HOLD, **options: Any) -> subprocess.Popen[str]:
    """A process in the middle of its turn."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def failing(
    monkeypatch: pytest.MonkeyPatch,
    study: dikin.Study,
    error: BaseException,
    written: bool,
    then: Callable[[], object] = lambda: None,
) -> None:
    """The next commit fails, after or before it was carried out; then something happens."""
    database, commit = study._backend.journal.database, study._backend.journal.database.commit

    def once(head: Any = None) -> None:
        monkeypatch.undo()
        if written:
            commit(head)
        else:
            database.rollback()
        then()
        raise error

    monkeypatch.setattr(database, "commit", once)


def command(*words: str) -> Result:
    """A call of `dikin study`."""
    return CliRunner().invoke(main, ["study", *words])
