"""Barriers of the six sets of the comparison, by hand, in the user's units; and their normal form.

ball        -ln(r^2 - |x-c|^2)                      nu = 1
box         -sum ln(x_i - l_i) - sum ln(u_i - x_i)   nu = d
simplex     -sum ln x_i on the plane sum x = 1       nu = n - 1 = dimension
ellipsoid   -ln(1 - (x-c)' shape^{-1} (x-c))         nu = 1
polytope    -sum ln(b_i - a_i x)                     nu = number of rows - 1
"""

from collections.abc import Callable
from functools import cached_property
from itertools import combinations
from math import inf, sqrt
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


class UserBarrier:
    """A barrier in the user's units, and the set's analytic centre."""

    nu: float
    center: Array

    @property
    def basis(self) -> Array:
        """The directions in which the set extends."""
        return np.eye(self.center.size)

    def reach(self) -> float:
        """max |x - c| over the set, c the analytic centre."""
        raise NotImplementedError

    def slacks(self, x: Array) -> Array:
        """The numbers whose logarithms the barrier adds up."""
        raise NotImplementedError


class EllipsoidBarrier(UserBarrier):
    nu = 1.0

    def __init__(self, center: Array, shape: Array) -> None:
        self.center, self.shape = center, shape

    def reach(self) -> float:
        return sqrt(float(np.linalg.eigvalsh(self.shape)[-1]))

    def support(self, slope: Array) -> float:
        return float(slope @ self.center + sqrt(slope @ self.shape @ slope))

    def pull(self, x: Array) -> Array:
        return np.asarray(np.linalg.solve(self.shape, x - self.center), dtype=np.float64)

    def slacks(self, x: Array) -> Array:
        return np.array([1 - (x - self.center) @ self.pull(x)])

    def gradient(self, x: Array) -> Array:
        return 2 * self.pull(x) / self.slacks(x)

    def hessian(self, x: Array) -> Array:
        slope = self.gradient(x)
        return 2 * np.linalg.inv(self.shape) / self.slacks(x) + np.outer(slope, slope)


class BallBarrier(EllipsoidBarrier):
    def __init__(self, center: Array, radius: float) -> None:
        super().__init__(center, radius**2 * np.eye(center.size))
        self.radius = radius


class PolytopeBarrier(UserBarrier):
    def __init__(self, rows: Array, bounds: Array, interior: Array) -> None:
        self.rows, self.bounds, self.nu = rows, bounds, bounds.size - 1.0
        self.center = minimum(self.gradient, self.hessian, interior)

    @cached_property
    def vertices(self) -> Array:
        """Every choice of d rows that meets in one point of the set."""
        found = []
        for chosen in combinations(range(self.bounds.size), self.center.size):
            square = self.rows[list(chosen)]
            if abs(np.linalg.det(square)) > 1e-9:
                vertex = np.linalg.solve(square, self.bounds[list(chosen)])
                if (self.rows @ vertex <= self.bounds + 1e-9).all():
                    found.append(vertex)
        return np.array(found)

    def reach(self) -> float:
        return float(np.linalg.norm(self.vertices - self.center, axis=1).max())

    def support(self, slope: Array) -> float:
        return float((self.vertices @ slope).max())

    def slacks(self, x: Array) -> Array:
        return self.bounds - self.rows @ x

    def gradient(self, x: Array) -> Array:
        return self.rows.T @ (1 / self.slacks(x))

    def hessian(self, x: Array) -> Array:
        scaled = self.rows / self.slacks(x)[:, None]
        return scaled.T @ scaled


class BoxBarrier(PolytopeBarrier):
    def __init__(self, lower: Array, upper: Array) -> None:
        self.lower, self.upper, self.nu = lower, upper, float(lower.size)
        self.rows = np.vstack([np.eye(lower.size), -np.eye(lower.size)])
        self.bounds, self.center = np.append(upper, -lower), (lower + upper) / 2


class SimplexBarrier(PolytopeBarrier):
    def __init__(self, n: int) -> None:
        self.nu, self.rows, self.bounds = n - 1.0, -np.eye(n), np.zeros(n)
        self.center, self.vertices = np.full(n, 1 / n), np.eye(n)

    @property
    def basis(self) -> Array:
        """Column k is (1, ..., 1, -k, 0, ..., 0) with k ones, scaled to length 1."""
        n = self.center.size
        columns = [
            np.r_[np.ones(k), -k, np.zeros(n - k - 1)] / sqrt(k * (k + 1)) for k in range(1, n)
        ]
        return np.column_stack(columns)


class Normalised:
    """psi_norm(u) = psi(c + R V u), with c the analytic centre and R from outside."""

    def __init__(self, barrier: UserBarrier, radius: float) -> None:
        self.barrier = barrier
        self.center = barrier.center
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
