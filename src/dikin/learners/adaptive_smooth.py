"""Algorithm 1 of Luo, Zhang and Zhao (COLT 2022): smooth losses, changing curvature.

The formulas are in `adaptive`, with k = 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Self

from dikin.domains.base import Domain
from dikin.learners import parameters
from dikin.learners.adaptive import Adaptive
from dikin.theory import schedules
from dikin.units import LossRange


def rho(nu: float) -> float:
    """The round from which the paper's theorem holds, rho = 512 nu (1 + 32 sqrt nu)^2."""
    return 512.0 * nu * (1.0 + 32.0 * sqrt(nu)) ** 2


class AdaptiveSmooth(Adaptive):
    """Learner for losses that are `smoothness`-smooth on the domain, in the user's units.

    Regret of order d^(2/3) T^(2/3) without curvature, d^(3/2) sqrt(T) with constant curvature, and
    in between as the curvature told in each round allows (Theorem 7 of the paper).

    References
    ----------
    Luo, Zhang, Zhao: Adaptive bandit convex optimization with heterogeneous curvature. COLT 2022.

    Examples
    --------
    >>> from dikin import Box
    >>> learner = AdaptiveSmooth(Box([0, 0], [10, 2]), smoothness=0.5, loss_range=(0, 40), seed=7)
    >>> query = learner.ask()
    >>> learner.tell(query, loss=12.3, curvature=0.1)
    >>> learner.rounds
    1
    """

    order = schedules.SMOOTH
    smoothness = parameters.smoothness()

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
        self.smoothness = smoothness
        super().__init__(
            domain, loss_range=loss_range, horizon=horizon, constants=constants, seed=seed
        )

    def _constant(self) -> float:
        return self._in_units("smoothness")

    def _paper_start(self) -> tuple[float, float]:
        nu = self.domain.nu
        return (self._constant() + 1.0) * rho(nu) / nu, rho(nu)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        unit = 1.0 / domain.radius**2  # beta = 1 in the paper's units, for losses in [-1, 1]
        yield cls(domain, unit, seed=seed)
        yield cls(domain, 20 * unit, horizon=1000, seed=seed)
        yield cls(domain, unit, loss_range=(3, 11), seed=seed)
