"""What `dikin rates` plays: the cells of every case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from dikin.environments.base import Environment
from dikin.experiments import runner
from dikin.experiments.cell import Cell, blocks, experiment_seeds
from dikin.experiments.rates.rate_cases import RateCase
from dikin.learners.base import Learner


@dataclass(frozen=True)
class Effort:
    """How much is played: horizons and games, divided by a whole number each."""

    name: str
    horizons: int
    games: int


QUICK = Effort("quick", 10, 2)
FULL = Effort("full", 1, 1)


@dataclass(frozen=True, kw_only=True)
class Request(runner.Request):
    """What `dikin rates` was asked for."""

    effort: Effort
    learners: tuple[str, ...] = ()

    def settings(self) -> dict[str, Any]:
        return {"effort": asdict(self.effort), "seed": self.seed}


@dataclass(frozen=True)
class RateCell(Cell):
    """Games of a case at one horizon."""

    case: RateCase

    @property
    def name(self) -> str:
        return str(self.case)

    @property
    def round_cost(self) -> float:
        return self.case.round_cost

    def start(self, seed: int) -> tuple[Learner, Environment]:
        environment = self.case.losses.start(seed)
        return self.case.learner.start(environment, self.horizon, seed), environment


def cells(case: RateCase, request: Request) -> Iterator[RateCell]:
    """Everything to be played of a case."""
    seeds = experiment_seeds(request.seed, case.games // request.effort.games)
    for horizon in case.horizons(request.effort.horizons):
        for block in blocks(seeds):
            yield RateCell(horizon, block, case)
