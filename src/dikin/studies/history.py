"""The history of a study as a table, one row per round (`dikin.tuning.history`)."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from dikin import serialization
from dikin.status import Status
from dikin.studies.journal import Event
from dikin.tuning.history import Row, history_table
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


def in_parts(answers: Iterator[AnswerRow], space: Space, status: Status) -> Table:
    """The table of many rounds, made part by part: as Python objects they are 20 times larger."""

    def part() -> Table:
        return history_table(
            space,
            [_row(answer) for answer in islice(answers, AT_ONCE)],
            status.covariates or {},
            contexts=status.contexts or {},
            compared=status.holdback > 0.0,
        )

    tables = [part()]
    while len(tables[-1]) == AT_ONCE:
        tables.append(part())
    return np.concatenate([each for each in tables if len(each)] or tables)


def _row(answer: AnswerRow) -> Row:
    return Row(
        round=answer["round"],
        point=answer["point"],
        value=serialization.number_or_nan(answer["value"]),
        expected=serialization.number_or_nan(answer["expected"]),
        paused=answer["paused"],
        failed=bool(answer.get("failed")),
        metrics=answer.get("metrics") or {},
        covariates=covariates_of(answer),
        context=(answer.get("asked") or {}).get("context") or {},
        held_back=bool(answer.get("held_back")),
        expected_control=serialization.number_or_nan(answer.get("expected_control")),
        center=answer["center"],
    )


def covariates_of(answer: AnswerRow) -> dict[str, float | str]:
    """The covariates of a round: those that were known when it was asked, and those told."""
    asked = (answer.get("asked") or {}).get("covariates") or {}
    return asked | (answer.get("covariates") or {})


def write_csv(parts: Iterable[Table], file: SupportsWrite[str]) -> None:
    """Write the parts of a table as CSV, floats with every bit."""
    out = csv.writer(file, lineterminator="\n")
    begun = False
    for part in parts:
        if not begun:
            out.writerow(part.dtype.names or ())
            begun = True
        for row in part:
            out.writerow([cell if isinstance(cell, str) else repr(cell) for cell in row.tolist()])
