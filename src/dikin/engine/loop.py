"""A round, and a run of rounds, as plain arithmetic on numbers and preallocated arrays.

This is a learner's ask and tell with the environment between them, and the engine compiles it as it
is. The random numbers are arguments.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dikin.domains.base import Array
from dikin.environments.base import add
from dikin.kernel import compilable
from dikin.learners.base import Learner
from dikin.learners.kernel_learner import KernelLearner, LearnerState


class Workspace(NamedTuple):
    """Vectors that every round reuses."""

    s: Array
    metric: Array
    u: Array
    """The working vector to play."""
    x: Array
    """The point of u."""

    @classmethod
    def of(cls, learner: KernelLearner) -> Workspace:
        s, u = np.zeros((2, learner.geometry.size))
        return cls(s, np.zeros(learner._metric_form), u, np.zeros(learner.units.center.size))


class UnitConversion(NamedTuple):
    """Conversion of the user's units to the learner's, as plain numbers."""

    center: Array
    radius: float
    loss_offset: float
    loss_scale: float
    curvature_scale: float
    """A strong convexity of 1 in working units."""
    curvature_limit: float
    """The largest curvature that is reported in a round: understating is safe."""

    @classmethod
    def of(cls, learner: Learner) -> UnitConversion:
        units, most = learner.units, float(learner.curvature_limit[0])
        center = np.array(units.center.ravel())
        curved = learner.curvature_unit
        return cls(center, units.radius, units.loss_offset, units.loss_scale, curved, most)


@compilable
def play_round(
    learner: Any,
    losses: Any,
    units: UnitConversion,
    state: LearnerState,
    space: Workspace,
    sums: Array,
    round: int,
    chance: float,
) -> None:
    """Ask, answer, tell: round t with the noise in the workspace and the environment's chance."""
    proposal = learner.ask(state, space.s, space.metric, space.u)
    learner.geometry.write_point(space.u, units.center, units.radius, space.x)

    loss = losses.value(round, chance, space.x)
    losses.accumulate(round, chance, sums)
    add(sums, 0, loss)
    f = (loss - units.loss_offset) * (1.0 / units.loss_scale)
    sigma = min(losses.strong_convexity(round), units.curvature_limit) * units.curvature_scale

    learner.tell(round, (state, space.metric, proposal), f, sigma, state)


def play_rounds(
    learner: Any,
    losses: Any,
    units: UnitConversion,
    state: LearnerState,
    space: Workspace,
    sums: Array,
    learner_generator: np.random.Generator,
    loss_generator: np.random.Generator,
    played: int,
    rounds: int,
) -> None:
    """Rounds played + 1, ..., played + rounds."""
    s = space.s
    for round in range(played + 1, played + rounds + 1):
        for i in range(s.size):
            s[i] = learner_generator.standard_normal()
        chance = loss_generator.random()
        play_round(learner, losses, units, state, space, sums, round, chance)
