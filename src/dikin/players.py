"""Common parts of learners and tuners: open queries by id, copies and files."""

from __future__ import annotations

import copy
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from dikin import serialization
from dikin.errors import ParameterError
from dikin.open_queries import OpenQueries, Query
from dikin.registry import Registered

Q = TypeVar("Q", bound=Query)
P = ParamSpec("P")
R = TypeVar("R")


def locked(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Make a method that no other thread's `ask` or `tell` can interrupt."""

    @wraps(method)
    def under_lock(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._open.lock:
            return method(self, *args, **kwargs)

    return under_lock


class Player(Registered, ABC, Generic[Q]):
    """A learner, or a tuner of named parameters."""

    _open: OpenQueries

    def __getstate__(self) -> dict[str, Any]:
        """Return the content of copies and pickles. Other threads must not play meanwhile."""
        with self._open.lock:
            return dict(vars(self))

    def __copy__(self) -> Self:
        # A shallow copy would share the generator and the open queries with the original.
        return copy.deepcopy(self)

    def forget(self, query: Query | int) -> None:
        """Close a query that will never be answered.

        Parameters
        ----------
        query : Query, Trial or int
            The result of `ask`, or its id.

        Raises
        ------
        QueryError
            If the query is not an open one of this learner or tuner.
        """
        with self._open.lock:
            del self._open[self._open.find(query)[0].id]

    @property
    def open_queries(self) -> list[Q]:
        """The queries that were asked and neither answered nor forgotten, oldest first."""
        with self._open.lock:
            entries: Any = [*self._open.values()]
            return [query for query, _ in entries]

    @property
    def asked(self) -> int:
        """Number of queries asked so far."""
        return self._open.next_id

    def certificate_for(
        self, *, smoothness: float | None = None, lipschitz: float | None = None
    ) -> float:
        """Bound the regret so far for a constant of your choice: `Predictive` and tuners do.

        Choose the constant without looking at the values: the smaller of two bounds of a run is
        none.

        Parameters
        ----------
        smoothness, lipschitz : float, optional
            One of the two.

        Returns
        -------
        float
            The bound for the rounds so far.
        """
        raise ParameterError(
            f"{type(self).__name__} has a certificate for the constants that it was built with "
            "alone: see certificate"
        )

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return everything that the future depends on, as plain JSON values."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a JSON file. A crash at any instant leaves the old file or the new.

        Only its owner can read or write a new file. An existing file keeps its mode, and a symbolic
        link stays a link. Threads and processes may save to the same path at once: the last one to
        finish wins.

        Parameters
        ----------
        path : str or os.PathLike
            The file, for `dikin.load`.

        Raises
        ------
        NotSavableError
            If the class of the learner or of its domain is not registered: it could not be loaded.
        """
        self.require_registered()
        with self._open.lock:
            serialization.write(path, self.state())

    def require_registered(self) -> None:
        """Raise an error for a class that is not registered, as it could not be loaded."""
