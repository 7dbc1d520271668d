"""A study over two streams: one JSON object per line in, one JSON object per line out.

    {"ask": {}}                                             {"id": 0, "point": [4.8, 1.1]}
    {"ask": {"forecast": 3.5}}                              {"id": 1, "point": [4.5, 0.9]}
    {"tell": {"id": 0, "loss": 12.3, "curvature": 0.1}}     {"told": 0, "rounds": 1, ...}

The study of a tuner uses names:

    {"ask": {}}                                             {"id": 0, "params": {"price": ...}}
    {"tell": {"id": 0, "value": 512.0}}                     {"told": 0, "rounds": 1, ...}
    {"ask": {"covariates": {"load": 0.7, "hour": 14}}}      {"id": 1, "params": {"price": ...}}
    {"tell": {"id": 1, "values": [498, 507],                {"told": 1, "rounds": 2, ...}
              "covariates": {"visitors": 1830}}}
    {"ask": {"context": {"region": "eu"}}}                  {"id": 2, "params": {"price": ...}}
    {"best": {"context": {"region": "eu"}}}                 {"best": {"price": ...}}

A trial that plays the control has "held_back": true besides, and what tuning gains over it is in
the reply to {"summary": {}}, under "uplift".

A reply is written once its event is durable. If anything is wrong with a line, the reply is
{"error": {"code": ..., "message": ...}}, and the next line is read.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any, BinaryIO

from dikin.errors import DikinError, RequestError, did_you_mean, error_code, shortened, shown
from dikin.open_queries import Query
from dikin.serialization import finite_or_none, strict_json
from dikin.studies.rows import Answer
from dikin.studies.study import Study

Reply = dict[str, Any]


LONGEST_LINE = 1_000_000
"""The default limit on the bytes of a request."""
LONGEST_JSON = 80
"""The most characters of a value in a message."""


def answer_lines(
    study: Study, source: BinaryIO, sink: BinaryIO, longest: int = LONGEST_LINE
) -> None:
    """Reply to every line of the source, in order, until it ends."""
    while line := source.readline(longest + 1):
        if len(line) > longest and not line.endswith(b"\n"):
            _skip_line(source, longest)
            write_line(sink, error_reply(_too_long(longest)))
        elif line.strip():
            write_line(sink, reply(study, line))


def _skip_line(source: BinaryIO, longest: int) -> None:
    """Skip the rest of a line."""
    while (more := source.readline(longest)) and not more.endswith(b"\n"):
        pass


def _too_long(longest: int) -> RequestError:
    return RequestError(
        f"a line has at most {longest:,} bytes (--longest-line), and one came that has more; it "
        "was not read"
    )


def write_line(sink: BinaryIO, answer: Reply) -> None:
    """Write one line and flush it."""
    sink.write(json.dumps(answer, allow_nan=False).encode() + b"\n")
    sink.flush()


def reply(study: Study, line: bytes) -> Reply:
    """The reply to one line."""
    try:
        verb, fields = _request(line)
        with warnings.catch_warnings(record=True, action="always") as messages:
            answer = VERBS[verb](study, fields)
        if messages:
            answer["warning"] = str(messages[-1].message)
        return answer
    except DikinError as error:
        return error_reply(error)
    except Exception as error:
        message = shortened(f"{type(error).__name__}: {error}")
        return {"error": {"code": "internal", "message": message}}


def error_reply(error: DikinError) -> Reply:
    """An error as an object."""
    return {"error": {"code": error_code(type(error)), "message": shortened(str(error))}}


def _request(line: bytes) -> tuple[str, dict[str, Any]]:
    try:
        request = strict_json(line)
    except ValueError as reason:
        raise RequestError(
            f'a request must be one line of JSON such as {{"ask": {{}}}}; {reason}'
        ) from reason
    if not isinstance(request, dict) or len(request) != 1:
        raise RequestError(
            'a request must be an object with one verb such as {"ask": {}}, got '
            + short_json(request)
        )
    ((verb, fields),) = request.items()
    if verb not in VERBS:
        raise RequestError(f"there is no verb {shown(verb)}.{did_you_mean(verb, VERBS)}")
    if not isinstance(fields, dict):
        raise RequestError(f"the fields of {verb!r} must be an object, got {short_json(fields)}")
    return verb, fields


def short_json(value: Any) -> str:
    """A value as it was sent, cut if it is long."""
    text = ""
    for piece in json.JSONEncoder().iterencode(value):  # stops where the text is cut
        text += piece
        if len(text) > LONGEST_JSON:
            return text[: LONGEST_JSON - 3] + "..."
    return text


def _check_fields(fields: dict[str, Any], verb: str, needed: set[str], optional: set[str]) -> None:
    missing, foreign = needed - set(fields), set(fields) - needed - optional
    if missing or foreign:
        accepted = ", ".join(
            [*sorted(needed), *(f"{name} (optional)" for name in sorted(optional))]
        )
        raise RequestError(f"{verb!r} takes {accepted or 'nothing'}; got {short_json(fields)}")


def _id(fields: dict[str, Any]) -> int:
    value = fields["id"]
    if isinstance(value, bool) or not isinstance(value, int):
        raise RequestError(f"id must be a whole number from ask, got {short_json(value)}")
    return value


def _ask(study: Study, fields: dict[str, Any]) -> Reply:
    _check_fields(fields, "ask", set(), {"context", "covariates", "forecast"})
    context, covariates = _context(study, fields), fields.get("covariates")
    query = study.ask(context, forecast=fields.get("forecast"), covariates=covariates)
    held_back = {"held_back": True} if getattr(query, "held_back", False) else {}
    return {"id": query.id, **_setting(study, query), **held_back}


def _context(study: Study, fields: dict[str, Any]) -> Any:
    context = fields.get("context")
    if study.space is not None and not isinstance(context, dict | None):
        raise RequestError(
            f"the context of a tuner is an object by name, got {short_json(context)}; several "
            "trials are asked for one by one"
        )
    return context


BESIDE = Answer._fields[2:]
"""What may come with a loss or value and its curvature."""


def _tell(study: Study, fields: dict[str, Any]) -> Reply:
    number = "loss" if study.space is None else "value"
    several = {"values"} if "values" in fields else {number}
    _check_fields(fields, "tell", {"id"} | several, {"curvature", *BESIDE})
    key = _id(fields)
    beside = {name: fields.get(name) for name in ("values", *BESIDE)}
    study.tell(key, fields.get(number), fields.get("curvature", 0.0), **beside)
    return {"told": key} | _standing(study)


def _forget(study: Study, fields: dict[str, Any]) -> Reply:
    _check_fields(fields, "forget", {"id"}, set())
    key = _id(fields)
    study.forget(key)
    return {"forgotten": key}


def _open(study: Study, fields: dict[str, Any]) -> Reply:
    _check_fields(fields, "open", set(), set())
    return {
        "open": [
            {"id": query.id, **_setting(study, query)}
            | {"client": query.client, "asked": query.asked.isoformat()}
            for query in study.open_queries
        ]
    }


def _setting(study: Study, query: Query) -> Reply:
    """What to play, under the name that the study of a learner or of a tuner uses."""
    if study.space is None:
        return {"point": query.point.tolist()}
    return {"params": query.setting}


def _show(study: Study, fields: dict[str, Any]) -> Reply:
    _check_fields(fields, "show", set(), set())
    held = {} if study.space is None else {"held": study.held}
    return {"study": study.name} | held | _standing(study)


def _standing(study: Study) -> Reply:
    rounds, center, certificate = study.standing()
    if study.space is None:
        guess: Reply = {"center": center.tolist()}
    else:
        guess = {"best": study.space.params(center)}
    return {"rounds": rounds, **guess, "certificate": finite_or_none(certificate)}


def _hold(study: Study, fields: dict[str, Any]) -> Reply:
    _check_fields(fields, "hold", set(), set())
    study.hold()
    return {"held": True}


def _resume(study: Study, fields: dict[str, Any]) -> Reply:
    _check_fields(fields, "resume", set(), set())
    study.resume()
    return {"held": False}


def _best(study: Study, fields: dict[str, Any]) -> Reply:
    _check_fields(fields, "best", set(), {"context"})
    context: Any = _context(study, fields)
    return {"best": study.best_for(context)}


def _summary(study: Study, fields: dict[str, Any]) -> Reply:
    _check_fields(fields, "summary", set(), set())
    return study.summary().to_json()


VERBS: dict[str, Callable[[Study, dict[str, Any]], Reply]] = {
    "ask": _ask,
    "tell": _tell,
    "forget": _forget,
    "hold": _hold,
    "resume": _resume,
    "open": _open,
    "show": _show,
    "summary": _summary,
    "best": _best,
}
