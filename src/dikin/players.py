"""What learners and tuners have in common: they are asked what to play and told the result."""

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
from dikin.status import Status
from dikin.vectors import Array

Q = TypeVar("Q", bound=Query)


class Player(ABC, Generic[Q]):
    """A player of bandit convex optimization: a learner, or a tuner of named parameters.

    Attributes
    ----------
    kind
        The kind of learner that chooses the points.
    noun
        What a query is called in messages.
    told_as
        What the number is called that is told.
    space
        The named parameters of a tuner; None for a learner.
    rounds
        Rounds answered so far.
    """

    kind: ClassVar[str] = ""
    noun: ClassVar[str] = "query"
    told_as: ClassVar[str] = "loss"
    space: Any = None
    rounds: int
    _open: OpenQueries

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles. They are made after this returns: other threads must not play."""
        with self._open.lock:
            return dict(vars(self))

    def __copy__(self) -> Self:
        # A shallow copy would share the generator and the open queries with the original.
        return copy.deepcopy(self)

    # --- the game ------------------------------------------------------------------------------

    @overload
    def ask(
        self,
        context: Any = None,
        *,
        n: None = None,
        forecast: float | None = None,
        covariates: Mapping[str, Any] | None = None,
    ) -> Q: ...

    @overload
    def ask(
        self,
        context: Any = None,
        *,
        n: int,
        forecast: float | None = None,
        covariates: Mapping[str, Any] | None = None,
    ) -> list[Q]: ...

    def ask(
        self,
        context: Any = None,
        *,
        n: int | None = None,
        forecast: float | None = None,
        covariates: Mapping[str, Any] | None = None,
    ) -> Q | list[Q]:
        """The next point to play, or several.

        Parameters
        ----------
        context
            What is known about the round beforehand. Only some learners use it.
        n
            How many to ask for at once, for several machines that play at the same time.
        forecast
            The loss or value that you expect, whatever is played: last week's at this hour, or the
            output of a model. A good forecast makes learning faster, a bad one costs little. Only
            some learners use it.
        covariates
            What explains the value besides the setting, by name: {"load": 0.7, "hour": 14}. The
            setting must not influence it. Pass to `tell` what is known only afterwards. Only tuners
            use covariates.

        Returns
        -------
        Query, or list of Query
            The point, and the id by which it is answered. Of a tuner a `Trial`, with the values by
            name. A list with `n`.

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

    @abstractmethod
    def tell(
        self,
        query: Any,
        loss: Any,
        /,
        curvature: float = 0.0,
        *,
        covariates: Any = None,
        sem: Any = None,
        smoothness: Any = None,
        lipschitz: Any = None,
    ) -> None:
        """Answer a query. An answer that is refused changes nothing.

        Parameters
        ----------
        query
            What `ask` gave, or its id.
        loss
            The resulting loss or value.
        curvature
            The strong convexity of the loss.
        covariates
            What explains the value besides the setting, by name. Only tuners use it.
        sem
            The standard error of the value. Only tuners use it.
        smoothness, lipschitz
            The constants of this loss alone. Some learners use them.
        """

    def forget(self, query: Query | int) -> None:
        """Close a query that will never be answered.

        Parameters
        ----------
        query
            What `ask` gave, or its id.

        Raises
        ------
        QueryError
            If the query is not an open one of this player.
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
        """Queries asked so far."""
        return self._open.next_id

    def _skip_ids(self, count: int) -> int:
        """Leave out that many ids, for `Study.skip_ids`; returns the id of the next query."""
        with self._open.lock:
            self._open.next_id += count
            return self._open.next_id

    @abstractmethod
    def _again(self, id: int) -> Q:
        """An open query, recreated: the caller may have modified the one that was returned."""

    # --- what it knows -------------------------------------------------------------------------

    @property
    @abstractmethod
    def center(self) -> Array:
        """The current best guess."""

    @property
    @abstractmethod
    def certificate(self) -> float:
        """The bound on the regret so far; NaN where there is none."""

    def certificate_for(
        self,
        *,
        smoothness: float | None = None,
        lipschitz: float | None = None,
        varies: float | None = None,
        memory: float | None = None,
        confidence: float | None = None,
        nonconvexity: float = 0.0,
    ) -> float:
        """The bound for a constant of your choice.

        Parameters
        ----------
        smoothness, lipschitz
            The constant: one of the two.
        varies
            The most by which the losses of one round vary.
        memory
            The approximate number of recent rounds that the bound covers; all by default.
        confidence
            To bound the regret of this run with at least this probability, not the mean.
        nonconvexity
            How far a loss may be from a convex one.

        Returns
        -------
        float
            The bound for the rounds so far.

        Raises
        ------
        ParameterError
            If the player has no such bound: `Predictive` and tuners alone have one.
        """
        raise ParameterError(
            f"{type(self).__name__} has a certificate for the constants that it was built with "
            "alone: see certificate"
        )

    @property
    @abstractmethod
    def restarts(self) -> int:
        """How often an unknown range of losses had to be widened."""

    @abstractmethod
    def status(self) -> Status:
        """The current status: rounds, best guess, certificate.

        Returns
        -------
        Status
            A record that prints itself, in a notebook as a table.
        """

    # --- in a journal --------------------------------------------------------------------------

    def notes(self, id: int) -> dict[str, Any]:
        """What a journal records about an open query besides its answer, as JSON values.

        Parameters
        ----------
        id
            The query.

        Returns
        -------
        dict
            By name.
        """
        return {}

    def is_current(self, query: Query) -> bool:
        """Whether an open query would be asked in the same way now.

        Parameters
        ----------
        query
            What `ask` gave.

        Returns
        -------
        bool
            False for a trial if the tuner was put on hold or resumed since.
        """
        return True

    # --- state ---------------------------------------------------------------------------------

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """The parts that must agree when an existing study is opened with a player."""

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
        """Refuse a player with a class that is not registered: it could not be loaded."""

    def require_storable(self) -> None:
        """Refuse a player that cannot be written to a database."""
