"""Euclidean ball {x : |x - c| <= r}.   Barrier -ln(1 - |x - c|^2/r^2), nu = 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, log, sqrt
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from dikin.domains.base import (
    Array,
    ClosedGeometry,
    Domain,
    Geometry,
    Place,
    frozen,
    positive,
    whole,
)
from dikin.domains.normal import ball_moments
from dikin.domains.roots import boundary_gap
from dikin.domains.sums import combine, dot, dots, place
from dikin.errors import ShapeError
from dikin.kernel import compiled


class Ball(Domain):
    """All points within `radius` of `center` (the origin by default).

    >>> Ball(3, radius=2.0).contains([0, 0, 2])
    True
    """

    exact_support = True

    def __init__(self, dim: int, radius: float = 1.0, center: ArrayLike | None = None) -> None:
        self.dim = whole(dim, "dim", 1, "the ball's dimension")
        self.radius = positive(radius, "radius")
        self.center = frozen(np.zeros(self.dim) if center is None else center, "center", 1)
        if self.center.shape != (self.dim,):
            raise ShapeError(
                f"Ball(dim={self.dim}): center must have {self.dim} entries, got {self.center.size}"
            )
        self.nu = 1.0
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

    def gauge(self, v: Array) -> float:
        return sqrt(v @ v) / self.radius

    def support(self, direction: Array) -> float:
        return self.radius * sqrt(direction @ direction)

    def rise(self, share: float) -> float:
        return -log(share * (2.0 - share))  # everywhere on the boundary

    @property
    def symmetry(self) -> float:
        return 1.0

    def geometry(self, scale: float) -> Geometry:
        return BallGeometry(self.dim, self.radius / scale)

    def arguments(self) -> dict[str, Any]:
        return {"dim": self.dim, "radius": self.radius, "center": self.center}

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(2)
        yield cls(1, 3.0, [-5.0])
        yield cls(4, 1e-3, [1e3, 0, 0, -1.0])


class BallGeometry(ClosedGeometry):
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
        curved = quadratic * self.rho * self.rho
        gap = boundary_gap(self.rho * length, curved, weight, 1.0 - near[2])
        return linear, -1.0 / length, 1.0 - gap, gap * (2.0 - gap)

    def frame(self, place: Place, kappa: float, shift: float) -> BallFrame:
        pull, unit, r, slack = place
        across, along = inverse_roots(r, slack, 2.0 * kappa / (self.rho * self.rho), shift)
        trace = (self.dim - 1) * across * across + along * along
        return BallFrame(pull, unit, self.rho * r, across, along, trace)

    def normal(self, theta: Array, precision: float) -> BallFrame:
        length = sqrt(theta.dot(theta))
        mean, along, across = ball_moments(self.dim, self.rho, length, precision)
        trace = (self.dim - 1) * across * across + along * along
        unit = 1.0 / length if length > 0.0 else 0.0
        return BallFrame(theta, unit, mean, across, along, trace)

    def barrier(self, place: Place) -> float:
        return -log(place[3])

    def outward(self, u: Array) -> Array:
        return u

    def inward(self, displacement: Array) -> Array:
        return displacement

    def kernel(self) -> BallKernel:
        return BallKernel(self.dim, self.rho)

    def pack(self, place: Place) -> Array:
        return np.array(place[1:])

    def unpack(self, linear: Array, state: Array) -> Place:
        return linear, *state.tolist()


@compiled
def inverse_roots(r: float, slack: float, stiff: float, shift: float) -> tuple[float, float]:
    """1/sqrt of H's eigenvalues: stiff/slack + shift across the radius, and along it."""
    across = sqrt(slack / (stiff + shift * slack))
    return across, slack / sqrt(stiff * (1.0 + r * r) + shift * slack * slack)


class BallKernel(NamedTuple):
    """state = (unit, r, slack); work = (across, along, radial, 1/across, 1/along)."""

    size: int
    rho: float
    states: int = 3
    works: int = 5

    def solve(self, linear: Array, quadratic: float, weight: float, state: Array) -> None:
        length = sqrt(dot(linear, linear))
        if length == 0.0:
            state[0], state[1], state[2] = 0.0, 0.0, 1.0
        else:
            curved = quadratic * self.rho * self.rho
            gap = boundary_gap(self.rho * length, curved, weight, 1.0 - state[1])
            state[0], state[1], state[2] = -1.0 / length, 1.0 - gap, gap * (2.0 - gap)

    def aim(
        self, linear: Array, state: Array, kappa: float, shift: float, noise: Array, work: Array
    ) -> tuple[float, float]:
        stiff = 2.0 * kappa / (self.rho * self.rho)
        across, along = inverse_roots(state[1], state[2], stiff, shift)
        square, radial = dots(noise, linear)
        work[0], work[1], work[2] = across, along, state[0] * radial
        work[3], work[4] = 1.0 / across, 1.0 / along
        return square, (self.size - 1) * across * across + along * along

    def point(
        self, linear: Array, state: Array, work: Array, noise: Array, scale: float, u: Array
    ) -> float:
        across = scale * work[0]
        along = work[2] * (scale * work[1] - across) + self.rho * state[1]
        combine(across, noise, along * state[0], linear, u)
        return dot(u, u)

    def recoil(
        self, state: Array, work: Array, noise: Array, scale: float, damping: float, linear: Array
    ) -> tuple[float, float]:
        across, distance = scale * work[3], self.rho * state[1]
        along = work[2] * (scale * work[4] - across) - damping * distance
        along = 1.0 + along * state[0]
        for i in range(linear.size):
            linear[i] = across * noise[i] + along * linear[i]
        return scale * work[4] * work[2] * distance, distance * distance

    def barrier(self, linear: Array, state: Array) -> float:
        return -log(state[2])

    def outward(self, u: Array, center: Array, radius: float, x: Array) -> None:
        place(u, center, radius, x)


@dataclass(slots=True)
class BallFrame:
    """H has one eigenvalue across the radius and one along it; kept are their roots' inverses."""

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
        frame, across = self.frame, scale * self.frame.across
        along = self.radial * (scale * frame.along - across) + frame.distance
        u: Array = np.array((across, along * frame.unit)).dot(self.rows)
        return u

    def recoil(self, scale: float, damping: float) -> Array:
        frame, across = self.frame, scale * (1.0 / self.frame.across)
        along = self.radial * (scale * (1.0 / frame.along) - across) - damping * frame.distance
        pull: Array = np.array((across, along * frame.unit)).dot(self.rows)
        return pull
