"""The working form of a set: what a learner does with it, round after round.

A `Geometry` is (X - center)/scale, in the coordinates in which a learner computes. It describes the
current point y as an *iterate*, and H = kappa Hessian(psi)(y) + shift I, factored, as a *metric*:
two flat arrays, whose layout is the geometry's own. A round is

    explore        the metric, and a direction s of the set's plane from noise
    point          the vector to play, y + scale H^(-1/2) s
    linear_update  what the answer adds to the linear term, scale H^(1/2) s - damping y
    solve          the next iterate

These methods write into arrays that the caller passes. Those of a set with closed forms are
compiled as they are (see `dikin.kernel`); the others are for plain Python. Both use one source.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from dikin.vectors import Array, diagonal_point, diagonal_update, dot, largest, multiply

ROOM = 2.0**-52
"""The least slack of a point: what rounding leaves of it on the boundary."""
PROJECTION_WEIGHT = 1e-16
"""A weight of the barrier so small that the update is the projection, to nu times as much.

Sets without closed forms stop at 1e-10 (`dense`), and no more is asked of any set.
"""


class GeometryKernel(ABC):
    """The methods that are compiled for sets with closed forms."""

    size: int
    """Length of a working vector; larger than dim where the set lies in a plane of its space."""
    iterate_size: int
    """Length of an iterate."""
    metric_size: int
    """Length of a metric."""

    @abstractmethod
    def solve(self, linear: Array, quadratic: float, weight: float, iterate: Array) -> None:
        """Minimise linear.u + quadratic/2 |u|^2 + weight psi(u), from the iterate and into it.

        It may add to `linear` what is the same for every u of the set.
        """

    def project(self, linear: Array, iterate: Array) -> None:
        """The point nearest to -linear, to 1e-10 nu in |.|^2/2: from the iterate and into it."""
        self.solve(linear, 1.0, PROJECTION_WEIGHT, iterate)

    @abstractmethod
    def explore(
        self, iterate: Array, kappa: float, shift: float, s: Array, metric: Array
    ) -> tuple[float, float]:
        """Turn noise s into a direction s of the set's plane, in place: |s|^2 and tr(H^-1)."""

    @abstractmethod
    def point(self, iterate: Array, metric: Array, s: Array, scale: float, u: Array) -> float:
        """Set u to y + scale H^(-1/2) s; returns |u|^2."""

    @abstractmethod
    def linear_update(
        self, iterate: Array, metric: Array, s: Array, scale: float, damping: float, out: Array
    ) -> tuple[float, float]:
        """Add g - damping y to the linear term, g = scale H^(1/2) s; returns g.y and |y|^2."""

    @abstractmethod
    def stiffness(self, metric: Array) -> float:
        """The root of the largest eigenvalue of H, or more: |z|_H is at most this times |z|."""

    @abstractmethod
    def place(self, u: Array, iterate: Array) -> None:
        """Write the iterate that describes an interior point u."""

    @abstractmethod
    def write_vector(self, iterate: Array, factor: float, u: Array) -> None:
        """Set u to factor y."""

    @abstractmethod
    def product(self, iterate: Array, vector: Array) -> float:
        """The product y.vector."""

    @abstractmethod
    def barrier(self, iterate: Array) -> float:
        """psi(y) - psi(0), from slacks that keep their digits at the boundary."""

    @abstractmethod
    def write_point(self, u: Array, center: Array, radius: float, x: Array) -> None:
        """Set x to the flattened point of a working vector: center + radius outward(u)."""


class Geometry(GeometryKernel):
    """The set as the algorithm sees it: centred at its analytic centre, in the paper's units."""

    @abstractmethod
    def start(self) -> Array:
        """The iterate at the analytic centre."""

    @abstractmethod
    def inward(self, displacement: Array) -> Array:
        """The working vector of a displacement (the nearest one, for a set in a plane).

        As the adjoint of `outward` it also turns a gradient into one in working vectors.
        """

    @property
    def entries(self) -> int:
        """Entries of a point in the user's coordinates."""
        return self.size

    @property
    def shortest(self) -> float:
        """The least length that `outward` gives a working vector of length one."""
        return 1.0

    @property
    def longest(self) -> float:
        """The largest length that `outward` gives a working vector of length one."""
        return 1.0

    @property
    def identity(self) -> bool:
        """Whether `outward` changes nothing."""
        return False

    def outward(self, u: Array) -> Array:
        """The flattened displacement in the user's coordinates of a working vector.

        An isometry, unless the sides of the set were made equal (`Domain.equal_sided_geometry`).
        """
        x = np.empty(self.entries)
        self.write_point(u, np.zeros(self.entries), 1.0, x)
        return x

    def preimage(self, displacement: Array) -> Array:
        """The working vector that `outward` carries to a displacement."""
        return self.inward(displacement)

    def vector(self, iterate: Array) -> Array:
        """The working vector y of an iterate."""
        u = np.empty(self.size)
        self.write_vector(iterate, 1.0, u)
        return u

    def solved(self, linear: Array, quadratic: float, weight: float, near: Array) -> Array:
        """`solve` into a new iterate."""
        iterate = near.copy()
        self.solve(linear, quadratic, weight, iterate)
        return iterate

    def projected(self, linear: Array, near: Array) -> Array:
        """`project` into a new iterate."""
        iterate = near.copy()
        self.project(linear, iterate)
        return iterate

    def converged(self, iterate: Array) -> bool:
        """Whether the update is known to full precision there."""
        return True

    @property
    def sides(self) -> Array | None:
        """The lengths of the sides of a set that is a box; None for any other."""
        return None

    @property
    def compilable(self) -> bool:
        """Whether the methods of the kernel can be compiled."""
        return isinstance(self, tuple)


class ExplicitGeometry(Geometry):
    """A set whose iterates begin with y itself."""

    def write_vector(self, iterate: Array, factor: float, u: Array) -> None:
        multiply(factor, iterate[: self.size], u)

    def product(self, iterate: Array, vector: Array) -> float:
        return dot(iterate[: self.size], vector)


class DiagonalGeometry(ExplicitGeometry):
    """A set whose H is diagonal: metric = (its square roots, y.(root s), |y|^2)."""

    def point(self, iterate: Array, metric: Array, s: Array, scale: float, u: Array) -> float:
        n = self.size
        diagonal_point(iterate[:n], s, metric[:n], scale, u)
        return dot(u, u)

    def linear_update(
        self, iterate: Array, metric: Array, s: Array, scale: float, damping: float, out: Array
    ) -> tuple[float, float]:
        n = self.size
        diagonal_update(iterate[:n], s, metric[:n], scale, damping, out)
        return scale * float(metric[n]), float(metric[n + 1])

    def stiffness(self, metric: Array) -> float:
        return largest(metric[: self.size])
