"""Polytope {x : A x <= b} with m rows.   Barrier -sum_i ln(b_i - a_i.x), nu = m - 1.

Not m, because the set is bounded: then w'A = 0 for some w >= 0 that is not zero, and |grad psi|*^2,
the squared length of a projection of (1, ..., 1) that is orthogonal to p_i = w_i (b_i - a_i.x), is
at most m - (sum p_i)^2/sum p_i^2.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, sqrt
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from dikin import extras
from dikin.domains.base import Array, Domain, frozen
from dikin.domains.newton import minimise
from dikin.errors import DomainError, NumericalError

LP_SLACK = 1e-6
"""Relative accuracy granted to the linear programs, by which the radius is widened."""


class Polytope(Domain):
    """All x with A x <= b: a bounded set with interior. Needs SciPy, for linear programs.

    Parameters
    ----------
    A : array_like
        A matrix, one inequality per row. Redundant rows only make the bounds larger: nu is
        the number of rows less one.
    b : array_like
        The right-hand sides, one for each row.

    Attributes
    ----------
    slack : Array
        The slacks b - A center at the analytic centre.

    Raises
    ------
    DomainError
        If b does not have one entry per row.
        If a row of A is zero, a linear program fails, or the set is empty, flat or unbounded: the
        message says which rows or coordinates are the reason.

    References
    ----------
    .. [1] Y. Nesterov and A. Nemirovskii, Interior-Point Polynomial Algorithms in Convex
       Programming, SIAM, 1994: the logarithmic barrier of linear inequalities.

    Examples
    --------
    The triangle of all x, y >= 0 with x + y <= 1:

    >>> Polytope([[-1, 0], [0, -1], [1, 1]], [0, 0, 1]).center.round(6)
    array([0.333333, 0.333333])
    """

    def __init__(self, A: ArrayLike, b: ArrayLike) -> None:
        self.A, self.b = frozen(A, "A", 2), frozen(b, "b", 1)
        rows, self.dim = self.A.shape
        if self.b.shape != (rows,):
            raise DomainError(f"A has {rows} rows and b {self.b.size} entries; they must agree")
        norms = np.linalg.norm(self.A, axis=1)
        for i in np.flatnonzero(norms == 0):
            raise DomainError(f"Polytope: row {i} of A is zero and bounds nothing; leave it out")
        self.nu = rows - 1.0
        inner, low, high = _inner_point_and_box(self.A / norms[:, None], self.b / norms)
        # The ratios t_i of slacks to those of the centre add up to m. At -s v: 1 - s (t_i - 1).
        self.symmetry = 1.0 / self.nu
        self.slack = self.b.copy()  # that of the origin, until the centre is known
        center, decrement = minimise(self.barrier, self.gradient, self.hessian, inner)
        if not decrement <= 1e-4:
            raise NumericalError(f"the analytic centre was not found: decrement {decrement:.1e}")
        self.center = center
        np.subtract(self.b, self.A @ self.center, self.slack)
        # The corner of the bounding box, and the ellipsoid v'Hv <= m(m-1) that contains the set:
        # with the ratios t_i of above v'Hv = sum (1 - t_i)^2 <= m^2 - m at the analytic centre.
        box = float(np.linalg.norm(np.maximum(high - self.center, self.center - low)))
        least = float(np.linalg.eigvalsh(self.hessian(np.zeros(self.dim)))[0])
        self.radius = min(box * (1 + LP_SLACK), sqrt(rows * (rows - 1) / least))
        self.inradius = float((self.slack / norms).min())
        self.diameter = float((high - low).max()) / (1 + LP_SLACK)

    def barrier(self, v: Array) -> float:
        slack = self.slack - self.A.dot(v)
        return float(-np.log(slack).sum()) if slack.min() > 0 else inf

    def gradient(self, v: Array) -> Array:
        return np.asarray((1 / (self.slack - self.A.dot(v))).dot(self.A))

    def hessian(self, v: Array) -> Array:
        scaled = self.A * (1 / (self.slack - self.A @ v))[:, None]  # one division per row
        return np.asarray(scaled.T.dot(scaled))

    def margin(self, point: Array) -> float:
        return float((self.b - self.A @ point).min())

    def gauge(self, v: Array) -> float:
        return float((self.A @ v / self.slack).max())

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls([[-1, 0], [0, -1], [1, 1]], [0, 0, 1])
        yield cls([[1], [-1], [1]], [3, -1, 7])
        rows = np.vander([0.9, -0.6, 0.2, 1.3, -1.1], 3)
        yield cls(np.vstack([rows, -rows]), [1, 2, 3, 1, 2, 5, 1, 0.1, 2, 1])


def _linprog(cost: Array, A: Array, b: Array, bounds: Any = (None, None)) -> Any:
    """SciPy's solver of linear programs, which comes with an extra."""
    optimize = extras.require("scipy.optimize", "lab", "a polytope")
    found = optimize.linprog(cost, A_ub=A, b_ub=b, bounds=bounds)
    if found.status not in (0, 2, 3):  # solved, infeasible, unbounded
        raise DomainError(f"Polytope: a linear program failed: {found.message}")
    return found


def _inner_point_and_box(A: Array, b: Array) -> tuple[Array, Array, Array]:
    """An inner point and the bounding box, for rows of length one.

    The solvers' tolerances are absolute, so they get the set near the origin and of size one.
    """
    anchor = np.linalg.lstsq(A, b, rcond=None)[0]
    slack = b - A @ anchor
    size = float(np.abs(slack).max()) or 1.0
    inner = _deepest_point(A, slack / size)
    coordinates = range(anchor.size)
    low, high = (np.array([_least(A, slack / size, i, s) for i in coordinates]) for s in (1, -1))
    return anchor + size * inner, anchor + size * low, anchor - size * high


def _deepest_point(A: Array, b: Array) -> Array:
    """Return the centre of the largest inscribed ball, whose depth shows an empty or flat set."""
    dim = A.shape[1]
    # Depth is capped: an unbounded set still has an answer here and is named as such later.
    bounds = [(None, None)] * dim + [(None, 2.0)]
    result = _linprog(-np.eye(dim + 1)[-1], np.column_stack([A, np.ones(b.size)]), b, bounds)
    depth = float(result.x[-1])
    rows = np.flatnonzero(np.abs(result.ineqlin.marginals) > 1e-9).tolist()
    if depth < -1e-12:
        raise DomainError(
            f"Polytope: no point satisfies A x <= b; rows {rows} contradict each other"
        )
    if depth <= 1e-12:
        raise DomainError(
            f"Polytope: rows {rows} leave no interior, "
            "the set lies in a hyperplane; remove a coordinate instead"
        )
    return np.asarray(result.x[:-1])


def _least(A: Array, b: Array, i: int, sign: int) -> float:
    """Return the least value of a coordinate, or of its opposite."""
    result = _linprog(sign * np.eye(A.shape[1])[i], A, b)
    if result.status != 0:  # HiGHS may call an unbounded problem "infeasible"
        way = "fall" if sign > 0 else "grow"
        raise DomainError(
            f"Polytope: coordinate {i} can {way} without limit; add a row that bounds it"
        )
    return float(result.fun)
