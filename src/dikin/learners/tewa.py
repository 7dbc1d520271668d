"""TEWA (Liu, Baudry, Zimmert, Rebeschini, Akhavan, NeurIPS 2025): unknown curvature.

In the paper's units, with s_t uniform on the unit sphere and experts i of different rates,

    h = sqrt(d) T^(-1/4), at most r/2,    G = d/h,    D = 2,    shrink = 1 - h/r
    eta_i = 2^(-i)/(5 G D),               i = 0, ..., ceil(log2(T)/2)
    x_t   = sum_i w_i x_{t,i} / sum_i w_i,                w_i = eta_i exp(-L_{t-1,i})
    z_t   = x_t + h s_t is played,        g_t = (d/h) f_t(z_t) s_t
    l_{t,i}(x) = eta_i g_t.(x - x_t) + eta_i^2 G^2 |x - x_t|^2
    L_{t,i}    = sum_{s<=t} l_{s,i}(x_{s,i})
    x_{t+1,i}  = the point of `shrink` X nearest to
                 x_{t,i} - gradient l_{t,i}(x_{t,i})/(2 eta_i^2 G^2 t)
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, exp, log2, sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.domains.base import Array, Domain
from dikin.kernel import compilable
from dikin.learners import parameters
from dikin.learners.kernel_learner import Asked, KernelLearner, LearnerState, Proposal
from dikin.vectors import add_combination, combine, dot, dots


class TewaKernel(NamedTuple):
    """A round. Its numbers are the L_i, its iterates the x_{t,i}/shrink, one after the other.

    metric = (x_t, s_t, room, a geometry's metric).
    """

    geometry: Any
    reach: float
    shrink: float
    gradient_bound: float
    rates: Array

    def ask(self, state: LearnerState, s: Array, metric: Array, u: Array) -> Proposal:
        geometry = self.geometry
        middle, unit = metric[0], metric[1]
        average_experts(self, state, middle, u)
        first = state.iterate[: geometry.iterate_size]
        seen = geometry.explore(first, 0.0, 1.0, s, metric[3:])
        unit[:] = 0.0
        geometry.linear_update(first, metric[3:], seen, 1.0 / sqrt(seen[0]), 0.0, unit)
        combine(1.0, middle, self.reach, unit, u)
        return dot(u, u), 0.0, 0.0

    def tell(
        self, round: int, asked: Asked, loss: float, curvature: float, state: LearnerState
    ) -> None:
        geometry, size, held = self.geometry, self.geometry.size, self.geometry.iterate_size
        _, metric, _ = asked
        middle, unit, away = metric[0], metric[1], metric[2]
        for i in range(self.rates.size):
            linear = state.linear[i * size : (i + 1) * size]
            rate, second = self.rates[i], 2.0 * (self.rates[i] * self.gradient_bound) ** 2
            copy_expert(self, i, state, linear)
            combine(1.0, linear, -1.0, middle, away)
            square, along = dots(away, unit)
            slope = self.gradient_bound * loss  # the estimate is slope s_t
            state.numbers[i] += rate * slope * along + 0.5 * second * square
            step = 1.0 / (second * round * self.shrink)
            np.multiply(linear, -1.0 / self.shrink, linear)
            add_combination(step * rate * slope, unit, step * second, away, linear)
            geometry.project(linear, state.iterate[i * held : (i + 1) * held])


@compilable
def copy_expert(kernel: Any, i: int, state: LearnerState, u: Array) -> None:
    """Set u to x_{t,i}."""
    held = kernel.geometry.iterate_size
    np.multiply(state.iterate[i * held], kernel.shrink, u)


@compilable
def average_experts(kernel: Any, state: LearnerState, middle: Array, u: Array) -> None:
    """Set middle to x_t. The vector u is overwritten."""
    least, total = state.numbers[0], 0.0
    for i in range(kernel.rates.size):  # only ratios count: the best expert's exponential is one
        least = min(least, state.numbers[i])
    middle[:] = 0.0
    for i in range(kernel.rates.size):
        copy_expert(kernel, i, state, u)
        weight = kernel.rates[i] * exp(least - state.numbers[i])
        total += weight
        combine(weight, u, 1.0, middle, middle)
    np.multiply(middle, 1.0 / total, middle)


class Tewa(KernelLearner):
    """Learner for losses of unknown curvature, over a known horizon. Reported curvature is ignored.

    Regret of order sqrt(d) T^(3/4) for Lipschitz losses and d sqrt(T)/sigma for smooth and
    sigma-strongly convex ones with their minimisers inside.

    Notes
    -----
    Published: the algorithm for a fixed comparator: h = sqrt(d) T^(-1/4), the surrogate losses, the
    experts' steps, their weights, and 1 + ceil(log2(T)/2) experts.

    Ours: the scale 1/(5 G D) of the grid of rates, which is that of MetaGrad (van Erven and Koolen,
    NIPS 2016). The set of the experts, (1 - h/r) X in place of all points at least h inside,
    because it has a projection wherever X has one. The limit r/2 on h in place of r, and G = d/h,
    without a term for noise of unknown size.

    References
    ----------
    Liu, Baudry, Zimmert, Rebeschini, Akhavan: Non-stationary bandit convex optimization. NeurIPS
    2025.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = Tewa(Ball(2), horizon=1000, seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    """

    horizon: int = parameters.horizon(1, "the exploration depends on it")

    def _begin(self) -> None:
        inradius, dim = self.domain.inradius / self.domain.radius, self.domain.dim
        reach = min(sqrt(dim) * self.horizon**-0.25, inradius / 2.0)
        gradient_bound = dim / reach
        rates = 0.5 ** np.arange(1 + ceil(log2(self.horizon) / 2.0)) / (10.0 * gradient_bound)
        shrink = 1.0 - reach / inradius
        geometry = self.geometry
        kernel = TewaKernel(geometry, reach, shrink, gradient_bound, rates)
        iterate = np.tile(geometry.start(), (rates.size, 1))
        linear = np.zeros(rates.size * geometry.size)
        state = LearnerState(rates.size * [0.0], linear, iterate)
        self._start(kernel, state, own_rows=3)

    def _center_vector(self) -> Array:
        middle, u = np.empty(self.geometry.size), np.empty(self.geometry.size)
        average_experts(self._kernel, self._state, middle, u)
        return middle

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 4, loss_range=(3, 11), seed=seed)
