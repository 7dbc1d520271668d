"""Small studies for tests of what may go wrong, and calls of the command line."""

from __future__ import annotations

from typing import Any

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
    player.tell(trial, value, 0.5)
    return trial


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


def command(*words: str) -> Result:
    """A call of `dikin study`."""
    return CliRunner().invoke(main, ["study", *words])
