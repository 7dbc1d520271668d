"""Algorithm 2 of Luo, Zhang and Zhao (COLT 2022): Lipschitz losses, changing curvature.

lambda_t solves lambda^3 (S_{t-1} + sigma_t + lambda) = d^2 (L + 1)^2.

    sharp:  lambda_0 = d^2 (L+1)^2,   eta_t = min{1/(3d), (L+1)^(2/3) d^(-4/3) S_{t-1}^(-1/3)}
    paper:  lambda_0 = max{rho', d^2 (L+1)^2},
            eta_t = (L+1)^(2/3) d^(-4/3) (1/S_{t-1} + 1/T)^(1/3)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import sqrt
from typing import Any, NamedTuple, Self

from dikin.domains.base import Domain
from dikin.learners import limits
from dikin.learners.adaptive import PAPER_KAPPA, Adaptive
from dikin.learners.barrier_ftrl import Schedule
from dikin.theory import certificate, tuning
from dikin.units import LossRange, moderate, nonnegative


class SharpLipschitz(NamedTuple):
    """The constants of docs/mathematics.md."""

    dim: float
    nu: float
    lipschitz: float
    target: float
    """d^2 (L + 1)^2."""
    first: float
    kappa: float = 1.0
    reach: float = 1.0
    trust: float = 1.0
    assumed: float = 0.0
    least: float = 0.0

    @classmethod
    def of(cls, dim: int, nu: float, lipschitz: float) -> SharpLipschitz:
        target = tuning.lipschitz_target(dim, lipschitz)
        return cls(dim, nu, lipschitz, target, target)

    def regularisation(self, total: float) -> float:
        return tuning.lipschitz_regularisation(total, self.target)

    def rate(self, total: float, round: int) -> float:
        """eta_t; the cap 1/(3d) keeps eta_t |g_t|* at most 1/2."""
        rate: float = ((self.lipschitz + 1.0) ** 2 / (self.dim**4 * total)) ** (1.0 / 3.0)
        cap = 1.0 / (3.0 * self.dim)
        return rate if rate < cap else cap

    def price(self, sigma: float, trace: float) -> float:
        return certificate.lipschitz_price(sigma, trace, self.dim, self.lipschitz)

    def typical(self, rounds: int) -> float:
        total = tuning.uncurved(self.first, self.target, rounds, tuning.LIPSCHITZ)
        return self.rate(total, rounds + 1)


class PaperLipschitz(NamedTuple):
    """The constants of the algorithm box."""

    dim: float
    nu: float
    lipschitz: float
    horizon: float
    target: float
    first: float
    kappa: float = PAPER_KAPPA
    reach: float = 1.0
    trust: float = 1.0
    assumed: float = 0.0
    least: float = 0.0

    @classmethod
    def of(cls, dim: int, nu: float, lipschitz: float, horizon: int) -> PaperLipschitz:
        target = tuning.lipschitz_target(dim, lipschitz)
        first = max(rho(dim, nu, lipschitz), target)
        return cls(dim, nu, lipschitz, horizon, target, first)

    def regularisation(self, total: float) -> float:
        return tuning.lipschitz_regularisation(total, self.target)

    def rate(self, total: float, round: int) -> float:
        inverse = 1.0 / total + 1.0 / self.horizon
        rate: float = ((self.lipschitz + 1.0) ** 2 / self.dim**4 * inverse) ** (1.0 / 3.0)
        return rate

    def price(self, sigma: float, trace: float) -> float:
        return certificate.lipschitz_price(sigma, trace, self.dim, self.lipschitz)

    def typical(self, rounds: int) -> float:
        total = tuning.uncurved(self.first, self.target, rounds, tuning.LIPSCHITZ)
        return self.rate(total, rounds + 1)


def rho(dim: int, nu: float, lipschitz: float) -> float:
    """Rho' = 2^16 (16 sqrt(nu) d^(1/3) (4L+1)^(1/3) + (L+1)^(2/3))^3 / d."""
    steep = 16.0 * sqrt(nu) * (dim * (4.0 * lipschitz + 1.0)) ** (1.0 / 3.0)
    needed: float = 2.0**16 * (steep + (lipschitz + 1.0) ** (2.0 / 3.0)) ** 3 / dim
    return needed


class AdaptiveLipschitz(Adaptive):
    """Learner for losses that are `lipschitz`-Lipschitz on the domain, all in the user's units.

    Regret of order d^(1/2) T^(3/4) without curvature, d^(2/3) T^(2/3) with constant curvature, and
    in between whatever the curvature told each round allows (Theorem 12 of the paper).

    >>> from dikin import Simplex
    >>> learner = AdaptiveLipschitz(Simplex(3), lipschitz=2.0, loss_range=(0, 1), seed=7)
    >>> query = learner.ask()
    >>> learner.tell(query, loss=0.4)
    >>> learner.rounds
    1
    """

    def __init__(
        self,
        domain: Domain,
        lipschitz: float,
        *,
        loss_range: LossRange = (-1.0, 1.0),
        horizon: int | None = None,
        constants: str = "sharp",
        seed: int | None = None,
    ) -> None:
        self.lipschitz = nonnegative(lipschitz, "lipschitz")
        super().__init__(
            domain, loss_range=loss_range, horizon=horizon, constants=constants, seed=seed
        )

    def _bend(self) -> float:
        return moderate(self.units.slope(self.lipschitz), "lipschitz", self.lipschitz)

    def _sharp(self) -> Schedule:
        lipschitz = self._bend()
        return SharpLipschitz.of(self.domain.dim, self.domain.nu, lipschitz)

    def _paper(self, horizon: int) -> tuple[Schedule, float]:
        dim, nu, lipschitz = self.domain.dim, self.domain.nu, self._bend()
        return PaperLipschitz.of(dim, nu, lipschitz, horizon), rho(dim, nu, lipschitz)

    @cached_property
    def curvature_limit(self) -> tuple[float, str]:
        """An L-Lipschitz loss on a set of diameter D is at most 4L/D-strongly convex."""
        return limits.of_lipschitz(self.lipschitz, self.domain)

    def arguments(self) -> dict[str, Any]:
        return {"lipschitz": self.lipschitz} | super().arguments()

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        unit = 1.0 / domain.radius  # L = 1 in the paper's units, for losses in [-1, 1]
        yield cls(domain, unit, seed=seed)
        yield cls(domain, 5 * unit, horizon=1000, seed=seed)
        yield cls(domain, unit, loss_range=(3, 11), seed=seed)
