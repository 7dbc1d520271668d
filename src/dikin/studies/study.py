"""A learner that lives in a database: durable, shared, and the same after any crash."""

from __future__ import annotations

import os
import secrets
import socket
import time
from datetime import datetime
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from dikin.domains.base import Array
from dikin.errors import (
    ClosedQueryError,
    ParameterError,
    StateError,
    StudyExistsError,
    UnknownQueryError,
    UnknownStudyError,
    did_you_mean,
)
from dikin.learners.base import Learner, Query, refuse_late_forecast
from dikin.learners.predictive import Predictive
from dikin.studies import journal
from dikin.studies.database import Database, open_database
from dikin.studies.history import Table, history_table
from dikin.studies.journal import Event, Journal, Snapshot
from dikin.studies.replayed_learner import (
    Answer,
    AskArguments,
    ReplayedLearner,
    query_id,
    snapshot_text,
)
from dikin.studies.session import Session

PATIENCE = 0.8
"""Seconds: with what else a call does, it ends within one."""


class OpenQuery(NamedTuple):
    """A query that waits for its answer."""

    id: int
    point: Array
    client: str
    asked: datetime


class Standing(NamedTuple):
    """How far a study has come at one instant."""

    rounds: int
    center: Array
    certificate: float


class Study:
    """A learner in a database, under a name.

    `ask` and `tell` are durable when they return, or soon after it with `commit_within`. Any number
    of processes and threads may hold the same study.

    Parameters
    ----------
    url : str or os.PathLike
        The database: a file, which SQLite keeps, or `postgresql://user@host/database`.
    name : str
        What the study is called there.
    learner : Learner, optional
        Without one the study must exist. With one it is created, or opened if it exists with a
        learner of the same class, domain and arguments.
    client : str, optional
        The name of this client in the list of open queries; the host and the process otherwise.
    patience : float, default 0.8
        Seconds to wait for another client or for the server before an error.
    commit_within : float, default 0.0
        Seconds that an event may wait to be written together with others; 0 makes it durable before
        the call returns.

    Attributes
    ----------
    name : str
        What the study is called.
    client : str
        What this client is called.

    Raises
    ------
    UnknownStudyError
        If there is no such study, and no learner to create it with.
    StudyExistsError
        If it exists with another learner.
    ParameterError
        If an argument is not what is written here.
    StoreError
        If the database cannot be reached.

    Examples
    --------
    >>> import dikin, tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name) / "studies.db"
    >>> study = dikin.Study(file, "prices", dikin.AdaptiveSmooth(dikin.Box([0], [9]), 1.0, seed=7))
    >>> query = study.ask()
    >>> study.tell(query, 0.25)
    >>> study.tell(query, 0.25)  # a repetition is accepted, and counted once
    >>> study.rounds, len(study.history())
    (1, 1)
    >>> study.close()
    >>> folder.cleanup()
    """

    def __init__(
        self,
        url: str | os.PathLike[str],
        name: str,
        learner: Learner | None = None,
        *,
        client: str | None = None,
        patience: float = PATIENCE,
        commit_within: float = 0.0,
    ) -> None:
        self.name = _printable(name, "name")
        self.client = _printable(client or f"{socket.gethostname()}:{os.getpid()}", "client")
        # Makes every row unlike any that another client writes.
        self._signature = f"{self.client}#{secrets.token_hex(4)}"
        patience = _seconds(patience, "patience", 0.01, 600.0)
        commit_within = _seconds(commit_within, "commit_within", 0.0, patience / 2)
        database = open_database(url, patience)
        self._journal = Journal(database, self.name)
        self._session = Session(database, self._journal, commit_within)
        try:
            self._session.retry(self._open, learner)
        except BaseException:
            self._session.close()
            raise

    # --- opening -------------------------------------------------------------------------------

    def _open(self, learner: Learner | None) -> None:
        if not self._journal.find():
            if learner is None:
                raise _unknown_study(self._journal.database, self.name)
            self._create(learner)

        def look(replayed: ReplayedLearner) -> Learner:
            self._journal.check_recent()
            return replayed.learner

        kept = self._session.read(look)
        if learner is not None:
            self._refuse_other_learner(learner, kept)

    def _create(self, learner: Learner) -> None:
        if not isinstance(learner, Learner):
            raise ParameterError(f"a study keeps a dikin learner, got {learner!r}")
        if learner.open_queries:
            raise ParameterError(
                f"the learner has open queries {[q.id for q in learner.open_queries]}: answer or "
                "forget them before it becomes a study"
            )
        state = snapshot_text(learner, {})
        ReplayedLearner.of(Snapshot(0, "", state))  # refused now, or readable for ever
        database = self._journal.database
        database.begin(journal.SCHEMA_LOCK)
        try:
            journal.create_tables(database)
            self._journal.create(state)
            database.commit()
        except BaseException:
            database.rollback()
            raise

    def _refuse_other_learner(self, came: Learner, kept: Learner) -> None:
        ours, theirs = kept.state(), came.state()
        for part in ("learner", "domain", "arguments"):
            if ours[part] != theirs[part]:
                raise StudyExistsError(
                    f"study {self.name!r} in {self._journal.database.name} exists with the {part} "
                    f"{ours[part]}, not {theirs[part]}; open it without a learner, or choose "
                    "another name"
                )

    @staticmethod
    def names(url: str | os.PathLike[str]) -> list[str]:
        """List the studies in a database.

        Parameters
        ----------
        url : str or os.PathLike
            The database, as for `Study`.

        Returns
        -------
        list of str
            Their names.
        """
        database = open_database(url, PATIENCE)
        session = Session(database, Journal(database, ""), 0.0)
        try:
            return session.retry(journal.names, database)
        finally:
            session.close()

    @staticmethod
    def delete(url: str | os.PathLike[str], name: str) -> None:
        """Remove a study with its whole history; clients that hold it get an error.

        Parameters
        ----------
        url : str or os.PathLike
            The database, as for `Study`.
        name : str
            The study.

        Raises
        ------
        UnknownStudyError
            If there is no such study.
        """
        database = open_database(url, PATIENCE)
        kept = Journal(database, name)
        session = Session(database, kept, 0.0)
        try:
            if not session.retry(lambda _: kept.find(), None):
                raise _unknown_study(database, name)
            with session.transaction():  # not opened before: it may be damaged
                kept.delete()
        finally:
            session.close()

    def close(self) -> None:
        """Let go of the database; the study stays in it."""
        self._session.close()

    def __repr__(self) -> str:
        return f"<Study {self.name!r} in {self._journal.database.name}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- the game ------------------------------------------------------------------------------

    def ask(self, context: ArrayLike | None = None, *, forecast: float | None = None) -> Query:
        """Ask for the next point to play; the query is in the database when this returns.

        Parameters
        ----------
        context : array_like, optional
            What is known of the round beforehand, for a learner that needs it. Others refuse it.
        forecast : float, optional
            The loss that one expects, for a learner that uses it. Others refuse it.

        Returns
        -------
        Query
            Its id, and the point to play in the user's units.
        """
        session, arguments = self._session, AskArguments.of(context, forecast)

        def act(replayed: ReplayedLearner) -> tuple[Event | None, Query]:
            unclaimed = session.unclaimed
            found: tuple[Event | None, Query]
            if unclaimed is not None and replayed.is_open(*unclaimed, arguments):
                found = None, unclaimed[1]
            else:
                found = replayed.ask(arguments, self._signature, _now())
            session.unclaimed = None  # only now: a refused ask leaves it to the next one
            return found

        return session.write(act)

    def tell(
        self,
        query: Query | OpenQuery | int,
        loss: Any,
        curvature: float = 0.0,
        *,
        forecast: None = None,
    ) -> None:
        """Answer a query, of this client or another; the answer is durable when this returns.

        The same answer again is accepted and changes nothing; another answer is an error. So where
        it is not known whether a tell went through, tell again.

        Parameters
        ----------
        query : Query, OpenQuery or int
            The query, or its id.
        loss : float
            The loss at its point; what else a learner needs if it declares more (`feedback`).
        curvature : float, default 0.0
            How strongly convex the loss of this round is; 0 where that is not known.
        forecast : None
            Refused: after the point is known it comes too late.
        """
        refuse_late_forecast(forecast)
        key, answer = _key(query), Answer.of(loss, curvature)

        def act(replayed: ReplayedLearner) -> tuple[Event | None, None]:
            if query_id(key) not in replayed.asked:
                closed = self._closing_row(key)
                if closed is not None and answer.repeats(key, closed):
                    return None, None
            return replayed.tell(key, answer, self._signature, _now()), None

        self._session.write(act)

    def forget(self, query: Query | OpenQuery | int) -> None:
        """Close a query that will never be answered; a repetition is accepted.

        Parameters
        ----------
        query : Query, OpenQuery or int
            The query, or its id.
        """
        key = _key(query)

        def act(replayed: ReplayedLearner) -> tuple[Event | None, None]:
            try:
                return replayed.forget(key, self._signature, _now()), None
            except ClosedQueryError:
                closed = self._closing_row(key)
                if closed is None or closed[0] != "forget":
                    raise
                return None, None

        self._session.write(act)

    def _closing_row(self, key: Query | int) -> tuple[str, str] | None:
        """Kind and body of the row that closed a query."""
        if not 0 <= query_id(key) < 2**63:  # what a database can look for
            return None
        self._session.insert_pending()
        return self._journal.closing_row(query_id(key))

    def flush(self) -> None:
        """Make durable what `commit_within` lets wait."""
        self._session.flush()

    # --- looking -------------------------------------------------------------------------------

    def standing(self) -> Standing:
        """Rounds, center and certificate of the same instant."""

        def look(replayed: ReplayedLearner) -> Standing:
            learner = replayed.learner
            return Standing(learner.rounds, learner.center, replayed.certificate())

        return self._session.read(look)

    @property
    def rounds(self) -> int:
        """Rounds answered so far, by all clients."""
        return self.standing().rounds

    @property
    def restarts(self) -> int:
        """How often a range of losses that was not known had to be widened."""
        return self._session.read(lambda replayed: replayed.learner.restarts)

    @property
    def center(self) -> Array:
        """The point that the learner believes in."""
        return self.standing().center

    @property
    def certificate(self) -> float:
        """The bound on the regret so far; NaN where the learner has none."""
        return self.standing().certificate

    def certificate_for(self, **constants: float) -> float:
        """Bound the regret for a constant that one believes in: `Predictive.certificate_for`.

        `dikin.restore(study.state())` gives the learner itself, with all else that it knows.

        Parameters
        ----------
        **constants : float
            One of `smoothness` and `lipschitz`.

        Returns
        -------
        float
            The bound for the rounds so far.

        Raises
        ------
        ParameterError
            If the learner is no `Predictive`, or the constants are others.
        """

        def look(replayed: ReplayedLearner) -> float:
            if not isinstance(replayed.learner, Predictive):
                raise ParameterError(
                    f"{type(replayed.learner).__name__} has a certificate for the constants that "
                    "it was built with alone: study.certificate"
                )
            return replayed.learner.certificate_for(**constants)

        return self._session.read(look)

    @property
    def open_queries(self) -> list[OpenQuery]:
        """The queries that wait for an answer, oldest first, with who asked them and when."""

        def look(replayed: ReplayedLearner) -> list[OpenQuery]:
            return [
                OpenQuery(query.id, query.point, *replayed.asked[query.id].client_and_time())
                for query in replayed.learner.open_queries
            ]

        return self._session.read(look)

    def state(self) -> dict[str, Any]:
        """The learner's state, for `dikin.restore`: a learner of its own, outside the study."""
        return self._session.read(lambda replayed: replayed.learner.state())

    def history(self, first: int = 1, last: int | None = None) -> Table:
        """Read the rounds as a table, and check every seal of the journal.

        Parameters
        ----------
        first : int, default 1
            The first round.
        last : int, optional
            The last round; the newest by default.

        Returns
        -------
        numpy.ndarray
            A structured array with the columns round, point, loss, curvature, center (after the
            round) and certificate: `study.history()["loss"]`.

        Raises
        ------
        StateError
            If the journal was altered or damaged.
        """

        def look(replayed: ReplayedLearner) -> Table:
            base = self._journal.first_snapshot()
            events = self._journal.events(base.number, base.seal)
            return history_table(events, first, last, replayed.learner.domain.center.shape)

        self.flush()
        return self._session.read(look)

    def verify(self) -> int:
        """Replay the whole journal and compare with what this client holds; the number of rows.

        Raises
        ------
        StateError
            If the journal was altered or damaged, or its replay is another learner.
        """

        def look(replayed: ReplayedLearner) -> int:
            newest = self._journal.newest_snapshot()
            again = ReplayedLearner.of(self._journal.first_snapshot())
            rows = 0
            for event in self._journal.events(again.number, again.seal):
                if event.number > replayed.number:
                    break
                again.replay(event)
                rows += 1
                if again.number == newest.number and again.snapshot() != newest:
                    raise StateError(f"the snapshot of study {self.name!r} is not its replay")
            if again.snapshot() != replayed.snapshot():
                raise StateError(f"the learner of study {self.name!r} is not its replay")
            return rows

        self.flush()
        return self._session.read(look)

    def trim(self, before: int) -> int:
        """Remove the history of early rounds.

        The learner, its open queries and everything that it will play stay as they are.

        Parameters
        ----------
        before : int
            The first round whose history is kept.

        Returns
        -------
        int
            How many rows of the journal were removed.

        Raises
        ------
        StateError
            If another client trimmed the study at the same time.
        """

        def look(_: ReplayedLearner) -> tuple[Snapshot, list[Event]]:
            base = self._journal.first_snapshot()
            number = self._journal.last_row_before_round(before)
            return base, self._journal.rows_until(base, number)

        base, rows = self._session.read(look)
        if not rows:
            return 0
        replayed = ReplayedLearner.of(base)
        for event in rows:
            replayed.replay(event)
        with self._session.transaction():
            if self._journal.first_snapshot() != base:
                raise StateError(f"study {self.name!r} was trimmed by another client meanwhile")
            self._journal.trim(replayed.snapshot())
        return len(rows)


def _now() -> int:
    return time.time_ns() // 1000


def _key(query: Query | OpenQuery | int) -> Query | int:
    if isinstance(query, OpenQuery):
        return Query(query.id, query.point)
    if isinstance(query, np.integer):
        return int(query)
    if isinstance(query, Query) or (isinstance(query, int) and not isinstance(query, bool)):
        return query
    raise UnknownQueryError(f"a query is answered by itself or by its id, got {query!r}")


def _unknown_study(database: Database, name: str) -> UnknownStudyError:
    known = journal.names(database)
    others = did_you_mean(name, known) if known else " It has none at all."
    return UnknownStudyError(
        f"{database.name} has no study {name!r}.{others} To create one, give a learner: "
        "Study(url, name, learner), or dikin study create"
    )


def _printable(value: Any, what: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= 150 or not value.isprintable():
        raise ParameterError(f"{what} must be 1 to 150 printable characters, got {value!r}")
    return value


def _seconds(value: Any, what: str, low: float, high: float) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not low <= value <= high:
        raise ParameterError(f"{what} must lie between {low:g} and {high:g} seconds, got {value!r}")
    return float(value)
