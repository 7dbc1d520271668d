"""A cell: games of one learner against one kind of losses that are played and kept together."""

from __future__ import annotations

import io
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import redirect_stderr
from dataclasses import dataclass
from typing import Any, ClassVar

from dikin.engine.play import Run, play_game
from dikin.environments.base import Environment
from dikin.learners.base import Learner

Result = dict[str, Any]
"""Of one game: seed, regret and certificate in units of half the range of the losses, seconds,
compiled."""
BLOCK = 4
"""Games of a cell where an experiment does not say otherwise."""
ASSUMED_GAMES = 20
"""A game is compiled as if it were one of so many: from 1 000 rounds on. How many an experiment
really has does not count, so that a result depends on its cell alone."""
SEED_STEP = 1_000_003
"""How far apart the seeds of two experiments begin whose own seeds follow each other."""


def experiment_seeds(seed: int, games: int) -> range:
    """The seeds of the games of an experiment with this seed."""
    return range(seed * SEED_STEP, seed * SEED_STEP + games)


def blocks(seeds: range) -> Iterator[range]:
    """The seeds in pieces of `BLOCK`."""
    return (seeds[first : first + BLOCK] for first in range(0, len(seeds), BLOCK))


@dataclass(frozen=True)
class Cell(ABC):
    """Game, length and seeds: the value on which the results alone depend."""

    horizon: int
    seeds: range

    expected_warnings: ClassVar[tuple[type[Warning], ...]] = ()
    """What the results show anyway, and need not be said in every game."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Learner and environment of a cell, with all constants."""

    @property
    @abstractmethod
    def round_cost(self) -> float:
        """About how long a round takes, in a unit of the experiment: for the remaining time."""

    @abstractmethod
    def start(self, seed: int) -> tuple[Learner, Environment]:
        """Learner and environment before the first round."""

    @property
    def key(self) -> str:
        """The name of the cell in the store, made of its content."""
        return f"{self.name}/{self.horizon}/{self.seeds.start}-{self.seeds.stop - 1}"

    @property
    def batch(self) -> str:
        """Cells of one batch are played by one worker, one after the other."""
        return self.key

    @property
    def work(self) -> float:
        """About how long all games take, in the unit of `round_cost`."""
        return self.round_cost * self.horizon * len(self.seeds)

    def play(self) -> list[Result]:
        """A result per game: a pure function of the cell, but for the seconds."""
        return [self._play_game(seed) for seed in self.seeds]

    def _play_game(self, seed: int) -> Result:
        learner, environment, run = self._run(seed, checkpoints=1)
        scale = learner.units.loss_scale
        return {
            "seed": seed,
            "regret": self.regret(run, environment) / scale,
            "certificate": float(run.certificate[-1]) / scale,
            "seconds": run.seconds,
            "compiled": run.compiled,
        }

    def regret(self, run: Run, environment: Environment) -> float:
        """Measure of a game: regret against the best fixed point."""
        return float(run.regret[-1])

    def _run(self, seed: int, checkpoints: int) -> tuple[Learner, Environment, Run]:
        """One game, without expected warnings, and quietly where a loop is compiled."""
        with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
            for category in self.expected_warnings:
                warnings.simplefilter("ignore", category)
            learner, environment = self.start(seed)
            run = play_game(
                learner, environment, self.horizon, checkpoints, False, games=ASSUMED_GAMES
            )
        return learner, environment, run
