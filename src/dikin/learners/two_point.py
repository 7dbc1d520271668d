"""Two points per round (Agarwal, Dekel and Xiao, COLT 2010): almost as good as gradients.

With |f| <= 1, the set inside the unit ball and a ball of radius r inside it, s_t uniform on the
unit sphere of the set's plane,

    x_t  = y_t + delta s_t  and  x_t' = y_t - delta s_t,      both are played, their mean is paid,
    g_t  = (d/(2 delta)) (f_t(x_t) - f_t(x_t')) s_t,          |g_t| <= d L, E|g_t|^2 of order d L^2,
    y_{t+1} = the point of (1 - delta/r) X nearest to y_t - eta_t g_t

(the second moment: Shamir, JMLR 2017). As the estimate does not grow when delta falls, delta is
almost zero:

    convex:            eta   = 1/(L sqrt(d T)),   delta = 1/T,        regret of order L sqrt(d T)
    strongly convex:   eta_t = 1/(sigma t),       delta = ln T/T,
                       regret <= d^2 L^2 (1 + ln T)/(2 sigma) + L ln T (3 + 1/r)

and delta is at most r/2. Both losses must come from one function, noise included: a difference in
noise would be divided by delta.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log, sqrt
from typing import Any, Self

import numpy as np

from dikin import arguments
from dikin.domains.base import Array, Domain
from dikin.feedback import Feedback
from dikin.learners import parameters
from dikin.learners.agarwal_dekel_xiao import HarmonicPace
from dikin.learners.descent import Descent
from dikin.learners.fkm import FixedPace
from dikin.learners.kernel_learner import Memo
from dikin.learners.parameters import Parameter
from dikin.units import LossRange


def convex_pace(dim: int, inradius: float, horizon: int, lipschitz: float) -> FixedPace:
    """The tuning for L-Lipschitz losses."""
    reach = min(1.0 / horizon, inradius / 2.0)
    eta = 1.0 / (lipschitz * sqrt(dim * horizon))
    return FixedPace(dim, reach, 1.0 - reach / inradius, eta)


def strongly_convex_pace(dim: int, inradius: float, horizon: int, sigma: float) -> HarmonicPace:
    """The tuning for sigma-strongly convex losses."""
    reach = min(log(horizon) / horizon, inradius / 2.0)
    return HarmonicPace(dim, reach, 1.0 - reach / inradius, sigma)


class TwoPoint(Descent):
    """Learner that is told `lipschitz` losses at two points a round, over a known horizon.

    `curvature` is the strong convexity of every loss, or None. Both `point[0]` and `point[1]` of a
    query are played; the answer is the pair of their losses.

    Notes
    -----
    Published: the estimate from two points, the steps, and the rates.

    Ours: the constants, derived independently and not compared with the printed paper; the step
    1/(L sqrt(d T)), which uses the smaller second moment of Shamir (JMLR 2017); and the limit r/2
    on delta.

    References
    ----------
    Agarwal, Dekel, Xiao: Optimal algorithms for online convex optimization with multi-point
    bandit feedback. COLT 2010.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = TwoPoint(Ball(3), horizon=1000, lipschitz=1.0, seed=1)
    >>> query = learner.ask()
    >>> query.point.shape
    (2, 3)
    >>> learner.tell(query, (0.3, 0.2))
    >>> learner.rounds
    1
    """

    feedback = Feedback.PAIR
    horizon = parameters.horizon(2, "the exploration contains ln T")
    lipschitz = parameters.lipschitz()
    curvature = Parameter(
        "The strong convexity that every loss has; None for convex losses.",
        arguments.optional(arguments.positive),
    )

    def __init__(
        self,
        domain: Domain,
        horizon: int,
        lipschitz: float,
        curvature: float | None = None,
        *,
        loss_range: LossRange = (-1.0, 1.0),
        seed: int | None = None,
    ) -> None:
        super().__init__(domain, loss_range, seed)
        self.horizon, self.lipschitz, self.curvature = horizon, lipschitz, curvature
        slope = self._in_units("lipschitz")
        inradius = domain.inradius / domain.radius
        if self.curvature is None:
            self._descend(convex_pace(domain.dim, inradius, self.horizon, slope))
        else:
            sigma = self._assumed_curvature(self.curvature)
            self._descend(strongly_convex_pace(domain.dim, inradius, self.horizon, sigma))

    def _propose(self) -> tuple[Array, float, Memo]:
        _, _, memo = super()._propose()
        return *self._vector(memo), memo

    def _vector(self, memo: Memo) -> tuple[Array, float]:
        """The two vectors to play, one in each row, and the larger of their squares."""
        pace, both = self._pace, np.empty((2, self.geometry.size))
        far = pace.reach / pace.shrink * memo.asked[2]
        for u, scale in zip(both, (far, -far), strict=True):
            self.geometry.point(memo.state.iterate, memo.metric, scale, u)
        both *= pace.shrink
        return both, float((both * both).sum(axis=1).max())

    def _placed(self, u: Array, square: float) -> Array:
        one, two = (super(TwoPoint, self)._placed(each, square) for each in u)
        return np.stack([one, two])

    def _scaled_answer(self, answer: Any) -> float:
        """Half the difference of the two losses: what one loss is to the one-point estimate."""
        one, two = (
            self._scaled_loss(part) for part in self.feedback.parts(type(self).__name__, answer)
        )
        return (one - two) / 2.0

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        unit = 1.0 / domain.radius
        yield cls(domain, 1000, unit, seed=seed)
        yield cls(domain, 5000, 20 * unit, 4 * unit**2, loss_range=(3, 11), seed=seed)
