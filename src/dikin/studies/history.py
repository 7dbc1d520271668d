"""The history of a study as a table, one row per round.

The table of a learner has the columns round, point, loss, curvature, center and certificate; that
of a tuner has a column for each name (`dikin.tuning.history`).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dikin import serialization
from dikin.status import Status
from dikin.studies.journal import Event
from dikin.tuning.history import NOTHING, Row, history_table
from dikin.tuning.space import Space
from dikin.vectors import Table

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

AnswerRow = dict[str, Any]
"""The content of a row that told a round."""
AT_ONCE = 5000
"""Rounds that are converted to a table at a time."""


def answers_between(events: Iterable[Event], first: int, last: int | None) -> Iterator[AnswerRow]:
    """The answers of the rounds from `first` to `last` among a journal's rows."""
    return (answer for _, answer in _rows_between(events, first, last))


def records_between(events: Iterable[Event], first: int, last: int | None) -> list[dict[str, Any]]:
    """The same, with the query that was answered, by whom and when."""
    return [
        {
            "round": answer.pop("round"),
            "query": event.query,
            "client": event.client.rpartition("#")[0],
            "time": event.time / 1e6,
            **answer,
        }
        for event, answer in _rows_between(events, first, last)
    ]


def value_or_loss(record: dict[str, Any]) -> float | None:
    """The value or loss of a round; None if it was not one number."""
    number = record.get("value", record.get("loss"))
    return number if isinstance(number, float) else None


def _rows_between(
    events: Iterable[Event], first: int, last: int | None
) -> Iterator[tuple[Event, dict[str, Any]]]:
    for event in events:
        if event.kind != "tell":
            continue
        answer = json.loads(event.body)
        if last is not None and answer["round"] > last:
            break
        if answer["round"] >= first:
            yield event, answer


class HistoryColumns(NamedTuple):
    """What the columns of a history are made of."""

    space: Space | None
    """The parameters of a tuner; None for a learner."""
    shape: tuple[int, ...]
    """Of the points of a learner."""
    contexts: Mapping[str, Any] = NOTHING
    """With their kinds as in `Status.contexts`."""
    covariates: Mapping[str, Any] = NOTHING
    """With their kinds as in `Status.covariates`."""
    sem: bool = False
    """Whether there are standard errors."""
    compared: bool = False
    """Whether there is a holdback."""

    @classmethod
    def of(cls, space: Space | None, status: Status) -> HistoryColumns:
        """Those of a study that stands so."""
        known = status.contexts or {}, status.covariates or {}
        told = status.sem_rounds > 0, status.holdback > 0.0
        return cls(space, status.center.shape, *known, *told)


def in_parts(answers: Iterator[AnswerRow], columns: HistoryColumns) -> Table:
    """The table of many rounds, made part by part: as Python objects they are 20 times larger."""
    tables = [_table(list(islice(answers, AT_ONCE)), columns)]
    while len(tables[-1]) == AT_ONCE:
        tables.append(_table(list(islice(answers, AT_ONCE)), columns))
    widest = max((part.dtype for part in tables), key=lambda dtype: bool(dtype.hasobject))
    return np.concatenate([part.astype(widest) for part in tables if len(part)] or tables)


def _table(answers: list[AnswerRow], columns: HistoryColumns) -> Table:
    space, shape, contexts, covariates, sem, compared = columns
    if space is None:
        return _learner_table(answers, shape)
    rows = list(map(_tuner_row, answers))
    return history_table(space, rows, covariates, contexts=contexts, sem=sem, compared=compared)


def _learner_table(answers: list[AnswerRow], shape: tuple[int, ...]) -> Table:
    """The rounds of a learner whose points have this shape."""
    rows = [_row(each) for each in answers]
    # A loss is one number, or whatever the learner's feedback is.
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


def _row(answer: AnswerRow) -> tuple[Any, ...]:
    loss = serialization.decode(answer["loss"])
    bound = serialization.number_or_nan(answer["certificate"])
    return answer["round"], answer["point"], loss, answer["curvature"], answer["center"], bound


def _tuner_row(answer: AnswerRow) -> Row:
    return Row(
        answer["round"],
        answer["point"],
        answer["value"],
        serialization.number_or_nan(answer["expected"]),
        answer["held"],
        answer["center"],
        serialization.number_or_nan(answer["certificate"]),
        covariates_of(answer),
        serialization.number_or_nan(answer.get("sem")),
        (answer.get("asked") or {}).get("context") or {},
        bool(answer.get("held_back")),
        serialization.number_or_nan(answer.get("expected_control")),
    )


def covariates_of(answer: AnswerRow) -> dict[str, float | str]:
    """The covariates of a round: those that were known when it was asked, and those told."""
    asked = (answer.get("asked") or {}).get("covariates") or {}
    return asked | (answer.get("covariates") or {})


def write_csv(parts: Iterable[Table], file: SupportsWrite[str]) -> None:
    """Write the parts of a table as CSV, a column for each coordinate, floats with every bit."""
    out = csv.writer(file, lineterminator="\n")
    names: tuple[str, ...] = ()
    part = None
    for part in parts:
        if len(part) and not names:
            names = _write_titles(out, part)
        for row in part:
            out.writerow([cell for name in names for cell in _cells(row[name])])
    if part is not None and not names:
        _write_titles(out, part)


def _write_titles(out: Any, part: Table) -> tuple[str, ...]:
    names = part.dtype.names or ()
    out.writerow([title for name in names for title in _titles(name, part.dtype[name].shape)])
    return names


def _titles(name: str, shape: tuple[int, ...]) -> list[str]:
    return ["_".join([name, *map(str, place)]) for place in np.ndindex(shape)]


def _cells(value: Any) -> list[str]:
    if isinstance(value, tuple):
        return [json.dumps(serialization.encode(value))]
    if isinstance(value, str):
        return [str(value)]
    return [repr(part) for part in np.ravel(value).tolist()]
