"""A round, and a run of rounds, as plain arithmetic on numbers and preallocated arrays.

This is a learner's ask and tell with the environment between them, and the engine compiles it as it
stands. The random numbers of a round come in from outside, so that `play_round` can be built for
any target; `play_rounds` draws them from the generators of the two players.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dikin.domains.base import Array
from dikin.environments.base import add
from dikin.kernel import compiled
from dikin.learners.base import Learner
from dikin.learners.player import Memory, Scratch


class Scales(NamedTuple):
    """The learner's units."""

    center: Array
    radius: float
    loss_offset: float
    loss_scale: float
    curvature_scale: float
    """What a strong convexity of 1 is in working units."""
    curvature_limit: float
    """The most that is told of a round: to say less is safe."""

    @classmethod
    def of(cls, learner: Learner) -> Scales:
        units, most = learner.units, float(learner.curvature_limit[0])
        center = np.array(units.center.ravel())
        curved = units.curvature(1.0) * learner.geometry.shortest**2
        return cls(center, units.radius, units.loss_offset, units.loss_scale, curved, most)


@compiled
def play_round(
    player: Any,
    world: Any,
    scales: Scales,
    memory: Memory,
    scratch: Scratch,
    sums: Array,
    round: int,
    chance: float,
) -> None:
    """Ask, answer, tell: round t with the noise in scratch and the environment's chance."""
    aimed = player.ask(memory, scratch)
    player.kernel.outward(scratch.u, scales.center, scales.radius, scratch.x)

    loss = world.value(round, chance, scratch.x)
    world.accumulate(round, chance, sums)
    add(sums, 0, loss)
    f = (loss - scales.loss_offset) * (1.0 / scales.loss_scale)
    sigma = min(world.strong_convexity(round), scales.curvature_limit) * scales.curvature_scale

    player.tell(round, aimed, f, sigma, memory, scratch)


def play_rounds(
    player: Any,
    world: Any,
    scales: Scales,
    memory: Memory,
    scratch: Scratch,
    sums: Array,
    learner_generator: np.random.Generator,
    world_generator: np.random.Generator,
    played: int,
    rounds: int,
) -> None:
    """Rounds played + 1, ..., played + rounds."""
    noise = scratch.noise
    for round in range(played + 1, played + rounds + 1):
        for i in range(noise.size):
            noise[i] = learner_generator.standard_normal()
        chance = world_generator.random()
        play_round(player, world, scales, memory, scratch, sums, round, chance)
