"""Values that nobody should tell, and what they are told to."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.errors import DikinError


def nested(depth: int) -> Any:
    value: Any = 1.0
    for _ in range(depth):
        value = [value]
    return value


class Broken:
    """An object whose repr fails."""

    def __repr__(self) -> str:
        raise OSError("no")


STRANGE: dict[str, Any] = {
    "huge": 10**5000,
    "minus huge": -(10**5000),
    "time": np.timedelta64(3, "s"),
    "python time": timedelta(3),
    "nested": nested(100_000),
    "complex": 1j,
    "bytes": b"1",
    "objects": np.array([1.0], dtype=object),
    "matrix": np.zeros((50, 50)),
    "broken": Broken(),
    "long": "x" * 10_000,
}
MAKERS: dict[str, Callable[[], Any]] = {
    "AdaptiveSmooth": lambda: dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, seed=1),
    "Predictive": lambda: dikin.Predictive(dikin.Box([0], [1]), seed=1),
    "no range": lambda: dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, loss_range=None, seed=1),
    "Tuner": lambda: dikin.Tuner({"x": dikin.Real(0, 1)}, seed=1),
}
ACTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "loss": lambda made, query, value: made.tell(query, value),
    "curvature": lambda made, query, value: made.tell(query, 0.5, value),
    "id": lambda made, query, value: made.tell(value, 0.5),
    "forget": lambda made, query, value: made.forget(value),
    "forecast": lambda made, query, value: made.ask(forecast=value),
    "metric": lambda made, query, value: made.tell(query, 0.5, metrics={"ms": value}),
    "metrics": lambda made, query, value: made.tell(query, 0.5, metrics=value),
    "context": lambda made, query, value: made.ask(value),
    "setting": lambda made, query, value: made.add_trial({"x": value}, 0.5),
}
TUNERS, LEARNERS = ("loss", "id", "forget", "metric", "metrics", "context", "setting"), 5
"""The calls that a tuner has, and the number of those of a learner."""
CONSTRUCTORS: dict[str, Callable[[Any], Any]] = {
    "Simplex": dikin.Simplex,
    "Ball": dikin.Ball,
    "Spectrahedron": dikin.Spectrahedron,
    "lower": lambda value: dikin.Box([value], [1]),
    "radius": lambda value: dikin.Ball(2, radius=value),
    "smoothness": lambda value: dikin.Predictive(dikin.Ball(2), smoothness=value),
    "memory": lambda value: dikin.Predictive(dikin.Ball(2), memory=value),
    "start": lambda value: dikin.Predictive(dikin.Ball(2), start=value),
    "loss_range": lambda value: dikin.Predictive(dikin.Ball(2), loss_range=(0, value)),
    "Real": lambda value: dikin.Tuner({"x": dikin.Real(0, value)}),
    "Integer": lambda value: dikin.Tuner({"x": dikin.Integer(0, value)}),
    "Shares": lambda value: dikin.Tuner({"x": dikin.Shares(value)}),
    "parameters": dikin.Tuner,
}


def calls() -> list[tuple[str, str, str]]:
    """Every learner with every argument of its calls and every value."""
    return [
        (maker, act, value)
        for maker in MAKERS
        for act in (TUNERS if maker == "Tuner" else [*ACTS][:LEARNERS])
        for value in STRANGE
    ]


def constructions() -> list[tuple[str, str]]:
    """Every constructor with every value."""
    return [(constructor, value) for constructor in CONSTRUCTORS for value in STRANGE]


def refuse_value(maker: str, act: str, value: str) -> None:
    """A value is refused in a few words, and nothing has changed."""
    made = MAKERS[maker]()
    query = made.ask()
    before = made.state()
    with pytest.raises(DikinError) as refused:
        ACTS[act](made, query, STRANGE[value])
    assert len(str(refused.value)) < 600
    assert made.state() == before


def refuse_argument(constructor: str, value: str) -> None:
    """So is an argument."""
    with pytest.raises(DikinError) as refused:
        CONSTRUCTORS[constructor](STRANGE[value])
    assert len(str(refused.value)) < 600
