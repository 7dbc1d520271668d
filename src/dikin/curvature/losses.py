"""Scalar losses g(z, y): a prediction z = c.x meets a target y; and bounds on g'' (over z).

`bends(low, high, y)` bounds g'' from below and above for every z in [low, high]: the lower bound is
never too large and the upper never too small, rounding included.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from dikin.domains.base import Array
from dikin.errors import CurvatureError, ParameterError
from dikin.units import strictly_positive

ULPS = 16 * 2.0**-53
"""More than the rounding of the few operations in a line of this file."""


class Bends(Protocol):
    """What is known about the second derivative of scalar losses."""

    def bends(self, low: Array, high: Array, targets: Array | None) -> tuple[Array, Array]:
        """Bounds on g'' over [low, high], one for each entry."""
        ...


def known_bends(loss: Any) -> Bends:
    """A loss among the arguments; None is the squared one."""
    if loss is None:
        return Squared()
    if isinstance(loss, type) or not callable(getattr(loss, "bends", None)):
        raise ParameterError(
            f"loss must be such as Squared(), Logistic() or Between(mu, beta), got {loss!r}"
        )
    return loss  # type: ignore[no-any-return]


class ScalarLoss(Bends, Protocol):
    """A loss with its derivatives, entry by entry."""

    def value(self, z: Array, y: Array) -> Array:
        """g(z, y)."""
        ...

    def slope(self, z: Array, y: Array) -> Array:
        """g'(z, y)."""
        ...

    def bend(self, z: Array, y: Array) -> Array:
        """g''(z, y)."""
        ...


@dataclass(frozen=True)
class Squared:
    """g(z, y) = (z - y)^2/2, with the half: g'' = 1 everywhere.

    >>> Squared().value(np.array([3.0]), np.array([1.0]))
    array([2.])
    """

    def value(self, z: Array, y: Array) -> Array:
        return (z - y) ** 2 / 2

    def slope(self, z: Array, y: Array) -> Array:
        return z - y

    def bend(self, z: Array, y: Array) -> Array:
        return np.ones_like(z)

    def bends(self, low: Array, high: Array, targets: Array | None) -> tuple[Array, Array]:
        return np.ones_like(low), np.ones_like(low)


@dataclass(frozen=True)
class Logistic:
    """g(z, y) = ln(1 + exp(-y z)) for y = -1 or 1.

    With s(z) = 1/(1 + e^-z), g'' = s(z) s(-z) = e^-|z|/(1 + e^-|z|)^2 for either y: at most 1/4, at
    z = 0, and falling with |z|. Over an interval it is least at the end farther from 0.

    >>> Logistic().bends(np.array([-1.0]), np.array([3.0]), None)
    (array([0.0451766...]), array([0.25]))
    """

    def value(self, z: Array, y: Array) -> Array:
        return np.logaddexp(0.0, -y * z)

    def slope(self, z: Array, y: Array) -> Array:
        return -y * np.exp(-np.logaddexp(0.0, y * z))

    def bend(self, z: Array, y: Array) -> Array:
        fall = np.exp(-np.abs(z))
        return np.asarray(fall / (1 + fall) ** 2)

    def bends(self, low: Array, high: Array, targets: Array | None) -> tuple[Array, Array]:
        far = np.maximum(np.abs(low), np.abs(high))
        near = np.maximum(np.maximum(low, -high), 0.0)
        least = self.bend(far, far) * (1 - ULPS)
        most = np.minimum(self.bend(near, near) * (1 + ULPS), 0.25)
        # Where e^-|z| underflows, nothing positive is certain below, and little above.
        return np.where(least > 1e-300, least, 0.0), np.maximum(most, 1e-300)


@dataclass(frozen=True)
class Huber:
    """g(z, y) = r^2/2 for |r| <= threshold, else threshold (|r| - threshold/2), with r = z - y.

    g'' is 1 within the threshold and 0 beyond it. So a row counts only if its residual surely stays
    within: max |r| over the interval <= threshold. This needs the targets.

    >>> Huber(2.0).bends(np.array([0.0, 0.0]), np.array([1.0, 9.0]), np.array([0.5, 0.5]))
    (array([1., 0.]), array([1., 1.]))
    """

    threshold: float

    def __post_init__(self) -> None:
        strictly_positive(self.threshold, "threshold")

    def value(self, z: Array, y: Array) -> Array:
        r = np.abs(z - y)
        inner = np.minimum(r, self.threshold)
        return inner * (r - inner / 2)

    def slope(self, z: Array, y: Array) -> Array:
        return np.clip(z - y, -self.threshold, self.threshold)

    def bend(self, z: Array, y: Array) -> Array:
        return np.where(np.abs(z - y) <= self.threshold, 1.0, 0.0)

    def bends(self, low: Array, high: Array, targets: Array | None) -> tuple[Array, Array]:
        if targets is None:
            raise ParameterError(
                "the curvature of Huber's loss depends on the residuals: give targets"
            )
        far = np.maximum(np.abs(low - targets), np.abs(high - targets)) * (1 + ULPS)
        near = np.maximum(np.maximum(low - targets, targets - high), 0.0) * (1 - ULPS)
        return (far <= self.threshold).astype(float), (near <= self.threshold).astype(float)


@dataclass(frozen=True)
class Between:
    """Losses of one's own: mu <= g_i'' <= beta, each a number or one number for every row.

    `beta` may be left out; the smoothness is then infinite, which says nothing.

    >>> Between(mu=0.5, beta=2.0).bends(np.zeros(2), np.ones(2), None)
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

    def bends(self, low: Array, high: Array, targets: Array | None) -> tuple[Array, Array]:
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
