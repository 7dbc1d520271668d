"""What a wrong curvature costs: the learner is told too little, too much, or a noisy number.

Told too little it is safe by the theorem. Told too much, no theorem holds. Two kinds of losses: the
table's own, with a tenth of its curvature, and losses that say nothing until the last tenth of the
game, and then are linear: by then a learner that believes in curvature has tied itself down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import floor
from typing import Any, NamedTuple, Self

import numpy as np

import dikin
from dikin.domains.base import Domain
from dikin.environments.base import Environment
from dikin.environments.patterns import Constant
from dikin.environments.ridge import Ridge
from dikin.environments.wrappers import WrappedKernel, Wrapper
from dikin.experiments.cell import Cell, Result, blocks, experiment_seeds
from dikin.experiments.compare.hostile import Hostile
from dikin.experiments.fit import half_interval
from dikin.experiments.reproduce.plan import TABLES, Request
from dikin.experiments.runner import Results
from dikin.experiments.tables import Columns, fields, plus_minus, six_decimals
from dikin.learners.base import Learner

SHARE = 0.1
"""Of the table's curvature: the losses have room to be told ten times more curvature."""
FACTORS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
CURVED, LATE = "curved", "late"
GOLDEN = (5**0.5 - 1) / 2


class Noisy(NamedTuple):
    """Between 0 and 2 sigma, sigma in the mean: equidistributed multiples of the golden ratio."""

    mean: float

    @property
    def sigma(self) -> float:
        return 2.0 * self.mean

    def at(self, round: int) -> float:
        multiple = round * GOLDEN
        sigma: float = 2.0 * self.mean * (multiple - floor(multiple))
        return sigma


class MisstatedKernel(WrappedKernel):
    """The losses of a kernel, and a pattern's curvature whatever theirs is."""

    __slots__ = ()

    def strong_convexity(self, round: int) -> float:
        sigma: float = self.pattern.at(round)
        return sigma


class Misstated(Wrapper):
    """An environment of which a learner is told another curvature."""

    def __init__(self, environment: Environment, pattern: Any) -> None:
        super().__init__(environment)
        self.kernel = MisstatedKernel(environment.kernel, pattern)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(Ridge(domain, 1.0, 0.1, seed=seed), Noisy(0.4))


@dataclass(frozen=True)
class ToldCell(Cell):
    """Games with one true curvature and what is told of it."""

    table: int
    losses: str
    factor: float
    """What is told, as a multiple of the curvature of the curved losses."""
    noisy: bool

    @property
    def name(self) -> str:
        noisy = "/noisy" if self.noisy else ""
        return f"told/table {self.table}/{self.losses}/{self.factor:g}{noisy}"

    @property
    def round_cost(self) -> float:
        return 2.0

    def start(self, seed: int) -> tuple[Learner, Environment]:
        table = TABLES[self.table]
        sigma, disc = SHARE * table.sigma, dikin.Ball(2)
        if self.losses == LATE:
            true: Environment = Hostile(disc, "late", self.horizon, seed)
        else:
            true = table.environment(disc, Constant(sigma), seed)
        pattern = (Noisy if self.noisy else Constant)(self.factor * sigma)
        game = Misstated(true, pattern)
        return table.learner(game, "sharp", self.horizon, seed), game


def cells(request: Request, number: int) -> Iterator[ToldCell]:
    """Everything to be played of a table."""
    seeds = experiment_seeds(request.seed, request.effort.other_seeds)
    for losses in (CURVED, LATE):
        for noisy in (False, True):
            for factor in FACTORS[noisy:]:  # noise is relative: nothing is nothing
                for block in blocks(seeds):
                    yield ToldCell(request.effort.dim_horizon, block, number, losses, factor, noisy)


@dataclass(frozen=True)
class Told:
    """Regret and certificate under what is told."""

    table: int
    losses: str
    curvature: float
    told: float
    noisy: bool
    horizon: int
    games: int
    regret: float
    half: float
    """Half of the 95% interval."""
    certificate: float


def measure(request: Request, number: int, results: Results) -> list[Told]:
    """From finished cells."""
    by_cell: dict[ToldCell, list[Result]] = {}
    for cell in cells(request, number):
        by_cell.setdefault(replace(cell, seeds=range(0)), []).extend(results[cell.key])
    return [_line(cell, games) for cell, games in by_cell.items()]


def _line(cell: ToldCell, games: list[Result]) -> Told:
    sigma = SHARE * TABLES[cell.table].sigma
    regrets = [game["regret"] for game in games]
    return Told(
        cell.table,
        cell.losses,
        sigma if cell.losses == CURVED else 0.0,
        cell.factor * sigma,
        cell.noisy,
        cell.horizon,
        len(games),
        float(np.mean(regrets)),
        float(half_interval(regrets)),
        float(np.mean([game["certificate"] for game in games])),
    )


FILE: Columns[Told] = {
    **fields("table", "losses"),
    "curvature": lambda line: f"{line.curvature:g}",
    "told": lambda line: f"{line.told:g}",
    "noisy": lambda line: "yes" if line.noisy else "no",
    **fields("horizon", "games"),
    "regret": lambda line: six_decimals(line.regret),
    "half_interval": lambda line: six_decimals(line.half),
    "certificate": lambda line: six_decimals(line.certificate),
}
SHOWN: Columns[Told] = {
    "table, losses": lambda line: f"{line.table}, {line.losses}",
    "true sigma": lambda line: f"{line.curvature:g}",
    "told": lambda line: f"{line.told:g}{' (noisy)' if line.noisy else ''}",
    "mean regret": lambda line: plus_minus(line.regret, line.half),
    "mean certificate": lambda line: f"{line.certificate:,.0f}",
}
