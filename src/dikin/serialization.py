"""States on disk: JSON with a version and a digest, never pickled."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isfinite, nan
from typing import Any

import numpy as np

from dikin.errors import StateError, shown
from dikin.files import OWNERS_ALONE, path_of, replace_file

FORMAT = "dikin learner"
VERSION = 10
TUNERS = 9, VERSION
"""The versions of a tuner's state that are read: of an earlier one, the rows are learnt anew."""
LARGEST_COUNT = 2**53
"""Largest count of a state: a larger number of JSON is not exact elsewhere."""


# --- JSON from others ----------------------------------------------------------------------------


def read_json(text: str) -> Any:
    """Parse JSON, or raise a ValueError if it is invalid or ambiguous."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except RecursionError as reason:
        raise ValueError("lists and objects are nested too deeply") from reason


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. A repeated key would be ambiguous."""
    value = dict(pairs)
    if len(value) < len(pairs):
        ((name, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"{shown(name)} occurs twice in one object")
    return value


# --- states --------------------------------------------------------------------------------------


def encode(value: Any) -> Any:
    """Return nested tuples, arrays and numbers as JSON values. Floats keep every bit."""
    if isinstance(value, np.ndarray):
        return {"array": value.ravel().tolist(), "shape": list(value.shape)}
    if isinstance(value, tuple):
        return [encode(part) for part in value]
    if isinstance(value, dict):
        return {"items": {key: encode(part) for key, part in value.items()}}
    if isinstance(value, np.floating):
        return float(value)
    return value.copy() if isinstance(value, list) else value


def decode(value: Any) -> Any:
    """Return the argument of `encode`."""
    if isinstance(value, list):
        return tuple(decode(part) for part in value)
    if isinstance(value, dict) and "items" in value:
        return {key: decode(part) for key, part in value["items"].items()}
    if isinstance(value, dict):
        array = np.array(value["array"], dtype=float).reshape(value["shape"])
        if np.isnan(array).any():
            raise StateError("an array of a state has NaN in it: the state was altered")
        return array
    return value


def plain(value: Any) -> Any:
    """Return a record or nested values as plain JSON values, with None for NaN and the infinite.

    Fields that its repr does not show are left out.
    """
    if isinstance(value, float):
        return finite_or_none(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value) if f.repr}
    return value


def refuse_other_form(value: Any, form: Any, what: str, finite: bool = True) -> None:
    """Raise an error unless an encoded value has the keys, lengths and kinds of `form`.

    Where `form` is None or empty, anything is accepted. With `finite` numbers must be finite.
    """
    is_free = form in (None, [])
    parts, forms = _parts(value), _parts(form)
    if parts and (is_free or (type(value) is type(form) and parts.keys() == forms.keys())):
        for key, part in parts.items():
            refuse_other_form(part, forms.get(key), what if is_free else f"{what}.{key}", finite)
    elif finite and isinstance(value, float) and not isfinite(value):
        raise StateError(f"{what} of a state must have finite numbers only, got {value}")
    elif not is_free and (parts or forms or not _same_kind(value, form)):
        raise StateError(f"{what} of a state must be like {shown(form)}, got {shown(value)}")


def _parts(value: Any) -> dict[Any, Any]:
    if isinstance(value, list):
        return dict(enumerate(value))
    return value if isinstance(value, dict) else {}


def _same_kind(value: Any, form: Any) -> bool:
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in (value, form))
    if numbers:  # a learner may begin with infinity, and a whole number may be too large
        return isinstance(value, float) or abs(value) <= sys.float_info.max
    return type(value) is type(form)


class Stateful:
    """An object whose state is its parts in `PARTS`: numbers, arrays, and tuples of numbers."""

    PARTS: tuple[str, ...] = ()

    def state(self) -> dict[str, Any]:
        """Return everything that the future depends on, as plain JSON values."""
        return {name: encode(getattr(self, name)) for name in self.PARTS}

    def restore(self, state: dict[str, Any], checked: bool = False) -> None:
        """Continue from the result of `state`, which a digest may have checked."""
        parts = {name: state[name] for name in self.PARTS}
        if not checked:
            refuse_other_form(parts, Stateful.state(self), type(self).__name__)
        vars(self).update((name, decode(part)) for name, part in parts.items())


def finite_or_none(value: float) -> float | None:
    """Return a number, or None if it is NaN or infinite, which JSON does not have."""
    return value if isfinite(value) else None


def number_or_nan(value: float | None) -> float:
    """Return the argument of `finite_or_none`: NaN for None."""
    return nan if value is None else float(value)


def count_of(value: Any) -> int:
    """Return a count of a state, or raise an error."""
    if type(value) is not int or not 0 <= value <= LARGEST_COUNT:
        raise StateError(f"a count of a state must be a whole number from 0, got {shown(value)}")
    return value


def write(path: str | os.PathLike[str], state: dict[str, Any]) -> None:
    """Write a state to a file."""
    document = {"format": FORMAT, "version": VERSION, "digest": _digest(state), "state": state}
    replace_file(path_of(path), json.dumps(document).encode(), OWNERS_ALONE)


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the state in a file, or raise an error that names the fault of the file."""
    file = path_of(path)
    try:
        document = read_json(file.read_text(encoding="utf-8"))
    except ValueError as reason:  # not UTF-8, or not JSON
        raise StateError(f"{path} is not a saved learner or tuner: {reason}") from reason
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise StateError(f"{path} is not a saved learner or tuner: its format is not {FORMAT!r}")
    state = document.get("state")
    if not isinstance(state, dict) or document.get("digest") != _digest(state):
        raise StateError(f"{path} was altered or damaged: its digest does not match its content")
    known = TUNERS if "tuner" in state else (VERSION,)
    refuse_version(str(path), document.get("version"), *known)
    return state


def refuse_version(what: str, version: object, *known: int) -> None:
    """Raise an error unless the version is known, the last of which is the present one."""
    if version not in known:
        newer = isinstance(version, int) and version > known[-1]
        advice = (
            "upgrade dikin"
            if newer
            else "continue with the dikin that wrote it, or start again with this one. A saved "
            "file has no rounds to learn from; a study has them, and is converted when it is opened"
        )
        raise StateError(
            f"{what} has version {shown(version)}, this dikin reads version {known[-1]}: {advice}. "
            "Nothing was changed"
        )


def _digest(state: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()
