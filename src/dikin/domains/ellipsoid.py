"""Ellipsoid {x : q(x) <= 1}, q(x) = (x - c)' shape^-1 (x - c).   Barrier -ln(1 - q(x)), nu = 1."""

from __future__ import annotations

from collections.abc import Iterator
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
from dikin.domains.sums import dot, dots, place, rises
from dikin.errors import DomainError, FlatDomainError, ShapeError
from dikin.kernel import compiled, reordered


class Ellipsoid(Domain):
    """The ball of a positive definite matrix `shape` around `center`.

    The semi-axes are the square roots of the eigenvalues of `shape`.

    >>> Ellipsoid([0, 0], [[4, 0], [0, 1]]).contains([2, 0])
    True
    """

    exact_support = True

    def __init__(self, center: ArrayLike, shape: ArrayLike) -> None:
        self.center, self.shape = frozen(center, "center", 1), frozen(shape, "shape", 2)
        self.dim = self.center.size
        self.nu = 1.0
        self.point_shape = (self.dim,)
        if self.shape.shape != (self.dim, self.dim):
            raise ShapeError(
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
            kind = (
                DomainError if squares.min() < -1e-14 * np.abs(squares).max() else FlatDomainError
            )
            raise kind(f"shape must be positive definite; its eigenvalues are {np.sort(squares)}")
        self.semi = np.sqrt(squares)
        self.radius = float(self.semi.max())
        self.inradius = float(self.semi.min())
        self.diameter = 2 * self.radius

    def _eigen(self) -> tuple[Array, Array]:
        # A diagonal shape keeps its own axes, so that no rotation costs d^2 a round.
        if self._diagonal:
            return np.diag(self.shape).copy(), np.eye(self.dim)
        squares, axes = np.linalg.eigh(self.shape)
        return np.asarray(squares, dtype=float), np.ascontiguousarray(axes, dtype=float)

    def barrier(self, v: Array) -> float:
        slack = self._slack(v)
        return -log(slack) if slack > 0 else inf

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

    def _slack(self, v: Array) -> float:
        r = self.gauge(v)
        return (1 - r) * (1 + r)

    def margin(self, point: Array) -> float:
        return 1.0 - float(np.linalg.norm(((point - self.center) @ self.axes) / self.semi))

    def gauge(self, v: Array) -> float:
        return float(np.linalg.norm((v @ self.axes) / self.semi))

    def support(self, direction: Array) -> float:
        return float(np.linalg.norm((direction @ self.axes) * self.semi))

    def rise(self, share: float) -> float:
        return -log(share * (2.0 - share))  # everywhere on the boundary

    @property
    def symmetry(self) -> float:
        return 1.0

    def geometry(self, scale: float) -> Geometry:
        axes = None if self._diagonal else self.axes
        return EllipsoidGeometry((scale / self.semi) ** 2, axes)

    def equal_sided(self, scale: float) -> Geometry:
        if self.semi.max() == self.semi.min():
            return self.geometry(scale)
        round = np.full(self.dim, (scale / self.radius) ** 2)
        return RoundedEllipsoid(round, self.axes, self.semi / self.radius)

    def arguments(self) -> dict[str, Any]:
        return {"center": self.center, "shape": self.shape}

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls([0, 0, 0], np.diag([1.0, 4.0, 0.25]))
        turn = np.linalg.qr(np.vander([0.3, 1.1, -0.7, 2.0]))[0]
        yield cls([5, -3, 0, 1], (turn * [1e-2, 1, 9, 2]) @ turn.T)
        yield cls([2], [[0.49]])


class EllipsoidGeometry(ClosedGeometry):
    """u' P u <= 1 in the eigenbasis, P = diag(p).   place = (u, multiplier, slack).

    u_i = -G_i/(S + m p_i) with m = 2w/(1 - u'Pu) the root of

        h(m) = 1 - 2w/m - sum_i p_i G_i^2/(S + m p_i)^2,

    concave and increasing. Newton's method from the left climbs onto the root; from the right its
    first step lands left of it. The last round's multiplier is close, so two or three steps do.
    """

    nu = 1.0

    def __init__(self, p: Array, axes: Array | None) -> None:
        self.p, self.axes = p, axes
        self.dim = self.size = p.size

    def start(self) -> Place:
        return np.zeros(self.dim), 0.0, 1.0

    def solve(self, linear: Array, quadratic: float, weight: float, near: Place) -> Place:
        p, m = self.p, max(near[1], 2.0 * weight)
        pulls = p * linear * linear
        right = True  # only the start may lie right of the root
        while True:
            inverse = 1.0 / (quadratic + m * p)
            terms = pulls * inverse * inverse
            value = 1.0 - 2.0 * weight / m - float(terms.sum())
            slope = 2.0 * weight / (m * m) + 2.0 * float((terms * p) @ inverse)
            step = -value / slope
            if abs(step) <= 2e-15 * m or (step < 0 and not right):
                break
            m, right = max(m + step, 2.0 * weight), False
        return -linear * inverse, m, 2.0 * weight / m

    def frame(self, place: Place, kappa: float, shift: float) -> RankOneFrame:
        u, _, slack = place
        return RankOneFrame(
            u, 2.0 * kappa / slack * self.p + shift, self.p * u, 4.0 * kappa / (slack * slack)
        )

    def barrier(self, place: Place) -> float:
        return -log(place[2])

    def outward(self, u: Array) -> Array:
        return u if self.axes is None else np.asarray(self.axes @ u)

    def inward(self, displacement: Array) -> Array:
        return displacement if self.axes is None else np.asarray(displacement @ self.axes)

    def kernel(self) -> EllipsoidKernel:
        axes = np.empty((0, 0)) if self.axes is None else self.axes
        return EllipsoidKernel(self.size, self.size + 2, 2 * self.size + 3, self.p, axes)

    def pack(self, place: Place) -> Array:
        return np.concatenate([place[0], place[1:]])

    def unpack(self, linear: Array, state: Array) -> Place:
        n = self.size
        return state[:n].copy(), float(state[n]), float(state[n + 1])


class RoundedEllipsoid(EllipsoidGeometry):
    """An ellipsoid as the ball that has its radius: axis i is stretched by `stretch[i]`."""

    def __init__(self, p: Array, axes: Array, stretch: Array) -> None:
        super().__init__(p, np.ascontiguousarray(axes * stretch))
        self.squares = stretch * stretch
        self.shortest, self.longest = float(stretch.min()), float(stretch.max())

    def locate(self, displacement: Array) -> Array:
        return self.inward(displacement) / self.squares


class EllipsoidKernel(NamedTuple):
    """state = (u, multiplier, slack); work = (square roots of D, w, k, stretch, w.s)."""

    size: int
    states: int
    works: int
    p: Array
    axes: Array
    """Empty where the axes are the user's own."""

    def solve(self, linear: Array, quadratic: float, weight: float, state: Array) -> None:
        n = self.size
        m = max(state[n], 2.0 * weight)
        for turn in range(200):
            inside, slope = secular(self.p, linear, quadratic, m)
            step = -(1.0 - 2.0 * weight / m - inside) / (2.0 * weight / (m * m) + 2.0 * slope)
            if abs(step) <= 2e-15 * m or (step < 0.0 and turn > 0):
                break
            m = max(m + step, 2.0 * weight)
        for i in range(n):
            state[i] = -linear[i] / (quadratic + m * self.p[i])
        state[n], state[n + 1] = m, 2.0 * weight / m

    def aim(
        self, linear: Array, state: Array, kappa: float, shift: float, noise: Array, work: Array
    ) -> tuple[float, float]:
        n, slack = self.size, state[self.size + 1]
        gamma = 4.0 * kappa / (slack * slack)
        root, w = work[:n], work[n : 2 * n]
        rank_one(self.p, state, 2.0 * kappa / slack, shift, root, w)
        most, beside, rest, straight, bent = rank_one_sums(root, w)
        stretch = sqrt(1.0 + gamma * (most + rest))
        square, along = dots(noise, w)
        work[2 * n], work[2 * n + 1], work[2 * n + 2] = gamma / (1.0 + stretch), stretch, along
        return square, bent_trace(gamma, most, beside, rest, straight, bent)

    def point(
        self, linear: Array, state: Array, work: Array, noise: Array, scale: float, u: Array
    ) -> float:
        n = self.size
        root, w = work[:n], work[n : 2 * n]
        part = work[2 * n] * work[2 * n + 2] / work[2 * n + 1]
        for i in range(n):
            u[i] = state[i] + scale * (noise[i] - part * w[i]) / root[i]
        return dot(u, u)

    def recoil(
        self, state: Array, work: Array, noise: Array, scale: float, damping: float, linear: Array
    ) -> tuple[float, float]:
        n = self.size
        root, w = work[:n], work[n : 2 * n]
        part, slack = work[2 * n] * work[2 * n + 2], state[n + 1]
        straight, square = rises(state[:n], noise, root)
        for i in range(n):
            linear[i] += scale * (noise[i] + part * w[i]) * root[i] - damping * state[i]
        return scale * (straight + part * (1.0 - slack)), square  # y.(root w) = y'Py

    def barrier(self, linear: Array, state: Array) -> float:
        return -log(state[self.size + 1])

    def outward(self, u: Array, center: Array, radius: float, x: Array) -> None:
        if self.axes.size == 0:
            place(u, center, radius, x)
        else:
            for i in range(x.size):
                x[i] = center[i] + radius * dot(self.axes[i], u)


@reordered
def secular(p: Array, linear: Array, quadratic: float, m: float) -> tuple[float, float]:
    """U'Pu and the sum of p_i^2 G_i^2/(S + m p_i)^3, at a multiplier m."""
    inside = slope = 0.0
    for i in range(p.size):
        inverse = 1.0 / (quadratic + m * p[i])
        scaled = linear[i] * inverse
        term = p[i] * scaled * scaled
        inside += term
        slope += term * p[i] * inverse
    return inside, slope


@compiled
def rank_one(p: Array, u: Array, factor: float, shift: float, root: Array, w: Array) -> None:
    """The square roots of D, and w."""
    for i in range(p.size):
        side = sqrt(factor * p[i] + shift)
        root[i] = side
        w[i] = p[i] * u[i] / side


@reordered
def rank_one_sums(root: Array, w: Array) -> tuple[float, float, float, float, float]:
    """The largest w^2 and its 1/D; sums of the other w^2, 1/D and w^2/D."""
    most = beside = rest = straight = bent = 0.0
    for i in range(w.size):
        square = w[i] * w[i]
        inverse = 1.0 / (root[i] * root[i])
        if square > most or i == 0:
            square, most = most, square
            inverse, beside = beside, inverse
        rest += square
        straight += inverse
        bent += square * inverse
    return most, beside, rest, straight, bent


@compiled
def bent_trace(
    gamma: float, most: float, beside: float, rest: float, straight: float, bent: float
) -> float:
    """Trace of (D + gamma v v')^-1 = sum (1/D) (1 - gamma w^2/(1 + gamma |w|^2)).

    Near the boundary the largest w^2 is all of |w|^2, so its term is written without a difference.
    """
    whole = 1.0 + gamma * (most + rest)
    return straight - gamma * bent / whole + beside * (1.0 + gamma * rest) / whole


class RankOneFrame:
    """H = D + gamma v v', factored as C C' with C = D^(1/2) (I + k w w'), w = D^(-1/2) v."""

    def __init__(self, y: Array, diagonal: Array, v: Array, gamma: float) -> None:
        self.y = y
        self.root = np.sqrt(diagonal)
        self.w = v / self.root
        # (1 + k |w|^2)^2 = 1 + gamma |w|^2, solved for k without subtracting near-equals.
        squares, inverse = self.w**2, 1.0 / diagonal
        largest = int(squares.argmax())
        most, beside = float(squares[largest]), float(inverse[largest])
        squares[largest] = inverse[largest] = 0.0
        rest = float(squares.sum())
        self.stretch = sqrt(1.0 + gamma * (most + rest))
        self.k = gamma / (1.0 + self.stretch)
        straight, bent = float(inverse.sum()), float(squares @ inverse)
        self.trace = bent_trace(gamma, most, beside, rest, straight, bent)

    def aim(self, noise: Array) -> LinearAim:
        return LinearAim.at(self, noise)

    def spread(self, s: Array) -> Array:
        return (s - self.w * (self.k * float(self.w @ s) / self.stretch)) / self.root

    def gather(self, s: Array) -> Array:
        return (s + self.w * (self.k * float(self.w @ s))) * self.root
