"""The boundaries, against numerical integrals and against the inequalities that they rest on."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import pytest
from scipy.integrate import trapezoid

from dikin.worth.intervals import best_scale, half_width, normal_mixture


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
    assert trapezoid(heights, a) == pytest.approx(1 / alpha, rel=1e-8)


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
