"""Algorithm 2 of Luo, Zhang and Zhao (COLT 2022): Lipschitz losses, changing curvature.

lambda_t solves lambda^3 (S_{t-1} + sigma_t + lambda) = d^2 (L + 1)^2.

    sharp:  lambda_0 = d^2 (L+1)^2,   eta_t = min{1/(3d), (L+1)^(2/3) d^(-4/3) S_{t-1}^(-1/3)}
    paper:  lambda_0 = max{rho', d^2 (L+1)^2},
            eta_t = (L+1)^(2/3) d^(-4/3) (1/S_{t-1} + 1/T)^(1/3)
"""

from __future__ import annotations

from functools import cached_property
from math import sqrt
from typing import Any

from dikin.domains.base import Domain
from dikin.learners.adaptive import PAPER_KAPPA, Adaptive
from dikin.learners.barrier_ftrl import Numbers, Schedule
from dikin.theory import certificate, tuning
from dikin.units import nonnegative


def sharp_rate(total: float, round: int, n: Numbers) -> float:
    """eta_t; the cap 1/(3d) keeps eta_t |g_t|* at most 1/2."""
    cap = 1.0 / (3.0 * n.dim)
    rate: float = ((n.bend + 1.0) ** 2 / (n.dim**4 * total)) ** (1.0 / 3.0)
    return rate if rate < cap else cap


def paper_rate(total: float, round: int, n: Numbers) -> float:
    """eta_t of Algorithm 2."""
    sum_of_inverses = 1.0 / total + 1.0 / n.horizon
    rate: float = ((n.bend + 1.0) ** 2 / n.dim**4 * sum_of_inverses) ** (1.0 / 3.0)
    return rate


def sharp(n: Numbers) -> Schedule:
    """The constants of docs/mathematics.md."""
    target = tuning.lipschitz_target(n.dim, n.bend)
    return Schedule(
        numbers=n,
        kappa=1.0,
        first=target,
        target=target,
        regularisation=tuning.lipschitz_regularisation,
        rate=sharp_rate,
        cost=certificate.lipschitz_cost,
        closing=certificate.closing_cost,
    )


def paper(n: Numbers) -> Schedule:
    """The constants of the algorithm box."""
    target = tuning.lipschitz_target(n.dim, n.bend)
    return Schedule(
        numbers=n,
        kappa=PAPER_KAPPA,
        first=max(rho(n), target),
        target=target,
        regularisation=tuning.lipschitz_regularisation,
        rate=paper_rate,
        cost=certificate.paper_lipschitz_cost,
        closing=certificate.paper_closing_cost,
    )


def rho(n: Numbers) -> float:
    """Rho' = 2^16 (16 sqrt(nu) d^(1/3) (4L+1)^(1/3) + (L+1)^(2/3))^3 / d."""
    steep = 16.0 * sqrt(n.nu) * (n.dim * (4.0 * n.bend + 1.0)) ** (1.0 / 3.0)
    needed: float = 2.0**16 * (steep + (n.bend + 1.0) ** (2.0 / 3.0)) ** 3 / n.dim
    return needed


class AdaptiveLipschitz(Adaptive):
    """Learner for losses that are `lipschitz`-Lipschitz on the domain, all in the user's units.

    Regret of order d^(1/2) T^(3/4) without curvature, d^(2/3) T^(2/3) with constant curvature, and
    in between whatever the curvature told each round allows (Theorem 2 of the paper).

    >>> from dikin import Simplex
    >>> learner = AdaptiveLipschitz(Simplex(3), lipschitz=2.0, loss_range=(0, 1), seed=7)
    >>> query = learner.ask()
    >>> learner.tell(query, loss=0.4)
    >>> learner.rounds
    1
    """

    schedules = {"sharp": sharp, "paper": paper}

    def __init__(
        self,
        domain: Domain,
        lipschitz: float,
        *,
        loss_range: tuple[float, float] = (-1.0, 1.0),
        horizon: int | None = None,
        constants: str = "sharp",
        seed: int | None = None,
    ) -> None:
        self.lipschitz = nonnegative(lipschitz, "lipschitz")
        super().__init__(
            domain, loss_range=loss_range, horizon=horizon, constants=constants, seed=seed
        )

    def _bend(self) -> float:
        return self.units.slope(self.lipschitz)

    @staticmethod
    def _needed_rounds(numbers: Numbers) -> float:
        return rho(numbers)

    @cached_property
    def curvature_limit(self) -> tuple[float, str]:
        """An L-Lipschitz loss on a set of diameter D is at most 4L/D-strongly convex."""
        limit = 4.0 * self.lipschitz / self.domain.diameter
        return limit, "4 L/D for the Lipschitz constant and the diameter of this learner"

    def arguments(self) -> dict[str, Any]:
        return {"lipschitz": self.lipschitz} | super().arguments()
