"""The exponents that the paper's own constants reach.

    python -m evidence.paper_constants --out docs/evidence/paper

They are faithful and large: the centre takes millions of rounds to arrive, in Table 2 some 10^8. A
compiled loop goes far: 10^9 rounds take some two minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from dikin.experiments import runner, tables
from dikin.experiments.reproduce.plan import (
    Effort,
    PaperCell,
    Request,
    experiment_seeds,
    grid,
)
from dikin.experiments.reproduce.results import Line, lines_of, refuse_broken_bounds, write_games
from dikin.experiments.tables import Columns, exponent, interval, six_decimals, whole

PAPER = Effort(name="paper", horizons=grid(1e7, 1e9, 5), seeds=4, tail=3)
ROWS = ("zero", "constant")


def cells(request: Request) -> Iterator[PaperCell]:
    """A cell per game: they are long."""
    for number in request.tables:
        for row in ROWS:
            for horizon in request.effort.horizons:
                for seed in experiment_seeds(request.seed, request.effort.seeds):
                    yield PaperCell(horizon, range(seed, seed + 1), number, row, "paper")


FILE: Columns[Line] = {
    "table": lambda line: line.table,
    "pattern": lambda line: line.row.label,
    "theory": lambda line: six_decimals(line.curve.proved),
    **tables.FITTED_FILE,
    "horizon": lambda line: int(line.curve.sizes[-1]),
    "regret": lambda line: six_decimals(line.curve.means[-1]),
    "games": lambda line: line.curve.games,
}
SHOWN: Columns[Line] = {
    "table, pattern": lambda line: f"{line.table}, {line.row.label}",
    "proved": lambda line: exponent(line.curve.proved),
    "measured": lambda line: exponent(line.curve.power.exponent),
    "95% interval": lambda line: interval(line.curve.power.low, line.curve.power.high),
    "mean regret": lambda line: whole(line.curve.means[-1]),
}


def reproduce_paper(request: Request, out: Path, console: Console) -> None:
    """Play far with the paper's constants, into a folder."""
    all_cells = list(cells(request))
    results = runner.run(all_cells, request, out, console)
    lines = lines_of(request, all_cells, results)
    tables.write_csv(out / "paper.csv", FILE, lines)
    write_games(all_cells, results, out / "games.csv")
    title = f"The paper's constants, up to T = {request.effort.horizons[-1]:,}"
    console.print(tables.terminal_table(SHOWN, lines, title=title))
    refuse_broken_bounds(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("paper"), help="folder (paper)")
    parser.add_argument("--workers", type=int, default=2, help="processes (2)")
    chosen = parser.parse_args()
    reproduce_paper(Request(effort=PAPER, workers=chosen.workers), chosen.out, Console())
