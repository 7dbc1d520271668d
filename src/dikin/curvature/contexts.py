"""Curvature of f(x) = sum_i w_i g_i(c_i.x) from contexts c_i (docs/mathematics.md, section 11).

Every bound is rigorous, rounding included. Understating curvature is safe, overstating it is not.
"""

from __future__ import annotations

from math import inf, isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dikin.curvature import spectrum
from dikin.curvature.spectrum import TINY, gamma
from dikin.domains.base import Array, Domain
from dikin.errors import DomainError, ParameterError

BLOCK = 4096
"""Rows that are worked on at a time: little memory, and sums of this depth."""
SLACK = 1.01
"""Covers the rounding of the error bound itself, for up to 10^13 rows."""


class Curvature(NamedTuple):
    """Bounds on the curvature of a loss that hold on a whole domain.

    Tell the first to a learner with the loss, and declare the second as its smoothness. Those of a
    sum of losses are at least and at most the sums of both.

    Parameters
    ----------
    strong_convexity : float
        At most the true sigma, or 0 where it is not known.
    smoothness : float
        At least the true beta, or infinite where it is not known.
    """

    strong_convexity: float
    smoothness: float


def of_contexts(
    domain: Domain,
    contexts: ArrayLike,
    *,
    weights: ArrayLike = 1.0,
    second_derivative: tuple[ArrayLike, ArrayLike] = (1.0, 1.0),
) -> Curvature:
    """Curvature on a domain of the sum of weights_i g_i(contexts_i.x).

    Parameters
    ----------
    domain : Domain
        The set on which the bounds hold.
    contexts : array_like
        A row for each loss, as long as a flattened point of the domain.
    weights : array_like, default 1.0
        A number, or a number for each row, not negative: 1/n for the mean of n losses.
    second_derivative : tuple of array_like, default (1.0, 1.0)
        Bounds mu <= g_i'' <= beta at every prediction contexts_i.x of the domain, each a number
        or an array with a number for each row. The default is that of the squared loss
        g(z) = (z - y)^2/2, whatever y. beta may be infinite.

    Returns
    -------
    Curvature
        Bounds that are true, rounding included. The strong convexity is exactly 0 where there are
        fewer rows than dimensions.

    Raises
    ------
    ParameterError
        If `domain` is not a domain, a number is not finite or a weight negative.
        If mu is negative, or above beta.

    Examples
    --------
    >>> from dikin import Ball
    >>> rows = [[1.0, 0.2], [0.1, 0.9], [0.5, -0.4]]
    >>> round(of_contexts(Ball(2), rows).strong_convexity, 6)
    0.980971
    >>> of_contexts(Ball(2), rows[:1]).strong_convexity
    0.0
    """
    if not isinstance(domain, Domain):
        raise ParameterError(f"domain must be a dikin domain such as Box, got {domain!r}")
    rows = context_rows(contexts, domain.center.size)
    scale = one_per_row(weights, len(rows), "weights")
    try:
        mu, beta = (np.broadcast_to(np.asarray(b, float), len(rows)) for b in second_derivative)
        known = bool(((mu >= 0) & (mu < np.inf) & (beta >= mu)).all())
    except (TypeError, ValueError):
        known = False
    if not known:
        raise ParameterError(
            f"second_derivative must be (mu, beta) with mu finite and 0 <= mu <= beta, each one "
            f"number or one for each of the {len(rows)} rows, got {second_derivative!r}"
        )
    # What overflows makes a matrix without bounds, a valid result.
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.sum(rows**2, axis=1)
        ends = scale * mu, scale * beta
    moved = row_error(domain)
    chart = rows @ domain.basis if moved else rows
    low, high = (Gram(domain.dim, moved) for _ in range(2))
    for gram, end in zip((low, high), ends, strict=True):
        gram.add(chart, end, squares)
    least = low.least() if len(rows) >= domain.dim else 0.0
    return Curvature(least, max(high.greatest(), least))


def row_error(domain: Domain) -> float:
    """Bound |computed B'c - B'c| / |c|, for d sums of m products: 0 if B is the identity."""
    basis: Array = domain.basis
    if basis.shape[0] == basis.shape[1] and (basis == np.eye(len(basis))).all():
        return 0.0
    return sqrt(domain.dim) * gamma(domain.center.size + 3)


class Gram:
    """sum_i w_i r_i r_i' for contexts c_i projected to r_i, each by an error `row_error` |c_i|."""

    def __init__(self, dim: int, row_error: float = 0.0) -> None:
        self._sum = np.zeros((dim, dim))
        self._row_error = row_error
        self._size = 0.0  # sum of w_i |c_i|^2
        self._depth = 0  # additions in a row behind an entry
        self._rows = 0

    def add(self, rows: Array, weights: Array, squares: Array) -> None:
        """Add rows with their weights. `squares` are |c_i|^2."""
        with np.errstate(over="ignore", invalid="ignore"):  # the spectrum sees what overflowed
            for first in range(0, len(rows), BLOCK):
                some = slice(first, first + BLOCK)
                scaled = np.sqrt(weights[some])[:, None] * rows[some]
                self._sum += scaled.T @ scaled
                self._depth = max(self._depth, len(scaled)) + 1
            self._size += float(weights @ squares)
        self._rows += len(rows)

    def least(self) -> float:
        """Return a lower bound on the least eigenvalue of the exact sum."""
        return spectrum.least_eigenvalue(self._sum, self._error())

    def greatest(self) -> float:
        """Return an upper bound on the greatest eigenvalue of the exact sum."""
        return spectrum.greatest_eigenvalue(self._sum, self._error())

    def _error(self) -> float:
        """Bound the error's 2-norm: (gamma_{n+6} + 3 sqrt(d) gamma_{m+3}) sum w|c|^2.

        An entry, a sum of depth n of products with two roundings each, is off by gamma_{n+5} times
        sum w|r||r|', and a row that was moved by t|c| moves its r r' by at most (2t + t^2)|c|^2.
        """
        underflow = self._rows * len(self._sum) * TINY
        relative = gamma(self._depth + 6) + 3 * self._row_error
        error = SLACK * (relative * self._size + 8 * underflow)
        return error if isfinite(error) else inf


def context_rows(contexts: Any, entries: int) -> Array:
    """Rows of finite numbers among the arguments. A single row may be a vector."""
    try:
        rows = np.atleast_2d(np.asarray(contexts, dtype=float))
    except (TypeError, ValueError) as reason:
        raise DomainError(f"contexts must be rows of numbers, got {contexts!r}") from reason
    if rows.ndim != 2 or rows.size == 0:
        raise DomainError(f"contexts must be rows of numbers, got shape {rows.shape}")
    if rows.shape[1] != entries:
        raise DomainError(
            f"a context must have {entries} numbers, as many as a point of the domain, "
            f"got rows of {rows.shape[1]}"
        )
    if not np.isfinite(rows).all():
        bad = int(np.argwhere(~np.isfinite(rows).all(axis=1))[0, 0])
        raise ParameterError(f"every context must be finite, row {bad} is not")
    return rows


def one_per_row(values: Any, count: int, name: str) -> Array:
    """Return a number for each row, finite and not negative. A single number is used for all."""
    try:
        row_values = np.broadcast_to(np.asarray(values, dtype=float), (count,))
    except (TypeError, ValueError) as reason:
        raise DomainError(
            f"{name} must be one number, or one for each of the {count} rows, got {values!r}"
        ) from reason
    if not np.isfinite(row_values).all():
        raise ParameterError(f"{name} must be finite")
    if not (row_values >= 0).all():
        raise ParameterError(f"{name} must not be negative, got {float(row_values.min()):g}")
    return row_values
