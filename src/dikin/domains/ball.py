"""Euclidean ball {x : |x - c| <= r}.   Barrier -ln(1 - |x - c|^2/r^2), nu = 1."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from math import inf, log, sqrt
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from dikin.arguments import LARGEST_VECTOR, frozen, positive, whole
from dikin.domains.base import Array, Domain
from dikin.domains.geometry import ClosedForm, Geometry
from dikin.domains.roots import cold_start_gap
from dikin.errors import DomainError
from dikin.vectors import add_mix, dot, mix, stack

TINY = 1e-300
"""Negligible when added to any other number."""


class QuadraticDomain(Domain):
    """Sets whose gauge is a Euclidean norm, with the barrier -ln(1 - gauge^2) and nu = 1."""

    def barrier(self, v: Array) -> float:
        slack = self._slack(v)
        return -log(slack) if slack > 0 else inf

    def _slack(self, v: Array) -> float:
        r = self.gauge(v)
        return (1 - r) * (1 + r)  # keeps its digits near the boundary

    @abstractmethod
    def _precision(self, v: Array) -> Array:
        """Return half the gradient of the squared gauge, of a vector or of each row."""

    def gradient(self, v: Array) -> Array:
        return 2 / self._slack(v) * self._precision(v)

    def hessian(self, v: Array) -> Array:
        g = self.gradient(v)
        return 2 / self._slack(v) * self._precision(np.eye(self.dim)) + np.outer(g, g)

    def barrier_growth(self, share: float) -> float:
        return -log(share * (2.0 - share))  # everywhere on the boundary


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
        self.nu = self.symmetry = 1.0
        self.radius = positive(radius, "radius", DomainError)
        self.center = frozen(np.zeros(self.dim) if center is None else center, "center", 1)
        if self.center.shape != (self.dim,):
            raise DomainError(
                f"Ball(dim={self.dim}): center must have {self.dim} entries, got {self.center.size}"
            )
        self.inradius = self.radius
        self.diameter = 2 * self.radius

    def _precision(self, v: Array) -> Array:
        return v / self.radius**2

    def margin(self, point: Array) -> float:
        v = point - self.center
        return self.radius - sqrt(v.dot(v))

    def gauge(self, v: Array) -> float:
        return sqrt(v @ v) / self.radius

    def geometry(self, scale: float, equal_sides: bool = False) -> Geometry:
        return BallGeometry(self.dim, 3, 2, self.radius / scale)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(2)
        yield cls(1, 3.0, [-5.0])
        yield cls(4, 1e-3, [1e3, 0, 0, -1.0])


class BallGeometry(ClosedForm):
    """|u| <= length.   iterate = (y, slack, r), |y| = length r.

    H has one eigenvalue across the radius and one along it: `across` and `along` are the inverses
    of their roots. H^(+-1/2) s = across^-+1 s + (along^-+1 - across^-+1) (s.y/|y|^2) y needs no
    vector but s and y: metric = (s, y).
    """

    def solve(self, linear: Array, quadratic: float, weight: float, iterate: Array) -> None:
        # Halley's method for the equation of `roots`, from the last gap: it cubes the error. The
        # order of the products lets a processor compute many of them side by side.
        norm, length, close = sqrt(dot(linear, linear)), self.length, False
        steep, square, gap = length * norm, quadratic * length * length, 1.0 - float(iterate[2, 0])
        excess = steep - square
        for _ in range(3):
            far = 2.0 - gap
            far_square = far * far
            value = weight * (far - gap) - (far * gap) * (excess + square * gap)
            fall = far_square * (excess + 2.0 * square * gap) + 2.0 * weight
            second = far_square * (far * square) + 2.0 * weight
            move = value * (far * fall) / (fall * fall + value * second)
            gap += move
            close = 0.0 < gap <= 1.0 and abs(move) <= 1e-5 * gap and fall > 0.0
            if close or not 0.0 < gap <= 1.0:
                break
        if not close:
            gap = cold_start_gap(steep, square, weight)
        iterate[1, 0], iterate[2, 0] = gap * (2.0 - gap), 1.0 - gap
        np.multiply(linear, (gap - 1.0) * (length / (norm + TINY)), iterate[0])

    def explore(
        self, iterate: Array, kappa: float, shift: float, s: Array, metric: Array
    ) -> tuple[float, float, float, float, float, float, float]:
        slack, r = float(iterate[1, 0]), float(iterate[2, 0])
        factor = 2.0 * kappa / (self.length * self.length)
        across = sqrt(slack / (factor + shift * slack))
        along = slack / sqrt(factor * (1.0 + r * r) + shift * slack * slack)
        square, radial = stack(s, iterate[0], metric)
        trace, away = (self.size - 1) * across * across + along * along, (self.length * r) ** 2
        turn = radial / away if away > 0.0 else 0.0  # s.y/|y|^2
        return square, trace, radial, away, turn, across, along

    def point(self, iterate: Array, metric: Array, seen: Any, scale: float, u: Array) -> float:
        square, _, radial, away, turn, across, along = seen
        x, y = scale * across, 1.0 + scale * (along - across) * turn
        mix(x, y, metric, u)
        length: float = x * x * square + 2.0 * x * y * radial + y * y * away
        return length

    def linear_update(
        self, iterate: Array, metric: Array, seen: Any, scale: float, damping: float, out: Array
    ) -> tuple[float, float]:
        # All that does not depend on the answer comes first: a processor divides slowly.
        _, _, radial, away, turn, across, along = seen
        inward, outward = 1.0 / across, 1.0 / along
        turned = (outward - inward) * turn
        add_mix(scale * inward, scale * turned - damping, metric, out)
        return scale * (radial * outward), away

    def barrier(self, iterate: Array) -> float:
        return -log(iterate[1, 0])
