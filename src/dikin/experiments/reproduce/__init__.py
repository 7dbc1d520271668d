"""`dikin reproduce`: run the missing cells, then write tables, figures and the report."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console

from dikin.experiments import runner
from dikin.experiments.reproduce import figures, report
from dikin.experiments.reproduce.plan import FULL, QUICK, TABLES, Request
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
    for columns, title, tables in (
        (SHOWN, "Table {}, {} losses: exponents of T", measured.tables),
        (
            SHOWN_PREDICTIVE,
            "Predictive, {1} losses, beside the paper's exponents",
            measured.predictive,
        ),
    ):
        for number, lines in tables.items():
            name = title.format(number, TABLES[number].losses)
            console.print(terminal_table(columns, lines, title=name, box=SIMPLE_HEAD, padding=0))
            console.print(f"{count_verdicts(line.side for line in lines)}\n")


def made_with(request: Request) -> dict[str, str]:
    """Settings of the run, independent of the machine."""
    effort = request.effort
    return {
        "Python": platform.python_version(),
        **{package: version(package) for package in ("dikin", "numpy", "scipy", "numba")},
        "effort": effort.name,
        "horizons": ", ".join(f"{t:,}" for t in effort.horizons),
        "games": (
            f"{effort.seeds} a row and horizon of the tables, {effort.predictive_seeds} for "
            f"Predictive (at most {effort.steady_seeds} where the curvature is too little to "
            f"count), {effort.other_seeds} elsewhere"
        ),
        "seed": str(request.seed),
    }


__all__ = ["FULL", "QUICK", "Request", "reproduce"]
