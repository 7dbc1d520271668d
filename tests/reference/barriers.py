"""Barriers of the six sets of the comparison, by hand, in the user's units; and their normal form.

    ball        -ln(r^2 - |x-c|^2)                      nu = 1
    box         -sum ln(x_i - l_i) - sum ln(u_i - x_i)   nu = d
    simplex     -sum ln x_i on the plane sum x = 1       nu = n - 1 = dimension
    ellipsoid   -ln(1 - (x-c)' shape^{-1} (x-c))         nu = 1
    polytope    -sum ln(b_i - a_i x)                     nu = number of rows - 1

`Normalised` moves the analytic centre c to the origin and scales by R: u = V'(x - c)/R, where the
columns of V are an orthonormal basis of the directions of the set (the identity unless it is flat).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import inf, log, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Barrier(Protocol):
    """A self-concordant barrier, in units in which it is least at the origin."""

    @property
    def nu(self) -> float: ...
    @property
    def dim(self) -> int: ...
    def value(self, x: Array) -> float: ...
    def gradient(self, x: Array) -> Array: ...
    def hessian(self, x: Array) -> Array: ...
    def support(self, slope: Array) -> float: ...


def minimum(
    gradient: Callable[[Array], Array],
    hessian: Callable[[Array], Array],
    x: Array,
    near: float = 0.0,
) -> Array:
    """The minimiser of a self-concordant function, to the last digit or a decrement below `near`.

    A damped step stays in the domain without a line search. Near the end the decrement falls
    quadratically: a step that does not lower it is rounding.
    """
    before, least = x, inf
    for _ in range(500):
        slope = gradient(x)
        step = -np.linalg.solve(hessian(x), slope)
        decrement = sqrt(max(float(-slope @ step), 0.0))
        if decrement >= least and least <= 1e-2:
            return before
        before, least = x, decrement
        x = x + (step if decrement < 0.25 else step / (1 + decrement))
        if decrement < near:
            return x
    raise ArithmeticError(f"Newton's method stopped at a decrement of {least}")


class UserBarrier(Protocol):
    """A barrier in the user's units; `basis` holds the directions in which the set extends."""

    @property
    def nu(self) -> float: ...
    @property
    def basis(self) -> Array: ...
    def analytic_center(self) -> Array: ...
    def reach(self) -> float:
        """max |x - c| over the set, c the analytic centre."""

    def support(self, slope: Array) -> float:
        """max slope.x over the set."""

    def value(self, x: Array) -> float: ...
    def gradient(self, x: Array) -> Array: ...
    def hessian(self, x: Array) -> Array: ...


@dataclass(frozen=True)
class BallBarrier:
    center: Array
    radius: float

    @property
    def nu(self) -> float:
        return 1.0

    @property
    def basis(self) -> Array:
        return np.eye(self.center.size)

    def analytic_center(self) -> Array:
        return self.center

    def reach(self) -> float:
        return self.radius

    def support(self, slope: Array) -> float:
        return float(slope @ self.center + self.radius * np.linalg.norm(slope))

    def slack(self, x: Array) -> float:
        distance = float(np.linalg.norm(x - self.center))
        return (self.radius - distance) * (self.radius + distance)

    def value(self, x: Array) -> float:
        return -log(self.slack(x)) if self.slack(x) > 0 else inf

    def gradient(self, x: Array) -> Array:
        return 2 * (x - self.center) / self.slack(x)

    def hessian(self, x: Array) -> Array:
        slope = self.gradient(x)
        return 2 * np.eye(x.size) / self.slack(x) + np.outer(slope, slope)


@dataclass(frozen=True)
class BoxBarrier:
    lower: Array
    upper: Array

    @property
    def nu(self) -> float:
        return float(self.lower.size)

    @property
    def basis(self) -> Array:
        return np.eye(self.lower.size)

    def analytic_center(self) -> Array:
        return (self.lower + self.upper) / 2

    def reach(self) -> float:
        return float(np.linalg.norm(self.upper - self.lower) / 2)

    def support(self, slope: Array) -> float:
        return float(np.maximum(slope * self.lower, slope * self.upper).sum())

    def value(self, x: Array) -> float:
        below, above = x - self.lower, self.upper - x
        if min(below.min(), above.min()) <= 0:
            return inf
        return float(-np.log(below).sum() - np.log(above).sum())

    def gradient(self, x: Array) -> Array:
        return 1 / (self.upper - x) - 1 / (x - self.lower)

    def hessian(self, x: Array) -> Array:
        return np.diag(1 / (x - self.lower) ** 2 + 1 / (self.upper - x) ** 2)


@dataclass(frozen=True)
class SimplexBarrier:
    n: int

    @property
    def nu(self) -> float:
        return self.n - 1.0

    @property
    def basis(self) -> Array:
        """Column k is (1, ..., 1, -k, 0, ..., 0) with k ones, scaled to length 1."""
        out = np.zeros((self.n, self.n - 1))
        for k in range(1, self.n):
            out[:k, k - 1] = 1.0
            out[k, k - 1] = -k
            out[:, k - 1] /= sqrt(k * (k + 1))
        return out

    def analytic_center(self) -> Array:
        return np.full(self.n, 1 / self.n)

    def reach(self) -> float:
        return sqrt(1 - 1 / self.n)

    def support(self, slope: Array) -> float:
        return float(slope.max())

    def value(self, x: Array) -> float:
        return float(-np.log(x).sum()) if x.min() > 0 else inf

    def gradient(self, x: Array) -> Array:
        return -1 / x

    def hessian(self, x: Array) -> Array:
        return np.diag(1 / x**2)


@dataclass(frozen=True)
class EllipsoidBarrier:
    center: Array
    shape: Array

    @property
    def nu(self) -> float:
        return 1.0

    @property
    def basis(self) -> Array:
        return np.eye(self.center.size)

    def analytic_center(self) -> Array:
        return self.center

    def reach(self) -> float:
        return sqrt(float(np.linalg.eigvalsh(self.shape)[-1]))

    def support(self, slope: Array) -> float:
        return float(slope @ self.center + sqrt(slope @ self.shape @ slope))

    def pull(self, x: Array) -> Array:
        return np.asarray(np.linalg.solve(self.shape, x - self.center), dtype=np.float64)

    def slack(self, x: Array) -> float:
        return float(1 - (x - self.center) @ self.pull(x))

    def value(self, x: Array) -> float:
        return -log(self.slack(x)) if self.slack(x) > 0 else inf

    def gradient(self, x: Array) -> Array:
        return 2 * self.pull(x) / self.slack(x)

    def hessian(self, x: Array) -> Array:
        slope = self.gradient(x)
        return 2 * np.linalg.inv(self.shape) / self.slack(x) + np.outer(slope, slope)


@dataclass(frozen=True)
class PolytopeBarrier:
    rows: Array
    bounds: Array
    interior: Array

    @property
    def nu(self) -> float:
        return self.bounds.size - 1.0

    @property
    def basis(self) -> Array:
        return np.eye(self.interior.size)

    def analytic_center(self) -> Array:
        return minimum(self.gradient, self.hessian, self.interior)

    @cached_property
    def vertices(self) -> Array:
        """Every choice of d rows that meets in one point of the set."""
        found = []
        for chosen in combinations(range(self.bounds.size), self.interior.size):
            square = self.rows[list(chosen)]
            if abs(np.linalg.det(square)) > 1e-9:
                vertex = np.linalg.solve(square, self.bounds[list(chosen)])
                if (self.rows @ vertex <= self.bounds + 1e-9).all():
                    found.append(vertex)
        return np.array(found)

    def reach(self) -> float:
        return float(np.linalg.norm(self.vertices - self.analytic_center(), axis=1).max())

    def support(self, slope: Array) -> float:
        return float((self.vertices @ slope).max())

    def value(self, x: Array) -> float:
        slack = self.bounds - self.rows @ x
        return float(-np.log(slack).sum()) if slack.min() > 0 else inf

    def gradient(self, x: Array) -> Array:
        return self.rows.T @ (1 / (self.bounds - self.rows @ x))

    def hessian(self, x: Array) -> Array:
        scaled = self.rows / (self.bounds - self.rows @ x)[:, None]
        return scaled.T @ scaled


class Normalised:
    """psi_norm(u) = psi(c + R V u), with c the analytic centre and R from outside."""

    def __init__(self, barrier: UserBarrier, radius: float) -> None:
        self.barrier = barrier
        self.center = barrier.analytic_center()
        self.radius = radius
        self.basis = barrier.basis

    @property
    def nu(self) -> float:
        return self.barrier.nu

    @property
    def dim(self) -> int:
        return int(self.basis.shape[1])

    def to_user(self, u: Array) -> Array:
        return self.center + self.radius * (self.basis @ u)

    def from_user(self, x: Array) -> Array:
        return self.basis.T @ (x - self.center) / self.radius

    def support(self, slope: Array) -> float:
        """max slope.u over the normalised set."""
        turned = self.basis @ slope
        return (self.barrier.support(turned) - float(turned @ self.center)) / self.radius

    def value(self, u: Array) -> float:
        return self.barrier.value(self.to_user(u))

    def gradient(self, u: Array) -> Array:
        return self.radius * (self.basis.T @ self.barrier.gradient(self.to_user(u)))

    def hessian(self, u: Array) -> Array:
        second = self.barrier.hessian(self.to_user(u))
        return self.radius**2 * (self.basis.T @ second @ self.basis)


def rotated_ellipsoid() -> EllipsoidBarrier:
    """Semi-axes 0.7, 1.3 and 2 along a random orthonormal frame in R^3."""
    frame, _ = np.linalg.qr(np.random.default_rng(31).normal(size=(3, 3)))
    shape = (frame * np.array([0.7, 1.3, 2.0]) ** 2) @ frame.T
    return EllipsoidBarrier(np.array([0.5, -1.0, 2.0]), (shape + shape.T) / 2)


def random_polytope() -> PolytopeBarrier:
    """Nine rows in R^3. The first four are a tetrahedron, so the set is bounded."""
    rng = np.random.default_rng(32)
    tetrahedron = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / sqrt(3)
    others = rng.normal(size=(5, 3))
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    rows = np.vstack([tetrahedron, others]) * rng.uniform(0.5, 2.0, size=(9, 1))
    interior = np.array([0.3, -0.4, 1.1])
    slack = rng.uniform(0.4, 1.2, size=9) * np.linalg.norm(rows, axis=1)
    return PolytopeBarrier(rows, rows @ interior + slack, interior)


def examples() -> dict[str, UserBarrier]:
    """The sets of the comparison, by name."""
    return {
        "unit ball": BallBarrier(np.zeros(2), 1.0),
        "moved ball": BallBarrier(np.array([3.0, -1.0, 0.5]), 2.5),
        "box": BoxBarrier(np.array([-1.0, 2.0, 0.0]), np.array([0.5, 5.0, 1.0])),
        "simplex": SimplexBarrier(4),
        "rotated ellipsoid": rotated_ellipsoid(),
        "random polytope": random_polytope(),
    }
