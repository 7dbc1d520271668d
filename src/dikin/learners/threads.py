"""Threads may share a learner, which has a lock."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def locked(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A learner's method that no other thread's `ask` or `tell` can interrupt.

    Parameters
    ----------
    method
        A method that reads or writes more than one attribute of a learner.
    """

    @wraps(method)
    def under_lock(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._open.lock:
            return method(self, *args, **kwargs)

    return under_lock
