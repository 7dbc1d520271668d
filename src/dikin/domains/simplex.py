"""Probability simplex {x in R^n : x >= 0, sum x = 1}, d = n - 1.   Barrier -sum ln x_i, nu = n."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt
from typing import Any, Self

import numpy as np

from dikin.domains.base import Array, Domain, Geometry, LinearAim, Place, whole

PLANE_TOLERANCE = 1e-9
"""How far from one the entries of a probability vector may add up to."""


class Simplex(Domain):
    """Probability vectors of `n` entries.

    >>> Simplex(4).center
    array([0.25, 0.25, 0.25, 0.25])
    """

    def __init__(self, n: int) -> None:
        self.n = whole(n, "n", 2, "a single probability is always 1: there is nothing to choose")
        self.dim = self.n - 1
        self.nu = float(self.n)
        self.point_shape = (self.n,)
        self.center = np.full(self.n, 1 / self.n)
        self.center.setflags(write=False)
        self.radius = sqrt(1 - 1 / self.n)
        self.inradius = 1 / sqrt(self.n * (self.n - 1))
        self.diameter = sqrt(2)

    @cached_property
    def _plane(self) -> Array:
        from scipy.linalg import helmert

        return np.asarray(helmert(self.n)).T

    def outward(self, v: Array) -> Array:
        return np.asarray(self._plane @ v)

    def inward(self, displacement: Array) -> Array:
        return np.asarray(displacement @ self._plane)

    def barrier(self, v: Array) -> float:
        x = self.point(v)
        return float(-np.log(x).sum()) if (x > 0).all() else inf

    def gradient(self, v: Array) -> Array:
        return self.inward(-1 / self.point(v))

    def hessian(self, v: Array) -> Array:
        return np.asarray((self._plane.T / self.point(v) ** 2) @ self._plane)

    def margin(self, point: Array) -> float:
        off = abs(float(point.sum()) - 1)
        return float(point.min()) if off <= PLANE_TOLERANCE else -off

    def geometry(self, scale: float) -> Geometry:
        return SimplexGeometry(self.n, scale)

    def arguments(self) -> dict[str, Any]:
        return {"n": self.n}

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(2)
        yield cls(5)


class SimplexGeometry(Geometry):
    """u = (x - 1/n)/scale with sum u = 0, kept in all n coordinates.   place = (u, x, level).

    Stationarity under the constraint, with the multiplier `level`, is a quadratic a coordinate:

        S x^2 + (g_i + level) x - w = 0,   S, g in the units of x,

    whose positive root falls in `level` and is convex in it. So does the sum of the roots, and
    Newton's method for sum x = 1 rises monotonically from any level at which the sum is over one.
    """

    def __init__(self, n: int, scale: float) -> None:
        self.size, self.dim, self.nu, self.scale = n, n - 1, float(n), scale

    def start(self) -> Place:
        return np.zeros(self.size), np.full(self.size, 1 / self.size), 0.0

    def solve(self, linear: Array, quadratic: float, weight: float, near: Place) -> Place:
        n, pull, square = self.size, linear / self.scale, quadratic / self.scale**2
        # Two levels at which the sum is at least one: the largest entry alone is one there,
        # or every entry is at least 1/n.
        low, high = float(pull.min()), float(pull.max())
        level = max(weight - square - low, n * weight - square / n - high)
        rounding = 1e-15 * (weight + max(abs(low), abs(high)))
        while True:
            x, slope = _positive_roots(pull + level, square, weight)
            higher = level + (float(x.sum()) - 1.0) / slope
            if not higher - level > rounding:
                break
            level = higher
        x /= x.sum()
        return (x - 1 / n) / self.scale, x, level

    def frame(self, place: Place, kappa: float, shift: float) -> PlaneFrame:
        return PlaneFrame(place[0], np.sqrt(kappa * (self.scale / place[1]) ** 2 + shift))

    def outward(self, u: Array) -> Array:
        return u


def _positive_roots(b: Array, square: float, weight: float) -> tuple[Array, float]:
    """Roots x > 0 of square x^2 + b x = weight, and minus the derivative of their sum in b."""
    root = np.sqrt(b * b + 4 * square * weight)
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.where(b > 0, 2 * weight / (b + root), (root - b) / (2 * square))
    return x, float((x / root).sum())


@dataclass(slots=True)
class PlaneFrame:
    """A diagonal H restricted to the plane sum z = 0.

    z = D^(-1/2) s stays in the plane when s is orthogonal to D^(-1/2) 1.
    """

    y: Array
    root: Array
    """D^(1/2)."""

    @property
    def trace(self) -> float:
        inverse = self.root**-2.0
        return float(inverse.sum() - (inverse @ inverse) / inverse.sum())

    def aim(self, noise: Array) -> LinearAim:
        normal = 1 / self.root
        s = noise - normal * (float(normal @ noise) / float(normal @ normal))
        return LinearAim.at(self, s)

    def spread(self, s: Array) -> Array:
        return s / self.root

    def gather(self, s: Array) -> Array:
        return s * self.root
