"""Bodies of requests and answers as JSON."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from pydantic import BaseModel

from dikin.serialization import strict_json
from dikin.service.limits import DEEPEST_REQUEST, MOST_KEYS
from dikin.service.problems import Problem


def read_body(body: bytes) -> Any:
    """Return the value of a body, or raise a problem if it cannot be read."""
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
    """Return an answer as JSON."""
    return json.dumps(answer, allow_nan=False, default=_fields).encode()


def _fields(model: BaseModel) -> dict[str, Any]:
    """Return the fields of a model that were set."""
    return {name: value for name, value in vars(model).items() if name in model.model_fields_set}
