"""Saha and Tewari (AISTATS 2011): smooth losses, T^(2/3) without curvature.

At the share delta of Dikin's ellipsoid, of radius at most 1, exploring a beta-smooth loss and
smoothing it cost at most (3/2) beta delta^2 per round. With a = d sqrt(nu T ln T),

    delta = min{1, (a/((3/2) beta T))^(1/3)}

balances that against 2a/delta: regret <= 3.44 (beta nu ln T)^(1/3) d^(2/3) T^(2/3) + 2 for
T >= 4 nu ln T. The published proof assumes that a smooth bounded loss is Lipschitz, which it need
not be near the boundary; comparing with (1 - 1/T) x + y_1/T instead needs convexity alone, and
gives the constants here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from dikin.domains.base import Domain
from dikin.learners import parameters
from dikin.learners.fixed_rate import FixedRateFTRL
from dikin.units import LossRange


class SahaTewari(FixedRateFTRL):
    """Learner for `smoothness`-smooth losses over a known number of rounds; ignores curvature.

    Notes
    -----
    Published: the loop, with one rate and one share delta of Dikin's ellipsoid, and the rate
    T^(2/3). In the units of this library the text has delta = (d sqrt(2 nu ln T)/(beta D^2
    sqrt(T)))^(1/3), D the diameter, and eta = (delta/d) sqrt(2 nu ln T/T).

    Ours: the constants of both. delta = (d sqrt(nu T ln T)/((3/2) beta T))^(1/3), at most 1, and
    eta = (delta/d) sqrt(nu ln T/T), at most delta/(2 d). The published proof assumes that a smooth
    bounded loss is Lipschitz, which it need not be near the boundary. The proof here moves the
    comparator inwards by convexity alone, and these constants minimise its bound.

    References
    ----------
    Saha, Tewari: Improved regret guarantees for online smooth convex optimization with bandit
    feedback. AISTATS 2011.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = SahaTewari(Ball(2), horizon=1000, smoothness=1.0, seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    >>> learner.rounds
    1
    """

    smoothness = parameters.smoothness()

    def __init__(
        self,
        domain: Domain,
        horizon: int,
        smoothness: float,
        *,
        loss_range: LossRange = (-1.0, 1.0),
        seed: int | None = None,
    ) -> None:
        super().__init__(domain, horizon, loss_range, seed)
        self.smoothness = smoothness
        beta = self._in_units("smoothness")
        exploring = 1.5 * beta * self.horizon
        reach = min(1.0, (self._learning() / exploring) ** (1 / 3)) if exploring > 0 else 1.0
        self._explore(reach, smoothness=beta, lipschitz=0.0)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        unit = 1.0 / domain.radius**2
        yield cls(domain, 1000, unit, seed=seed)
        yield cls(domain, 10**6, 20 * unit, loss_range=(3, 11), seed=seed)
