"""The same losses with less said about their curvature, which is always safe.

A sigma-strongly convex loss is sigma'-strongly convex for every sigma' <= sigma. What is lost by
saying less can be measured: play both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.domains.base import Array, Domain
from dikin.environments.base import Environment
from dikin.environments.patterns import as_pattern
from dikin.errors import ParameterError
from dikin.feedback import Feedback


class Understated(Environment):
    """An environment of which at most `curvature` is told: nothing by default.

    >>> from dikin import Ball, Ridge
    >>> Understated(Ridge(Ball(2), smoothness=1.0, curvature=1.0, seed=1)).curvature(7)
    0.0
    """

    def __init__(self, environment: Environment, curvature: Any = 0.0) -> None:
        if not isinstance(environment, Environment):
            raise ParameterError(f"Understated needs an environment, got {environment!r}")
        super().__init__(environment.domain, None)
        self.rounds = environment.rounds
        self.environment = environment
        self.loss_range = environment.loss_range
        self.smoothness, self.lipschitz = environment.smoothness, environment.lipschitz
        self.chances, self.sums = environment.chances, environment.sums
        self.world = UnderstatedWorld(environment.world, as_pattern(curvature))

    @property
    def offers(self) -> set[Feedback]:
        return self.environment.offers

    def constants(self, equal_sides: bool) -> dict[str, float]:
        return self.environment.constants(equal_sides)

    def best(self) -> tuple[Array, float]:
        self.environment.rounds = self.rounds
        return self.environment.best()

    def moving_total(self) -> float:
        self.environment.rounds = self.rounds
        return self.environment.moving_total()

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        from dikin.environments.ridge import Ridge

        yield cls(Ridge(domain, 1.0, 0.5, seed=seed), 0.2)


class UnderstatedWorld(NamedTuple):
    """The losses of one kernel, the curvature of another."""

    world: Any
    pattern: Any

    def value(self, round: int, chance: float, x: Array) -> float:
        loss: float = self.world.value(round, chance, x)
        return loss

    def gradient(self, round: int, chance: float, x: Array) -> Array:
        return np.asarray(self.world.gradient(round, chance, x))

    def context(self, round: int) -> Array:
        return np.asarray(self.world.context(round))

    def bend(self, round: int) -> float:
        sigma: float = min(self.pattern.at(round), self.world.bend(round))
        return sigma

    def tally(self, round: int, chance: float, sums: Array) -> None:
        self.world.tally(round, chance, sums)
