"""Hazan and Levy (NeurIPS 2014): smooth and strongly convex losses, sqrt(T) with sigma known.

    H_t     = Hessian(psi)(y_t) + eta sigma t I,      x_t = y_t + H_t^(-1/2) s_t,
    y_{t+1} = argmin_u sum_{s<=t} (g_s.u + sigma/2 |u - y_s|^2) + psi(u)/eta,
    eta     = sqrt((nu + 2 beta/sigma) ln T/(2 d^2 T)), at most 1/(2d),

regret <= nu ln T/eta + 2 eta d^2 T + (beta/(eta sigma)) (1 + ln T) + 2, of order
d sqrt((nu + beta/sigma) T ln T). The learner assumes the curvature sigma in every round, whatever
it is told. If a loss has less, the bound does not hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log, sqrt
from typing import NamedTuple, Self

from dikin.domains.base import Domain
from dikin.learners import parameters
from dikin.learners.barrier_ftrl import BarrierFTRL
from dikin.theory import certificate
from dikin.units import LossRange


class KnownCurvature(NamedTuple):
    """The schedule: one rate, one curvature."""

    dim: float
    nu: float
    eta: float
    smoothness: float
    assumed: float
    least: float
    first: float = 0.0
    kappa: float = 1.0
    reach: float = 1.0
    trust: float = 0.0
    order: int = 2

    @classmethod
    def of(
        cls, dim: int, nu: float, horizon: int, smoothness: float, sigma: float, least: float
    ) -> KnownCurvature:
        stiff = (nu + 2.0 * smoothness / sigma) * log(horizon)
        eta = min(sqrt(stiff / (2.0 * horizon)), 0.5) / dim
        return cls(dim, nu, eta, smoothness, sigma, least)

    def regularisation(self, total: float) -> float:
        return 0.0

    def rate(self, total: float, round: int) -> float:
        return self.eta

    def price(self, sigma: float, trace: float) -> float:
        return certificate.smooth_price(sigma, trace, self.dim, self.smoothness)

    def typical(self, rounds: int) -> float:
        return self.eta


class HazanLevy(BarrierFTRL):
    """Learner for `smoothness`-smooth losses that are all `curvature`-strongly convex.

    Notes
    -----
    Published: the algorithm and its rate eta, which was checked against the quotation in Luo, Zhang
    and Zhao (COLT 2022) and not against the printed paper.

    Ours: the limit 1/(2 d) on eta; and the constants of the bound, by a proof that does not assume
    smooth bounded losses to be Lipschitz.

    References
    ----------
    Hazan, Levy: Bandit convex optimization: towards tight bounds. NeurIPS 2014.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = HazanLevy(Ball(2), horizon=1000, smoothness=1.0, curvature=0.5, seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    >>> learner.rounds
    1
    """

    horizon = parameters.horizon(2, "the rate contains ln T")
    smoothness = parameters.smoothness()
    curvature = parameters.curvature()

    def __init__(
        self,
        domain: Domain,
        horizon: int,
        smoothness: float,
        curvature: float,
        *,
        loss_range: LossRange = (-1.0, 1.0),
        seed: int | None = None,
    ) -> None:
        super().__init__(domain, loss_range, seed)
        self.horizon, self.smoothness, self.curvature = horizon, smoothness, curvature
        beta, sigma = self._in_units("smoothness"), self._assumed_curvature(self.curvature)
        least = self._least(sigma)
        self._follow(KnownCurvature.of(domain.dim, domain.nu, self.horizon, beta, sigma, least))

    def _least(self, sigma: float) -> float:
        """The least curvature that makes a round count: here every round counts."""
        return 0.0

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        unit = 1.0 / domain.radius**2
        yield cls(domain, 1000, unit, 0.5 * unit, seed=seed)
        yield cls(domain, 10**6, 20 * unit, unit, loss_range=(3, 11), seed=seed)
