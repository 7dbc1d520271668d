"""States on disk: JSON with a version and a digest, never pickled."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable
from math import isfinite, nan
from typing import Any

import numpy as np

from dikin.errors import StateError, StateVersionError, shown
from dikin.files import OWNERS_ALONE, path_of, replace_file

FORMAT = "dikin learner"
VERSION = 5
LONGEST_NUMBER = 1000
"""Digits of a whole number in JSON; to read more takes a time that grows with their square."""


# --- JSON that somebody else wrote ---------------------------------------------------------------


def read_json(text: str, constant: Callable[[str], Any] | None = None) -> Any:
    """What a text of JSON says; ValueError where it is none, or can be read in two ways.

    `constant` says what NaN, Infinity and -Infinity are; numbers without it.
    """
    try:
        return json.loads(
            text, parse_constant=constant, parse_int=_whole, object_pairs_hook=_object
        )
    except RecursionError as reason:
        raise ValueError("lists and objects are nested too deeply") from reason


def strict_json(text: bytes | str) -> Any:
    """The same of UTF-8, where NaN and Infinity are refused: JSON has none."""
    return read_json(text if isinstance(text, str) else text.decode(), _refuse_constant)


def _whole(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise ValueError(
            f"a whole number has at most {LONGEST_NUMBER:,} digits, and one has {len(digits):,}"
        )
    return int(digits)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; one that says something twice could be read in two ways."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"{shown(_first_repeated(pairs))} stands twice in one object")
    return found


def _first_repeated(pairs: list[tuple[str, Any]]) -> str:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            break
        seen.add(name)
    return name


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON, and no loss; a query whose loss was lost is forgotten")


# --- states --------------------------------------------------------------------------------------


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
    replace_file(path_of(path), json.dumps(document).encode(), OWNERS_ALONE)


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The state in a file, or an error that says what is wrong with the file."""
    try:
        document = read_json(path_of(path).read_text(encoding="utf-8"))
    except ValueError as reason:  # not UTF-8, or not JSON
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
