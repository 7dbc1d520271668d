"""Lines of a CSV, as they stand or as the named tuples that were written."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, get_type_hints


def rows(file: Path) -> list[dict[str, str]]:
    with open(file, encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def read(file: Path, row: Any) -> list[Any]:
    hints = get_type_hints(row)
    parse = ["True".__eq__ if hints[name] is bool else hints[name] for name in row._fields]
    with open(file, encoding="utf-8", newline="") as text:
        lines = [*csv.reader(text)][1:]
    return [row(*(each(cell) for each, cell in zip(parse, line, strict=True))) for line in lines]
