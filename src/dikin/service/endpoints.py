"""The operations of a study over HTTP: one table, from which the OpenAPI file is made, too.

Each is a method of `Study`, or a function of a study, with arguments that are JSON values. They are
passed on as they came: the library checks them, in its own words.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from types import NoneType
from typing import Annotated, Any

import numpy as np

from dikin.arguments import frozen, whole
from dikin.errors import ParameterError
from dikin.open_queries import Query
from dikin.serialization import finite_or_none, plain
from dikin.status import Status
from dikin.studies.arguments import AT_ONCE, query_or_id
from dikin.studies.ledger import Known, OpenQuery
from dikin.studies.operations import (
    NUMBER,
    OBJECT,
    PLAIN,
    WHOLE,
    Act,
    Operation,
    Schema,
    list_of,
    or_null,
    record,
    schema_of,
)
from dikin.studies.study import Study
from dikin.tuning.parameters.description import parameter_from_spec
from dikin.tuning.trial import Trial
from dikin.tuning.tuner import NO_HOLDBACK, Tuner
from dikin.worth.uplift import Uplift

STUDY = "/v1/studies/{name}"
HEADERS = {"key": "Idempotency-Key"}  # of arguments that are not in a body or a query
NUMBERS_AT_ONCE = 100_000
"""Numbers in a page of history. Writing them takes 50 ms, in which no other thread runs."""
SHOWN_ROUNDS, SHOWN_OPEN = 2000, 8  # rounds and open trials that the page shows

PLAIN[Uplift] = schema_of(Uplift)
PLAIN[Uplift]["properties"]["total"] = or_null(NUMBER)
STATUS = schema_of(Status)


class Endpoint(Operation):
    """A function as HTTP calls it. The text of `version` differs as soon as the answer does."""

    def __init__(
        self,
        act: Act,
        method: str,
        right: str | None,
        path: str | None = None,
        answer: Schema | None = None,
        version: Act | None = None,
        of: Any = None,
    ) -> None:
        super().__init__(act, of)
        self.method, self.right, self.version = method, right, version
        self.path = f"{STUDY}/{self.name}" if path is None else path
        kind = self.hints["return"]
        self.answer = answer or (record() if kind is NoneType else schema_of(kind))
        given = {n: each for n, each in self.arguments.items() if n not in HEADERS}
        self.headers = {n: HEADERS[n] for n in self.arguments.keys() - given.keys()}
        self.in_body, self.in_query = (given, {}) if method in ("POST", "PUT") else ({}, given)


OPERATIONS: dict[str, Endpoint] = {}


def operation(
    method: str, right: str | None, *, table: dict[str, Endpoint] = OPERATIONS, **more: Any
) -> Callable[[Act], Act]:
    """Enter a function into the table."""

    def enter(act: Act) -> Act:
        entry = Endpoint(act, method, right, **more)
        table[entry.name] = entry
        return act

    return enter


for _act in (Study.pause, Study.resume, Study.add_trial):
    operation("POST", "play")(_act)
operation("GET", "read", path=STUDY)(Study.status)
operation("GET", "read")(Study.state)
operation("GET", "read", of=Study.ask)(Study.recommend)

Id = Annotated[int, "The id of the trial, from `ask`."]
Point = Annotated[list[float] | None, "The point from `ask`: another study then refuses the id."]
TRIAL = schema_of(Trial)


@operation("POST", "play", answer={"anyOf": [TRIAL, record(queries=list_of(TRIAL))]}, of=Study.ask)
def ask(
    study: Study,
    context: Known = None,
    n: int | None = None,
    covariates: Known = None,
    key: str | None = None,
) -> Any:
    """Ask for a setting to use."""
    if n is None:
        return plain(study.ask(context, covariates=covariates, key=key))
    n = whole(n, "n", 1, "how many to ask for", most=AT_ONCE)
    return {"queries": list(map(plain, study.ask(context, n=n, covariates=covariates, key=key)))}


@operation("POST", "play", of=Study.tell)
def tell(
    study: Study,
    id: Id,
    value: float | None = None,
    metrics: Known = None,
    covariates: Known = None,
    failed: bool = False,
    point: Point = None,
) -> None:
    """Report the value of a trial, or that it failed.

    The same answer again is accepted and counts once. A different one is an error.
    """
    trial = id if point is None else _query(id, point)
    study.tell(trial, value, metrics=metrics, covariates=covariates, failed=failed)


def _query(id: Any, point: Any) -> Query:
    known: Any = query_or_id(id)
    return Query(known, frozen(point, "point", 1))


@operation("POST", "play", answer=record(forgotten=WHOLE), of=Study.forget)
def forget(
    study: Study, id: Id | None = None, older_than: float | None = None, point: Point = None
) -> Any:
    """Close a trial that will never be answered, or all old ones. Repeating this is allowed."""
    trial = id if id is None or point is None else _query(id, point)
    return {"forgotten": study.forget(trial, older_than=older_than)}


@operation("GET", "read", answer=record(best=OBJECT), of=Study.ask)
def best(study: Study, context: Known = None) -> Any:
    """Return the best setting, or that of a context."""
    return {"best": study.best_for(context)}


@operation("POST", "admin", of=Study.set_parameters)
def set_parameters(
    study: Study, parameters: dict[str, Any], constraints: str | Sequence[str] = ()
) -> None:
    """Change the parameters: all of them, anew. Nothing that was learnt is lost."""
    kinds: Any = parameters
    if isinstance(parameters, dict):
        kinds = {name: parameter_from_spec(name, each) for name, each in parameters.items()}
    study.set_parameters(kinds, constraints)


@operation("GET", "read")
def uplift(study: Study) -> Uplift:
    """Return the gain of a tuned round over the control, with an interval to read at any time."""
    found = study.status().uplift
    if found is None:
        raise ParameterError(NO_HOLDBACK)
    return found


@operation("GET", "read", answer=record(certificate=or_null(NUMBER)), of=Tuner)
def certificate(
    study: Study, smoothness: float | None = None, lipschitz: float | None = None
) -> Any:
    """Return the bound on the regret so far, if the values have the given constant."""
    found = study.certificate_for(smoothness=smoothness, lipschitz=lipschitz)
    return {"certificate": finite_or_none(found)}


Limit = Annotated[int, "Number of entries at most."]
After = Annotated[int, "Only entries after this one."]
VALUE = or_null(NUMBER) | {"description": "Null for a trial that failed."}
ROUND = record(round=WHOLE, value=VALUE, params=OBJECT) | {"additionalProperties": True}


@operation("GET", "read", answer=record(rounds=list_of(ROUND), next=or_null(WHOLE)))
def history(study: Study, first: Annotated[int, "The first round."] = 1, limit: Limit = 100) -> Any:
    """Return rounds, every seal checked. `next` is the round to continue from.

    If points are large, there are fewer than `limit`.
    """
    first = whole(first, "first", 1, "rounds are counted from 1")
    begin = max(first, study.first_round)  # skip rounds that were trimmed
    most = _fitting(whole(limit, "limit", 1, "how many", most=AT_ONCE), len(study.space.columns))
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
    found = study._ledger.waiting(after, whole(limit, "limit", 1, "how many", most=AT_ONCE))
    return {"queries": list(map(_waiting, found)), "total": study.status().open.count}


def _waiting(trial: OpenQuery) -> Any:
    age = max(0.0, (datetime.now(UTC) - trial.asked).total_seconds())
    return plain(trial) | {"asked": trial.asked.isoformat(), "age_seconds": age}


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
        "open": list(map(_waiting, study._ledger.waiting(-1, SHOWN_OPEN))),
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
