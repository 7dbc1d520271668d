"""The matrix in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from dikin.experiments.compare.holm import ERROR_RATE
from dikin.experiments.compare.matrix import Matrix, Outcome
from dikin.experiments.compare.orderings import BEST, LEVEL, LEVEL_RATIO, OPEN
from dikin.experiments.compare.scenarios import GROUPS
from dikin.experiments.tables import plus_minus

LABELS, COLUMN = 30, 15
"""Characters that the first two columns take, and one of the others."""
SIGNS = {BEST: "*", LEVEL: "=", OPEN: "?"}
MARKS = {
    "*": "least mean regret",
    "=": "level with it: the ratio is known to lie between 1/{near:g} and {near:g}",
    "?": "open: not distinguished from it, at the level {odds:.0%} of all {count} comparisons "
    "together, nor known to be level; --most-seeds plays more games of these",
    "†": "an assumption of the learner, or a constant that it must be told, does not hold here",
}


def show(matrix: Matrix, console: Console) -> None:
    """Group by group, as many scenarios side by side as fit."""
    fit = max(1, (console.width - LABELS) // COLUMN)
    for group in matrix.groups:
        names = matrix.of_group(group)
        for first in range(0, len(names), fit):
            console.print(screen_table(matrix, group, names[first : first + fit]))
    numbers = {"count": len(matrix.p_values), "odds": ERROR_RATE, "near": LEVEL_RATIO}
    for sign, meaning in MARKS.items():
        console.print(f"{sign} {meaning.format(**numbers)}")
    console.print(
        "Mean regret of a game, in units of half the range of its losses, ± half the 95% interval; "
        "[i]italics[/i]: sees more than one value a round."
    )
    if leaders := matrix.led_by_others():
        led = ", ".join(f"{one.scenario} ({one.learner})" for one in leaders)
        count = f"{len(leaders)} of {len(matrix.scenarios)} scenarios"
        console.print(f"An optimizer of another package has the least mean in {count}: {led}.")
    moving = dict.fromkeys(outcome.scenario for outcome in matrix.outcomes if outcome.moving)
    if moving:
        console.print(f"{', '.join(moving)}: regret against the best point of each round.")
    for reason, outcomes in matrix.absent().items():
        everywhere = len(outcomes) == len(matrix.scenarios)
        where = "all" if everywhere else ", ".join(outcome.scenario for outcome in outcomes)
        console.print(f"Left out of {where}: {reason}", style="dim", highlight=False)


def screen_table(matrix: Matrix, group: str, scenarios: list[str]) -> Table:
    """Some of the scenarios of a group."""
    rounds = matrix.rounds
    table = Table(title=f"{GROUPS.get(group, group)}: regret after {rounds:,} rounds")
    table.add_column("learner")
    table.add_column("µs/round", justify="right")
    for name in scenarios:
        table.add_column(name, justify="right", no_wrap=True)
    for learner in matrix.learners():
        outcomes = [matrix.at(learner, name) for name in scenarios]
        complete = [outcome for outcome in outcomes if outcome is not None and outcome.played]
        if not complete:
            continue
        fastest = min(outcome.seconds for outcome in complete) / rounds * 1e6
        speed = f"{fastest:.1f}" if fastest < 10 else f"{fastest:.0f}"
        style = "italic" if complete[0].sees_more else None
        table.add_row(
            learner, speed, *(_shown(matrix, outcome) for outcome in outcomes), style=style
        )
    games = [
        {len(c.seeds) for c in matrix.outcomes if c.scenario == name and c.played}
        for name in scenarios
    ]
    table.add_section()
    table.add_row("games a cell", "", *(" or ".join(map(str, sorted(each))) for each in games))
    return table


def _shown(matrix: Matrix, outcome: Outcome | None) -> str:
    if outcome is None or not outcome.played:
        return "-"
    standing = matrix.mark(outcome)
    mark = SIGNS.get(standing, "") + ("†" if outcome.broken else "")
    text = f"{plus_minus(outcome.mean, outcome.half)}{mark:<2}"
    return f"[bold]{text}[/bold]" if standing == BEST else text
