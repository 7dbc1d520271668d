"""What all pages share: their numbers come from CSVs, their tables from rows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dikin.experiments.tables import Columns, T, rows

Row = dict[str, str]
"""A row of a CSV."""


def markdown(columns: Columns[T], things: Iterable[T]) -> str:
    """A table, a row per thing."""
    return table(" | ".join(columns), rows(columns, things))


def table(head: str, body: Iterable[Iterable[str]]) -> str:
    """A table of texts; `head` has its columns with bars between."""
    rule = " | ".join("---" for _ in head.split("|"))
    return "\n".join(f"| {line} |" for line in (head, rule, *map(" | ".join, body)))


def fill_template(folder: Path, **values: object) -> str:
    """The template of a folder, with these values."""
    return (folder / "template.md").read_text(encoding="utf-8").format(**values)
