"""Extreme eigenvalues of a symmetric matrix, as bounds that hold in spite of rounding.

LAPACK's eigenvalues are good to a modest multiple of the unit roundoff u = 2^-53, which is not
documented. So they are only guesses here, and Cholesky's factorisation decides. If it completes
on A in floating point, its factor satisfies R'R = A + D with |D| <= gamma_{d+1} |R'||R| entry by
entry (Higham, Accuracy and Stability, Theorem 10.3), with gamma_k = ku/(1 - ku), in any order of
the sums. The 2-norm of |R'||R| is at most |R|_F^2 = tr(A + D), and on the diagonal D is at most
gamma_{d+1} times the entry of R'R, hence

    lambda_min(A) >= -|D| >= -gamma_{d+1}/(1 - gamma_{d+1}) tr A >= -gamma_{d+2} tr A.

Applied to G - sI or sI - G, with the rounding of the diagonal (one u of an entry) on top, a
completed factorisation proves s.
"""

from __future__ import annotations

from math import inf

import numpy as np

from dikin.domains.base import Array

UNIT = 2.0**-53
"""The unit roundoff u."""
TINY = 2.0**-1022
"""A bound on the loss of an operation by underflow."""
SLACK = 1 + 1e-9
"""Covers the rounding of the error bounds themselves."""


def gamma(count: int) -> float:
    """Relative error of `count` roundings in a row, at most: ku/(1 - ku)."""
    return count * UNIT / (1 - count * UNIT) if count * UNIT < 0.5 else inf


def least_eigenvalue(matrix: Array, error: float = 0.0) -> float:
    """A proven bound below the eigenvalues of matrices within `error`, or exactly 0."""
    if not (np.isfinite(matrix).all() and error < inf):
        return 0.0
    bound = proven_below(matrix, float(np.linalg.eigvalsh(matrix)[0])) - error
    return max(0.0, bound * (1 - 3 * UNIT))  # for the rounding of the difference, and this one


def greatest_eigenvalue(matrix: Array, error: float = 0.0) -> float:
    """A proven bound above the eigenvalues of matrices within `error` of this one."""
    if not (np.isfinite(matrix).all() and error < inf):
        return inf
    bound = proven_above(matrix, float(np.linalg.eigvalsh(matrix)[-1])) + error
    return max(0.0, bound) * (1 + 3 * UNIT)


def proven_below(matrix: Array, guess: float) -> float:
    """A number below every eigenvalue, next to a guess of the smallest, or 0."""
    size = len(matrix)
    total = float(np.trace(matrix))
    rounding = SLACK * (gamma(size + 3) * total + size * TINY)
    slack = 2 * rounding
    while guess - slack > 0:
        if is_positive_definite(matrix - (guess - slack + rounding) * np.eye(size)):
            return guess - slack
        slack *= 4
    return 0.0


def proven_above(matrix: Array, guess: float) -> float:
    """A number above every eigenvalue, next to a guess of the greatest."""
    size = len(matrix)
    norm = SLACK * size * float(np.abs(matrix).max())
    slack = 2 * gamma(size + 4) * size * norm
    while guess + slack < norm:
        bound = guess + slack
        # The trace of sI - G is at most d s, its diagonal at most s.
        rounding = SLACK * (gamma(size + 4) * size * bound + size * TINY)
        if is_positive_definite((bound - rounding) * np.eye(size) - matrix):
            return bound
        slack *= 4
    return norm


def is_positive_definite(matrix: Array) -> bool:
    """Return whether Cholesky's factorisation runs to completion."""
    try:
        factor = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return bool(np.isfinite(factor).all())
