"""`dikin reproduce --paper`: the exponents that the paper's own constants reach.

They are faithful and large: lambda_0 pins the centre for the first 10^8 rounds or so. A compiled
loop plays on: 10^9 rounds take some two minutes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from dikin.experiments import runner, tables
from dikin.experiments.cell import experiment_seeds
from dikin.experiments.fit import Curve
from dikin.experiments.reproduce import figure_paper
from dikin.experiments.reproduce.plan import TABLES, Effort, PaperCell, Request, Row, grid
from dikin.experiments.reproduce.results import write_games
from dikin.experiments.runner import Results
from dikin.experiments.tables import Columns, exponent, interval, six_decimals, whole

PAPER = Effort("paper", grid(1e7, 1e9, 5), 4, 3, (), 0, 0)
ROWS = ("zero", "constant")


@dataclass(frozen=True)
class Far:
    """A row played with the paper's constants, up to very many rounds."""

    table: int
    row: Row
    curve: Curve


def cells(request: Request) -> Iterator[PaperCell]:
    """A cell per game: they are long."""
    for number in request.tables:
        for row in ROWS:
            for horizon in request.effort.horizons:
                for seed in experiment_seeds(request.seed, request.effort.seeds):
                    yield PaperCell(horizon, range(seed, seed + 1), number, row, "paper")


def measure(request: Request, results: Results) -> list[Far]:
    """From finished cells."""
    found: dict[str, list[PaperCell]] = {}
    for cell in cells(request):
        found.setdefault(cell.name, []).append(cell)
    return [_far(request, own, results) for own in found.values()]


def _far(request: Request, cells: list[PaperCell], results: Results) -> Far:
    parts, cell = [(c.horizon, results[c.key]) for c in cells], cells[0]
    row, tail = TABLES[cell.table].rows[cell.row], request.effort.tail
    curve = Curve.of(cell.name, parts, tail, row.rate.horizon_exponent)
    return Far(cell.table, row, curve)


FILE: Columns[Far] = {
    "table": lambda far: far.table,
    "pattern": lambda far: far.row.label,
    "theory": lambda far: six_decimals(far.curve.proved),
    **tables.FITTED_FILE,
    "horizon": lambda far: int(far.curve.sizes[-1]),
    "regret": lambda far: six_decimals(far.curve.means[-1]),
    "games": lambda far: far.curve.games,
}
SHOWN: Columns[Far] = {
    "table, pattern": lambda far: f"{far.table}, {far.row.label}",
    "proved": lambda far: exponent(far.curve.proved),
    "measured": lambda far: exponent(far.curve.power.exponent),
    "95% interval": lambda far: interval(far.curve.power.low, far.curve.power.high),
    "mean regret": lambda far: whole(far.curve.means[-1]),
}


def reproduce_paper(request: Request, out: Path, console: Console) -> None:
    """Play far with the paper's constants, into a folder."""
    wanted = list(cells(request))
    results = runner.run(wanted, request, out, console)
    lines = measure(request, results)
    tables.write_csv(out / "paper.csv", FILE, lines)
    write_games(wanted, results, out / "games.csv")
    figure_paper.draw(lines, out / "paper.png")
    title = f"The paper's constants, up to T = {request.effort.horizons[-1]:,}"
    console.print(tables.terminal_table(SHOWN, lines, title=title))
    console.print(f"The figure is {out / 'paper.png'}")
