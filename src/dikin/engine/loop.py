"""A round, and a run of rounds, as plain arithmetic on numbers and preallocated arrays.

This is `BarrierFTRL.ask` and `tell` with the environment between them, and the engine compiles it
as it stands. The random numbers of a round come in from outside, so that `play_round` can be built
for any target; `play_rounds` draws them from the generators of the two players.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from dikin.domains.base import Array
from dikin.environments.base import add
from dikin.kernel import compiled


class Scales(NamedTuple):
    """The learner's units."""

    center: Array
    radius: float
    loss_offset: float
    loss_scale: float


class Scratch(NamedTuple):
    """Vectors that every round uses anew."""

    noise: Array
    work: Array
    u: Array
    x: Array

    @classmethod
    def of(cls, size: int, works: int, entries: int) -> Scratch:
        return cls(np.zeros(size), np.zeros(works), np.zeros(size), np.zeros(entries))


@compiled
def play_round(
    kernel: Any,
    schedule: Any,
    world: Any,
    scales: Scales,
    scratch: Scratch,
    numbers: Array,
    linear: Array,
    state: Array,
    sums: Array,
    round: int,
    chance: float,
) -> None:
    """Ask, answer, tell: round t with the noise in scratch and the environment's chance."""
    noise, work, u, x = scratch
    total, rate = numbers[0], numbers[1]
    square, trace = kernel.aim(linear, state, schedule.kappa, rate * total, noise, work)
    scale = 1.0 / sqrt(square)
    norm = kernel.point(linear, state, work, noise, scale, u)
    kernel.outward(u, scales.center, scales.radius, x)

    loss = world.value(round, chance, x)
    world.tally(round, chance, sums)
    add(sums, 0, loss)
    f = (loss - scales.loss_offset) * (1.0 / scales.loss_scale)
    sigma = world.bend(round) * (scales.radius * scales.radius / scales.loss_scale)

    lam = schedule.regularisation(total + sigma)
    slope = schedule.dim * (f + 0.5 * lam * norm)
    kernel.recoil(state, work, noise, slope * scale, sigma + lam, linear)
    numbers[2] += schedule.cost(lam, sigma, trace, rate, total, abs(slope))
    total += sigma + lam
    numbers[0] = total
    numbers[1] = schedule.rate(total, round + 1)
    kernel.solve(linear, total, schedule.kappa / numbers[1], state)


def play_rounds(
    kernel: Any,
    schedule: Any,
    world: Any,
    scales: Scales,
    scratch: Scratch,
    numbers: Array,
    linear: Array,
    state: Array,
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
        play_round(
            kernel, schedule, world, scales, scratch, numbers, linear, state, sums, round, chance
        )
