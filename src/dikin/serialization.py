"""States on disk: JSON with a version and a digest, never pickled."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from math import isfinite, nan
from typing import Any

import numpy as np

from dikin.errors import StateError, StateVersionError, shown
from dikin.files import path_of, replace_file

FORMAT = "dikin learner"
VERSION = 3


def encode(value: Any) -> Any:
    """Nested tuples, arrays and numbers as JSON values; floats keep every bit."""
    if isinstance(value, np.ndarray):
        return {"array": value.ravel().tolist(), "shape": list(value.shape)}
    if isinstance(value, tuple):
        return [encode(part) for part in value]
    if isinstance(value, dict):
        return {"items": {key: encode(part) for key, part in value.items()}}
    if isinstance(value, np.floating):
        return float(value)
    return value


def decode(value: Any) -> Any:
    """What `encode` was given."""
    if isinstance(value, list):
        return tuple(decode(part) for part in value)
    if isinstance(value, dict) and "items" in value:
        return {key: decode(part) for key, part in value["items"].items()}
    if isinstance(value, dict):
        return np.array(value["array"], dtype=float).reshape(value["shape"])
    return value


def refuse_other_form(value: Any, form: Any, what: str) -> None:
    """Refuse what `encode` gave unless it has the keys, lengths and kinds of another such value.

    Where the other has nothing, anything goes.
    """
    if form in (None, []):
        return
    if isinstance(form, dict) and isinstance(value, dict) and value.keys() == form.keys():
        for key, part in form.items():
            refuse_other_form(value[key], part, f"{what}.{key}")
    elif isinstance(form, list) and isinstance(value, list) and len(value) == len(form):
        for place, part in enumerate(form):
            refuse_other_form(value[place], part, f"{what}[{place}]")
    elif isinstance(form, dict | list) or not _same_kind(value, form):
        raise StateError(f"{what} of a state cannot be {shown(value)}; such as {shown(form)}")


def refuse_infinite(value: Any, what: str) -> None:
    """Refuse what `encode` gave if a number in it is not finite."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            refuse_infinite(part, what)
    elif isinstance(value, float) and not isfinite(value):
        raise StateError(f"{what} of a state has only finite numbers, and {value} is none")


def _same_kind(value: Any, form: Any) -> bool:
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in (value, form))
    if numbers:  # infinity may be where a learner begins; a whole number may be too large
        return isinstance(value, float) or abs(value) <= sys.float_info.max
    return type(value) is type(form)


def finite_or_none(value: float) -> float | None:
    """A number that JSON knows, as it knows no NaN."""
    return value if isfinite(value) else None


def number_or_nan(value: float | None) -> float:
    """The number that `finite_or_none` was given; NaN for None."""
    return nan if value is None else value


def write(path: str | os.PathLike[str], state: dict[str, Any]) -> None:
    """Write a state to a file."""
    document = {"format": FORMAT, "version": VERSION, "digest": _digest(state), "state": state}
    replace_file(path_of(path), json.dumps(document).encode())


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The state in a file, or an error that says what is wrong with the file."""
    try:
        document = json.loads(path_of(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as reason:  # not UTF-8, not JSON, or absurdly nested
        raise StateError(f"{path} is not a saved learner: {reason}") from reason
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise StateError(f"{path} is not a saved learner: it does not say {FORMAT!r}")
    refuse_version(str(path), document.get("version"), VERSION)
    state = document.get("state")
    if not isinstance(state, dict) or document.get("digest") != _digest(state):
        raise StateError(f"{path} was altered or damaged: its digest does not match its content")
    return state


def refuse_version(what: str, version: object, wanted: int) -> None:
    """Refuse what has another version than this library reads."""
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise StateError(f"{what} has the version {shown(version)}; wanted a whole number")
    if version != wanted:
        advice = (
            "upgrade dikin"
            if version > wanted
            else "go on with the dikin that wrote it, or begin anew with this one"
        )
        raise StateVersionError(
            f"{what} has version {version}, this dikin reads version {wanted}: {advice}. "
            "Nothing was changed"
        )


def _digest(state: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()
