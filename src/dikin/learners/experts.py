"""Experts that descend on one estimate, averaged by exponential weights.

In the paper's units, with r the inradius, so that a step of `reach` from (1 - reach/r) X stays in
X:

    x_t = sum_i w_i x_{t,i}/sum_i w_i,    w_i = prior_i exp(-L_{t-1,i})
    x_t + reach s_t is played,            s_t uniform on the unit sphere of the set's plane

The experts x_{t,i} live in `shrink` X. A learner's own file says what they lose and how they step:
`tell` of its kernel. One with L_i = ASLEEP has no weight.
"""

from __future__ import annotations

from math import exp, sqrt
from typing import Any, Protocol

import numpy as np

from dikin.domains.base import Array
from dikin.kernel import compilable
from dikin.learners.kernel_learner import KernelLearner, LearnerKernel, LearnerState, Proposal
from dikin.vectors import add_scaled, clear, combine, dot, multiply

ASLEEP = 1e300
"""As good as infinite, and a number that can be saved."""


class ExpertsKernel(LearnerKernel, Protocol):
    """A round of such a learner; its numbers are the L_i of the experts.

    linear and iterate are those of the experts one after the other, where an iterate is
    x_{t,i}/shrink, a point of the whole set. metric = (x_t, s_t, a geometry's metric).
    """

    @property
    def reach(self) -> float:
        """How far from the average points are played."""
        ...

    @property
    def shrink(self) -> float:
        """The share of the set in which the experts stay, at most 1 - reach/r."""
        ...

    @property
    def priors(self) -> Array:
        """The weights before the first round, up to a factor."""
        ...


@compilable
def explore_around_average(
    kernel: Any, state: LearnerState, s: Array, metric: Array, u: Array
) -> Proposal:
    """The `ask` of all such kernels."""
    geometry, size = kernel.geometry, kernel.geometry.size
    middle, unit, seen = metric[:size], metric[size : 2 * size], metric[2 * size :]
    average_experts(kernel, state, middle, u)
    first = state.iterate[: geometry.iterate_size]
    square, _ = geometry.explore(first, 0.0, 1.0, s, seen)
    clear(unit)
    geometry.linear_update(first, seen, s, 1.0 / sqrt(square), 0.0, unit)
    combine(1.0, middle, kernel.reach, unit, u)
    return dot(u, u), 0.0, 0.0


@compilable
def copy_expert(kernel: Any, i: int, state: LearnerState, u: Array) -> None:
    """Set u to x_{t,i}."""
    held = kernel.geometry.iterate_size
    kernel.geometry.write_vector(state.iterate[i * held : (i + 1) * held], kernel.shrink, u)


@compilable
def place_expert(kernel: Any, i: int, u: Array, state: LearnerState) -> None:
    """Set x_{t,i} to u, a point of `shrink` X."""
    size, held = kernel.geometry.size, kernel.geometry.iterate_size
    linear = state.linear[i * size : (i + 1) * size]
    multiply(-1.0 / kernel.shrink, u, linear)
    kernel.geometry.project(linear, state.iterate[i * held : (i + 1) * held])


@compilable
def average_experts(kernel: Any, state: LearnerState, middle: Array, u: Array) -> None:
    """Set middle to x_t; u is overwritten."""
    least = least_of(state.numbers)  # only ratios count: the best expert's exponential is one
    total = 0.0
    clear(middle)
    for i in range(kernel.priors.size):
        copy_expert(kernel, i, state, u)
        weight = kernel.priors[i] * exp(least - state.numbers[i])
        total += weight
        add_scaled(weight, u, middle)
    multiply(1.0 / total, middle, middle)


@compilable
def least_of(numbers: Any) -> float:
    """The least of a few numbers."""
    least: float = numbers[0]
    for i in range(len(numbers)):
        least = min(least, numbers[i])
    return least


class ExpertsLearner(KernelLearner):
    """A learner that plays around the average of its experts."""

    _experts: ExpertsKernel

    def _begin_experts(self, kernel: ExpertsKernel, losses: list[float]) -> None:
        geometry, count = self.geometry, len(losses)
        linear, iterate = np.zeros(count * geometry.size), np.tile(geometry.start(), count)
        self._experts = kernel
        self._begin(kernel, LearnerState(losses, linear, iterate))
        # Room for x_t, s_t and a difference, which may share that of a direction once it is known.
        self._metric_size = 2 * geometry.size + max(geometry.metric_size, geometry.size)

    def _center_vector(self) -> Array:
        middle, u = np.empty(self.geometry.size), np.empty(self.geometry.size)
        average_experts(self._experts, self._state, middle, u)
        return middle
