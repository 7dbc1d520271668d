"""Whatever stands in a state: it is refused with the library's own error, or it can be played."""

from __future__ import annotations

import logging
import random
from typing import Any

import pytest

import dikin
from dikin import errors, serialization
from forgery import forged, makers, play, trials

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, about absurd numbers


@pytest.fixture(autouse=True)
def quiet() -> Any:
    """Absurd forecasts are reported in the log."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def test_forged_states_are_refused_or_played() -> None:
    refused = list(trials(60, seed=3))
    assert len(refused) == 60 * len(list(makers()))
    assert sum(refused) > 100


def test_a_state_that_was_not_touched_is_played() -> None:
    assert not any(play(made.state()) for made in makers())


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
