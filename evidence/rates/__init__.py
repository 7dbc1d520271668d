"""The exponent of T of every learner, on losses where it pays its own bound.

A learner is built anew for every horizon. The exponent is fitted as for the paper's tables, to the
mean regret at each horizon.
"""

from __future__ import annotations

from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console

from dikin.experiments import runner
from dikin.experiments.tables import terminal_table
from evidence.rates.cases import cases_of
from evidence.rates.figure import draw
from evidence.rates.results import (
    BAND,
    FULL,
    QUICK,
    SHOWN,
    Line,
    Request,
    cells,
    write_files,
)


def rates(request: Request, out: Path, console: Console) -> list[Line]:
    """Measure the cases asked for into a folder."""
    cases = cases_of(request.learners)
    all_cells = [cell for case in cases for cell in cells(case, request)]
    results = runner.run(all_cells, request, out, console)
    lines = [Line.of(case, request, results) for case in cases]
    write_files(lines, request, results, out)
    draw(lines, out / "rates.png")
    console.print(
        terminal_table(
            SHOWN,
            lines,
            box=SIMPLE_HEAD,
            title="Exponents of T where a learner pays its own bound",
            caption=f"gap: measured minus proved exponent; ! marks one of more than {BAND}",
        )
    )
    console.print(f"The figure is {out / 'rates.png'}")
    return lines


__all__ = ["FULL", "QUICK", "Request", "rates"]
