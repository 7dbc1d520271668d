"""Newton's method for self-concordant functions: one Cholesky factor per step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
"""A decrement below which a full step is taken, and squares what is left."""


class Minimum(NamedTuple):
    """Where Newton's method ended, and the decrement of its last step."""

    x: Array
    decrement: float


def minimise(
    barrier: Callable[[Array], float],
    gradient: Callable[[Array], Array],
    hessian: Callable[[Array], Array],
    start: Array,
    tolerance: float = 0.0,
) -> Minimum:
    """The minimiser of a self-concordant function, from any point of its domain.

    A decrement within the tolerance ends it early.

    The decrement, the length of the Newton step in the local norm, says both how far the minimiser
    is and how far one may step: below 1 a full step stays inside, above 1/4 it is damped. So close
    to the boundary that slacks have no digits left, it returns the best point that rounding admits.
    """
    best = Minimum(start, inf)
    with np.errstate(divide="raise", invalid="raise", over="raise"):
        try:
            for minimum in _steps(gradient, hessian, start):
                best = minimum
                if minimum.decrement <= tolerance:
                    break
        except (FloatingPointError, NumericalError, np.linalg.LinAlgError):
            pass  # on the boundary to within rounding: nothing better is known
    return best if isfinite(barrier(best.x)) else Minimum(start, inf)


def _steps(
    gradient: Callable[[Array], Array], hessian: Callable[[Array], Array], x: Array
) -> Iterator[Minimum]:
    """Newton steps; one with a new Hessian while far away, then with the last one."""
    last, factored = inf, None
    for _ in range(100):
        g, fresh = gradient(x), factored is None
        if factored is None:
            factored = factor(hessian(x))
        step = -factored.solve(g)
        decrement = sqrt(max(-float(g.dot(step)), 0.0))
        # Such a step makes the next one many times smaller; if it did not, rounding in the gradient
        # is all that is left.
        if last <= 1e-4 and decrement > last / 2:
            return
        x = x + (step if decrement <= FULL_STEP else step / (1.0 + decrement))
        yield Minimum(x, decrement)
        if decrement <= (FRESH if fresh else REUSED):
            return
        last = decrement
        if decrement > REUSE:
            factored = None


def find_center(
    barrier: Callable[[Array], float],
    gradient: Callable[[Array], Array],
    hessian: Callable[[Array], Array],
    start: Array,
) -> Array:
    """The analytic centre, which must be found to all digits."""
    center, decrement = minimise(barrier, gradient, hessian, start)
    if not decrement <= 1e-4:
        raise NumericalError(f"the analytic centre was not found: decrement {decrement:.1e}")
    center.setflags(write=False)
    return center


class Factor(NamedTuple):
    """A positive definite matrix as L L'."""

    lower: Array
    """L."""
    inverse: Array
    """The transpose of L^-1."""

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
        try:
            lower: Array = np.linalg.cholesky(tried).astype(float, copy=False)
        except np.linalg.LinAlgError:
            continue
        return Factor(lower, upper_inverse(lower.T))
    raise NumericalError("a Hessian is not positive definite")


def upper_inverse(upper: Array) -> Array:
    """The inverse of an upper triangular matrix, by halves: NumPy has none that knows its shape.

    Gaussian elimination leaves such a matrix as it is, so what `inv` does to a block is the
    substitution that a triangular matrix needs, without a loss of digits.
    """
    n = len(upper)
    if n <= BLOCK:
        return np.asarray(np.linalg.inv(upper), dtype=float)
    half, inverse = n // 2, np.zeros((n, n))
    inverse[:half, :half] = first = upper_inverse(upper[:half, :half])
    inverse[half:, half:] = second = upper_inverse(upper[half:, half:])
    inverse[:half, half:] = -first @ (upper[:half, half:] @ second)
    return inverse


class Extent(NamedTuple):
    """Bounds on a set's size."""

    radius: float
    """Suffices from the centre."""
    inradius: float
    """Fits around the centre."""
    diameter: float
    """Is reached."""


def dikin_extent(hessian: Array, nu: float) -> Extent:
    """What the Hessian at the analytic centre says about the size of the set.

    The set lies inside the local ball of radius nu + 2 sqrt(nu) and contains the one of radius 1
    (Nesterov, Introductory Lectures on Convex Optimization, Theorem 4.2.6).
    """
    values = np.linalg.eigvalsh(hessian)
    least, largest = sqrt(float(values[0])), sqrt(float(values[-1]))
    return Extent((nu + 2.0 * sqrt(nu)) / least, 1.0 / largest, 2.0 / least)
