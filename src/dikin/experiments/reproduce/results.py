"""From finished cells to the two tables, and to files that other programs read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dikin.experiments.cell import Result
from dikin.experiments.fit import Array, Curve, PowerFit
from dikin.experiments.reproduce.plan import (
    SHAPES,
    TABLES,
    Constants,
    PaperCell,
    Request,
    Row,
    course_cells,
    dimension_cells,
    row_cells,
)
from dikin.experiments.runner import Results
from dikin.experiments.tables import Columns, exact, exponent, gap, interval, whole, write_csv


@dataclass(frozen=True)
class Line:
    """A row of a table with what was measured for it, in the paper's units."""

    table: int
    row: Row
    curve: Curve
    certificates: Array
    """The mean over games at each horizon."""

    @property
    def fit(self) -> PowerFit:
        return self.curve.power

    @property
    def theory(self) -> float:
        return self.row.rate.horizon_exponent

    @property
    def gap(self) -> float:
        """Measured minus proved exponent."""
        return self.fit.exponent - self.theory


@dataclass(frozen=True)
class Scaling:
    """How the regret grows with the dimension, at one horizon."""

    table: int
    row: str
    shape: str
    curve: Curve
    theory: float
    """The exponent of d in the table, which stands for nu = O(d)."""

    @property
    def fit(self) -> PowerFit:
        return self.curve.power


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
        found = {key: Course.of(results[c.key]) for key, c in course_cells(request).items()}
        return cls(
            {number: list(_lines(request, number, results)) for number in request.tables},
            [s for number in request.tables for s in _scalings(request, number, results)],
            found,
        )


def _lines(request: Request, number: int, results: Results) -> Iterator[Line]:
    cells = list(row_cells(request, number))
    for row in TABLES[number].rows.values():
        parts = [(c.horizon, results[c.key]) for c in cells if c.row == row.name]
        curve = Curve.of(f"table{number}/{row.name}", parts, request.effort.tail)
        bounds = Curve.of("", parts, column="certificate")
        yield Line(number, row, curve, bounds.means)


def _scalings(request: Request, number: int, results: Results) -> Iterator[Scaling]:
    cells = list(dimension_cells(request, number))
    for kind, rate in TABLES[number].dimension_rates.items():
        for shape in SHAPES:
            own = [c for c in cells if (c.row, c.shape) == (kind, shape)]
            parts = ((c.dim, results[c.key]) for c in own)
            curve = Curve.of(f"dims{number}/{kind}/{shape}", parts)
            yield Scaling(number, kind, shape, curve, rate.dim_exponent)


# --- as text ------------------------------------------------------------------------------------

SHOWN: Columns[Line] = {
    "pattern": lambda line: line.row.label,
    "proved": lambda line: exponent(line.theory),
    "measured": lambda line: exponent(line.fit.exponent),
    "95% interval": lambda line: interval(line.fit.low, line.fit.high),
    "gap": lambda line: gap(line.gap),
    "mean regret": lambda line: whole(line.curve.means[-1]),
    "mean certificate": lambda line: whole(line.certificates[-1]),
}
SHOWN_DIMENSIONS: Columns[Scaling] = {
    "table, pattern, set": lambda s: f"{s.table}, {s.row}, {s.shape}",
    "in the table": lambda s: f"{s.theory:.2f}",
    "measured": lambda s: f"{s.fit.exponent:.2f}",
    "95% interval": lambda s: interval(s.fit.low, s.fit.high, 2),
}
TABLE_FILE: Columns[Line] = {
    "pattern": lambda line: line.row.label,
    "theory": lambda line: exact(line.theory),
    "measured": lambda line: exact(line.fit.exponent),
    "low": lambda line: exact(line.fit.low),
    "high": lambda line: exact(line.fit.high),
    "gap": lambda line: exact(line.gap),
    "horizon": lambda line: int(line.curve.sizes[-1]),
    "regret": lambda line: exact(line.curve.means[-1]),
    "certificate": lambda line: exact(line.certificates[-1]),
    "seeds": lambda line: line.curve.games,
    "statement": lambda line: line.row.rate.statement,
}
DIMENSIONS_FILE: Columns[Scaling] = {
    "table": lambda s: s.table,
    "pattern": lambda s: s.row,
    "set": lambda s: s.shape,
    "theory": lambda s: exact(s.theory),
    "measured": lambda s: exact(s.fit.exponent),
    "low": lambda s: exact(s.fit.low),
    "high": lambda s: exact(s.fit.high),
}
GAMES_FILE: Columns[tuple[PaperCell, Result]] = {
    "table": lambda game: game[0].table,
    "row": lambda game: game[0].row,
    "set": lambda game: game[0].shape,
    "dim": lambda game: game[0].dim,
    "horizon": lambda game: game[0].horizon,
    "constants": lambda game: game[0].constants,
    "seed": lambda game: game[1]["seed"],
    "regret": lambda game: game[1]["regret"],
    "certificate": lambda game: game[1]["certificate"],
}


def write_files(measured: Measured, request: Request, results: Results, out: Path) -> None:
    """Every table, and every game."""
    for number, lines in measured.tables.items():
        write_csv(out / f"table{number}.csv", TABLE_FILE, lines)
    write_csv(out / "dimensions.csv", DIMENSIONS_FILE, measured.dimensions)
    write_csv(out / "games.csv", GAMES_FILE, _games(request, results))


def _games(request: Request, results: Results) -> Iterable[tuple[PaperCell, Result]]:
    for number in request.tables:
        for cell in (*row_cells(request, number), *dimension_cells(request, number)):
            yield from ((cell, result) for result in results[cell.key])
