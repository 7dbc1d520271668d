"""The curvature of a loss as a value: sigma and beta add up as losses do.

If f is sigma-strongly convex and beta-smooth and g is sigma'-, beta'-, then f + g is (sigma +
sigma')-strongly convex and (beta + beta')-smooth, and k f for k >= 0 has k sigma and k beta: the
defining inequalities add and scale. Results are rounded away from claims: sigma down, beta up.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite, isinf, nextafter
from sys import float_info
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dikin.arguments import number
from dikin.curvature.spectrum import SLACK, gamma, greatest_eigenvalue, least_eigenvalue
from dikin.domains.base import Array, Domain
from dikin.errors import CurvatureError, ShapeError

LARGEST = float_info.max


@dataclass(frozen=True)
class Curvature:
    """Bounds on the curvature of a loss that hold on a whole domain.

    Pass the first to a learner's `tell` and the second to its constructor. Curvatures add up as
    losses do, and are multiplied by numbers that are not negative.

    Parameters
    ----------
    strong_convexity : float
        At most the true sigma; 0 where nothing is known.
    smoothness : float, default inf
        At least the true beta; infinite where nothing is known.

    Raises
    ------
    CurvatureError
        If the strong convexity is negative or not finite, or exceeds the smoothness.

    Examples
    --------
    >>> Curvature(0.5, 2.0) + ridge(0.25)
    Curvature(strong_convexity=0.75, smoothness=2.25)
    >>> 2 * Curvature(0.5, 2.0)
    Curvature(strong_convexity=1.0, smoothness=4.0)
    """

    strong_convexity: float
    smoothness: float = inf

    def __post_init__(self) -> None:
        if not (isfinite(self.strong_convexity) and self.strong_convexity >= 0):
            raise CurvatureError(
                f"strong_convexity must be finite and not negative, got {self.strong_convexity!r}"
            )
        if not self.smoothness >= self.strong_convexity:
            raise CurvatureError(
                f"no loss is smoother than it is strongly convex: got smoothness "
                f"{self.smoothness!r} below strong_convexity {self.strong_convexity!r}"
            )

    def __add__(self, other: Curvature) -> Curvature:
        """The curvature of a sum of two losses."""
        if not isinstance(other, Curvature):
            return NotImplemented
        low = Fraction(self.strong_convexity) + Fraction(other.strong_convexity)
        if isinf(self.smoothness) or isinf(other.smoothness):
            return Curvature(_below(low), inf)
        high = Fraction(self.smoothness) + Fraction(other.smoothness)
        return Curvature(_below(low), _above(high))

    def __mul__(self, factor: float) -> Curvature:
        """The curvature of a loss times a number."""
        k = number(factor, "a factor of a loss")
        if not (isfinite(k) and k >= 0):
            raise CurvatureError(f"a factor of a loss must be finite and not negative, got {k!r}")
        low = Fraction(k) * Fraction(self.strong_convexity)
        if isinf(self.smoothness):
            return Curvature(_below(low), inf if k else 0.0)
        return Curvature(_below(low), _above(Fraction(k) * Fraction(self.smoothness)))

    __rmul__ = __mul__


def _below(exact: Fraction) -> float:
    """The largest float that is at most a number."""
    if exact > LARGEST:
        return LARGEST
    near = float(exact)
    return near if Fraction(near) <= exact else nextafter(near, -inf)


def _above(exact: Fraction) -> float:
    """The least float that is at least a number."""
    if exact > LARGEST:
        return inf
    near = float(exact)
    return near if Fraction(near) >= exact else nextafter(near, inf)


def ridge(penalty: float) -> Curvature:
    """Curvature of the ridge penalty/2 |x - a|^2, whatever a: its Hessian is penalty I.

    Parameters
    ----------
    penalty : float
        The factor of the squared norm, with the half; not negative.

    Returns
    -------
    Curvature
        The penalty, as strong convexity and as smoothness.

    Examples
    --------
    >>> ridge(0.1)
    Curvature(strong_convexity=0.1, smoothness=0.1)
    """
    size = number(penalty, "penalty")
    return Curvature(size, size)


def quadratic(domain: Domain, matrix: ArrayLike) -> Curvature:
    """Curvature of x'Ax/2 + b.x + c on a domain: extreme eigenvalues of A in the domain's plane.

    With B the domain's orthonormal basis, the Hessian along the set is B'AB. A must be positive
    semidefinite there; that is not checked, and the strong convexity is 0 where it is not positive.

    Parameters
    ----------
    domain : Domain
        The set on which the bounds hold.
    matrix : array_like
        The matrix A, one row and one column for every entry of a flattened point. Only its
        symmetric part counts.

    Returns
    -------
    Curvature
        Bounds that are true, rounding included.

    Raises
    ------
    ShapeError
        If the matrix has the wrong shape or does not consist of numbers.
    CurvatureError
        If an entry is not finite.

    Examples
    --------
    >>> from dikin import Ball, Simplex
    >>> quadratic(Ball(2), [[2.0, 0.0], [0.0, 0.0]]).strong_convexity
    0.0
    >>> round(quadratic(Simplex(2), [[2.0, 0.0], [0.0, 0.0]]).strong_convexity, 9)
    1.0
    """
    square = square_matrix(matrix, domain.center.size)
    half = square / 2 + square.T / 2
    basis = domain.basis
    along = basis.T @ half @ basis
    # Two products of length m, and the mean of two entries; |B'||A||B| has at most sqrt(md) |A|_F.
    size = float(np.linalg.norm(half)) * float(np.sqrt(half.shape[0] * domain.dim))
    error = SLACK * gamma(2 * half.shape[0] + 6) * size
    along = along / 2 + along.T / 2
    low = least_eigenvalue(along, error)
    return Curvature(low, max(greatest_eigenvalue(along, error), low))


def square_matrix(matrix: Any, size: int) -> Array:
    """A finite square matrix of that size among the arguments."""
    try:
        array = np.array(matrix, dtype=float)
    except (TypeError, ValueError) as reason:
        raise ShapeError(f"the matrix must consist of numbers, got {matrix!r}") from reason
    if array.shape != (size, size):
        raise ShapeError(f"the matrix must have shape {(size, size)}, got {array.shape}")
    if not np.isfinite(array).all():
        raise CurvatureError("every entry of the matrix must be finite")
    return array
