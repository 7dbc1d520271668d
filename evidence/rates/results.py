"""The games of every case, and what they say: exponents, and files that other programs read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dikin.environments.base import Environment
from dikin.experiments import runner, tables
from dikin.experiments.cell import Cell, blocks, experiment_seeds
from dikin.experiments.fit import Curve
from dikin.experiments.runner import Results
from dikin.experiments.tables import Columns, six_decimals, whole, write_csv
from dikin.learners.base import Learner
from dikin.vectors import Array
from evidence.rates.cases import RateCase

BAND = 0.08
"""How far a measured exponent may lie from the proved one."""


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
    """What `rates` was asked for."""

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


@dataclass(frozen=True)
class LogFit:
    """regret = start + step ln(size)."""

    start: float
    step: float

    @classmethod
    def of(cls, curve: Curve) -> LogFit:
        """Fit the means by least squares."""
        step, start = np.polyfit(np.log(curve.sizes), curve.means, 1)
        return cls(float(start), float(step))

    def at(self, sizes: Array) -> Array:
        return np.asarray(self.start + self.step * np.log(sizes))


@dataclass(frozen=True)
class Line:
    """A case with what was measured of it."""

    case: RateCase
    curve: Curve

    @classmethod
    def of(cls, case: RateCase, request: Request, results: Results) -> Line:
        """From finished cells."""
        parts = ((cell.horizon, results[cell.key]) for cell in cells(case, request))
        horizons = np.array(case.horizons(request.effort.horizons), dtype=float)
        proved = case.bound.exponent(horizons)
        return cls(case, Curve.of(parts, proved=proved))

    @property
    def missed(self) -> bool:
        """Whether the measured exponent is far from the proved one."""
        return abs(self.curve.gap) > BAND


# --- as text ------------------------------------------------------------------------------------

SHOWN: Columns[Line] = {
    "case": lambda line: line.case.key,
    **tables.FITTED_SHOWN,
    "proved": lambda line: line.case.bound.power or "ln T",
    "": lambda line: "!" if line.missed else "",
    "up to T": lambda line: whole(line.curve.sizes[-1]),
}
RATES_FILE: Columns[Line] = {
    "case": lambda line: line.case.key,
    "learner": lambda line: line.case.learner,
    "losses": lambda line: line.case.losses,
    "bound": lambda line: line.case.bound,
    "proved": lambda line: six_decimals(line.curve.proved),
    "bound_slope": lambda line: six_decimals(line.case.bound.slope(line.curve.sizes)),
    **tables.FITTED_FILE,
    "gap": lambda line: six_decimals(line.curve.gap),
    "games": lambda line: line.curve.games,
}
GAME = ("case", "horizon", "seed", "regret")


def write_files(lines: list[Line], request: Request, results: Results, out: Path) -> None:
    """rates.csv, a row per case; regrets.csv, a row per horizon; every game."""
    write_csv(out / "rates.csv", RATES_FILE, lines)
    points = tables.items("case", "horizon", "regret", "error")
    write_csv(out / "regrets.csv", points, (point for line in lines for point in _points(line)))
    write_csv(out / "games.csv", tables.items(*GAME), _games(lines, request, results))


def _games(lines: list[Line], request: Request, results: Results) -> Iterator[dict[str, object]]:
    for line in lines:
        for cell in cells(line.case, request):
            for game in results[cell.key]:
                yield {
                    "case": line.case.key,
                    "horizon": cell.horizon,
                    "seed": game["seed"],
                    "regret": six_decimals(game["regret"]),
                }


def _points(line: Line) -> Iterator[dict[str, object]]:
    curve = line.curve
    for horizon, mean, error in zip(curve.sizes, curve.means, curve.errors, strict=True):
        yield {
            "case": line.case.key,
            "horizon": int(horizon),
            "regret": six_decimals(mean),
            "error": six_decimals(error),
        }
