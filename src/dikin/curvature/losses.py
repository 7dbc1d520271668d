"""Scalar losses g(z, y): a prediction z = c.x meets a target y; and bounds on g'' (over z).

`second_derivative_bounds(low, high, y)` bounds g'' from below and above for every z in [low, high]:
the lower bound is never too large and the upper never too small, rounding included.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from dikin.arguments import positive
from dikin.domains.base import Array
from dikin.errors import CurvatureError, ParameterError

ULPS = 16 * 2.0**-53
"""More than the rounding of the few operations in a line of this file."""


class BoundedLoss(Protocol):
    """A scalar loss of which bounds on the second derivative are known."""

    def second_derivative_bounds(
        self, low: Array, high: Array, targets: Array | None
    ) -> tuple[Array, Array]:
        """Bounds on g'' over intervals of predictions.

        Parameters
        ----------
        low, high : numpy.ndarray
            The ends of the intervals, one for each row.
        targets : numpy.ndarray or None
            The target of each row, where targets are known.

        Returns
        -------
        least, most : numpy.ndarray
            At most and at least g'' on each interval, rounding included.
        """
        ...


def checked_loss(loss: Any) -> BoundedLoss:
    """A loss among the arguments; None is the squared one."""
    if loss is None:
        return Squared()
    if isinstance(loss, type) or not callable(getattr(loss, "second_derivative_bounds", None)):
        raise ParameterError(
            f"loss must be such as Squared(), Logistic() or Between(mu, beta), got {loss!r}"
        )
    return loss  # type: ignore[no-any-return]


class ScalarLoss(BoundedLoss, Protocol):
    """A loss with its derivatives, entry by entry."""

    def value(self, z: Array, y: Array) -> Array:
        """The loss g(z, y).

        Parameters
        ----------
        z, y : numpy.ndarray
            Predictions and targets, of the same shape.

        Returns
        -------
        numpy.ndarray
            One number for each prediction.
        """
        ...

    def derivative(self, z: Array, y: Array) -> Array:
        """The derivative g'(z, y) by the prediction.

        Parameters
        ----------
        z, y
            As for `value`.

        Returns
        -------
        numpy.ndarray
            The slope g' at each prediction.
        """
        ...

    def second_derivative(self, z: Array, y: Array) -> Array:
        """The second derivative g''(z, y) by the prediction.

        Parameters
        ----------
        z, y
            As for `value`.

        Returns
        -------
        numpy.ndarray
            The curvature g'' at each prediction.
        """
        ...


@dataclass(frozen=True)
class Squared(ScalarLoss):
    """The squared loss (z - y)^2/2, with the half: g'' = 1 everywhere.

    Examples
    --------
    >>> Squared().value(np.array([3.0]), np.array([1.0]))
    array([2.])
    """

    def value(self, z: Array, y: Array) -> Array:
        return (z - y) ** 2 / 2

    def derivative(self, z: Array, y: Array) -> Array:
        return z - y

    def second_derivative(self, z: Array, y: Array) -> Array:
        return np.ones_like(z)

    def second_derivative_bounds(
        self, low: Array, high: Array, targets: Array | None
    ) -> tuple[Array, Array]:
        return np.ones_like(low), np.ones_like(low)


@dataclass(frozen=True)
class Logistic(ScalarLoss):
    """The logistic loss ln(1 + exp(-y z)) for y = -1 or 1.

    With s(z) = 1/(1 + e^-z), g'' = s(z) s(-z) = e^-|z|/(1 + e^-|z|)^2 for either y: at most 1/4, at
    z = 0, and falling with |z|. Over an interval it is least at the end farther from 0.

    Examples
    --------
    >>> Logistic().second_derivative_bounds(np.array([-1.0]), np.array([3.0]), None)
    (array([0.0451766...]), array([0.25]))
    """

    def value(self, z: Array, y: Array) -> Array:
        return np.logaddexp(0.0, -y * z)

    def derivative(self, z: Array, y: Array) -> Array:
        return -y * np.exp(-np.logaddexp(0.0, y * z))

    def second_derivative(self, z: Array, y: Array) -> Array:
        fall = np.exp(-np.abs(z))
        return np.asarray(fall / (1 + fall) ** 2)

    def second_derivative_bounds(
        self, low: Array, high: Array, targets: Array | None
    ) -> tuple[Array, Array]:
        far = np.maximum(np.abs(low), np.abs(high))
        near = np.maximum(np.maximum(low, -high), 0.0)
        least = self.second_derivative(far, far) * (1 - ULPS)
        most = np.minimum(self.second_derivative(near, near) * (1 + ULPS), 0.25)
        # Where e^-|z| underflows, nothing positive is certain below, and little above.
        return np.where(least > 1e-300, least, 0.0), np.maximum(most, 1e-300)


@dataclass(frozen=True)
class Huber(ScalarLoss):
    """Huber's loss: r^2/2 for |r| <= threshold, else threshold (|r| - threshold/2), r = z - y.

    g'' is 1 within the threshold and 0 beyond it. So a row counts only if its residual surely stays
    within: max |r| over the interval <= threshold. This needs the targets.

    Parameters
    ----------
    threshold : float
        The residual up to which the loss is quadratic; positive.

    Raises
    ------
    ParameterError
        If the threshold is not positive, or later, if targets are missing.

    Examples
    --------
    >>> low, high, targets = np.array([0.0, 0.0]), np.array([1.0, 9.0]), np.array([0.5, 0.5])
    >>> Huber(2.0).second_derivative_bounds(low, high, targets)
    (array([1., 0.]), array([1., 1.]))
    """

    threshold: float

    def __post_init__(self) -> None:
        positive(self.threshold, "threshold")

    def value(self, z: Array, y: Array) -> Array:
        r = np.abs(z - y)
        inner = np.minimum(r, self.threshold)
        return inner * (r - inner / 2)

    def derivative(self, z: Array, y: Array) -> Array:
        return np.clip(z - y, -self.threshold, self.threshold)

    def second_derivative(self, z: Array, y: Array) -> Array:
        return np.where(np.abs(z - y) <= self.threshold, 1.0, 0.0)

    def second_derivative_bounds(
        self, low: Array, high: Array, targets: Array | None
    ) -> tuple[Array, Array]:
        if targets is None:
            raise ParameterError(
                "the curvature of Huber's loss depends on the residuals: pass targets"
            )
        far = np.maximum(np.abs(low - targets), np.abs(high - targets)) * (1 + ULPS)
        near = np.maximum(np.maximum(low - targets, targets - high), 0.0) * (1 - ULPS)
        return (far <= self.threshold).astype(float), (near <= self.threshold).astype(float)


@dataclass(frozen=True)
class Between(BoundedLoss):
    """Losses of your own, of which only mu <= g'' <= beta is known.

    Parameters
    ----------
    mu : array_like
        At most the second derivative; one number, or one for every row. Finite, not negative.
    beta : array_like, default inf
        At least the second derivative; one number, or one for every row. Without it the smoothness
        is infinite.

    Raises
    ------
    CurvatureError
        If `mu` is negative or not finite, or above `beta`; or later, if their number is not
        that of the rows.

    Examples
    --------
    >>> Between(mu=0.5, beta=2.0).second_derivative_bounds(np.zeros(2), np.ones(2), None)
    (array([0.5, 0.5]), array([2., 2.]))
    """

    mu: ArrayLike
    beta: ArrayLike = inf

    def __post_init__(self) -> None:
        low, high = _numbers(self.mu, "mu"), _numbers(self.beta, "beta")
        if not ((low >= 0) & (low < inf)).all():
            raise CurvatureError(f"mu must be finite and not negative, got {self.mu!r}")
        if not (high >= low).all():
            raise CurvatureError(f"beta must be at least mu, got {self.beta!r} and {self.mu!r}")

    def second_derivative_bounds(
        self, low: Array, high: Array, targets: Array | None
    ) -> tuple[Array, Array]:
        try:
            ends = tuple(np.broadcast_to(_numbers(end, ""), low.shape) for end in self._ends)
        except ValueError as reason:
            raise CurvatureError(
                f"mu and beta must be one number, or one for each of the {low.size} rows"
            ) from reason
        return ends[0], ends[1]

    @property
    def _ends(self) -> tuple[ArrayLike, ArrayLike]:
        return self.mu, self.beta


def _numbers(value: Any, name: str) -> Array:
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError) as reason:
        raise CurvatureError(f"{name} must be a number or numbers, got {value!r}") from reason
