"""Normal laws cut off at the edge of a set: their means and spreads, by quadrature.

The closed forms by the error function lose their digits where it matters: in a narrow window and in
a width tail. Here every density has one peak, every integral runs over the window in which the
density is not negligible, and all terms are positive: a spread is good to about 1e-12 of itself
(to 1e-5 where a ball of dimension 40 cuts through the middle of a law a thousandth as wide).
"""

from __future__ import annotations

from functools import cache
from math import pi, sqrt
from typing import Protocol, runtime_checkable

import numpy as np

from dikin.vectors import Array

NODES = 64
DROP = 40.0
"""A density e^-40 of its largest value is negligible: 4e-18."""
PEAK_NODES = 48
"""How many nodes must lie under the peak."""


@runtime_checkable
class HasTruncatedNormal(Protocol):
    """A geometry that knows the normal laws cut off at its edge."""

    def truncated_normal(
        self, theta: Array, precision: float, noise: Array, iterate: Array, metric: Array
    ) -> float:
        """Explore the law N(theta, I/precision) on the set: H is its inverse covariance.

        The iterate becomes its mean, for `point` and `linear_update` only; returns |s|^2.
        """
        ...


@cache
def legendre() -> tuple[Array, Array]:
    """Nodes and weights of Gauss and Legendre on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return np.asarray((nodes + 1.0) / 2.0), np.asarray(weights / 2.0)


def half_width(slope: Array, precision: float) -> Array:
    """Beyond this z > 0 a density is negligible: precision (slope z + z^2/2) = DROP."""
    drop = 2.0 * DROP / precision
    return np.asarray(drop / (slope + np.sqrt(slope * slope + drop)))


def interval_moments(half: Array, theta: Array, precision: float) -> tuple[Array, Array]:
    """Mean and standard deviation of N(theta_i, 1/precision) on [-half_i, half_i], for every i.

    At z from its peak the density is exp(-precision (|a| |z| + z^2/2)), with a not zero where theta
    lies outside.
    """
    peak = np.clip(theta, -half, half)
    slope = peak - theta
    width = half_width(np.abs(slope), precision)
    low, high = np.maximum(-half - peak, -width), np.minimum(half - peak, width)
    nodes, weights = legendre()
    z = low[:, None] + (high - low)[:, None] * nodes
    density = weights * np.exp(-precision * z * (z / 2.0 + slope[:, None]))
    density /= density.sum(axis=1, keepdims=True)
    mean = (density * z).sum(axis=1)
    variance = (density * (z - mean[:, None]) ** 2).sum(axis=1)
    return peak + mean, np.sqrt(variance)


def ball_moments(
    dim: int, rho: float, theta: float, precision: float
) -> tuple[float, float, float]:
    """N(theta e, I/precision) in a ball: its mean along e, its deviations along e and across.

    At the angle phi a slice across e is a ball of radius rho sin(phi), rho - b from the centre with
    b = rho (1 - cos phi).
    """
    if dim == 1:
        means, spreads = interval_moments(np.array([rho]), np.array([theta]), precision)
        return float(means[0]), float(spreads[0]), float(spreads[0])
    low, high, nodes, weights = 0.0, pi, *legendre()
    while True:
        phi = low + (high - low) * nodes
        b = 2.0 * rho * np.sin(phi / 2.0) ** 2
        slices, squares = slice_moments(dim, rho * np.sin(phi), precision)
        logs = slices + np.log(np.sin(phi)) - precision * b * (b / 2.0 + theta - rho)
        visible = np.flatnonzero(logs > logs.max() - DROP)
        if visible.size >= PEAK_NODES:
            break
        first, last = int(visible[0]), int(visible[-1])
        low = float(phi[first - 1]) if first > 0 else low
        high = float(phi[last + 1]) if last < NODES - 1 else high
    density = weights * np.exp(logs - logs.max())
    density /= density.sum()
    gap = float(density @ b)
    along = sqrt(float(density @ (b - gap) ** 2))
    return rho - gap, along, sqrt(float(density @ squares) / (dim - 1))


def slice_moments(dim: int, sizes: Array, precision: float) -> tuple[Array, Array]:
    """Of exp(-precision |y|^2/2) on balls of dimension dim - 1: ln of the integral, mean of |y|^2.

    Up to a constant in the first. The density of s = |y| has the power dim - 2; around its peak its
    logarithm falls at least as that of a normal law.
    """
    power = dim - 2
    peak = np.minimum(sizes, sqrt(power / precision))
    slope = power / np.maximum(peak, 1e-300) / precision - peak if power else -peak
    width = half_width(np.abs(slope), precision)
    low, high = np.maximum(peak - width, 0.0), np.minimum(peak + width, sizes)
    nodes, weights = legendre()
    s = low[:, None] + (high - low)[:, None] * nodes
    top = peak[:, None]
    logs = -precision * (s - top) * (s + top) / 2.0
    if power:
        logs += power * np.log(s / top)
    density = weights * np.exp(logs)
    total = density.sum(axis=1)
    at_peak = -precision * peak * peak / 2.0 + (power * np.log(peak) if power else 0.0)
    return np.log(total * (high - low)) + at_peak, (density * s * s).sum(axis=1) / total
