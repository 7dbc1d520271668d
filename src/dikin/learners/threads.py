"""Lets threads share a learner: a lock per learner, and one lock for the filters of warnings."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import RLock
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


_filters = RLock()


@contextmanager
def ignored(category: type[Warning]) -> Iterator[None]:
    """Ignore warnings of a category for a while.

    The filters of warnings belong to the whole process: two threads that changed and restored them
    at once could leave them changed.

    Parameters
    ----------
    category
        The class of the warnings.
    """
    with _filters, warnings.catch_warnings():
        warnings.simplefilter("ignore", category)
        yield
