"""Gradient descent from one value a round, measured against a reference that is known beforehand.

In the paper's units, with r the inradius, delta_t the reach and b_t a number known before round t:

    x_t     = y_t + delta_t s_t,      s_t uniform on the unit sphere of the set's plane
    g_t     = (d/delta_t) (f_t(x_t) - b_t) s_t
    y_{t+1} = the point of `shrink` X nearest to y_t - eta_t g_t

As b_t does not depend on s_t, the mean of g_t is that of (d/delta_t) f_t(x_t) s_t, `descent`'s; its
variance is that of the difference. A learner's own file has its `ReferencePace`.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from dikin.domains.base import Array
from dikin.learners.descent import descend, explored
from dikin.learners.kernel_learner import KernelLearner, LearnerState, Memo, Proposal

REFERENCE, ANSWERS = 0, 1
"""The numbers of the state: b, and how many answers it is made of."""


class ReferencePace(Protocol):
    """How a learner explores, steps and expects: a NamedTuple that compiles unchanged."""

    @property
    def dim(self) -> float: ...

    @property
    def shrink(self) -> float:
        """The share of the set in which the centre stays, at most 1 - delta_1/r."""
        ...

    def reach_at(self, round: int) -> float:
        """delta_t, which does not grow."""
        ...

    def step(self, round: int) -> float:
        """eta_t."""
        ...

    def newest(self, round: int) -> float:
        """How much of the reference is the newest answer, 1 after the first round."""
        ...


class ReferenceKernel(NamedTuple):
    """A round; the iterate is y_t/shrink, a point of the whole set."""

    geometry: Any
    pace: Any

    def ask(self, state: LearnerState, s: Array, metric: Array, u: Array) -> Proposal:
        reach = self.pace.reach_at(int(state.numbers[ANSWERS]) + 1)
        return explored(self.geometry, state.iterate, reach, self.pace.shrink, s, metric, u)

    def tell(
        self, round: int, memo: Memo, loss: float, curvature: float, state: LearnerState
    ) -> None:
        pace, answers = self.pace, int(state.numbers[ANSWERS])
        # The first answer has nothing to be measured against.
        surprise = loss - state.numbers[REFERENCE] if answers > 0 else 0.0
        reach = pace.reach_at(int(memo.state.numbers[ANSWERS]) + 1)
        slope = pace.step(round) * pace.dim * surprise / (reach * pace.shrink)
        descend(self.geometry, memo, slope, state)
        state.numbers[REFERENCE] += pace.newest(answers + 1) * (loss - state.numbers[REFERENCE])
        state.numbers[ANSWERS] = answers + 1.0


class ReferenceDescent(KernelLearner):
    """Descent on differences from a reference; subclasses supply the pace."""

    def _descend(self, pace: ReferencePace) -> None:
        geometry = self.geometry
        state = LearnerState([0.0, 0.0], np.zeros(geometry.size), geometry.start())
        self._begin(ReferenceKernel(geometry, pace), state)

    def _center_vector(self) -> Array:
        assert isinstance(self._kernel, ReferenceKernel)
        shrink: float = self._kernel.pace.shrink
        return super()._center_vector() * shrink
