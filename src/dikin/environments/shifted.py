"""The same losses, each with a constant added that is drawn anew every round.

No regret changes by it: every point suffers the same. What changes is what one value says. A
learner that sees one a round has no way to tell the constant from the loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import floor
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.domains.base import Array, Domain
from dikin.environments.base import Environment, add
from dikin.environments.shared import one_sign
from dikin.errors import ParameterError
from dikin.feedback import Feedback
from dikin.kernel import compiled
from dikin.units import strictly_positive


class Shifted(Environment):
    """An environment whose losses are moved up or down by `offset`, at random.

    >>> from dikin import Ball, Ridge
    >>> calm = Ridge(Ball(2), smoothness=1.0, seed=1)
    >>> Shifted(calm, 2.0).loss_range[1] == calm.loss_range[1] + 2.0
    True
    """

    def __init__(self, environment: Environment, offset: float) -> None:
        if not isinstance(environment, Environment):
            raise ParameterError(f"Shifted needs an environment, got {environment!r}")
        super().__init__(environment.domain, None)
        offset = strictly_positive(offset, "offset")
        low, high = environment.loss_range
        self.loss_range = (low - offset, high + offset)
        self.smoothness, self.lipschitz = environment.smoothness, environment.lipschitz
        self.rounds, self.environment = environment.rounds, environment
        # One more row than the environment's own, which stay where it looks for them.
        self.sums = np.vstack([environment.sums, np.zeros((1, 2))])
        environment.sums = self.sums[:-1]
        self.chances = environment.chances
        self.world = ShiftedWorld(environment.world, offset)

    @property
    def offers(self) -> set[Feedback]:
        return self.environment.offers

    def best(self) -> tuple[Array, float]:
        self.environment.rounds = self.rounds
        point, total = self.environment.best()
        return point, total + self.total(-1)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        from dikin.environments.ridge import Ridge

        yield cls(Ridge(domain, 1.0, 0.5, seed=seed), 3.0)


class ShiftedWorld(NamedTuple):
    """The losses of a kernel, moved."""

    world: Any
    offset: float

    def value(self, round: int, chance: float, x: Array) -> float:
        loss: float = self.world.value(round, chance, x) + self.offset * fine_sign(chance)
        return loss

    def gradient(self, round: int, chance: float, x: Array) -> Array:
        return np.asarray(self.world.gradient(round, chance, x))

    def context(self, round: int) -> Array:
        return np.asarray(self.world.context(round))

    def bend(self, round: int) -> float:
        sigma: float = self.world.bend(round)
        return sigma

    def tally(self, round: int, chance: float, sums: Array) -> None:
        self.world.tally(round, chance, sums)
        add(sums, sums.shape[0] - 1, self.offset * fine_sign(chance))


@compiled
def fine_sign(chance: float) -> float:
    """A random sign from binary digits of a uniform number that no other loss looks at."""
    shifted = 1048576.0 * chance
    return one_sign(shifted - floor(shifted))
