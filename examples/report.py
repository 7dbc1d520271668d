"""Tables of the examples: a mean and its 95 % interval for each player and setting.

The same numbers go to the terminal, to a CSV and into a page, so that none is typed in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from comparison import interval

from dikin.experiments import source
from dikin.experiments.tables import fields, write_csv
from dikin.files import replace_file

Array = np.typing.NDArray[np.float64]


class Cell(NamedTuple):
    """A line of the CSV."""

    table: str
    player: str
    setting: str
    games: int
    mean: str
    half: str
    mark: str
    """"least" for the least mean of a setting, "equal" where the difference from it is not
    distinguished from 0 by a 95 % interval over games, else empty."""


class Results(NamedTuple):
    """Measured numbers of one table; small ones are good."""

    name: str
    """One word, by which a page finds the table."""
    about: str
    """What the numbers are."""
    values: Mapping[str, Mapping[str, Array]]
    """By player, then by setting: one number for each game. Game i of all players belongs
    together: they met the same noise."""
    reference: str | None = None
    """A player that knows what the others must find: it is shown, and wins nothing."""

    @property
    def settings(self) -> list[str]:
        return list(next(iter(self.values.values())))

    def games(self, setting: str) -> int:
        return len(next(iter(self.values.values()))[setting])

    @property
    def head(self) -> list[str]:
        columns = [f"{setting} ({self.games(setting)} games)" for setting in self.settings]
        return [f"{self.name}: {self.about}", *columns]

    def cells(self) -> Iterator[Cell]:
        """Every cell, by player and setting."""
        marks = {setting: self._marks(setting) for setting in self.settings}
        for player, row in self.values.items():
            for setting, games in row.items():
                mean, half = interval(games)
                numbers = (_rounded(mean, mean), _rounded(half, mean), marks[setting][player])
                yield Cell(self.name, player, setting, len(games), *numbers)

    def _marks(self, setting: str) -> dict[str, str]:
        compared = {name: row for name, row in self.values.items() if name != self.reference}
        least = min(compared, key=lambda player: float(compared[player][setting].mean()))
        marks = dict.fromkeys(self.values, "")
        for player, row in compared.items():
            apart, half = interval(row[setting] - self.values[least][setting])
            marks[player] = "least" if player == least else "equal" if apart <= half else ""
        return marks

    def rows(self) -> list[list[str]]:
        """A row of texts for each player."""
        found: dict[str, list[str]] = {}
        for cell in self.cells():
            text = f"{cell.mean} ± {cell.half}"
            shown = {"least": f"**{text}**", "equal": f"{text} =", "": text}[cell.mark]
            found.setdefault(cell.player, [cell.player]).append(shown)
        return list(found.values())

    def verdicts(self) -> Iterator[str]:
        """Who is best in each setting, and who is not distinguished from it."""
        for setting in self.settings:
            marks = self._marks(setting)
            least = next(player for player, mark in marks.items() if mark == "least")
            equal = [player for player, mark in marks.items() if mark == "equal"]
            rest = f"; not distinguished from it: {', '.join(equal)}" if equal else ""
            yield f"{setting}: the least is that of {least}{rest}."

    def block(self) -> Block:
        """What is printed and stands on a page."""
        return Block(self.name, self.head, self.rows(), list(self.verdicts()))


def _rounded(value: float, size: float) -> str:
    """Three digits of a number of this size."""
    if not np.isfinite(value):
        return "?"
    digits = 0 if abs(size) >= 100 else 1 if abs(size) >= 10 else 2
    return f"{value:.{digits}f}"


def publish(results: list[Results], file: Path, page: Path | None) -> None:
    """Print the tables, write them as a CSV and, where there is one, into a page."""
    write_results(results, file)
    publish_blocks([result.block() for result in results], page)


def write_results(results: list[Results], file: Path) -> None:
    """All cells as a CSV."""
    file.parent.mkdir(parents=True, exist_ok=True)
    write_csv(file, fields(*Cell._fields), [cell for each in results for cell in each.cells()])
    games = {f"{each.name}, {name}": each.games(name) for each in results for name in each.settings}
    source.record(file, {"games": games}, source.TUNERS)


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
        return "\n".join([*lines, "", *(f"- {note}" for note in self.notes)]) + "\n"


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
