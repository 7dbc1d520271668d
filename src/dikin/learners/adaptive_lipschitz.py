"""Algorithm 2 of Luo, Zhang and Zhao (COLT 2022): Lipschitz losses, changing curvature.

The formulas are in `adaptive`, with k = 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Self

from dikin.arguments import nonnegative
from dikin.domains.base import Domain
from dikin.learners.adaptive import Adaptive
from dikin.learners.parameters import LIPSCHITZ, Parameter, limit_of_lipschitz
from dikin.theory import schedules
from dikin.units import LossRange, Units


def rho(dim: int, nu: float, lipschitz: float) -> float:
    """The paper's rho' = 2^16 (16 sqrt(nu) d^(1/3) (4L+1)^(1/3) + (L+1)^(2/3))^3 / d."""
    steep = 16.0 * sqrt(nu) * (dim * (4.0 * lipschitz + 1.0)) ** (1.0 / 3.0)
    needed: float = 2.0**16 * (steep + (lipschitz + 1.0) ** (2.0 / 3.0)) ** 3 / dim
    return needed


class AdaptiveLipschitz(Adaptive):
    """Learner for losses that are `lipschitz`-Lipschitz on the domain, in the user's units.

    Regret of order d^(1/2) T^(3/4) without curvature, d^(2/3) T^(2/3) with constant curvature, and
    in between as the curvature told in each round allows (Theorem 12 of the paper).

    References
    ----------
    Luo, Zhang, Zhao: Adaptive bandit convex optimization with heterogeneous curvature. COLT 2022.

    Examples
    --------
    >>> from dikin import Simplex
    >>> learner = AdaptiveLipschitz(Simplex(3), lipschitz=2.0, loss_range=(0, 1), seed=7)
    >>> query = learner.ask()
    >>> learner.tell(query, loss=0.4)
    >>> learner.rounds
    1
    """

    order = schedules.LIPSCHITZ
    lipschitz = Parameter(LIPSCHITZ, nonnegative, scaled=Units.slope, limit=limit_of_lipschitz)

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
        self.lipschitz = lipschitz
        super().__init__(
            domain, loss_range=loss_range, horizon=horizon, constants=constants, seed=seed
        )

    def _constant(self) -> float:
        return self._in_units("lipschitz")

    def _paper_start(self) -> tuple[float, float]:
        needed = rho(self.domain.dim, self.domain.nu, self._constant())
        return needed, needed

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        unit = 1.0 / domain.radius  # L = 1 in the paper's units, for losses in [-1, 1]
        yield cls(domain, unit, seed=seed)
        yield cls(domain, 5 * unit, horizon=1000, seed=seed)
        yield cls(domain, unit, loss_range=(3, 11), seed=seed)
