"""The working form of a set, with which a learner computes its rounds.

A `Geometry` is (X - center)/scale, in the coordinates in which a learner computes. It describes the
current point y as an *iterate*, a table whose first row is y, and H = kappa Hessian(psi)(y) + shift
I at a direction s as a *metric*, a table whose first rows are z = H^(-1/2) s and g = H^(1/2) s, or
s and y for a ball. The other rows are the geometry's own. A single number is the first entry of its
row. A round is

    explore        turn noise into a direction s of the set's plane, and write the metric
    point          the vector to play, y + scale z
    linear_update  the change of the linear term by the answer, scale g - damping y
    solve          the next iterate

Those of a set with closed forms are compiled as they are (see `dikin.kernel`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from dikin.kernel import compilable, looped
from dikin.vectors import Array, add_combination, combine, dot, dots, times

PROJECTION_WEIGHT = 1e-16
"""A weight of the barrier so small that the update is the projection, to nu times as much.

Sets without closed forms stop at 1e-10 (`dense`), and no more is asked of any set.
"""


class Geometry(ABC):
    """The set as the algorithm sees it: centred at its analytic centre, in the paper's units."""

    size: int
    """Length of a working vector: larger than dim where the set lies in a plane of its space."""
    iterate_size: int
    """Rows of an iterate."""
    metric_size: int
    """Rows of a metric."""

    # --- the functions of a set ----------------------------------------------------------------

    @abstractmethod
    def start(self) -> Array:
        """The iterate at the analytic centre."""

    @abstractmethod
    def solve(self, linear: Array, quadratic: float, weight: float, iterate: Array) -> None:
        """Minimise linear.u + quadratic/2 |u|^2 + weight psi(u), from the iterate and into it.

        It may add a vector to `linear` whose product with every u of the set is the same.
        """

    @abstractmethod
    def explore(
        self, iterate: Array, kappa: float, shift: float, s: Array, metric: Array
    ) -> tuple[Any, ...]:
        """Turn noise s into a direction of the set's plane, in place, and write the metric.

        Return `seen` of `point` and `linear_update`: |s|^2, tr(H^-1), and numbers of the set's own.
        """

    @abstractmethod
    def barrier(self, iterate: Array) -> float:
        """psi(y) - psi(0), from slacks that keep their digits at the boundary."""

    @abstractmethod
    def write_point(self, u: Array, center: Array, radius: float, x: Array) -> None:
        """Set x to the flattened point of a working vector: center + radius outward(u)."""

    @abstractmethod
    def inward(self, displacement: Array) -> Array:
        """The working vector of a displacement (the nearest one, for a set in a plane).

        As the adjoint of `outward` it also turns a gradient into one in working vectors.
        """

    def project(self, linear: Array, iterate: Array) -> None:
        """The point nearest to -linear, to 1e-10 nu in |.|^2/2: from the iterate and into it."""
        self.solve(linear, 1.0, PROJECTION_WEIGHT, iterate)

    def converged(self, iterate: Array) -> bool:
        """Return whether the update is known to full precision there."""
        return True

    # --- the same for every set ----------------------------------------------------------------

    def point(self, iterate: Array, metric: Array, seen: Any, scale: float, u: Array) -> float:
        """Set u to y + scale z and return |u|^2."""
        combine(1.0, iterate[0], scale, metric[0], u)
        return dot(u, u)

    def linear_update(
        self, iterate: Array, metric: Array, seen: Any, scale: float, damping: float, out: Array
    ) -> tuple[float, float]:
        """Add scale g - damping y to the linear term and return scale g.y and |y|^2."""
        square, along = dots(iterate[0], metric[1])
        add_combination(scale, metric[1], -damping, iterate[0], out)
        return scale * along, square

    def vector(self, iterate: Array) -> Array:
        """The working vector y of an iterate."""
        y: Array = iterate[0].copy()
        return y

    @property
    def compilable(self) -> bool:
        """True if the methods can be compiled, as those of a NamedTuple can."""
        return isinstance(self, tuple)

    # --- the user's coordinates ----------------------------------------------------------------

    def outward(self, u: Array) -> Array:
        """The flattened displacement in the user's coordinates of a working vector.

        An isometry, unless the sides of the set were made equal (`Domain.geometry`).
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
        """True if `outward` returns its argument."""
        return False


class Constants(NamedTuple):
    """The constants of a set with closed forms, for the compiled loop."""

    size: int
    iterate_size: int
    metric_size: int
    length: float
    """The radius of a ball, or a simplex' unit of length."""
    sides: Array = np.zeros(0)
    """A number for each coordinate: half the side of a box, or p of an ellipsoid."""
    axes: Array = np.zeros(0)
    """The factors of a `Stretched` set, or the matrix of a `Rotated` one."""


class ClosedForm(Constants, Geometry):
    """A set whose rounds are compiled: iterate = (y, slack, ...), all of the slack 1 at the start.

    A set that does not need a slack for each coordinate has it in the first.
    """

    def start(self) -> Array:
        iterate = np.zeros((self.iterate_size, self.size))
        iterate[1] = 1.0
        return iterate

    def write_point(self, u: Array, center: Array, radius: float, x: Array) -> None:
        combine(1.0, center, radius, u, x)

    def inward(self, displacement: Array) -> Array:
        return displacement

    @property
    def identity(self) -> bool:
        return not self.axes.size


class Stretched(Geometry):
    """A set of which `outward` stretches each coordinate by its factor."""

    axes: Array

    def write_point(self, u: Array, center: Array, radius: float, x: Array) -> None:
        times(self.axes, u, x)
        combine(1.0, center, radius, x, x)

    def inward(self, displacement: Array) -> Array:
        return self.axes * displacement

    @property
    def squares(self) -> Array:
        return self.axes**2


class Rotated(Geometry):
    """A set of which `outward` multiplies by a matrix with orthogonal columns."""

    axes: Array

    def write_point(self, u: Array, center: Array, radius: float, x: Array) -> None:
        rotated(self.axes, u, center, radius, x)

    def inward(self, displacement: Array) -> Array:
        return np.asarray(displacement @ self.axes)

    @property
    def squares(self) -> Array:
        return np.asarray(np.sum(self.axes**2, axis=0))


def _rotated(axes: Array, u: Array, center: Array, radius: float, x: Array) -> None:
    for i in range(x.size):
        x[i] = center[i] + radius * dot(axes[i], u)


@looped(_rotated)
def rotated(axes: Array, u: Array, center: Array, radius: float, x: Array) -> None:
    """Set x to center + radius axes u."""
    np.dot(axes, u, x)
    combine(1.0, center, radius, x, x)


# --- H = D + gamma v v' with a diagonal D, w = D^(-1/2) v: metric = (z, g, root, inverse, w) ------


@compilable
def diagonal_roots(h: Array, kappa: float, shift: float, metric: Array) -> None:
    """Write the roots of D = kappa h + shift, and their inverses."""
    np.multiply(h, kappa, metric[2])
    np.add(metric[2], shift, metric[2])
    np.sqrt(metric[2], metric[2])
    np.divide(1.0, metric[2], metric[3])


@compilable
def diagonal_metric(a: Array, b: Array, metric: Array) -> None:
    """Write z = D^(-1/2) a and g = D^(1/2) b."""
    times(a, metric[3], metric[0])
    times(b, metric[2], metric[1])


def _rank_one_sums(w: Array, inverse: Array) -> tuple[float, float, float, float, float]:
    largest = at_largest = squares = inverses = products = 0.0
    for i in range(w.size):
        square = w[i] * w[i]
        part = inverse[i] * inverse[i]
        if square > largest or i == 0:
            square, largest = largest, square
            part, at_largest = at_largest, part
        squares += square
        inverses += part
        products += square * part
    return largest, at_largest, squares, inverses, products


@looped(_rank_one_sums, order_free=True)
def rank_one_sums(w: Array, inverse: Array) -> tuple[float, float, float, float, float]:
    """Return the largest w^2 and its 1/D, and sums of the other w^2, 1/D and w^2/D."""
    squares, inverses = w * w, inverse * inverse
    i = squares.argmax()
    largest, at_largest = float(squares[i]), float(inverses[i])
    squares[i] = inverses[i] = 0.0
    products = float(squares.dot(inverses))
    return largest, at_largest, float(squares.sum()), float(inverses.sum()), products
