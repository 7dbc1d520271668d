"""Box {x : lower <= x <= upper}.   Barrier -sum_i ln(1 - ((x_i - c_i)/h_i)^2), nu = d.

Each interval's barrier has nu = 1 (not the 2 one gets by counting its two ends).
"""

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
    LinearAim,
    Place,
    frozen,
)
from dikin.domains.normal import interval_moments
from dikin.domains.roots import boundary_gaps, first_gap, next_gap
from dikin.domains.sums import dot, kick, log_sum, place, step
from dikin.errors import EmptyDomainError, FlatDomainError, ShapeError
from dikin.kernel import compiled, reordered


class Box(Domain):
    """All points between `lower` and `upper`, entry by entry.

    >>> Box([0, 0], [10, 2]).center
    array([5., 1.])
    """

    exact_support = True

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        self.lower, self.upper = frozen(lower, "lower", 1), frozen(upper, "upper", 1)
        if self.lower.shape != self.upper.shape:
            raise ShapeError(
                f"lower has {self.lower.size} entries and upper {self.upper.size}; they must agree"
            )
        self.dim = self.lower.size
        self.nu = float(self.dim)
        self.point_shape = (self.dim,)
        self.half = self.upper / 2 - self.lower / 2
        self._refuse_degenerate()
        self.center = self.lower + self.half
        self.center.setflags(write=False)
        self.radius = float(np.linalg.norm(self.half))
        self.inradius = float(self.half.min())
        self.diameter = 2 * self.radius

    def _refuse_degenerate(self) -> None:
        for i in np.flatnonzero(self.lower > self.upper):
            raise EmptyDomainError(
                f"Box: lower[{i}] = {self.lower[i]:g} exceeds upper[{i}] = {self.upper[i]:g}"
            )
        for i in np.flatnonzero(~(self.half > 0)):
            raise FlatDomainError(
                f"Box: lower[{i}] = upper[{i}] = {self.lower[i]:g} leaves no interior; "
                "drop that coordinate"
            )

    def barrier(self, v: Array) -> float:
        slack = self._slack(v)
        return float(-np.log(slack).sum()) if (slack > 0).all() else inf

    def gradient(self, v: Array) -> Array:
        return 2 * v / (self.half**2 * self._slack(v))

    def hessian(self, v: Array) -> Array:
        slack = self._slack(v)
        return np.diag(2 * (2 - slack) / (self.half * slack) ** 2)

    def _slack(self, v: Array) -> Array:
        r = np.abs(v) / self.half
        return np.where(r < 1, (1 - r) * (1 + r), 0.0)

    def margin(self, point: Array) -> float:
        return float(np.minimum(point - self.lower, self.upper - point).min())

    def gauge(self, v: Array) -> float:
        return float((np.abs(v) / self.half).max())

    def support(self, direction: Array) -> float:
        return float(self.half @ np.abs(direction))

    def rise(self, share: float) -> float:
        return -self.dim * log(share * (2.0 - share))  # in the corners

    @property
    def symmetry(self) -> float:
        return 1.0

    def geometry(self, scale: float) -> Geometry:
        return BoxGeometry(self.half / scale)

    def equal_sided(self, scale: float) -> Geometry:
        side = self.radius / sqrt(self.dim)  # of the cube with the same radius
        if self.half.max() == self.half.min():
            return self.geometry(scale)
        return CubeGeometry(np.full(self.dim, side / scale), self.half / side)

    def arguments(self) -> dict[str, Any]:
        return {"lower": self.lower, "upper": self.upper}

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls([-1, -1, -1], [1, 1, 1])
        yield cls([2.0], [2.5])
        yield cls([0, -1e3, 5], [1e-2, 1e3, 6])


class BoxGeometry(ClosedGeometry):
    """|u_i| <= h_i.   place = (u, slack): slack_i = 1 - (u_i/h_i)^2 to its last digit."""

    def __init__(self, half: Array) -> None:
        self.half, self.sides = half, 2.0 * half
        self.dim = self.size = half.size
        self.nu = float(half.size)

    def start(self) -> Place:
        return np.zeros(self.dim), np.ones(self.dim)

    def solve(self, linear: Array, quadratic: float, weight: float, near: Place) -> Place:
        pull = self.half * linear
        gap = boundary_gaps(np.abs(pull), quadratic * self.half**2, weight)
        return -np.sign(pull) * (1.0 - gap) * self.half, gap * (2.0 - gap)

    def frame(self, place: Place, kappa: float, shift: float) -> DiagonalFrame:
        slack = place[1]
        diagonal = kappa * 2 * (2 - slack) / (self.half * slack) ** 2 + shift
        return DiagonalFrame(place[0], np.sqrt(diagonal))

    def normal(self, theta: Array, precision: float) -> DiagonalFrame:
        mean, spread = interval_moments(self.half, theta, precision)
        return DiagonalFrame(mean, 1.0 / spread)

    def barrier(self, place: Place) -> float:
        return -float(np.log(place[1]).sum())

    def outward(self, u: Array) -> Array:
        return u

    def inward(self, displacement: Array) -> Array:
        return displacement

    def farthest(self, u: Array) -> float:
        return float(np.linalg.norm(self.half + np.abs(u)))

    def kernel(self) -> BoxKernel:
        return BoxKernel(self.size, 2 * self.size, self.size + 2, self.half, np.empty(0))

    def pack(self, place: Place) -> Array:
        return np.concatenate(place)

    def unpack(self, linear: Array, state: Array) -> Place:
        return state[: self.size].copy(), state[self.size :].copy()


class CubeGeometry(BoxGeometry):
    """A box as the cube that has its radius: coordinate i is stretched by `stretch[i]`."""

    def __init__(self, half: Array, stretch: Array) -> None:
        super().__init__(half)
        self.stretch = stretch
        self.shortest, self.longest = float(stretch.min()), float(stretch.max())

    def outward(self, u: Array) -> Array:
        return self.stretch * u

    def inward(self, displacement: Array) -> Array:
        return self.stretch * displacement

    def locate(self, displacement: Array) -> Array:
        return displacement / self.stretch

    def kernel(self) -> BoxKernel:
        return BoxKernel(self.size, 2 * self.size, self.size + 2, self.half, self.stretch)


class BoxKernel(NamedTuple):
    """state = (u, slack); work = (the square roots of H, y.(root s), |y|^2)."""

    size: int
    states: int
    works: int
    half: Array
    stretch: Array
    """Empty where the sides are the user's own."""

    def solve(self, linear: Array, quadratic: float, weight: float, state: Array) -> None:
        box_solve(self.half, linear, quadratic, weight, state)

    def aim(
        self, linear: Array, state: Array, kappa: float, shift: float, noise: Array, work: Array
    ) -> tuple[float, float]:
        n = self.size
        box_roots(self.half, state[n:], kappa, shift, work)
        square, trace, work[n], work[n + 1] = diagonal_sums(state[:n], noise, work[:n])
        return square, trace

    def point(
        self, linear: Array, state: Array, work: Array, noise: Array, scale: float, u: Array
    ) -> float:
        step(state, noise, work, scale, u)
        return dot(u, u)

    def recoil(
        self, state: Array, work: Array, noise: Array, scale: float, damping: float, linear: Array
    ) -> tuple[float, float]:
        kick(state, noise, work, scale, damping, linear)
        return scale * work[self.size], work[self.size + 1]

    def barrier(self, linear: Array, state: Array) -> float:
        return -log_sum(state[self.size :], 1.0)

    def outward(self, u: Array, center: Array, radius: float, x: Array) -> None:
        if self.stretch.size == 0:
            place(u, center, radius, x)
        else:
            for i in range(x.size):
                x[i] = center[i] + radius * self.stretch[i] * u[i]


@compiled
def box_solve(half: Array, linear: Array, quadratic: float, weight: float, state: Array) -> None:
    """One `boundary_gap` a coordinate, without branches so that several run side by side."""
    size = half.size
    for i in range(size):
        h = half[i]
        pull = h * linear[i]
        curved = quadratic * h * h
        excess = abs(pull) - curved
        gap = first_gap(excess, curved, weight)
        gap = next_gap(gap, excess, curved, weight)
        gap = next_gap(gap, excess, curved, weight)
        gap = next_gap(gap, excess, curved, weight)
        gap = next_gap(gap, excess, curved, weight)
        state[i] = (1.0 - gap) * (-h if pull > 0.0 else h)
        state[size + i] = gap * (2.0 - gap)


@compiled
def box_roots(half: Array, slack: Array, kappa: float, shift: float, work: Array) -> None:
    """The square roots of H."""
    for i in range(half.size):
        thin = half[i] * slack[i]
        work[i] = sqrt(kappa * 2.0 * (2.0 - slack[i]) / (thin * thin) + shift)


@reordered
def diagonal_sums(y: Array, s: Array, root: Array) -> tuple[float, float, float, float]:
    """s.s, the sum of 1/root^2, y.(root s) and y.y in one pass."""
    square = trace = rise = length = 0.0
    for i in range(root.size):
        square += s[i] * s[i]
        trace += 1.0 / (root[i] * root[i])
        rise += y[i] * s[i] * root[i]
        length += y[i] * y[i]
    return square, trace, rise, length


@dataclass(slots=True)
class DiagonalFrame:
    """A diagonal H, of which the square root is kept."""

    y: Array
    root: Array

    @property
    def trace(self) -> float:
        return float((self.root**-2.0).sum())

    def aim(self, noise: Array) -> LinearAim:
        return LinearAim.at(self, noise)

    def spread(self, s: Array) -> Array:
        return s / self.root

    def gather(self, s: Array) -> Array:
        return s * self.root
