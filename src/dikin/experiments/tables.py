"""From finished cells to the two tables, and to files that other programs read."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dikin.experiments.measure import Fit, fit
from dikin.experiments.plan import DIM_ROWS, TABLES, Cell, Effort
from dikin.serialization import replace_file

Array = NDArray[np.float64]
Results = dict[Cell, list[dict[str, Any]]]

WORDS = {
    "zero": "sigma_t = 0",
    "constant": "sigma_t = sigma",
    "first": "first T^{power} rounds flat",
    "last": "second half flat",
}


@dataclass(frozen=True)
class Line:
    """A row of a table with what was measured for it."""

    table: int
    row: str
    pattern: str
    theory: float
    statement: str
    fit: Fit
    horizons: Array
    regrets: Array
    """Mean over seeds, in the paper's units, one a horizon."""
    certificates: Array
    seeds: int

    @property
    def gap(self) -> float:
        """Measured minus proved exponent."""
        return self.fit.exponent - self.theory


def lines(results: Results, number: int, effort: Effort) -> list[Line]:
    """The rows of a table."""
    table = TABLES[number]
    found = []
    for row, rate in table.theory().items():
        regrets = _matrix(results, number, row, effort, "regret")
        certificates = _matrix(results, number, row, effort, "certificate")
        sizes = np.array(effort.horizons, dtype=float)
        tail = slice(-effort.tail, None)
        found.append(
            Line(
                table=number,
                row=row,
                pattern=words(row, table.tolerated),
                theory=rate.horizon_exponent,
                statement=rate.statement,
                fit=fit(sizes[tail], regrets[tail], f"table{number}/{row}"),
                horizons=sizes,
                regrets=regrets.mean(axis=1),
                certificates=certificates.mean(axis=1),
                seeds=regrets.shape[1],
            )
        )
    return found


def words(row: str, tolerated: float) -> str:
    """A row's name for people."""
    if row.startswith("decay-"):
        return f"sigma_t = t^-{row.removeprefix('decay-')}"
    power = {0.75: "3/4"}.get(tolerated, "8/9")
    return WORDS[row].replace("{power}", f"({power})")


def _matrix(results: Results, number: int, row: str, effort: Effort, column: str) -> Array:
    """Results by horizon (rows) and seed (columns)."""
    matrix = [
        _column(results, column, table=number, row=row, set="ball", dim=2, horizon=horizon)
        for horizon in effort.horizons
    ]
    return np.array(matrix)


def _column(results: Results, column: str, **wanted: Any) -> list[float]:
    chosen = sorted(c for c in results if all(getattr(c, k) == v for k, v in wanted.items()))
    return [result[column] for cell in chosen for result in results[cell]]


@dataclass(frozen=True)
class Scaling:
    """How the regret grows with the dimension, at one horizon."""

    table: int
    row: str
    set: str
    dims: Array
    regrets: Array
    fit: Fit
    theory: float
    """The exponent of d in the table, which stands for nu = O(d)."""


def scalings(results: Results, number: int, effort: Effort) -> Iterator[Scaling]:
    """The dimension exponents of a table."""
    for row, proved in DIM_ROWS.items():
        for kind in ("ball", "cube"):
            regrets = np.array(
                [
                    _column(
                        results,
                        "regret",
                        table=number,
                        row=row,
                        set=kind,
                        dim=dim,
                        horizon=effort.dim_horizon,
                    )
                    for dim in effort.dims
                ]
            )
            dims = np.array(effort.dims, dtype=float)
            yield Scaling(
                table=number,
                row=row,
                set=kind,
                dims=dims,
                regrets=regrets.mean(axis=1),
                fit=fit(dims, regrets, f"dims{number}/{row}/{kind}"),
                theory=TABLES[number].theory()[proved].dim_exponent,
            )


def write_table(file: Path, lines: Iterable[Line]) -> None:
    """A table as CSV."""
    header = ["pattern", "theory", "measured", "low", "high", "gap", "horizon", "regret"]
    header += ["certificate", "seeds", "statement"]
    rows = [
        [
            line.pattern,
            f"{line.theory:.6f}",
            f"{line.fit.exponent:.6f}",
            f"{line.fit.low:.6f}",
            f"{line.fit.high:.6f}",
            f"{line.gap:.6f}",
            int(line.horizons[-1]),
            f"{line.regrets[-1]:.6f}",
            f"{line.certificates[-1]:.6f}",
            line.seeds,
            line.statement,
        ]
        for line in lines
    ]
    write_csv(file, [header, *rows])


def write_raw(file: Path, results: Results) -> None:
    """Every game as CSV."""
    header = ["table", "row", "set", "dim", "horizon", "constants", "seed", "regret", "certificate"]
    rows = [
        [
            c.table,
            c.row,
            c.set,
            c.dim,
            c.horizon,
            c.constants,
            r["seed"],
            r["regret"],
            r["certificate"],
        ]
        for c in sorted(results)
        for r in results[c]
    ]
    write_csv(file, [header, *rows])


def write_dims(file: Path, scalings: Iterable[Scaling]) -> None:
    """The dimension exponents as CSV."""
    header = ["table", "pattern", "set", "theory", "measured", "low", "high"]
    rows = [
        [
            s.table,
            s.row,
            s.set,
            f"{s.theory:.6f}",
            *(f"{v:.6f}" for v in (s.fit.exponent, s.fit.low, s.fit.high)),
        ]
        for s in scalings
    ]
    write_csv(file, [header, *rows])


def write_csv(file: Path, rows: list[list[Any]]) -> None:
    """Rows as CSV, the file replaced as a whole."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    replace_file(file, text.getvalue().encode())
