"""A learner or tuner that lives in a database: durable, shared, and the same after any crash."""

from __future__ import annotations

import inspect
import json
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, cast, overload

import numpy as np
from numpy.typing import ArrayLike

from dikin.arguments import frozen, whole
from dikin.engine.progress import Progress
from dikin.errors import (
    ClosedQueryError,
    ParameterError,
    StateError,
    StudyExistsError,
    UnknownStudyError,
    did_you_mean,
    few_of,
    shown,
)
from dikin.learners.base import Learner, Query, refuse_late_forecast
from dikin.plotting.history import draw_history
from dikin.plotting.learner import draw_learner
from dikin.plotting.notebook import pairs_table
from dikin.plotting.style import figure_format, save_figure
from dikin.studies import journal, verification
from dikin.studies.client_arguments import first_and_last, own_name, printable, seconds
from dikin.studies.database import Database, Sqlite, open_database
from dikin.studies.history import in_parts, records_between, told_between
from dikin.studies.journal import Event, Journal, Snapshot
from dikin.studies.kept import Kept, OpenQuery, keep
from dikin.studies.overview import Overview, overview_of
from dikin.studies.replayed_learner import AskRecord, ReplayedLearner, snapshot_text
from dikin.studies.rows import Answer, AskArguments, Question, point_in, query_id
from dikin.studies.session import Session
from dikin.tuning.history import panels_of, to_frame
from dikin.tuning.space import Params, Space
from dikin.tuning.summary import Summary
from dikin.tuning.tuner import Trial, Tuner
from dikin.vectors import Array, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from typing_extensions import TypeVar  # one with a default: `Study` alone is any study

    Q = TypeVar("Q", default=Any)
else:
    from typing import TypeVar

    Q = TypeVar("Q")

T = TypeVar("T")

TRIM_AT_ONCE = 10_000
"""Rows that are removed in one transaction, while others wait: some hundredths of a second."""
PATIENCE = 0.8
"""Seconds: with what else a call does, it ends within one."""


class Standing(NamedTuple):
    """How far a study has come at one instant."""

    rounds: int
    center: Array
    certificate: float


class Study(Generic[Q]):
    """A learner or tuner in a database, under a name.

    `ask` and `tell` are durable when they return, or soon after it with `commit_within`. Any number
    of processes and threads may hold the same study. A study of a `Tuner` speaks of trials with
    names (`Study[Trial]` for a type checker), one of a learner of queries with points
    (`Study[Query]`).

    Parameters
    ----------
    url : str or os.PathLike
        The database: a file, which SQLite keeps, or `postgresql://user@host/database`. Or a
        service that has one: `https://host`.
    name : str
        What the study is called there.
    learner : Learner or Tuner, optional
        Without one the study must exist. With one it is created, or opened if it exists with a
        learner of the same class, domain and arguments, or with a tuner of the same parameters,
        constraints, sense and arguments.
    client : str, optional
        The name of this client in the list of open queries; the host and the process otherwise.
    patience : float, optional
        Seconds to wait for another client or for the server before an error: 0.8 by default, and 30
        for a service, which may be started again meanwhile.
    commit_within : float, default 0.0
        Seconds that an event may wait to be written together with others; 0 makes it durable before
        the call returns.
    token : str, optional
        What a service (`dikin serve`) at an address such as `https://studies.example.com` knows
        this client by; the environment's `DIKIN_TOKEN` by default. A database takes none.

    Attributes
    ----------
    name : str
        What the study is called.
    space : Space or None
        The parameters of a tuner; None in the study of a learner.
    created : bool
        Whether it was created when it was opened here, and did not exist before.

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

    A tuner in the same file:

    >>> tuner = dikin.Tuner({"price": dikin.Real(1, 14, start=4)}, maximize=True, seed=7)
    >>> with dikin.Study(file, "shop", tuner) as shop:
    ...     trial = shop.ask()
    ...     shop.tell(trial, 512.0)
    ...     print(list(trial.params), shop.rounds)
    ['price'] 1
    >>> folder.cleanup()
    """

    def __new__(cls, url: str | os.PathLike[str], *_: Any, **__: Any) -> Self:
        """A study in a database, or one that a service at this address keeps."""
        return cast(Self, super().__new__(_class_for(url, cls)))

    @overload
    def __init__(
        self: Study[Query],
        url: str | os.PathLike[str],
        name: str,
        learner: Learner,
        *,
        client: str | None = None,
        patience: float | None = None,
        commit_within: float = 0.0,
        token: str | None = None,
    ) -> None: ...

    @overload
    def __init__(
        self: Study[Trial],
        url: str | os.PathLike[str],
        name: str,
        learner: Tuner,
        *,
        client: str | None = None,
        patience: float | None = None,
        commit_within: float = 0.0,
        token: str | None = None,
    ) -> None: ...

    @overload
    def __init__(
        self: Study[Any],
        url: str | os.PathLike[str],
        name: str,
        learner: Learner | Tuner | None = None,
        *,
        client: str | None = None,
        patience: float | None = None,
        commit_within: float = 0.0,
        token: str | None = None,
    ) -> None: ...

    def __init__(
        self,
        url: str | os.PathLike[str],
        name: str,
        learner: Learner | Tuner | None = None,
        *,
        client: str | None = None,
        patience: float | None = None,
        commit_within: float = 0.0,
        token: str | None = None,
    ) -> None:
        _refuse_token(token)
        self.name = printable(name, "name")
        # Makes every row unlike any that another client writes.
        self._nonce = secrets.token_hex(4)
        self.client = client or own_name()
        patience = PATIENCE if patience is None else seconds(patience, "patience", 0.01, 600.0)
        commit_within = seconds(commit_within, "commit_within", 0.0, patience / 2)
        given = None if learner is None else keep(learner)
        database = open_database(url, patience)
        self._journal = Journal(database, self.name)
        self._session = Session(database, self._journal, commit_within)
        self._has_keys = False
        self.created = False
        try:
            self.space: Space | None = self._session.retry(self._open, given)
            self._session.shorten_replays()
        except BaseException:
            self._session.close()
            raise

    @property
    def client(self) -> str:
        """What this client is called; may be set, by who speaks for several."""
        return self._client

    @client.setter
    def client(self, client: str) -> None:
        self._client = printable(client, "client")
        self._signature = f"{client}#{self._nonce}"

    # --- opening -------------------------------------------------------------------------------

    def _open(self, given: Kept | None) -> Space | None:
        if not self._journal.find():
            if given is None:
                raise _unknown_study(self._journal.database, self.name)
            self._create(given)
        # Before the look: whatever is committed meanwhile only adds to what is there.
        marked = self._journal.database.marked(self._journal.study)

        def look(replayed: ReplayedLearner) -> Kept:
            self._journal.check_mark(marked)
            self._journal.check_recent()
            return replayed.kept

        kept = self._session.read(look)
        if given is not None:
            self._refuse_other(given, kept)
        return kept.space

    def _create(self, given: Kept) -> None:
        waiting = [question.id for question in given.open_questions()]
        if waiting:
            raise ParameterError(
                f"{given.learner!r} has open queries {few_of(waiting)}: answer or forget them "
                "before it becomes a study"
            )
        state = snapshot_text(given, {})
        ReplayedLearner.of(Snapshot(0, "", state))  # refused now, or readable for ever
        database = self._journal.database
        with database.lock:
            database.begin(journal.SCHEMA_LOCK)
            try:
                journal.create_tables(database)
                self.created = self._journal.create(state)
                # A deleted study may have left a mark.
                database.commit((self._journal.study, 0, ""))
            except BaseException:
                database.rollback()
                raise

    def _refuse_other(self, came: Kept, kept: Kept) -> None:
        ours, theirs = kept.identity(), came.identity()
        for part, value in ours.items():
            if value != theirs[part]:
                raise StudyExistsError(
                    f"study {self.name!r} in {self._journal.database.name} exists with the {part} "
                    f"{value}, not {theirs[part]}; open it without a learner or tuner, or choose "
                    "another name"
                )

    @classmethod
    def names(cls, url: str | os.PathLike[str], *, token: str | None = None) -> list[str]:
        """List the studies in a database, or those that a service lets one see.

        Parameters
        ----------
        url : str or os.PathLike
            The database or service, as for `Study`.
        token : str, optional
            For a service, as for `Study`.

        Returns
        -------
        list of str
            Their names.
        """
        return _class_for(url, cls)._names(url, token)

    @classmethod
    def _names(cls, url: str | os.PathLike[str], token: str | None) -> list[str]:
        _refuse_token(token)
        database = open_database(url, PATIENCE)
        session = Session(database, Journal(database, ""), 0.0)
        try:
            return session.retry(journal.names, database)
        finally:
            session.close()

    @classmethod
    def delete(cls, url: str | os.PathLike[str], name: str, *, token: str | None = None) -> None:
        """Remove a study with its whole history; clients that hold it get an error.

        Parameters
        ----------
        url : str or os.PathLike
            The database or service, as for `Study`.
        name : str
            The study.
        token : str, optional
            For a service, as for `Study`.

        Raises
        ------
        UnknownStudyError
            If there is no such study.
        """
        _class_for(url, cls)._delete(url, name, token)

    @classmethod
    def _delete(cls, url: str | os.PathLike[str], name: str, token: str | None) -> None:
        _refuse_token(token)
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

    @overload
    def ask(
        self,
        context: ArrayLike | None = None,
        *,
        n: None = None,
        forecast: float | None = None,
        key: str | None = None,
    ) -> Q: ...

    @overload
    def ask(
        self,
        context: ArrayLike | None = None,
        *,
        n: int,
        forecast: float | None = None,
        key: str | None = None,
    ) -> list[Q]: ...

    def ask(
        self,
        context: ArrayLike | None = None,
        *,
        n: int | None = None,
        forecast: float | None = None,
        key: str | None = None,
    ) -> Q | list[Q]:
        """Ask for what to play next; it is in the database when this returns.

        Parameters
        ----------
        context : array_like, optional
            What is known of the round beforehand, for a learner that needs it. Others refuse it.
        n : int, optional
            How many to ask for at once, for several machines that play at the same time.
        forecast : float, optional
            The loss or value that one expects, for a tuner or a learner that uses it. Others refuse
            it.
        key : str, optional
            A name of this request, unlike any other of the study. Whoever asks again under the same
            one within a week, as the answer was lost on its way, gets the same.

        Returns
        -------
        Query or Trial, or list
            Of a learner a query: its id, and the point to play in the user's units. Of a tuner a
            trial: its id, and the setting to play by name in `params`. With `n` a list.

        Raises
        ------
        ParameterError
            If `n` is not a whole number of at least 1, or the key no text of 1 to 150 characters,
            or the key was given to a request with another context or forecast.
        ClosedQueryError
            If the query of a key was answered, and trimmed from the history.
        """
        arguments = AskArguments.of(context, forecast)
        if key is not None:
            return self._ask_under(printable(key, "key"), arguments, n)
        if n is None:
            _, question = self._ask(arguments)
            return question
        asked: list[tuple[Event, Q]] = []
        try:
            for _ in range(whole(n, "n", 1, "how many to ask for")):
                asked.append(self._ask(arguments))
        except BaseException:
            # Written, and the caller does not hear of them.
            self._session.unclaimed += cast(list[tuple[Event, Question]], asked)
            raise
        return [question for _, question in asked]

    def _ask_under(self, key: str, arguments: AskArguments, n: int | None) -> Q | list[Q]:
        if not self._has_keys:
            with self._session.transaction(journal.SCHEMA_LOCK):
                self._journal.create_keys()
            self._has_keys = True
        if n is None:
            return self._ask_once(key, arguments)
        count = whole(n, "n", 1, "how many to ask for")
        # A character that no key of a user's has.
        return [self._ask_once(f"{key}\x1f{place}", arguments) for place in range(count)]

    def _ask_once(self, key: str, arguments: AskArguments) -> Q:
        """Ask under a key, or find what was asked under it."""
        session, now = self._session, _now()

        def act(replayed: ReplayedLearner) -> tuple[Event | None, Question]:
            known = self._journal.query_of(key)
            if known is not None:
                return None, self._asked_before(replayed, known, key, arguments)
            event, question = replayed.ask(arguments, self._signature, now)
            session.keyed.add(question.id)
            session.remember(key, question.id, now)
            return event, question

        question = session.write(act)
        session.keyed.discard(question.id)
        return cast(Q, question)

    def _asked_before(
        self, replayed: ReplayedLearner, query: int, key: str, arguments: AskArguments
    ) -> Question:
        self._session.insert_pending()
        body, word = self._journal.asked_body(query), replayed.kept.question
        if body is None and query not in replayed.asked:
            raise ClosedQueryError(
                f"what was asked under the key {key!r}, {word} {query}, was answered and trimmed "
                "from the history; ask under another key"
            )
        if body is not None and AskArguments.read(body).text() != arguments.text():
            raise ParameterError(
                f"the key {key!r} was given to another request, which asked {word} {query} with "
                "another forecast or context; a key is for one request"
            )
        point = replayed.asked[query].point if body is None else point_in(body)
        values = json.loads(point)
        return replayed.kept.again(query, frozen(values, "point", np.ndim(values)))

    def _ask(self, arguments: AskArguments) -> tuple[Event, Q]:
        session, found = self._session, list[tuple[Event, Any]]()

        def act(replayed: ReplayedLearner) -> tuple[Event | None, Question]:
            again = [pair for pair in session.unclaimed if replayed.is_open(*pair, arguments)][:1]
            found[:] = again or [replayed.ask(arguments, self._signature, _now())]
            # Only now: a refused ask leaves them to the next one.
            session.unclaimed = [
                pair
                for pair in session.unclaimed
                if pair not in again and pair[1].id in replayed.asked
            ]
            event, question = found[0]
            return None if again else event, question

        session.write(act)
        return found[0]

    def tell(
        self,
        query: Query | Trial | OpenQuery | int,
        loss: Any = None,
        curvature: float = 0.0,
        *,
        value: Any = None,
        forecast: None = None,
    ) -> None:
        """Answer a query or trial, of this client or another; durable when this returns.

        The same answer again is accepted and changes nothing; another answer is an error. So where
        it is not known whether a tell went through, tell again.

        Parameters
        ----------
        query : Query, Trial, OpenQuery or int
            What was asked, or its id.
        loss : float
            The loss at its point; what else a learner needs if it declares more (`feedback`). For a
            tuner the value, in your own sense.
        curvature : float, default 0.0
            How strongly convex the loss of this round is; 0 where that is not known.
        value : float, optional
            The same as `loss`, by the name that it has in `Tuner.tell`.
        forecast : None
            Refused: after the point is known it comes too late.

        Raises
        ------
        ParameterError
            If there are both a loss and a value.
        """
        refuse_late_forecast(forecast)
        if loss is not None and value is not None:
            raise ParameterError(
                f"tell one number: got the loss {shown(loss)} and the value {shown(value)}"
            )
        answer = Answer.of(loss if value is None else value, curvature)

        def act(replayed: ReplayedLearner) -> tuple[Event | None, None]:
            key = replayed.kept.key(query)
            if query_id(key) not in replayed.asked:
                closed = self._closing_row(key)
                if closed is not None and replayed.kept.repeats(key, answer, closed):
                    return None, None
            return replayed.tell(key, answer, self._signature, _now()), None

        self._session.write(act)

    def forget(self, query: Query | Trial | OpenQuery | int) -> None:
        """Close a query or trial that will never be answered; a repetition is accepted.

        Parameters
        ----------
        query : Query, Trial, OpenQuery or int
            What was asked, or its id.
        """

        def act(replayed: ReplayedLearner) -> tuple[Event | None, None]:
            key = replayed.kept.key(query)
            try:
                return replayed.forget(key, self._signature, _now()), None
            except ClosedQueryError:
                closed = self._closing_row(key)
                if closed is None or closed[0] != "forget":
                    raise
                return None, None

        self._session.write(act)

    def hold(self) -> None:
        """Let the tuner play its best setting, and learn nothing until `resume`.

        For all clients, and durable when this returns. A repetition is accepted.
        """
        self._switch(ReplayedLearner.hold)

    def resume(self) -> None:
        """Let the tuner explore and learn again; a repetition is accepted."""
        self._switch(ReplayedLearner.resume)

    def _switch(self, switch: Callable[[ReplayedLearner, str, int], Event | None]) -> None:
        self._session.write(lambda replayed: (switch(replayed, self._signature, _now()), None))

    def _closing_row(self, key: Question | int) -> tuple[str, str] | None:
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
            kept = replayed.kept
            return Standing(kept.learner.rounds, kept.learner.center, kept.certificate)

        return self._session.read(look)

    def overview(self) -> Overview:
        """What there is to say at one instant, as a record: for a page or a metric.

        Returns
        -------
        Overview
            Rounds, center, certificate, open queries and their age; of a tuner its summary.
        """
        return self._session.read(lambda replayed: overview_of(replayed, self._journal))

    @property
    def rounds(self) -> int:
        """Rounds answered so far, by all clients."""
        return self.standing().rounds

    @property
    def first_round(self) -> int:
        """The first round whose history is kept; the next one to be played if there is none."""

        def look(replayed: ReplayedLearner) -> int:
            return self._journal.first_round() or replayed.kept.learner.rounds + 1

        return self._session.read(look)

    @property
    def restarts(self) -> int:
        """How often a range of losses that was not known had to be widened."""
        return self._session.read(lambda replayed: replayed.kept.restarts)

    @property
    def center(self) -> Array:
        """The point that the learner believes in; the best values of a tuner in their order."""
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
            If the learner is neither a `Predictive` nor a tuner, or the constants are others.
        """
        return self._session.read(lambda replayed: replayed.kept.certificate_for(**constants))

    @property
    def best(self) -> Params:
        """Today's best guess of a tuner by name."""
        return self._session.read(lambda replayed: replayed.kept.tuner.best)

    @property
    def held(self) -> bool:
        """Whether the tuner is on hold."""
        return self._session.read(lambda replayed: replayed.kept.tuner.held)

    def summary(self) -> Summary:
        """What there is to say of a tuner: a record that prints itself, in a notebook as a table.

        Returns
        -------
        Summary
            Rounds, best setting, recent mean, cost of exploring, outlook.
        """
        return self._session.read(lambda replayed: replayed.kept.tuner.summary())

    @property
    def open_queries(self) -> list[OpenQuery]:
        """What waits for an answer, oldest first, with who asked it and when."""
        return self.waiting()

    def waiting(self, after: int = -1, limit: int | None = None) -> list[OpenQuery]:
        """Read some of what waits for an answer, oldest first; `open_queries` are all.

        Parameters
        ----------
        after : int, default -1
            Only ids after this one.
        limit : int, optional
            How many at most.

        Returns
        -------
        list of OpenQuery
            With who asked it and when.
        """

        def look(replayed: ReplayedLearner) -> list[OpenQuery]:
            later = ((id, asked) for id, asked in replayed.asked.items() if id > after)
            return [self._open_query(replayed.kept, *each) for each in islice(later, limit)]

        return self._session.read(look)

    def _open_query(self, kept: Kept, id: int, asked: AskRecord) -> OpenQuery:
        values = json.loads(asked.point)
        point = frozen(values, "point", np.ndim(values))
        return OpenQuery(id, point, *asked.client_and_time(), kept.params(point))

    def state(self) -> dict[str, Any]:
        """The state, for `dikin.restore`: a learner or tuner of its own, outside the study."""
        return self._session.read(lambda replayed: replayed.kept.state())

    def facts(self) -> Iterator[tuple[str, str]]:
        """What there is to say, as names and texts, for a terminal or a page.

        Yields
        ------
        tuple of str
            A name, and what is said of it.
        """
        yield from self._session.read(lambda replayed: list(replayed.kept.facts()))
        waiting = self.open_queries
        if waiting:
            age = (datetime.now(UTC) - min(query.asked for query in waiting)).total_seconds()
            yield "open queries", f"{len(waiting)}, the oldest for {age:,.0f} s (dikin study open)"
        else:
            yield "open queries", "none"

    def _repr_html_(self) -> str:
        return pairs_table([("study", self.name), *self.facts()])

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
            round) and certificate: `study.history()["loss"]`. For a tuner the columns are round, a
            value for each name, value, expected, held (nothing was learnt of the round), the best
            guess after the round (`best.` before each name) and certificate.

        Raises
        ------
        StateError
            If the journal was altered or damaged.
        """
        first, last = first_and_last(first, last)

        def look(replayed: ReplayedLearner, kept: Journal) -> Table:
            row, seal = kept.row_before_round(first)
            return in_parts(replayed.kept.table, told_between(kept.events(row, seal), first, last))

        return self._read_apart(look)

    def records(self, first: int = 1, last: int | None = None) -> list[dict[str, Any]]:
        """Read some rounds as plain values, as they stand in the journal.

        Parameters
        ----------
        first : int, default 1
            The first round.
        last : int, optional
            The last round; the newest by default.

        Returns
        -------
        list of dict
            For each round: round, query (the id that was answered), client (who told it), time (in
            seconds since 1970), point, loss or value, curvature, center and certificate (None for
            NaN); of a tuner expected and held too. For many rounds `history` takes less memory.

        Raises
        ------
        StateError
            If the journal was altered or damaged.
        """
        first, last = first_and_last(first, last)
        self.flush()

        def look(_: ReplayedLearner) -> list[dict[str, Any]]:
            row, seal = self._journal.row_before_round(first)
            return records_between(self._journal.events(row, seal), first, last)

        return self._session.read(look)

    def _read_apart(self, look: Callable[[ReplayedLearner, Journal], T]) -> T:
        """A long look, over a connection of its own: calls of other threads do not wait for it."""
        self.flush()
        self._session.read(lambda _: None)  # refuses a study that was closed or deleted
        database = self._journal.database.another()
        kept = Journal(database, self.name)
        session = Session(database, kept, 0.0)
        try:
            session.retry(lambda _: kept.find(), None)
            return session.read(lambda replayed: look(replayed, kept))
        finally:
            session.close()

    def to_frame(self, first: int = 1, last: int | None = None) -> Any:
        """Read the rounds as a pandas DataFrame; a column for each entry of a point.

        Parameters
        ----------
        first : int, default 1
            The first round.
        last : int, optional
            The last round; the newest by default.

        Returns
        -------
        pandas.DataFrame
            What `history` gives, with one row a round.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        return to_frame(self.history(first, last))

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw the history.

        Of a tuner each parameter over the rounds with the range that was explored, the value and
        its recent mean, and how large surprises were; of a learner losses, curvature and
        certificate.

        Parameters
        ----------
        path : str or os.PathLike, optional
            A file to write, ending in .png, .svg or .pdf. None is written without one.

        Returns
        -------
        matplotlib.figure.Figure
            The drawing.

        Raises
        ------
        StateError
            If no round was told yet.
        """
        if path is not None:
            figure_format(path)  # refused before the history is read
        rounds, title = self.history(), f"study {self.name}"
        if not len(rounds):
            raise StateError(f"study {self.name!r} has no history to draw yet")
        if self.space is None:
            figure = draw_learner(rounds, title)
        else:
            maximize = self.summary().maximize
            panels = panels_of(self.space)
            figure = draw_history(rounds, panels, maximize=maximize, title=title)
        if path is not None:
            save_figure(figure, path)
        return figure

    def verify(self, *, jobs: int = 1, progress: bool = False) -> int:
        """Replay the whole journal and compare with what a client holds; the number of rows.

        Parameters
        ----------
        jobs : int, default 1
            Processes among which a long journal is divided. More than one needs a script that may
            be imported (`if __name__ == "__main__":`), as all that starts processes in Python.
        progress : bool, default False
            Whether a progress bar may appear, on a terminal, after two seconds.

        Returns
        -------
        int
            How many rows were replayed.

        Raises
        ------
        StateError
            If the journal was altered or damaged, or its replay is another learner.
        """
        jobs = whole(jobs, "jobs", 1, "how many processes")
        self.flush()
        ours = self._session.read(lambda replayed: replayed.snapshot())
        database = self._journal.database.another()
        kept = Journal(database, self.name)
        with closing(Session(database, kept, 0.0)) as session:
            return session.retry(lambda _: self._verify(kept, ours, jobs, progress), None)

    def _verify(self, kept: Journal, ours: Snapshot, jobs: int, progress: bool) -> int:
        kept.find()
        parts = verification.pieces(kept, ours)
        rows = sum(part.rows for part in parts)
        jobs = min(jobs, 1 + rows // verification.WORTH_A_PROCESS, max(1, len(parts)))
        try:
            with Progress(rows, progress) as bar:
                if jobs > 1:
                    verification.check_in_processes(kept, parts, jobs, bar.move)
                else:
                    for part in parts:
                        verification.check(kept, part, bar.move)
        except StateError:
            if parts and kept.first_snapshot().number > parts[0].begin.number:
                raise verification.trimmed_meanwhile(kept) from None
            raise
        return rows

    def trim(self, before: int, *, progress: bool = False) -> int:
        """Remove the history of early rounds.

        The learner, its open queries and everything that it will play stay as they are.

        Parameters
        ----------
        before : int
            The first round whose history is kept.
        progress : bool, default False
            Whether a progress bar may appear, on a terminal, after two seconds.

        Returns
        -------
        int
            How many rows of the journal were removed.

        Raises
        ------
        StateError
            If another client trimmed the study at the same time.
        """
        before = whole(before, "before", 1, "the first round whose history is kept")

        def look(_: ReplayedLearner) -> tuple[Snapshot, int]:
            return self._journal.first_snapshot(), self._journal.last_row_before_round(before)

        base, last = self._session.read(look)
        first = base.number
        with Progress(max(0, last - first), progress) as bar:
            while base.number < last:
                further = self._read_apart(partial(_replayed_on, base, last))
                self._trim_to(base, further)
                bar.move(further.number - base.number)
                base = further
        return base.number - first

    def _trim_to(self, base: Snapshot, further: Snapshot) -> None:
        """Remove the rows between two snapshots; few, so that others wait for a moment only."""
        with self._session.transaction():
            if self._journal.first_snapshot() != base:
                raise StateError(f"study {self.name!r} was trimmed by another client meanwhile")
            self._journal.trim(further)


# What help() and editors show; `__new__`, which only looks at the address, would hide it.
_shown = inspect.signature(Study.__init__)
Study.__signature__ = _shown.replace(parameters=list(_shown.parameters.values())[1:])  # type: ignore[attr-defined]


def _replayed_on(base: Snapshot, last: int, _: ReplayedLearner, kept: Journal) -> Snapshot:
    """The snapshot of the learner some rows after another one."""
    replayed = ReplayedLearner.of(base)
    rows = min(last - base.number, TRIM_AT_ONCE)
    replayed.replay(islice(kept.events(base.number, base.seal), rows))
    return replayed.snapshot()


def _is_service(url: Any) -> bool:
    """Whether an address is that of a service, and not of a database."""
    return isinstance(url, str) and url.lower().startswith(("http://", "https://"))


def _class_for(url: Any, cls: type[Study[Q]]) -> type[Study[Q]]:
    """The class of a study at an address."""
    if cls is not Study or not _is_service(url):
        return cls
    # By its name, as it is a subclass: its module imports this one.
    remote: type[Study[Q]] = import_module("dikin.studies.remote_study").RemoteStudy
    return remote


def _refuse_token(token: str | None) -> None:
    if token is not None:
        raise ParameterError(
            "a token is for a service, https://host, and this is a database: leave it out"
        )


def _now() -> int:
    return time.time_ns() // 1000


def _unknown_study(database: Database, name: str) -> UnknownStudyError:
    if isinstance(database, Sqlite) and not database.path.exists():
        if re.fullmatch(r"[\w.-]+:\d+", database.path.name):
            return UnknownStudyError(
                f"there is no file {database.path}; for a service, did you mean "
                f"http://{database.path.name}?"
            )
        return UnknownStudyError(
            f"there is no file {database.path}, so no study {name!r}. To create one, give a "
            "learner or tuner: Study(url, name, learner), or dikin study create"
        )
    known = journal.names(database)
    others = did_you_mean(name, known) if known else " It has none at all."
    return UnknownStudyError(
        f"{database.name} has no study {name!r}.{others} To create one, give a learner "
        "or tuner: Study(url, name, learner), or dikin study create"
    )
