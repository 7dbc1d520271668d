"""Normal laws cut off at the edge of a box or a ball: moments by other roads, and one fact."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import exp, gamma, log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from scipy.special import ive
from scipy.stats import truncnorm

from dikin.domains import truncated_normal as normal
from dikin.domains.truncated_normal import ball_moments, interval_moments

Array = np.ndarray[Any, np.dtype[np.float64]]


def on_interval(half: float, theta: float, precision: float) -> tuple[float, float]:
    mean, spread = interval_moments(np.array([half]), np.array([theta]), precision)
    return float(mean[0]), float(spread[0])


@pytest.mark.parametrize("theta", [0.0, 0.3, -0.8, 1.0, 2.5])
@pytest.mark.parametrize("precision", [0.5, 4.0, 60.0, 900.0])
def test_interval_against_scipy(theta: float, precision: float) -> None:
    width = 1 / sqrt(precision)
    law = truncnorm((-0.8 - theta) / width, (0.8 - theta) / width, loc=theta, scale=width)
    mean, spread = on_interval(0.8, theta, precision)
    assert mean == pytest.approx(law.mean(), rel=1e-7, abs=1e-12)
    assert spread == pytest.approx(law.std(), rel=1e-4)  # its closed form cancels in the tail


@pytest.mark.parametrize("theta", [0.0, 0.7, 1.5, 40.0, 1e5])
@pytest.mark.parametrize("precision", [1e-8, 1e-2, 1.0, 1e4])
def test_interval_against_an_adaptive_quadrature(theta: float, precision: float) -> None:
    """In distance from the end of the interval, so that a far tail has all its digits there."""
    peak = min(theta, 1.0)

    def density(gap: float) -> float:
        z = 1.0 - gap - peak
        return exp(-precision * z * (z / 2 + peak - theta))

    scale = min(1.0, 1 / sqrt(precision), 1 / (precision * max(theta - 1.0, 1e-9)))
    knots = [(1 - peak) + n * scale / 2 for n in range(-100, 100)]

    def integral(f: Callable[[float], float]) -> float:
        ends = sorted({0.0, 2.0, *(k for k in knots if 0 < k < 2)})
        return float(sum(quad(lambda g: f(g) * density(g), a, b)[0] for a, b in pairwise(ends)))

    total = integral(lambda g: 1.0)
    gap = integral(lambda g: g) / total
    spread = sqrt(integral(lambda g: (g - gap) ** 2) / total)
    mean, found = on_interval(1.0, theta, precision)
    assert found == pytest.approx(spread, rel=1e-9)
    assert abs(1 - mean - gap) < 1e-9 * spread + 1e-15


def polar(d: int, rho: float, theta: float, p: float) -> tuple[float, float, float]:
    """The same by the radius: over a sphere exp(k cos) has a Bessel function for its integral."""

    def weight(r: float) -> float:
        k, nu = p * theta * r, d / 2 - 1
        sphere = 1 / (gamma(nu + 1) * 2**nu) if k < 1e-8 else ive(nu, k) * k**-nu
        return float(sphere * exp(-p / 2 * (r - theta) ** 2 + (d - 1) * np.log(r / rho)))

    def cosines(r: float) -> tuple[float, float]:
        k, nu = p * theta * r, d / 2 - 1
        if k < 1e-8:
            return k / d, 1 / d
        first = float(ive(nu + 1, k) / ive(nu, k))
        return first, 1 - (d - 1) * first / k

    grid = np.linspace(0, rho, 20)

    def integral(f: Callable[[float], float]) -> float:
        return float(sum(quad(lambda r: f(r) * weight(r), a, b)[0] for a, b in pairwise(grid)))

    total = integral(lambda r: 1.0)
    mean = integral(lambda r: r * cosines(r)[0]) / total
    along = integral(lambda r: r * r * cosines(r)[1]) / total - mean**2
    across = integral(lambda r: r * r * (1 - cosines(r)[1])) / total / (d - 1)
    return mean, sqrt(along), sqrt(across)


@pytest.mark.parametrize("dim", [2, 3, 7, 40])
@pytest.mark.parametrize(("theta", "p"), [(0.0, 1.0), (0.4, 3.0), (0.9, 100.0), (1.6, 20.0)])
def test_ball_against_bessel_functions(dim: int, theta: float, p: float) -> None:
    for ours, theirs in zip(
        ball_moments(dim, 0.8, theta, p), polar(dim, 0.8, theta, p), strict=True
    ):
        assert ours == pytest.approx(theirs, rel=1e-7, abs=1e-9)


def test_ball_against_a_plane_quadrature() -> None:
    def integral(f: Callable[[float, float], float]) -> float:
        def inner(y: float, x: float) -> float:
            return f(x, y) * exp(-2.5 * ((x - 0.7) ** 2 + y * y))

        def edge(x: float) -> float:
            return sqrt(1 - x * x)

        return float(dblquad(inner, -1, 1, lambda x: -edge(x), edge)[0])

    total = integral(lambda x, y: 1.0)
    mean = integral(lambda x, y: x) / total
    along = sqrt(integral(lambda x, y: (x - mean) ** 2) / total)
    across = sqrt(integral(lambda x, y: y * y) / total)
    assert ball_moments(2, 1.0, 0.7, 5.0) == pytest.approx((mean, along, across), rel=1e-7)


def test_ball_against_rejection() -> None:
    """Six standard deviations of the mean of n: fails by chance less than once in 10^7 runs."""
    rng, n = np.random.default_rng(3), 200_000
    x = rng.normal(size=(n, 3)) / sqrt(6.0) + [0.5, 0, 0]
    x = x[(x**2).sum(axis=1) <= 1]
    mean, along, across = ball_moments(3, 1.0, 0.5, 6.0)
    seen = np.column_stack([x[:, 0] - mean, (x[:, 0] - mean) ** 2 - along**2, x[:, 1:] ** 2])
    seen[:, 2:] -= across**2
    assert (np.abs(seen.mean(axis=0)) < 6 * seen.std(axis=0) / sqrt(len(x))).all()


@pytest.mark.parametrize("dim", [2, 3, 10, 60])
def test_ball_in_the_limits(dim: int) -> None:
    mean, along, across = ball_moments(dim, 2.0, 0.5, 1e-12)  # the uniform law
    assert (along, across) == pytest.approx((2 / sqrt(dim + 2),) * 2, rel=1e-9)
    assert abs(mean) < 1e-9
    _, along, across = ball_moments(dim, 2.0, 0.5, 1e4)  # nothing is cut off
    assert (along, across) == pytest.approx((1e-2, 1e-2), rel=1e-7)
    # Far outside, the gap behind the pole has the law of Gamma((d+1)/2)/(p theta).
    mean, along, across = ball_moments(dim, 1.0, 1e7, 1.0)
    assert 1 - mean == pytest.approx((dim + 1) / 2 * 1e-7, rel=1e-4)
    assert along == pytest.approx(sqrt((dim + 1) / 2) * 1e-7, rel=1e-4)


def depth(law: Callable[[float, float], tuple[float, ...]]) -> float:
    """The least distance of an edge from the mean, in standard deviations."""
    found = []
    for theta in (0.0, 0.5, 0.99, 1.0, 1.3, 7.0, 1e3):
        for precision in (1e-3, 1.0, 30.0, 1e5):
            mean, along, *_ = law(theta, precision)
            found.append((1 - mean) / along)
    return min(found)


def test_no_edge_is_nearer_than_a_standard_deviation() -> None:
    """E X^2 <= 2 (E X)^2 for log-concave X >= 0: equality for the exponential law, far outside."""
    assert depth(lambda theta, p: on_interval(1.0, theta, p)) == pytest.approx(1, abs=1e-5)
    for dim in (1, 2, 5):
        assert depth(lambda theta, p, dim=dim: ball_moments(dim, 1.0, theta, p)) > 1 - 1e-9


def tilted(theta: float, precision: float, s: float) -> float:
    """ln E exp(-s X) over omega*(s), X the cut-off law on [-1, 1] moved and scaled to 0 and 1."""
    mean, spread = on_interval(1.0, theta, precision)
    slope = s / spread / precision
    # The tilted law is another cut-off one: integrate Lambda' = -(its mean) from 0 to s.
    nodes, weights = normal.legendre()
    means = [(on_interval(1.0, theta - slope * t, precision)[0] - mean) / spread for t in nodes]
    return float(-s * weights @ means) / (-abs(s) - log(1 - abs(s)))


def test_tilting_costs_at_most_that_of_the_exponential_law() -> None:
    """Lambda(s) <= omega*(s) for |s| < 1, with equality for the exponential law: far outside."""
    found = [
        tilted(theta, precision, s)
        for theta in (0.0, 0.9, 2.0, 50.0, 1e4)
        for precision in (0.1, 5.0, 300.0)
        for s in (-0.9, -0.5, 0.1, 0.5)
    ]
    assert 0.999 < max(found) < 1 + 1e-6


def off(change: str, value: float, monkeypatch: pytest.MonkeyPatch) -> float:
    monkeypatch.setattr(normal, change, value)
    normal.legendre.cache_clear()
    try:
        return abs(ball_moments(7, 0.8, 0.9, 100.0)[1] / polar(7, 0.8, 0.9, 100.0)[1] - 1)
    finally:
        normal.legendre.cache_clear()


@pytest.mark.parametrize(("change", "value"), [("DROP", 5.0), ("NODES", 8)])
def test_a_poorer_quadrature_is_noticed(
    change: str, value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(normal, "PEAK_NODES", 4)
    assert off(change, value, monkeypatch) > 1e-6
