"""States of tuners with a value exchanged, as a client of a service could send them."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

import dikin
from dikin.errors import DikinError

VALUES: list[Any] = [
    *(None, True, -1, 0, 1, 10**30, 10**400, -(10**400), 2**63, 3.5, 1e308, -1e308, 1e-320, 0.0),
    *("x", "", "1e5", [], {}, [[]], [0], [1e300], [None], ["x"], {"a": 1}),
    *(float("nan"), float("inf")),
]


def makers() -> Iterator[dikin.Tuner]:
    """Tuners in the middle of their games."""
    names = {
        "a": dikin.Real(0.1, 1, log=True),
        "b": dikin.Integer(1, 9),
        "c": dikin.Shares(["x", "y", "z"]),
    }
    players = [
        dikin.Tuner(names, maximize=True, seed=1),
        dikin.Tuner(
            {"a": dikin.Real(0, 1), "c": dikin.Choice([1, 2])}, holdback=0.3, guard=0.1, seed=1
        ),
    ]
    for made in players:
        for i in range(12):
            made.tell(made.ask(), 0.3 + 0.1 * (i % 5))
        made.ask(), made.ask()
        yield made
    yield with_contexts()


def with_contexts() -> dikin.Tuner:
    """A tuner with a context and covariates, in the middle of its game."""
    tuner = dikin.Tuner(
        {"a": dikin.Real(0, 1)},
        context={"region": ["eu", "us"]},
        covariates={"hour": dikin.Cycle(24)},
        seed=1,
    )
    known = [{"hour": i % 24, "load": 0.1 * i} for i in range(14)]
    for i in range(12):
        trial = tuner.ask({"region": "eu" if i % 3 else "us"}, covariates=known[i])
        tuner.tell(trial, 0.3 + 0.1 * (i % 5))
    for i in (12, 13):
        tuner.ask({"region": "us"}, covariates=known[i])
    return tuner


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value inside a state."""
    if place:
        yield place
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*place, key))


def forged(state: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """The state with one value exchanged or missing."""
    state = copy.deepcopy(state)
    *way, last = chance.choice(list(places(state)))
    inner: Any = state
    for key in way:
        inner = inner[key]
    if chance.random() < 0.15:
        del inner[last]
    else:
        inner[last] = copy.deepcopy(chance.choice(VALUES))
    return state


def play(state: dict[str, Any]) -> bool:
    """Restore a state and play; whether it was refused, which is all that may happen."""
    try:
        made = dikin.restore(state)
        for _ in range(3):
            query = made.ask({"region": "eu"}) if made.contexts.size else made.ask()
            assert np.isfinite(query.point).all()
            made.tell(query, 0.5)
        for query in made.open_queries:
            made.tell(query, 0.3)
        float(made.certificate)
    except DikinError:
        return True
    return False


def trials(count: int, seed: int) -> Iterator[bool]:
    """Forge that many states of each tuner; whether each was refused."""
    chance = random.Random(seed)
    for made in makers():
        state = made.state()
        for _ in range(count):
            yield play(forged(state, chance))
