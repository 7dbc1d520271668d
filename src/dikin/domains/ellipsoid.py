"""Ellipsoid {x : q(x) <= 1}, q(x) = (x - c)' shape^-1 (x - c).   Barrier -ln(1 - q(x)), nu = 1."""

from __future__ import annotations

from collections.abc import Iterator
from math import log, sqrt
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from dikin.domains.ball import QuadraticDomain
from dikin.domains.base import Array, frozen
from dikin.domains.geometry import Geometry
from dikin.errors import DomainError
from dikin.kernel import looped
from dikin.vectors import affine, dot, dots


class Ellipsoid(QuadraticDomain):
    """All points x with (x - center)' shape^-1 (x - center) <= 1.

    Parameters
    ----------
    center : array_like
        The centre.
    shape : array_like
        A symmetric positive definite matrix; the semi-axes are the roots of its eigenvalues.

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
        self.nu = 1.0
        self.point_shape = (self.dim,)
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
        self._diagonal = np.count_nonzero(self.shape - np.diag(np.diag(self.shape))) == 0
        squares, self.axes = self._eigen()
        if not squares.min() > 1e-14 * squares.max():
            raise DomainError(
                f"shape must be positive definite; its eigenvalues are {np.sort(squares)}"
            )
        self.semi = np.sqrt(squares)
        self.radius = float(self.semi.max())
        self.inradius = float(self.semi.min())
        self.diameter = 2 * self.radius

    def _eigen(self) -> tuple[Array, Array]:
        # A diagonal shape keeps its own axes, so that no rotation costs d^2 per round.
        if self._diagonal:
            return np.diag(self.shape).copy(), np.eye(self.dim)
        squares, axes = np.linalg.eigh(self.shape)
        return np.asarray(squares, dtype=float), np.ascontiguousarray(axes, dtype=float)

    def gradient(self, v: Array) -> Array:
        gradient: Array = 2 / self._slack(v) * self._precision(v)
        return gradient

    def hessian(self, v: Array) -> Array:
        g = self.gradient(v)
        precision = (self.axes / self.semi**2) @ self.axes.T
        hessian: Array = 2 / self._slack(v) * precision + np.outer(g, g)
        return hessian

    def _precision(self, v: Array) -> Array:
        return np.asarray(self.axes @ ((v @ self.axes) / self.semi**2), dtype=float)

    def margin(self, point: Array) -> float:
        return 1.0 - float(np.linalg.norm(((point - self.center) @ self.axes) / self.semi))

    def gauge(self, v: Array) -> float:
        return float(np.linalg.norm((v @ self.axes) / self.semi))

    def support(self, direction: Array) -> float:
        return float(np.linalg.norm((direction @ self.axes) * self.semi))

    def geometry(self, scale: float) -> Geometry:
        axes = np.empty((0, 0)) if self._diagonal else self.axes
        return EllipsoidGeometry(self.dim, (scale / self.semi) ** 2, axes, np.ones(self.dim))

    def equal_sided_geometry(self, scale: float) -> Geometry:
        if self.semi.max() == self.semi.min():
            return self.geometry(scale)
        round, stretch = np.full(self.dim, (scale / self.radius) ** 2), self.semi / self.radius
        axes = np.ascontiguousarray(self.axes * stretch)  # of the ball that has its radius
        return EllipsoidGeometry(self.dim, round, axes, stretch * stretch)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls([0, 0, 0], np.diag([1.0, 4.0, 0.25]))
        axes = np.linalg.qr(np.vander([0.3, 1.1, -0.7, 2.0]))[0]
        yield cls([5, -3, 0, 1], (axes * [1e-2, 1, 9, 2]) @ axes.T)
        yield cls([2], [[0.49]])


class EllipsoidNumbers(NamedTuple):
    """The constants of an ellipsoid, for the compiled loop."""

    size: int
    p: Array
    axes: Array
    """The map from the eigenbasis to the user's coordinates; empty where they are the same."""
    squares: Array
    """The squared lengths of the columns of axes: all one, unless sides were made equal."""
    iterate_size: int = 3
    metric_size: int = 4


class EllipsoidGeometry(EllipsoidNumbers, Geometry):
    """u' P u <= 1 in the eigenbasis, P = diag(p).

    iterate = (y, multiplier, slack).   y_i = -G_i/(S + m p_i) with m = 2w/(1 - y'Py) the root of

        h(m) = 1 - 2w/m - sum_i p_i G_i^2/(S + m p_i)^2,

    concave and increasing. Newton's method from the left climbs onto the root; from the right its
    first step lands left of it. The last round's multiplier is close: two or three steps suffice.

    metric = (z, g, the square roots of D, w).   H = D + gamma v v' is factored as C C'
    with C = D^(1/2) (I + k w w'), w = D^(-1/2) v, where (1 + k |w|^2)^2 = 1 + gamma |w|^2 is solved
    for k without subtracting near-equals. stretch = 1 + k |w|^2. So z = C'^-1 s and g = C s.
    """

    @property
    def identity(self) -> bool:
        return self.axes.size == 0

    def start(self) -> Array:
        iterate = np.zeros((3, self.size))
        iterate[2, 0] = 1.0
        return iterate

    def solve(self, linear: Array, quadratic: float, weight: float, iterate: Array) -> None:
        m = max(float(iterate[1, 0]), 2.0 * weight)
        for step in range(200):
            inside, slope = secular_sums(self.p, linear, quadratic, m)
            rise = 2.0 * weight / (m * m) + 2.0 * slope
            move = -(1.0 - 2.0 * weight / m - inside) / rise
            if abs(move) <= 2e-15 * m or (move < 0.0 and step > 0):
                break
            m = max(m + move, 2.0 * weight)
        iterate[1, 0], iterate[2, 0] = m, 2.0 * weight / m
        write_minimiser(self.p, linear, quadratic, m, iterate)

    def explore(
        self, iterate: Array, kappa: float, shift: float, s: Array, metric: Array
    ) -> tuple[float, float]:
        slack = float(iterate[2, 0])
        gamma = 4.0 * kappa / (slack * slack)
        rank_one(self.p, iterate, 2.0 * kappa / slack, shift, metric)
        largest, at_largest, squares, inverses, products = rank_one_sums(metric)
        whole = 1.0 + gamma * (largest + squares)
        stretch = sqrt(whole)
        square, along = dots(s, metric[3])
        part = gamma / (1.0 + stretch) * along
        rank_one_metric(s, part, stretch, metric)
        # tr(H^-1) = sum (1/D) (1 - gamma w^2/(1 + gamma |w|^2)). Near the boundary the largest w^2
        # is all of |w|^2, so its term is written without a difference.
        others = inverses - gamma * products / whole
        return square, others + at_largest * (1.0 + gamma * squares) / whole

    def barrier(self, iterate: Array) -> float:
        return -log(iterate[2, 0])

    def write_point(self, u: Array, center: Array, radius: float, x: Array) -> None:
        if self.axes.size == 0:
            affine(u, center, radius, x)
        else:
            rotated(self.axes, u, center, radius, x)

    def inward(self, displacement: Array) -> Array:
        return np.asarray(displacement @ self.axes) if self.axes.size else displacement


def _rotated(axes: Array, u: Array, center: Array, radius: float, x: Array) -> None:
    for i in range(x.size):
        x[i] = center[i] + radius * dot(axes[i], u)


@looped(_rotated)
def rotated(axes: Array, u: Array, center: Array, radius: float, x: Array) -> None:
    """Set x to center + radius axes u."""
    np.dot(axes, u, x)
    x *= radius
    x += center


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


def _write_minimiser(p: Array, linear: Array, quadratic: float, m: float, iterate: Array) -> None:
    for i in range(p.size):
        iterate[0, i] = -linear[i] / (quadratic + m * p[i])


@looped(_write_minimiser)
def write_minimiser(p: Array, linear: Array, quadratic: float, m: float, iterate: Array) -> None:
    """Write y for the multiplier m."""
    np.divide(linear, -(quadratic + m * p), iterate[0])


def _rank_one(p: Array, iterate: Array, factor: float, shift: float, metric: Array) -> None:
    for i in range(p.size):
        side = sqrt(factor * p[i] + shift)
        metric[2, i] = side
        metric[3, i] = p[i] * iterate[0, i] / side


@looped(_rank_one)
def rank_one(p: Array, iterate: Array, factor: float, shift: float, metric: Array) -> None:
    """Write the square roots of D, and w."""
    np.sqrt(factor * p + shift, metric[2])
    np.divide(p * iterate[0], metric[2], metric[3])


def _rank_one_sums(metric: Array) -> tuple[float, float, float, float, float]:
    largest = at_largest = squares = inverses = products = 0.0
    for i in range(metric.shape[1]):
        square = metric[3, i] * metric[3, i]
        inverse = 1.0 / (metric[2, i] * metric[2, i])
        if square > largest or i == 0:
            square, largest = largest, square
            inverse, at_largest = at_largest, inverse
        squares += square
        inverses += inverse
        products += square * inverse
    return largest, at_largest, squares, inverses, products


@looped(_rank_one_sums, order_free=True)
def rank_one_sums(metric: Array) -> tuple[float, float, float, float, float]:
    """The largest w^2 and the 1/D there; sums of the other w^2, 1/D and w^2/D."""
    root, w = metric[2], metric[3]
    squares, inverses = w * w, 1.0 / (root * root)
    i = squares.argmax()
    largest, at_largest = float(squares[i]), float(inverses[i])
    squares[i] = inverses[i] = 0.0
    products = float(squares.dot(inverses))
    return largest, at_largest, float(squares.sum()), float(inverses.sum()), products


def _rank_one_metric(s: Array, part: float, stretch: float, metric: Array) -> None:
    for i in range(s.size):
        root, w = metric[2, i], metric[3, i]
        metric[0, i] = (s[i] - part / stretch * w) / root
        metric[1, i] = (s[i] + part * w) * root


@looped(_rank_one_metric)
def rank_one_metric(s: Array, part: float, stretch: float, metric: Array) -> None:
    """Write z and g, for part = k w.s."""
    root, w = metric[2], metric[3]
    np.divide(s - part / stretch * w, root, metric[0])
    np.multiply(s + part * w, root, metric[1])
