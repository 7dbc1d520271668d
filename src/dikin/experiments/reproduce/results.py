"""From finished cells to the two tables, and to files that other programs read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dikin.experiments import tables
from dikin.experiments.cell import Result
from dikin.experiments.fit import Curve
from dikin.experiments.reproduce import plan
from dikin.experiments.reproduce.plan import TABLES, Constants, Request, Row
from dikin.experiments.runner import Results
from dikin.experiments.tables import Columns, interval, six_decimals, whole
from dikin.vectors import Array


@dataclass(frozen=True)
class Line:
    """A row of a table with what was measured for it, in the paper's units."""

    table: int
    row: Row
    curve: Curve
    certificates: Array
    """The mean over games at each horizon."""


@dataclass(frozen=True)
class Scaling:
    """How the regret grows with the dimension, at one horizon.

    The exponent of d in the table, which counts as proved here, stands for nu = O(d).
    """

    table: int
    row: str
    shape: str
    curve: Curve


@dataclass(frozen=True)
class Course:
    """Regret and certificate of one game, from its beginning to its end."""

    rounds: Array
    regret: Array
    certificate: Array

    @classmethod
    def of(cls, results: list[Result]) -> Course:
        columns = ([r[name] for r in results] for name in ("round", "regret", "certificate"))
        return cls(*(np.array(column, dtype=float) for column in columns))


@dataclass(frozen=True)
class Measured:
    """All that was measured."""

    tables: dict[int, list[Line]]
    dimensions: list[Scaling]
    courses: dict[tuple[str, Constants], Course]
    """By row and constants, in the first table."""

    @classmethod
    def of(cls, request: Request, results: Results) -> Measured:
        found = {key: Course.of(results[c.key]) for key, c in plan.course_cells(request).items()}
        return cls(
            {number: list(_lines(request, number, results)) for number in request.tables},
            [s for number in request.tables for s in _scalings(request, number, results)],
            found,
        )


def _lines(request: Request, number: int, results: Results) -> Iterator[Line]:
    cells = list(plan.row_cells(request, number))
    for row in TABLES[number].rows.values():
        parts = [(c.horizon, results[c.key]) for c in cells if c.row == row.name]
        proved = row.rate.horizon_exponent
        curve = Curve.of(f"table{number}/{row.name}", parts, request.effort.tail, proved)
        bounds = [
            np.mean([game["certificate"] for size, games in parts for game in games if size == t])
            for t in curve.sizes
        ]
        yield Line(number, row, curve, np.array(bounds))


def _scalings(request: Request, number: int, results: Results) -> Iterator[Scaling]:
    cells = list(plan.dimension_cells(request, number))
    for kind, rate in TABLES[number].dimension_rates.items():
        for shape in plan.SHAPES:
            own = [c for c in cells if (c.row, c.shape) == (kind, shape)]
            parts = ((c.dim, results[c.key]) for c in own)
            name = f"dims{number}/{kind}/{shape}"
            yield Scaling(number, kind, shape, Curve.of(name, parts, proved=rate.dim_exponent))


# --- as text ------------------------------------------------------------------------------------

SHOWN: Columns[Line] = {
    "pattern": lambda line: line.row.label,
    **tables.FITTED_SHOWN,
    "mean regret": lambda line: whole(line.curve.means[-1]),
    "mean certificate": lambda line: whole(line.certificates[-1]),
}
SHOWN_DIMENSIONS: Columns[Scaling] = {
    "table, pattern, set": lambda s: f"{s.table}, {s.row}, {s.shape}",
    "in the table": lambda s: f"{s.curve.proved:.2f}",
    "measured": lambda s: f"{s.curve.power.exponent:.2f}",
    "95% interval": lambda s: interval(s.curve.power.low, s.curve.power.high, 2),
}
TABLE_FILE: Columns[Line] = {
    "pattern": lambda line: line.row.label,
    "theory": lambda line: six_decimals(line.curve.proved),
    **tables.FITTED_FILE,
    "gap": lambda line: six_decimals(line.curve.gap),
    "horizon": lambda line: int(line.curve.sizes[-1]),
    "regret": lambda line: six_decimals(line.curve.means[-1]),
    "certificate": lambda line: six_decimals(line.certificates[-1]),
    "seeds": lambda line: line.curve.games,
    "statement": lambda line: line.row.rate.statement,
}
DIMENSIONS_FILE: Columns[Scaling] = {
    "table": lambda s: s.table,
    "pattern": lambda s: s.row,
    "set": lambda s: s.shape,
    "theory": lambda s: six_decimals(s.curve.proved),
    **tables.FITTED_FILE,
}
GAME = ("table", "row", "set", "dim", "horizon", "constants", "seed", "regret", "certificate")


def write_files(measured: Measured, request: Request, results: Results, out: Path) -> None:
    """Every table, and every game."""
    for number, lines in measured.tables.items():
        tables.write_csv(out / f"table{number}.csv", TABLE_FILE, lines)
    tables.write_csv(out / "dimensions.csv", DIMENSIONS_FILE, measured.dimensions)
    tables.write_csv(out / "games.csv", tables.items(*GAME), _games(request, results))


def _games(request: Request, results: Results) -> Iterator[dict[str, object]]:
    for number in request.tables:
        for cell in (*plan.row_cells(request, number), *plan.dimension_cells(request, number)):
            yield from (vars(cell) | {"set": cell.shape} | game for game in results[cell.key])
