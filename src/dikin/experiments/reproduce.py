"""`dikin reproduce`: play what is missing, then write tables, figures and the report."""

from __future__ import annotations

import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
import scipy
from rich.console import Console
from rich.table import Table as RichTable

import dikin
from dikin.errors import CheckFailedError
from dikin.experiments import figures, report, tables
from dikin.experiments.measure import play_cell
from dikin.experiments.plan import FULL, QUICK, Constants, Effort, cells
from dikin.experiments.playing import play_missing, prepare_folder
from dikin.experiments.store import Store


@dataclass(frozen=True)
class Request:
    """What was asked for."""

    effort: Effort
    tables: tuple[int, ...]
    constants: Constants
    seed: int
    workers: int
    dask: str | None
    store: str | None = None

    def settings(self) -> dict[str, Any]:
        """What the results depend on: a store holds one such configuration."""
        return {
            "version": dikin.__version__,
            "effort": asdict(self.effort),
            "constants": self.constants,
            "seed": self.seed,
        }


def reproduce(request: Request, out: Path, console: Console) -> None:
    """Measure both tables into a folder."""
    prepare_folder(out)
    store = Store(request.store or f"sqlite:///{out / 'cells.sqlite'}", request.settings())
    wanted = list(
        dict.fromkeys(cells(request.tables, request.effort, request.constants, request.seed))
    )
    play_missing(wanted, play_cell, store, request, console)
    finished = store.finished()
    results = {cell: finished[cell.key] for cell in wanted}
    write_all(results, request, out, console)


def write_all(results: tables.Results, request: Request, out: Path, console: Console) -> None:
    """Every file of the folder, and both tables on the screen."""
    measured = {n: tables.lines(results, n, request.effort) for n in request.tables}
    dims = [s for n in request.tables for s in tables.scalings(results, n, request.effort)]
    for number, lines in measured.items():
        tables.write_table(out / f"table{number}.csv", lines)
        console.print(screen_table(number, lines))
    tables.write_dims(out / "dimensions.csv", dims)
    tables.write_raw(out / "games.csv", results)
    with console.status("drawing"):
        pictures = figures.draw_all(measured, dims, request, out)
    report.write(out / "report.html", measured, dims, pictures, made_with(request))
    console.print(f"The report is {out / 'report.html'}")
    refuse_broken_bounds(measured)


def screen_table(number: int, lines: list[tables.Line]) -> RichTable:
    """A table for the terminal."""
    kind = "smooth" if number == 1 else "Lipschitz"
    shown = RichTable(
        "pattern",
        "proved",
        "measured",
        "95%",
        "regret",
        "certificate",
        title=f"Table {number}, {kind} losses: exponents of T",
    )
    for line in lines:
        shown.add_row(
            line.pattern,
            f"{line.theory:.3f}",
            f"{line.fit.exponent:.3f}",
            f"{line.fit.low:.3f} to {line.fit.high:.3f}",
            f"{line.regrets[-1]:,.0f}",
            f"{line.certificates[-1]:,.0f}",
        )
    return shown


def refuse_broken_bounds(measured: dict[int, list[tables.Line]]) -> None:
    """A certificate below the regret it bounds would be an error of ours: say so loudly."""
    for lines in measured.values():
        for line in lines:
            for horizon, regret, bound in zip(
                line.horizons, line.regrets, line.certificates, strict=True
            ):
                if not regret <= bound:
                    raise CheckFailedError(
                        f"table {line.table}, {line.pattern}, T = {horizon:.0f}: mean regret "
                        f"{regret:.6g} exceeds mean certificate {bound:.6g}"
                    )


def made_with(request: Request) -> dict[str, str]:
    """How the numbers were made, independent of the machine."""
    return {
        "dikin": dikin.__version__,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "SciPy": scipy.__version__,
        "Numba": numba.__version__,
        "effort": request.effort.name,
        "horizons": ", ".join(f"{t:,}" for t in request.effort.horizons),
        "games a cell": str(request.effort.seeds),
        "constants": request.constants,
        "seed": str(request.seed),
    }


__all__ = ["FULL", "QUICK", "Request", "reproduce"]
