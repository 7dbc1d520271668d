"""The matrix in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from dikin.experiments.holm import LEVEL
from dikin.experiments.matrix import Cell, Matrix
from dikin.experiments.scenarios import GROUPS

LABELS, COLUMN = 30, 15
"""Characters that the first two columns take, and one of the others."""
NOTES = {
    "*": "least mean regret",
    "=": "not distinguished from it, at the level {level:.0%} of all {count} comparisons together",
    "†": "an assumption of the learner, or a constant that it must be told, does not hold here",
}


def show(matrix: Matrix, console: Console) -> None:
    """Group by group, as many scenarios side by side as fit."""
    fit = max(1, (console.width - LABELS) // COLUMN)
    for group in matrix.groups:
        names = matrix.of_group(group)
        for first in range(0, len(names), fit):
            console.print(screen_table(matrix, group, names[first : first + fit]))
    for sign, words in NOTES.items():
        console.print(f"{sign} {words.format(count=len(matrix.p_values), level=LEVEL)}")
    console.print(
        "Mean regret of a game, in units of half the range of its losses, ± half the 95% interval; "
        "[i]italics[/i]: sees more than one value a round."
    )
    moving = dict.fromkeys(cell.scenario for cell in matrix.cells if cell.moving)
    if moving:
        console.print(f"{', '.join(moving)}: regret against the best point of each round.")
    for reason, cells in matrix.absent().items():
        everywhere = len(cells) == len(matrix.scenarios)
        where = "all" if everywhere else ", ".join(cell.scenario for cell in cells)
        console.print(f"Left out of {where}: {reason}", style="dim", highlight=False)


def screen_table(matrix: Matrix, group: str, scenarios: list[str]) -> Table:
    """Some of the scenarios of a group."""
    rounds = matrix.cells[0].rounds
    shown = Table(title=f"{GROUPS[group]}: regret after {rounds:,} rounds")
    shown.add_column("learner")
    shown.add_column("µs/round", justify="right")
    for name in scenarios:
        shown.add_column(name, justify="right", no_wrap=True)
    for learner in matrix.learners():
        cells = [matrix.at(learner, name) for name in scenarios]
        played = [cell for cell in cells if cell is not None and cell.played]
        if not played:
            continue
        fastest = min(cell.seconds for cell in played) / rounds * 1e6
        speed = f"{fastest:.1f}" if fastest < 10 else f"{fastest:.0f}"
        style = "italic" if played[0].sees_more else None
        shown.add_row(learner, speed, *(_shown(matrix, cell) for cell in cells), style=style)
    games = [
        {len(c.seeds) for c in matrix.cells if c.scenario == e and c.played} for e in scenarios
    ]
    shown.add_section()
    shown.add_row("games a cell", "", *(" or ".join(map(str, sorted(each))) for each in games))
    return shown


def _shown(matrix: Matrix, cell: Cell | None) -> str:
    if cell is None or not cell.played:
        return "-"
    mark = {"best": "*", "tie": "="}.get(matrix.mark(cell), "") + ("†" if cell.broken else "")
    text = f"{cell.mean:,.0f} ±{cell.half:,.0f}{mark:<2}"
    return f"[bold]{text}[/bold]" if matrix.mark(cell) == "best" else text
