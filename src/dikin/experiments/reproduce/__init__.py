"""`dikin reproduce`: run the missing games, then write tables, figures and the report."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console

from dikin.experiments import runner
from dikin.experiments.reproduce import figures, report
from dikin.experiments.reproduce.plan import FULL, QUICK, TABLES, Effort, Request
from dikin.experiments.reproduce.results import (
    SHOWN,
    SHOWN_PREDICTIVE,
    Measured,
    all_cells,
    count_verdicts,
    refuse_broken_bounds,
    write_files,
)
from dikin.experiments.tables import terminal_table

NARROW: dict[str, Any] = {"box": SIMPLE_HEAD, "padding": 0}
"""Tables of this shape fit into eighty columns."""


def reproduce(request: Request, out: Path, console: Console) -> None:
    """Measure both tables into a folder."""
    results = runner.run(all_cells(request), request, out, console)
    measured = Measured.of(request, results)
    write_files(measured, request, results, out)
    show(measured, console)
    with console.status("drawing"):
        pictures = figures.draw_all(measured, out)
    report.write(out / "report.html", measured, pictures, made_with(request))
    console.print(f"The report is {out / 'report.html'}")
    every = (*measured.tables.values(), *measured.predictive.values())
    refuse_broken_bounds(line for lines in every for line in lines)


def show(measured: Measured, console: Console) -> None:
    """The exponents of T in the terminal."""
    for number, lines in measured.tables.items():
        title = f"Table {number}, {TABLES[number].losses} losses: exponents of T"
        console.print(terminal_table(SHOWN, lines, title=title, **NARROW))
        console.print(f"{count_verdicts(line.side for line in lines)}\n")
    for number, lines in measured.predictive.items():
        title = f"Predictive, {TABLES[number].losses} losses, beside the paper's exponents"
        console.print(terminal_table(SHOWN_PREDICTIVE, lines, title=title, **NARROW))
        console.print(f"{count_verdicts(line.side for line in lines)}\n")


def made_with(request: Request) -> dict[str, str]:
    """Settings of the run, independent of the machine."""
    return {
        "Python": platform.python_version(),
        **{package: version(package) for package in ("dikin", "numpy", "scipy", "numba")},
        "effort": request.effort.name,
        "horizons": ", ".join(f"{t:,}" for t in request.effort.horizons),
        "games": games_played(request.effort),
        "seed": str(request.seed),
    }


def games_played(effort: Effort) -> str:
    """Return the number of each kind."""
    return (
        f"{effort.seeds} a row and horizon of the tables, {effort.predictive_seeds} for Predictive "
        f"(at most {effort.steady_seeds} where the curvature is too little to count), "
        f"{effort.other_seeds} elsewhere"
    )


__all__ = ["FULL", "QUICK", "Request", "reproduce"]
