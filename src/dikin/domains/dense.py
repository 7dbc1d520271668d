"""The working form of any domain, from its barrier oracles alone: a matrix factored in a round."""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple, Protocol

import numpy as np

from dikin.domains.geometry import Array, Geometry
from dikin.domains.newton import INSIDE, Factor, factor, minimise

LAST, NEXT = 1e-10, 1e-2
"""The weight of the barrier at the end of a projection, and the factor on the way there."""
SETTLED = 1e-4
"""The Newton decrement of an update that is known well."""


class Oracles(Protocol):
    """What is asked of a domain, at chart vectors."""

    dim: int
    nu: float
    point_shape: tuple[int, ...]
    center: Array

    def barrier(self, v: Array) -> float: ...
    def gradient(self, v: Array) -> Array: ...
    def hessian(self, v: Array) -> Array: ...
    def outward(self, v: Array) -> Array: ...
    def inward(self, displacement: Array) -> Array: ...


class Metric(NamedTuple):
    """H = kappa Hessian(psi)(y) + shift I, factored."""

    y: Array
    kappa: float
    shift: float
    factor: Factor


class DenseGeometry(Geometry):
    """Chart vectors divided by the scale.

    iterate = (y, the Newton decrement of the update); direction = (s, L, L^-1) with H = L L'.
    """

    def __init__(self, domain: Oracles, scale: float) -> None:
        self.domain, self.scale = domain, scale
        self.size = n = domain.dim
        self.iterate_size, self.direction_size = n + 1, n + 2 * n * n
        self.eye = np.eye(n)
        self._least = domain.barrier(np.zeros(n))
        # Matrices of the last vectors: they are wanted again in the same round.
        self._hessian: tuple[Array, Array] | None = None
        self._metric: Metric | None = None

    @property
    def entries(self) -> int:
        return self.domain.center.size

    def start(self) -> Array:
        return np.zeros(self.iterate_size)

    # --- the oracles, in working vectors -------------------------------------------------------

    def value(self, u: Array) -> float:
        """Psi at a working vector."""
        return self.domain.barrier(self.scale * u)

    def gradient(self, u: Array) -> Array:
        """The gradient of psi at a working vector."""
        return self.scale * self.domain.gradient(self.scale * u)

    def hessian(self, u: Array) -> Array:
        """The Hessian of psi at a working vector."""
        if self._hessian is None or (self._hessian[0] != u).any():
            self._hessian = u.copy(), self._new_hessian(u)
        return self._hessian[1]

    def _new_hessian(self, u: Array) -> Array:
        return self.scale**2 * self.domain.hessian(self.scale * u)

    # --- a round -------------------------------------------------------------------------------

    def solve(self, linear: Array, quadratic: float, weight: float, iterate: Array) -> None:
        pull, shift = linear / weight, quadratic / weight
        iterate[:-1], iterate[-1] = minimise(
            self.value,
            lambda u: pull + shift * u + self.gradient(u),
            lambda u: self.hessian(u) + shift * self.eye,
            iterate[:-1].copy(),
        )

    def project(self, linear: Array, iterate: Array) -> None:
        if isfinite(self.value(-linear)):  # inside: its own projection
            iterate[:-1], iterate[-1] = -linear, 0.0
            return
        u, weight = np.zeros(self.size), 1.0
        while weight > 2 * LAST:
            u, weight = self._ahead(linear, u, weight), weight * NEXT
        iterate[:-1], iterate[-1] = u, 0.0
        self.solve(linear, 1.0, LAST, iterate)

    def _ahead(self, linear: Array, u: Array, weight: float) -> Array:
        """From near a point of the projection's central path to near the one of the next weight.

        The path u + linear + weight grad psi(u) = 0 has the tangent
        (1 + weight Hessian)^-1 (u + linear) in ln(weight), and is all but straight in the weight.
        """
        u, _ = minimise(
            self.value,
            lambda u: (linear + u) / weight + self.gradient(u),
            lambda u: self.hessian(u) + self.eye / weight,
            u,
            INSIDE,
        )
        tangent = factor(weight * self.hessian(u) + self.eye).solve(linear + u)
        ahead = u - (1.0 - NEXT) * tangent
        return ahead if isfinite(self.value(ahead)) else u

    def _factored(self, y: Array, kappa: float, shift: float) -> Factor:
        last = self._metric
        if last is None or (last.kappa, last.shift) != (kappa, shift) or (last.y != y).any():
            matrix = kappa * self.hessian(y) + shift * self.eye
            last = self._metric = Metric(y.copy(), kappa, shift, factor(matrix))
        return last.factor

    def explore(
        self, iterate: Array, kappa: float, shift: float, noise: Array, direction: Array
    ) -> tuple[float, float]:
        n, (lower, inverse) = self.size, self._factored(iterate[:-1], kappa, shift)
        direction[:n] = noise
        direction[n : n + n * n], direction[n + n * n :] = lower.ravel(), inverse.ravel()
        return float(noise.dot(noise)), float(np.vdot(inverse, inverse))

    def point(self, iterate: Array, direction: Array, scale: float, u: Array) -> float:
        n = self.size
        inverse = direction[n + n * n :].reshape(n, n)
        u[:] = iterate[:-1] + (scale * direction[:n]) @ inverse
        return float(u.dot(u))

    def linear_update(
        self, iterate: Array, direction: Array, scale: float, damping: float, linear: Array
    ) -> tuple[float, float]:
        n, y = self.size, iterate[:-1]
        g = direction[n : n + n * n].reshape(n, n) @ (scale * direction[:n])
        linear += g - damping * y
        return float(g.dot(y)), float(y.dot(y))

    def write_vector(self, iterate: Array, factor: float, u: Array) -> None:
        np.multiply(iterate[:-1], factor, u)

    def product(self, iterate: Array, vector: Array) -> float:
        return float(iterate[:-1].dot(vector))

    def barrier(self, iterate: Array) -> float:
        return self.value(iterate[:-1]) - self._least

    def place(self, u: Array, center: Array, radius: float, x: Array) -> None:
        x[:] = center + radius * self.domain.outward(u).ravel()

    def inward(self, displacement: Array) -> Array:
        return self.domain.inward(displacement.reshape(self.domain.point_shape))

    def settled(self, iterate: Array) -> bool:
        return bool(iterate[-1] <= SETTLED)
