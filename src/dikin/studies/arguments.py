"""Arguments of a client, checked, and as they will be read back from a row."""

from __future__ import annotations

import os
import socket
import unicodedata
from collections.abc import Mapping
from typing import Any

from dikin.arguments import as_float, is_whole, true_or_false, whole
from dikin.errors import ParameterError, UnknownQueryError, shown
from dikin.open_queries import Query

AT_ONCE = 1000  # trials that one request may ask for, and rounds that it may read
ANSWER = ("value", "failed", "metrics", "covariates")  # the parts of an answer in a row


def printable(value: Any, what: str) -> str:
    """Return a name that a row can contain, in one form of Unicode, or raise an error."""
    name = unicodedata.normalize("NFC", value) if isinstance(value, str) else ""
    if not 0 < len(name) <= 150 or not name.isprintable():
        raise ParameterError(f"{what} must be 1 to 150 printable characters, got {shown(value)}")
    return name


def seconds(value: Any, what: str, low: float, high: float) -> float:
    """Return a number of seconds within limits, or raise an error."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not low <= value <= high:
        raise ParameterError(
            f"{what} must lie between {low:g} and {high:g} seconds, got {shown(value)}"
        )
    return float(value)


def first_and_last(first: Any, last: Any) -> tuple[int, int | None]:
    """Return the first and the last round of a range, None for the newest."""
    first = whole(first, "first", 1, "rounds are counted from 1")
    return first, None if last is None else whole(last, "last", 0, "rounds are counted from 1")


def own_name() -> str:
    """Return the default name of a client: its machine and its process."""
    return f"{socket.gethostname()}:{os.getpid()}"


def as_read(value: Any) -> Any:
    """Return a value as it will be read back from a row."""
    if value is None or type(value) is float:
        return value
    if isinstance(value, Mapping):
        return {name: as_read(value[name]) for name in sorted(value, key=str)}
    number = as_float(value)
    return value if number is None else number


def answer_of(value: Any, metrics: Any, covariates: Any, failed: Any) -> dict[str, Any]:
    """Return an answer without the parts that were left out."""
    answer = {"value": as_read(value)}
    if metrics:
        answer["metrics"] = as_read(metrics)
    if covariates:
        answer["covariates"] = as_read(covariates)
    return answer | ({"failed": True} if true_or_false(failed, "failed") else {})


def query_or_id(query: Any) -> Query | int:
    """Return a query or an id, as passed to tell and forget, or raise an error."""
    if isinstance(query, Query):
        return query
    if is_whole(query):
        return int(query)
    raise UnknownQueryError(f"pass the trial or its id, got {shown(query)}")
