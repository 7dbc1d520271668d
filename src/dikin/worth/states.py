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
    """Say in a `StateError` that a state lacks a part, or that one is unusable.

    Parameters
    ----------
    what : str
        What the state is of, for the message: "a budget".

    Raises
    ------
    StateError
        For what is raised within while a state is read.
    """
    try:
        yield
    except (KeyError, TypeError, ParameterError) as reason:
        raise StateError(f"the state of {what} is not whole: {reason}") from reason


def refuse_altered(state: Any, form: dict[str, Any], what: str) -> None:
    """Refuse a state that has other keys or kinds of values than it should, or infinite numbers.

    Parameters
    ----------
    state : dict
        What was read.
    form : dict
        A state as it should be; None where anything is right.
    what : str
        What the state is of, for the message.

    Raises
    ------
    StateError
        If it is not like the form.
    """
    refuse_other_form(state, form, what)
    refuse_infinite(state, what)


def number_or(missing: float, value: Any) -> float:
    """The number that `finite_or_none` was given.

    Parameters
    ----------
    missing : float
        The number that stands for None.
    value : float or None
        What `finite_or_none` gave.

    Returns
    -------
    float
        The number.

    Raises
    ------
    ParameterError
        If the value is neither.
    """
    return missing if value is None else number(value, "what stands for a number")
