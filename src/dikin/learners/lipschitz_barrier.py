"""Lipschitz losses with a barrier (Luo, lecture notes on bandit convex optimization): T^(3/4).

We know the notes only by the rate that the paper quotes, sqrt(L) d^(3/4) T^(3/4). This is the
method of `saha_tewari`, tuned to have that rate. At the share delta of Dikin's ellipsoid, of radius
at most 1, exploring and smoothing cost at most 2 L delta per round. With a = d sqrt(nu T ln T),

    delta = min{1, sqrt(a/(L T))},

regret <= 4 sqrt(L d) nu^(1/4) T^(3/4) (ln T)^(1/4) + 2 for T >= 4 nu ln T.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Self

from dikin.domains.base import Domain
from dikin.learners import parameters
from dikin.learners.fixed_rate import FixedRateFTRL
from dikin.units import LossRange


class LipschitzBarrier(FixedRateFTRL):
    """Learner for `lipschitz` losses over a known number of rounds; ignores curvature.

    Notes
    -----
    Published: that such a method exists, with regret of order sqrt(L) d^(3/4) T^(3/4). We did not
    have the lecture notes, only the rate that Luo, Zhang and Zhao (COLT 2022) quote.

    Ours: the algorithm. It is that of `SahaTewari` with the share delta and the rate that balance
    the bound for Lipschitz losses, and it has the quoted rate where nu is of the order of d. The
    algorithm in the notes may differ.

    References
    ----------
    Luo: lecture notes on bandit convex optimization, as quoted by Luo, Zhang, Zhao: Adaptive bandit
    convex optimization with heterogeneous curvature. COLT 2022.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = LipschitzBarrier(Ball(2), horizon=1000, lipschitz=1.0, seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    >>> learner.rounds
    1
    """

    lipschitz = parameters.lipschitz()

    def __init__(
        self,
        domain: Domain,
        horizon: int,
        lipschitz: float,
        *,
        loss_range: LossRange = (-1.0, 1.0),
        seed: int | None = None,
    ) -> None:
        super().__init__(domain, horizon, loss_range, seed)
        self.lipschitz = lipschitz
        slope = self._in_units("lipschitz")
        exploring = 2.0 * slope * self.horizon
        reach = min(1.0, sqrt(2.0 * self._learning() / exploring))
        self._explore(reach, smoothness=0.0, lipschitz=slope)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        unit = 1.0 / domain.radius
        yield cls(domain, 1000, unit, seed=seed)
        yield cls(domain, 10**6, 20 * unit, loss_range=(3, 11), seed=seed)
