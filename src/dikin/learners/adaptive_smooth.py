"""Algorithm 1 of Luo, Zhang and Zhao (COLT 2022): smooth losses, changing curvature.

lambda_t solves lambda^2 (S_{t-1} + sigma_t + lambda) = d^2 (beta + 1).

    sharp:  lambda_0 = d^2 (beta+1),
            eta_t = min{1/(3d), (1/2d) sqrt((beta+1)/S_{t-1} + nu ln T/T)}
    paper:  lambda_0 = max{512 (beta+1) (1 + 32 sqrt nu)^2, d^2 (beta+1)},
            eta_t = (1/2d) sqrt((beta+1)/S_{t-1} + nu/(T ln T))
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import log, sqrt
from typing import Any, NamedTuple, Self

from dikin.domains.base import Domain
from dikin.learners import limits
from dikin.learners.adaptive import PAPER_KAPPA, Adaptive
from dikin.learners.barrier_ftrl import Schedule
from dikin.theory import certificate, tuning
from dikin.units import LossRange, moderate, nonnegative


class SharpSmooth(NamedTuple):
    """The constants of docs/mathematics.md."""

    dim: float
    nu: float
    smoothness: float
    horizon: float
    """T, or 0 where none is known."""
    target: float
    """d^2 (beta + 1)."""
    first: float
    kappa: float = 1.0
    reach: float = 1.0
    trust: float = 1.0
    assumed: float = 0.0
    least: float = 0.0

    @classmethod
    def of(cls, dim: int, nu: float, smoothness: float, horizon: int | None) -> SharpSmooth:
        target = tuning.smooth_target(dim, smoothness)
        return cls(dim, nu, smoothness, horizon or 0.0, target, target)

    def regularisation(self, total: float) -> float:
        return tuning.smooth_regularisation(total, self.target)

    def rate(self, total: float, round: int) -> float:
        """eta_t; the cap 1/(3d) keeps eta_t |g_t|* at most 1/2.

        Where no horizon is known the round stands in for T. ln t/t falls only from t = e on; kept
        constant before, the rate never rises.
        """
        rounds = self.horizon
        if rounds == 0.0:
            rounds = float(round) if round > 3 else 3.0
        low = self.nu * log(rounds) / rounds
        rate = sqrt((self.smoothness + 1.0) / total + low) * (0.5 / self.dim)
        cap = 1.0 / (3.0 * self.dim)
        return rate if rate < cap else cap

    def price(self, sigma: float, trace: float) -> float:
        return certificate.smooth_price(sigma, trace, self.dim, self.smoothness)

    def typical(self, rounds: int) -> float:
        total = tuning.uncurved(self.first, self.target, rounds, tuning.SMOOTH)
        return self.rate(total, rounds + 1)


class PaperSmooth(NamedTuple):
    """The constants of the algorithm box."""

    dim: float
    nu: float
    smoothness: float
    horizon: float
    target: float
    first: float
    kappa: float = PAPER_KAPPA
    reach: float = 1.0
    trust: float = 1.0
    assumed: float = 0.0
    least: float = 0.0

    @classmethod
    def of(cls, dim: int, nu: float, smoothness: float, horizon: int) -> PaperSmooth:
        target = tuning.smooth_target(dim, smoothness)
        first = max((smoothness + 1.0) * rho(nu) / nu, target)
        return cls(dim, nu, smoothness, horizon, target, first)

    def regularisation(self, total: float) -> float:
        return tuning.smooth_regularisation(total, self.target)

    def rate(self, total: float, round: int) -> float:
        low = self.nu / (self.horizon * log(self.horizon))
        return sqrt((self.smoothness + 1.0) / total + low) / (2.0 * self.dim)

    def price(self, sigma: float, trace: float) -> float:
        return certificate.smooth_price(sigma, trace, self.dim, self.smoothness)

    def typical(self, rounds: int) -> float:
        total = tuning.uncurved(self.first, self.target, rounds, tuning.SMOOTH)
        return self.rate(total, rounds + 1)


def rho(nu: float) -> float:
    """Rho = 512 nu (1 + 32 sqrt nu)^2: the round at which the paper's theorem begins."""
    return 512.0 * nu * (1.0 + 32.0 * sqrt(nu)) ** 2


class AdaptiveSmooth(Adaptive):
    """Learner for losses that are `smoothness`-smooth on the domain, all in the user's units.

    Regret of order d^(2/3) T^(2/3) without curvature, d^(3/2) sqrt(T) with constant curvature, and
    in between whatever the curvature told each round allows (Theorem 7 of the paper).

    >>> from dikin import Box
    >>> learner = AdaptiveSmooth(Box([0, 0], [10, 2]), smoothness=0.5, loss_range=(0, 40), seed=7)
    >>> query = learner.ask()
    >>> learner.tell(query, loss=12.3, curvature=0.1)
    >>> learner.rounds
    1
    """

    def __init__(
        self,
        domain: Domain,
        smoothness: float,
        *,
        loss_range: LossRange = (-1.0, 1.0),
        horizon: int | None = None,
        constants: str = "sharp",
        seed: int | None = None,
    ) -> None:
        self.smoothness = nonnegative(smoothness, "smoothness")
        super().__init__(
            domain, loss_range=loss_range, horizon=horizon, constants=constants, seed=seed
        )

    def _bend(self) -> float:
        return moderate(self.units.curvature(self.smoothness), "smoothness", self.smoothness)

    def _sharp(self) -> Schedule:
        smoothness = self._bend()
        return SharpSmooth.of(self.domain.dim, self.domain.nu, smoothness, self.horizon)

    def _paper(self, horizon: int) -> tuple[Schedule, float]:
        smoothness = self._bend()
        schedule = PaperSmooth.of(self.domain.dim, self.domain.nu, smoothness, horizon)
        return schedule, rho(self.domain.nu)

    @cached_property
    def curvature_limit(self) -> tuple[float, str]:
        """A smooth loss is at most as strongly convex as it is smooth."""
        return limits.of_smooth(self.smoothness)

    def arguments(self) -> dict[str, Any]:
        return {"smoothness": self.smoothness} | super().arguments()

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        unit = 1.0 / domain.radius**2  # beta = 1 in the paper's units, for losses in [-1, 1]
        yield cls(domain, unit, seed=seed)
        yield cls(domain, 20 * unit, horizon=1000, seed=seed)
        yield cls(domain, unit, loss_range=(3, 11), seed=seed)
