"""The same losses, each with a constant of its round added.

    o_t = offset s_t + noise u_t + season sin(2 pi t/period),

with s_t a random sign and u_t uniform in [-1, 1], both drawn anew every round. No regret changes by
it: every point suffers the same. What changes is what one value says. A learner that sees one a
round has no way to tell the constant from the loss, unless it can be foreseen.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, inf, pi, sin
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.domains.base import Array, Domain
from dikin.environments.base import Environment, add
from dikin.environments.shared import one_sign
from dikin.errors import ParameterError
from dikin.feedback import Feedback
from dikin.kernel import compiled
from dikin.units import number, strictly_positive


class Shifted(Environment):
    """An environment whose losses are moved up or down by a constant of the round.

    `offset` is the size of a random sign, `noise` the most of a uniform number, `season` the
    amplitude of a sine with a period of `period` rounds.

    >>> from dikin import Ball, Ridge
    >>> calm = Ridge(Ball(2), smoothness=1.0, seed=1)
    >>> Shifted(calm, 2.0, noise=1.0).loss_range[1] == calm.loss_range[1] + 3.0
    True
    """

    def __init__(
        self,
        environment: Environment,
        offset: float = 0.0,
        *,
        noise: float = 0.0,
        season: float = 0.0,
        period: float = 500.0,
    ) -> None:
        if not isinstance(environment, Environment):
            raise ParameterError(f"Shifted needs an environment, got {environment!r}")
        super().__init__(environment.domain, None)
        offset, noise, season = _sizes(offset=offset, noise=noise, season=season)
        low, high = environment.loss_range
        most = offset + noise + season
        self.loss_range = (low - most, high + most)
        self.smoothness, self.lipschitz = environment.smoothness, environment.lipschitz
        self.rounds, self.environment = environment.rounds, environment
        # One more row than the environment's own, which stay where it looks for them.
        self.sums = np.vstack([environment.sums, np.zeros((1, 2))])
        environment.sums = self.sums[:-1]
        self.chances = environment.chances
        turn = 2 * pi / strictly_positive(period, "period")
        self.world = ShiftedWorld(environment.world, offset, noise, season, turn)

    @property
    def offers(self) -> set[Feedback]:
        return self.environment.offers

    def constants(self, equal_sides: bool) -> dict[str, float]:
        return self.environment.constants(equal_sides)

    def best(self) -> tuple[Array, float]:
        self.environment.rounds = self.rounds
        point, total = self.environment.best()
        return point, total + self.total(-1)

    def moving_total(self) -> float:
        self.environment.rounds = self.rounds
        return self.environment.moving_total() + self.total(-1)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        from dikin.environments.ridge import Ridge

        yield cls(Ridge(domain, 1.0, 0.5, seed=seed), 3.0)
        yield cls(Ridge(domain, 1.0, 0.5, seed=seed), noise=1.0, season=2.0, period=50)


def _sizes(**given: float) -> list[float]:
    """The sizes of the parts, of which one at least is there."""
    sizes = {name: number(value, name) for name, value in given.items()}
    for name, size in sizes.items():
        if not 0.0 <= size < inf:
            raise ParameterError(f"{name} must be finite and at least 0, got {given[name]!r}")
    if not any(sizes.values()):
        raise ParameterError(
            "Shifted without offset, noise and season is the environment itself: give one of them"
        )
    return list(sizes.values())


class ShiftedWorld(NamedTuple):
    """The losses of a kernel, moved."""

    world: Any
    offset: float
    noise: float
    season: float
    turn: float

    def value(self, round: int, chance: float, x: Array) -> float:
        loss: float = self.world.value(round, chance, x)
        return loss + shift(round, chance, self.offset, self.noise, self.season, self.turn)

    def gradient(self, round: int, chance: float, x: Array) -> Array:
        return np.asarray(self.world.gradient(round, chance, x))

    def context(self, round: int) -> Array:
        return np.asarray(self.world.context(round))

    def bend(self, round: int) -> float:
        sigma: float = self.world.bend(round)
        return sigma

    def tally(self, round: int, chance: float, sums: Array) -> None:
        self.world.tally(round, chance, sums)
        moved = shift(round, chance, self.offset, self.noise, self.season, self.turn)
        add(sums, sums.shape[0] - 1, moved)


@compiled
def shift(
    round: int, chance: float, offset: float, noise: float, season: float, turn: float
) -> float:
    """The constant of a round.

    Sign and uniform number are binary digits of the round's chance from the 21st on, the first of
    them and the others, at which no other loss looks.
    """
    fine = 1048576.0 * chance
    fine -= floor(fine)
    rest = 2.0 * fine
    rest -= floor(rest)
    return offset * one_sign(fine) + noise * (2.0 * rest - 1.0) + season * sin(turn * round)
