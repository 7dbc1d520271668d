"""Optimistic descent from two points a round: it pays for what a prediction did not foresee.

With |f| <= 1, the set inside the unit ball and a ball of radius r inside it, s_t uniform on the
unit sphere of the set's plane, delta = min{1/T, r/2}, m_1 = z_1 = y_1 = 0 and K = (1 - delta/r) X,

    x_t, x_t' = y_t + delta s_t, y_t - delta s_t        both are played, their mean is paid,
    v_t = (f_t(x_t) - f_t(x_t'))/(2 delta)              the slope along s_t,
    e_t = v_t - m_t.s_t                                 what the prediction m_t did not foresee,
    g_t = m_t + d e_t s_t                               the estimate of the gradient,
    eta_{t+1} = sqrt(1/2)/sqrt(d^2 + sum_{i<=t} |g_i - m_i|^2),
    z_{t+1} = the point of K nearest to z_t - eta_{t+1} g_t,
    m_{t+1} = m_t + e_t s_t                             the prediction, corrected along s_t,
    y_{t+1} = the point of K nearest to z_{t+1} - eta_{t+1} m_{t+1}.

As E d s_t s_t' = 1 on the plane, the mean of g_t is the gradient of the smoothed loss whatever the
prediction is; where f_t is linear, E|g_t - m_t|^2 = d |f_t' - m_t|^2. For convex L-Lipschitz losses
that are also beta-smooth, chosen without knowledge of the directions, and T >= 2/r,

    E regret <= 3 d + 5.3 sqrt(d V) + 2.7 d beta/sqrt(T) + L (2 + 1/r),
    V = E sum_t |f_t'(y_t) - m_t|^2,

and without smoothness E regret <= 3 d + 15 L sqrt(d T) + L (2 + 1/r): docs/mathematics.md,
Proposition 30. Where gradients change slowly, V is far below L^2 T. Both losses must come from one
function, noise included: a difference in noise would be divided by delta.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.domains.base import Array, Domain
from dikin.learners import parameters
from dikin.learners.descent import explored
from dikin.learners.kernel_learner import LearnerState, Memo, Proposal
from dikin.learners.pair import PairLearner
from dikin.units import LossRange
from dikin.vectors import add_combination, add_scaled, clear, dot

STEP = sqrt(0.5)
"""The factor of eta that makes the bound least while z_t is at most 1 from the best point."""
SQUARES = 0
"""The number of the state: d^2 and the sum of |g_i - m_i|^2."""


class OptimisticKernel(NamedTuple):
    """A round; linear is m_t, and iterate is y_t/shrink and z_t/shrink, points of the whole set."""

    geometry: Any
    dim: float
    reach: float
    shrink: float

    def ask(self, state: LearnerState, s: Array, metric: Array, u: Array) -> Proposal:
        played = state.iterate[: self.geometry.iterate_size]
        return explored(self.geometry, played, self.reach, self.shrink, s, metric, u)

    def tell(
        self, round: int, memo: Memo, loss: float, curvature: float, state: LearnerState
    ) -> None:
        geometry, size, held = self.geometry, self.geometry.size, self.geometry.iterate_size
        played, base = state.iterate[:held], state.iterate[held:]
        unit, moved, prediction = state.scratch[:size], state.scratch[size:], state.linear
        asked_at = memo.state.iterate[:held]
        clear(unit)
        geometry.linear_update(asked_at, memo.metric, memo.s, memo.asked[2], 0.0, unit)
        # A late answer is compared with the newest prediction, which does not depend on its s_t.
        surprise = loss / self.reach - dot(prediction, unit)
        state.numbers[SQUARES] += (self.dim * surprise) ** 2
        step = STEP / sqrt(state.numbers[SQUARES]) / self.shrink
        geometry.write_vector(base, -1.0, moved)
        add_combination(step, prediction, step * self.dim * surprise, unit, moved)
        geometry.project(moved, base)
        add_scaled(surprise, unit, prediction)
        geometry.write_vector(base, -1.0, moved)
        add_scaled(step, prediction, moved)
        geometry.project(moved, played)


class OptimisticTwoPoint(PairLearner):
    """Learner that is told losses at two points a round, and predicts their gradients.

    Neither a Lipschitz constant nor how fast gradients change is needed: the step follows what the
    predictions missed. Of a query `point[0]` and `point[1]` are played; the answer is the pair of
    their losses. It has no certificate.

    Notes
    -----
    Published: the estimate around a prediction, optimistic steps, and the order of the regret,
    sqrt(d V); the prediction that is corrected along a coordinate (Chiang, Lee, Lu).

    Ours: the prediction that is corrected along a direction of the sphere, so that it works on any
    set, also one in a plane; the factor sqrt(1/2) of the step, which makes the bound least while
    z_t is at most 1, the radius of the set, from the best point; the d^2 in the step, the largest
    |g_1 - m_1|^2 of a loss of slope 1, which on the unit ball uses the whole range of losses; the
    limit r/2 on delta; the constants of the bound and their proof. The printed texts were not
    compared.

    References
    ----------
    Chiang, Lee, Lu: Beating bandits in gradually evolving worlds. COLT 2013.

    Yu, Yan, Zhao: Improved dimension dependence for bandit convex optimization with gradient
    variations. ICML 2026 (arXiv 2602.04761).

    Barik et al.: Bandit convex optimization with gradient prediction adaptivity. 2026 (arXiv
    2605.22191).

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = OptimisticTwoPoint(Ball(3), horizon=1000, seed=1)
    >>> query = learner.ask()
    >>> query.point.shape
    (2, 3)
    >>> learner.tell(query, (0.3, 0.2))
    >>> learner.rounds
    1
    """

    horizon = parameters.horizon(1, "the exploration depends on it")

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
        inradius, geometry, dim = domain.inradius / domain.radius, self.geometry, domain.dim
        reach = min(1.0 / self.horizon, inradius / 2.0)
        self._optimistic = OptimisticKernel(geometry, dim, reach, 1.0 - reach / inradius)
        prediction, iterates = np.zeros(geometry.size), np.tile(geometry.start(), 2)
        first = [float(dim * dim)]
        room = np.zeros(2 * geometry.size)
        self._begin(self._optimistic, LearnerState(first, prediction, iterates, scratch=room))

    def _both(self, memo: Memo) -> Array:
        geometry, unit = self.geometry, np.zeros(self.geometry.size)
        played = memo.state.iterate[: geometry.iterate_size]
        geometry.linear_update(played, memo.metric, memo.s, memo.asked[2], 0.0, unit)
        middle, away = self._middle(memo.state), self._optimistic.reach * unit
        return np.stack([middle + away, middle - away])

    def _middle(self, state: LearnerState) -> Array:
        """y_t."""
        played = state.iterate[: self.geometry.iterate_size]
        return self.geometry.vector(played) * self._optimistic.shrink

    def _center_vector(self) -> Array:
        return self._middle(self._state)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 1000, seed=seed)
        yield cls(domain, 50, loss_range=(3, 11), seed=seed)
