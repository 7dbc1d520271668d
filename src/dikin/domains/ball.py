"""Euclidean ball {x : |x - c| <= r}.   Barrier -ln(1 - |x - c|^2/r^2), nu = 1."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, log, sqrt
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from dikin.arguments import LARGEST_VECTOR, frozen, positive, size_of_set
from dikin.domains.base import Array, Domain
from dikin.domains.geometry import Geometry
from dikin.domains.roots import warm_start_gap
from dikin.errors import DomainError
from dikin.vectors import add_combination, affine, combine, copy, dot, dots, multiply

TINY = 1e-300
"""Beside any other length it is nothing."""


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
        Its centre, of `dim` entries; the origin by default.

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
        self.dim = size_of_set(dim, "dim", 1, LARGEST_VECTOR, "the ball's dimension")
        self.radius = positive(radius, "radius", DomainError)
        self.center = frozen(np.zeros(self.dim) if center is None else center, "center", 1)
        if self.center.shape != (self.dim,):
            raise DomainError(
                f"Ball(dim={self.dim}): center must have {self.dim} entries, got {self.center.size}"
            )
        self.nu = 1.0
        self.point_shape = (self.dim,)
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
        return BallGeometry(self.dim, self.radius / scale)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(2)
        yield cls(1, 3.0, [-5.0])
        yield cls(4, 1e-3, [1e3, 0, 0, -1.0])


class BallNumbers(NamedTuple):
    """The constants of a ball, for the compiled loop."""

    size: int
    rho: float
    iterate_size: int = 3
    metric_size: int = 5


class BallGeometry(BallNumbers, Geometry):
    """|u| <= rho.  iterate = (y, r, slack), |y| = rho r;  metric = (s, across, along, part, |s|^2).

    H has one eigenvalue across the radius and one along it: `across` and `along` are the inverses
    of their roots, and `part` y is the part of s along the radius.
    """

    @property
    def identity(self) -> bool:
        return True

    def start(self) -> Array:
        iterate = np.zeros((3, self.size))
        iterate[2, 0] = 1.0
        return iterate

    def solve(self, linear: Array, quadratic: float, weight: float, iterate: Array) -> None:
        length, gap = sqrt(dot(linear, linear)), 1.0
        if length > 0.0:
            square = quadratic * self.rho * self.rho
            gap = warm_start_gap(self.rho * length, square, weight, 1.0 - float(iterate[1, 0]))
        iterate[1, 0], iterate[2, 0] = 1.0 - gap, gap * (2.0 - gap)
        multiply(self.rho * (gap - 1.0) / (length + TINY), linear, iterate[0])

    def explore(
        self, iterate: Array, kappa: float, shift: float, s: Array, metric: Array
    ) -> tuple[float, float]:
        r, slack = float(iterate[1, 0]), float(iterate[2, 0])
        factor = 2.0 * kappa / (self.rho * self.rho)
        copy(s, metric[0])
        square, radial = dots(s, iterate[0])
        across = sqrt(slack / (factor + shift * slack))
        along = slack / sqrt(factor * (1.0 + r * r) + shift * slack * slack)
        metric[1, 0], metric[2, 0], metric[4, 0] = across, along, square
        away = self.rho * r
        metric[3, 0] = radial / (away * away) if r > 0.0 else 0.0
        return square, (self.size - 1) * across * across + along * along

    def point(self, iterate: Array, metric: Array, scale: float, u: Array) -> float:
        across, part = scale * float(metric[1, 0]), float(metric[3, 0])
        along, away = 1.0 + scale * float(metric[2, 0]) * part, self.rho * float(iterate[1, 0])
        combine(across, metric[0], along - across * part, iterate[0], u)
        inside, outside = max(float(metric[4, 0]) - part * away * part * away, 0.0), along * away
        return across * across * inside + outside * outside

    def linear_update(
        self, iterate: Array, metric: Array, scale: float, damping: float, out: Array
    ) -> tuple[float, float]:
        across, away = scale / float(metric[1, 0]), self.rho * float(iterate[1, 0])
        along = scale * float(metric[3, 0]) / float(metric[2, 0])
        radial = along - across * float(metric[3, 0]) - damping
        add_combination(across, metric[0], radial, iterate[0], out)
        return along * away * away, away * away

    def barrier(self, iterate: Array) -> float:
        return -log(iterate[2, 0])

    def write_point(self, u: Array, center: Array, radius: float, x: Array) -> None:
        affine(u, center, radius, x)

    def inward(self, displacement: Array) -> Array:
        return displacement
