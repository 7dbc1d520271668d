"""The learners that project against their texts, in units of their own."""

import contextlib
from collections.abc import Callable
from math import log, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import dikin
from dikin.feedback import Feedback
from dikin.learners.base import Learner
from learners import literal_descent as texts
from learners.literal import OffTheSphereError

Array = NDArray[np.float64]


def onto_ball(v: Array) -> Array:
    return v / max(1.0, float(np.linalg.norm(v)))


def onto_box(v: Array) -> Array:
    half = np.array([2.0, 1.5]) / 2.5  # of Box([0, -1], [4, 2]), whose radius is 2.5
    return np.clip(v, -half, half)


def onto_simplex(v: Array) -> Array:
    """By sorting (Held, Wolfe, Crowder 1974), in coordinates moved to the centre and scaled."""
    n, scale = v.size, np.sqrt(1 - 1 / v.size)
    x = 1 / n + scale * v
    falling = np.sort(x)[::-1]
    level = (np.cumsum(falling) - 1) / np.arange(1, n + 1)
    return (np.maximum(x - level[falling > level][-1], 0) - 1 / n) / scale


SETS: dict[str, tuple[Any, Callable[[Array], Array]]] = {
    "ball": (dikin.Ball(3, 2.5, [1, -2, 0]), onto_ball),
    "box": (dikin.Box([0, -1], [4, 2]), onto_box),
    "simplex": (dikin.Simplex(4), onto_simplex),
}

ROUNDS = 60
LOW, HIGH = 3.0, 11.0
L, SIGMA = 1.5, 0.2


class Units:
    """The paper's units by hand: lengths in R, losses in [-1, 1]."""

    def __init__(self, place: str) -> None:
        self.domain, self.project = SETS[place]
        self.R, self.B = self.domain.radius, (HIGH - LOW) / 2
        self.d, self.r = self.domain.dim, self.domain.inradius / self.R
        self.size = self.domain.center.size
        self.L, self.sigma = L * self.R / self.B, SIGMA * self.R**2 / self.B

    def inner(self, point: Array) -> Array:
        return np.asarray((point - self.domain.center) / self.R)

    def tangent(self, slope: Array) -> Array:
        """The part of a vector in the set's plane."""
        flat = self.d == self.size
        return slope if flat else slope - slope.mean()


Game = tuple[Learner, Any]


def quicken(learner: Any, times: float) -> None:
    pace = learner._pace._replace(eta=times * learner._pace.eta)
    learner._kernel = learner._kernel._replace(pace=pace)


def fkm(units: Units, lipschitz: float | None = None) -> Game:
    """The text's step is small: here it is 1000 times as long, so that many a step ends outside."""
    T, d, r = 10**6, units.d, units.r
    learner = dikin.FKM(units.domain, T, lipschitz, loss_range=(LOW, HIGH), seed=2)
    quicken(learner, 1000)
    if lipschitz is None:
        delta, alpha = (
            float(np.cbrt(r * d**2 / (12 * T))),
            float(np.cbrt(3 * d / (2 * r * sqrt(T)))),
        )
    else:
        delta = T**-0.25 * sqrt(d * r / (3 * (units.L * r + 1)))
        alpha = delta / r
    text = texts.BanditGradientDescent(units.project, d, r, delta, units.size)
    text.xi, text.step = alpha, 1000 / sqrt(T)
    return learner, text


def fkm_lipschitz(units: Units) -> Game:
    return fkm(units, L)


def one_measurement(units: Units) -> Game:
    """With a step so large that many a step ends outside."""
    learner = dikin.OneMeasurementSPSA(units.domain, 40.0, loss_range=(LOW, HIGH), seed=2)
    return learner, texts.OneMeasurement(units.project, units.d, units.r, units.size)


def strongly_convex(units: Units, T: int, steep: float, delta: float, other: float = 0.0) -> Game:
    learner = dikin.AgarwalDekelXiao(units.domain, T, steep, SIGMA, loss_range=(LOW, HIGH), seed=2)
    text = texts.StronglyConvex(units.project, units.d, units.r, delta, units.size)
    text.sigma, text.other = units.sigma, other
    return learner, text


def one_point(units: Units) -> Game:
    """The smaller one of S = 2C/r, by convexity, and S = L |x|/r, by the slope, with |x| <= 1."""
    T, S = 10**6, min(2, units.L) / units.r
    delta = texts.one_point_balance(units.d, T, units.L, units.sigma, S)
    return strongly_convex(units, T, L, delta)


def one_point_cut(units: Units) -> Game:
    """So few rounds that delta stops at r/2."""
    S = min(2, units.L) / units.r
    uncut = texts.one_point_balance(units.d, 100, units.L, units.sigma, S)
    assert uncut > units.r / 2
    return strongly_convex(units, 100, L, units.r / 2, uncut)


def one_point_steep(units: Units) -> Game:
    """Slopes beyond 2, so that convexity bounds what shrinking the set costs."""
    T, slope = 10**6, 20 * units.L
    assert slope > 2
    delta, other = (
        texts.one_point_balance(units.d, T, slope, units.sigma, S / units.r) for S in (2, slope)
    )
    return strongly_convex(units, T, 20 * L, delta, other)


def two_points(units: Units) -> Game:
    T = 100
    learner = dikin.TwoPoint(units.domain, T, L, loss_range=(LOW, HIGH), seed=3)
    text = texts.TwoPoints(units.project, units.d, units.r, 1 / T, units.size)
    text.step = 1 / (units.L * sqrt(units.d * T))
    return learner, text


def two_points_curved(units: Units) -> Game:
    T = 100
    learner = dikin.TwoPoint(units.domain, T, L, SIGMA, loss_range=(LOW, HIGH), seed=2)
    delta = log(T) / T
    text = texts.TwoPointsStronglyConvex(units.project, units.d, units.r, delta, units.size)
    text.sigma = units.sigma
    return learner, text


def predictions(units: Units) -> Game:
    """With steps ten times as long, so that many a step ends outside."""
    T = 100
    learner = dikin.PseudoLine(units.domain, T, L, loss_range=(LOW, HIGH), seed=2)
    quicken(learner, 10)
    # A1 in dimension one, which counts what shrinking the set costs.
    delta = T**-0.25 * sqrt(units.r / (3 * (units.L * units.r + 1)))
    text = texts.Predictions(units.project, 1, units.r, delta, units.size)
    text.T = T
    return learner, text


def adaptive(units: Units) -> Game:
    learner = dikin.AOGD(units.domain, loss_range=(LOW, HIGH))
    return learner, texts.AdaptiveGradient(units.project, units.size)


def tilted(units: Units, T: int = 10**6) -> Game:
    learner = dikin.Tewa(units.domain, T, loss_range=(LOW, HIGH), seed=2)
    return learner, texts.Tilted(units.project, units.d, units.r, T, units.size)


def tilted_cut(units: Units) -> Game:
    """So few rounds that h stops at r/2."""
    learner, text = tilted(units, 100)
    assert text.uncut > text.h
    return learner, text


GAMES = (one_point, one_point_cut, one_point_steep, two_points, two_points_curved, predictions)
BUILD: dict[str, Callable[[Units], Game]] = {
    f.__name__: f
    for f in (fkm, fkm_lipschitz, one_measurement, *GAMES, adaptive, tilted, tilted_cut)
}


def live(learner: Learner, units: Units, t: int) -> texts.Round:
    """A round of the shipped learner, with losses that lead it to the boundary and back."""
    context = np.cos(np.arange(units.size) + t // 40 + 0.2 * (t % 3)) * (1 + t % 3)
    center = units.inner(learner.center)
    told_before = learner.feedback is Feedback.CONTEXT
    query = learner.ask(context) if told_before else learner.ask()
    pair = learner.feedback is Feedback.PAIR
    points = [units.inner(point) for point in (query.point if pair else [query.point])]
    slope = np.cos(np.arange(units.size) + t // 40)
    losses = [float(np.tanh(3 * slope @ x + 0.2)) for x in points]
    curvature = 0.1 * (t % 3)
    answer: Any = [(HIGH + LOW) / 2 + units.B * loss for loss in losses]
    if learner.feedback is Feedback.GRADIENT:
        answer = answer[0], slope * units.B / units.R
    learner.tell(query, answer if len(answer) > 1 else answer[0], curvature)
    sigma = curvature * units.R**2 / units.B
    return texts.Round(center, points, losses, units.tangent(slope), sigma, units.tangent(context))


def widest_gap(learner: Learner, text: Any, units: Units) -> tuple[float, int]:
    """The largest distance between the centres, and how many steps ended outside."""
    gap, outside, project = 0.0, 0, text.project

    def counted(v: Array) -> Array:
        nonlocal outside
        outside += bool(np.linalg.norm(project(v) - v) > 1e-6)
        return np.asarray(project(v))

    text.project = counted
    for t in range(ROUNDS):
        text.told(live(learner, units, t))
        gap = max(gap, float(np.linalg.norm(units.inner(learner.center) - text.centers[-1])))
    return gap, outside


@pytest.mark.parametrize("name", BUILD)
@pytest.mark.parametrize("place", SETS)
def test_learner_is_its_text(name: str, place: str) -> None:
    units = Units(place)
    learner, text = BUILD[name](units)
    gap, outside = widest_gap(learner, text, units)
    # The barrier's weight 1e-16 leaves at most sqrt(2 nu 1e-16) = 3e-8 where a step ends on the
    # boundary exactly, and far less elsewhere; a projection does not enlarge it.
    assert gap < 1e-7
    assert outside > 5


def lazily(text: Any) -> Callable[[texts.Round], None]:
    """Dual averaging: the sum of the steps is projected, and not the last point's step."""
    total = np.zeros_like(text.centers[0])

    def told(seen: texts.Round) -> None:
        nonlocal total
        total = total - text.step * text.estimate(seen)
        text.centers.append((1 - text.xi) * text.project(total / (1 - text.xi)))

    return told


def louder(text: Any) -> Callable[[texts.Round], None]:
    """A step that grows with the context's length."""
    told = text.told
    return lambda seen: told(seen._replace(losses=[np.linalg.norm(seen.context)]))


SPOILED: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("fkm", "told", lazily),
    ("fkm_lipschitz", "xi", lambda text: 0.99 * text.xi),
    ("one_measurement", "baseline", lambda text: lambda: 0.0),
    ("one_point", "eta", lambda text: lambda t: 1 / (text.sigma * min(t, 3))),
    ("one_point_cut", "delta", lambda text: text.other),
    ("one_point_steep", "delta", lambda text: text.other),
    ("two_points", "estimate", lambda text: lambda seen: texts.OnePoint.estimate(text, seen)),
    ("predictions", "told", louder),
    ("adaptive", "H", lambda text: [1e-3]),
    ("tilted", "weight", lambda text: lambda i: float(np.exp(-sum(text.losses[i])))),
    ("tilted_cut", "h", lambda text: text.uncut),
]
"""An attribute of a text with another value."""


@pytest.mark.parametrize(("name", "attribute", "wrong"), SPOILED)
def test_another_text_is_noticed(name: str, attribute: str, wrong: Callable[[Any], Any]) -> None:
    units = Units("box")
    learner, text = BUILD[name](units)
    setattr(text, attribute, wrong(text))
    with contextlib.suppress(OffTheSphereError):
        assert widest_gap(learner, text, units)[0] > 1e-5
