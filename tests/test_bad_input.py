"""Bad input: the right error, a message with what came and what was wanted, nothing changed."""

import json
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import errors
from dikin.learners.base import Learner

BOX = dikin.Box([0, 0], [10, 2])
LOW, HIGH = -3.0, 5.0
HUGE = 10**400  # a whole number that no float can hold
USUAL: dict[str, Any] = {"domain": BOX, "loss_range": (LOW, HIGH), "seed": 3}


def smooth(**changes: Any) -> dikin.AdaptiveSmooth:
    return dikin.AdaptiveSmooth(**USUAL | {"smoothness": 0.5} | changes)


def lipschitz(**changes: Any) -> dikin.AdaptiveLipschitz:
    return dikin.AdaptiveLipschitz(**USUAL | {"lipschitz": 2.0} | changes)


def frozen(learner: Learner) -> str:
    return json.dumps(learner.state(), sort_keys=True)


def refused(action: Callable[[], Any], error: type[Exception], words: list[str]) -> None:
    with pytest.raises(dikin.DikinError) as caught:
        action()
    assert type(caught.value) is error
    assert issubclass(error, KeyError if issubclass(error, errors.QueryError) else ValueError)
    message = str(caught.value)
    assert [word for word in words if word not in message] == [], message
    assert not message.startswith(("'", '"')), "a KeyError must not print the repr of its message"


NOT_A_LOSS, OUT_OF_RANGE, BAD = errors.LossError, errors.LossRangeError, errors.ParameterError
NEVER, CLOSED = errors.UnknownQueryError, errors.ClosedQueryError
THEIRS = smooth(seed=4).ask()
ANSWERS: list[tuple[tuple[Any, ...], type[Exception], list[str]]] = [
    ((0, math.nan), NOT_A_LOSS, ["nan", "finite"]),
    ((0, -math.inf), NOT_A_LOSS, ["-inf", "finite"]),
    ((0, HUGE), NOT_A_LOSS, ["finite"]),
    ((0, "1.0"), NOT_A_LOSS, ["'1.0'", "must be a number"]),
    ((0, True), NOT_A_LOSS, ["True", "must be a number"]),
    ((0, np.array([0.5])), NOT_A_LOSS, ["array([0.5])", "must be a number"]),
    ((0, 5.25), OUT_OF_RANGE, ["5.25", "loss_range=(-3, 5)"]),
    ((0, 5.0 + 1e-6), OUT_OF_RANGE, ["loss_range=(-3, 5)"]),
    ((0, -1e308), OUT_OF_RANGE, ["-1e+308", "loss_range=(-3, 5)"]),
    ((0, 1.0, -1e-300), BAD, ["-1e-300", "not negative", "Report 0"]),
    ((0, 1.0, math.nan), BAD, ["nan", "finite"]),
    ((0, 1.0, HUGE), BAD, ["finite"]),
    ((0, 1.0, None), BAD, ["None", "must be a number"]),
    ((0, 1.0, 0.5 + 1e-7), BAD, ["0.5", "smoothness"]),
    *[((key, 1.0), NEVER, [f"{key!r} was never asked", "[0, 2]"]) for key in (7, -1, "0", 0.5)],
    *[((key, 1.0), NEVER, [f"{key!r} was never asked"]) for key in (None, False, np.array(0))],
    ((1, 1.0), CLOSED, ["query 1", "answered or forgotten", "[0, 2]"]),
    ((dikin.Query(1, np.zeros(2)), 1.0), CLOSED, ["query 1", "answered or forgotten"]),
    ((THEIRS, 1.0), errors.QueryError, [str(THEIRS.point), "another learner"]),
]


@pytest.mark.parametrize(("answer", "error", "words"), ANSWERS, ids=lambda case: str(case)[:30])
def test_a_bad_answer(answer: tuple[Any, ...], error: type[Exception], words: list[str]) -> None:
    """A learner with queries 0 and 2 open refuses, stays as it was, and continues as its twin."""
    learner, twin = smooth(), smooth()
    for player in (learner, twin):
        player.ask()
        player.forget(player.ask())
        player.ask()
    before = frozen(learner)
    refused(lambda: learner.tell(*answer), error, words)
    if issubclass(error, errors.QueryError):
        refused(lambda: learner.forget(answer[0]), error, [*words, "Nothing was changed."])
    assert frozen(learner) == before == frozen(twin)
    for player in (learner, twin):
        player.forget(0)
        player.tell(2, 1.0, 0.25)
    assert np.array_equal(learner.ask().point, twin.ask().point)


def test_a_curvature_that_a_slope_makes_impossible() -> None:
    """4 L/D with L = 2 and D = |(10, 2)| = 10.198: 0.784465."""
    learner = lipschitz()
    refused(lambda: learner.tell(learner.ask(), 1.0, 0.8), BAD, ["0.8", "0.784465", "4 L/D"])


@pytest.mark.parametrize("make", [smooth, lipschitz])
def test_rounding_over_a_limit_is_clipped(make: Callable[..., Learner]) -> None:
    limit = make().curvature_limit[0]
    assert told(make, HIGH + 1e-12, limit * (1 + 1e-12)) == told(make, HIGH, limit)


def test_every_kind_of_real_number_is_a_loss() -> None:
    for loss in (1, np.int64(1), np.float32(1), np.array(1.0), Decimal(1)):
        assert told(smooth, loss, loss / 4) == told(smooth, 1.0, 0.25)


def told(make: Callable[..., Learner], *answer: Any) -> str:
    """Return the state after one answer."""
    learner = make()
    learner.tell(learner.ask(), *answer)
    return frozen(learner)


ARGUMENTS: list[tuple[str, Any, list[str]]] = [
    ("smoothness", -0.5, ["-0.5", "finite", "not negative"]),
    ("smoothness", math.nan, ["nan", "finite", "not negative"]),
    ("smoothness", "1.5", ["'1.5'", "number"]),
    ("smoothness", True, ["True", "number"]),
    ("smoothness", HUGE, ["smoothness"]),
    ("smoothness", 1e308, ["smoothness", "1e+308"]),  # its square is infinite in any units
    ("loss_range", (5, -3), ["(5, -3)", "loss_range", "low < high"]),
    ("loss_range", (0, math.inf), ["(0, inf)", "finite", "loss_range", "low < high"]),
    ("loss_range", (0, 1, 2), ["(0, 1, 2)", "least", "largest"]),
    ("loss_range", 5, ["5", "least", "largest"]),
    ("loss_range", "01", ["'01'"]),
    ("loss_range", (0, HUGE), ["loss_range"]),
    ("loss_range", (-1.7e308, 1.7e308), ["loss_range", "1.7e+308"]),
    ("loss_range", (0, 5e-324), ["loss_range"]),
    *[("horizon", v, [repr(v), "horizon must be"]) for v in (0, 1.5, True)],
    ("constants", "papr", ["'papr'", "Did you mean 'paper'?", "sharp"]),
    ("constants", ["sharp"], ["['sharp']", "paper, sharp"]),
    ("seed", -1, ["-1", "seed", "negative"]),
    ("seed", 1.5, ["1.5", "whole number"]),
    ("domain", dikin.Ball, ["Ball", "dikin domain"]),
    ("domain", None, ["None", "dikin domain"]),
]


@pytest.mark.parametrize(("argument", "value", "words"), ARGUMENTS)
def test_bad_argument(argument: str, value: Any, words: list[str]) -> None:
    refused(lambda: smooth(**{argument: value}), errors.ParameterError, words)
    if argument == "smoothness":
        argument, words = "lipschitz", [w.replace("smoothness", "lipschitz") for w in words]
    refused(lambda: lipschitz(**{argument: value}), errors.ParameterError, words)


@pytest.mark.parametrize("make", [smooth, lipschitz])
def test_the_paper_needs_a_horizon_of_two(make: Callable[..., Learner]) -> None:
    for horizon in (None, 1):
        words = ["horizon=T", "at least 2", f"got {horizon}", "'sharp' need none"]
        refused(lambda h=horizon: make(constants="paper", horizon=h), BAD, words)
    with pytest.warns(errors.SlowLearnerWarning, match="horizon is 1000: .*grows like T") as caught:
        make(constants="paper", horizon=1000)
    assert [warning.filename for warning in caught] == [__file__]
