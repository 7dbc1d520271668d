"""Euclidean ball {x : |x - c| <= r}.   Barrier -ln(1 - |x - c|^2/r^2), nu = 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, log, sqrt
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from dikin.domains.base import Array, Domain, Geometry, Place, frozen, positive, whole
from dikin.domains.roots import boundary_gap
from dikin.errors import ShapeError


class Ball(Domain):
    """All points within `radius` of `center` (the origin by default).

    >>> Ball(3, radius=2.0).contains([0, 0, 2])
    True
    """

    nu = 1.0

    def __init__(self, dim: int, radius: float = 1.0, center: ArrayLike | None = None) -> None:
        self.dim = whole(dim, "dim", 1, "the ball's dimension")
        self.radius = positive(radius, "radius")
        self.center = frozen(np.zeros(self.dim) if center is None else center, "center", 1)
        if self.center.shape != (self.dim,):
            raise ShapeError(
                f"Ball(dim={self.dim}): center must have {self.dim} entries, got {self.center.size}"
            )
        self.point_shape = (self.dim,)
        self.inradius = self.radius
        self.diameter = 2 * self.radius

    def barrier(self, v: Array) -> float:
        slack = self._slack(v)
        return -log(slack) if slack > 0 else inf

    def gradient(self, v: Array) -> Array:
        return 2 * v / (self.radius**2 * self._slack(v))

    def hessian(self, v: Array) -> Array:
        g = self.gradient(v)
        return 2 / (self.radius**2 * self._slack(v)) * np.eye(self.dim) + np.outer(g, g)

    def _slack(self, v: Array) -> float:
        r = sqrt(v @ v) / self.radius
        return (1 - r) * (1 + r)

    def margin(self, point: Array) -> float:
        v = point - self.center
        return self.radius - sqrt(v.dot(v))

    def geometry(self, scale: float) -> Geometry:
        return BallGeometry(self.dim, self.radius / scale)

    def arguments(self) -> dict[str, Any]:
        return {"dim": self.dim, "radius": self.radius, "center": self.center}

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(2)
        yield cls(1, 3.0, [-5.0])
        yield cls(4, 1e-3, [1e3, 0, 0, -1.0])


class BallGeometry(Geometry):
    """|u| <= rho.   place = (pull, unit, r, slack): u = rho r unit pull with |unit pull| = 1.

    `pull` is the linear term of the update itself, so that no vector is computed to describe u.
    """

    nu = 1.0

    def __init__(self, dim: int, rho: float) -> None:
        self.dim = self.size = dim
        self.rho = rho

    def start(self) -> Place:
        return np.zeros(self.dim), 0.0, 0.0, 1.0

    def vector(self, place: Place) -> Array:
        pull, unit, r, _ = place
        return np.asarray(pull * (unit * self.rho * r))

    def solve(self, linear: Array, quadratic: float, weight: float, near: Place) -> Place:
        length = sqrt(linear.dot(linear))
        if length == 0.0:
            return self.start()
        gap = boundary_gap(self.rho * length, quadratic * self.rho * self.rho, weight)
        return linear, -1.0 / length, 1.0 - gap, gap * (2.0 - gap)

    def frame(self, place: Place, kappa: float, shift: float) -> BallFrame:
        pull, unit, r, slack = place
        across = 2.0 * kappa / (self.rho * self.rho * slack)
        along = across * (1.0 + r * r) / slack + shift
        across += shift
        trace = (self.dim - 1) / across + 1.0 / along
        return BallFrame(pull, unit, self.rho * r, sqrt(across), sqrt(along), trace)

    def outward(self, u: Array) -> Array:
        return u


@dataclass(slots=True)
class BallFrame:
    """H has one eigenvalue across the radius and one along it; kept are their square roots."""

    pull: Array
    unit: float
    distance: float
    across: float
    along: float
    trace: float

    def aim(self, noise: Array) -> BallAim:
        rows = np.empty((2, noise.size))
        rows[0] = noise
        rows[1] = self.pull
        square, radial = rows.dot(noise).tolist()
        return BallAim(self, rows, square, self.unit * radial)


@dataclass(slots=True)
class BallAim:
    """Every vector here is a combination of two rows, the noise and the pull: one product each."""

    frame: BallFrame
    rows: Array
    square: float
    radial: float

    def point(self, scale: float) -> Array:
        frame, across = self.frame, scale / self.frame.across
        along = self.radial * (scale / frame.along - across) + frame.distance
        u: Array = np.array((across, along * frame.unit)).dot(self.rows)
        return u

    def recoil(self, scale: float, damping: float) -> Array:
        frame, across = self.frame, scale * self.frame.across
        along = self.radial * (scale * frame.along - across) - damping * frame.distance
        pull: Array = np.array((across, along * frame.unit)).dot(self.rows)
        return pull
