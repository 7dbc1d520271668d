"""Plan of `dikin reproduce`: the rows of both tables, cell by cell.

Cells are independent of each other and of their order. If neither the learner nor the pattern knows
the horizon, a run is the beginning of the longer run with the same seed.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

import dikin
from dikin import environments
from dikin.domains.base import Domain
from dikin.engine.play import run_rounds
from dikin.environments.base import Environment
from dikin.environments.patterns import Pattern
from dikin.errors import SlowLearnerWarning
from dikin.experiments.fit import Result
from dikin.learners.base import Learner
from dikin.theory import rates
from dikin.theory.rates import Rate

LearnerName = Literal["sharp", "paper", "predictive"]
"""The paper's algorithm with the sharp or with the paper's constants, or `Predictive`."""
Shape = Literal["ball", "cube"]
SHAPES: tuple[Shape, ...] = ("ball", "cube")


@dataclass(frozen=True, kw_only=True)
class Effort:
    """Size of a run."""

    name: str
    horizons: tuple[int, ...]
    predictive_horizons: tuple[int, ...] = ()
    """A round of `Predictive` takes eight times as long as one of the paper's learners."""
    seeds: int
    """Runs of the paper's learners in each row of the two tables."""
    predictive_seeds: int = 0
    steady_seeds: int = 0
    """At most so many where runs are nearly alike."""
    tail: int
    """Number of the largest horizons to which the exponent is fitted."""
    dims: tuple[int, ...] = ()
    dim_horizon: int = 0
    other_seeds: int = 0
    """Runs of a cell of everything but the two tables."""

    def games(self, row: Row, player: LearnerName) -> int:
        games = self.predictive_seeds if player == "predictive" else self.seeds
        return min(games, self.steady_seeds) if row.steady else games


def grid(least: float, most: float, count: int) -> tuple[int, ...]:
    """Whole numbers with equal ratios."""
    return tuple(np.geomspace(least, most, count).round().astype(int).tolist())


QUICK = Effort(
    name="quick",
    horizons=grid(3e4, 1e6, 6),
    predictive_horizons=grid(1e4, 2.5e5, 5),
    seeds=16,
    predictive_seeds=12,
    steady_seeds=4,
    tail=6,
    dims=(2, 4, 8, 16, 32),
    dim_horizon=100_000,
    other_seeds=4,
)
FULL = Effort(
    name="full",
    horizons=grid(1e5, 1e7, 7),
    predictive_horizons=grid(1e5, 1e7, 7),
    seeds=32,
    predictive_seeds=16,
    steady_seeds=32,
    tail=4,
    dims=(2, 4, 8, 16, 32),
    dim_horizon=1_000_000,
    other_seeds=16,
)


@dataclass(frozen=True, kw_only=True)
class Request:
    """Request to `dikin reproduce`."""

    effort: Effort
    tables: tuple[int, ...] = (1, 2)
    seed: int = 0
    workers: int = 2

    def settings(self) -> dict[str, Any]:
        """Return the settings of a store, without the version of the package."""
        return {"effort": asdict(self.effort), "seed": self.seed}


# --- the tables ---------------------------------------------------------------------------------

FOREVER = 2**62
"""More rounds than any run has."""


class RowPattern(NamedTuple):
    """Any curvature of the tables, as one type: a learner is compiled once for all rows."""

    sigma: float
    alpha: float = 0.0
    first: int = 0
    last: int = FOREVER

    def at(self, round: int) -> float:
        if round <= self.first or round > self.last:
            return 0.0
        if self.alpha == 0.0:
            return self.sigma
        sigma: float = self.sigma * float(round) ** -self.alpha
        return sigma


@dataclass(frozen=True)
class Row:
    """A row of a table: curvature for every horizon, and the exponent that the paper proves."""

    name: str
    label: str
    rate: Rate
    pattern: Callable[[int], RowPattern]
    alpha: float | None = None
    """Exponent of a curvature sigma t^-alpha. Constant curvature has 0."""
    steady: bool = False
    """Nearly all regret is the cost of exploring, and few runs are enough."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """One of the paper's two tables."""

    losses: str
    order: int
    """The k of `dikin.theory.rates`."""
    environment_kind: type[dikin.Ridge] | type[dikin.Kink]
    learner_kind: type[dikin.AdaptiveSmooth] | type[dikin.AdaptiveLipschitz]
    constant_name: str
    """The learners' name of the constant of the losses."""
    steep: Callable[[Domain, Pattern, int], Environment]
    """Losses that charge for exploring in every direction."""
    sigma: float
    """The curvature of rounds that have any, and the first curvature of the decaying patterns."""
    constant: float
    alphas: tuple[float, ...]
    flat_power: Fraction
    """The number of flat rounds, as a power of T, that leaves the rate as it is."""

    @cached_property
    def rows(self) -> dict[str, Row]:
        zero, constant, first, last, *decaying = rates.table(self.order, self.alphas)
        sigma = self.sigma
        rows = [
            Row("zero", "sigma_t = 0", zero, lambda _: RowPattern(0.0), steady=True),
            Row("constant", "sigma_t = sigma", constant, lambda _: RowPattern(sigma), alpha=0.0),
            Row("first", f"first T^({self.flat_power}) rounds flat", first, self._flat_first),
            Row("last", "second half flat", last, lambda T: RowPattern(sigma, last=T - T // 2)),
        ]
        rows += map(self._decay_row, self.alphas, decaying)
        return {row.name: row for row in rows}

    def _decay_row(self, alpha: float, rate: Rate) -> Row:
        pattern, power = RowPattern(self.sigma, alpha), f"{alpha:.3g}"
        factor = "" if self.sigma == 1 else f"{self.sigma:g} "
        label = f"sigma_t = {factor}t^-{power}"
        steady = alpha > 1 / (self.order + 1)
        return Row(f"decay-{power}", label, rate, lambda _: pattern, alpha, steady)

    def _flat_first(self, horizon: int) -> RowPattern:
        return RowPattern(self.sigma, first=int(horizon ** float(self.flat_power)))

    @property
    def dimension_rows(self) -> list[Row]:
        """The rows that the dimension is varied for: of the decays one on each side of the kink."""
        below = [a for a in self.alphas if a < 1 / (self.order + 1)]
        above = [a for a in self.alphas if a > 1 / (self.order + 1)]
        alphas = {None, 0.0, below[-1], above[0]}
        return [row for row in self.rows.values() if row.alpha in alphas]

    def learner(self, game: Environment, player: LearnerName, horizon: int, seed: int) -> Learner:
        arguments: Any = {self.constant_name: self.constant}
        arguments |= {"loss_range": game.loss_range, "seed": seed}
        if player == "predictive":
            return dikin.Predictive(game.domain, **arguments)
        if player == "paper":
            arguments["horizon"] = horizon
        return self.learner_kind(game.domain, constants=player, **arguments)


TABLES = {
    1: Table(
        losses="smooth",
        order=rates.SMOOTH,
        environment_kind=dikin.Ridge,
        learner_kind=dikin.AdaptiveSmooth,
        constant_name="smoothness",
        steep=lambda domain, told, seed: environments.Understated(
            environments.Quadratic(domain, 1.0, seed), told
        ),
        sigma=1.0,
        constant=1.0,
        alphas=(0.1, 0.2, 0.3, 1 / 3, 0.5, 1.0),
        flat_power=Fraction(3, 4),
    ),
    2: Table(
        losses="Lipschitz",
        order=rates.LIPSCHITZ,
        environment_kind=dikin.Kink,
        learner_kind=dikin.AdaptiveLipschitz,
        constant_name="lipschitz",
        steep=lambda domain, told, seed: environments.Distance(domain, 1.5, told, seed),
        sigma=0.9,
        constant=1.5,
        alphas=(0.1, 0.15, 0.25, 0.5, 1.0),
        flat_power=Fraction(8, 9),
    ),
}


# --- the cells ----------------------------------------------------------------------------------

BLOCK = 4
"""Runs of a cell."""
ASSUMED_GAMES = 20
"""Number of runs that decides whether they are compiled: from 1,000 rounds on. The real number
does not count, so that a result depends on its cell alone."""
SEED_STEP = 1_000_003


def experiment_seeds(seed: int, games: int) -> range:
    """Return the seeds of a cell, different for each seed of the command."""
    return range(seed * SEED_STEP, seed * SEED_STEP + games)


def blocks(seeds: range) -> Iterator[range]:
    """Return the seeds in pieces of `BLOCK`."""
    return (seeds[first : first + BLOCK] for first in range(0, len(seeds), BLOCK))


@dataclass(frozen=True)
class PaperCell:
    """Runs of a row. The results depend on these values alone."""

    horizon: int
    seeds: range
    table: int
    row: str
    player: LearnerName = "sharp"
    shifted: bool = False
    """A random sign times the largest loss is added in every round, which changes no regret."""

    shape: Shape | Literal[""] = ""
    """The set of a game whose losses are steep in every direction."""
    dim: int = 2

    @property
    def size(self) -> int:
        return self.dim if self.shape else self.horizon

    @property
    def name(self) -> str:
        """Learner and environment, with all constants."""
        name = f"table {self.table}/{self.row}/{self.player}{'/shifted' * self.shifted}"
        return f"dimension/{name}/{self.shape}/{self.dim}" if self.shape else name

    @property
    def key(self) -> str:
        """Name of the cell in the store, made of its content."""
        return f"{self.name}/{self.horizon}/{self.seeds.start}-{self.seeds.stop - 1}"

    @property
    def work(self) -> float:
        round_cost = 16.0 if self.player == "predictive" else float(self.dim)
        return round_cost * self.horizon * len(self.seeds)

    def play(self) -> list[Result]:
        """Return a result for each game: a pure function of the cell, but for the seconds."""
        return [self._play_game(seed) for seed in self.seeds]

    def _play_game(self, seed: int) -> Result:
        with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore", SlowLearnerWarning)  # the results show it
            learner, environment = self.start(seed)
            run = run_rounds(learner, environment, self.horizon, 1, False, runs=ASSUMED_GAMES)
        scale = learner.units.loss_scale
        return {
            "seed": seed,
            "regret": float(run.regret[-1]) / scale,
            "certificate": float(run.certificate[-1]) / scale,
            "seconds": run.seconds,
            "compiled": run.compiled,
        }

    def start(self, seed: int) -> tuple[Learner, Environment]:
        table, game = TABLES[self.table], self.environment(seed)
        return table.learner(game, self.player, self.horizon, seed), game

    def environment(self, seed: int) -> Environment:
        table, domain = TABLES[self.table], dikin.Ball(self.dim)
        pattern = table.rows[self.row].pattern(self.horizon)
        if self.shape:
            half = np.full(self.dim, 1 / sqrt(self.dim))  # both sets have the radius one
            cube = dikin.Box(-half, half)
            return table.steep(cube if self.shape == "cube" else domain, pattern, seed)
        game = table.environment_kind(domain, table.constant, pattern, seed)
        return environments.Shifted(game, game.loss_range[1]) if self.shifted else game


def row_cells(
    request: Request, number: int, player: LearnerName = "sharp", shifted: bool = False
) -> Iterator[PaperCell]:
    """Return the cells of the exponents of T of a table."""
    effort = request.effort
    for row in TABLES[number].rows.values():
        seeds = experiment_seeds(request.seed, effort.games(row, player))
        for horizon in effort.horizons if player == "sharp" else effort.predictive_horizons:
            for block in blocks(seeds):
                yield PaperCell(horizon, block, number, row.name, player, shifted)


def predictive_cells(request: Request, number: int) -> Iterator[PaperCell]:
    """The same for `Predictive`: losses that can be foreseen, and losses that cannot."""
    for shifted in (False, True):
        yield from row_cells(request, number, "predictive", shifted)


def dimension_cells(request: Request, number: int) -> Iterator[PaperCell]:
    """Return the cells of the exponents of d of a table."""
    effort = request.effort
    seeds, horizon = experiment_seeds(request.seed, effort.other_seeds), effort.dim_horizon
    for row in TABLES[number].dimension_rows:
        for shape in SHAPES:
            for dim in effort.dims:
                for block in blocks(seeds):
                    yield PaperCell(horizon, block, number, row.name, shape=shape, dim=dim)
