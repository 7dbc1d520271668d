"""Facts of an open trial: another copy of the tuner is told its answer as the one that asked."""

import json
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import Choice, Cycle, Integer, Real, Tuner, errors
from tuning.loops import restored

PARAMETERS = {"x": Real(0, 10, start=2), "y": Real(0, 10, start=2)}
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "maximised": {"maximize": True, "smoothness": 4.0},
    "certified": {"smoothness": 4.0},
    "context and covariate": {"context": {"hour": Cycle(24)}, "covariates": {"load": float}},
    "words": {"context": {"region": ["eu", "us"]}},
    "held back": {"holdback": 0.4, "guard": 0.5},
    "limit": {"limits": ["p99 <= 5", "failed <= 0.1"]},
    "choices": {
        "parameters": {"x": Real(0, 10, start=2), "c": Choice(["a", "b"]), "n": Integer(1, 9)}
    },
}


def made(kind: str) -> Tuner:
    arguments: dict[str, Any] = {"parameters": PARAMETERS, "seed": 3} | KINDS[kind]
    return Tuner(**arguments)


def known(tuner: Tuner, round: int) -> dict[str, Any]:
    context: dict[str, Any] = {"hour": round % 24, "region": "eu" if round % 3 else "us"}
    context = {name: context[name] for name in tuner.contexts.kinds}
    return {"context": context} if context else {}


def answer(trial: dikin.Trial, round: int) -> dict[str, Any]:
    noise = float(np.random.default_rng(round).standard_normal())
    cost = (trial.params["x"] - 6) ** 2 + 0.1 * noise
    if round % 11 == 10:
        return {"failed": True}
    return {"value": cost, "metrics": {"p99": 2.0}, "covariates": {"load": noise}}


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_that_opens_a_fact_learns_as_the_one_that_asked(kind: str) -> None:
    asking = made(kind)
    copy = restored(asking)
    for round in range(40):
        before = asking.state()
        asking.draft(*_checked(asking, round), id=round + 1, draw=2**40 + round)
        asked, fact = asking.draft(*_checked(asking, round), id=3 * round + 5)
        assert asking.state() == before  # a draft leaves no trace
        asking.open_fact(asked.id, fact)
        opened = copy.open_fact(asked.id, json.loads(json.dumps(fact, allow_nan=False)))
        assert opened == asked
        for name in type(asked).__slots__:
            assert repr(getattr(opened, name)) == repr(getattr(asked, name))
        assert copy.state() == asking.state()
        asking.tell(asked.id, **answer(asked, round))
        copy.tell(opened, **answer(asked, round))
    assert copy.state() == asking.state()
    assert asking.asked == copy.asked == 40
    assert copy.ask(**known(copy, 7)) == asking.ask(**known(copy, 7))


def _checked(tuner: Tuner, round: int) -> tuple[Any, Any]:
    return tuner.contexts.checked(known(tuner, round).get("context")), {}


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_that_would_have_asked_otherwise_takes_what_was_asked(kind: str) -> None:
    """It is behind by a row: setting, arm, expectation and certificate are those of the fact."""
    asking = made(kind)
    for round in range(20):
        trial = asking.ask(**known(asking, round))
        asking.tell(trial, **answer(trial, round))
    behind = restored(asking)
    last, first_fact = asking.draft(*_checked(asking, 20), id=20)
    asking.open_fact(20, first_fact)
    asking.tell(20, **answer(last, 20))
    asked, fact = asking.draft(*_checked(asking, 21), id=21)
    asking.open_fact(21, fact)
    opened = behind.open_fact(21, fact)
    assert opened.point.tolist() == asked.point.tolist()
    assert repr(opened.expected) == repr(asked.expected)
    behind.open_fact(20, first_fact)
    for tuner in (asking, behind):
        tuner.tell(asked.id, **answer(asked, 21))
    behind.tell(last.id, **answer(last, 20))
    assert behind.rounds == asking.rounds
    if asking.control is not None:
        one, two = asking.uplift, behind.uplift
        assert (one.low, one.high) == pytest.approx((two.low, two.high), rel=1e-9, nan_ok=True)
    assert behind.certificate == pytest.approx(asking.certificate, nan_ok=True)


def test_what_is_refused_changes_nothing() -> None:
    tuner = made("plain")
    trial, fact = tuner.draft({}, {}, 0)
    tuner.open_fact(0, fact)
    before = tuner.state()
    with pytest.raises(errors.StateError, match="open already"):
        tuner.open_fact(trial.id, fact)
    with pytest.raises(errors.StateError, match="values of trial 9"):
        tuner.open_fact(9, fact | {"point": [1.0]})
    with pytest.raises(errors.QueryError):
        tuner.open_trial(9)
    assert tuner.state() == before
