"""Operations of a study that only HTTP has: its history, its open trials, the page."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

import numpy as np

from dikin.arguments import whole
from dikin.serialization import finite_or_none, plain
from dikin.studies.operations import (
    NUMBER,
    OBJECT,
    STUDY,
    WHOLE,
    at_most,
    list_of,
    operation,
    or_null,
    record,
    schema_of,
)
from dikin.studies.study import OpenQuery, Study
from dikin.tuning.parameters.description import parameter_from_spec
from dikin.tuning.tuner import Tuner

NUMBERS_AT_ONCE = 100_000
"""Numbers in a page of history; it has fewer rounds if points are large. Writing them takes 50 ms,
in which no other thread runs."""
SHOWN_ROUNDS, SHOWN_OPEN = 2000, 8
"""Rounds and open trials that the page shows."""

operation("GET", "read", path=STUDY)(Study.status)
operation("GET", "read")(Study.state)


@operation("POST", "admin", of=Study.set_parameters)
def set_parameters(
    study: Study, parameters: dict[str, Any], constraints: str | Sequence[str] = ()
) -> None:
    """Change the parameters: all of them, anew. Nothing that was learnt is lost."""
    kinds: Any = parameters
    if isinstance(parameters, dict):
        kinds = {name: parameter_from_spec(name, each) for name, each in parameters.items()}
    study.set_parameters(kinds, constraints)


@operation("GET", "read", answer=record(certificate=or_null(NUMBER)), of=Tuner)
def certificate(
    study: Study, smoothness: float | None = None, lipschitz: float | None = None
) -> Any:
    """Return the bound on the regret so far, if the values have the given constant."""
    found = study.certificate_for(smoothness=smoothness, lipschitz=lipschitz)
    return {"certificate": finite_or_none(found)}


First = Annotated[int, "The first round."]
Limit = Annotated[int, "Number of entries at most."]
After = Annotated[int, "Only entries after this one."]
ROUND = record(
    round=WHOLE,
    value=or_null(NUMBER) | {"description": "Null for a trial that failed."},
    params=OBJECT,
)
"""A round of the history; it has the further fields of `Study.records`."""
ROUND["additionalProperties"] = True


@operation("GET", "read", answer=record(rounds=list_of(ROUND), next=or_null(WHOLE)))
def history(study: Study, first: First = 1, limit: Limit = 100) -> Any:
    """Return rounds, every seal checked. `next` is the round to continue from.

    If points are large, there are fewer than `limit`.
    """
    first = whole(first, "first", 1, "rounds are counted from 1")
    begin = max(first, study.first_round)  # skip rounds that were trimmed
    most = _fitting(at_most(limit, "limit"), len(study.space.columns))
    records = study.records(begin, begin + most - 1)
    for each in records:
        each["params"] = study.space.params(np.array(each["point"]))
    more = bool(records) and records[-1]["round"] < study.rounds
    return {"rounds": records, "next": records[-1]["round"] + 1 if more else None}


def _fitting(limit: int, size: int) -> int:
    """Return the number of rounds in one answer: each has three times `size` numbers."""
    return max(1, min(limit, NUMBERS_AT_ONCE // (3 * size)))


OPEN_TRIAL = schema_of(OpenQuery)
OPEN_TRIAL["properties"]["age_seconds"] = NUMBER


@operation("GET", "read", answer=record(queries=list_of(OPEN_TRIAL), total=WHOLE))
def open_(study: Study, after: After = -1, limit: Limit = 100) -> Any:
    """Return the open trials, oldest first, with who asked each and when."""
    found = study._waiting(after, at_most(limit, "limit"))
    return {"queries": list(map(_waiting, found)), "total": study.status().open.count}


def _waiting(trial: OpenQuery) -> Any:
    age = (datetime.now(UTC) - trial.asked).total_seconds()
    more = {"asked": trial.asked.isoformat(), "age_seconds": max(0.0, age)}
    return plain(trial) | more


def _seen(study: Study, **_: Any) -> str:
    """Return a text that differs as soon as the page of a study does, but for ages."""
    s = study.status()
    parts = (s.rounds, s.asked, s.open.count, s.open.first, s.paused, s.guard_reason, s.warnings)
    return hashlib.sha256(repr((parts, s.space, s.first_round)).encode()).hexdigest()[:20]


@operation("GET", "read", answer=OBJECT, version=_seen)
def page(study: Study, after: After = 0) -> Any:
    """Return all that the page shows: status, recommendation, open trials and the last rounds.

    For programs that poll: with the `ETag` of the last answer in `If-None-Match` the answer is 304
    where nothing has changed.
    """
    seen, after = study.status(), whole(after, "after", 0, "rounds are counted from 1")
    size, newest = len(seen.columns), seen.rounds
    first = max(newest - _fitting(SHOWN_ROUNDS, size), after if after <= newest else 0) + 1
    records = study.records(first, newest) if first <= newest else []
    found = None if seen.contexts else study.recommend()
    return {
        "study": seen.to_json(),
        "recommendation": found if found is None else found.to_json(),
        "open": list(map(_waiting, study._waiting(-1, SHOWN_OPEN))),
        "rounds": _columns(records, size),
    }


def _columns(records: list[dict[str, Any]], dim: int) -> dict[str, Any]:
    """Return tuned rounds, and those of a pause, as columns, which take half the space of rows."""
    records = [each for each in records if each["paused"] or not each.get("held_back")]
    found: dict[str, Any] = {
        name: [each.get(name) for each in records] for name in ("round", "value", "paused", "time")
    }
    found["failed"] = [bool(each.get("failed")) for each in records]
    for name, part in (("played", "point"), ("best", "center")):
        found[name] = [[each[part][place] for each in records] for place in range(dim)]
    return found
