"""The history of a study, one row per round: as a table, as plain values, as CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from dikin.serialization import number_or_nan
from dikin.status import Status
from dikin.studies.database import Row as Stored
from dikin.studies.log import Log
from dikin.tuning.history import Row, history_table, rows_of
from dikin.tuning.space import Space
from dikin.tuning.tuner import HISTORY
from dikin.vectors import Table

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

    from dikin.studies.fold import Fold

AT_ONCE = 5000  # rounds that are converted to a table at a time
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a cell begins that a spreadsheet would compute


class Spaces:
    """The parameters at each row, and points in those of today."""

    def __init__(self, space: Space | None, changes: Sequence[Sequence[Any]]) -> None:
        self._space = space
        self._earlier = [(n, Space.from_spec(spec)) for n, spec in changes]

    def at(self, n: int) -> Space | None:
        return next((space for end, space in self._earlier if n < end), self._space)

    def point(self, n: int, point: Sequence[float]) -> Sequence[float]:
        """Return a point of row `n` in today's columns, NaN where a value was removed."""
        before = self.at(n)
        if self._space is None or before is None or before is self._space:
            return point
        found = self._space.converted(np.array(point), before)
        return [np.nan] * len(self._space.columns) if found is None else found.tolist()


def records(
    groups: Iterable[list[Stored]], spaces: Spaces, round: int, first: int, last: int | None
) -> Generator[dict[str, Any]]:
    """Yield the rounds from `first` to `last` of rows that follow a round."""
    for row in (row for group in groups for row in group if row.kind == "tell"):
        round += 1
        if last is not None and round > last:
            return
        if round >= first:
            body = json.loads(row.body)
            found = {"round": round, "query": row.ask, "client": row.who, "time": row.at / 1e6}
            points = {what: spaces.point(row.n, body[what]) for what in ("point", "center")}
            yield found | body | points


def table_of(rounds: Iterator[dict[str, Any]], space: Space, status: Status) -> Table:
    """Return many rounds as a table, made part by part: Python objects are 20 times larger."""
    kinds, contexts, compared = status.covariates or {}, status.contexts or {}, status.holdback > 0

    def part() -> Table:
        some = list(islice(rounds, AT_ONCE))
        rows = [_of_kinds(round_of(each), kinds) for each in some]
        table = history_table(space, rows, kinds, contexts=contexts, compared=compared)
        longest = max((len(each["client"]) for each in some), default=1)
        more = [("time", "datetime64[us]"), ("client", f"U{longest}")]
        wide = np.empty(len(table), [*table.dtype.descr, *more])
        for name in table.dtype.names or ():
            wide[name] = table[name]
        wide["time"] = [int(1e6 * each["time"]) for each in some]
        wide["client"] = [each["client"] for each in some]
        return wide

    tables = [part()]
    while len(tables[-1]) == AT_ONCE:
        tables.append(part())
    return np.concatenate([each for each in tables if len(each)] or tables)


def _of_kinds(row: Row, kinds: dict[str, Any]) -> Row:
    """Return a round without covariates of another kind, which two clients began at once."""
    fits = {
        n: x for n, x in row.covariates.items() if isinstance(x, str) == isinstance(kinds[n], list)
    }
    return row if len(fits) == len(row.covariates) else row._replace(covariates=fits)


def round_of(record: dict[str, Any]) -> Row:
    asked = record.get("asked") or {}
    return Row(
        round=record["round"],
        point=record["point"],
        value=number_or_nan(record["value"]),
        expected=number_or_nan(record["expected"]),
        paused=record["paused"],
        failed=bool(record.get("failed")),
        metrics=record.get("metrics") or {},
        covariates=(asked.get("covariates") or {}) | (record.get("covariates") or {}),
        context=asked.get("context") or {},
        held_back=bool(record.get("held_back")),
        expected_control=number_or_nan(record.get("expected_control")),
        center=record["center"],
    )


def earlier_rounds(log: Log, fold: Fold) -> list[Row]:
    """Return the last rounds up to the row of a state, as its tuner keeps them."""
    sql = (
        "SELECT n, kind, body FROM dikin_row WHERE study = ? AND n <= ? AND "
        "kind IN ('tell', 'add') ORDER BY n DESC LIMIT ?"
    )
    space, spaces = fold.tuner.space, Spaces(fold.tuner.space, fold.spaces)
    round, rounds = fold.rounds, list[Row]()
    for n, kind, text in log.database.run(sql, (log.study, fold.n, HISTORY)):
        body = json.loads(text)
        if kind == "add":
            point = (spaces.at(n) or space).checked(body["params"], "the setting")
            body |= {"round": 0, "point": point, "center": point, "expected": None}
            body |= {"paused": False, "asked": {"context": body["context"]}}
        point, center = (np.array(spaces.point(n, body[what])) for what in ("point", "center"))
        if not np.isnan(point).any():
            row = round_of({"round": round} | body)
            rounds.append(row._replace(point=point, center=center))
        round -= kind == "tell"
    kept = rows_of(json.loads(log.beginning().text)["state"])
    return [*kept, *reversed(rounds)]


def write_csv(table: Table, file: SupportsWrite[str]) -> None:
    """Write a table as CSV, floats with every bit, no cell a formula."""
    out = csv.writer(file, lineterminator="\n")
    out.writerow(map(_cell, table.dtype.names or ()))
    for row in table:
        out.writerow(map(_cell, row.tolist()))


def _cell(value: Any) -> str:
    if not isinstance(value, str):
        return value.isoformat() if hasattr(value, "isoformat") else repr(value)
    return f"'{value}" if value.startswith(FORMULA) else value
