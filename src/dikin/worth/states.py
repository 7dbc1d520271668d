"""How states of this package are read back: whole, of the right form, and with finite numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dikin.arguments import number
from dikin.errors import ParameterError, StateError
from dikin.serialization import refuse_infinite, refuse_other_form


@contextmanager
def whole_state(what: str) -> Iterator[None]:
    """Raise a `StateError` where a state of something lacks a part, or one is unusable."""
    try:
        yield
    except (KeyError, TypeError, ParameterError) as reason:
        raise StateError(f"the state of {what} is not whole: {reason}") from reason


def refuse_altered(state: Any, form: dict[str, Any], what: str) -> None:
    """Refuse a state unlike its form, or with infinite numbers; None in the form takes anything."""
    refuse_other_form(state, form, what)
    refuse_infinite(state, what)


def number_or(missing: float, value: Any) -> float:
    """The number that `finite_or_none` was given; `missing` stands for None."""
    return missing if value is None else number(value, "what stands for a number")
