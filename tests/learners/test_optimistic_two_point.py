"""Two points and a prediction: the text, the estimate, the bound of the steps, late answers."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import njit

import dikin
from dikin.engine import jit
from dikin.learners import optimistic_two_point
from dikin.learners.kernel_learner import LearnerState, Memo
from learners.projections import SETS, Array

LOW, HIGH = 3.0, 11.0
ROUNDS = 120
BALL, PLANE = dikin.Ball(3), dikin.Simplex(4)

# --- the text ------------------------------------------------------------------------------------


class Text:
    """The method word for word, in the paper's units, with a list of everything."""

    def __init__(self, domain: Any, project: Callable[[Array], Array], T: int) -> None:
        self.domain, self.project, self.d = domain, project, domain.dim
        r = domain.inradius / domain.radius
        self.delta = min(1 / T, r / 2)
        self.shrink = 1 - self.delta / r
        self.factor, self.epsilon = sqrt(1 / 2), self.d**2
        zero = np.zeros(domain.center.size)
        self.m, self.z, self.y, self.squares = [zero], [zero], [zero], [0.0]
        self.outside = 0

    def near(self, v: Array) -> Array:
        moved = v / self.shrink
        point = self.project(moved)
        self.outside += bool(np.linalg.norm(point - moved) > 1e-6)
        return np.asarray(self.shrink * point)

    def estimate(self, m: Array, e: float, s: Array) -> Array:
        return np.asarray(m + self.d * e * s)

    def predicted(self, m: Array, v: float, s: Array) -> Array:
        """The slopes across s stay, and the one along s is v."""
        return np.asarray((np.eye(s.size) - np.outer(s, s)) @ m + v * s)

    def base(self) -> Array:
        return self.z[-1]

    def eta(self) -> float:
        return self.factor / sqrt(self.epsilon + sum(self.squares))

    def told(self, points: list[Array], losses: list[float]) -> None:
        s = (points[0] - points[1]) / (2 * self.delta)
        assert abs(float(np.linalg.norm(s)) - 1) < 1e-9
        v, m = (losses[0] - losses[1]) / (2 * self.delta), self.m[-1]
        g = self.estimate(m, v - float(m @ s), s)
        self.squares.append(float((g - m) @ (g - m)))
        eta = self.eta()
        self.z.append(self.near(self.base() - eta * g))
        self.m.append(self.predicted(m, v, s))
        self.y.append(self.near(self.z[-1] - eta * self.m[-1]))


class Live:
    """A game of the shipped learner, in the user's units, and the text beside it."""

    def __init__(self, place: str, T: int) -> None:
        domain, project = SETS[place]
        self.domain, self.t, self.gap = domain, 0, 0.0
        self.text = Text(domain, project, T)
        self.learner = dikin.OptimisticTwoPoint(domain, T, loss_range=(LOW, HIGH), seed=2)

    def inner(self, point: Array) -> Array:
        return np.asarray((point - self.domain.center) / self.domain.radius)

    def losses(self, points: list[Array]) -> list[float]:
        """Steep and slowly turning: they lead to the boundary, and back."""
        slope = np.cos(np.arange(self.domain.center.size) + self.t // 40)
        return [float(np.tanh(2 * slope @ x + 0.2)) for x in points]

    def answer(self, query: dikin.Query) -> None:
        points = [self.inner(point) for point in query.point]
        losses = self.losses(points)
        self.learner.tell(query, [(HIGH + LOW) / 2 + (HIGH - LOW) / 2 * loss for loss in losses])
        self.text.told(points, losses)
        off = np.linalg.norm(self.inner(self.learner.center) - self.text.y[-1])
        self.gap, self.t = max(self.gap, float(off)), self.t + 1

    def play(self, at_once: int) -> None:
        """Several queries are open at once, and the last one is answered first."""
        while self.t < ROUNDS:
            queries = [self.learner.ask() for _ in range(at_once)]
            for query in reversed(queries):
                self.answer(query)


CLOSE = 1e-7
"""The barrier's weight 1e-16 leaves sqrt(2 nu 1e-16) = 3e-8 where a step ends on the boundary."""


@pytest.mark.parametrize("place", SETS)
@pytest.mark.parametrize("T", [100, 1])
def test_the_learner_is_its_text(place: str, T: int) -> None:
    """Also where 1/T is so large that delta stops at r/2."""
    game = Live(place, T)
    game.play(1)
    assert game.gap < CLOSE
    assert game.text.outside > 5


@pytest.mark.parametrize("place", SETS)
def test_a_late_answer_is_compared_with_the_newest_prediction(place: str) -> None:
    game = Live(place, 100)
    game.play(3)
    assert game.gap < CLOSE


def wider(text: Text) -> None:
    text.shrink = 1.0


def unpredicted(text: Text) -> None:
    text.m = [0.0 * text.m[0]]
    text.predicted = lambda m, v, s: 0.0 * m  # type: ignore[method-assign]


def dimensionless(text: Text) -> None:
    text.estimate = lambda m, e, s: m + e * s  # type: ignore[method-assign]


def without_the_old_prediction(text: Text) -> None:
    text.estimate = lambda m, e, s: text.d * (e + float(m @ s)) * s  # type: ignore[method-assign]


def half_corrected(text: Text) -> None:
    text.predicted = lambda m, v, s: m + 0.5 * (v - m @ s) * s  # type: ignore[method-assign]


def from_the_point_played(text: Text) -> None:
    text.base = lambda: text.y[-1]  # type: ignore[method-assign]


def slower(text: Text) -> None:
    text.factor *= 0.999


def other_beginning(text: Text) -> None:
    text.epsilon = 1


def step_of_the_round_before(text: Text) -> None:
    def eta() -> float:
        return text.factor / sqrt(text.epsilon + sum(text.squares[:-1]))

    text.eta = eta  # type: ignore[method-assign]


SPOILED = [
    wider,
    unpredicted,
    dimensionless,
    without_the_old_prediction,
    half_corrected,
    from_the_point_played,
    slower,
    other_beginning,
    step_of_the_round_before,
]


@pytest.mark.parametrize("spoil", SPOILED)
def test_another_text_is_noticed(spoil: Callable[[Text], None]) -> None:
    game = Live("simplex", 100)
    spoil(game.text)
    game.play(1)
    assert game.gap > 1e-5


# --- the estimate --------------------------------------------------------------------------------


class OneRound:
    """Rounds from one state, in working vectors, with losses a.x and the prediction m."""

    def __init__(self, domain: dikin.Domain) -> None:
        self.learner = dikin.OptimisticTwoPoint(domain, 1000, seed=1)
        self.kernel, self.geometry = self.learner._optimistic, self.learner.geometry
        rng = np.random.default_rng(3)
        self.a, self.m = (
            self.tangent(v) for v in 0.1 * rng.standard_normal((2, domain.center.size))
        )

    def tangent(self, v: Array) -> Array:
        """The part in the set's plane."""
        return v if self.kernel.dim == v.size else v - v.mean()

    def told(self, noise: Array) -> tuple[Array, Array]:
        """The estimate, from where it led z, and the next prediction."""
        state = self.learner._state.copied()
        state.linear[:] = self.m
        _, _, memo = self.learner._propose_from(state.copied(), noise)
        one, two = self.learner._both(memo)
        self.kernel.tell(1, memo, float(self.a @ (one - two)) / 2, 0.0, state)
        z = self.geometry.vector(state.iterate[self.geometry.iterate_size :])
        eta = sqrt(1 / 2) / sqrt(state.numbers[0])
        return -z * self.kernel.shrink / eta, state.linear


@pytest.mark.parametrize("domain", [BALL, PLANE])
def test_the_estimate_is_unbiased_and_has_the_stated_second_moment(domain: dikin.Domain) -> None:
    """E g = a and E|g - m|^2 = d |a - m|^2, whatever m is.

    Each mean lies within six standard deviations of itself, of which there are nine in all: fails
    by chance less than once in 10^7 runs. A scale that is a fifth off is noticed.
    """
    n, game = 4000, OneRound(domain)
    noises = np.random.default_rng(4).standard_normal((n, domain.center.size))
    estimates = np.array([game.told(noise)[0] for noise in noises])
    squares = ((estimates - game.m) ** 2).sum(axis=1)
    moment = domain.dim * float((game.a - game.m) @ (game.a - game.m))
    for scale, holds in ((1.0, True), (1.2, False), (0.8, False)):
        off = np.abs(estimates.mean(axis=0) - scale * game.a) / (estimates.std(axis=0) / sqrt(n))
        assert (off.max() <= 6) == holds
        assert (abs(squares.mean() - scale * moment) <= 6 * squares.std() / sqrt(n)) == holds


@pytest.mark.parametrize("domain", [BALL, PLANE])
def test_a_corrected_prediction_is_right_along_the_direction(domain: dikin.Domain) -> None:
    """It is then nearer to the slope by what it was wrong: Pythagoras, to the last digits."""
    game = OneRound(domain)
    for noise in np.random.default_rng(5).standard_normal((20, domain.center.size)):
        s = game.tangent(noise)
        s = s / np.linalg.norm(s)
        m = game.told(noise)[1]
        # The difference of two losses of order 0.1 is divided by delta = 1/1000.
        np.testing.assert_allclose(m @ s, game.a @ s, atol=1e-12)
        left = float((m - game.a) @ (m - game.a))
        was, wrong = game.m - game.a, float((game.m - game.a) @ s)
        assert left == pytest.approx(float(was @ was) - wrong**2, abs=1e-12)


def test_slopes_that_stay_are_known_soon() -> None:
    """Linear losses that do not change: what is unknown shrinks by 1 - 1/d a round in the mean.

    After 40 d rounds e^-40 of its square is left in the mean; a thousandth of it or more is left
    with a probability of at most 1000 e^-40, by Markov's inequality.
    """
    d = 5
    learner, slope = dikin.OptimisticTwoPoint(dikin.Ball(d), 1000, seed=1), np.full(d, 0.2)
    for _ in range(40 * d):
        query = learner.ask()
        learner.tell(query, tuple(query.point @ slope))
    off = learner._state.linear - slope
    assert float(off @ off) < 1e-3 * float(slope @ slope)


# --- the bound of the steps ----------------------------------------------------------------------


def excess(turns: int) -> float:
    """How far sum g.(y - u) is above its bound, for the best u: no chance is involved."""
    domain, d = dikin.Ball(2), 2
    learner = dikin.OptimisticTwoPoint(domain, 300, seed=1)
    shrink, slopes, paid, worst = learner._optimistic.shrink, np.zeros(d), 0.0, -np.inf
    for t in range(300):
        y, m = learner.center, learner._state.linear.copy()
        query, slope = learner.ask(), np.array([np.cos(t // turns), np.sin(t // turns)])
        learner.tell(query, tuple(np.tanh(3 * query.point @ slope)))
        g = m + d * (learner._state.linear - m)  # as m moves by e s
        paid, slopes = paid + float(g @ y), slopes + g
        root = sqrt(learner._state.numbers[0])
        bound = sqrt(8) * root + 2.4 * (root - d)
        worst = max(worst, paid + shrink * float(np.linalg.norm(slopes)) - bound)
    return worst


@pytest.mark.parametrize("turns", [1, 10, 100])
def test_no_point_beats_the_steps_by_more_than_the_bound(turns: int) -> None:
    """Proposition 30 of docs/mathematics.md, for the worst of all fixed points."""
    assert excess(turns) <= 0.0


def test_steps_in_the_wrong_size_break_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimistic_two_point, "STEP", 1e-3)
    assert excess(100) > 10.0


# --- the game ------------------------------------------------------------------------------------


def regret(make: Callable[[Any], Any], T: int) -> float:
    game = dikin.Circling(dikin.Ball(2), T, 1)
    run = dikin.play(make(game), game, T, progress=False)
    assert not run.compiled, "the compiled loop tells one value only"
    return run.total_loss - game.dynamic_total()


def test_where_losses_change_slowly_it_pays_far_less_than_without_a_prediction() -> None:
    T = 2000
    optimistic = regret(
        lambda game: dikin.OptimisticTwoPoint(game.domain, T, loss_range=game.loss_range, seed=1), T
    )
    plain = regret(
        lambda game: dikin.TwoPoint(
            game.domain, T, game.lipschitz, loss_range=game.loss_range, seed=1
        ),
        T,
    )
    assert optimistic < 0.2 * plain


def test_a_saved_learner_keeps_its_prediction_and_its_open_queries(tmp_path: Path) -> None:
    learner = dikin.OptimisticTwoPoint(PLANE, 100, seed=1)
    for _ in range(10):
        query = learner.ask()
        learner.tell(query, tuple(query.point @ [0.4, -0.1, 0.2, 0.0]))
    late = learner.ask()
    learner.save(tmp_path / "learner.json")
    twin = dikin.load(tmp_path / "learner.json")
    for each in (learner, twin):
        each.tell(each.ask(), (0.1, 0.1))
        each.tell(late.id, (0.3, 0.2))
    assert np.abs(learner._state.linear).max() > 0.01
    assert learner.state() == twin.state()


# --- the kernel compiles -------------------------------------------------------------------------


def rounds_of(
    kernel: Any, state: LearnerState, noises: Array, losses: Array, parts: tuple[Array, Array]
) -> None:
    """Ask and tell of the kernel, as the loop calls them."""
    metric, u = parts
    for i in range(losses.size):
        s = noises[i].copy()
        asked = kernel.ask(state, s, metric, u)
        kernel.tell(i + 1, Memo(state, noises[i], s, metric, asked), losses[i], 0.0, state)


@pytest.mark.parametrize("domain", [BALL, PLANE])
def test_the_compiled_kernel_agrees(domain: dikin.Domain) -> None:
    """Sums over a vector may be ordered differently: 60 rounds feed one rounding back."""
    jit.compiled_loop()._declare_functions()
    rng, outcomes = np.random.default_rng(6), []
    noises, losses = rng.standard_normal((60, domain.center.size)), 1e-3 * rng.uniform(-1, 1, 60)
    for play in (rounds_of, njit(error_model="numpy")(rounds_of)):
        learner = dikin.OptimisticTwoPoint(domain, 1000, seed=1)
        made = learner._state.copied()
        state = made._replace(numbers=np.array(made.numbers), scratch=made.scratch.copy())
        parts = np.empty(learner.geometry.metric_size), np.empty(learner.geometry.size)
        play(learner._optimistic, state, noises, losses, parts)
        outcomes.append(np.concatenate([state.numbers, state.linear, state.iterate]))
    np.testing.assert_allclose(outcomes[0], outcomes[1], rtol=1e-9, atol=1e-12)
    assert np.abs(outcomes[0]).max() > 1
