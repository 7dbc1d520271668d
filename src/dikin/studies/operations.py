"""The operations of a study: one table, from which HTTP, the OpenAPI file and the client are made.

An operation is a function of a study and of its arguments, as JSON values. Values are passed on as
they came: the library checks them, in its own words.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import numpy as np

from dikin.arguments import frozen, is_whole
from dikin.errors import (
    LossError,
    ParameterError,
    RequestError,
    did_you_mean,
    shown,
)
from dikin.open_queries import Query
from dikin.serialization import finite_or_none, strict_json
from dikin.status import MEANINGS, OpenQueries, Status
from dikin.tuning.parameters.description import parameter_from_spec
from dikin.tuning.trial import Trial
from dikin.tuning.tuner import NO_HOLDBACK
from dikin.vectors import Array
from dikin.worth.uplift import Uplift

if TYPE_CHECKING:
    from dikin.studies.study import Study

AT_ONCE = 1000
"""Trials that one request may ask for, and rounds that it may read."""
NUMBERS_AT_ONCE = 100_000
"""Numbers in a page of history; it has fewer rounds if points are large. Writing them takes 50 ms,
in which no other thread runs."""
SHOWN_ROUNDS = 2000
"""Rounds that the page shows."""
SHOWN_OPEN = 8
"""Open trials that the page shows."""

Schema = dict[str, Any]

# --- schemas -------------------------------------------------------------------------------------

ANYTHING: Schema = {}
NUMBER, WHOLE, TEXT, FLAG = ({"type": t} for t in ("number", "integer", "string", "boolean"))
NUMBERS: Schema = {"type": "array", "items": NUMBER}
OBJECT: Schema = {"type": "object"}
SETTING: Schema = OBJECT | {"examples": [{"price": 4.61, "split": {"a": 0.3, "b": 0.7}}]}
NAMED: Schema = OBJECT | {"additionalProperties": {"type": ["number", "string", "boolean", "null"]}}


def or_null(schema: Schema) -> Schema:
    """Return a schema that also accepts null."""
    return {"anyOf": [schema, {"type": "null"}]}


def record(**fields: Schema) -> Schema:
    """Return the schema of an object that has all of these fields."""
    return OBJECT | {"properties": fields, "required": list(fields)}


def described(schema: Schema, words: str) -> Schema:
    """Return a schema with words."""
    return schema | {"description": words}


def schema_of(kind: Any) -> Schema:
    """Return the schema of a type, as its values are written to JSON: NaN is null."""
    if kind in PLAIN:
        return PLAIN[kind]
    parts = [schema_of(part) for part in get_args(kind) if part is not Ellipsis]
    origin = getattr(kind, "__origin__", None)
    if origin in (list, tuple):
        return {"type": "array", "items": parts[0]}
    if origin is dict:
        return OBJECT | {"additionalProperties": parts[1]}
    return {"anyOf": parts}


PLAIN: dict[Any, Schema] = {
    Any: ANYTHING,
    bool: FLAG,
    int: WHOLE,
    str: TEXT,
    type(None): {"type": "null"},
    float: or_null(NUMBER),
    Array: NUMBERS,
}
for _record in (OpenQueries, Uplift):
    PLAIN[_record] = record(**{n: schema_of(k) for n, k in get_type_hints(_record).items()})
PLAIN[Uplift]["properties"]["total"] = or_null(NUMBER)

STATUS = record(
    **{n: described(schema_of(k), MEANINGS[n]) for n, k in get_type_hints(Status).items()}
)
INTERVAL: Schema = {"type": "array", "items": or_null(NUMBER), "minItems": 3, "maxItems": 3}
INTERVALS: Schema = OBJECT | {"additionalProperties": INTERVAL}
RECOMMENDATION = record(
    params=SETTING,
    value=described(INTERVAL, "The mean value at the setting, and the ends of its interval."),
    intervals=described(INTERVALS, "The range of the best setting, by parameter."),
    importance=described(
        INTERVALS,
        "The difference in the mean value over the range of each parameter. The value is known to "
        "depend on it where the interval excludes 0.",
    ),
    limits=described(INTERVALS, "The mean metric at the setting, by limit."),
    broken={"type": "array", "items": TEXT, "description": "Limits that no setting may keep."},
)
TRIAL = record(
    id=WHOLE,
    params=SETTING,
    point=NUMBERS,
    expected=described(or_null(NUMBER), "The value that the tuner expects."),
    paused=described(FLAG, "True if the tuner is paused and learns nothing from it."),
    covariates=or_null(NAMED),
    context=described(or_null(NAMED), "The context that the setting was chosen for, by name."),
    held_back=described(FLAG, "True if it uses the control, to be compared with."),
)
OPEN_TRIAL = record(
    id=WHOLE, params=SETTING, point=NUMBERS, client=TEXT, asked=TEXT, age_seconds=NUMBER
)
ROUND = record(
    round=WHOLE,
    query=described(WHOLE, "The id of the trial."),
    client=TEXT,
    time=described(NUMBER, "Seconds since 1970."),
    params=SETTING,
    point=NUMBERS,
    value=described(or_null(NUMBER), "Null for a trial that failed."),
    center=described(NUMBERS, "The best setting as numbers."),
)
"""A round of the history; it may have further fields, such as metrics."""
ROUND["required"] = ["round", "value", "params"]


# --- arguments -----------------------------------------------------------------------------------


class Argument:
    """An argument: its schema, with words and examples, and the header that has it, if one has."""

    def __init__(self, schema: Schema, words: str, *examples: Any, header: str = "") -> None:
        more = {"examples": list(examples)} if examples else {}
        self.schema, self.header = schema | more | {"description": words}, header

    def read(self, name: str, text: str) -> Any:
        """Return the value that a text in a query stands for."""
        kind = self.schema.get("type")
        try:
            if kind not in ("integer", "number"):
                return text if kind == "string" else strict_json(text)
            value = int(text) if kind == "integer" else float(text)
        except ValueError as reason:
            wanted = {"integer": "a whole number", "number": "a number"}.get(
                str(kind), 'JSON such as {"region": "eu"}'
            )
            raise RequestError(f"{name} must be {wanted}, got {shown(text)}") from reason
        low, high = self.schema.get("minimum", value), self.schema.get("maximum", value)
        if not low <= value <= high:
            raise RequestError(f"{name} must lie between {low} and {high}, got {shown(text)}")
        return value


def _whole(least: int, most: int, default: int, words: str) -> Argument:
    return Argument(WHOLE | {"minimum": least, "maximum": most, "default": default}, words)


ARGUMENTS = {
    "context": Argument(
        or_null(NAMED),
        "A value for each context of the tuner, by name.",
        {"region": "eu", "hour": 14},
    ),
    "covariates": Argument(
        or_null(NAMED),
        "Quantities that explain the value besides the setting, by name. The setting must not "
        "influence them.",
        {"load": 0.7, "kind": "batch"},
    ),
    "metrics": Argument(
        or_null(NAMED),
        "Other measurements by name. Those with a limit are required.",
        {"p99_ms": 187.0},
    ),
    "value": Argument(or_null(NUMBER), "The value that the setting gave."),
    "failed": Argument(FLAG, "A timeout or a crash. There is no value then."),
    "id": Argument(WHOLE, "The id of the trial, from `ask`."),
    "point": Argument(
        or_null(NUMBERS), "The point from `ask`: an id of another study is then refused."
    ),
    "key": Argument(
        TEXT,
        "A name of this request, unlike any other of the study: 1 to 150 printable characters. "
        "Sent again under it within a week, an ask gets the same trial, and a trial that is added "
        "counts once. An ask with another n, context or covariates under it is refused.",
        header="Idempotency-Key",
    ),
    "n": Argument(or_null(WHOLE | {"minimum": 1}), "How many, for a list of trials."),
    "limit": _whole(1, AT_ONCE, 100, "How many at most."),
    "first": _whole(1, 2**53, 1, "The first round."),
    "older_than": Argument(NUMBER, "In place of an id: seconds since a trial was asked."),
    "params": Argument(SETTING, "The setting that was used, by name."),
    "parameters": Argument(OBJECT, "Name and range of each, as for a new study."),
    "constraints": Argument(
        {"type": "array", "items": TEXT}, "Linear constraints.", ["ads + 3 * staff <= 100"]
    ),
    "smoothness": Argument(NUMBER, "The smoothness of the values."),
    "lipschitz": Argument(NUMBER, "Or their Lipschitz constant."),
}
"""The arguments of operations, by the names of the parameters of their functions."""


# --- the table -----------------------------------------------------------------------------------


class Operation:
    """An operation: all that HTTP, OpenAPI and a client need of a function.

    `version` is a function of the same arguments, whose text differs as soon as the answer does.
    """

    def __init__(
        self,
        act: Callable[..., Any],
        method: str,
        path: str,
        right: str | None,
        answer: Schema | None,
        version: Callable[..., str] | None,
        known: dict[str, Argument],
    ) -> None:
        parameters = inspect.signature(act).parameters.values()
        own = {p.name: known[p.name] for p in parameters if p.name in known}
        self.name, self.words = act.__name__.rstrip("_"), inspect.getdoc(act) or ""
        self.act, self.method, self.path, self.right = act, method, path, right
        self.answer, self.version = answer, version
        self.required = [p.name for p in parameters if p.name in own and p.default is p.empty]
        self.is_open = any(p.kind is p.VAR_KEYWORD for p in parameters)
        """True if it takes further arguments, which it checks itself."""
        self.arguments = own
        self.headers = {n: a for n, a in own.items() if a.header}
        given = {n: a for n, a in own.items() if not a.header}
        has_body = method in ("POST", "PUT")
        self.in_body: dict[str, Argument] = given if has_body else {}
        self.in_query: dict[str, Argument] = {} if has_body else given

    def checked(self, given: Any, place: str, known: dict[str, Argument]) -> dict[str, Any]:
        """Return arguments by name, from a body or a query; refuse unknown names, first of all."""
        if not isinstance(given, dict):
            got = shown(given)
            raise RequestError(f"the {place} must be a JSON object such as {{...}}, got {got}")
        unknown = [name for name in given if name not in known and not self.is_open]
        faults = [
            f"{shown(name)} is not known in the {place}."
            f"{did_you_mean(name, known) if known else ' This takes none.'}"
            for name in unknown[:FAULTS]
        ]
        if len(unknown) > FAULTS:
            faults.append(f"and {len(unknown) - FAULTS:,} more")
        missing = [name for name in self.required if name in known and name not in given]
        faults += [f"{name} is missing in the {place}" for name in missing]
        if faults:
            raise RequestError("; ".join(faults))
        return given


FAULTS = 5
"""Faults of one request that an error lists."""
OPERATIONS: dict[str, Operation] = {}
Act = Callable[..., Any]


def operation(
    method: str,
    path: str,
    right: str | None,
    answer: Schema | None,
    version: Callable[..., str] | None = None,
    table: dict[str, Operation] = OPERATIONS,
    **arguments: Argument,
) -> Callable[[Act], Act]:
    """Enter a function into the table: its name, its words, and its arguments by their names."""

    def enter(act: Act) -> Act:
        entry = Operation(act, method, path, right, answer, version, ARGUMENTS | arguments)
        table[entry.name] = entry
        return act

    return enter


STUDY = "/v1/studies/{name}"


# --- rounds --------------------------------------------------------------------------------------


@operation(
    "POST",
    STUDY + "/ask",
    "play",
    {"anyOf": [TRIAL, record(queries={"type": "array", "items": TRIAL})]},
)
def ask(
    study: Study, context: Any = None, n: Any = None, covariates: Any = None, key: Any = None
) -> Any:
    """Ask for a setting to use."""
    if isinstance(n, int) and n > AT_ONCE:
        raise RequestError(f"can ask for at most {AT_ONCE} trials, got n = {n}")
    asked = study.ask(_object(context, "context"), n=n, covariates=covariates, key=key)
    if isinstance(asked, list):
        return {"queries": [_trial(each) for each in asked]}
    return _trial(asked)


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "id": trial.id,
        "params": trial.params,
        "point": trial.point.tolist(),
        "expected": finite_or_none(trial.expected),
        "paused": trial.paused,
        "covariates": trial.covariates or None,
        "context": trial.context or None,
        "held_back": trial.held_back,
    }


@operation("POST", STUDY + "/tell", "play", record(told=WHOLE, rounds=WHOLE))
def tell(
    study: Study,
    id: Any,
    value: Any = None,
    metrics: Any = None,
    covariates: Any = None,
    failed: Any = False,
    point: Any = None,
) -> Any:
    """Report the value of a trial, or that it failed.

    The same answer again is accepted and counts once. A different one is an error.
    """
    _refuse_nothing(value, failed)
    trial = _query(study, id, point)
    study.tell(trial, value, metrics=metrics, covariates=covariates, failed=failed)
    return {"told": id, "rounds": study.rounds}


def _refuse_nothing(value: Any, failed: Any) -> None:
    if value is None and failed is False:
        raise LossError(
            'a value is missing, or null: tell a finite number, or "failed": true for a timeout '
            "or a crash, or forget the trial if its value was lost (JSON has no NaN). Nothing was "
            "changed."
        )


def _query(study: Study, id: Any, point: Any) -> Query | int:
    """Return the trial that a client refers to by an id and, optionally, a point."""
    if not is_whole(id):
        raise RequestError(f"id must be a whole number from ask, got {shown(id)}")
    if point is None:
        return int(id)
    values, columns = frozen(point, "point", 1), study.space.columns
    if len(values) != len(columns):
        raise ParameterError(
            f"a point has a number for each of {', '.join(columns)}; got {shown(point)}"
        )
    return Query(id, values)


def _object(value: Any, name: str) -> Any:
    if not isinstance(value, dict | None):
        raise RequestError(
            f"{name} must be an object with a value for each name, got {shown(value)}"
        )
    return value


@operation("POST", STUDY + "/forget", "play", record(forgotten=WHOLE))
def forget(study: Study, id: Any = None, older_than: Any = None, point: Any = None) -> Any:
    """Close a trial that will never be answered, or all old ones; repeating this is allowed.

    `forgotten` is the number of trials.
    """
    if older_than is not None:
        return {"forgotten": study.forget(id, older_than=older_than)}
    return {"forgotten": study.forget(_query(study, id, point))}


@operation("POST", STUDY + "/pause", "play", record(paused=FLAG))
def pause(study: Study) -> Any:
    """Use the best setting and learn nothing until `resume`."""
    study.pause()
    return {"paused": True}


@operation("POST", STUDY + "/resume", "play", record(paused=FLAG))
def resume(study: Study) -> Any:
    """Explore and learn again, after a pause or after the guard has stopped tuning."""
    study.resume()
    return {"paused": False}


@operation("POST", STUDY + "/add_trial", "play", record(added=FLAG))
def add_trial(
    study: Study,
    params: Any,
    value: Any = None,
    metrics: Any = None,
    context: Any = None,
    covariates: Any = None,
    failed: Any = False,
    key: Any = None,
) -> Any:
    """Learn from a trial that was not asked for, such as one of the past."""
    _refuse_nothing(value, failed)
    known = {"metrics": metrics, "context": context, "covariates": covariates}
    study.add_trial(params, value, failed=failed, key=key, **known)
    return {"added": True}


@operation("POST", STUDY + "/set_parameters", "admin", STATUS)
def set_parameters(study: Study, parameters: Any, constraints: Any = ()) -> Any:
    """Change the parameters: all of them, anew. Nothing that was learnt is lost."""
    entries = _object(parameters, "parameters") or {}
    kinds = {name: parameter_from_spec(name, each) for name, each in entries.items()}
    study.set_parameters(kinds, constraints)
    return study.status().to_json()


# --- looking -------------------------------------------------------------------------------------


@operation("GET", STUDY, "read", STATUS)
def status(study: Study) -> Any:
    """Return the status of a study."""
    return study.status().to_json()


@operation("GET", STUDY + "/best", "read", record(best=SETTING))
def best(study: Study, context: Any = None) -> Any:
    """Return the best setting, of a tuner with contexts that of one context."""
    return {"best": study.best_for(context)}


@operation("GET", STUDY + "/recommend", "read", RECOMMENDATION)
def recommend(study: Study, context: Any = None) -> Any:
    """Return the best setting with its expected value, intervals and what matters."""
    return study.recommend(context).to_json()


@operation("GET", STUDY + "/uplift", "read", PLAIN[Uplift])
def uplift(study: Study) -> Any:
    """Return the gain of a tuned round over the control, with an interval to read at any time."""
    found = study.status().uplift
    if found is None:
        raise ParameterError(NO_HOLDBACK)
    return found.to_json()


@operation("GET", STUDY + "/certificate", "read", record(certificate=or_null(NUMBER)))
def certificate(study: Study, smoothness: Any = None, lipschitz: Any = None) -> Any:
    """Return the bound on the regret so far, if the values have the given constant."""
    constants = {"smoothness": smoothness, "lipschitz": lipschitz}
    given = {name: value for name, value in constants.items() if value is not None}
    if not given:
        raise ParameterError("give a constant of the losses: ?smoothness=... or ?lipschitz=...")
    return {"certificate": finite_or_none(study.certificate_for(**given))}


@operation(
    "GET",
    STUDY + "/history",
    "read",
    record(rounds={"type": "array", "items": ROUND}, next=or_null(WHOLE)),
)
def history(study: Study, first: Any = 1, limit: Any = 100) -> Any:
    """Return rounds, every seal checked; `next` is the round to continue from.

    If points are large, there are fewer than `limit`.
    """
    begin = max(first, study.first_round)  # skip rounds that were trimmed
    records = study.records(begin, begin + _at_once(limit, len(study.space.columns)) - 1)
    for each in records:
        each["params"] = study.space.params(np.array(each["point"]))
    more = bool(records) and records[-1]["round"] < study.rounds
    return {"rounds": records, "next": records[-1]["round"] + 1 if more else None}


def _at_once(limit: int, size: int) -> int:
    """Return the number of rounds in one answer: each has three times `size` numbers."""
    return max(1, min(limit, NUMBERS_AT_ONCE // (3 * size)))


@operation(
    "GET",
    STUDY + "/open",
    "read",
    record(queries={"type": "array", "items": OPEN_TRIAL}, total=WHOLE),
    after=_whole(-1, 2**53, -1, "Ids after this one."),
)
def open_(study: Study, after: Any = -1, limit: Any = 100) -> Any:
    """Return the open trials, oldest first, with who asked each and when."""
    found = study.waiting(after, limit)
    return {"queries": _open_trials(found), "total": study.status().open.count}


def _open_trials(found: Any) -> list[dict[str, Any]]:
    now = datetime.now(UTC)
    return [
        {
            "id": query.id,
            "params": query.params,
            "point": query.point.tolist(),
            "client": query.client,
            "asked": query.asked.isoformat(),
            "age_seconds": max(0.0, (now - query.asked).total_seconds()),
        }
        for query in found
    ]


@operation("GET", STUDY + "/state", "read", OBJECT)
def state(study: Study) -> Any:
    """Return the state of the tuner, from which `dikin.restore` makes a copy."""
    return study.state()


# --- the page ------------------------------------------------------------------------------------


def _seen(study: Study, **_: Any) -> str:
    """Return a text that differs as soon as the page of a study does, but for ages."""
    s = study.status()
    parts = (s.rounds, s.asked, s.open.count, s.open.first, s.paused, s.guard_reason, s.warnings)
    return hashlib.sha256(repr((parts, s.space, s.first_round)).encode()).hexdigest()[:20]


@operation(
    "GET",
    STUDY + "/page",
    "read",
    OBJECT,
    _seen,
    after=_whole(0, 2**53, 0, "Rounds after this one."),
)
def page(study: Study, after: Any = 0) -> Any:
    """Return all that the page shows: status, recommendation, open trials and the last rounds.

    For programs that poll: with the `ETag` of the last answer in `If-None-Match` the answer is 304
    where nothing has changed.
    """
    seen = study.status()
    size, newest = len(seen.columns), seen.rounds
    first = max(newest - _at_once(SHOWN_ROUNDS, size), after if after <= newest else 0) + 1
    records = study.records(first, newest) if first <= newest else []
    found = None if seen.contexts else study.recommend()
    return {
        "study": seen.to_json(),
        "recommendation": found if found is None else found.to_json(),
        "open": _open_trials(study.waiting(-1, SHOWN_OPEN)),
        "rounds": _columns(records, size),
    }


def _columns(records: list[dict[str, Any]], dim: int) -> dict[str, Any]:
    """Return tuned rounds as columns, which take half the space of rows; those of a pause too."""
    records = [each for each in records if each["paused"] or not each.get("held_back")]
    points, centres = ([each[what] for each in records] for what in ("point", "center"))
    return {
        "round": [each["round"] for each in records],
        "value": [each["value"] for each in records],
        "failed": [bool(each.get("failed")) for each in records],
        "paused": [each["paused"] for each in records],
        "time": [each["time"] for each in records],
        "played": [[row[place] for row in points] for place in range(dim)],
        "best": [[row[place] for row in centres] for place in range(dim)],
    }
