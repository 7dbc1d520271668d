"""Feedback other than one value: what it is refused, estimates that are unbiased, constructors."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import inf, nan, sqrt
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import errors
from dikin.learners.base import Learner

DISC, PLANE = dikin.Ball(2), dikin.Simplex(3)


def two_point() -> Learner:
    return dikin.TwoPoint(DISC, 1000, 1.0, seed=1)


def aogd() -> Learner:
    return dikin.AOGD(DISC)


def pseudo_line() -> Learner:
    return dikin.PseudoLine(DISC, 1000, 1.0, seed=1)


# --- answers and contexts ------------------------------------------------------------------------

WRONG: list[tuple[Callable[[], Learner], Any, list[str]]] = [
    (two_point, 0.3, ["TwoPoint must be told (loss, loss)", "0.3"]),
    (two_point, "ab", ["(loss, loss)", "'ab'"]),
    (aogd, 0.3, ["AOGD must be told (loss, gradient)", "0.3"]),
    (aogd, (0.3, 1.0), ["shape (2,)", "1.0"]),
    (aogd, (0.3, [1.0, nan]), ["finite"]),
    (aogd, (0.3, [1.0, 1e300]), ["too steep"]),
    (aogd, (0.3, None), ["finite numbers"]),
]


@pytest.mark.parametrize(("make", "answer", "words"), WRONG)
def test_another_kind_of_answer(make: Callable[[], Learner], answer: Any, words: list[str]) -> None:
    learner = make()
    query = learner.ask()
    before = json.dumps(learner.state())
    with pytest.raises(errors.FeedbackError) as caught:
        learner.tell(query, answer)
    assert [w for w in (*words, "Nothing was changed.") if w not in str(caught.value)] == []
    assert json.dumps(learner.state()) == before


def test_a_pair_may_be_an_array() -> None:
    one, two = two_point(), two_point()
    one.tell(one.ask(), np.array([0.3, 0.1]))
    two.tell(two.ask(), (0.3, 0.1))
    assert one.state() == two.state()


@pytest.mark.parametrize(
    ("context", "word"),
    [
        (None, "PseudoLine needs a context"),
        ([1.0, 2.0, 3.0], r"shape \(2,\)"),
        ([1.0, inf], "finite"),
        ("ab", "finite numbers"),
    ],
)
def test_another_kind_of_context(context: Any, word: str) -> None:
    learner = pseudo_line()
    before = json.dumps(learner.state())
    with pytest.raises(errors.FeedbackError, match=word):
        learner.ask(context)
    assert json.dumps(learner.state()) == before


def test_who_sees_no_context_is_given_none() -> None:
    with pytest.raises(errors.FeedbackError, match="TwoPoint does not use a context"):
        two_point().ask([1.0, 0.0])
    ridge = dikin.Ridge(DISC, 1.0, seed=1)
    with pytest.raises(errors.FeedbackError, match="does not offer a context"):
        ridge.context()
    with pytest.raises(errors.ParameterError, match="PseudoLine must be told"):
        dikin.play(dikin.PseudoLine(DISC, 9, 2.0, loss_range=ridge.loss_range), ridge, 9)
    plain = dikin.FromFunction(DISC, lambda t, x: 0.0, loss_range=(-1, 1))
    with pytest.raises(errors.FeedbackError, match="does not offer a gradient"):
        plain.answer(np.zeros(2), dikin.learners.AOGD.feedback)


# --- the estimates -------------------------------------------------------------------------------

SLOPE = np.array([0.3, -0.2])


def first_move(learner: Learner, context: Any = None) -> Any:
    """Where an answer of the loss SLOPE.x moves the centre: minus eta times the estimate."""
    query = learner.ask() if context is None else learner.ask(context)
    answer = query.point @ SLOPE
    learner.tell(query, tuple(answer) if answer.ndim else float(answer))
    return learner.center


def test_two_points_estimate_a_gradient_without_bias() -> None:
    """E (d s s') = 1. The band is six standard deviations of the mean: fails once in 10^8 runs.

    A gradient half as steep again, or the d left out, is noticed.
    """
    n, T = 1500, 10**4
    moves = np.array([first_move(dikin.TwoPoint(DISC, T, 1.0, seed=s)) for s in range(n)])
    estimates = -moves * sqrt(2 * T)
    for scale, holds in ((1.0, True), (1.5, False), (0.5, False)):
        off = np.abs(estimates.mean(axis=0) - scale * SLOPE) / (estimates.std(axis=0) / sqrt(n))
        assert (off.max() <= 6) == holds


def test_a_prediction_is_estimated_along_its_line() -> None:
    """The mean over both signs is the loss's slope along z, to the last digits."""
    z, T, moves = np.array([0.6, 0.8]), 10**4, {}
    for seed in range(12):
        move = first_move(dikin.PseudoLine(DISC, T, 1.0, seed=seed), 7 * z)
        moves[move.tobytes()] = move
    assert len(moves) == 1, "a linear loss looks the same from both sides"
    delta = sqrt(1 / 6) * T**-0.25
    wanted = -delta / sqrt(T) * (z @ SLOPE) * z
    np.testing.assert_allclose(next(iter(moves.values())), wanted, rtol=1e-9)


# --- their games ---------------------------------------------------------------------------------

GAMES: dict[str, tuple[Callable[..., Any], Callable[[Any], Learner]]] = {
    "two points": (dikin.Distance, lambda w: dikin.TwoPoint(DISC, T, 1.0, loss_range=w.loss_range)),
    "gradients": (dikin.Distance, lambda w: dikin.AOGD(DISC, loss_range=w.loss_range)),
    "contexts": (
        dikin.PseudoKink,
        lambda w: dikin.PseudoLine(DISC, T, 1.0, loss_range=w.loss_range, seed=1),
    ),
}
T = 3000


@pytest.mark.parametrize("name", GAMES)
def test_it_learns_more_than_the_centre_knows(name: str) -> None:
    """Not the compiled loop, which tells one value only."""
    build, make = GAMES[name]
    idle, game = build(DISC, 1.0, seed=1), build(DISC, 1.0, seed=1)
    run = dikin.play(make(game), game, T)
    for _ in range(T):
        idle.answer(DISC.center)
    assert not run.compiled
    assert run.regret[-1] < 0.8 * (idle.total_loss - idle.best()[1])


# --- constructors --------------------------------------------------------------------------------

ADX: Callable[..., Learner] = dikin.AgarwalDekelXiao
REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: ADX(DISC, 0, 1.0, 0.5), "horizon"),
    (lambda: ADX(DISC, 9, 0.0, 0.5), "lipschitz"),
    (lambda: ADX(DISC, 9, 1e300, 0.5, loss_range=(0, 1e-9)), "lipschitz"),
    (lambda: ADX(DISC, 9, 1.0, 0.0), "curvature"),
    (lambda: ADX(DISC, 9, 1.0, 2.5), "4 L/D"),
    (lambda: ADX(DISC, 9, 1.0, 1e-200), "inverse"),
    (lambda: dikin.TwoPoint(DISC, 1, 1.0), "ln T"),
    (lambda: dikin.TwoPoint(DISC, 9, 1.0, -0.5), "curvature"),
    (lambda: dikin.TwoPoint(DISC, 9, 1.0, 2.5), "2.5"),
    (lambda: dikin.Tewa(DISC, 0), "horizon"),
    (lambda: dikin.PseudoLine(DISC, 9, inf), "lipschitz"),
    (lambda: dikin.PseudoKink(DISC, 0.0), "lipschitz"),
    (lambda: dikin.PseudoKink(DISC, 1.0, 0), "contexts"),
]


@pytest.mark.parametrize(("build", "word"), REFUSED)
def test_refused_by_the_constructor(build: Callable[[], Any], word: str) -> None:
    with pytest.raises(errors.ParameterError, match=word):
        build()
