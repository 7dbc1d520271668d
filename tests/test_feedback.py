"""Feedback other than one value: refusals, learning, constructors."""

import json
from collections.abc import Callable
from functools import partial
from math import inf, nan
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import errors
from dikin.feedback import Feedback
from dikin.learners.base import Learner

DISC, PLANE = dikin.Ball(2), dikin.Simplex(3)

two_point: Callable[..., Learner] = partial(dikin.TwoPoint, DISC, 3000, 1.0, seed=1)
aogd: Callable[..., Learner] = partial(dikin.AOGD, DISC)
pseudo_line: Callable[..., Learner] = partial(dikin.PseudoLine, DISC, 3000, 1.0, seed=1)

WRONG: list[tuple[Callable[[], Learner], str, Any, list[str]]] = [
    (two_point, "tell", 0.3, ["TwoPoint must be told (loss, loss)", "0.3"]),
    (two_point, "tell", "ab", ["(loss, loss)", "'ab'"]),
    (aogd, "tell", 0.3, ["AOGD must be told (loss, gradient)", "0.3"]),
    (aogd, "tell", (0.3, 1.0), ["shape (2,)", "1.0"]),
    (aogd, "tell", (0.3, [1.0, nan]), ["finite"]),
    (aogd, "tell", (0.3, [1.0, 1e300]), ["too steep"]),
    (aogd, "tell", (0.3, None), ["finite numbers"]),
    (pseudo_line, "ask", None, ["PseudoLine needs a context"]),
    (pseudo_line, "ask", [1.0, 2.0, 3.0], ["shape (2,)"]),
    (pseudo_line, "ask", [1.0, inf], ["finite"]),
    (pseudo_line, "ask", "ab", ["finite numbers"]),
    (two_point, "ask", [1.0, 0.0], ["TwoPoint does not use a context"]),
]


@pytest.mark.parametrize(("make", "call", "given", "words"), WRONG)
def test_another_kind_of_answer_or_context(
    make: Callable[[], Learner], call: str, given: Any, words: list[str]
) -> None:
    learner = make()
    query = learner.ask() if call == "tell" else None
    before = json.dumps(learner.state())
    with pytest.raises(errors.FeedbackError) as caught:
        learner.ask(given) if query is None else learner.tell(query, given)
    assert [word for word in words if word not in str(caught.value)] == []
    assert json.dumps(learner.state()) == before
    if make is two_point and query:  # a pair may be an array
        learner.tell(query, np.array([0.3, 0.1]))


def test_an_environment_offers_what_it_has() -> None:
    ridge = dikin.Ridge(DISC, 1.0, seed=1)
    with pytest.raises(errors.FeedbackError, match="does not offer a context"):
        ridge.context()
    with pytest.raises(errors.ParameterError, match="PseudoLine must be told"):
        dikin.play(pseudo_line(loss_range=ridge.loss_range), ridge, 9)
    plain = dikin.FromFunction(DISC, lambda t, x: 0.0, loss_range=(-1, 1))
    with pytest.raises(errors.FeedbackError, match="does not offer a gradient"):
        plain.answer(np.zeros(2), Feedback.GRADIENT)


def test_a_constant_prediction_changes_nothing() -> None:
    learner = dikin.PseudoLine(PLANE, 1000, 1.0, seed=1)
    for size in (1.0, 0.0, 1e300):
        query = learner.ask([size] * 3)
        assert np.array_equal(query.point, learner.center)
        learner.tell(query, 1.0)
        assert np.array_equal(learner.center, PLANE.center)


@pytest.mark.parametrize(
    ("build", "make"),
    [(dikin.Distance, two_point), (dikin.Distance, aogd), (dikin.PseudoKink, pseudo_line)],
)
def test_it_learns_more_than_the_centre_knows(build: Any, make: Callable[..., Learner]) -> None:
    """Not in the compiled loop, whose answer is one value."""
    idle, game = build(DISC, 1.0, seed=1), build(DISC, 1.0, seed=1)
    run = dikin.play(make(loss_range=game.loss_range), game, 3000)
    for _ in range(3000):
        idle.answer(DISC.center)
    assert not run.compiled
    assert run.regret[-1] < 0.8 * (idle.total_loss - idle.best()[1])


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
