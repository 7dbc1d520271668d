"""Tables as text: how numbers are written, and rows in a file or in the terminal.

A table is a mapping from the names of its columns to functions of the subject of a row.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from dikin.files import replace_file

T = TypeVar("T")
Columns = Mapping[str, Callable[[T], object]]


def six_decimals(value: float) -> str:
    return f"{value:.6f}"


def exponent(value: float) -> str:
    return f"{value:.3f}"


def interval(low: float, high: float, digits: int = 3) -> str:
    return f"{low:.{digits}f} to {high:.{digits}f}"


def whole(value: float) -> str:
    """Return a regret or a number of rounds, to the next whole number."""
    return f"{value:,.0f}"


def rows(columns: Columns[T], things: Iterable[T]) -> Iterator[list[str]]:
    for thing in things:
        yield [str(text(thing)) for text in columns.values()]


# Of what has a fitted `curve`.
FITTED_FILE: Columns[Any] = {
    "measured": lambda line: six_decimals(line.curve.power.exponent),
    "low": lambda line: six_decimals(line.curve.power.low),
    "high": lambda line: six_decimals(line.curve.power.high),
}


def write_csv(file: Path, columns: Columns[T], things: Iterable[T]) -> None:
    """Write a row per thing, below the names of the columns. The file is replaced as a whole."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([[*columns], *rows(columns, things)])
    replace_file(file, text.getvalue().encode())


def read_csv(file: Path) -> list[dict[str, str]]:
    """Return the rows of a file, each by the names of its columns."""
    with open(file, encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


def terminal_table(columns: Columns[T], things: Iterable[T], **options: Any) -> Any:
    """Return the same rows as a table in the terminal."""
    from rich.table import Column, Table

    first, *others = columns
    table = Table(Column(first, no_wrap=True), *others, **options)
    for row in rows(columns, things):
        table.add_row(*row)
    return table
