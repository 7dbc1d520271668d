"""Checks of a client's arguments, shared by studies in a database and over HTTP."""

from __future__ import annotations

import os
import socket
import unicodedata
from typing import Any

from dikin.arguments import whole
from dikin.errors import ParameterError, shown


def printable(value: Any, what: str) -> str:
    """A name that a row can contain, in the one form of Unicode, or an error."""
    name = unicodedata.normalize("NFC", value) if isinstance(value, str) else ""
    if not 0 < len(name) <= 150 or not name.isprintable():
        raise ParameterError(f"{what} must be 1 to 150 printable characters, got {shown(value)}")
    return name


def seconds(value: Any, what: str, low: float, high: float) -> float:
    """A number of seconds within limits, or an error."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not low <= value <= high:
        raise ParameterError(
            f"{what} must lie between {low:g} and {high:g} seconds, got {shown(value)}"
        )
    return float(value)


def first_and_last(first: Any, last: Any) -> tuple[int, int | None]:
    """The first and the last round of a range, or an error; None for the newest."""
    first = whole(first, "first", 1, "rounds are counted from 1")
    return first, None if last is None else whole(last, "last", 0, "rounds are counted from 1")


def own_name() -> str:
    """The default name of a client: its machine and its process."""
    return f"{socket.gethostname()}:{os.getpid()}"
