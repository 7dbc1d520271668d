"""Sets of working points, around the origin: a cube or a polytope."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dikin import extras
from dikin.vectors import Array


class Cube:
    """The cube [-1, 1]^d."""

    def __init__(self, d: int) -> None:
        self.d, self.nu, self.radius, self.diameter = d, float(d), d**0.5, 2.0 * d**0.5
        self.eye = np.eye(d)

    def barrier(self, x: Array) -> tuple[Array, Array]:
        """Return gradient and Hessian of -Σ ln(1 - x²)."""
        slope, sides = self.sides(x)
        return slope, sides * self.eye

    def sides(self, x: Array) -> tuple[Array, Array]:
        """Return the derivatives of the barrier, coordinate by coordinate."""
        square = x * x
        slack = 1.0 - square
        return 2.0 * x / slack, 2.0 * (1.0 + square) / slack**2

    def room(self, x: Array, step: Array) -> float:
        """Return how many times the step leads to the boundary."""
        ways = (1.0 - np.sign(step) * x) / np.maximum(np.abs(step), 1e-300)
        return float(ways.min(initial=1e300))

    def inside(self, x: Array, share: float) -> Array:
        """Return the nearest point with at most this share of the way to any side."""
        return np.minimum(np.maximum(x, -share), share)

    def support(self, direction: Array) -> float:
        """Return the maximum of direction.x."""
        return float(np.abs(direction).sum())


class Cut:
    """The polytope {x : rows x <= ends}: constraints, or a simplex in coordinates of its plane."""

    def __init__(self, rows: Array, ends: Array) -> None:
        self.rows, self.ends, self.d = rows, ends, rows.shape[1]
        self.nu = float(len(rows))

    def barrier(self, x: Array) -> tuple[Array, Array]:
        """Return gradient and Hessian of -Σ ln(ends - rows x)."""
        scaled = self.rows / (self.ends - self.rows @ x)[:, None]
        return scaled.sum(axis=0), scaled.T @ scaled

    def room(self, x: Array, step: Array) -> float:
        """Return how many times the step leads to the boundary."""
        speed, slack = self.rows @ step, self.ends - self.rows @ x
        return float(np.min(slack / np.maximum(speed, 1e-300)))

    def inside(self, x: Array, share: float) -> Array:
        """Return the point on the way to 0 with at most this share of the way to any side."""
        return x / max(1.0, float(np.max(self.rows @ x / self.ends)) / share)

    def support(self, direction: Array) -> float:
        """Return the maximum of direction.x."""
        optimize = extras.require("scipy.optimize", "lab", "a certificate with constraints")
        found = optimize.linprog(-direction, self.rows, self.ends, bounds=(None, None))
        return float(-found.fun)

    @cached_property
    def diameter(self) -> float:
        """A bound on the largest distance of two points: that of the box around the set."""
        sides = [self.support(each) + self.support(-each) for each in np.eye(self.d)]
        return float(np.linalg.norm(sides))

    @property
    def radius(self) -> float:
        """A bound on the largest distance of a point to 0."""
        return self.diameter


Set = Cube | Cut
