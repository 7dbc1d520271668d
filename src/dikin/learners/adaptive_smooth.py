"""Algorithm 1 of Luo, Zhang and Zhao (COLT 2022): smooth losses, changing curvature.

lambda_t solves lambda^2 (S_{t-1} + sigma_t + lambda) = d^2 (beta + 1).

    sharp:  lambda_0 = d^2 (beta+1),
            eta_t = min{1/(3d), (1/2d) sqrt((beta+1)/S_{t-1} + nu ln T/T)}
    paper:  lambda_0 = max{512 (beta+1) (1 + 32 sqrt nu)^2, d^2 (beta+1)},
            eta_t = (1/2d) sqrt((beta+1)/S_{t-1} + nu/(T ln T))
"""

from __future__ import annotations

from functools import cached_property
from math import log, sqrt
from typing import Any

from dikin.domains.base import Domain
from dikin.learners.adaptive import PAPER_KAPPA, Adaptive
from dikin.learners.barrier_ftrl import Numbers, Schedule
from dikin.theory import certificate, tuning
from dikin.units import nonnegative


def sharp_rate(total: float, round: int, n: Numbers) -> float:
    """eta_t; the cap 1/(3d) keeps eta_t |g_t|* at most 1/2.

    Where no horizon is known the round stands in for T. ln t/t falls only from t = e on; kept
    constant before, the rate never rises.
    """
    dim, nu, bend, horizon = n
    rounds = horizon
    if rounds == 0.0:
        rounds = float(round) if round > 3 else 3.0
    rate = sqrt((bend + 1.0) / total + nu * log(rounds) / rounds) / (2.0 * dim)
    cap = 1.0 / (3.0 * dim)
    return rate if rate < cap else cap


def paper_rate(total: float, round: int, n: Numbers) -> float:
    """eta_t of Algorithm 1."""
    low = n.nu / (n.horizon * log(n.horizon))
    return sqrt((n.bend + 1.0) / total + low) / (2.0 * n.dim)


def sharp(n: Numbers) -> Schedule:
    """The constants of docs/mathematics.md."""
    target = tuning.smooth_target(n.dim, n.bend)
    return Schedule(
        numbers=n,
        kappa=1.0,
        first=target,
        target=target,
        regularisation=tuning.smooth_regularisation,
        rate=sharp_rate,
        cost=certificate.smooth_cost,
        closing=certificate.closing_cost,
    )


def paper(n: Numbers) -> Schedule:
    """The constants of the algorithm box."""
    target = tuning.smooth_target(n.dim, n.bend)
    return Schedule(
        numbers=n,
        kappa=PAPER_KAPPA,
        first=max((n.bend + 1.0) * rho(n) / n.nu, target),
        target=target,
        regularisation=tuning.smooth_regularisation,
        rate=paper_rate,
        cost=certificate.paper_smooth_cost,
        closing=certificate.paper_closing_cost,
    )


def rho(n: Numbers) -> float:
    """Rho = 512 nu (1 + 32 sqrt nu)^2."""
    return 512.0 * n.nu * (1.0 + 32.0 * sqrt(n.nu)) ** 2


class AdaptiveSmooth(Adaptive):
    """Learner for losses that are `smoothness`-smooth on the domain, all in the user's units.

    Regret of order d^(2/3) T^(2/3) without curvature, d^(3/2) sqrt(T) with constant curvature, and
    in between whatever the curvature told each round allows (Theorem 1 of the paper).

    >>> from dikin import Box
    >>> learner = AdaptiveSmooth(Box([0, 0], [10, 2]), smoothness=0.5, loss_range=(0, 40), seed=7)
    >>> query = learner.ask()
    >>> learner.tell(query, loss=12.3, curvature=0.1)
    >>> learner.rounds
    1
    """

    schedules = {"sharp": sharp, "paper": paper}

    def __init__(
        self,
        domain: Domain,
        smoothness: float,
        *,
        loss_range: tuple[float, float] = (-1.0, 1.0),
        horizon: int | None = None,
        constants: str = "sharp",
        seed: int | None = None,
    ) -> None:
        self.smoothness = nonnegative(smoothness, "smoothness")
        super().__init__(
            domain, loss_range=loss_range, horizon=horizon, constants=constants, seed=seed
        )

    def _bend(self) -> float:
        return self.units.curvature(self.smoothness)

    @staticmethod
    def _needed_rounds(numbers: Numbers) -> float:
        return rho(numbers)

    @cached_property
    def curvature_limit(self) -> tuple[float, str]:
        """A smooth loss is at most as strongly convex as it is smooth."""
        return self.smoothness, "the smoothness that this learner was built with"

    def arguments(self) -> dict[str, Any]:
        return {"smoothness": self.smoothness} | super().arguments()
