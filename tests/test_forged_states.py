"""Whatever stands in a state: it is refused with the library's own error, or it can be played."""

import copy
import logging
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import errors, serialization
from dikin.errors import DikinError

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, about absurd numbers


@pytest.fixture(autouse=True)
def quiet() -> Any:
    """Absurd forecasts are reported in the log."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


VALUES: list[Any] = [
    *(None, True, -1, 0, 1, 10**30, 10**400, -(10**400), 2**63, 3.5, 1e308, -1e308, 1e-320, 0.0),
    *("x", "", "1e5", [], {}, [[]], [0], [1e300], [None], ["x"], {"a": 1}),
    *(float("nan"), float("inf")),
]

NUMBERS = {"a": dikin.Real(0.1, 1, log=True), "b": dikin.Integer(1, 9)}
NAMES = {"c": dikin.Choice([1, 2]), "d": dikin.Shares(["x", "y", "z"])}
KNOWN = {"context": {"region": ["eu", "us"]}, "covariates": {"hour": dikin.Cycle(24)}}


def makers() -> Iterator[dikin.Tuner]:
    """Yield tuners in the middle of their rounds, the last with a context and a covariate."""
    for tuner in (
        dikin.Tuner(NUMBERS, maximize=True, seed=1),
        dikin.Tuner(NAMES, holdback=0.3, guard=0.1, seed=1),
        dikin.Tuner(NUMBERS, **KNOWN, seed=1),
    ):
        for i in range(14):
            known: Any = {"covariates": {"hour": i % 24}, "context": {"region": "us"}}
            trial = tuner.ask(**known if tuner.contexts.size else {})
            if i < 12:
                tuner.tell(trial, 0.3 + 0.1 * (i % 5))
        yield tuner


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every value inside a state."""
    if place:
        yield place
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*place, key))


def forged(state: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """Return the state with one value exchanged or missing."""
    inner: Any = (state := copy.deepcopy(state))
    *way, last = chance.choice(list(places(state)))
    for key in way:
        inner = inner[key]
    if chance.random() < 0.15:
        del inner[last]
    else:
        inner[last] = copy.deepcopy(chance.choice(VALUES))
    return state


def play(state: dict[str, Any]) -> bool:
    """Restore a state and play. Return whether it was refused, which is all that may happen."""
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


def test_forged_states_are_refused_or_played() -> None:
    chance = random.Random(3)
    states = [made.state() for made in makers()]
    assert not any(map(play, states))
    refused = [play(forged(state, chance)) for state in states for _ in range(60)]
    assert sum(refused) > 100


def lets_a_foreign_error_out(state: dict[str, Any]) -> bool:
    try:
        play(state)
    except Exception:
        return True
    return False


def test_the_mutant_lets_foreign_errors_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """It restores and plays what is no state; the package refuses the very same."""
    chance, state = random.Random(1), next(makers()).state()
    with monkeypatch.context() as mutant:
        mutant.setattr(dikin.Tuner, "_refuse_altered", lambda self, reason: None)
        mutant.setattr(serialization, "refuse_other_form", lambda *_: None)
        assert not lets_a_foreign_error_out(state)
        let_out = next(
            filter(lets_a_foreign_error_out, (forged(state, chance) for _ in range(200)))
        )
    assert play(let_out)


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ({"a": 1.0}, {"b": 1.0}),
        ([1.0], [1.0, 2.0]),
        ([1.0, "x"], [1.0, 2.0]),
        (True, 1.0),
        (10**400, 1),
        ({"a": [1.0]}, {"a": 1.0}),
    ],
)
def test_another_form_is_refused(value: Any, form: Any) -> None:
    with pytest.raises(errors.StateError, match="numbers"):
        serialization.refuse_other_form(value, form, "numbers")
    serialization.refuse_other_form(form, form, "numbers")
