"""PBGD (Zhao, Wang, Zhang, Zhou, JMLR 2021): gradient descent at the right pace for any drift.

Parameter-free bandit gradient descent. How fast to step depends on the length P of the path that
the minimum takes, which nobody knows: so experts with steps of all sizes descend on one estimate,
and what is played is their average. With |f| <= 1, the set inside the unit ball, a ball of radius r
inside it and s_t uniform on the unit sphere of the set's plane,

    eta_i = 2^(i-1) eta_1,                i = 1, ..., N = 1 + ceil(log2(1 + 2 T/7)/2)
    x_t   = sum_i w_i x_{t,i} / sum_i w_i
    w_i   = exp(-epsilon L_{t-1,i})/(i (i + 1)),    epsilon = sqrt(8/T)/(2 G)
    L_{t,i}   = sum_{s<=t} g_s.(x_{s,i} - x_s)
    x_{t+1,i} = the point of (1 - delta/r) X nearest to x_{t,i} - eta_i g_t

where |g_t| <= G, and delta is at most r/2:

    one point:   x_t + delta s_t is played,           g_t = (d/delta) f_t(x_t + delta s_t) s_t
                 delta = sqrt(d) T^(-1/4),   G = d/delta,   eta_1 = sqrt(7/T)/G,
                 regret of order T^(3/4) (1 + P)^(1/2)
    two points:  x_t + delta s_t and x_t - delta s_t are played, their mean is paid,
                 g_t = (d/(2 delta)) (f_t(x_t + delta s_t) - f_t(x_t - delta s_t)) s_t
                 delta = d/sqrt(T),          G = d L,       eta_1 = sqrt(7/(2 T))/G,
                 regret of order T^(1/2) (1 + P)^(1/2)

against any sequence of points whose path has length P. By Hoeffding's lemma the average loses at
most G sqrt(T/2) (1 + ln(1/w_{1,i})) more on the estimates than expert i, as a linear loss of slope
G differs by at most 2 G on the set (Cesa-Bianchi, Lugosi 2006, Theorem 2.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, log2, sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.domains.base import Array, Domain
from dikin.learners import parameters
from dikin.learners.experts import ExpertsLearner, copy_expert, explore_around_average
from dikin.learners.kernel_learner import LearnerState, Memo, Proposal
from dikin.learners.pair import PairLearner
from dikin.units import LossRange
from dikin.vectors import add_scaled, combine, dot, multiply


class PBGDKernel(NamedTuple):
    """A round of the learner; its numbers are the epsilon L_i of the experts."""

    geometry: Any
    reach: float
    shrink: float
    priors: Array
    steps: Array
    dim: float
    epsilon: float

    def ask(self, state: LearnerState, s: Array, metric: Array, u: Array) -> Proposal:
        return explore_around_average(self, state, s, metric, u)

    def tell(
        self, round: int, memo: Memo, loss: float, curvature: float, state: LearnerState
    ) -> None:
        geometry, size, held = self.geometry, self.geometry.size, self.geometry.iterate_size
        middle, unit = memo.metric[:size], memo.metric[size : 2 * size]
        away = memo.metric[2 * size : 3 * size]
        slope = self.dim / self.reach * loss  # the estimate is slope s_t
        for i in range(self.steps.size):
            linear = state.linear[i * size : (i + 1) * size]
            copy_expert(self, i, state, linear)
            combine(1.0, linear, -1.0, middle, away)
            state.numbers[i] += self.epsilon * slope * dot(away, unit)
            multiply(-1.0 / self.shrink, linear, linear)
            add_scaled(self.steps[i] * slope / self.shrink, unit, linear)
            geometry.project(linear, state.iterate[i * held : (i + 1) * held])


class StepPool(NamedTuple):
    """What the two feedbacks choose: delta, G and the least step."""

    reach: float
    gradient_bound: float
    first: float


def one_point_pool(dim: int, inradius: float, horizon: int) -> StepPool:
    """The tuning for one value a round."""
    reach = min(sqrt(dim) * horizon**-0.25, inradius / 2.0)
    return StepPool(reach, dim / reach, sqrt(7.0 / horizon) * reach / dim)


def two_point_pool(dim: int, inradius: float, horizon: int, lipschitz: float) -> StepPool:
    """The tuning for two values a round of L-Lipschitz losses."""
    reach = min(dim / sqrt(horizon), inradius / 2.0)
    return StepPool(reach, dim * lipschitz, sqrt(3.5 / horizon) / (dim * lipschitz))


class StepPoolLearner(ExpertsLearner):
    """Experts with steps of all sizes; subclasses bring the pool."""

    def _pool(self, pool: StepPool, horizon: int) -> None:
        domain, count = self.domain, 1 + ceil(log2(1.0 + 2.0 * horizon / 7.0) / 2.0)
        shrink = 1.0 - pool.reach / (domain.inradius / domain.radius)
        order = np.arange(1.0, count + 1.0)
        steps, priors = pool.first * 2.0 ** (order - 1.0), 1.0 / (order * (order + 1.0))
        epsilon = sqrt(8.0 / horizon) / (2.0 * pool.gradient_bound)
        kernel = PBGDKernel(self.geometry, pool.reach, shrink, priors, steps, domain.dim, epsilon)
        self._begin_experts(kernel, count * [0.0])


class PBGD(StepPoolLearner):
    """Learner for convex losses whose minimum moves, over a known horizon.

    How far it moves is neither told nor known; curvature is not used.

    Notes
    -----
    Published: the algorithm and the rates of the regret; delta, the pool of steps, the first
    weights and the shrunk set, read from the authors' code in PyNOL (github.com/li-lf/PyNOL).

    Ours: the rate epsilon of the weights, which Hoeffding's lemma gives for a known horizon, where
    that code has 2/(G D sqrt(t)), falling; and the steps where T is so small that delta stops at
    r/2: they go on as sqrt(7/T)/G. The printed text was not compared.

    References
    ----------
    Zhao, Wang, Zhang, Zhou: Bandit convex optimization in non-stationary environments. Journal of
    Machine Learning Research 22, 2021.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = PBGD(Ball(2), horizon=1000, seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    >>> learner.rounds
    1
    """

    horizon = parameters.horizon(1, "the steps depend on it")

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
        inradius = domain.inradius / domain.radius
        self._pool(one_point_pool(domain.dim, inradius, self.horizon), self.horizon)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 4, loss_range=(3, 11), seed=seed)
        yield cls(domain, 100, seed=seed)


class TwoPointPBGD(PairLearner, StepPoolLearner):
    """`PBGD` that is told `lipschitz` losses at two points a round.

    Of a query `point[0]` and `point[1]` are played; the answer is the pair of their losses.

    Notes
    -----
    Published: the algorithm and the rates of the regret; delta, the pool of steps, the first
    weights and the shrunk set, read from the authors' code in PyNOL (github.com/li-lf/PyNOL).

    Ours: the rate epsilon of the weights, as in `PBGD`. The printed text was not compared.

    References
    ----------
    Zhao, Wang, Zhang, Zhou: Bandit convex optimization in non-stationary environments. Journal of
    Machine Learning Research 22, 2021.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = TwoPointPBGD(Ball(3), horizon=1000, lipschitz=1.0, seed=1)
    >>> query = learner.ask()
    >>> query.point.shape
    (2, 3)
    >>> learner.tell(query, (0.3, 0.2))
    >>> learner.rounds
    1
    """

    horizon = parameters.horizon(1, "the steps depend on it")
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
        super().__init__(domain, loss_range, seed)
        self.horizon, self.lipschitz = horizon, lipschitz
        inradius, slope = domain.inradius / domain.radius, self._in_units("lipschitz")
        self._pool(two_point_pool(domain.dim, inradius, self.horizon, slope), self.horizon)

    def _both(self, memo: Memo) -> Array:
        size, reach = self.geometry.size, self._experts.reach
        middle, unit = memo.metric[:size], memo.metric[size : 2 * size]
        return np.stack([middle + reach * unit, middle - reach * unit])

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        unit = 1.0 / domain.radius
        yield cls(domain, 4, unit, seed=seed)
        yield cls(domain, 100, 20 * unit, loss_range=(3, 11), seed=seed)
