"""The user's units and the paper's: the only place that scales anything.

The paper wants its domain to contain the origin with |u| <= 1, and |f| <= 1. With c the analytic
centre, R at least the largest distance from it, [lo, hi] the range of the losses:

    u = (x - c)/R,   B = (hi - lo)/2,   m = (hi + lo)/2,   f_norm = (f - m)/B,
    beta_norm = beta R^2/B,   sigma_norm = sigma R^2/B,   L_norm = L R/B,   regret = B regret_norm.

Taking m out of every loss changes no regret. c is the analytic centre because the paper starts at
argmin psi while its analysis needs the minimiser of lambda_0/2 |u|^2 + psi/eta_1: with the origin
at the analytic centre, and only then, these are the same point.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

import numpy as np

from dikin.domains.base import Array, Domain
from dikin.errors import DomainError, ParameterError, did_you_mean

LARGEST = 1e100
"""Beyond this, or its inverse, products of three such numbers would overflow."""

LossRange = tuple[float, float] | None
"""The least and the largest loss; None where they are not known."""


@dataclass(frozen=True)
class Units:
    """How a learner measures: lengths from `center` in `radius`, losses from their offset."""

    center: Array
    radius: float
    loss_range: tuple[float, float]
    loss_scale: float
    loss_offset: float

    @classmethod
    def of(cls, domain: Domain, loss_range: LossRange) -> Units:
        """The units of a domain and a range of losses."""
        for name, length in (("radius", domain.radius), ("inradius", domain.inradius)):
            if not 1 / LARGEST < length < LARGEST:
                raise DomainError(
                    f"{domain} has the {name} {length:g}; to compute with squares of lengths it "
                    f"must lie in ({1 / LARGEST:g}, {LARGEST:g}): choose another unit of length"
                )
        low, high = checked_range(loss_range)
        return cls(domain.center, domain.radius, (low, high), (high - low) / 2, high / 2 + low / 2)

    def loss(self, loss: float) -> float:
        """A loss in [-1, 1]."""
        return (loss - self.loss_offset) * (1.0 / self.loss_scale)

    def curvature(self, curvature: float) -> float:
        """A strong convexity or smoothness in the paper's units."""
        return curvature * (self.radius * self.radius / self.loss_scale)

    def slope(self, slope: float) -> float:
        """A Lipschitz constant in the paper's units."""
        return slope * self.radius / self.loss_scale

    def regret(self, regret: float) -> float:
        """A regret back in the user's units."""
        return self.loss_scale * regret


def checked_range(loss_range: Any) -> tuple[float, float]:
    """The least and the largest loss among a constructor's arguments."""
    try:
        if isinstance(loss_range, str | bytes):
            raise TypeError
        low, high = (number(end, "an end of loss_range") for end in loss_range)
    except (TypeError, ValueError) as reason:
        raise ParameterError(
            f"loss_range must be the least and the largest possible loss, got {loss_range!r}"
        ) from reason
    if not (isfinite(low) and isfinite(high) and low < high):
        raise ParameterError(f"loss_range must be finite with low < high, got ({low:g}, {high:g})")
    if not 1 / LARGEST < high - low < LARGEST:
        raise ParameterError(
            f"loss_range=({low:g}, {high:g}) is {high - low:g} wide; it must be between "
            f"{1 / LARGEST:g} and {LARGEST:g}: choose another unit of loss"
        )
    return low, high


def number(value: Any, name: str) -> float:
    """A real number among a constructor's arguments; texts and truth values are none."""
    if isinstance(value, str | bytes | bool | np.bool_):
        raise ParameterError(f"{name} must be a number, got {value!r}")
    try:
        return float(value)
    except OverflowError:
        return inf
    except (TypeError, ValueError) as reason:
        raise ParameterError(f"{name} must be a number, got {value!r}") from reason


def whole(value: Any, name: str, least: int, why: str) -> int:
    """A whole constructor argument of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ParameterError(f"{name} must be a whole number, got {value!r}")
    if value < least:
        raise ParameterError(f"{name} must be at least {least} ({why}), got {value}")
    return int(value)


def nonnegative(value: Any, name: str) -> float:
    """A finite constructor argument of at least zero."""
    given = number(value, name)
    if not (isfinite(given) and given >= 0):
        raise ParameterError(f"{name} must be finite and not negative, got {value!r}")
    return given


def strictly_positive(value: Any, name: str) -> float:
    """A finite constructor argument above zero."""
    given = number(value, name)
    if not 0 < given < inf:
        raise ParameterError(f"{name} must be positive and finite, got {value!r}")
    return given


def planned(horizon: Any, least: int, why: str) -> int:
    """The number of rounds among a constructor's arguments."""
    rounds = whole(horizon, "horizon", least, why)
    if rounds > LARGEST:
        raise ParameterError(f"horizon must be at most {LARGEST:g}, got more")
    return rounds


def one_of(value: Any, name: str, known: tuple[str, ...]) -> str:
    """A constructor argument that is a word, with the nearest known one where it is another."""
    if value not in known:
        raise ParameterError(f"no {name} are called {value!r}.{did_you_mean(str(value), known)}")
    return str(value)


def moderate(value: float, name: str, given: float) -> float:
    """A smoothness or Lipschitz constant in the paper's units, small enough to compute with."""
    if not value < LARGEST:
        raise ParameterError(
            f"{name}={given:g} is {value:g} in units of the domain's radius and the losses' range; "
            f"at most {LARGEST:g} can be computed with: is loss_range too small?"
        )
    return value
