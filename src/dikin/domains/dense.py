"""The working form of any domain, from its barrier oracles alone: one matrix factored per round."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from dikin.domains.geometry import Geometry
from dikin.domains.newton import FULL_STEP, Factor, factor, minimise
from dikin.vectors import Array

if TYPE_CHECKING:
    from dikin.domains.base import Domain

FINAL_WEIGHT, WEIGHT_FACTOR = 1e-10, 1e-2
"""The weight of the barrier at the end of a projection, and the factor on the way there."""
CONVERGED = 1e-4
"""The Newton decrement of an update that is known well."""


class DenseGeometry(Geometry):
    """Chart vectors divided by the scale.

    iterate = (y, the Newton decrement of the update),  metric = (L'^-1 s, L s) with H = L L'.

    Newton's method runs in chart vectors v = scale u, where linear.u + quadratic/2 |u|^2 is
    (linear/scale).v + quadratic/(2 scale^2) |v|^2.
    """

    def __init__(self, domain: Domain, scale: float) -> None:
        self.domain, self.scale = domain, scale
        self.size = domain.dim
        self.iterate_size, self.metric_size = 2, 2
        self._least = domain.barrier(np.zeros(self.size))
        # The last results, with their arguments: they are needed again in the same round.
        self._hessian: tuple[bytes, Array] | None = None
        self._factor: tuple[tuple[bytes, float, float], Factor] | None = None

    @property
    def entries(self) -> int:
        return self.domain.center.size

    def start(self) -> Array:
        return np.zeros((2, self.size))

    def _shifted_hessian(self, v: Array, factor: float, shift: float) -> Array:
        """The matrix factor Hessian(psi)(v) + shift I, at a chart vector."""
        key = v.tobytes()
        if self._hessian is None or self._hessian[0] != key:
            self._hessian = key, self.domain.hessian(v)
        matrix = np.multiply(factor, self._hessian[1], order="C")
        matrix.reshape(-1)[:: self.size + 1] += shift
        return matrix

    def _minimise(
        self, linear: Array, quadratic: float, weight: float, start: Array, tolerance: float = 0.0
    ) -> tuple[Array, float]:
        linear_term, shift = linear / (weight * self.scale), quadratic / (weight * self.scale**2)
        return minimise(
            self.domain.barrier,
            lambda v: linear_term + shift * v + self.domain.gradient(v),
            lambda v: self._shifted_hessian(v, 1.0, shift),
            start,
            tolerance,
        )

    def solve(self, linear: Array, quadratic: float, weight: float, iterate: Array) -> None:
        start = self.scale * iterate[0]
        v, iterate[1, 0] = self._minimise(linear, quadratic, weight, start)
        np.divide(v, self.scale, iterate[0])

    def project(self, linear: Array, iterate: Array) -> None:
        """Follow the central path u + linear + weight grad psi(u) = 0 as the weight falls.

        Its tangent in ln(weight) is (1 + weight Hessian)^-1 (u + linear), and in the weight it is
        all but straight.
        """
        if isfinite(self.domain.barrier(-self.scale * linear)):  # inside: its own projection
            iterate[0], iterate[1, 0] = -linear, 0.0
            return
        v, weight = np.zeros(self.size), 1.0
        while weight > 2 * FINAL_WEIGHT:
            v, _ = self._minimise(linear, 1.0, weight, v, FULL_STEP)
            matrix = self._shifted_hessian(v, weight * self.scale**2, 1.0)
            tangent = factor(matrix).solve(self.scale * linear + v)
            ahead = v - (1.0 - WEIGHT_FACTOR) * tangent
            v = ahead if isfinite(self.domain.barrier(ahead)) else v
            weight *= WEIGHT_FACTOR
        iterate[0], iterate[1, 0] = v / self.scale, 0.0
        self.solve(linear, 1.0, FINAL_WEIGHT, iterate)

    def explore(
        self, iterate: Array, kappa: float, shift: float, s: Array, metric: Array
    ) -> tuple[float, float]:
        key = iterate[0].tobytes(), kappa, shift
        if self._factor is None or self._factor[0] != key:
            v = self.scale * iterate[0]
            self._factor = key, factor(self._shifted_hessian(v, kappa * self.scale**2, shift))
        lower, inverse = self._factor[1]
        metric[0], metric[1] = inverse.dot(s), lower.dot(s)
        return float(s.dot(s)), float(np.vdot(inverse, inverse))

    def barrier(self, iterate: Array) -> float:
        return self.domain.barrier(self.scale * iterate[0]) - self._least

    def write_point(self, u: Array, center: Array, radius: float, x: Array) -> None:
        x[:] = center + radius * self.domain.outward(u).ravel()

    def inward(self, displacement: Array) -> Array:
        return self.domain.inward(displacement.reshape(self.domain.point_shape))

    def converged(self, iterate: Array) -> bool:
        return bool(iterate[1, 0] <= CONVERGED)
