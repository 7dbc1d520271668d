"""What `Predictive` refuses: with an error of the library that says what was wanted, unchanged."""

import warnings
from collections.abc import Callable
from decimal import Decimal
from math import inf, nan
from typing import Any

import pytest

import dikin
from dikin import errors
from dikin.learners.predictive_schedule import OWN, expectation

BOX = dikin.Box([0, 0], [10, 2])


def expected(learner: dikin.Predictive) -> float:
    """The forecast of the query 13, in working units."""
    return expectation(learner._kernel, learner._open[13][1][0].numbers)


def learner(**options: Any) -> Any:
    """In the middle of a game, with a query open."""
    made = dikin.Predictive(BOX, 0.1, seed=3, **options)
    for t in range(12):
        made.tell(made.ask(forecast=1.0), 0.1 * t)
    made.ask(forecast=2.0)
    return made


def refuses(made: Any, act: Callable[[Any], object], error: type[Exception], words: str) -> None:
    """The state, which has the generator in it, stays as it was, and so does what comes next."""
    before = made.state()
    with pytest.raises(error, match=words) as caught:
        act(made)
    assert isinstance(caught.value, errors.DikinError)
    assert made.state() == before
    twin = dikin.restore(before)
    assert (made.ask().point == twin.ask().point).all()
    assert expected(made) == expected(twin)


@pytest.mark.parametrize("forecast", [nan, -inf, 1e101, [0.5], True, Decimal("NaN")], ids=repr)
def test_a_forecast_is_one_finite_number(forecast: Any) -> None:
    refuses(learner(), lambda made: made.ask(forecast=forecast), errors.FeedbackError, "forecast")


def test_forecasts_and_contexts_that_are_not_used() -> None:
    for known in ({}, {"forecast": 0.5}):
        words = "does not use a context"
        refuses(learner(), lambda m, k=known: m.ask([0.5], **k), errors.FeedbackError, words)
    made = dikin.AdaptiveSmooth(BOX, 0.1, seed=1)
    with pytest.raises(errors.FeedbackError, match="does not use a forecast"):
        made.ask(forecast=0.5)
    assert made.state() == dikin.AdaptiveSmooth(BOX, 0.1, seed=1).state()


BAD_ARGUMENTS = [
    ("start", [11, 1], errors.DomainError, "outside"),
    ("start", [10, 1], errors.DomainError, "boundary"),
    ("start", [5, 2 - 1e-9], errors.DomainError, "begin inside"),
    ("start", [5, nan], errors.DomainError, "nan"),
    ("start", [5], errors.DomainError, r"shape \(2,\)"),
    ("start", 5, errors.DomainError, r"shape \(2,\)"),
    ("start", "center", errors.DomainError, "must be numbers"),
    ("memory", 1, errors.ParameterError, "at least 2"),
    ("memory", nan, errors.ParameterError, "at least 2"),
    ("memory", inf, errors.ParameterError, "None for all"),
    ("memory", True, errors.ParameterError, "must be a number"),
    ("lipschitz", 1e99, errors.ParameterError, "can be computed with"),
]


@pytest.mark.parametrize(("name", "value", "error", "words"), BAD_ARGUMENTS)
def test_bad_arguments(name: str, value: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        dikin.Predictive(BOX, **{"loss_range": (-1e-3, 1e-3), name: value})
    assert isinstance(caught.value, errors.DikinError)


@pytest.mark.parametrize(
    ("constants", "words"),
    [
        ({}, "one of"),
        ({"smoothness": 1.0, "lipschitz": 1.0}, "one of"),
        ({"smoothness": -1.0}, "not negative"),
        ({"lipschitz": inf}, "not negative"),
        ({"smoothness": "1"}, "must be a number"),
    ],
)
def test_certificate_for_needs_one_constant(constants: dict[str, Any], words: str) -> None:
    refuses(learner(), lambda m: m.certificate_for(**constants), errors.ParameterError, words)
    with pytest.raises(TypeError):
        learner().certificate_for(1.0)  # which of the two would it be?


@pytest.mark.parametrize(("room", "warned"), [(0.049, True), (0.051, False)])
def test_a_start_within_a_twentieth_of_the_boundary_is_warned_of(room: float, warned: bool) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dikin.Predictive(dikin.Ball(2), start=[1 - room, 0.0])
    assert [each.category for each in caught] == [errors.SlowLearnerWarning] * warned


@pytest.mark.parametrize(("forecast", "counts"), [(1e9, 8.0), (-1e9, -4.0), (5.0, 5.0)])
def test_an_absurd_forecast_counts_as_one_within_reach(forecast: float, counts: float) -> None:
    """One range of the losses so far, here 0 to 4, beyond either end of it."""
    learner = dikin.Predictive(dikin.Ball(2), seed=1)
    for t in range(20):
        learner.tell(learner.ask(), float(t % 5))
    query = learner.ask(forecast=forecast)
    assert learner._open[query.id][1][0].numbers[OWN] == counts
