"""Functions as commands and HTTP call them: their words, and schemas from types and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from dikin.tuning.recommendation import Interval
from dikin.tuning.tuner import Tuner
from dikin.vectors import Array

SUBJECTS = ("self", "study", "service", "visit")  # parameters of functions that are no arguments

Schema = dict[str, Any]
Act = Callable[..., Any]

NUMBER, WHOLE, TEXT, FLAG = ({"type": t} for t in ("number", "integer", "string", "boolean"))
OBJECT: Schema = {"type": "object"}
PLAIN: dict[Any, Schema] = {Any: {}, bool: FLAG, int: WHOLE, str: TEXT, datetime: TEXT}
PLAIN |= {NoneType: {"type": "null"}, Array: {"type": "array", "items": NUMBER}}


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


class Operation:
    """A function as others call it: its words, and the schemas of its arguments.

    The docstring of `of`, by default of the function itself, describes them.
    """

    def __init__(self, act: Act, of: Any = None) -> None:
        self.act, self.name, self.words = act, act.__name__.strip("_"), summary(act)
        code: Any = act.__init__ if isinstance(act, type) else act  # type: ignore[misc]
        words, self.hints = documented(of or act), get_type_hints(code, include_extras=True)
        own = [p for n, p in inspect.signature(act).parameters.items() if n not in SUBJECTS]
        named = [p for p in own if p.kind is not p.VAR_KEYWORD]
        self.is_open = len(named) < len(own)
        """True if it takes further arguments, which it checks itself."""
        self.required = {p.name for p in named if p.default is p.empty}
        self.arguments = {
            p.name: _described(schema_of(self.hints[p.name], False), words.get(p.name, ""))
            for p in named
        }


TUNER_CALL = Operation(Tuner)
