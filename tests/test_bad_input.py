"""Bad input: the right error, a message that says what came and what was wanted, nothing changed.

A refused answer is checked three times over: by its message, by the state, which must be the same
to the last bit, and by the future, which must be that of a twin that was never misled.
"""

import json
import math
import warnings
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dikin
from dikin import errors
from dikin.learners.base import Learner

BOX = dikin.Box([0, 0], [10, 2])
LOW, HIGH, SMOOTHNESS, LIPSCHITZ = -3.0, 5.0, 0.5, 2.0
HUGE = 10**400  # a whole number that no float can hold

Refusal = tuple[Any, type[Exception], type[Exception], list[str]]
"""What comes, the error, the built-in it also is, and what its message must name."""


def smooth(**changes: Any) -> dikin.AdaptiveSmooth:
    arguments: dict[str, Any] = {"loss_range": (LOW, HIGH), "seed": 3} | changes
    domain = arguments.pop("domain", BOX)
    return dikin.AdaptiveSmooth(domain, arguments.pop("smoothness", SMOOTHNESS), **arguments)


def lipschitz(**changes: Any) -> dikin.AdaptiveLipschitz:
    arguments: dict[str, Any] = {"loss_range": (LOW, HIGH), "seed": 3} | changes
    domain = arguments.pop("domain", BOX)
    return dikin.AdaptiveLipschitz(domain, arguments.pop("lipschitz", LIPSCHITZ), **arguments)


def frozen(learner: Learner) -> str:
    return json.dumps(learner.state(), sort_keys=True)


def refused(
    action: Callable[[], Any], error: type[Exception], builtin: type[Exception], words: list[str]
) -> None:
    with pytest.raises(dikin.DikinError) as caught:
        action()
    assert type(caught.value) is error
    assert isinstance(caught.value, builtin)
    message = str(caught.value)
    assert [word for word in words if word not in message] == [], message
    assert not message.startswith(("'", '"')), "a KeyError must not print the repr of its message"


def refused_by_tell(
    make: Callable[..., Learner], act: Callable[[Learner], None], refusal: Refusal
) -> None:
    """A learner with queries 0 and 2 open refuses, stays as it was, plays on like its twin."""
    _, error, builtin, words = refusal
    learner, twin = make(), make()
    for player in (learner, twin):
        player.ask()
        player.forget(player.ask())
        player.ask()
    before = frozen(learner)
    refused(lambda: act(learner), error, builtin, [*words, "Nothing was changed."])
    assert frozen(learner) == before == frozen(twin)
    for player in (learner, twin):
        player.forget(0)
        player.tell(2, 1.0, 0.25)
    assert np.array_equal(learner.ask().point, twin.ask().point)


# --- answers (mathematics.md, section 9) -------------------------------------------------------

LOSSES: list[Refusal] = [
    (math.nan, errors.LossError, ValueError, ["nan", "finite"]),
    (-math.inf, errors.LossError, ValueError, ["-inf", "finite"]),
    (HUGE, errors.LossError, ValueError, ["finite"]),
    ("1.0", errors.LossError, ValueError, ["'1.0'", "real number"]),
    (True, errors.LossError, ValueError, ["True", "real number"]),
    (np.array([0.5]), errors.LossError, ValueError, ["array([0.5])", "real number"]),
    (5.25, errors.LossRangeError, ValueError, ["5.25", "loss_range=(-3, 5)"]),
    (-3.5, errors.LossRangeError, ValueError, ["-3.5", "loss_range=(-3, 5)"]),
    (5.0 + 1e-6, errors.LossRangeError, ValueError, ["loss_range=(-3, 5)"]),
    (1e308, errors.LossRangeError, ValueError, ["1e+308", "loss_range=(-3, 5)"]),
]

CURVATURES: list[Refusal] = [
    (-0.25, errors.ParameterError, ValueError, ["-0.25", "not negative", "Report 0"]),
    (-1e-300, errors.ParameterError, ValueError, ["-1e-300", "not negative"]),
    (math.nan, errors.ParameterError, ValueError, ["nan", "finite"]),
    (HUGE, errors.ParameterError, ValueError, ["finite"]),
    (None, errors.ParameterError, ValueError, ["None", "real number"]),
    (0.75, errors.ParameterError, ValueError, ["0.75", "0.5", "smoothness"]),
    (0.5 + 1e-7, errors.ParameterError, ValueError, ["0.5", "smoothness"]),
]


@pytest.mark.parametrize("refusal", LOSSES, ids=lambda case: str(case[0])[:24])
def test_bad_loss(refusal: Refusal) -> None:
    refused_by_tell(smooth, lambda learner: learner.tell(0, refusal[0], 0.1), refusal)


@pytest.mark.parametrize("refusal", CURVATURES, ids=lambda case: str(case[0])[:24])
def test_bad_curvature(refusal: Refusal) -> None:
    refused_by_tell(smooth, lambda learner: learner.tell(0, 1.0, refusal[0]), refusal)


def test_a_curvature_that_a_slope_makes_impossible() -> None:
    """4 L/D with L = 2 and D = |(10, 2)| = 10.198: 0.784465."""
    words = ["0.8", "0.784465", "4 L/D"]
    refusal = (0.8, errors.ParameterError, ValueError, words)
    refused_by_tell(lipschitz, lambda learner: learner.tell(0, 1.0, 0.8), refusal)


# --- queries -----------------------------------------------------------------------------------

ACTIONS: list[Callable[[Learner, Any], None]] = [
    lambda learner, query: learner.tell(query, 1.0),
    lambda learner, query: learner.forget(query),
]


@pytest.mark.parametrize("act", ACTIONS)
@pytest.mark.parametrize("key", [7, -1, "0", None, 0.5, False, np.array(0)], ids=repr)
def test_a_query_never_asked(act: Callable[[Learner, Any], None], key: Any) -> None:
    words = [f"query {key!r} was never asked", "[0, 2]"]
    refusal = (key, errors.UnknownQueryError, KeyError, words)
    refused_by_tell(smooth, lambda learner: act(learner, key), refusal)


@pytest.mark.parametrize("act", ACTIONS)
@pytest.mark.parametrize("key", [1, np.int64(1), dikin.Query(1, np.zeros(2))], ids=repr)
def test_a_query_closed_before(act: Callable[[Learner, Any], None], key: Any) -> None:
    words = ["query 1", "answered or forgotten", "[0, 2]"]
    refusal = (key, errors.ClosedQueryError, KeyError, words)
    refused_by_tell(smooth, lambda learner: act(learner, key), refusal)


@pytest.mark.parametrize("act", ACTIONS)
def test_a_query_of_another_learner(act: Callable[[Learner, Any], None]) -> None:
    ours, theirs = smooth().ask(), smooth(seed=4).ask()
    words = ["query 0", str(ours.point), str(theirs.point), "another learner"]
    refusal = (theirs, errors.QueryError, KeyError, words)
    refused_by_tell(smooth, lambda learner: act(learner, theirs), refusal)


# --- what is not bad ---------------------------------------------------------------------------


@pytest.mark.parametrize("make", [smooth, lipschitz])
def test_rounding_over_a_limit_is_clipped(make: Callable[..., Learner]) -> None:
    over, exact = make(), make()
    limit = exact.curvature_limit[0]
    over.tell(over.ask(), HIGH + 1e-12, limit * (1 + 1e-12))
    exact.tell(exact.ask(), HIGH, limit)
    over.tell(over.ask(), LOW - 1e-12, limit)
    exact.tell(exact.ask(), LOW, limit)
    assert frozen(over) == frozen(exact)
    assert exact.rounds == 2


@pytest.mark.parametrize(
    "loss", [1, np.int64(1), np.float32(1), np.array(1.0), Decimal(1)], ids=repr
)
def test_every_kind_of_real_number_is_a_loss(loss: Any) -> None:
    learner, plain = smooth(), smooth()
    learner.tell(learner.ask(), loss, loss / 4)
    plain.tell(plain.ask(), 1.0, 0.25)
    assert frozen(learner) == frozen(plain)


anything = st.one_of(st.floats(), st.floats(LOW - 1, HIGH + 1), st.sampled_from([LOW, HIGH, -0.0]))


@settings(derandomize=True, database=None, deadline=None, max_examples=300)
@given(loss=anything, curvature=st.one_of(st.floats(), st.floats(0, SMOOTHNESS * 1.1)))
@example(loss=HIGH, curvature=SMOOTHNESS)
@example(loss=math.nextafter(HIGH, 9), curvature=math.nextafter(SMOOTHNESS, 9))
def test_an_answer_is_taken_whole_or_not_at_all(loss: float, curvature: float) -> None:
    learner = smooth()
    learner.tell(learner.ask(), 2.0, 0.1)
    query, before = learner.ask(), frozen(learner)
    fits = LOW <= loss <= HIGH and 0 <= curvature <= SMOOTHNESS
    fits_with_rounding = LOW - 1e-8 <= loss <= HIGH + 1e-8 and 0 <= curvature <= SMOOTHNESS + 1e-8
    try:
        learner.tell(query, loss, curvature)
    except (errors.LossError, errors.ParameterError):
        assert not fits
        assert frozen(learner) == before
        assert learner.open_queries == [query]
    else:
        assert fits_with_rounding
        assert (learner.rounds, learner.open_queries) == (2, [])
        assert np.isfinite(learner.center).all()
        assert math.isfinite(learner.certificate)


# --- a learner's own arguments -----------------------------------------------------------------

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


@pytest.mark.parametrize("case", ARGUMENTS, ids=[f"{a[0]}={a[1]!s:.20}" for a in ARGUMENTS])
def test_bad_argument(case: tuple[str, Any, list[str]]) -> None:
    argument, value, words = case
    refused(lambda: smooth(**{argument: value}), errors.ParameterError, ValueError, words)
    if argument == "smoothness":
        argument, words = "lipschitz", [w.replace("smoothness", "lipschitz") for w in words]
    refused(lambda: lipschitz(**{argument: value}), errors.ParameterError, ValueError, words)


@pytest.mark.parametrize("make", [smooth, lipschitz])
def test_the_paper_needs_a_horizon_of_two(make: Callable[..., Learner]) -> None:
    for horizon in (None, 1):
        words = ["horizon=T", "at least 2", f"got {horizon}", "'sharp' need none"]
        build = partial(make, constants="paper", horizon=horizon)
        refused(build, errors.ParameterError, ValueError, words)
    with pytest.warns(errors.SlowLearnerWarning, match="horizon is 1000: .*grows like T") as caught:
        make(constants="paper", horizon=1000)
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings(action="error"):
        assert make(constants="paper", horizon=10**12).horizon == 10**12
