"""The exponents that the paper's own constants reach.

    python -m evidence.paper_constants --out docs/evidence/paper

They are faithful and large: the centre takes millions of rounds to arrive, in Table 2 some 10^8. A
compiled loop plays on: 10^9 rounds take some two minutes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from rich.console import Console

from dikin.experiments import runner, tables
from dikin.experiments.cell import experiment_seeds
from dikin.experiments.reproduce.plan import Effort, PaperCell, Request, grid
from dikin.experiments.reproduce.results import Line, lines_of, refuse_broken_bounds, write_games
from dikin.experiments.tables import Columns, exponent, interval, six_decimals, whole
from dikin.plotting.formulas import maths
from dikin.plotting.publication import (
    REGRET,
    ROUNDS,
    EndLabel,
    draw_curve,
    draw_slope,
    half_page_panels,
    label_ends,
    looks,
    publish,
)
from dikin.plotting.style import GREY
from evidence.commands import finish, parser

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
    draw(lines, out / "paper.png")
    title = f"The paper's constants, up to T = {request.effort.horizons[-1]:,}"
    console.print(tables.terminal_table(SHOWN, lines, title=title))
    console.print(f"The figure is {out / 'paper.png'}")
    refuse_broken_bounds(lines)


def draw(lines: list[Line], file: Path) -> None:
    """A panel per table; the proved slope through the last mean, and the trivial bound."""
    numbers = list(dict.fromkeys(line.table for line in lines))
    figure, panels = half_page_panels(len(numbers), 3.0)
    for axes, number in zip(panels, numbers, strict=True):
        own = [line for line in lines if line.table == number]
        axes.set(xscale="log", yscale="log", xlabel=ROUNDS, title=f"Table {number}")
        sizes = own[0].curve.sizes
        axes.plot(sizes, 2 * sizes, color=GREY, lw=1)
        ends = [EndLabel(sizes[-1], 2 * sizes[-1], "trivial: $2T$", GREY)]
        for line, look in zip(own, looks(len(own)), strict=True):
            draw_curve(axes, line.curve.band, look)
            draw_slope(axes, sizes, line.curve.means[-1], line.curve.proved, look.colour)
            fit = line.curve.power
            text = f"{maths(line.row.label)}: {fit.exponent:.2f} ({line.curve.proved:.2f})"
            ends.append(EndLabel(sizes[-1], line.curve.means[-1], text, look.colour))
        label_ends(axes, ends)
    panels[0].set_ylabel(REGRET)
    figure.supxlabel(
        "numbers: fitted exponent (proved); dotted: the proved slope", fontsize=7, color=GREY
    )
    publish(figure, file)


if __name__ == "__main__":
    chosen = parser(__doc__, "paper").parse_args()
    request = Request(effort=PAPER, seed=chosen.seed, workers=chosen.workers)
    finish(partial(reproduce_paper, request, chosen.out))
