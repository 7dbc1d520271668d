"""The user's units and the paper's. The compiled loop has the same formulas in `engine/loop`.

The paper requires that its domain contain the origin with |u| <= 1, and that |f| <= 1. With c the
analytic centre, R at least the largest distance from it, [lo, hi] the range of the losses:

    u = (x - c)/R,   B = (hi - lo)/2,   m = (hi + lo)/2,   f_norm = (f - m)/B,
    beta_norm = beta R^2/B,   sigma_norm = sigma R^2/B,   L_norm = L R/B,   regret = B regret_norm.

Taking m out of every loss changes no regret. c is the analytic centre because the paper starts at
argmin psi while its analysis needs the minimiser of lambda_0/2 |u|^2 + psi/eta_1: with the origin
at the analytic centre, and only then, these are the same point.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

from dikin.arguments import LARGEST, checked_range
from dikin.domains.base import Array, Domain, Geometry
from dikin.errors import DomainError, ParameterError

LossRange = tuple[float, float] | None
"""The least and the largest loss, or None if they are not known."""


@dataclass(frozen=True)
class Units:
    """A learner's units: lengths from `center` in units of `radius`, losses from their offset."""

    center: Array
    radius: float
    loss_range: tuple[float, float]
    loss_scale: float
    loss_offset: float

    @classmethod
    def of(cls, domain: Domain, loss_range: LossRange) -> Units:
        """Return the units of a domain and a range of losses."""
        for name, length in (("radius", domain.radius), ("inradius", domain.inradius)):
            if not 1 / LARGEST < length < LARGEST:
                raise DomainError(
                    f"{domain} has the {name} {length:g}; its square can be computed only if it "
                    f"lies in ({1 / LARGEST:g}, {LARGEST:g}): choose another unit of length"
                )
        low, high = checked_range(loss_range)
        return cls(domain.center, domain.radius, (low, high), (high - low) / 2, high / 2 + low / 2)

    def loss(self, loss: float) -> float:
        """Return a loss in [-1, 1]."""
        return (loss - self.loss_offset) * (1.0 / self.loss_scale)

    def curvature(self, curvature: float) -> float:
        """Return a strong convexity or smoothness in the paper's units."""
        return curvature * (self.radius * self.radius / self.loss_scale)

    def slope(self, slope: float) -> float:
        """Return a Lipschitz constant in the paper's units."""
        return slope * self.radius / self.loss_scale

    def regret(self, regret: float) -> float:
        """Return a regret in the user's units."""
        return self.loss_scale * regret


class InUnits:
    """The constants that a learner was built with, in its units, and what follows from them."""

    domain: Domain
    units: Units
    geometry: Geometry
    _search: Any

    @property
    def accepts(self) -> tuple[float, float]:
        """The losses that are accepted: between these two."""
        return (-inf, inf) if self._search is not None else self.units.loss_range

    @cached_property
    def curvature_limit(self) -> tuple[float, str]:
        """The largest possible curvature in the user's units, and the reason for it."""
        declared = self._declared_limit()
        if declared is not None:
            return declared
        if self._search is None:
            return self._range_limit()
        most = 8.0 * LARGEST / self.domain.diameter**2
        return most, "the largest that can be computed with on a set that wide"

    def _declared_limit(self) -> tuple[float, str] | None:
        """The limit of the curvature that an argument sets, if one does."""
        smoothness, lipschitz = (getattr(self, name, None) for name in ("smoothness", "lipschitz"))
        if smoothness is not None:
            return smoothness, "the smoothness that this learner was built with"
        if lipschitz is not None:  # docs/mathematics.md
            most = 4.0 * lipschitz / self.domain.diameter
            return most, "4 L/D: no loss of this Lipschitz constant has more"
        return None

    def _range_limit(self) -> tuple[float, str]:
        """The largest curvature of a loss within the range: it lies sigma D^2/8 below a chord."""
        limit = 8.0 * (2.0 * self.units.loss_scale) / self.domain.diameter**2
        return limit, "8 (high - low)/D^2: no loss within loss_range on a set that wide has more"

    @cached_property
    def curvature_unit(self) -> float:
        """A strong convexity of 1, in working units."""
        return self.units.curvature(1.0) * self.geometry.shortest**2

    def _in_units(self, name: str) -> float:
        """The smoothness or the Lipschitz constant in the paper's units."""
        value = getattr(self, name)
        scaled = self.units.curvature if name == "smoothness" else self.units.slope
        return moderate(scaled(value), name, value)


def moderate(value: float, name: str, original: float) -> float:
    """Return a constant of the losses in the paper's units, small enough to compute with."""
    if not value < LARGEST:
        raise ParameterError(
            f"{name}={original:g} is {value:g} in units of the domain's radius and the losses' "
            f"range; at most {LARGEST:g} can be computed with: is that range too small?"
        )
    return value
