"""Weighted Gram matrices of rows, one after the other, with a bound on their rounding errors."""

from __future__ import annotations

from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dikin.curvature import spectrum
from dikin.curvature.spectrum import TINY, gamma
from dikin.domains.base import Array
from dikin.errors import ParameterError, ShapeError

BLOCK = 4096
"""Rows that are worked on at a time: little memory, and sums of this depth."""
SLACK = 1.01
"""Covers the rounding of the error bound itself, for up to 10^13 rows."""


def eigenvalues(contexts: ArrayLike, weights: ArrayLike = 1.0) -> tuple[float, float]:
    """Bounds on the eigenvalues of sum_i w_i c_i c_i', in the whole space of the contexts.

    A holder of private contexts can reveal the lower one: a sum of squared losses (c_i.x - y_i)^2/2
    is at least so strongly convex on every domain.

    Parameters
    ----------
    contexts : array_like
        The rows c_i, of equal length; a single row may be a vector.
    weights : array_like, default 1.0
        The weights w_i: one number for all rows, or one for each; not negative.

    Returns
    -------
    least : float
        At most the least eigenvalue, rounding included; 0 where nothing positive is certain.
    greatest : float
        At least the greatest eigenvalue, rounding included.

    Raises
    ------
    ShapeError
        If contexts are not rows of numbers, or weights do not fit them.
    ParameterError
        If a number is not finite, or a weight negative.

    Examples
    --------
    >>> round(eigenvalues([[1.0, 0.2], [0.1, 0.9], [0.5, -0.4]])[0], 6)
    0.980971
    """
    rows = context_rows(contexts, None)
    gram = Gram(rows.shape[1])
    gram.add(rows, one_per_row(weights, len(rows), "weights"), np.sum(rows**2, axis=1))
    return gram.least(), gram.greatest()


class Gram:
    """sum_i w_i r_i r_i', where r_i is a context c_i that was projected onto a plane.

    `row_error` bounds |r_i - its exact value| relative to |c_i|.
    """

    def __init__(self, dim: int, row_error: float = 0.0) -> None:
        self._sum = np.zeros((dim, dim))
        self._row_error = row_error
        self._size = 0.0  # sum of w_i |c_i|^2
        self._depth = 0  # additions in a row behind an entry
        self._rows = 0

    def add(self, rows: Array, weights: Array, squares: Array) -> None:
        """Add rows with their weights; `squares` are |c_i|^2."""
        with np.errstate(over="ignore", invalid="ignore"):  # the spectrum sees what overflowed
            for first in range(0, len(rows), BLOCK):
                some = slice(first, first + BLOCK)
                scaled = np.sqrt(weights[some])[:, None] * rows[some]
                self._sum += scaled.T @ scaled
                self._depth = max(self._depth, len(scaled)) + 1
            self._size += float(weights @ squares)
        self._rows += len(rows)

    def least(self) -> float:
        """At most the least eigenvalue of the exact sum."""
        return spectrum.least_eigenvalue(self._sum, self._error())

    def greatest(self) -> float:
        """At least the greatest eigenvalue of the exact sum."""
        return spectrum.greatest_eigenvalue(self._sum, self._error())

    def _error(self) -> float:
        """A bound on the 2-norm of what rounding did to the sum.

        Entry by entry, a sum of depth n of products of two numbers with two roundings each is off
        by gamma_{n+5} sum w|r||r|', whose norm is at most gamma_{n+5} sum w|r|^2; a row that was
        moved by t|c| moves its r r' by at most (2t + t^2)|c|^2. Underflow adds little.
        """
        underflow = self._rows * len(self._sum) * TINY
        relative = gamma(self._depth + 6) + 3 * self._row_error
        error = SLACK * (relative * self._size + 8 * underflow)
        return error if isfinite(error) else inf


def context_rows(contexts: Any, entries: int | None) -> Array:
    """Rows of finite numbers among the arguments; a single row may be a vector."""
    try:
        rows = np.atleast_2d(np.asarray(contexts, dtype=float))
    except (TypeError, ValueError) as reason:
        raise ShapeError(f"contexts must be rows of numbers, got {contexts!r}") from reason
    if rows.ndim != 2 or rows.size == 0:
        raise ShapeError(f"contexts must be rows of numbers, got shape {rows.shape}")
    if entries is not None and rows.shape[1] != entries:
        raise ShapeError(
            f"a context must have {entries} numbers, as many as a point of the domain, "
            f"got rows of {rows.shape[1]}"
        )
    if not np.isfinite(rows).all():
        bad = int(np.argwhere(~np.isfinite(rows).all(axis=1))[0, 0])
        raise ParameterError(f"every context must be finite, row {bad} is not")
    return rows


def one_per_row(values: Any, count: int, name: str) -> Array:
    """One number for each row, finite and not negative; a single number stands for all."""
    try:
        row_values = np.broadcast_to(np.asarray(values, dtype=float), (count,))
    except (TypeError, ValueError) as reason:
        raise ShapeError(
            f"{name} must be one number, or one for each of the {count} rows, got {values!r}"
        ) from reason
    if not np.isfinite(row_values).all():
        raise ParameterError(f"{name} must be finite")
    if not (row_values >= 0).all():
        raise ParameterError(f"{name} must not be negative, got {float(row_values.min()):g}")
    return row_values
