"""Probability simplex {x in R^n : x >= 0, sum x = 1}, d = n - 1.   Barrier -sum ln x_i.

nu = n - 1: in the plane |grad psi|*^2 = min_m sum_i x_i^2 (m - 1/x_i)^2 = n - 1/sum_i x_i^2.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import inf, log, sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.arguments import LARGEST_VECTOR, size_of_set
from dikin.domains.base import Array, Domain
from dikin.domains.geometry import Geometry, diagonal_metric, log_sum
from dikin.kernel import choose, compilable, looped, reordered
from dikin.vectors import affine, dot

TINY = 1e-300
"""Beside any other number it is nothing."""

PLANE_TOLERANCE = 1e-9
"""How far from one the entries of a probability vector may add up to."""

NEARLY_NORMAL = 1e-4
"""Of noise that is this close to the normal of the plane, little is left after projecting it, and
rounding has put some of that beside the plane: it is projected once more."""


class ProbabilityDomain(Domain):
    """Probability vectors of n entries, or symmetric matrices whose eigenvalues are such a vector.

    Attributes
    ----------
    n : int
        The number of entries or eigenvalues.
    """

    exact_support = True

    def __init__(self, n: int) -> None:
        self.n = n
        self.nu = n - 1.0
        self.radius = sqrt(1 - 1 / n)
        self.inradius = 1 / sqrt(n * (n - 1))
        self.diameter = sqrt(2)

    def barrier_growth(self, share: float) -> float:
        # In the corners, where all entries but one are share/n.
        return -(self.n - 1) * log(share) - log(self.n * (1.0 - share) + share)

    @property
    def symmetry(self) -> float:
        return 1.0 / (self.n - 1)  # from a corner to the middle of the face opposite

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n})"


class Simplex(ProbabilityDomain):
    """The probability simplex: vectors of `n` entries that are not negative and add up to one.

    Parameters
    ----------
    n : int
        The number of entries, at least 2. The dimension is n - 1.

    Examples
    --------
    >>> Simplex(4).center
    array([0.25, 0.25, 0.25, 0.25])
    """

    def __init__(self, n: int) -> None:
        why = "a single probability is always 1: there is nothing to choose"
        super().__init__(size_of_set(n, "n", 2, LARGEST_VECTOR, why))
        self.dim = self.n - 1
        self.point_shape = (self.n,)
        self.center = np.full(self.n, 1 / self.n)

    @cached_property
    def _plane(self) -> Array:
        return helmert(self.n).T

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

    def geometry(self, scale: float) -> Geometry:
        return SimplexGeometry(self.n, scale)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(2)
        yield cls(5)


def helmert(n: int) -> Array:
    """An orthonormal basis of the vectors of n entries whose sum is zero, one per row.

    Row k compares the mean of the first k entries with the next one (Helmert, 1876).
    """
    k, j = np.arange(1.0, n)[:, None], np.arange(n)
    contrasts = np.where(j < k, 1.0, np.where(j == k, -k, 0.0))
    return np.asarray(contrasts / np.sqrt(k * (k + 1.0)))


class SimplexNumbers(NamedTuple):
    """The constants of a simplex, for the compiled loop."""

    size: int
    scale: float
    iterate_size: int = 3
    metric_size: int = 3


class SimplexGeometry(SimplexNumbers, Geometry):
    """u = (x - 1/n)/scale with sum u = 0, kept in all n coordinates.

    iterate = (y, x, multiplier);  metric = (z, g, the square roots of D).

    Stationarity under the constraint, with the `multiplier` m, is one quadratic per coordinate:

        S x^2 + (g_i + m) x - w = 0,   S, g in the units of x,

    whose positive root falls in m and is convex in it. So does the sum of the roots, and
    Newton's method for sum x = 1 rises monotonically from any m at which the sum is over one;
    from any other its first step lands on such an m. The last round's m is close.

    A constant in g changes nothing, as the entries of u sum to 0. `solve` makes it so that min g is
    0: near a corner some g_i are enormous, and beside a constant of that size the others would be
    rounded away.

    H is a diagonal D restricted to the plane sum z = 0: z = D^(-1/2) s stays in the plane when s is
    orthogonal to D^(-1/2) 1.
    """

    @property
    def identity(self) -> bool:
        return True

    def start(self) -> Array:
        iterate = np.zeros((3, self.size))
        iterate[1] = 1.0 / self.size
        return iterate

    def solve(self, linear: Array, quadratic: float, weight: float, iterate: Array) -> None:
        square = quadratic / (self.scale * self.scale)
        spread = subtract_least(linear) / self.scale
        # The root lies above a multiplier at which the sum is at least one: at the first bound the
        # largest entry alone is one, at the second every entry is at least 1/n.
        n = self.size
        least = max(weight - square, n * weight - square / n - spread)
        simplex_solve(linear, self.scale, square, weight, least, iterate)

    def explore(
        self, iterate: Array, kappa: float, shift: float, s: Array, metric: Array
    ) -> tuple[float, float]:
        before = dot(s, s)
        plane_roots(iterate, self.scale, kappa, shift, metric)
        largest, others, squares = plane_sums(metric)
        total = largest + others
        remove_normal(metric, total, s)
        square = dot(s, s)
        if square < NEARLY_NORMAL * before:
            remove_normal(metric, total, s)
            square = dot(s, s)
        diagonal_metric(s, metric)
        # tr(H^-1) = sum 1/D - (sum 1/D^2)/(sum 1/D), with the largest 1/D kept apart: in a corner
        # it alone makes up the sums, and the difference would be rounding.
        return square, others - squares / total + largest * others / total

    def barrier(self, iterate: Array) -> float:
        return -log_sum(float(self.size), iterate[1])

    def write_point(self, u: Array, center: Array, radius: float, x: Array) -> None:
        affine(u, center, radius, x)

    def inward(self, displacement: Array) -> Array:
        return np.asarray(displacement - displacement.mean())


@compilable
def last_step(move: float, multiplier: float, step: int, weight: float) -> bool:
    """Whether a Newton step is within rounding; only the first may lead down."""
    return abs(move) <= 1e-15 * (weight + abs(multiplier)) or (move < 0.0 and step > 0)


def _subtract_least(linear: Array) -> float:
    low = high = float(linear[0])
    for i in range(linear.size):
        low, high = min(low, linear[i]), max(high, linear[i])
    for i in range(linear.size):
        linear[i] -= low
    return high - low


@looped(_subtract_least)
def subtract_least(linear: Array) -> float:
    """Move the least entry to 0, and all others with it; returns the largest."""
    linear -= linear.min()
    return float(linear.max())


@compilable
def positive_root(b: float, square: float, weight: float) -> float:
    """The root x > 0 of square x^2 + b x = weight."""
    total = abs(b) + np.sqrt(b * b + 4.0 * square * weight)
    # Without a square the other form counts, and this one must only stay finite.
    return choose(b > 0.0, 2.0 * weight / total, total / (2.0 * square + TINY * (1.0 + total)))


def _simplex_solve(
    linear: Array, scale: float, square: float, weight: float, least: float, iterate: Array
) -> None:
    n, multiplier, total = linear.size, max(float(iterate[2, 0]), least), 1.0
    for step in range(100):
        total = slope = 0.0
        for i in range(n):
            b = linear[i] / scale + multiplier
            x = positive_root(b, square, weight)
            total += x
            slope += x / (2.0 * square * x + b)  # the equation's discriminant
        move = (total - 1.0) / slope
        if last_step(move, multiplier, step, weight):
            break
        multiplier = max(multiplier + move, least)
    iterate[2, 0] = multiplier
    for i in range(n):
        iterate[1, i] = positive_root(linear[i] / scale + multiplier, square, weight) / total
        iterate[0, i] = (iterate[1, i] - 1.0 / n) / scale


@looped(_simplex_solve, order_free=True)
def simplex_solve(
    linear: Array, scale: float, square: float, weight: float, least: float, iterate: Array
) -> None:
    """Newton's method for the multiplier. Its loop calls nothing that takes an array.

    Numba would count the references of each such call, in every step.
    """
    scaled, multiplier = linear / scale, max(float(iterate[2, 0]), least)
    for step in range(100):
        b = scaled + multiplier
        x: Any = positive_root(b, square, weight)  # type: ignore[arg-type]
        total, slope = float(x.sum()), float((x / (2.0 * square * x + b)).sum())
        move = (total - 1.0) / slope
        if last_step(move, multiplier, step, weight):
            break
        multiplier = max(multiplier + move, least)
    iterate[2, 0] = multiplier
    np.divide(x, total, iterate[1])
    np.divide(iterate[1] - 1.0 / linear.size, scale, iterate[0])


def _plane_roots(iterate: Array, scale: float, kappa: float, shift: float, metric: Array) -> None:
    for i in range(iterate.shape[1]):
        ratio = scale / iterate[1, i]
        metric[2, i] = sqrt(kappa * ratio * ratio + shift)


@looped(_plane_roots)
def plane_roots(iterate: Array, scale: float, kappa: float, shift: float, metric: Array) -> None:
    """Write the square roots of D."""
    ratio = scale / iterate[1]
    np.sqrt(kappa * ratio * ratio + shift, metric[2])


def _remove_normal(metric: Array, length: float, s: Array) -> None:
    part = along_normal(metric, s) / length
    for i in range(s.size):
        s[i] -= part / metric[2, i]


@looped(_remove_normal)
def remove_normal(metric: Array, length: float, s: Array) -> None:
    """Take the part along the normal 1/root off s; `length` is the normal's square."""
    normal = 1.0 / metric[2]
    s -= normal * (float(normal.dot(s)) / length)


@reordered
def along_normal(metric: Array, s: Array) -> float:
    """The sum of s/root."""
    along = 0.0
    for i in range(s.size):
        along += s[i] / metric[2, i]
    return along


def _plane_sums(metric: Array) -> tuple[float, float, float]:
    largest = others = squares = 0.0
    for i in range(metric.shape[1]):
        root = metric[2, i]
        inverse = 1.0 / (root * root)
        other = min(largest, inverse)
        largest = max(largest, inverse)
        others += other
        squares += other * other
    return largest, others, squares


@looped(_plane_sums, order_free=True)
def plane_sums(metric: Array) -> tuple[float, float, float]:
    """The largest 1/D, and sums of the others and of their squares."""
    root = metric[2]
    inverse = 1.0 / (root * root)
    i = inverse.argmax()
    largest, inverse[i] = float(inverse[i]), 0.0
    return largest, float(inverse.sum()), float(inverse.dot(inverse))
