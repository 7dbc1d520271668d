"""The working form of a set: what a learner does with it, round after round.

A `Geometry` is (X - center)/scale, in the coordinates in which a learner computes. It describes the
current point y as an *iterate*, a table whose first row is y, and H = kappa Hessian(psi)(y) + shift
I at a direction s as a *metric*, a table with the rows z = H^(-1/2) s and g = H^(1/2) s. The other
rows are the geometry's own. A single number is the first entry of its row. A set that keeps another
metric has its own `point` and `linear_update`. A round is

    explore        turn noise into a direction s of the set's plane, and write the metric
    point          the vector to play, y + scale z
    linear_update  what the answer adds to the linear term, scale g - damping y
    solve          the next iterate

Those of a set with closed forms are compiled as they are (see `dikin.kernel`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import log, sqrt

import numpy as np

from dikin.kernel import looped
from dikin.vectors import Array, add_combination, combine, dot, dots, multiply

PROJECTION_WEIGHT = 1e-16
"""A weight of the barrier so small that the update is the projection, to nu times as much.

Sets without closed forms stop at 1e-10 (`dense`), and no more is asked of any set.
"""


class Geometry(ABC):
    """The set as the algorithm sees it: centred at its analytic centre, in the paper's units."""

    size: int
    """Length of a working vector; larger than dim where the set lies in a plane of its space."""
    iterate_size: int
    """Rows of an iterate."""
    metric_size: int
    """Rows of a metric."""

    # --- five functions of the set -------------------------------------------------------------

    @abstractmethod
    def start(self) -> Array:
        """The iterate at the analytic centre."""

    @abstractmethod
    def solve(self, linear: Array, quadratic: float, weight: float, iterate: Array) -> None:
        """Minimise linear.u + quadratic/2 |u|^2 + weight psi(u), from the iterate and into it.

        It may add to `linear` what is the same for every u of the set.
        """

    @abstractmethod
    def explore(
        self, iterate: Array, kappa: float, shift: float, s: Array, metric: Array
    ) -> tuple[float, float]:
        """Turn noise s into a direction s of the set's plane, in place: |s|^2 and tr(H^-1)."""

    @abstractmethod
    def barrier(self, iterate: Array) -> float:
        """psi(y) - psi(0), from slacks that keep their digits at the boundary."""

    @abstractmethod
    def write_point(self, u: Array, center: Array, radius: float, x: Array) -> None:
        """Set x to the flattened point of a working vector: center + radius outward(u)."""

    def project(self, linear: Array, iterate: Array) -> None:
        """The point nearest to -linear, to 1e-10 nu in |.|^2/2: from the iterate and into it."""
        self.solve(linear, 1.0, PROJECTION_WEIGHT, iterate)

    # --- the same for every set ----------------------------------------------------------------

    def point(self, iterate: Array, metric: Array, scale: float, u: Array) -> float:
        """Set u to y + scale z; returns |u|^2."""
        combine(1.0, iterate[0], scale, metric[0], u)
        return dot(u, u)

    def linear_update(
        self, iterate: Array, metric: Array, scale: float, damping: float, out: Array
    ) -> tuple[float, float]:
        """Add scale g - damping y to the linear term; returns scale g.y and |y|^2."""
        square, along = dots(iterate[0], metric[1])
        add_combination(scale, metric[1], -damping, iterate[0], out)
        return scale * along, square

    def write_vector(self, iterate: Array, factor: float, u: Array) -> None:
        """Set u to factor y."""
        multiply(factor, iterate[0], u)

    def product(self, iterate: Array, vector: Array) -> float:
        """The product y.vector."""
        return dot(iterate[0], vector)

    def vector(self, iterate: Array) -> Array:
        """The working vector y of an iterate."""
        y: Array = iterate[0].copy()
        return y

    def converged(self, iterate: Array) -> bool:
        """Whether the update is known to full precision there."""
        return True

    @property
    def compilable(self) -> bool:
        """Whether the methods can be compiled: those of a NamedTuple can."""
        return isinstance(self, tuple)

    # --- the user's coordinates ----------------------------------------------------------------

    @abstractmethod
    def inward(self, displacement: Array) -> Array:
        """The working vector of a displacement (the nearest one, for a set in a plane).

        As the adjoint of `outward` it also turns a gradient into one in working vectors.
        """

    def preimage(self, displacement: Array) -> Array:
        """The working vector that `outward` carries to a displacement."""
        return self.inward(displacement) / self.squares

    def outward(self, u: Array) -> Array:
        """The flattened displacement in the user's coordinates of a working vector.

        An isometry, unless the sides of the set were made equal (`Domain.equal_sided_geometry`).
        """
        x = np.empty(self.entries)
        self.write_point(u, np.zeros(self.entries), 1.0, x)
        return x

    @property
    def entries(self) -> int:
        """Entries of a point in the user's coordinates."""
        return self.size

    @property
    def squares(self) -> Array:
        """The squared length that `outward` gives each unit vector. Its images are orthogonal."""
        return np.ones(self.size)

    @property
    def shortest(self) -> float:
        """The least length that `outward` gives a working vector of length one."""
        return sqrt(float(self.squares.min()))

    @property
    def longest(self) -> float:
        """The largest length that `outward` gives a working vector of length one."""
        return sqrt(float(self.squares.max()))

    @property
    def identity(self) -> bool:
        """Whether `outward` changes nothing."""
        return False


def _log_sum(factor: float, values: Array) -> float:
    total = 0.0
    for i in range(values.size):
        total += log(factor * values[i])
    return total


@looped(_log_sum, order_free=True)
def log_sum(factor: float, values: Array) -> float:
    """The sum of ln(factor x) over the entries x."""
    return float(np.log(factor * values).sum())


# --- a diagonal H: metric = (z, g, its square roots) ---------------------------------------------


def _diagonal_metric(s: Array, metric: Array) -> None:
    for i in range(s.size):
        metric[0, i] = s[i] / metric[2, i]
        metric[1, i] = s[i] * metric[2, i]


@looped(_diagonal_metric)
def diagonal_metric(s: Array, metric: Array) -> None:
    """Write z and g, from the square roots."""
    root = metric[2]
    np.divide(s, root, metric[0])
    np.multiply(s, root, metric[1])


def _diagonal_sums(s: Array, metric: Array) -> tuple[float, float]:
    square = trace = 0.0
    for i in range(s.size):
        square += s[i] * s[i]
        trace += 1.0 / (metric[2, i] * metric[2, i])
    return square, trace


@looped(_diagonal_sums, order_free=True)
def diagonal_sums(s: Array, metric: Array) -> tuple[float, float]:
    """The product s.s and tr(H^-1)."""
    inverse = 1.0 / metric[2]
    return float(s.dot(s)), float(inverse.dot(inverse))
