"""What is measured: the rows of both tables, cell by cell.

A row is a pattern of curvature with the exponents that the paper proves; a cell is one row at one
horizon and dimension, for a few seeds. Cells are independent of each other and of their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any, Literal

import numpy as np

from dikin.domains.ball import Ball
from dikin.domains.base import Domain
from dikin.domains.box import Box
from dikin.environments.base import Environment
from dikin.environments.kink import Distance, Kink
from dikin.environments.patterns import Constant, Decaying, FlatFirst, FlatLast
from dikin.environments.quadratic import Quadratic
from dikin.environments.ridge import Ridge
from dikin.environments.wrappers import Understated
from dikin.errors import ParameterError
from dikin.learners.adaptive_lipschitz import AdaptiveLipschitz
from dikin.learners.adaptive_smooth import AdaptiveSmooth
from dikin.learners.base import Learner
from dikin.theory import rates

DIM_ROWS = {"flat": "zero", "curved": "constant"}
"""Rows of the dimension's tables, and the rows whose exponent of d the paper proves for them."""
BLOCK = 4
"""Seeds that a cell plays."""

Constants = Literal["sharp", "paper"]


@dataclass(frozen=True)
class Effort:
    """How much is played."""

    name: str
    horizons: tuple[int, ...]
    seeds: int
    tail: int
    """How many of the largest horizons the exponent is fitted to."""
    dims: tuple[int, ...]
    dim_horizon: int
    dim_seeds: int


def _grid(least: float, most: float, count: int) -> tuple[int, ...]:
    return tuple(np.geomspace(least, most, count).round().astype(int).tolist())


QUICK = Effort("quick", _grid(3e4, 1e6, 6), 12, 4, (2, 4, 8, 16, 32), 100_000, 4)
FULL = Effort("full", _grid(1e5, 1e7, 7), 32, 4, (2, 4, 8, 16, 32), 1_000_000, 16)


@dataclass(frozen=True)
class Table:
    """One of the paper's two tables."""

    number: int
    sigma: float
    """The curvature of rounds that have any; also the first of the decaying ones."""
    bend: float
    """Smoothness or Lipschitz constant."""
    alphas: tuple[float, ...]
    tolerated: float
    """The number of flat rounds, as a power of T, that leaves the rate as it is."""

    def theory(self) -> dict[str, rates.Rate]:
        """The paper's rates by row."""
        listed = (rates.table1 if self.number == 1 else rates.table2)(self.alphas)
        names = ["zero", "constant", "first", "last", *(f"decay-{a:.3g}" for a in self.alphas)]
        return dict(zip(names, listed, strict=True))

    def pattern(self, row: str, horizon: int) -> Any:
        """The curvature of a row's rounds."""
        match row.split("-"):
            case ["zero"]:
                return Constant(0.0)
            case ["constant"]:
                return Constant(self.sigma)
            case ["first"]:
                return FlatFirst(self.sigma, int(horizon**self.tolerated))
            case ["last"]:
                return FlatLast(self.sigma, horizon, horizon // 2)
            case ["decay", alpha]:
                exact = min(self.alphas, key=lambda a: abs(a - float(alpha)))
                return Decaying(self.sigma, exact)
        raise ParameterError(f"table {self.number} has no row {row!r}")

    def environment(self, domain: Domain, row: str, horizon: int, seed: int) -> Environment:
        """The losses of a row."""
        if row in DIM_ROWS:
            return self._all_around(domain, row, seed)
        kind = Ridge if self.number == 1 else Kink
        return kind(domain, self.bend, self.pattern(row, horizon), seed)

    def _all_around(self, domain: Domain, row: str, seed: int) -> Environment:
        """Losses that charge for exploring in every direction, to see what the dimension costs."""
        if self.number == 2:
            return Distance(domain, self.bend, 0.0 if row == "flat" else self.sigma, seed)
        bowl = Quadratic(domain, self.bend, seed)
        return Understated(bowl) if row == "flat" else bowl

    def learner(self, world: Environment, constants: Constants, horizon: int, seed: int) -> Learner:
        """The paper's algorithm for the table."""
        known = horizon if constants == "paper" else None
        kind = AdaptiveSmooth if self.number == 1 else AdaptiveLipschitz
        return kind(
            world.domain,
            self.bend,
            loss_range=world.loss_range,
            horizon=known,
            constants=constants,
            seed=seed,
        )


TABLES = {
    1: Table(1, 1.0, 1.0, (0.1, 0.2, 0.3, 1 / 3, 0.5, 1.0), 3 / 4),
    2: Table(2, 0.9, 1.5, (0.1, 0.15, 0.25, 0.5, 1.0), 8 / 9),
}


@dataclass(frozen=True, order=True)
class Cell:
    """Games that are played together and kept together."""

    table: int
    row: str
    set: str
    """"ball" or "cube"."""
    dim: int
    horizon: int
    first_seed: int
    seeds: int
    constants: Constants
    base_seed: int

    @property
    def key(self) -> str:
        """The cell's name in the store."""
        return "/".join(str(value) for value in asdict(self).values())

    @property
    def work(self) -> float:
        """Entries of points played."""
        return self.horizon * self.seeds * self.dim

    def domain(self) -> Domain:
        """The set, of radius one."""
        if self.set == "ball":
            return Ball(self.dim)
        half = np.full(self.dim, 1 / sqrt(self.dim))
        return Box(-half, half)


def cells(
    tables: tuple[int, ...], effort: Effort, constants: Constants, base_seed: int
) -> Iterator[Cell]:
    """Everything to be played."""
    for number in tables:
        for row in TABLES[number].theory():
            for horizon in effort.horizons:
                for first in range(0, effort.seeds, BLOCK):
                    seeds = min(BLOCK, effort.seeds - first)
                    yield Cell(number, row, "ball", 2, horizon, first, seeds, constants, base_seed)
        for row in DIM_ROWS:
            for kind in ("ball", "cube"):
                for dim in effort.dims:
                    for first in range(0, effort.dim_seeds, BLOCK):
                        seeds = min(BLOCK, effort.dim_seeds - first)
                        horizon = effort.dim_horizon
                        yield Cell(
                            number, row, kind, dim, horizon, first, seeds, constants, base_seed
                        )
