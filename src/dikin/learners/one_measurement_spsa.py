"""One-measurement SPSA (Spall, Automatica 33, 1997) with a running mean of the losses as baseline.

With the set inside the unit ball, a ball of radius r inside it, and |f| <= 1:

    delta_t = c r t^(-0.101),     eta_t = a (delta_1/d) ((A + 1)/(A + t))^0.602
    x_t     = y_t + delta_t s_t,  s_t uniform on the unit sphere of the set's plane
    g_t     = (d/delta_t) (f_t(x_t) - b_t) s_t
    y_{t+1} = the point of (1 - c) X nearest to y_t - eta_t g_t
    b_t     = the running mean: the newest loss has the weight t^(-1/2)

As b_t does not depend on s_t, the mean of g_t is that of (d/delta_t) f_t(x_t) s_t; its variance is
that of the difference.

The exponents are those that Spall recommends ("Implementation of the simultaneous perturbation
algorithm for stochastic optimization", IEEE Transactions on Aerospace and Electronic Systems 34,
1998), as is the rule for a: the first step is a reasonable one, here a = 1/2 of the radius for a
surprise of 1. The published form has b_t = 0. Nothing is proved for losses that change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np

from dikin import arguments
from dikin.domains.base import Array, Domain
from dikin.learners.descent import descend, explored
from dikin.learners.kernel_learner import KernelLearner, LearnerState, Memo, Proposal
from dikin.learners.parameters import Parameter
from dikin.units import LossRange

STEP_POWER, REACH_POWER, BASELINE_POWER = 0.602, 0.101, 0.5
"""The first two are Spall's. The baseline moves faster than the centre: it must follow it."""
STABILITY = 100.0
"""A: rounds in which the step hardly falls; a tenth of a game of a thousand rounds."""
FIRST_REACH = 0.1
"""c, in units of the inradius."""


REFERENCE, ANSWERS = 0, 1
"""The numbers of the state: b, and how many answers it is made of."""


class SpallKernel(NamedTuple):
    """A round; the iterate is y_t/shrink, a point of the whole set."""

    geometry: Any
    dim: float
    shrink: float
    first_reach: float
    first_step: float

    def ask(self, state: LearnerState, s: Array, metric: Array, u: Array) -> Proposal:
        reach = self.first_reach * int(state.numbers[ANSWERS] + 1.0) ** -REACH_POWER
        return explored(self.geometry, state.iterate, reach, self.shrink, s, metric, u)

    def tell(
        self, round: int, memo: Memo, loss: float, curvature: float, state: LearnerState
    ) -> None:
        answers = int(state.numbers[ANSWERS])
        # The first answer has nothing to be measured against.
        surprise = loss - state.numbers[REFERENCE] if answers > 0 else 0.0
        reach = self.first_reach * int(memo.state.numbers[ANSWERS] + 1.0) ** -REACH_POWER
        step = self.first_step * ((STABILITY + 1.0) / (STABILITY + round)) ** STEP_POWER
        descend(self.geometry, memo, step * self.dim * surprise / (reach * self.shrink), state)
        newest = (answers + 1) ** -BASELINE_POWER
        state.numbers[REFERENCE] += newest * (loss - state.numbers[REFERENCE])
        state.numbers[ANSWERS] = answers + 1.0


class OneMeasurementSPSA(KernelLearner):
    """Stochastic approximation from one value a round, measured against a running mean.

    It needs no constant and no horizon, and has no guarantee.

    Notes
    -----
    Published: the estimate from one measurement, and the powers with which step and reach fall.

    Ours: the running mean of the losses as a baseline, where the published estimate has none;
    directions uniform on the sphere, where Spall draws each entry from {-1, 1}, so that there are
    some in every set; the projection; and the constants c, a and A.

    References
    ----------
    Spall: A one-measurement form of simultaneous perturbation stochastic approximation. Automatica
    33, 1997.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = OneMeasurementSPSA(Ball(2), seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    >>> learner.rounds
    1
    """

    step = Parameter(
        "The first step for a surprise of 1, in units of the radius.", arguments.positive
    )

    def __init__(
        self,
        domain: Domain,
        step: float = 0.5,
        *,
        loss_range: LossRange = (-1.0, 1.0),
        seed: int | None = None,
    ) -> None:
        super().__init__(domain, loss_range, seed)
        self.step = step
        reach = FIRST_REACH * domain.inradius / domain.radius
        geometry, first_step = self.geometry, self.step * reach / domain.dim
        kernel = SpallKernel(geometry, domain.dim, 1.0 - FIRST_REACH, reach, first_step)
        self._shrink = kernel.shrink
        self._begin(kernel, LearnerState([0.0, 0.0], np.zeros(geometry.size), geometry.start()))

    def _center_vector(self) -> Array:
        return super()._center_vector() * self._shrink

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, seed=seed)
        yield cls(domain, 0.1, loss_range=(3, 11), seed=seed)
