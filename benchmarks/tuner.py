"""`Tuner` against `Predictive`, which it is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from timing import Row, best_of, pretty

import dikin

ROUNDS = 500
PARAMETERS: dict[str, dict[str, Any]] = {
    "2 reals": {"a": dikin.Real(0, 1), "b": dikin.Real(0, 1)},
    "6 integers": {name: dikin.Integer(0, 9) for name in "abcdef"},
    "a real and 3 shares": {"a": dikin.Real(0, 1), "mix": dikin.Shares(["x", "y", "z"])},
}


def tuned(parameters: dict[str, Any]) -> Callable[[], None]:
    tuner = dikin.Tuner(parameters, seed=1)

    def play() -> None:
        for _ in range(ROUNDS):
            trial = tuner.ask()
            tuner.tell(trial, float(trial.point[0]))

    return play


def learnt(parameters: dict[str, Any]) -> Callable[[], None]:
    learner = dikin.Predictive(dikin.Tuner(parameters).space.domain, seed=1)

    def play() -> None:
        for _ in range(ROUNDS):
            query = learner.ask()
            learner.tell(query, float(query.point[0]))

    return play


def rows() -> Iterator[Row]:
    """The tuner's own share of a round."""
    for name, parameters in PARAMETERS.items():
        ours, theirs = best_of(9, tuned(parameters), learnt(parameters))
        yield Row(
            f"Tuner, ask + tell, {name}",
            pretty(ours / ROUNDS),
            f"Predictive, {pretty(theirs / ROUNDS)}",
            ours / theirs,
            "<= 2",
        )
