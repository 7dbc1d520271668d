"""Tables of the examples: every game in a CSV, and what the games say on the terminal and a page.

For each player and setting that is a mean with its 95 % interval, and the standing beside the best
by the rule of `evidence.orderings`. No number is typed in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dikin.experiments.fit import half_interval
from dikin.experiments.tables import fields, read_csv, write_csv
from dikin.files import replace_file
from dikin.plotting import publication
from dikin.plotting.style import BLUE, GREY, ORANGE
from evidence.orderings import BEHIND, LEVEL, MARKED, OPEN, Orderings, Ratio

Array = np.typing.NDArray[np.float64]
Task = TypeVar("Task")
Game = TypeVar("Game")

SMALLEST = 1e-9
"""Costs that are 0, or below it by rounding, count as this much where ratios are taken."""
WIDEST = 1000.0
"""An interval whose ends are farther apart says that nothing is known, and is written so."""


def play_parallel(play: Callable[[Task], Game], tasks: list[Task], workers: int) -> list[Game]:
    """Play every game, in the order of the tasks, with a progress bar on the error stream."""
    from joblib import Parallel, delayed
    from rich.console import Console
    from rich.progress import track

    done: Iterator[Game] = Parallel(n_jobs=workers, return_as="generator")(
        delayed(play)(task) for task in tasks
    )
    bar = f"{len(tasks)} games"
    return list(track(done, bar, total=len(tasks), console=Console(stderr=True)))


def interval(values: Array) -> tuple[Any, Any]:
    """Return the mean over games, the first axis, and half of its 95 % interval by Student's t."""
    return values.mean(axis=0), half_interval(values)


class Row(NamedTuple):
    """A line of the CSV: one game."""

    table: str
    setting: str
    player: str
    game: int
    value: float


@dataclass(frozen=True)
class Results:
    """Measured numbers of one table; small ones are good."""

    name: str
    """One word, by which a page finds the table."""
    about: str
    """What the numbers are."""
    values: Mapping[str, Mapping[str, Array]]
    """By player, then by setting: one number for each game. Game i of all players belongs
    together: they met the same noise."""
    first: int = 1
    """The number of the first game: its seed."""
    reference: str | None = None
    """A player that knows what the others must find: it is shown, and compared with nobody."""

    @property
    def settings(self) -> list[str]:
        return list(next(iter(self.values.values())))

    def games(self, setting: str) -> int:
        return len(next(iter(self.values.values()))[setting])

    def by_game(self) -> Iterator[Row]:
        """Every game."""
        for player, row in self.values.items():
            for setting, games in row.items():
                for game, value in enumerate(games.tolist(), self.first):
                    yield Row(self.name, setting, player, game, value)

    @cached_property
    def orderings(self) -> Orderings:
        """The rule, on the means that are shown."""
        costs: dict[str, dict[str, dict[int, float]]] = {name: {} for name in self.settings}
        for row in self.by_game():
            if row.player != self.reference:
                costs[row.setting].setdefault(row.player, {})[row.game] = row.value
        return Orderings(costs, SMALLEST, arithmetic=True)

    @property
    def head(self) -> list[str]:
        columns = [f"{setting} ({self.games(setting)} games)" for setting in self.settings]
        return [f"{self.name}: {self.about}", *columns]

    def rows(self) -> list[list[str]]:
        """A row of texts for each player."""
        return [
            [player, *(self._cell(player, setting) for setting in self.settings)]
            for player in self.values
        ]

    def _cell(self, player: str, setting: str) -> str:
        mean, half = interval(self.values[player][setting])
        text = f"{_rounded(mean, mean)} ± {_rounded(half, mean)}"
        if player == self.reference:
            return text
        return MARKED[self.orderings.standing(setting, player)].format(text)

    def verdicts(self) -> Iterator[str]:
        """Who is best in each setting, and how many times its mean the others have."""
        for setting in self.settings:
            text = f"{setting}: the smallest is that of {self.orderings.best(setting)}."
            for standing in (LEVEL, OPEN, BEHIND):
                players = self._standing(setting, standing)
                if players:
                    text += f" {standing.capitalize()}: {', '.join(players)}."
            yield text

    def _standing(self, setting: str, standing: str) -> list[str]:
        """The players of a standing, each with its ratio to the best."""
        found = self.orderings
        return [
            f"{player} {_times(found.ratio(setting, player))}"
            for player in found.costs[setting]
            if found.standing(setting, player) == standing
        ]

    def block(self) -> Block:
        """What is printed and stands on a page."""
        return Block(self.name, self.head, self.rows(), list(self.verdicts()))


def _rounded(value: float, size: float) -> str:
    """Three digits of a number of this size."""
    if not np.isfinite(value):
        return "unknown"
    digits = 0 if abs(size) >= 100 else 1 if abs(size) >= 10 else 2
    return f"{value:.{digits}f}"


def _times(ratio: Ratio) -> str:
    """A ratio and its interval."""
    value, low, high = (_rounded(end, end) for end in ratio)
    known = ratio.high <= WIDEST * ratio.low  # not for NaN, of a single game
    return f"{value} ({f'{low} to {high}' if known else 'unknown'})"


def publish(results: Results, folder: Path, page: Path | None) -> None:
    """Write every game into a CSV and a picture; print the table, and write it into the page."""
    write_results([results], folder / f"{results.name}.csv")
    draw(results, folder / f"{results.name}.png")
    publish_blocks([results.block()], page)


def draw(results: Results, file: Path) -> None:
    """Draw the mean and its interval for each player, a panel for each setting."""
    names, settings = [*results.values][::-1], results.settings
    size: Any = {"figsize": (publication.WIDTH, 0.8 + 0.24 * len(names)), "layout": "constrained"}
    figure, panels = publication.pyplot().subplots(
        1, len(settings), sharey=True, squeeze=False, **size
    )
    for axes, setting in zip(panels[0], settings, strict=True):
        means, halves = np.array([interval(results.values[name][setting]) for name in names]).T
        low = np.maximum(means - np.nan_to_num(halves), SMALLEST)
        wide = means.min() > 0 and means.max() > 10 * means.min()
        for place, name in enumerate(names):
            colour = BLUE if "dikin" in name else GREY if name == results.reference else ORANGE
            axes.plot([low[place], 2 * means[place] - low[place]], [place, place], color=colour)
            axes.plot(means[place], place, "o", color=colour)
        axes.set(xscale="log" if wide else "linear", yticks=range(len(names)))
        if wide:  # the interval of few games may reach far below
            axes.set_xlim(means.min() / 3, 3 * means.max())
        axes.set_yticklabels(names)
        axes.set_title(f"{setting} ({results.games(setting)} games)", loc="left")
    figure.supxlabel(f"{results.about or results.name}, 95 % intervals", fontsize=8)
    publication.publish(figure, file)


def write_results(results: list[Results], file: Path) -> None:
    """Write every game as a line of a CSV."""
    file.parent.mkdir(parents=True, exist_ok=True)
    write_csv(file, fields(*Row._fields), [row for each in results for row in each.by_game()])


def read_results(file: Path, reference: str | None = None) -> list[Results]:
    """The tables of a CSV, without what they are about."""
    tables: dict[str, dict[str, dict[str, list[float]]]] = {}
    rows = read_csv(file)
    for row in rows:
        players = tables.setdefault(row["table"], {})
        games = players.setdefault(row["player"], {}).setdefault(row["setting"], [])
        games.append(float(row["value"]))
    first = min(int(row["game"]) for row in rows)
    return [
        Results(
            name,
            "",
            {
                player: {setting: np.array(games) for setting, games in found.items()}
                for player, found in players.items()
            },
            first,
            reference,
        )
        for name, players in tables.items()
    ]


class Block(NamedTuple):
    """A table, and what it says as a list below it."""

    name: str
    """One word, by which a page finds the table: its head begins with it and a colon."""
    head: list[str]
    rows: list[list[str]]
    notes: list[str]

    def markdown(self) -> str:
        rows = (self.head, len(self.head) * ["---"], *self.rows)
        lines = [f"| {' | '.join(row)} |" for row in rows]
        notes = ["", *(f"- {note}" for note in self.notes)] if self.notes else []
        return "\n".join([*lines, *notes]) + "\n"


def publish_blocks(blocks: list[Block], page: Path | None) -> None:
    """Print tables with their notes and, where there is a page, write them there."""
    for block in blocks:
        print_block(block)
    if page is not None:
        write_page(blocks, page)


def print_block(block: Block) -> None:
    """A table and its notes on the terminal."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table(title=block.head[0], title_justify="left")
    for place, name in enumerate(["", *block.head[1:]]):
        table.add_column(name, justify="right" if place else "left")
    for row in block.rows:
        table.add_row(*(cell.replace("**", "") for cell in row))
    console.print(table)
    for note in block.notes:
        console.print(note, highlight=False)


def write_page(blocks: list[Block], page: Path) -> None:
    """Write tables and notes into a page, in place of those that begin with the same names."""
    text = page.read_text(encoding="utf-8")
    for block in blocks:
        pattern = rf"^\| {re.escape(block.name)}: .*\n(?:\|.*\n)*(?:\n(?:- .*\n)+)?"
        # No escapes: a backslash in a name stays one.
        text, found = re.subn(pattern, block.markdown().replace("\\", r"\\"), text, flags=re.M)
        if not found:
            raise SystemExit(f"{page} has no table that begins with '| {block.name}: '")
    replace_file(page, text.encode())
