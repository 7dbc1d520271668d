"""The operations of a study: one table, from which HTTP, the OpenAPI file and the client are made.

An operation is a method of `Study`, or a function of a study, with arguments that are JSON values.
Its signature names them, and numpydoc describes them. Values are passed on as they came: the
library checks them, in its own words.
"""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from dikin.arguments import frozen, whole
from dikin.errors import ParameterError, RequestError, did_you_mean, shown
from dikin.open_queries import Query
from dikin.serialization import finite_or_none, plain
from dikin.status import Status
from dikin.studies.arguments import query_or_id
from dikin.studies.study import Known, OpenQuery, Study
from dikin.tuning.parameters.description import parameter_from_spec
from dikin.tuning.recommendation import Interval
from dikin.tuning.trial import Trial
from dikin.tuning.tuner import NO_HOLDBACK, Tuner
from dikin.vectors import Array
from dikin.worth.uplift import Uplift

AT_ONCE = 1000
"""Trials that one request may ask for, and rounds that it may read."""
NUMBERS_AT_ONCE = 100_000
"""Numbers in a page of history; it has fewer rounds if points are large. Writing them takes 50 ms,
in which no other thread runs."""
SHOWN_ROUNDS = 2000
"""Rounds that the page shows."""
SHOWN_OPEN = 8
"""Open trials that the page shows."""
FAULTS = 5
"""Faults of one request that an error lists."""
STUDY = "/v1/studies/{name}"
SUBJECTS = ("self", "study", "service", "visit")
"""Parameters of functions that are no arguments."""
HEADERS = {"key": "Idempotency-Key"}
"""Headers of arguments that are not in a body or a query."""

Schema = dict[str, Any]
Act = Callable[..., Any]

# --- schemas and words, from types and docstrings ------------------------------------------------

NUMBER, WHOLE, TEXT, FLAG = ({"type": t} for t in ("number", "integer", "string", "boolean"))
OBJECT: Schema = {"type": "object"}
PLAIN: dict[Any, Schema] = {
    Any: {},
    bool: FLAG,
    int: WHOLE,
    str: TEXT,
    datetime: TEXT,
    NoneType: {"type": "null"},
    Array: {"type": "array", "items": NUMBER},
}


def or_null(schema: Schema) -> Schema:
    """Return a schema that also accepts null."""
    return {"anyOf": [schema, {"type": "null"}]}


def list_of(schema: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": schema}


def record(**fields: Schema) -> Schema:
    """Return the schema of an object that has all of these fields."""
    return OBJECT | {"properties": fields, "required": list(fields)}


def schema_of(kind: Any, answer: bool = True) -> Schema:
    """Return the schema of a type. An unknown number of an answer is null."""
    if kind in PLAIN:
        return PLAIN[kind]
    if kind is float:
        return or_null(NUMBER) if answer else NUMBER
    if kind is Interval:
        return list_of(or_null(NUMBER)) | {"minItems": 3, "maxItems": 3}
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        words = documented(kind)
        hidden = {f.name for f in fields(kind) if not f.repr} if is_dataclass(kind) else set()
        hints = {n: k for n, k in get_type_hints(kind).items() if n not in hidden}
        return record(**{n: _described(schema_of(k), words.get(n, "")) for n, k in hints.items()})
    origin = get_origin(kind)
    if origin is Annotated:
        return _described(schema_of(kind.__origin__, answer), kind.__metadata__[0])
    parts = [schema_of(part, answer) for part in get_args(kind) if part is not Ellipsis]
    if origin in (Union, UnionType):
        return {"anyOf": parts}
    if origin in (list, tuple, Sequence):
        return list_of(parts[0])
    return OBJECT | ({"additionalProperties": parts[1]} if answer else {})


def _described(schema: Schema, words: str) -> Schema:
    return schema | {"description": words} if words else schema


def summary(act: Any) -> str:
    """Return a docstring up to its first section."""
    return re.split(r"\n\n\w+\n---", inspect.getdoc(act) or "")[0]


@cache
def documented(act: Any) -> dict[str, str]:
    """Return the descriptions in the section Parameters of a docstring, by name."""
    section = (inspect.getdoc(act) or "").partition("\nParameters\n----------\n")[2]
    section = re.split(r"\n\n\w+\n---", section)[0]
    found = {}
    for names, text in re.findall(r"^(\w[\w, ]*)(?: :.*)?\n((?: {4}.*\n?)+)", section, re.M):
        words = " ".join(text.split())
        same = words.startswith("As for `") and re.findall(r"`(?:Tuner\.)?(\w+)`", words)
        others = [documented(getattr(Tuner, other)) for other in same or ()]
        for name in names.split(", "):
            found[name] = next((each[name] for each in others if name in each), words)
    return found


PLAIN[Uplift] = schema_of(Uplift)
PLAIN[Uplift]["properties"]["total"] = or_null(NUMBER)
STATUS = schema_of(Status)


# --- the table -----------------------------------------------------------------------------------


class Operation:
    """A function as HTTP and commands call it: its words, and the schemas of its arguments.

    The docstring of `of`, by default of the function itself, describes them. `version` is a
    function of the same arguments, whose text differs as soon as the answer does.
    """

    def __init__(
        self,
        act: Act,
        method: str = "",
        right: str | None = None,
        path: str | None = None,
        answer: Schema | None = None,
        version: Act | None = None,
        of: Any = None,
    ) -> None:
        self.act, self.name, self.words = act, act.__name__.strip("_"), summary(act)
        if act is getattr(Study, self.name, None):  # as another kind of study has it
            self.act = lambda study, **given: getattr(study, self.name)(**given)
        self.method, self.right, self.version = method, right, version
        self.path = f"{STUDY}/{self.name}" if path is None else path
        code: Any = act.__init__ if isinstance(act, type) else act  # type: ignore[misc]
        words, hints = documented(of or act), get_type_hints(code, include_extras=True)
        own = [p for n, p in inspect.signature(act).parameters.items() if n not in SUBJECTS]
        named = [p for p in own if p.kind is not p.VAR_KEYWORD]
        self.is_open = len(named) < len(own)
        """True if it takes further arguments, which it checks itself."""
        self.required = {p.name for p in named if p.default is p.empty}
        self.arguments = {
            p.name: _described(schema_of(hints[p.name], False), words.get(p.name, ""))
            for p in named
        }
        kind = hints["return"]
        self.answer = answer or (record() if kind is NoneType else schema_of(kind))
        given = {n: each for n, each in self.arguments.items() if n not in HEADERS}
        self.headers = {n: HEADERS[n] for n in self.arguments.keys() - given.keys()}
        self.in_body, self.in_query = (given, {}) if method in ("POST", "PUT") else ({}, given)

    def check(self, given: Any, place: str, known: dict[str, Schema]) -> None:
        """Refuse arguments from a body or a query that are unknown, or missing."""
        if not isinstance(given, dict):
            got = shown(given)
            raise RequestError(f"the {place} must be a JSON object such as {{...}}, got {got}")
        unknown = set() if self.is_open else given.keys() - known.keys()
        missing = known.keys() & self.required - given.keys()
        if not unknown and not missing:
            return
        faults = [
            f"{shown(name)} is not known in the {place}."
            f"{did_you_mean(name, known) if known else ' This takes none.'}"
            for name in sorted(unknown)[:FAULTS]
        ]
        if len(unknown) > FAULTS:
            faults.append(f"and {len(unknown) - FAULTS:,} more")
        faults += [f"{name} is missing in the {place}" for name in sorted(missing)]
        raise RequestError("; ".join(fault.removesuffix(".") for fault in faults))


OPERATIONS: dict[str, Operation] = {}


def operation(
    method: str, right: str | None, *, table: dict[str, Operation] = OPERATIONS, **more: Any
) -> Callable[[Act], Act]:
    """Enter a function into the table."""

    def enter(act: Act) -> Act:
        entry = Operation(act, method, right, **more)
        table[entry.name] = entry
        return act

    return enter


for _method, _right, _act in (
    ("POST", "play", Study.pause),
    ("POST", "play", Study.resume),
    ("POST", "play", Study.add_trial),
    ("GET", "read", Study.state),
):
    operation(_method, _right)(_act)
operation("GET", "read", path=STUDY)(Study.status)
operation("GET", "read", of=Study.ask)(Study.recommend)

# --- rounds --------------------------------------------------------------------------------------

Id = Annotated[int, "The id of the trial, from `ask`."]
Point = Annotated[
    list[float] | None, "The point from `ask`: an id of another study is then refused."
]
TRIAL = schema_of(Trial)
TRIALS = record(queries=list_of(TRIAL))


@operation("POST", "play", answer={"anyOf": [TRIAL, TRIALS]}, of=Study.ask)
def ask(
    study: Study,
    context: Known = None,
    n: int | None = None,
    covariates: Known = None,
    key: str | None = None,
) -> Any:
    """Ask for a setting to use."""
    if isinstance(n, int):
        _at_most(n, "n")
    if n is None:
        return plain(study.ask(context, covariates=covariates, key=key))
    return {"queries": list(map(plain, study.ask(context, n=n, covariates=covariates, key=key)))}


def _at_most(value: Any, name: str) -> int:
    number = whole(value, name, 1, "how many")
    if number > AT_ONCE:
        raise ParameterError(f"{name} must be at most {AT_ONCE:,}, got {number:,}")
    return number


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
    trial = _query(id, point)
    study.tell(trial, value, metrics=metrics, covariates=covariates, failed=failed)


def _query(id: Any, point: Any) -> Query | int:
    if point is None:
        return id  # type: ignore[no-any-return]
    query_or_id(id)
    return Query(id, frozen(point, "point", 1))


@operation("POST", "play", answer=record(forgotten=WHOLE), of=Study.forget)
def forget(
    study: Study, id: Id | None = None, older_than: float | None = None, point: Point = None
) -> Any:
    """Close a trial that will never be answered, or all old ones. Repeating this is allowed."""
    trial = None if id is None else _query(id, point)
    return {"forgotten": study.forget(trial, older_than=older_than)}


@operation("POST", "admin", of=Study.set_parameters)
def set_parameters(
    study: Study, parameters: dict[str, Any], constraints: str | Sequence[str] = ()
) -> None:
    """Change the parameters: all of them, anew. Nothing that was learnt is lost."""
    kinds: Any = parameters
    if isinstance(parameters, dict):
        kinds = {name: parameter_from_spec(name, each) for name, each in parameters.items()}
    study.set_parameters(kinds, constraints)


# --- looking -------------------------------------------------------------------------------------


@operation("GET", "read", answer=record(best=OBJECT), of=Study.ask)
def best(study: Study, context: Known = None) -> Any:
    """Return the best setting, or that of a context."""
    return {"best": study.best_for(context)}


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
    most = _fitting(_at_most(limit, "limit"), len(study.space.columns))
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
    found = study._waiting(after, _at_most(limit, "limit"))
    return {"queries": list(map(_waiting, found)), "total": study.status().open.count}


def _waiting(trial: OpenQuery) -> Any:
    age = (datetime.now(UTC) - trial.asked).total_seconds()
    more = {"asked": trial.asked.isoformat(), "age_seconds": max(0.0, age)}
    return plain(trial) | more


# --- the page ------------------------------------------------------------------------------------


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
