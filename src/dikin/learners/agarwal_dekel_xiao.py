"""Agarwal, Dekel and Xiao (COLT 2010), one point per round: strongly convex Lipschitz losses.

`fkm` with steps that fall like 1/t. With |f| <= 1, the set inside the unit ball and a ball of
radius r inside it, all around the same centre,

    eta_t = 1/(sigma t),   delta = (d^2 (1 + ln T)/(sigma (3 L + S) T))^(1/3), at most r/2,
    shrink = 1 - delta/r,  S = min{2, L}/r,

regret <= d^2 (1 + ln T)/(2 sigma delta^2) + (3 L + S) delta T
        = (3/2) (d^2 (1 + ln T)/sigma)^(1/3) ((3 L + S) T)^(2/3) where delta is not cut off.

S delta bounds what a round loses because the comparator x must shrink to (1 - delta/r) x: at most
2 delta/r by convexity, and at most L |x| delta/r by the slope. The learner assumes the curvature
sigma in every round, whatever it is told. If a loss has less, the bound does not hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from typing import NamedTuple, Self

from dikin.domains.base import Domain
from dikin.learners import parameters
from dikin.learners.descent import Descent
from dikin.units import LossRange


class HarmonicPace(NamedTuple):
    """Steps of 1/(sigma t)."""

    dim: float
    reach: float
    shrink: float
    sigma: float

    def step(self, round: int) -> float:
        return 1.0 / (self.sigma * round)


def one_point_pace(
    dim: int, inradius: float, horizon: int, lipschitz: float, sigma: float
) -> HarmonicPace:
    """The tuning in the module's docstring."""
    drift = 3.0 * lipschitz + min(2.0, lipschitz) / inradius
    reach = (dim**2 * (1.0 + log(horizon)) / (sigma * drift * horizon)) ** (1.0 / 3.0)
    reach = min(reach, inradius / 2.0)
    return HarmonicPace(dim, reach, 1.0 - reach / inradius, sigma)


class AgarwalDekelXiao(Descent):
    """Learner for `lipschitz` losses that are all `curvature`-strongly convex.

    Regret of order (d T)^(2/3), up to a logarithm, over a known horizon.

    Notes
    -----
    Published: the one-point estimate, steps of 1/(sigma t), the shrunk set, and the rate T^(2/3).

    Ours: the constant in delta and the constants of the bound, derived independently and not
    compared with the printed text; the price S = min{2, L}/r of the shrunk comparator, the smaller
    of the bounds from convexity and from the slope; and the limit r/2 on delta, which leaves room
    to move when T is small.

    References
    ----------
    Agarwal, Dekel, Xiao: Optimal algorithms for online convex optimization with multi-point
    bandit feedback. COLT 2010.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = AgarwalDekelXiao(Ball(2), horizon=1000, lipschitz=1.0, curvature=0.5, seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    >>> learner.rounds
    1
    """

    horizon = parameters.horizon(1, "the exploration depends on it")
    lipschitz = parameters.lipschitz()
    curvature = parameters.curvature()

    def __init__(
        self,
        domain: Domain,
        horizon: int,
        lipschitz: float,
        curvature: float,
        *,
        loss_range: LossRange = (-1.0, 1.0),
        seed: int | None = None,
    ) -> None:
        super().__init__(domain, loss_range, seed)
        self.horizon, self.lipschitz, self.curvature = horizon, lipschitz, curvature
        slope, sigma = self._in_units("lipschitz"), self._assumed_curvature(self.curvature)
        inradius = domain.inradius / domain.radius
        self._descend(one_point_pace(domain.dim, inradius, self.horizon, slope, sigma))

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        unit = 1.0 / domain.radius
        yield cls(domain, 1000, unit, 0.5 * unit**2, seed=seed)
        yield cls(domain, 10**6, 20 * unit, 4 * unit**2, loss_range=(3, 11), seed=seed)
