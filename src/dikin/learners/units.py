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

from dikin.arguments import LARGEST, checked_range
from dikin.domains.base import Array, Domain
from dikin.errors import DomainError

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
