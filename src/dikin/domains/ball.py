"""Euclidean ball {x : |x - c| <= r}.   Barrier -ln(1 - |x - c|^2/r^2), nu = 1."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, log, sqrt
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from dikin.arguments import LARGEST_VECTOR, frozen, positive, whole
from dikin.domains.base import Array, Domain
from dikin.domains.geometry import ClosedForm, Geometry
from dikin.domains.roots import warm_start_gap
from dikin.errors import DomainError
from dikin.vectors import combine, dot, dots, multiply

TINY = 1e-300
"""Negligible when added to any other length."""


class QuadraticDomain(Domain):
    """Sets whose gauge is a Euclidean norm, with the barrier -ln(1 - gauge^2) and nu = 1."""

    exact_support = True

    def barrier(self, v: Array) -> float:
        slack = self._slack(v)
        return -log(slack) if slack > 0 else inf

    def _slack(self, v: Array) -> float:
        r = self.gauge(v)
        return (1 - r) * (1 + r)  # keeps its digits near the boundary

    def barrier_growth(self, share: float) -> float:
        return -log(share * (2.0 - share))  # everywhere on the boundary

    @property
    def symmetry(self) -> float:
        return 1.0


class Ball(QuadraticDomain):
    """The Euclidean ball: all points within `radius` of `center`.

    Parameters
    ----------
    dim : int
        Its dimension, at least 1.
    radius : float, default 1.0
        Its radius.
    center : array_like, optional
        Its centre, of `dim` entries. The default is the origin.

    Raises
    ------
    DomainError
        If the centre has the wrong number of entries.

    Examples
    --------
    >>> Ball(3, radius=2.0).contains([0, 0, 2])
    True
    """

    def __init__(self, dim: int, radius: float = 1.0, center: ArrayLike | None = None) -> None:
        self.dim = whole(dim, "dim", 1, "the ball's dimension", DomainError, LARGEST_VECTOR)
        self.radius = positive(radius, "radius", DomainError)
        self.center = frozen(np.zeros(self.dim) if center is None else center, "center", 1)
        if self.center.shape != (self.dim,):
            raise DomainError(
                f"Ball(dim={self.dim}): center must have {self.dim} entries, got {self.center.size}"
            )
        self.nu = 1.0
        self.inradius = self.radius
        self.diameter = 2 * self.radius

    def gradient(self, v: Array) -> Array:
        return 2 * v / (self.radius**2 * self._slack(v))

    def hessian(self, v: Array) -> Array:
        g = self.gradient(v)
        return 2 / (self.radius**2 * self._slack(v)) * np.eye(self.dim) + np.outer(g, g)

    def margin(self, point: Array) -> float:
        v = point - self.center
        return self.radius - sqrt(v.dot(v))

    def gauge(self, v: Array) -> float:
        return sqrt(v @ v) / self.radius

    def support(self, direction: Array) -> float:
        return self.radius * sqrt(direction @ direction)

    def geometry(self, scale: float) -> Geometry:
        return BallGeometry(self.dim, 3, 2, self.radius / scale)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(2)
        yield cls(1, 3.0, [-5.0])
        yield cls(4, 1e-3, [1e3, 0, 0, -1.0])


class BallGeometry(ClosedForm):
    """|u| <= length.   iterate = (y, slack, r), |y| = length r.

    H has one eigenvalue across the radius and one along it: `across` and `along` are the inverses
    of their roots, and `part` y is the part of s along the radius.
    """

    def solve(self, linear: Array, quadratic: float, weight: float, iterate: Array) -> None:
        norm, gap = sqrt(dot(linear, linear)), 1.0
        if norm > 0.0:
            square = quadratic * self.length * self.length
            gap = warm_start_gap(self.length * norm, square, weight, 1.0 - float(iterate[2, 0]))
        iterate[1, 0], iterate[2, 0] = gap * (2.0 - gap), 1.0 - gap
        multiply(self.length * (gap - 1.0) / (norm + TINY), linear, iterate[0])

    def explore(
        self, iterate: Array, kappa: float, shift: float, s: Array, metric: Array
    ) -> tuple[float, float]:
        slack, r = float(iterate[1, 0]), float(iterate[2, 0])
        factor = 2.0 * kappa / (self.length * self.length)
        square, radial = dots(s, iterate[0])
        across = sqrt(slack / (factor + shift * slack))
        along = slack / sqrt(factor * (1.0 + r * r) + shift * slack * slack)
        away = self.length * r
        part = radial / (away * away) if r > 0.0 else 0.0
        combine(across, s, (along - across) * part, iterate[0], metric[0])
        combine(1.0 / across, s, (1.0 / along - 1.0 / across) * part, iterate[0], metric[1])
        return square, (self.size - 1) * across * across + along * along

    def barrier(self, iterate: Array) -> float:
        return -log(iterate[1, 0])
