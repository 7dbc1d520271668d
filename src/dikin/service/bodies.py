"""Bodies of requests and answers: large ones are read and written outside the event loop."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from pydantic import BaseModel

from dikin.serialization import strict_json
from dikin.service.limits import DEEPEST_REQUEST, MOST_KEYS
from dikin.service.problems import Problem


def read_body(body: bytes) -> Any:
    """The value of a body; raises a problem if it cannot be read."""
    try:
        value = strict_json(body)
    except ValueError as reason:
        raise Problem(400, "request", f"the body is not JSON: {reason}") from reason
    _refuse_shape(value)
    return value


def _refuse_shape(value: Any) -> None:
    """Refuse a value so deeply nested, or with so many keys, that checking it takes long."""
    level = [value]
    for _ in range(DEEPEST_REQUEST):
        level = [part for each in level for part in _parts(each) if isinstance(part, list | dict)]
        if not level:
            return
    raise Problem(
        422,
        "request",
        f"lists and objects are nested more than {DEEPEST_REQUEST} levels deep; send fewer levels",
    )


def _parts(value: Any) -> Collection[Any]:
    if isinstance(value, dict):
        if len(value) > MOST_KEYS:
            raise Problem(
                422,
                "request",
                f"an object in a body has at most {MOST_KEYS:,} keys, and one has {len(value):,}; "
                "send fewer",
            )
        return value.values()
    return value if isinstance(value, list) else ()


def written(answer: BaseModel | dict[str, Any]) -> bytes:
    """An answer as JSON.

    Long lists are written entry by entry: while Python writes a value, no other thread runs.
    """
    return _text(answer).encode()


def _text(value: Any) -> str:
    if isinstance(value, BaseModel):
        value = _fields(value)
    if not isinstance(value, NESTED) or _is_short(value):
        return ENCODER.encode(value)
    if isinstance(value, dict):
        fields = (f"{json.dumps(name)}: {_text(part)}" for name, part in value.items())
        return "{" + ", ".join(fields) + "}"
    return "[" + ", ".join(map(ENCODER.encode, value)) + "]"


def _is_short(value: Any) -> bool:
    """Whether a value is written in no time: nothing in it has many parts."""
    if isinstance(value, BaseModel):
        value = vars(value)
    parts = value.values() if isinstance(value, dict) else value
    return len(parts) <= SHORT and all(
        _is_short(part) for part in parts if isinstance(part, NESTED)
    )


def _fields(model: BaseModel) -> dict[str, Any]:
    """The fields of a model that were set."""
    return {name: value for name, value in vars(model).items() if name in model.model_fields_set}


NESTED = (list, dict, BaseModel)
SHORT = 20
"""Parts of an object or list that is written at once."""
ENCODER = json.JSONEncoder(allow_nan=False, default=_fields)
