"""What `dikin reproduce` measures: the rows of both tables, cell by cell.

A row is a pattern of curvature with the exponents that the paper proves; a cell is one row at one
horizon and dimension, for a few seeds. Cells are independent of each other and of their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Any, Literal

import numpy as np

import dikin
from dikin.domains.base import Domain
from dikin.environments.base import Environment
from dikin.environments.patterns import Constant, Decaying, FlatFirst, FlatLast, Pattern
from dikin.errors import PaperConstantsWarning
from dikin.experiments import runner
from dikin.experiments.cell import Cell, Result, blocks, experiment_seeds
from dikin.learners.base import Learner
from dikin.theory import rates, tuning
from dikin.theory.rates import Rate

Constants = Literal["sharp", "paper"]
Shape = Literal["ball", "cube"]
SHAPES: tuple[Shape, ...] = ("ball", "cube")


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


@dataclass(frozen=True, kw_only=True)
class Request(runner.Request):
    """What `dikin reproduce` was asked for."""

    effort: Effort
    tables: tuple[int, ...] = (1, 2)
    constants: Constants = "sharp"

    def settings(self) -> dict[str, Any]:
        return {"effort": asdict(self.effort), "constants": self.constants, "seed": self.seed}


# --- the tables ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A row of a table: curvature for every horizon, and what the paper proves for it."""

    name: str
    label: str
    rate: Rate
    pattern: Callable[[int], Pattern]
    """From the horizon."""
    alpha: float | None = None
    """Where the curvature is sigma t^-alpha; constant curvature has 0."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """One of the paper's two tables."""

    losses: str
    order: int
    """The k of `dikin.theory.tuning`."""
    environment_kind: type[dikin.Ridge] | type[dikin.Kink]
    learner_kind: type[dikin.AdaptiveSmooth] | type[dikin.AdaptiveLipschitz]
    steep: Mapping[str, Callable[[Domain, int], Environment]]
    """Flat and curved losses that charge for exploring in every direction, from domain and seed:
    to see what the dimension costs."""
    sigma: float
    """The curvature of rounds that have any; also the first of the decaying ones."""
    constant: float
    """Smoothness or Lipschitz constant."""
    alphas: tuple[float, ...]
    flat_power: Fraction
    """The number of flat rounds, as a power of T, that leaves the rate as it is."""

    @cached_property
    def rows(self) -> dict[str, Row]:
        """Every row by name."""
        zero, constant, first, last, *decaying = rates.table(self.order, self.alphas)
        sigma = self.sigma
        found = [
            Row("zero", "sigma_t = 0", zero, lambda _: Constant(0.0)),
            Row("constant", "sigma_t = sigma", constant, lambda _: Constant(sigma), alpha=0.0),
            Row("first", f"first T^({self.flat_power}) rounds flat", first, self._flat_first),
            Row("last", "second half flat", last, lambda T: FlatLast(sigma, T, T // 2)),
        ]
        found += map(self._decay_row, self.alphas, decaying)
        return {row.name: row for row in found}

    def _decay_row(self, alpha: float, rate: Rate) -> Row:
        pattern, power = Decaying(self.sigma, alpha), f"{alpha:.3g}"
        factor = "" if self.sigma == 1 else f"{self.sigma:g} "
        label = f"sigma_t = {factor}t^-{power}"
        return Row(f"decay-{power}", label, rate, lambda _: pattern, alpha)

    def _flat_first(self, horizon: int) -> Pattern:
        return FlatFirst(self.sigma, int(horizon ** float(self.flat_power)))

    @property
    def dimension_rates(self) -> dict[str, Rate]:
        """What is proved for the losses that the dimension is varied for."""
        return {"flat": self.rows["zero"].rate, "curved": self.rows["constant"].rate}

    def environment(self, domain: Domain, row: str, horizon: int, seed: int) -> Environment:
        """The losses of a row."""
        if row in self.steep:
            return self.steep[row](domain, seed)
        return self.environment_kind(domain, self.constant, self.rows[row].pattern(horizon), seed)

    def learner(self, game: Environment, constants: Constants, horizon: int, seed: int) -> Learner:
        """The paper's algorithm for the table."""
        settings: Any = {"constants": constants, "loss_range": game.loss_range, "seed": seed}
        if constants == "paper":
            settings["horizon"] = horizon
        return self.learner_kind(game.domain, self.constant, **settings)


TABLES = {
    1: Table(
        losses="smooth",
        order=tuning.SMOOTH,
        environment_kind=dikin.Ridge,
        learner_kind=dikin.AdaptiveSmooth,
        steep={
            "flat": lambda domain, seed: dikin.Understated(dikin.Quadratic(domain, 1.0, seed)),
            "curved": lambda domain, seed: dikin.Quadratic(domain, 1.0, seed),
        },
        sigma=1.0,
        constant=1.0,
        alphas=(0.1, 0.2, 0.3, 1 / 3, 0.5, 1.0),
        flat_power=Fraction(3, 4),
    ),
    2: Table(
        losses="Lipschitz",
        order=tuning.LIPSCHITZ,
        environment_kind=dikin.Kink,
        learner_kind=dikin.AdaptiveLipschitz,
        steep={
            "flat": lambda domain, seed: dikin.Distance(domain, 1.5, 0.0, seed),
            "curved": lambda domain, seed: dikin.Distance(domain, 1.5, 0.9, seed),
        },
        sigma=0.9,
        constant=1.5,
        alphas=(0.1, 0.15, 0.25, 0.5, 1.0),
        flat_power=Fraction(8, 9),
    ),
}


# --- the cells ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class PaperCell(Cell):
    """Games of a row."""

    table: int
    row: str
    """Of the table, or of its steep losses."""
    constants: Constants
    shape: Shape = "ball"
    dim: int = 2

    expected_warnings = (PaperConstantsWarning,)

    @property
    def name(self) -> str:
        return f"table {self.table}/{self.row}/{self.shape}/{self.dim}/{self.constants}"

    @property
    def round_cost(self) -> float:
        return self.dim

    def start(self, seed: int) -> tuple[Learner, Environment]:
        table = TABLES[self.table]
        environment = table.environment(self._domain(), self.row, self.horizon, seed)
        return table.learner(environment, self.constants, self.horizon, seed), environment

    def _domain(self) -> Domain:
        """The set, of radius one."""
        if self.shape == "ball":
            return dikin.Ball(self.dim)
        half = np.full(self.dim, 1 / sqrt(self.dim))
        return dikin.Box(-half, half)


@dataclass(frozen=True)
class CourseCell(PaperCell):
    """One game from its beginning to its end: a result per checkpoint."""

    @property
    def name(self) -> str:
        return f"course/{super().name}"

    def play(self) -> list[Result]:
        learner, _, run = self._run(self.seeds[0], checkpoints=20)
        scale = learner.units.loss_scale
        columns = run.checkpoints, run.regret / scale, run.certificate / scale
        return [
            {"round": round, "regret": regret, "certificate": certificate}
            for round, regret, certificate in zip(*(c.tolist() for c in columns), strict=True)
        ]


def row_cells(request: Request, number: int) -> Iterator[PaperCell]:
    """What the exponents of T of a table are made of."""
    seeds = experiment_seeds(request.seed, request.effort.seeds)
    for row in TABLES[number].rows:
        for horizon in request.effort.horizons:
            for block in blocks(seeds):
                yield PaperCell(horizon, block, number, row, request.constants)


def dimension_cells(request: Request, number: int) -> Iterator[PaperCell]:
    """What the exponents of d of a table are made of."""
    effort, constants = request.effort, request.constants
    seeds, horizon = experiment_seeds(request.seed, effort.dim_seeds), effort.dim_horizon
    for kind in TABLES[number].steep:
        for shape in SHAPES:
            for dim in effort.dims:
                for block in blocks(seeds):
                    yield PaperCell(horizon, block, number, kind, constants, shape, dim)


def course_cells(request: Request) -> dict[tuple[str, Constants], CourseCell]:
    """Single games that are drawn, of the first table: by row and constants."""
    wanted: tuple[tuple[str, Constants], ...]
    wanted = ("constant", "paper"), ("constant", "sharp"), ("zero", "sharp")
    last, table = request.effort.horizons[-1], request.tables[0]
    return {about: CourseCell(last, range(1), table, *about) for about in wanted}


def all_cells(request: Request) -> list[Cell]:
    """Everything to be played."""
    tables = request.tables
    return [
        *(cell for number in tables for cell in row_cells(request, number)),
        *(cell for number in tables for cell in dimension_cells(request, number)),
        *course_cells(request).values(),
    ]
