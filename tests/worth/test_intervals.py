"""The boundaries, against numerical integrals and against the inequalities that they rest on."""

from __future__ import annotations

from math import exp, log, log1p, pi, sqrt

import numpy as np
import pytest

from dikin.worth.intervals import (
    GRID,
    best_scale,
    empirical_bernstein,
    half_width,
    normal_mixture,
)


@pytest.mark.parametrize("alpha", [0.05, 1e-6])
@pytest.mark.parametrize(("spread", "scale"), [(1.0, 1.0), (500.0, 0.02), (3.0, 40.0)])
def test_the_normal_mixture_is_the_integral_of_exponentials(
    spread: float, scale: float, alpha: float
) -> None:
    """At the boundary the mean of exp(a s - a^2 W/2) over a ~ N(0, scale) is 1/alpha."""
    s = half_width(spread, scale, alpha)
    assert s**2 == pytest.approx(normal_mixture(spread, scale, alpha) * spread, rel=1e-12)
    peak, width = s / (spread + 1 / scale), 1 / sqrt(spread + 1 / scale)
    a = np.linspace(peak - 12 * width, peak + 12 * width, 20_001)
    heights = np.exp(a * s - a**2 * spread / 2 - a**2 / (2 * scale)) / sqrt(2 * pi * scale)
    assert np.trapezoid(heights, a) == pytest.approx(1 / alpha, rel=1e-8)


@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_the_best_scale_is_best(alpha: float) -> None:
    best = half_width(70.0, best_scale(70.0, alpha), alpha)
    others = [half_width(70.0, f * best_scale(70.0, alpha), alpha) for f in (0.9, 0.99, 1.01, 1.1)]
    assert best < min(others)


def sub_gaussian(d: np.ndarray, odds: np.ndarray, a: np.ndarray, share: float) -> np.ndarray:
    """E exp(a d - a^2 (share d^2 + (1 - share) E d^2)/2) for a variable of two values."""
    square = (odds * d**2).sum(axis=0)
    inside = a * d - a**2 / 2 * (share * d**2 + (1 - share) * square)
    return (odds * np.exp(inside)).sum(axis=0)


def two_values(chance: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Variables of mean zero with two values, skewed ones too."""
    odds = 10.0 ** chance.uniform(-4, -0.3, count)
    d = np.array([1 - odds, -odds])  # with the odds (odds, 1 - odds)
    return d * chance.choice([-1.0, 1.0], count), np.array([odds, 1 - odds])


def test_a_third_of_the_squares_and_two_of_their_mean_are_enough() -> None:
    """The inequality of Theorem 16, and that it fails if squares that came are counted alone."""
    chance = np.random.default_rng(1)
    d, odds = two_values(chance, 20_000)
    a = 10.0 ** chance.uniform(-2, 2, 20_000) * chance.choice([-1.0, 1.0], 20_000)
    assert sub_gaussian(d, odds, a, 1 / 3).max() <= 1 + 1e-12
    assert sub_gaussian(d, odds, a, 1.0).max() > 1.01
    assert sub_gaussian(d, odds, a, 0.0).max() > 1.01


def psi(a: float, reach: float) -> float:
    return (-log1p(-a * reach) - a * reach) / reach**2


def test_the_inequality_of_empirical_bernstein() -> None:
    """exp(a x - psi(a) x^2) <= 1 + a x for x >= -reach; with too small a reach it fails."""
    for a in (0.01, 0.3, 0.49):
        x = np.linspace(-2.0, 40.0, 5001)
        assert (np.exp(a * x - psi(a, 2.0) * x**2) <= 1 + a * x + 1e-12).all()
    x = np.linspace(-2.0, 40.0, 5001)
    assert not (np.exp(0.49 * x - psi(0.49, 1.0) * x**2) <= 1 + 0.49 * x + 1e-12).all()


@pytest.mark.parametrize(("squares", "reach"), [(0.0, 1.0), (30.0, 0.7), (1e5, 2.0), (400.0, 1.9)])
def test_the_exact_boundary_is_the_root_of_the_mixture(squares: float, reach: float) -> None:
    s = empirical_bernstein(squares, reach, 2.0, 0.025)
    total = 0.0
    for place in range(GRID):
        a = 2.0 ** (1 - place / 2) / 2.0
        if a < 1 / reach:
            weight = 1 / (place + 1) - 1 / (place + 2)
            total += weight * exp(a * s - psi(a, reach) * squares)
    assert total == pytest.approx(1 / 0.025, rel=1e-9)


def test_the_exact_boundary_is_close_to_a_known_variance() -> None:
    """With many small terms it is that of a normal sum, sqrt(2 V ln(1/alpha)), for a smaller alpha.

    No weight of the grid is below 1/(40 41), and a number of the grid is off by the fourth root of
    two at most, which costs a factor of 1.02.
    """
    s = empirical_bernstein(1e6, 1.0, 1.0, 0.025)
    least, most = (sqrt(2e6 * log(times / 0.025)) for times in (1, GRID * (GRID + 1)))
    assert least < s < 1.02 * most


def test_it_grows_with_everything_that_may_go_wrong() -> None:
    at = empirical_bernstein(100.0, 1.0, 2.0, 0.025)
    assert empirical_bernstein(120.0, 1.0, 2.0, 0.025) > at
    assert empirical_bernstein(100.0, 1.4, 2.0, 0.025) > at
    assert empirical_bernstein(100.0, 1.0, 2.0, 0.01) > at
