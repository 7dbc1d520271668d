"""Ellipsoid {x : q(x) <= 1}, q(x) = (x - c)' shape^-1 (x - c).   Barrier -ln(1 - q(x)), nu = 1."""

from __future__ import annotations

from collections.abc import Iterator
from math import log, sqrt
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from dikin.domains.ball import BallGeometry, QuadraticDomain
from dikin.domains.base import Array, frozen
from dikin.domains.geometry import (
    ClosedForm,
    Geometry,
    Rotated,
    diagonal_metric,
    diagonal_roots,
    rank_one_sums,
)
from dikin.errors import DomainError
from dikin.kernel import compilable, looped
from dikin.vectors import combine, dots, times


class Ellipsoid(QuadraticDomain):
    """All points x with (x - center)' shape^-1 (x - center) <= 1.

    Parameters
    ----------
    center : array_like
        The centre.
    shape : array_like
        A symmetric positive definite matrix. The semi-axes are the roots of its eigenvalues.

    Attributes
    ----------
    axes : Array
        The directions of the axes, one per column.
    semi : Array
        The lengths of the semi-axes, in the same order.

    Raises
    ------
    DomainError
        If the matrix does not have one row and one column per entry of the centre.
        If the matrix is not symmetric, or has an eigenvalue that is negative, or zero to within
        rounding.

    Examples
    --------
    >>> Ellipsoid([0, 0], [[4, 0], [0, 1]]).contains([2, 0])
    True
    """

    def __init__(self, center: ArrayLike, shape: ArrayLike) -> None:
        self.center, self.shape = frozen(center, "center", 1), frozen(shape, "shape", 2)
        self.dim = self.center.size
        self.nu = self.symmetry = 1.0
        if self.shape.shape != (self.dim, self.dim):
            raise DomainError(
                f"shape must be {self.dim} x {self.dim} to go with the center, "
                f"got {self.shape.shape[0]} x {self.shape.shape[1]}"
            )
        skew = np.abs(self.shape - self.shape.T)
        if not skew.max() <= 1e-10 * np.abs(self.shape).max():
            i, j = np.unravel_index(skew.argmax(), self.shape.shape)
            raise DomainError(
                f"shape must be symmetric: entry ({i}, {j}) is {self.shape[i, j]:g}, "
                f"entry ({j}, {i}) is {self.shape[j, i]:g}"
            )
        # A diagonal shape keeps its own axes, so that no rotation costs d^2 per round.
        squares, axes = np.diag(self.shape), np.eye(self.dim)
        self._diagonal = not np.any(self.shape - np.diag(squares))
        if not self._diagonal:
            squares, axes = np.linalg.eigh(self.shape)
        self.axes = np.ascontiguousarray(axes, dtype=float)
        if not squares.min() > 1e-14 * squares.max():
            raise DomainError(
                f"shape must be positive definite; its eigenvalues are {np.sort(squares)}"
            )
        self.semi = np.sqrt(squares)
        self.radius = float(self.semi.max())
        self.inradius = float(self.semi.min())
        self.diameter = 2 * self.radius

    def _precision(self, v: Array) -> Array:
        return np.asarray(((v @ self.axes) / self.semi**2) @ self.axes.T)

    def margin(self, point: Array) -> float:
        return 1.0 - self.gauge(point - self.center)

    def gauge(self, v: Array) -> float:
        return float(np.linalg.norm((v @ self.axes) / self.semi))

    def geometry(self, scale: float, equal_sides: bool = False) -> Geometry:
        if equal_sides and self.inradius < self.radius:
            axes = np.ascontiguousarray(self.axes * (self.semi / self.radius))
            return RotatedBall(self.dim, 3, 2, self.radius / scale, axes=axes)
        numbers = self.dim, 3, 5, 1.0, (scale / self.semi) ** 2
        if self._diagonal:
            return EllipsoidGeometry(*numbers)
        return RotatedEllipsoid(*numbers, self.axes)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls([0, 0, 0], np.diag([1.0, 4.0, 0.25]))
        axes = np.linalg.qr(np.vander([0.3, 1.1, -0.7, 2.0]))[0]
        yield cls([5, -3, 0, 1], (axes * [1e-2, 1, 9, 2]) @ axes.T)
        yield cls([2], [[0.49]])


class EllipsoidGeometry(ClosedForm):
    """u' P u <= 1 in the eigenbasis, P = diag(p).

    iterate = (y, slack, multiplier).   y_i = -G_i/(S + m p_i), where m, that is
    2w/(1 - y'Py), is the root of

        h(m) = 1 - 2w/m - sum_i p_i G_i^2/(S + m p_i)^2,

    concave and increasing. Newton's method from the left climbs onto the root. From the right its
    first step lands left of it. The last round's multiplier is close: two or three steps suffice.

    H = D + gamma v v' is factored as C C' with C = D^(1/2) (I + k w w'), w = D^(-1/2) v, where
    (1 + k |w|^2)^2 = 1 + gamma |w|^2 is solved for k without subtracting near-equals. stretch = 1 +
    k |w|^2. So z = C'^-1 s and g = C s.
    """

    def solve(self, linear: Array, quadratic: float, weight: float, iterate: Array) -> None:
        m = max(float(iterate[2, 0]), 2.0 * weight)
        for step in range(200):
            inside, slope = secular_sums(self.sides, linear, quadratic, m)
            rise = 2.0 * weight / (m * m) + 2.0 * slope
            move = -(1.0 - 2.0 * weight / m - inside) / rise
            if abs(move) <= 2e-15 * m or (move < 0.0 and step > 0):
                break
            m = max(m + move, 2.0 * weight)
        iterate[1, 0], iterate[2, 0] = 2.0 * weight / m, m
        write_minimiser(self.sides, linear, quadratic, m, iterate[0])

    def explore(
        self, iterate: Array, kappa: float, shift: float, s: Array, metric: Array
    ) -> tuple[float, float]:
        slack = float(iterate[1, 0])
        gamma, w = 4.0 * kappa / (slack * slack), metric[4]
        diagonal_roots(self.sides, 2.0 * kappa / slack, shift, metric)
        times(self.sides, iterate[0], w)
        times(w, metric[3], w)
        largest, at_largest, squares, inverses, products = rank_one_sums(w, metric[3])
        whole = 1.0 + gamma * (largest + squares)
        stretch = sqrt(whole)
        square, along = dots(s, w)
        part = gamma / (1.0 + stretch) * along
        combine(1.0, s, -part / stretch, w, metric[0])
        combine(1.0, s, part, w, metric[1])
        diagonal_metric(metric[0], metric[1], metric)
        # tr(H^-1) = sum (1/D) (1 - gamma w^2/(1 + gamma |w|^2)). Near the boundary the largest w^2
        # is all of |w|^2, so its term is written without a difference.
        others = inverses - gamma * products / whole
        return square, others + at_largest * (1.0 + gamma * squares) / whole

    def barrier(self, iterate: Array) -> float:
        return -log(iterate[1, 0])


class RotatedEllipsoid(Rotated, EllipsoidGeometry):
    """An ellipsoid in its eigenbasis."""


class RotatedBall(Rotated, BallGeometry):
    """An ellipsoid with unequal axes as a ball."""


def _secular_sums(p: Array, linear: Array, quadratic: float, m: float) -> tuple[float, float]:
    inside = slope = 0.0
    for i in range(p.size):
        inverse = 1.0 / (quadratic + m * p[i])
        scaled = linear[i] * inverse
        term = p[i] * scaled * scaled
        inside += term
        slope += term * p[i] * inverse
    return inside, slope


@looped(_secular_sums, order_free=True)
def secular_sums(p: Array, linear: Array, quadratic: float, m: float) -> tuple[float, float]:
    """The sums y'Py, and of p_i^2 G_i^2/(S + m p_i)^3."""
    inverse = 1.0 / (quadratic + m * p)
    scaled = linear * inverse
    terms = p * scaled * scaled
    return float(terms.sum()), float((terms * p).dot(inverse))


@compilable
def write_minimiser(p: Array, linear: Array, quadratic: float, m: float, y: Array) -> None:
    """Set y to the minimiser for the multiplier m."""
    np.multiply(p, -m, y)
    np.subtract(y, quadratic, y)
    np.divide(linear, y, y)
