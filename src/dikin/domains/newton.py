"""Newton's method for self-concordant functions: one Cholesky factor per step."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from math import inf, isfinite, sqrt
from typing import NamedTuple

import numpy as np

from dikin.errors import NumericalError
from dikin.vectors import Array

FRESH, REUSED = 1e-7, 1e-11
"""Decrements after which a step is the last: one with a new Hessian squares the error, one with the
Hessian of a nearby point multiplies it by their distance."""
REUSE = 0.1
"""A decrement below which the Hessian need not be computed again."""
BLOCK = 32
"""Rows of a triangular matrix that is inverted at once."""
FULL_STEP = 0.25
"""A decrement below which a full step is taken, and squares the decrement."""


def minimise(
    barrier: Callable[[Array], float],
    gradient: Callable[[Array], Array],
    hessian: Callable[[Array], Array],
    start: Array,
    tolerance: float = 0.0,
) -> tuple[Array, float]:
    """The minimiser of a self-concordant function, from any point, and the last step's decrement.

    A decrement within the tolerance ends it early.

    The decrement, the length of the Newton step in the local norm, says both how far the minimiser
    is and how far one may step: below 1 a full step stays inside, above 1/4 it is damped. So close
    to the boundary that slacks lost their digits, it returns the best point that rounding admits.
    """
    x, last, factored = start, inf, None
    errors = FloatingPointError, NumericalError, np.linalg.LinAlgError
    with np.errstate(divide="raise", invalid="raise", over="raise"), suppress(*errors):
        for _ in range(100):
            g, enough = gradient(x), FRESH if factored is None else REUSED
            factored = factored or factor(hessian(x))
            step = -factored.solve(g)
            decrement = sqrt(max(-float(g.dot(step)), 0.0))
            # Such a step makes the next one many times smaller. If it did not, rounding in the
            # gradient is all that is left.
            if last <= 1e-4 and decrement > last / 2:
                break
            x = x + (step if decrement <= FULL_STEP else step / (1.0 + decrement))
            last = decrement
            if decrement <= max(enough, tolerance):
                break
            if decrement > REUSE:
                factored = None
    return (x, last) if isfinite(barrier(x)) else (start, inf)


class Factor(NamedTuple):
    """A positive definite matrix as L L', and the transpose of L^-1."""

    lower: Array
    inverse: Array

    def solve(self, right: Array) -> Array:
        """(L L')^-1 right."""
        return np.asarray(self.inverse.dot(right.dot(self.inverse)))


def factor(matrix: Array) -> Factor:
    """The factors of a positive definite matrix.

    If rounding has destroyed the definiteness of a matrix that is definite in theory, the largest
    possible rounding error is added to the diagonal.
    """
    for added in (0.0, 1e-15, 1e-13, 1e-11, 1e-9):
        tried = matrix if added == 0.0 else matrix + np.diag(added * np.diag(matrix))
        with suppress(np.linalg.LinAlgError):
            lower: Array = np.linalg.cholesky(tried).astype(float, copy=False)
            return Factor(lower, upper_inverse(lower.T))
    raise NumericalError("a Hessian is not positive definite")


def upper_inverse(upper: Array) -> Array:
    """Return the inverse of an upper triangular matrix, by halves: NumPy ignores its shape.

    Gaussian elimination leaves such a matrix as it is, so `inv` of a block is the substitution that
    a triangular matrix needs, without a loss of digits.
    """
    n = len(upper)
    if n <= BLOCK:
        return np.asarray(np.linalg.inv(upper), dtype=float)
    half, inverse = n // 2, np.zeros((n, n))
    inverse[:half, :half] = first = upper_inverse(upper[:half, :half])
    inverse[half:, half:] = second = upper_inverse(upper[half:, half:])
    inverse[:half, half:] = -first @ (upper[:half, half:] @ second)
    return inverse
