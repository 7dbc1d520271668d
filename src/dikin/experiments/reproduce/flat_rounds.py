"""Regret against M, the number of rounds without curvature: many of them cost nothing.

The paper's remarks on its two theorems: up to T^(3/4) flat rounds for smooth losses, up to T^(8/9)
for Lipschitz ones, leave the rate of constant curvature as it is. Who discards flat rounds can
afford sqrt(T) and T^(2/3) of them. Here the flat rounds come first, which is the worst.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

import dikin
from dikin.environments.base import Environment
from dikin.experiments.cell import Cell, blocks, experiment_seeds
from dikin.experiments.fit import half_interval
from dikin.experiments.reproduce.plan import TABLES, Request, RowPattern
from dikin.experiments.runner import Results
from dikin.experiments.tables import Columns, fields, interval, plus_minus, six_decimals
from dikin.learners.base import Learner
from dikin.theory.schedules import SMOOTH
from dikin.vectors import Array

POWERS = tuple(map(Fraction, ("3/8", "1/2", "5/8", "2/3", "3/4", "13/16", "7/8", "8/9", "15/16")))
NONE = "none"
"""In the place of a power: no round is flat."""
ADAPTIVE = "adaptive"
FIXED = {"HazanLevy": dikin.HazanLevy, "Discard": dikin.Discard}
"""Who believes in one curvature: of every round, or of those that are not thrown away."""


@dataclass(frozen=True)
class FlatRoundsCell(Cell):
    """Games whose first T^power rounds are flat."""

    table: int
    power: str
    player: str

    @property
    def name(self) -> str:
        return f"flat rounds/table {self.table}/{self.power}/{self.player}"

    @property
    def round_cost(self) -> float:
        return 2.0

    @property
    def rounds(self) -> int:
        """M."""
        return 0 if self.power == NONE else int(self.horizon ** float(Fraction(self.power)))

    def start(self, seed: int) -> tuple[Learner, Environment]:
        table = TABLES[self.table]
        game = table.environment(dikin.Ball(2), RowPattern(table.sigma, first=self.rounds), seed)
        if self.player == ADAPTIVE:
            return table.learner(game, "sharp", self.horizon, seed), game
        learner = FIXED[self.player](
            game.domain,
            self.horizon,
            table.constant,
            table.sigma,
            loss_range=game.loss_range,
            seed=seed,
        )
        return learner, game


def cells(request: Request, number: int) -> Iterator[FlatRoundsCell]:
    """Everything to be played of a table; the others need smooth losses."""
    players = (ADAPTIVE, *FIXED) if TABLES[number].order == SMOOTH else (ADAPTIVE,)
    seeds = experiment_seeds(request.seed, request.effort.other_seeds)
    for player in players:
        for power in (NONE, *map(str, POWERS)):
            for block in blocks(seeds):
                yield FlatRoundsCell(request.effort.horizons[-1], block, number, power, player)


@dataclass(frozen=True)
class FlatRounds:
    """The mean regret of a learner with M flat rounds."""

    table: int
    learner: str
    power: str
    rounds: int
    horizon: int
    games: int
    regret: float
    half: float
    """Half of the 95% interval."""
    ratio: float
    """To the regret without flat rounds."""
    low: float
    high: float
    """The 95% interval of the ratio."""


def measure(request: Request, number: int, results: Results) -> list[FlatRounds]:
    """From finished cells."""
    by_cell: dict[FlatRoundsCell, list[float]] = {}
    for cell in cells(request, number):
        regrets = [game["regret"] for game in results[cell.key]]
        by_cell.setdefault(replace(cell, seeds=range(0)), []).extend(regrets)
    return [
        _line(cell, np.array(regrets), np.array(by_cell[replace(cell, power=NONE)]))
        for cell, regrets in by_cell.items()
    ]


def _line(cell: FlatRoundsCell, regrets: Array, without: Array) -> FlatRounds:
    """`without` has the games of the same seeds in which no round is flat."""
    adaptive = TABLES[cell.table].learner_kind.__name__
    ratio = float(regrets.mean() / without.mean())
    # To first order the ratio is a constant plus the mean of this over games.
    half = float(half_interval((regrets - ratio * without) / without.mean()))
    return FlatRounds(
        cell.table,
        adaptive if cell.player == ADAPTIVE else cell.player,
        cell.power,
        cell.rounds,
        cell.horizon,
        len(regrets),
        float(regrets.mean()),
        float(half_interval(regrets)),
        ratio,
        ratio - half,
        ratio + half,
    )


FILE: Columns[FlatRounds] = {
    **fields("table", "learner", "power", "rounds", "horizon", "games"),
    "regret": lambda line: six_decimals(line.regret),
    "half_interval": lambda line: six_decimals(line.half),
    "ratio": lambda line: six_decimals(line.ratio),
    "low": lambda line: six_decimals(line.low),
    "high": lambda line: six_decimals(line.high),
}
SHOWN: Columns[FlatRounds] = {
    "table, learner": lambda line: f"{line.table}, {line.learner}",
    "flat rounds": lambda line: "0" if line.power == NONE else f"T^({line.power})",
    "M": lambda line: f"{line.rounds:,}",
    "mean regret": lambda line: plus_minus(line.regret, line.half),
    "to M = 0": lambda line: f"{line.ratio:.2f}",
    "95% interval": lambda line: interval(line.low, line.high, 2),
}
