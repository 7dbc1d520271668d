"""Follow the regularised leader at one rate over a known horizon: nothing adapts.

With |f| <= 1, the barrier's parameter nu and exploration at the share delta of Dikin's ellipsoid
|g_t|* <= d/delta, and for eta |g_t|* <= 1/2 the regret on the linearised losses is at most

    nu ln T/eta + eta T d^2/delta^2 + 2.

eta = (delta/d) min{1/2, sqrt(nu ln T/T)} makes both terms (d/delta) sqrt(nu T ln T) for
T >= 4 nu ln T. The cost of exploration comes on top and depends on the losses: each learner's own
file has it.
"""

from __future__ import annotations

from math import log, sqrt
from typing import NamedTuple

from dikin.domains.base import Domain
from dikin.learners import parameters
from dikin.learners.barrier_ftrl import BarrierFTRL
from dikin.theory import certificate
from dikin.units import LossRange


class FixedRate(NamedTuple):
    """The schedule; `smoothness` or `lipschitz` bounds the cost of exploration in a round."""

    dim: float
    nu: float
    eta: float
    reach: float
    smoothness: float
    lipschitz: float
    first: float = 0.0
    kappa: float = 1.0
    trust: float = 0.0
    assumed: float = 0.0
    least: float = 0.0
    order: int = 2

    @classmethod
    def of(
        cls, dim: int, nu: float, horizon: int, reach: float, smoothness: float, lipschitz: float
    ) -> FixedRate:
        eta = reach / dim * min(0.5, sqrt(nu * log(horizon) / horizon))
        return cls(dim, nu, eta, reach, smoothness, lipschitz)

    def regularisation(self, total: float) -> float:
        return 0.0

    def rate(self, total: float, round: int) -> float:
        return self.eta

    def price(self, sigma: float, trace: float) -> float:
        smooth = certificate.smooth_price(0.0, trace, self.dim, self.smoothness)
        return smooth + certificate.lipschitz_price(0.0, trace, self.dim, self.lipschitz)

    def typical(self, rounds: int) -> float:
        return self.eta


class FixedRateFTRL(BarrierFTRL):
    """The base of three learners that need the horizon."""

    horizon = parameters.horizon(2, "the rate contains ln T")

    def __init__(
        self, domain: Domain, horizon: int, loss_range: LossRange, seed: int | None
    ) -> None:
        super().__init__(domain, loss_range, seed)
        self.horizon = horizon

    def _explore(self, reach: float, smoothness: float, lipschitz: float) -> None:
        dim, nu = self.domain.dim, self.domain.nu
        self._follow(FixedRate.of(dim, nu, self.horizon, reach, smoothness, lipschitz))

    def _learning(self) -> float:
        """The value of each of the two terms at delta = 1: d sqrt(nu T ln T)."""
        horizon = self.horizon
        return self.domain.dim * sqrt(self.domain.nu * horizon * log(horizon))
