"""Probability simplex {x in R^n : x >= 0, sum x = 1}, d = n - 1.   Barrier -sum ln x_i.

nu = n - 1: in the plane |grad psi|*^2 = min_m sum_i x_i^2 (m - 1/x_i)^2 = n - 1/sum_i x_i^2.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import inf, log, sqrt
from typing import Self

import numpy as np

from dikin.arguments import LARGEST_VECTOR, whole
from dikin.domains.ball import TINY
from dikin.domains.base import Array, Domain
from dikin.domains.geometry import (
    ClosedForm,
    Geometry,
    diagonal_metric,
    diagonal_roots,
    rank_one_sums,
)
from dikin.errors import DomainError
from dikin.kernel import choose, compilable, looped
from dikin.vectors import combine, dot

PLANE_TOLERANCE = 1e-9
"""The largest distance from 1 of the sum of a probability vector's entries."""

NEARLY_NORMAL = 1e-4
"""Noise so close to the normal of the plane is projected twice: the first result is small, and in
part rounding."""


class ProbabilityDomain(Domain):
    """Probability vectors of n entries, or symmetric matrices whose eigenvalues are such a vector.

    Attributes
    ----------
    n : int
        The number of entries or eigenvalues.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.nu = n - 1.0
        self.symmetry = 1.0 / self.nu  # from a corner to the middle of the face opposite
        self.radius = sqrt(1 - 1 / n)
        self.inradius = 1 / sqrt(n * (n - 1))
        self.diameter = sqrt(2)

    def outward(self, v: Array) -> Array:
        return np.asarray(self.basis @ v).reshape(self.point_shape)

    def inward(self, displacement: Array) -> Array:
        return np.asarray(displacement.ravel() @ self.basis)

    def barrier_growth(self, share: float) -> float:
        # In the corners, where all entries but one are share/n.
        return -(self.n - 1) * log(share) - log(self.n * (1.0 - share) + share)

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
        super().__init__(whole(n, "n", 2, why, DomainError, LARGEST_VECTOR))
        self.dim = self.n - 1
        self.center = np.full(self.n, 1 / self.n)

    @cached_property
    def basis(self) -> Array:
        """Columns: an orthonormal basis of the vectors whose sum is zero."""
        return helmert(self.n).T

    def barrier(self, v: Array) -> float:
        x = self.point(v)
        return float(-np.log(x).sum()) if (x > 0).all() else inf

    def gradient(self, v: Array) -> Array:
        return self.inward(-1 / self.point(v))

    def hessian(self, v: Array) -> Array:
        return np.asarray((self.basis.T / self.point(v) ** 2) @ self.basis)

    def margin(self, point: Array) -> float:
        off = abs(float(point.sum()) - 1)
        return float(point.min()) if off <= PLANE_TOLERANCE else -off

    def gauge(self, v: Array) -> float:
        return -self.n * float(self.outward(v).min())

    def geometry(self, scale: float, equal_sides: bool = False) -> Geometry:
        return SimplexGeometry(self.n, 4, 4, scale)

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


class SimplexGeometry(ClosedForm):
    """u = (x - 1/n)/length with sum u = 0, kept in all n coordinates.

    iterate = (y, n x, Hessian, multiplier).

    Stationarity under the constraint, with the `multiplier` m, is one quadratic per coordinate:

        (S/length) x^2 + (G_i + m) x - w length = 0,

    whose positive root falls in m and is convex in it. So does the sum of the roots, and
    Newton's method for sum x = 1 rises monotonically from any m at which the sum is over one;
    from any other its first step lands on such an m. The last round's m is close.

    A constant in G changes nothing, as the entries of u sum to 0. `solve` makes it so that min G is
    0: near a corner some G_i are enormous, and a constant of that size would round the others away.

    H is a diagonal D restricted to the plane sum z = 0: z = D^(-1/2) s stays in the plane when s is
    orthogonal to w = D^(-1/2) 1.
    """

    def start(self) -> Array:
        iterate = super().start()
        iterate[2] = (self.size * self.length) ** 2
        return iterate

    def solve(self, linear: Array, quadratic: float, weight: float, iterate: Array) -> None:
        square, n = quadratic / self.length, self.size
        weight *= self.length
        spread = subtract_least(linear)
        # The root lies above a multiplier at which the sum is at least one: at the first bound the
        # largest entry alone is one, at the second every entry is at least 1/n.
        least = max(weight - square, n * weight - square / n - spread)
        simplex_solve(linear, self.length, square, weight, least, iterate)

    def explore(
        self, iterate: Array, kappa: float, shift: float, s: Array, metric: Array
    ) -> tuple[float, float]:
        diagonal_roots(iterate[2], kappa, shift, metric)
        before = dot(s, s)
        largest, _, others, _, squares = rank_one_sums(metric[3], metric[3])
        normal = largest + others
        square = remove_part(metric, normal, s)
        if square < NEARLY_NORMAL * before:
            square = remove_part(metric, normal, s)
        diagonal_metric(s, s, metric)
        # tr(H^-1) = sum 1/D - (sum 1/D^2)/(sum 1/D), with the largest 1/D kept apart: in a corner
        # it alone makes up the sums, and the difference would be rounding.
        return square, others - squares / normal + largest * others / normal

    def barrier(self, iterate: Array) -> float:
        return -float(np.log(iterate[1]).sum())

    def inward(self, displacement: Array) -> Array:
        return np.asarray(displacement - displacement.mean())


@compilable
def remove_part(metric: Array, normal: float, s: Array) -> float:
    """Subtract the part along w from s, with |w|^2 = normal, and return |s|^2."""
    combine(-dot(metric[3], s) / normal, metric[3], 1.0, s, s)
    return dot(s, s)


@compilable
def last_step(move: float, multiplier: float, step: int, weight: float) -> bool:
    """Return whether a Newton step is within rounding. Only the first may lead down."""
    return abs(move) <= 1e-15 * (weight + abs(multiplier)) or (move < 0.0 and step > 0)


@compilable
def positive_root(b: float, square: float, weight: float) -> tuple[float, float]:
    """The root x > 0 of square x^2 + b x = weight, and 2 square x + b."""
    slope = np.sqrt(b * b + 4.0 * square * weight)
    total = abs(b) + slope
    # Without a square the other form counts, and this one must only stay finite.
    other = total / (2.0 * square + TINY * (1.0 + total))
    return choose(b > 0.0, 2.0 * weight / total, other), slope


@compilable
def subtract_least(linear: Array) -> float:
    """Subtract the least entry from all, and return the largest difference."""
    np.subtract(linear, linear.min(), linear)
    return float(linear.max())


def _simplex_solve(
    linear: Array, length: float, square: float, weight: float, least: float, iterate: Array
) -> None:
    n, multiplier, total = linear.size, max(float(iterate[3, 0]), least), 1.0
    for step in range(100):
        total = fall = 0.0
        for i in range(n):
            x, slope = positive_root(linear[i] + multiplier, square, weight)
            total += x
            fall += x / slope
        move = (total - 1.0) / fall
        if last_step(move, multiplier, step, weight):
            break
        multiplier = max(multiplier + move, least)
    iterate[3, 0] = multiplier
    for i in range(n):
        x = positive_root(linear[i] + multiplier, square, weight)[0] / total
        iterate[0, i], iterate[1, i], iterate[2, i] = (
            (x - 1.0 / n) / length,
            n * x,
            (length / x) ** 2,
        )


@looped(_simplex_solve, order_free=True)
def simplex_solve(
    linear: Array, length: float, square: float, weight: float, least: float, iterate: Array
) -> None:
    """Find the multiplier by Newton's method.

    No function in its loop takes an array: Numba would count references in every step.
    """
    multiplier, x, total = max(float(iterate[3, 0]), least), linear, 1.0
    for step in range(100):
        x, slope = positive_root(linear + multiplier, square, weight)  # type: ignore[arg-type,assignment]
        total = float(x.sum())
        move = (total - 1.0) / float((x / slope).sum())
        if last_step(move, multiplier, step, weight):
            break
        multiplier = max(multiplier + move, least)
    iterate[3, 0] = multiplier
    x = x / total
    iterate[:3] = (x - 1.0 / x.size) / length, x.size * x, (length / x) ** 2
