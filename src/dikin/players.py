"""What learners and tuners share: open queries by id, several asks at once, copies and files."""

from __future__ import annotations

import copy
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, Self, TypeVar, overload

from dikin import serialization
from dikin.arguments import whole
from dikin.errors import ParameterError
from dikin.open_queries import OpenQueries, Query

Q = TypeVar("Q", bound=Query)
Known = Mapping[str, Any] | None


class Player(ABC, Generic[Q]):
    """A learner, or a tuner of named parameters.

    Attributes
    ----------
    kind
        The kind of learner that chooses the points.
    """

    kind: ClassVar[str] = ""
    _open: OpenQueries

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles. They are made after this returns: other threads must not play."""
        with self._open.lock:
            return dict(vars(self))

    def __copy__(self) -> Self:
        # A shallow copy would share the generator and the open queries with the original.
        return copy.deepcopy(self)

    @overload
    def ask(
        self, context: Any = None, *, forecast: float | None = None, covariates: Known = None
    ) -> Q: ...

    @overload
    def ask(
        self,
        context: Any = None,
        *,
        n: int,
        forecast: float | None = None,
        covariates: Known = None,
    ) -> list[Q]: ...

    def ask(
        self,
        context: Any = None,
        *,
        n: int | None = None,
        forecast: float | None = None,
        covariates: Known = None,
    ) -> Q | list[Q]:
        """Ask for the next point, or for several.

        Parameters
        ----------
        context
            What is known about the round beforehand. Only some learners use it.
        n
            How many to ask for at once, for several machines that run at the same time.
        forecast
            The loss or value that you expect, whatever is asked: last week's at this hour, or the
            output of a model. A good forecast makes learning faster, a bad one costs little. Only
            some learners use it.
        covariates
            What explains the value besides the setting, by name: {"load": 0.7, "hour": 14}. The
            setting must not influence it. Pass to `tell` what is known only afterwards. Only tuners
            use covariates.

        Returns
        -------
        Query, or list of Query
            The point, and the id by which it is answered. From a tuner a `Trial`, with the values
            by name. A list with `n`.

        Raises
        ------
        FeedbackError, CovariateError
            If a context, a forecast or covariates are passed that the learner does not use or that
            are not finite.
        ParameterError
            If `n` is not a whole number of at least 1.
        """
        if n is None:
            return self._ask(context, forecast, covariates)
        count = whole(n, "n", 1, "how many to ask for")
        return [self._ask(context, forecast, covariates) for _ in range(count)]

    @abstractmethod
    def _ask(self, context: Any, forecast: Any, covariates: Any) -> Q:
        """Ask for one."""

    def forget(self, query: Query | int) -> None:
        """Close a query that will never be answered.

        Parameters
        ----------
        query
            What `ask` gave, or its id.

        Raises
        ------
        QueryError
            If the query is not an open one of this learner or tuner.
        """
        with self._open.lock:
            del self._open[self._open.find(query, self._again)[0].id]

    @property
    def open_queries(self) -> list[Q]:
        """The queries that were asked and neither answered nor forgotten, oldest first."""
        with self._open.lock:
            return [self._again(id) for id in self._open]

    @property
    def asked(self) -> int:
        """Number of queries asked so far."""
        return self._open.next_id

    def _skip_ids(self, count: int) -> int:
        """Leave out that many ids, for `Study.skip_ids`; returns the id of the next query."""
        with self._open.lock:
            self._open.next_id += count
            return self._open.next_id

    @abstractmethod
    def _again(self, id: int) -> Q:
        """An open query, recreated: the caller may have modified the one that was returned."""

    def certificate_for(
        self, *, smoothness: float | None = None, lipschitz: float | None = None
    ) -> float:
        """Bound the regret so far for a constant of your choice: `Predictive` and tuners do.

        Choose the constant without looking at the values: the smaller of two bounds of one run is
        no bound.

        Parameters
        ----------
        smoothness, lipschitz
            The constant: one of the two.

        Returns
        -------
        float
            The bound for the rounds so far.

        Raises
        ------
        ParameterError
            If the learner has no such bound, or not exactly one constant is given.
        """
        raise ParameterError(
            f"{type(self).__name__} has a certificate for the constants that it was built with "
            "alone: see certificate"
        )

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, as plain JSON values, open queries included."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a JSON file; a crash at any instant leaves the old file or the new.

        Only its owner can read or write a new file; an existing file keeps its mode. A symbolic
        link stays a link: the file to which it points is replaced. Threads and processes may save
        to the same path at once; the last one to finish wins.

        Parameters
        ----------
        path
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
        """Refuse a class that is not registered: it could not be loaded."""
