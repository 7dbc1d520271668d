"""KernelLine against its text, and the two facts that its bound rests on."""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import dikin
from learners.taps import tapped

Array = np.ndarray[Any, np.dtype[np.float64]]
T, ROUNDS = 90, 150  # no square: points of the grid at eps exactly would be decided by rounding


class SegmentText:
    """The text in plain loops, on [a, b] with losses in [0, 1]."""

    def __init__(self, a: float, b: float, T: int) -> None:
        self.a, self.b = a, b
        self.eps = (b - a) / sqrt(T)
        self.N = 2 * int(np.ceil(sqrt(T))) + 1
        self.x = [a + (b - a) * j / (self.N - 1) for j in range(self.N)]
        self.V = 2 * (1 + log((b - a) / self.eps))
        self.estimates: list[list[float]] = []

    def eta(self) -> float:
        return sqrt(log(self.N) / ((len(self.estimates) + 1) * self.V))

    def p(self) -> list[float]:
        totals = [sum(row[j] for row in self.estimates) for j in range(self.N)]
        weights = [float(np.exp(-self.eta() * (total - min(totals)))) for total in totals]
        return [w / sum(weights) for w in weights]

    def mu(self) -> float:
        return sum(p * x for p, x in zip(self.p(), self.x, strict=True))

    def flat(self, mu: float) -> tuple[float, float]:
        return max(mu - self.eps, self.a), min(mu + self.eps, self.b)

    def kernel(self, y: float, x: float, mu: float) -> float:
        if abs(x - mu) >= self.eps:
            between = min(mu, x) <= y <= max(mu, x)
            return 1 / abs(x - mu) if between else 0.0
        low, high = self.flat(mu)
        return 1 / (high - low) if low <= y <= high else 0.0

    def play(self, chance: float) -> float:
        """The index, then the place, from one uniform number."""
        p, mu, i = self.p(), self.mu(), 0
        while chance > p[i]:
            chance -= p[i]
            i += 1
        share = chance / p[i]
        low, high = (mu, self.x[i]) if abs(self.x[i] - mu) >= self.eps else self.flat(mu)
        return low + share * (high - low)

    def told(self, y: float, f: float) -> None:
        p, mu = self.p(), self.mu()
        q = sum(p[i] * self.kernel(y, self.x[i], mu) for i in range(self.N))
        self.estimates.append([f * self.kernel(y, x, mu) / q for x in self.x])


def widest_gap(kind: type[SegmentText], lead: float) -> float:
    """How far the shipped points and means get from the text's, on Box([2], [5]).

    The lead is a first estimate that draws the mean to the end of the line.
    """
    text = kind(2, 5, T)
    learner = dikin.KernelLine(dikin.Box([2], [5]), T, loss_range=(-4, 6), seed=3)
    text.estimates.append([lead * (5 - x) for x in text.x])
    learner.rounds = 1
    learner._sums = np.array(text.estimates[0])
    tap, gap = tapped(learner), 0.0
    for t in range(ROUNDS):
        point = float(learner.ask().point[0])
        y = text.play(NormalDist().cdf(float(tap.last[0])))
        f = 0.5 + 0.5 * float(np.cos(3 * point + t))
        learner.tell(t, -4 + 10 * f)
        text.told(y, f)
        gap = max(gap, abs(point - y), abs(float(learner.center[0]) - text.mu()))
    return gap


@pytest.mark.parametrize("lead", [0.0, 50.0])
def test_kernel_line_is_its_text(lead: float) -> None:
    assert widest_gap(SegmentText, lead) < 1e-9


class NoFloor(SegmentText):
    def __init__(self, a: float, b: float, T: int) -> None:
        super().__init__(a, b, T)
        self.eps = 1e-9


class Unweighted(SegmentText):
    """Forgets that a long segment is thin."""

    def kernel(self, y: float, x: float, mu: float) -> float:
        return float(super().kernel(y, x, mu) > 0)


class OneRate(SegmentText):
    def eta(self) -> float:
        return sqrt(log(self.N) / (T * self.V))


class WiderFlat(SegmentText):
    """Lets the flat piece stick out of the set."""

    def flat(self, mu: float) -> tuple[float, float]:
        return mu - self.eps, mu + self.eps


@pytest.mark.parametrize("mutant", [NoFloor, Unweighted, OneRate, WiderFlat])
def test_another_text_is_noticed(mutant: type[SegmentText]) -> None:
    assert max(widest_gap(mutant, lead) for lead in (0.0, 50.0)) > 1e-6


# --- the facts -----------------------------------------------------------------------------------


class Fixed:
    """Noise that is known beforehand."""

    def __init__(self, chance: float) -> None:
        self.chance = chance

    def draw(self) -> Array:
        return np.array([NormalDist().inv_cdf(self.chance)])


def somewhere() -> Any:
    """A learner on its way, with unequal weights."""
    learner = dikin.KernelLine(dikin.Box([-1], [1]), 60, loss_range=(0, 1), seed=4)
    for _ in range(60):
        query = learner.ask()
        learner.tell(query, float((query.point[0] - 0.6) ** 2 / 4))
    return learner


def average(learner: Any, f: Callable[[float], float], pieces: int = 60) -> tuple[Array, float]:
    """E F_j for every j and E sum_j p_j F_j^2: every i of the grid, its piece in equal parts."""
    p, _ = learner._weights()
    sums, square, ends, before = np.zeros(p.size), 0.0, np.cumsum(p), learner._sums
    for i in np.flatnonzero(p > 1e-9):
        for part in range(pieces):
            chance = ends[i] - p[i] * (part + 0.5) / pieces
            vars(learner)["_noise"] = Fixed(float(chance))
            query = learner.ask()
            mean, step, density = learner._open[query.id][1]
            F = f(float(query.point[0])) / density * learner._kernel(mean, step)
            sums += p[i] / pieces * F
            square += p[i] / pieces * float(p @ F**2)
            learner.forget(query)
    assert learner._sums is before
    return sums, square


def segment_mean(learner: Any, f: Callable[[float], float], x: float) -> float:
    """F(x): the mean of f between mu and x, or on the flat piece."""
    low, high = learner._weights()[1], x
    if abs(x - low) < learner._floor:
        low, high = (low + end for end in learner._piece(low))
    s = (np.arange(2000) + 0.5) / 2000
    return float(np.mean([f(v) for v in low + s * (high - low)]))


def worst_bias(learner: Any) -> float:
    def f(x: float) -> float:
        return 0.5 * abs(x + 0.3)

    found, _ = average(learner, f)
    wanted = np.array([segment_mean(learner, f, float(x)) for x in learner._points])
    return float(np.abs(found - wanted)[learner._weights()[0] > 1e-6].max())


def pointwise(learner: Any, mean: float, step: float) -> Array:
    """Of the nearest point of the grid alone, as if losses were not convex."""
    near = np.abs(learner._points - mean - step)
    return np.where(near == near.min(), 10.0, 1e-9)


def test_the_estimate_is_unbiased(monkeypatch: pytest.MonkeyPatch) -> None:
    """60 midpoints a segment leave 1e-3 where f has its kink and a density its jump."""
    assert worst_bias(somewhere()) < 5e-3
    monkeypatch.setattr(dikin.KernelLine, "_kernel", pointwise)
    assert worst_bias(somewhere()) > 5e-2


def test_the_variance_keeps_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = somewhere()
    bound = 2 * (1 + log(sqrt(learner.horizon)))
    _, square = average(learner, lambda x: 1.0)
    assert 1 < square < bound
    monkeypatch.setattr(dikin.KernelLine, "_kernel", pointwise)
    _, square = average(somewhere(), lambda x: 1.0)
    assert square > bound


# --- the rest ------------------------------------------------------------------------------------


def test_refusals() -> None:
    with pytest.raises(dikin.DikinError, match=r"Simplex.*dimension 2: use BanditNewton"):
        dikin.KernelLine(dikin.Simplex(3), 100)
    with pytest.raises(dikin.DikinError, match=r"grid of 2e\+08 points"):
        dikin.KernelLine(dikin.Ball(1), 10**16)
    with pytest.raises(dikin.DikinError, match="horizon"):
        dikin.KernelLine(dikin.Ball(1), 1)


@pytest.mark.parametrize("kind", [dikin.Kink, dikin.Ridge])
def test_the_regret_keeps_its_bound(kind: Any) -> None:
    """The bound is far above what is seen."""
    rounds, interval = 4000, dikin.Box([0], [1])
    world = kind(interval, 1.0, seed=1)
    learner = dikin.KernelLine(interval, rounds, loss_range=world.loss_range, seed=1)
    regret = dikin.play(learner, world, rounds, progress=False).regret[-1]
    V, N = 2 * (1 + log(sqrt(rounds))), 2 * np.ceil(sqrt(rounds)) + 1
    width = world.loss_range[1] - world.loss_range[0]
    assert regret < 4 * width * sqrt(rounds * V * log(N)) + 4.25 * world.lipschitz * sqrt(rounds)
    assert regret < 0.1 * rounds * width  # and it learns
