"""The two tables from finished cells, and files for other programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

import numpy as np

from dikin.errors import CheckFailedError
from dikin.experiments import tables
from dikin.experiments.fit import Curve, Result
from dikin.experiments.reproduce import exploring, plan
from dikin.experiments.reproduce.plan import TABLES, LearnerName, PaperCell, Request, Row
from dikin.experiments.runner import Results
from dikin.experiments.tables import (
    FITTED_FILE,
    Columns,
    exponent,
    interval,
    six_decimals,
    whole,
)

PARTS = plan.row_cells, plan.predictive_cells, plan.dimension_cells
FITS = "consistent"
"""Verdict on a row whose interval contains the proved exponent."""
ERRORS = 3.0
"""Standard errors by which a mean regret may exceed the mean certificate that bounds it."""


@dataclass(frozen=True)
class Line:
    """Row of a table with its measured exponent, in the paper's units."""

    table: int
    row: Row
    curve: Curve
    certificate: Curve
    player: LearnerName = "sharp"
    shifted: bool = False
    """The losses could not be foreseen."""
    shape: str = ""
    """The set of a row whose sizes are dimensions, at one horizon."""

    @property
    def exploring(self) -> float:
        """Slope of the cost of exploring over the same horizons, for the paper's learner."""
        fitted = tuple(self.curve.tail.astype(int).tolist())
        return exploring.slope(self.table, self.row.name, fitted)

    @property
    def side(self) -> str:
        """Return the side of the interval: `consistent` if it contains the proved exponent."""
        fit, proved = self.curve.power, self.curve.proved
        return "above" if fit.low > proved else "below" if fit.high < proved else FITS

    @property
    def verdict(self) -> str:
        """The side, and for rows above another slope that is as steep at these horizons."""
        low = self.curve.power.low
        if self.side != "above":
            return self.side
        if self.player == "sharp" and low <= self.exploring:
            return "above, as exploring is"
        if low <= self.certificate.power.high:
            return "above, as the bound is"
        return "above"


@dataclass(frozen=True)
class Measured:
    """All that was measured."""

    tables: dict[int, list[Line]]
    predictive: dict[int, list[Line]]
    """The same rows played by `Predictive`, first as they are, then shifted."""
    dimensions: list[Line]
    """For the exponents of d, which the paper proves for nu = O(d)."""

    @classmethod
    def of(cls, request: Request, results: Results) -> Measured:
        rows, predictive, dimensions = (
            {n: lines_of(request, part(request, n), results) for n in request.tables}
            for part in PARTS
        )
        return cls(rows, predictive, [line for lines in dimensions.values() for line in lines])


def all_cells(request: Request) -> list[PaperCell]:
    """Return everything to be played."""
    return [cell for number in request.tables for part in PARTS for cell in part(request, number)]


def lines_of(request: Request, cells: Iterable[PaperCell], results: Results) -> list[Line]:
    """A line for each row of the cells, in their order."""
    by_row: dict[tuple[int, str, bool, str], list[PaperCell]] = {}
    for cell in cells:
        by_row.setdefault((cell.table, cell.row, cell.shifted, cell.shape), []).append(cell)
    return [_line(request, own, results) for own in by_row.values()]


def _line(request: Request, cells: list[PaperCell], results: Results) -> Line:
    cell = cells[0]
    row, parts = TABLES[cell.table].rows[cell.row], [(c.size, results[c.key]) for c in cells]
    tail, proved = request.effort.tail, row.rate.horizon_exponent
    if cell.shape:
        tail, proved = 0, row.rate.dim_exponent
    regret, bound = (Curve.of(parts, tail, proved, value) for value in ("regret", "certificate"))
    return Line(cell.table, row, regret, bound, cell.player, cell.shifted, cell.shape)


def refuse_broken_bounds(lines: Iterable[Line]) -> None:
    """Raise an error for a mean regret above its certificate by more than chance."""
    for line in lines:
        curve, bounds = line.curve, line.certificate
        gaps = bounds.regrets - curve.regrets
        allowed = ERRORS * gaps.std(axis=1, ddof=1) / sqrt(curve.games) if curve.games > 1 else 0.0
        for i in np.flatnonzero(~(gaps.mean(axis=1) >= -allowed)):
            raise CheckFailedError(
                f"table {line.table}, {line.row.label}, T = {curve.sizes[i]:.0f}: mean regret "
                f"{curve.means[i]:.6g} exceeds mean certificate {bounds.means[i]:.6g}"
            )


def count_verdicts(each: Iterable[str]) -> str:
    """Return a sentence on the number of rows that are consistent, above and below."""
    sides = Counter(each)
    return (
        f"Of {sides.total()} intervals {sides[FITS]} contain the proved exponent, {sides['above']} "
        f"lie above it and {sides['below']} below."
    )


# --- as text ------------------------------------------------------------------------------------

LOSSES = {False: "plain", True: "shifted"}
TEXT: Columns[Line] = {
    "pattern": lambda line: line.row.label,
    "losses": lambda line: LOSSES[line.shifted],
    "proved": lambda line: exponent(line.curve.proved),
    "measured": lambda line: exponent(line.curve.power.exponent),
    "95% interval": lambda line: interval(line.curve.power.low, line.curve.power.high),
    "verdict": lambda line: line.verdict,
    "exploring": lambda line: exponent(line.exploring),
    "certificate's slope": lambda line: exponent(line.certificate.power.exponent),
    "regret": lambda line: whole(line.curve.means[-1]),
    "certificate": lambda line: whole(line.certificate.means[-1]),
    "games": lambda line: line.curve.games,
}


def _without(*names: str) -> Columns[Line]:
    return {name: text for name, text in TEXT.items() if name not in names}


REPORTED, REPORTED_PREDICTIVE = _without("losses"), _without("exploring", "certificate")
# For a terminal of eighty characters.
LONG = "exploring", "certificate's slope", "certificate", "games"
SIDE: Columns[Line] = {"verdict": lambda line: line.side}
SHOWN: Columns[Line] = {**_without("losses", *LONG), **SIDE}
SHOWN_PREDICTIVE: Columns[Line] = {**_without("regret", *LONG), **SIDE}
SHOWN_DIMENSIONS: Columns[Line] = {
    "table, pattern, set": lambda s: f"{s.table}, {s.row.label}, {s.shape}",
    "in the table": lambda s: f"{s.curve.proved:.2f}",
    "measured": lambda s: f"{s.curve.power.exponent:.2f}",
    "95% interval": lambda s: interval(s.curve.power.low, s.curve.power.high, 2),
}
TABLE_FILE: Columns[Line] = {
    "pattern": lambda line: line.row.label,
    "theory": lambda line: six_decimals(line.curve.proved),
    **FITTED_FILE,
    "gap": lambda line: six_decimals(line.curve.power.exponent - line.curve.proved),
    "horizon": lambda line: int(line.curve.sizes[-1]),
    "regret": lambda line: six_decimals(line.curve.means[-1]),
    "certificate": lambda line: six_decimals(line.certificate.means[-1]),
    "certificate_slope": lambda line: six_decimals(line.certificate.power.exponent),
    "certificate_low": lambda line: six_decimals(line.certificate.power.low),
    "certificate_high": lambda line: six_decimals(line.certificate.power.high),
    "seeds": lambda line: line.curve.games,
    "statement": lambda line: line.row.rate.statement,
    "verdict": lambda line: line.verdict,
}
EXPLORING: Columns[Line] = {"exploring_slope": lambda line: six_decimals(line.exploring)}
"""Of the paper's learners alone: it follows from their formulas."""
DIMENSIONS_FILE: Columns[Line] = {
    "table": lambda s: s.table,
    "pattern": lambda s: s.row.label,
    "set": lambda s: s.shape,
    "theory": lambda s: six_decimals(s.curve.proved),
    **FITTED_FILE,
}
PREDICTIVE_FILE: Columns[Line] = {
    "table": lambda line: line.table,
    "losses": lambda line: LOSSES[line.shifted],
    **TABLE_FILE,
}
GAME_FILE: Columns[tuple[PaperCell, Result]] = {
    "part": lambda played: played[0].name,
    "horizon": lambda played: played[0].horizon,
    "seed": lambda played: played[1]["seed"],
    "regret": lambda played: six_decimals(played[1]["regret"]),
    "certificate": lambda played: six_decimals(played[1]["certificate"]),
}


def write_files(measured: Measured, request: Request, results: Results, out: Path) -> None:
    """Write every table and every game."""
    for number, lines in measured.tables.items():
        tables.write_csv(out / f"table{number}.csv", {**TABLE_FILE, **EXPLORING}, lines)
    both = (line for lines in measured.predictive.values() for line in lines)
    tables.write_csv(out / "predictive.csv", PREDICTIVE_FILE, both)
    tables.write_csv(out / "dimensions.csv", DIMENSIONS_FILE, measured.dimensions)
    write_games(all_cells(request), results, out / "games.csv")


def write_games(cells: Iterable[PaperCell], results: Results, file: Path) -> None:
    """Write a row per game. `part` is the name of the cell."""
    games = ((cell, game) for cell in cells for game in results[cell.key])
    tables.write_csv(file, GAME_FILE, games)
