"""One-measurement SPSA (Spall, Automatica 33, 1997) with a running mean of the losses as baseline.

With the set inside the unit ball, a ball of radius r inside it, and |f| <= 1:

    delta_t = c r t^(-0.101),     eta_t = a (delta_1/d) ((A + 1)/(A + t))^0.602
    b_t     = the running mean: the newest loss has the weight t^(-1/2)

The exponents are those that Spall recommends ("Implementation of the simultaneous perturbation
algorithm for stochastic optimization", IEEE Transactions on Aerospace and Electronic Systems 34,
1998), as is the rule for a: the first step is a reasonable one, here a = 1/2 of the radius for a
surprise of 1. The published form has b_t = 0. Nothing is proved for losses that change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Self

from dikin import arguments
from dikin.domains.base import Domain
from dikin.learners.parameters import Parameter
from dikin.learners.reference_descent import ReferenceDescent
from dikin.units import LossRange

STEP_POWER, REACH_POWER, BASELINE_POWER = 0.602, 0.101, 0.5
"""The first two are Spall's. The baseline moves faster than the centre: it must follow it."""
STABILITY = 100.0
"""A: rounds in which the step hardly falls; a tenth of a game of a thousand rounds."""
FIRST_REACH = 0.1
"""c, in units of the inradius."""


class SpallPace(NamedTuple):
    """Falling steps and a reach that falls more slowly."""

    dim: float
    first_reach: float
    shrink: float
    first_step: float

    def reach_at(self, round: int) -> float:
        reach: float = self.first_reach * round**-REACH_POWER
        return reach

    def step(self, round: int) -> float:
        step: float = self.first_step * ((STABILITY + 1.0) / (STABILITY + round)) ** STEP_POWER
        return step

    def newest(self, round: int) -> float:
        newest: float = round**-BASELINE_POWER
        return newest


class OneMeasurementSPSA(ReferenceDescent):
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
        pace = SpallPace(domain.dim, reach, 1.0 - FIRST_REACH, self.step * reach / domain.dim)
        self._descend(pace)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, seed=seed)
        yield cls(domain, 0.1, loss_range=(3, 11), seed=seed)
