"""Probability simplex {x in R^n : x >= 0, sum x = 1}, d = n - 1.   Barrier -sum ln x_i.

nu = n - 1: in the plane |grad psi|*^2 = min_m sum_i x_i^2 (m - 1/x_i)^2 = n - 1/sum_i x_i^2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf, log, sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.domains.base import Array, ClosedGeometry, Domain, Geometry, LinearAim, Place, whole
from dikin.domains.sums import dot, kick, log_sum, place, rises, step
from dikin.kernel import compiled, reordered

PLANE_TOLERANCE = 1e-9
"""How far from one the entries of a probability vector may add up to."""


STEEP = 1e-4
"""Of noise that is this close to the normal of the plane, little is left after projecting it, and
rounding has put some of that beside the plane: it is projected once more."""


class Simplex(Domain):
    """Probability vectors of `n` entries.

    >>> Simplex(4).center
    array([0.25, 0.25, 0.25, 0.25])
    """

    exact_support = True

    def __init__(self, n: int) -> None:
        self.n = whole(n, "n", 2, "a single probability is always 1: there is nothing to choose")
        self.dim = self.n - 1
        self.nu = self.n - 1.0
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

    def gauge(self, v: Array) -> float:
        return -self.n * float(self.outward(v).min())

    def support(self, direction: Array) -> float:
        return float(self.outward(direction).max())  # whose entries add up to zero

    def rise(self, share: float) -> float:
        # In the corners, where all entries but one are share/n.
        return -(self.n - 1) * log(share) - log(self.n * (1.0 - share) + share)

    @property
    def symmetry(self) -> float:
        return 1.0 / (self.n - 1)  # from a corner to the middle of the face opposite

    def geometry(self, scale: float) -> Geometry:
        return SimplexGeometry(self.n, scale)

    def __repr__(self) -> str:
        return f"Simplex({self.n})"

    def arguments(self) -> dict[str, Any]:
        return {"n": self.n}

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(2)
        yield cls(5)


class SimplexGeometry(ClosedGeometry):
    """u = (x - 1/n)/scale with sum u = 0, kept in all n coordinates.   place = (u, x, level).

    Stationarity under the constraint, with the multiplier `level`, is a quadratic a coordinate:

        S x^2 + (g_i + level) x - w = 0,   S, g in the units of x,

    whose positive root falls in `level` and is convex in it. So does the sum of the roots, and
    Newton's method for sum x = 1 rises monotonically from any level at which the sum is over one;
    from any other its first step lands on such a level. The last round's level is close.
    """

    def __init__(self, n: int, scale: float) -> None:
        self.size, self.dim, self.nu, self.scale = n, n - 1, n - 1.0, scale

    def start(self) -> Place:
        return np.zeros(self.size), np.full(self.size, 1 / self.size), 0.0

    def solve(self, linear: Array, quadratic: float, weight: float, near: Place) -> Place:
        pull, square = linear / self.scale, quadratic / self.scale**2
        low, high = float(pull.min()), float(pull.max())
        least = least_level(low, high, square, weight, self.size)
        level = max(near[2], least)
        for turn in range(100):
            x, slope = _positive_roots(pull + level, square, weight)
            move = (float(x.sum()) - 1.0) / slope
            if last_step(move, level, turn, weight, low, high):
                break
            level = max(level + move, least)
        x /= x.sum()
        return (x - 1 / self.size) / self.scale, x, level

    def frame(self, place: Place, kappa: float, shift: float) -> PlaneFrame:
        return PlaneFrame(place[0], np.sqrt(kappa * (self.scale / place[1]) ** 2 + shift))

    def barrier(self, place: Place) -> float:
        return -float(np.log(self.size * place[1]).sum())

    def outward(self, u: Array) -> Array:
        return u

    def inward(self, displacement: Array) -> Array:
        return np.asarray(displacement - displacement.mean())

    def kernel(self) -> SimplexKernel:
        return SimplexKernel(self.size, 2 * self.size + 1, self.size, self.scale)

    def pack(self, place: Place) -> Array:
        return np.concatenate([place[0], place[1], [place[2]]])

    def unpack(self, linear: Array, state: Array) -> Place:
        n = self.size
        return state[:n].copy(), state[n : 2 * n].copy(), float(state[2 * n])


@compiled
def least_level(low: float, high: float, square: float, weight: float, n: int) -> float:
    """A level at which the sum is at least one: the root lies above it.

    At the first bound the largest entry alone is one; at the second every entry is at least 1/n.
    """
    return max(weight - square - low, n * weight - square / n - high)


@compiled
def last_step(move: float, level: float, turn: int, weight: float, low: float, high: float) -> bool:
    """Whether a Newton step is within rounding; only the first may lead down."""
    size = weight + max(abs(low), abs(high)) + abs(level)
    return abs(move) <= 1e-15 * size or (move < 0.0 and turn > 0)


class SimplexKernel(NamedTuple):
    """state = (u, x, level); work = the square roots of D."""

    size: int
    states: int
    works: int
    scale: float

    def solve(self, linear: Array, quadratic: float, weight: float, state: Array) -> None:
        n, square = self.size, quadratic / (self.scale * self.scale)
        low, high = extremes(linear)
        low, high = low / self.scale, high / self.scale
        x = state[n : 2 * n]
        least = least_level(low, high, square, weight, n)
        level = max(state[2 * n], least)
        total = 1.0
        for turn in range(100):
            simplex_roots(linear, self.scale, level, square, weight, x)
            total, slope = simplex_sums(linear, self.scale, level, square, x)
            move = (total - 1.0) / slope
            if last_step(move, level, turn, weight, low, high):
                break
            level = max(level + move, least)
        state[2 * n] = level
        for i in range(n):
            x[i] /= total
            state[i] = (x[i] - 1.0 / n) / self.scale

    def aim(
        self, linear: Array, state: Array, kappa: float, shift: float, noise: Array, work: Array
    ) -> tuple[float, float]:
        n = self.size
        x = state[n : 2 * n]
        plane_roots(x, self.scale, kappa, shift, work)
        most, rest, squares = plane_sums(work)
        before = square = dot(noise, noise)
        for turn in range(2):
            if turn == 0 or square < STEEP * before:
                part = along_normal(work, noise) / (most + rest)
                for i in range(n):
                    noise[i] -= part / work[i]
                square = dot(noise, noise)
        return square, plane_trace(most, rest, squares)

    def point(
        self, linear: Array, state: Array, work: Array, noise: Array, scale: float, u: Array
    ) -> float:
        step(state, noise, work, scale, u)
        return dot(u, u)

    def recoil(
        self, state: Array, work: Array, noise: Array, scale: float, damping: float, linear: Array
    ) -> tuple[float, float]:
        rise, square = rises(state[: self.size], noise, work)
        kick(state, noise, work, scale, damping, linear)
        return scale * rise, square

    def barrier(self, linear: Array, state: Array) -> float:
        return -log_sum(state[self.size : 2 * self.size], float(self.size))

    def outward(self, u: Array, center: Array, radius: float, x: Array) -> None:
        place(u, center, radius, x)


@reordered
def extremes(linear: Array) -> tuple[float, float]:
    """Least and largest entry."""
    low = high = linear[0]
    for i in range(linear.size):
        low, high = min(low, linear[i]), max(high, linear[i])
    return low, high


@compiled
def simplex_roots(
    linear: Array, scale: float, level: float, square: float, weight: float, x: Array
) -> None:
    """`_positive_roots`."""
    for i in range(x.size):
        b = linear[i] / scale + level
        root = sqrt(b * b + 4.0 * square * weight)
        x[i] = 2.0 * weight / (b + root) if b > 0.0 else (root - b) / (2.0 * square)


@reordered
def simplex_sums(
    linear: Array, scale: float, level: float, square: float, x: Array
) -> tuple[float, float]:
    """The sum of the roots and minus its derivative: the equation's discriminant is 2Sx + b."""
    total = slope = 0.0
    for i in range(x.size):
        b = linear[i] / scale + level
        total += x[i]
        slope += x[i] / (2.0 * square * x[i] + b)
    return total, slope


@compiled
def plane_roots(x: Array, scale: float, kappa: float, shift: float, work: Array) -> None:
    """The square roots of D."""
    for i in range(x.size):
        ratio = scale / x[i]
        work[i] = sqrt(kappa * ratio * ratio + shift)


@reordered
def along_normal(root: Array, noise: Array) -> float:
    """The sum of noise/sqrt(D)."""
    along = 0.0
    for i in range(root.size):
        along += noise[i] / root[i]
    return along


@reordered
def plane_sums(root: Array) -> tuple[float, float, float]:
    """The largest 1/D, and sums of the others and of their squares."""
    most = rest = squares = 0.0
    for i in range(root.size):
        inverse = 1.0 / (root[i] * root[i])
        other = min(most, inverse)
        most = max(most, inverse)
        rest += other
        squares += other * other
    return most, rest, squares


@compiled
def plane_trace(most: float, rest: float, squares: float) -> float:
    """Trace of H^-1 in the plane: sum 1/D - (sum 1/D^2)/(sum 1/D), with the largest 1/D kept apart.

    In a corner of the simplex it alone makes up the sums, and the difference would be rounding.
    """
    total = most + rest
    return rest - squares / total + most * rest / total


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
        largest = int(inverse.argmax())
        most, inverse[largest] = float(inverse[largest]), 0.0
        return plane_trace(most, float(inverse.sum()), float(inverse @ inverse))

    def aim(self, noise: Array) -> LinearAim:
        normal = 1 / self.root
        length = float(normal @ normal)
        s = noise - normal * (float(normal @ noise) / length)
        if s @ s < STEEP * (noise @ noise):
            s = s - normal * (float(normal @ s) / length)
        return LinearAim.at(self, s)

    def spread(self, s: Array) -> Array:
        return s / self.root

    def gather(self, s: Array) -> Array:
        return s * self.root
