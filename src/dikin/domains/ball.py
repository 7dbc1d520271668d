"""Euclidean ball {x : |x - c| <= r}.   Barrier -ln(1 - |x - c|^2/r^2), nu = 1."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, log, nan, sqrt
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from dikin.arguments import LARGEST_VECTOR, frozen, positive, size_of_set
from dikin.domains.base import Array, Domain
from dikin.domains.geometry import ROOM, Geometry
from dikin.domains.roots import warm_start_gap
from dikin.domains.truncated_normal import ball_moments
from dikin.errors import DomainError, ShapeError
from dikin.kernel import compilable
from dikin.vectors import add_combination, affine, combine, copy, dot, dots, multiply


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
    ShapeError
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
            raise ShapeError(
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
        return BallGeometry(self.dim, self.radius / scale, self.dim + 3, 3)

    def arguments(self) -> dict[str, Any]:
        return {"dim": self.dim, "radius": self.radius, "center": self.center}

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(2)
        yield cls(1, 3.0, [-5.0])
        yield cls(4, 1e-3, [1e3, 0, 0, -1.0])


class BallNumbers(NamedTuple):
    """The constants of a ball, for the compiled loop."""

    size: int
    rho: float
    iterate_size: int
    metric_size: int


class BallGeometry(BallNumbers, Geometry):
    """|u| <= rho.

    iterate = (unit, r, slack, linear): y = rho r unit linear with |unit linear| = 1. This is the
    linear term of the update itself, so that no vector is computed to describe y.

    metric = (across, along, radial): H has one eigenvalue across the radius and one along
    it; kept are the inverses of their roots. radial is the part of s along y.
    """

    @property
    def identity(self) -> bool:
        return True

    def start(self) -> Array:
        iterate = np.zeros(self.iterate_size)
        iterate[2] = 1.0
        return iterate

    def solve(self, linear: Array, quadratic: float, weight: float, iterate: Array) -> None:
        length = sqrt(dot(linear, linear))
        if length == 0.0:
            iterate[0], iterate[1], iterate[2] = 0.0, 0.0, 1.0
        else:
            square = quadratic * self.rho * self.rho
            gap = warm_start_gap(self.rho * length, square, weight, 1.0 - float(iterate[1]))
            iterate[0], iterate[1], iterate[2] = -1.0 / length, 1.0 - gap, gap * (2.0 - gap)
        copy(linear, iterate[3:])

    def explore(
        self, iterate: Array, kappa: float, shift: float, s: Array, metric: Array
    ) -> tuple[float, float]:
        factor = 2.0 * kappa / (self.rho * self.rho)
        across, along = inverse_roots(float(iterate[1]), float(iterate[2]), factor, shift)
        square, radial = dots(s, iterate[3:])
        metric[0], metric[1], metric[2] = across, along, float(iterate[0]) * radial
        return square, (self.size - 1) * across * across + along * along

    def point(self, iterate: Array, metric: Array, s: Array, scale: float, u: Array) -> float:
        across, radial = scale * float(metric[0]), float(metric[2])
        along = radial * (scale * float(metric[1]) - across) + self.rho * float(iterate[1])
        combine(across, s, along * float(iterate[0]), iterate[3:], u)
        return dot(u, u)

    def linear_update(
        self, iterate: Array, metric: Array, s: Array, scale: float, damping: float, out: Array
    ) -> tuple[float, float]:
        across, distance = scale / float(metric[0]), self.rho * float(iterate[1])
        radial, outward = float(metric[2]), scale / float(metric[1])
        along = radial * (outward - across) - damping * distance
        add_combination(across, s, along * float(iterate[0]), iterate[3:], out)
        return outward * radial * distance, distance * distance

    def stiffness(self, metric: Array) -> float:
        return 1.0 / float(metric[1])  # H is largest along the radius

    def write_vector(self, iterate: Array, factor: float, u: Array) -> None:
        multiply(factor * iterate[0] * self.rho * iterate[1], iterate[3:], u)

    def product(self, iterate: Array, vector: Array) -> float:
        return float(iterate[0] * self.rho * iterate[1]) * dot(iterate[3:], vector)

    def place(self, u: Array, iterate: Array) -> None:
        length = sqrt(dot(u, u))
        r = length / self.rho
        iterate[0] = 1.0 / length if length > 0.0 else 0.0
        iterate[1], iterate[2] = r, max((1.0 - r) * (1.0 + r), ROOM)
        copy(u, iterate[3:])

    def barrier(self, iterate: Array) -> float:
        return -log(iterate[2])

    def write_point(self, u: Array, center: Array, radius: float, x: Array) -> None:
        affine(u, center, radius, x)

    def inward(self, displacement: Array) -> Array:
        return displacement

    def truncated_normal(
        self, theta: Array, precision: float, noise: Array, iterate: Array, metric: Array
    ) -> float:
        length = sqrt(theta.dot(theta))
        mean, along, across = ball_moments(self.size, self.rho, length, precision)
        unit = 1.0 / length if length > 0.0 else 0.0
        iterate[:3], iterate[3:] = (unit, mean / self.rho, nan), theta
        metric[:] = across, along, unit * theta.dot(noise)
        return float(noise.dot(noise))


@compilable
def inverse_roots(r: float, slack: float, factor: float, shift: float) -> tuple[float, float]:
    """1/sqrt of H's eigenvalues: factor/slack + shift across the radius, and along it."""
    across = sqrt(slack / (factor + shift * slack))
    return across, slack / sqrt(factor * (1.0 + r * r) + shift * slack * slack)
