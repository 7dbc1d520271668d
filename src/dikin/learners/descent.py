"""Gradient descent with projections, for the learners without a barrier.

In the paper's units, with r the inradius, so that a step of delta from (1 - delta/r) X stays in X:

    x_t     = y_t + delta s_t,      s_t uniform on the unit sphere of the set's plane
    g_t     = (d/delta) f_t(x_t) s_t
    y_{t+1} = the point of `shrink` X nearest to y_t - eta_t g_t

A learner's own file has only its `Pace`: how far it explores and how fast it steps.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple, Protocol

import numpy as np

from dikin.domains.base import Array
from dikin.kernel import compilable
from dikin.learners.kernel_learner import KernelLearner, LearnerState, Memo, Proposal
from dikin.vectors import multiply


class Pace(Protocol):
    """How a learner explores and steps: a NamedTuple that compiles unchanged."""

    @property
    def dim(self) -> float: ...

    @property
    def reach(self) -> float:
        """delta: how far from the centre points are played."""
        ...

    @property
    def shrink(self) -> float:
        """The share of the set in which the centre stays, at most 1 - delta/r."""
        ...

    def step(self, round: int) -> float:
        """eta_t."""
        ...


@compilable
def explored(
    geometry: Any, iterate: Array, reach: float, shrink: float, s: Array, metric: Array, u: Array
) -> Proposal:
    """Write y + delta s into u, for the iterate y/shrink; s comes as noise, becomes a direction."""
    square, trace = geometry.explore(iterate, 0.0, 1.0, s, metric)
    # Without a metric, there is nothing to explore.
    unit = 1.0 / sqrt(square) if square > 0.0 else 0.0
    norm = geometry.point(iterate, metric, reach / shrink * unit, u)
    multiply(shrink, u, u)
    return shrink * shrink * norm, trace, unit


@compilable
def descend(geometry: Any, memo: Memo, slope: float, state: LearnerState) -> None:
    """A step against the direction of a query, and back into the set."""
    geometry.write_vector(state.iterate, -1.0, state.linear)
    geometry.linear_update(
        memo.state.iterate, memo.metric, slope * memo.asked[2], 0.0, state.linear
    )
    geometry.project(state.linear, state.iterate)


class DescentKernel(NamedTuple):
    """A round of gradient descent; the iterate is y_t/shrink, a point of the whole set."""

    geometry: Any
    pace: Any

    def ask(self, state: LearnerState, s: Array, metric: Array, u: Array) -> Proposal:
        pace = self.pace
        return explored(self.geometry, state.iterate, pace.reach, pace.shrink, s, metric, u)

    def tell(
        self, round: int, memo: Memo, loss: float, curvature: float, state: LearnerState
    ) -> None:
        pace = self.pace
        slope = pace.step(round) * pace.dim * loss / (pace.reach * pace.shrink)
        descend(self.geometry, memo, slope, state)


class Descent(KernelLearner):
    """Projected gradient descent on an estimate from values; subclasses supply the pace."""

    @property
    def _pace(self) -> Pace:
        assert isinstance(self._kernel, DescentKernel)
        pace: Pace = self._kernel.pace
        return pace

    def _descend(self, pace: Pace) -> None:
        geometry = self.geometry
        state = LearnerState([], np.zeros(geometry.size), geometry.start())
        self._begin(DescentKernel(geometry, pace), state)

    def _center_vector(self) -> Array:
        return super()._center_vector() * self._pace.shrink
