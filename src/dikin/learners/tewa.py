"""TEWA (Liu, Baudry, Zimmert, Rebeschini, Akhavan, NeurIPS 2025): unknown curvature.

Tilted exponentially weighted average, the version for a fixed comparator. It explores on a sphere
of radius h and lets experts with different rates descend on the estimates, one of which suits
whatever curvature the losses have. In the paper's units, with s_t uniform on the unit sphere,

    h = sqrt(d) T^(-1/4), at most r/2,    G = d/h,    D = 2,    shrink = 1 - h/r
    eta_i = 2^(-i)/(5 G D),               i = 0, ..., ceil(log2(T)/2)
    x_t   = sum_i w_i x_{t,i} / sum_i w_i,                w_i = eta_i exp(-L_{t-1,i})
    z_t   = x_t + h s_t is played,        g_t = (d/h) f_t(z_t) s_t
    l_{t,i}(x) = eta_i g_t.(x - x_t) + eta_i^2 G^2 |x - x_t|^2
    L_{t,i}    = sum_{s<=t} l_{s,i}(x_{s,i})
    x_{t+1,i}  = the point of `shrink` X nearest to
                 x_{t,i} - gradient l_{t,i}(x_{t,i})/(2 eta_i^2 G^2 t)

Regret of order sqrt(d) T^(3/4) for Lipschitz losses and d sqrt(T)/sigma for smooth and
sigma-strongly convex ones with their minimisers inside, with the same settings: sigma is neither
told nor known. Two things differ from the paper. Its experts live in {x : x + h Ball inside X};
here they live in (1 - h/r) X, which is contained in it, convex too, and has a projection wherever X
has one. And h stops at r/2, not at r, where only the centre would be left. The grid's factor 5 is
that of MetaGrad (van Erven, Koolen 2016).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, log2, sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.domains.base import Array, Domain
from dikin.kernel import compilable
from dikin.learners import parameters
from dikin.learners.experts import ExpertsLearner, copy_expert, explore_around_average
from dikin.learners.kernel_learner import LearnerState, Memo, Proposal
from dikin.units import LossRange
from dikin.vectors import add_combination, combine, dots, multiply


class TewaKernel(NamedTuple):
    """A round of the learner; the priors are the rates."""

    geometry: Any
    reach: float
    shrink: float
    gradient_bound: float
    priors: Array

    def ask(self, state: LearnerState, s: Array, metric: Array, u: Array) -> Proposal:
        return explore_around_average(self, state, s, metric, u)

    def tell(
        self, round: int, memo: Memo, loss: float, curvature: float, state: LearnerState
    ) -> None:
        for i in range(self.priors.size):
            teach_expert(self, i, round, memo, loss, state)


@compilable
def teach_expert(
    kernel: Any, i: int, age: float, memo: Memo, loss: float, state: LearnerState
) -> None:
    """Add the loss of expert i to its total and take its step, the `age`-th of its life."""
    geometry, size, held = kernel.geometry, kernel.geometry.size, kernel.geometry.iterate_size
    middle, unit = memo.metric[:size], memo.metric[size : 2 * size]
    away = memo.metric[2 * size : 3 * size]
    linear = state.linear[i * size : (i + 1) * size]
    rate, second = kernel.priors[i], 2.0 * (kernel.priors[i] * kernel.gradient_bound) ** 2
    copy_expert(kernel, i, state, linear)
    combine(1.0, linear, -1.0, middle, away)
    square, along = dots(away, unit)
    slope = kernel.gradient_bound * loss  # the estimate is slope s_t
    state.numbers[i] += rate * slope * along + 0.5 * second * square
    step = 1.0 / (second * age * kernel.shrink)
    multiply(-1.0 / kernel.shrink, linear, linear)
    add_combination(step * rate * slope, unit, step * second, away, linear)
    geometry.project(linear, state.iterate[i * held : (i + 1) * held])


def grid_of_rates(gradient_bound: float, rounds: float) -> Array:
    """The rates 2^(-i)/(5 G D) for so many rounds."""
    return np.asarray(0.5 ** np.arange(1 + ceil(log2(rounds) / 2.0)) / (10.0 * gradient_bound))


class Tewa(ExpertsLearner):
    """Learner for losses of unknown curvature, over a known horizon; what is told is ignored.

    Notes
    -----
    Published: the algorithm for a fixed comparator: h = sqrt(d) T^(-1/4), the surrogate losses, the
    experts' steps, their weights, and 1 + ceil(log2(T)/2) experts.

    Ours: the scale 1/(5 G D) of the grid of rates, which is that of MetaGrad (van Erven and Koolen,
    NIPS 2016) and was not compared with the paper; the set of the experts, (1 - h/r) X in place of
    all points at least h inside, because it has a projection wherever X has one; the limit r/2 on h
    in place of r, at which only the centre would be left; and G = d/h, the text's without a term
    for noise of unknown size, as losses here have a range. For a comparator that moves there is
    `TewaSE`.

    References
    ----------
    Liu, Baudry, Zimmert, Rebeschini, Akhavan: Non-stationary bandit convex optimization. NeurIPS
    2025.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = Tewa(Ball(2), horizon=1000, seed=1)
    >>> learner.tell(learner.ask(), 0.3)
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
        inradius = domain.inradius / domain.radius
        reach = min(sqrt(domain.dim) * self.horizon**-0.25, inradius / 2.0)
        gradient_bound = domain.dim / reach
        rates = grid_of_rates(gradient_bound, self.horizon)
        shrink = 1.0 - reach / inradius
        kernel = TewaKernel(self.geometry, reach, shrink, gradient_bound, rates)
        self._begin_experts(kernel, rates.size * [0.0])

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 4, loss_range=(3, 11), seed=seed)
