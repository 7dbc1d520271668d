"""One-point residual feedback (Zhang, Zhou, Ji, Zavlanos; arXiv 2006.10820, Automatica 2022).

The reference is the loss of the round before: g_t = (d/delta) (f_t(x_t) - f_{t-1}(x_{t-1})) s_t.
With |f| <= 1, the set inside the unit ball and a ball of radius r inside it, here

    delta = r min{1/2, T^(-1/4)},     eta = delta/(d T^(1/2))

which is FKM's shape: for L-Lipschitz losses the regret is of order T^(3/4), as published, if the
losses of neighbouring rounds are alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import NamedTuple, Self

from dikin.domains.base import Domain
from dikin.learners import parameters
from dikin.learners.reference_descent import ReferenceDescent
from dikin.units import LossRange


class ResidualPace(NamedTuple):
    """The same reach and step in every round."""

    dim: float
    width: float
    shrink: float
    eta: float

    def reach_at(self, round: int) -> float:
        return self.width

    def step(self, round: int) -> float:
        return self.eta

    def newest(self, round: int) -> float:
        return 1.0


class ResidualFeedback(ReferenceDescent):
    """Learner for Lipschitz losses over a known horizon that measures each against the last one.

    Regret of order T^(3/4) if losses change little from round to round; it has no certificate.

    Notes
    -----
    Published: the estimate, and rates with constants that depend on how much the losses vary.

    Ours: reach and step, those of FKM up to constants, as the published ones need the Lipschitz
    constant and the variation.

    References
    ----------
    Zhang, Zhou, Ji, Zavlanos: A new one-point residual-feedback oracle for black-box learning and
    control. Automatica 136, 2022 (arXiv 2006.10820).

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = ResidualFeedback(Ball(2), horizon=1000, seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    >>> learner.rounds
    1
    """

    horizon = parameters.horizon(1, "the step depends on it")

    def __init__(
        self,
        domain: Domain,
        horizon: int,
        *,
        loss_range: LossRange = (-1.0, 1.0),
        seed: int | None = None,
    ) -> None:
        super().__init__(domain, loss_range, seed)
        self.horizon = horizon
        share = min(0.5, self.horizon**-0.25)
        reach = share * domain.inradius / domain.radius
        eta = reach / (domain.dim * sqrt(self.horizon))
        self._descend(ResidualPace(domain.dim, reach, 1.0 - share, eta))

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 1000, seed=seed)
        yield cls(domain, 50, loss_range=(3, 11), seed=seed)
