"""The history of a study as a table: one row a round."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from math import nan
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from dikin import serialization
from dikin.studies.journal import Event

Table = NDArray[np.void]
"""A structured array with the columns round, point, loss, curvature, center, certificate."""


def history_table(
    events: Iterable[Event], first: int, last: int | None, shape: tuple[int, ...]
) -> Table:
    """The rounds from `first` to `last` that a journal tells."""
    rows: list[tuple[Any, ...]] = []
    for event in events:
        if event.kind != "tell":
            continue
        told = json.loads(event.body)
        if last is not None and told["round"] > last:
            break
        if told["round"] >= first:
            rows.append(_row(told))
    # A loss is one number, or whatever else the learner is told.
    plain = all(isinstance(row[2], float) for row in rows)
    columns = [
        ("round", np.int64),
        ("point", np.float64, np.shape(rows[0][1]) if rows else shape),
        ("loss", np.float64 if plain else object),
        ("curvature", np.float64),
        ("center", np.float64, shape),
        ("certificate", np.float64),
    ]
    return np.array(rows, dtype=columns)


def _row(told: dict[str, Any]) -> tuple[Any, ...]:
    certificate = nan if told["certificate"] is None else told["certificate"]
    loss = serialization.decode(told["loss"])
    return told["round"], told["point"], loss, told["curvature"], told["center"], certificate


def write_csv(rounds: Table, file: TextIO) -> None:
    """Write a table as CSV, a column for each coordinate, floats with every bit."""
    out = csv.writer(file, lineterminator="\n")
    names = rounds.dtype.names or ()
    out.writerow([title for name in names for title in _titles(name, rounds.dtype[name].shape)])
    for row in rounds:
        out.writerow([cell for name in names for cell in _cells(row[name])])


def _titles(name: str, shape: tuple[int, ...]) -> list[str]:
    return ["_".join([name, *map(str, place)]) for place in np.ndindex(shape)]


def _cells(value: Any) -> list[str]:
    if isinstance(value, tuple):
        return [json.dumps(serialization.encode(value))]
    return [repr(part) for part in np.ravel(value).tolist()]
