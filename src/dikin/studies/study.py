"""A tuner in a database: durable, shared, and the same after any crash."""

from __future__ import annotations

import inspect
import json
import os
import secrets
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar, overload

from dikin.arguments import whole
from dikin.errors import (
    AnsweredError,
    ParameterError,
    QueryError,
    StateError,
    StudyExistsError,
    UnknownStudyError,
    did_you_mean,
    few_of,
    shown,
)
from dikin.open_queries import Query
from dikin.players import Player
from dikin.plotting.notebook import pairs_table
from dikin.plotting.style import figure_format
from dikin.serialization import finite_or_none
from dikin.status import Status
from dikin.studies import care
from dikin.studies.arguments import (
    ANSWER,
    answer_of,
    as_read,
    first_and_last,
    own_name,
    printable,
    query_or_id,
    seconds,
)
from dikin.studies.database import PATIENCE, Database, Row, open_database
from dikin.studies.fold import Fold, study_status, text_of
from dikin.studies.history import Spaces, records, table_of
from dikin.studies.ledger import SLACK, Ledger, now
from dikin.studies.log import Log, Snapshot, create_tables, has_tables, names
from dikin.tuning.history import figure_of, to_frame
from dikin.tuning.parameters.base import ParameterKind
from dikin.tuning.recommendation import Recommendation
from dikin.tuning.space import Params, Space
from dikin.tuning.trial import Trial, trial_of
from dikin.tuning.tuner import NO_HOLDBACK, Tuner
from dikin.vectors import Array, Table
from dikin.worth.uplift import Uplift

if TYPE_CHECKING:
    from matplotlib.figure import Figure

T = TypeVar("T")
Url = str | os.PathLike[str]
Known = Mapping[str, Any] | None

MOST_OPEN = 10_000
"""The number of open trials with which another one may be asked. Each is part of a client's memory
and of the state that it reads when it opens the study."""
CLOSED_AT_ONCE = 500
"""Trials that are closed in one transaction."""
LATEST = datetime(9999, 12, 31, tzinfo=UTC).timestamp()
"""The end of Python's calendar."""


@dataclass(frozen=True, slots=True, eq=False)
class OpenQuery(Query):
    """An open trial of a study, with who asked it and when."""

    params: Params
    """The setting by name."""
    client: str
    asked: datetime

    @property
    def setting(self) -> Params:
        return self.params


class Study:
    """A tuner in a database, under a name.

    `ask` and `tell` are durable when they return. Any number of processes and threads may have the
    same study open, of any version of the library, on any machine. Trials and answers are kept as
    rows, and the tuner is made from the rows.

    In every method `context` has a value for each name of the tuner's `context`, `url`, `name` and
    `token` are those of the constructor, `first` and `last` are the first and the last round to
    read, all by default, and `progress` is True if a progress bar may appear, on a terminal, after
    two seconds.

    Parameters
    ----------
    url : str or os.PathLike
        The database: an SQLite file, or `postgresql://user@host/database`. Or a service that has
        one: `https://host`.
    name : str
        The name of the study there.
    tuner : Tuner, optional
        Without it the study must exist. With it the study is created, or opened if it exists with a
        tuner of the same parameters, constraints, direction and arguments. Its random streams
        depend on the name of the study: two studies draw differently, whatever the seed.
    client : str, optional
        The name of this client in its rows. By default host and process.
    patience : float, optional
        Seconds to wait for another client or for the server before an error: 0.8 by default, and 30
        for a service, which may restart meanwhile.
    token : str, optional
        The token of this client at a service (`dikin serve`) such as `https://studies.example.com`;
        the environment variable `DIKIN_TOKEN` by default. Not for a database.

    Attributes
    ----------
    name : str
        The name of the study.
    created : bool
        True if opening it created the study.

    Raises
    ------
    UnknownStudyError
        If there is no such study, and no tuner to create it with.
    StudyExistsError
        If it exists with another tuner.
    ParameterError
        If an argument is invalid: a study holds a tuner, not a learner.
    StoreError
        If the database cannot be reached.

    Examples
    --------
    >>> import dikin, tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name) / "studies.db"
    >>> tuner = dikin.Tuner({"price": dikin.Real(1, 14, start=4)}, maximize=True, seed=7)
    >>> with dikin.Study(file, "shop", tuner) as shop:
    ...     trial = shop.ask()
    ...     shop.tell(trial, 512.0)
    ...     shop.tell(trial, 512.0)  # a repetition is accepted, and counted once
    ...     print(list(trial.params), shop.rounds, len(shop.history()))
    ['price'] 1 1
    >>> folder.cleanup()
    """

    name: str
    created: bool
    _place: str
    _ledger: Ledger

    def __new__(
        cls,
        url: Url,
        name: str,
        tuner: Tuner | None = None,
        *,
        client: str | None = None,
        patience: float | None = None,
        token: str | None = None,
    ) -> Study:
        """Return a study in a database, or at a service."""
        service = _service(url)
        study: Study = object.__new__(cls if service is None else service.RemoteStudy)
        if tuner is not None and not isinstance(tuner, Tuner):
            hint = " A learner saves itself to a file: save." if isinstance(tuner, Player) else ""
            raise ParameterError(f"a study holds a dikin.Tuner, got {shown(tuner)}.{hint}")
        study.name = printable(name, "name")
        client = printable(client or own_name(), "client")
        wait = None if patience is None else seconds(patience, "patience", 0.01, 600.0)
        study._open(url, tuner, client, wait, token)
        return study

    def _open(
        self,
        url: Url,
        tuner: Tuner | None,
        client: str,
        patience: float | None,
        token: str | None,
    ) -> None:
        database = _database(url, token, patience or PATIENCE)
        self._ledger, self.created = Ledger(database, self.name, client), False
        self._place = f"in {database.name}"
        try:
            self._ledger.call(partial(self._find, tuner))
        except BaseException:
            database.close()
            raise

    def _find(self, tuner: Tuner | None) -> None:
        log = self._ledger.log
        if not log.find():
            if tuner is None:
                raise _unknown_study(log.database, self.name)
            self._create(tuner)
        stored = self._ledger.current().tuner
        if tuner is not None:
            ours, theirs = stored.identity(), tuner.identity()
            for part, value in ours.items():
                if value != theirs.get(part):
                    raise StudyExistsError(
                        f"study {self.name!r} in {log.database.name} exists with {part} "
                        f"{value}, not {theirs.get(part)}; open it without a tuner "
                        "(set_parameters changes its ranges), or choose another name"
                    )

    def _create(self, tuner: Tuner) -> None:
        ids = [trial.id for trial in tuner.open_queries]
        if ids:
            raise ParameterError(
                f"{tuner!r} has open trials {few_of(ids)}: answer or forget them before it becomes "
                "a study"
            )
        content = text_of(tuner.state_in_study(self.name), rounds=tuner.rounds)
        Fold.read(Snapshot(-1, "", content))  # refuse now what could not be read back later
        database, log = self._ledger.database, self._ledger.log
        with database.transaction():
            if not has_tables(database):
                create_tables(database)
            self.created = log.create(content)
        log.find()

    @property
    def space(self) -> Space:
        """The parameters of the tuner, as they were when rows were last read."""
        return self._ledger.space

    @property
    def client(self) -> str:
        """The name of this client. A proxy may set it per request."""
        return self._ledger.client

    @client.setter
    def client(self, client: str) -> None:
        self._ledger.client = printable(client, "client")

    @classmethod
    def names(cls, url: Url, *, token: str | None = None) -> list[str]:
        """List the studies in a database, or those that a service lets this client see."""
        if service := _service(url):
            return list(service.names_at(str(url), token))
        with closing(_database(url, token)) as database:
            return names(database)

    @classmethod
    def delete(cls, url: Url, name: str, *, token: str | None = None) -> None:
        """Remove a study with its whole history. Clients that have it open get an error."""
        name = printable(name, "name")
        if service := _service(url):
            service.delete_at(str(url), name, token)
            return
        with _log(_database(url, token), name) as log, log.database.transaction():
            log.delete()  # the study is not opened before: it may be damaged

    @classmethod
    def rewind(cls, url: Url, name: str) -> int:
        """Remove the rows of a damaged study from the first one on that is not intact.

        Return the number of these rows. The study can be written again, and no trial gets an id
        that was given before.
        """
        with _log(_database(url), printable(name, "name")) as log:
            return log.rewind()

    @classmethod
    def rows(
        cls, url: Url, name: str, first: int = 1, last: int | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield `records` without the tuner: of a study that this version cannot continue, too.

        Points are in the parameters that their round had. Damaged rows raise `StateError`, after
        all rounds before them.
        """
        first, last = first_and_last(first, last)
        with _log(_database(url), printable(name, "name")) as log:
            n, seal, state = log.beginning()
            before = json.loads(state)["rounds"]
            yield from records(log.rows(n, seal), Spaces(None, ()), before, first, last)

    def close(self) -> None:
        """Close the connection. The study remains stored."""
        self._ledger.close()

    def __repr__(self) -> str:
        return f"<Study {self.name!r} {self._place}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{self!r} is a connection, which cannot be copied or pickled: open the study again "
            "where it is needed, Study(url, name)"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- rounds --------------------------------------------------------------------------------

    @overload
    def ask(
        self, context: Known = None, *, covariates: Known = None, key: str | None = None
    ) -> Trial: ...

    @overload
    def ask(
        self, context: Known = None, *, n: int, covariates: Known = None, key: str | None = None
    ) -> list[Trial]: ...

    def ask(
        self,
        context: Known = None,
        *,
        n: int | None = None,
        covariates: Known = None,
        key: str | None = None,
    ) -> Trial | list[Trial]:
        """Ask for the next trial, as `Tuner.ask`. It is in the database when this returns.

        Parameters
        ----------
        context, n, covariates
            As for `Tuner.ask`.
        key : str, optional
            A key for this request, unique within the study. Asking again with the same key within a
            week, because the answer was lost, returns the same trial. Another n, context or
            covariates under the same key are refused.

        Returns
        -------
        Trial, or list of Trial
            The setting by name, and the id by which it is answered. A list with `n`.
        """
        context, covariates = as_read(context), as_read(covariates)
        key = None if key is None else printable(key, "key")
        if n is not None:
            n = whole(n, "n", 1, "how many to ask for")
        trials = self._ask(context, covariates, n, key)
        return trials[0] if n is None else trials

    def _ask(self, context: Any, covariates: Any, n: int | None, key: str | None) -> list[Trial]:
        ledger, asked_for, repeated = (
            self._ledger,
            [context, covariates or None, n],
            key is not None,
        )
        if key is None and ledger.database.path is None:  # whether it was written may be unknown
            key = secrets.token_hex(8)

        def act() -> list[Trial] | None:
            nonlocal repeated
            before = ledger.log.row(key=key) if repeated else None
            repeated = True
            return self._asked(asked_for, key) if before is None else self._again(before, asked_for)

        return ledger.write(act, ledger.others > SLACK)

    def _asked(self, asked_for: list[Any], key: str | None) -> list[Trial] | None:
        ledger = self._ledger
        fold = ledger.fold if ledger.exact else ledger.current()
        exact, count = ledger.exact, asked_for[2] or 1
        if len(fold.asked) + count > MOST_OPEN:
            self._refuse_more(fold)
        tuner, at, bodies = fold.tuner, now(), []
        values = tuner.contexts.checked(asked_for[0])
        known = tuner.covariates.checked(asked_for[1])
        for id in range(fold.n + 1, fold.n + 1 + count):
            # Several clients would draw with the same number: then it is one of its own.
            draw = None if exact else secrets.randbits(63)
            _, body = tuner.draft(values, known, id, draw)
            bodies.append(body if exact else body | {"draw": draw, "after": fold.n})
        if key is not None:
            bodies[0]["for"] = asked_for
        rows = [Row("ask", json.dumps(body), None, None, ledger.client, at) for body in bodies]
        rows[0] = rows[0]._replace(key=key)
        first = ledger.append(rows, slack=0 if exact else SLACK)
        if first is None:
            return None
        return [trial_of(tuner.space, id, body) for id, body in enumerate(bodies, first)]

    def _again(self, row: Row, asked_for: list[Any]) -> list[Trial]:
        if json.loads(row.body).get("for") != asked_for:
            self._refuse_key(row)
        last = row.n + (asked_for[2] or 1) - 1
        rows = self._ledger.log.some("n BETWEEN ? AND ?", row.n, last)
        facts = ((each.n, json.loads(each.body)) for each in rows)
        return [trial_of(self.space, fact.get("id", n), fact) for n, fact in facts]

    def _refuse_key(self, row: Row) -> NoReturn:
        raise ParameterError(
            f"the key {row.key!r} was used by another request: with another n, or with another "
            "context or covariates; a key is for one request"
        )

    def _refuse_more(self, fold: Fold) -> NoReturn:
        who, at, _ = next(iter(fold.asked.values()))
        raise QueryError(
            f"{len(fold.asked):,} trials of this study wait for their answers, the oldest since "
            f"{clock(at):%Y-%m-%d %H:%M} UTC (asked by {who}), and there may be {MOST_OPEN:,}: "
            "tell them, or close those whose answers will never come, "
            "study.forget(older_than=SECONDS) or dikin study forget NAME --older-than SECONDS. "
            "Nothing was changed"
        )

    def tell(
        self,
        trial: Query | int,
        value: Any = None,
        *,
        metrics: Known = None,
        covariates: Known = None,
        failed: bool = False,
    ) -> None:
        """Answer a trial of any client, as `Tuner.tell`. It is durable when this returns.

        The same answer again is accepted and changes nothing. A different answer raises
        `AnsweredError`. So if you do not know whether a tell succeeded, tell again.

        Parameters
        ----------
        trial : Trial, OpenQuery or int
            The trial, or its id.
        value, metrics, covariates, failed
            As for `Tuner.tell`.
        """
        self._close(query_or_id(trial), answer_of(value, metrics, covariates, failed))

    def _close(self, trial: Query | int, answer: dict[str, Any] | None) -> None:
        """Append the row that answers or forgets a trial, unless there is one already."""
        ledger, id = self._ledger, trial if isinstance(trial, int) else trial.id
        kind = "forget" if answer is None else "tell"

        def act() -> int | None:
            fold = ledger.fold
            if id not in fold.asked:
                fold = ledger.current()
            if id not in fold.asked and 0 <= id < 2**63:  # the integers of a database
                row = ledger.log.row(ask=id)
                if row is not None and row.kind == kind:
                    if answer is not None:
                        _refuse_another(row, trial, answer)
                    return row.n
            asked = fold.tuner.open_trial(trial)
            body = {} if answer is None else _told(fold, asked, answer)
            return ledger.append([Row(kind, json.dumps(body), id, None, ledger.client, now())])

        ledger.write(act)

    def forget(self, trial: Query | int | None = None, *, older_than: float | None = None) -> int:
        """Close a trial that will never be answered. Repeating this is allowed.

        A study has at most 10,000 open trials. Where answers may be lost, let a program forget
        those that are too old from time to time.

        Parameters
        ----------
        trial : Trial, OpenQuery or int
            The trial, or its id.
        older_than : float, optional
            In place of a trial: all that were asked more than so many seconds ago, by this
            machine's clock.

        Returns
        -------
        int
            Number of trials that are closed now: with `older_than` those that were open.
        """
        if older_than is None:
            self._close(query_or_id(trial), None)
            return 1
        if trial is not None:
            raise ParameterError(
                "forget one trial, forget(trial), or all that were asked long ago, "
                f"forget(older_than=3600): got both {shown(trial)} and {shown(older_than)}"
            )
        return self._forget_older(seconds(older_than, "older_than", 0.0, 1e9))

    def _forget_older(self, age: float) -> int:
        ledger, before, forgotten = self._ledger, now() - 1e6 * age, 0

        def act() -> int | None:
            older = (id for id, asked in ledger.current().asked.items() if asked.at < before)
            ids = list(islice(older, CLOSED_AT_ONCE))
            rows = [Row("forget", "{}", id, None, ledger.client, now()) for id in ids]
            return len(ids) if not ids or ledger.append(rows) is not None else None

        while closed := ledger.write(act, alone=True):
            forgotten += closed
        return forgotten

    def add_trial(
        self,
        params: Mapping[str, Any],
        value: Any = None,
        *,
        metrics: Known = None,
        context: Known = None,
        covariates: Known = None,
        failed: bool = False,
        key: str | None = None,
    ) -> None:
        """Learn from a trial that the study did not ask for.

        Parameters
        ----------
        params, value, metrics, context, covariates, failed
            As for `Tuner.add_trial`.
        key : str, optional
            A key for this trial, unique within the study. Added again with the same key, because
            the answer was lost, it counts once.
        """
        answer = answer_of(value, metrics, covariates, failed)
        body: dict[str, Any] = {"params": params, "context": as_read(context)}
        body |= {name: answer.get(name) for name in ANSWER} | {"failed": failed}

        def check(fold: Fold) -> Any:
            fold.tuner.checked_trial(body)
            return body

        self._control("add", check, key=key and f"add {printable(key, 'key')}")

    def set_parameters(
        self, parameters: Mapping[str, ParameterKind], constraints: str | Sequence[str] = ()
    ) -> None:
        spec = Space(parameters, constraints).spec()

        def check(fold: Fold) -> Any:
            trial = Tuner.restore(fold.tuner.state(rounds=0))
            trial.set_parameters(parameters, constraints)
            return spec

        self._control("parameters", check)

    def pause(self) -> None:
        self._control("pause", lambda fold: None if fold.tuner.paused else {})

    def resume(self) -> None:
        self._control("resume", lambda fold: {} if fold.tuner.paused else None)

    def _control(
        self, kind: str, body_of: Callable[[Fold], Any], *, jump: int = 0, key: str | None = None
    ) -> None:
        """Append a row of another kind, made of the state, or no row for None."""
        ledger = self._ledger

        def act() -> int | None:
            before = ledger.log.row(key=key)
            if before is not None:
                return before.n if before.kind == kind else self._refuse_key(before)
            body = body_of(ledger.fold)
            if body is None:
                return 0
            row = Row(kind, json.dumps(body), None, key, ledger.client, now())
            return ledger.append([row], jump=jump)

        ledger.write(act, alone=True)

    def _flush(self) -> None:
        self._ledger.flush()

    # --- looking -------------------------------------------------------------------------------

    def _read(self, look: Callable[[Fold], T]) -> T:
        ledger = self._ledger
        return ledger.call(lambda: look(ledger.current()))

    def _look(self, part: str, look: Callable[[Fold], T], **given: Any) -> T:
        """Read a part of the status, or the answer of an operation with arguments."""
        return self._read(look)

    def status(self) -> Status:
        """Return the status: `summary`, with the age of open trials and more warnings."""
        return self._read(lambda fold: study_status(fold, self.name))

    def _status_at(self, head: tuple[int, int, int] | None) -> Status:
        """Return the status. The database is not asked if id, last row and epoch are these."""
        return self._ledger.call(lambda: study_status(self._ledger.current(head), self.name))

    @property
    def rounds(self) -> int:
        """Rounds answered so far, by all clients."""
        return self._look("rounds", lambda fold: fold.rounds)

    @property
    def first_round(self) -> int:
        """The first round of the history, or the next round if the history is empty."""
        return self._look("first_round", lambda fold: int(fold.marks[0][0]) + 1)

    @property
    def center(self) -> Array:
        return self._look("center", lambda fold: fold.tuner.center)

    @property
    def certificate(self) -> float:
        return self._look("certificate", lambda fold: fold.tuner.certificate)

    def certificate_for(
        self, *, smoothness: float | None = None, lipschitz: float | None = None
    ) -> float:
        given = {"smoothness": smoothness, "lipschitz": lipschitz}
        return self._look("certificate", lambda f: f.tuner.certificate_for(**given), **given)

    @property
    def best(self) -> Params:
        return self._look("best", lambda fold: fold.tuner.best)

    def best_for(self, context: Known = None) -> Params:
        return self._look("best", lambda fold: fold.tuner.best_for(context), context=context)

    def recommend(self, context: Known = None) -> Recommendation:
        return self._look("recommend", lambda fold: fold.tuner.recommend(context), context=context)

    @property
    def paused(self) -> bool:
        """True while the tuner is paused, by `pause` or by its guard."""
        return self._look("paused", lambda fold: fold.tuner.paused)

    @property
    def uplift(self) -> Uplift:
        uplift = self.summary().uplift
        if uplift is None:
            raise StateError(NO_HOLDBACK)
        return uplift

    def summary(self) -> Status:
        return self._look("status", lambda fold: fold.tuner.summary())

    @property
    def open_queries(self) -> list[OpenQuery]:
        """The open trials, oldest first, with who asked each and when."""
        return self._waiting()

    def _waiting(self, after: int = -1, limit: int | None = None) -> list[OpenQuery]:
        """Return the open trials with ids after this one, at most `limit`."""
        after = whole(after, "after", -1, "ids are counted from 0")
        limit = None if limit is None else whole(limit, "limit", 0, "how many at most")

        def look(fold: Fold) -> list[OpenQuery]:
            later = ((id, asked) for id, asked in fold.asked.items() if id > after)
            tuner, found = fold.tuner, list[OpenQuery]()
            for id, asked in islice(later, limit):
                point = tuner.open_trial(id).point
                who = asked.who, clock(asked.at)
                found.append(OpenQuery(id, point, tuner.space.params(point), *who))
            return found

        return self._read(look)

    def state(self) -> dict[str, Any]:
        """The state, for `dikin.restore`: a copy of the tuner outside the study."""
        return self._read(lambda fold: fold.state())

    def _repr_html_(self) -> str:
        return pairs_table([("study", self.name), *self.status().lines()])

    def history(self, first: int = 1, last: int | None = None) -> Table:
        """Read rounds as a structured array, and check their seals.

        It has the columns of `Tuner.history`, with the best setting when the trial was asked, and
        time and client, when and by whom the value was reported. Damaged rows raise `StateError`.
        """
        first, last = first_and_last(first, last)
        status = self.summary()
        with closing(self._rounds(first, last)) as rounds:
            return table_of(rounds, Space.from_spec(status.space), status)

    def records(self, first: int = 1, last: int | None = None) -> list[dict[str, Any]]:
        """Read rounds as plain values. For many rounds `history` takes less memory.

        Each has round, query (the id that was answered), client (its reporter), time (in seconds
        since 1970), point, value (None for a failure), expected (None if nothing was known), paused
        and center (the best setting when it was asked), with a holdback held_back and
        expected_control (None where no coin decided the round), and failed, metrics and covariates
        where they were reported, context and covariates of the ask under `asked`.
        """
        with closing(self._rounds(*first_and_last(first, last))) as rounds:
            return list(rounds)

    def _rounds(self, first: int, last: int | None) -> Generator[dict[str, Any]]:
        with self._apart() as (fold, log):
            spaces, upto = Spaces(fold.tuner.space, fold.spaces), fold.n
            earlier = (mark for mark in reversed(fold.marks) if mark[0] < first)
            round, n, seal = next(earlier, fold.marks[0])
            yield from records(log.rows(n, seal, upto), spaces, round, first, last)

    @contextmanager
    def _apart(self) -> Iterator[tuple[Fold, Log]]:
        """Give state and rows over another connection: calls of other threads do not wait."""
        self._flush()
        fold = self._read(lambda fold: fold)
        with _log(self._ledger.database.another(), self.name) as log:
            yield fold, log

    def to_frame(self, first: int = 1, last: int | None = None) -> Any:
        """Read `history` as a pandas DataFrame, one row a round."""
        return to_frame(self.history(first, last))

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        if path is not None:
            figure_format(path)  # checked before the history is read
        rounds = self.history()
        if not len(rounds):
            raise StateError(f"study {self.name!r} has no history to draw yet")
        return figure_of(rounds, self.summary(), self.space, path, f"study {self.name}")

    # --- care ----------------------------------------------------------------------------------

    def verify(self, *, progress: bool = False) -> care.Verification:
        """Check all seals, and compute the tuner anew from its rows.

        Damaged rows raise `StateError`. A setting counts as different where the one that this
        machine computes in its place is farther away than rounding, in shares of the range.
        """
        ledger = self._ledger
        with self._apart() as (fold, log):
            if ledger.damage is not None:
                raise ledger.damage
            return care.verify(log, fold.n, progress)

    def skip_ids(self, count: int = 1_000_000) -> int:
        """Leave out ids of trials, once, after the study was restored from a backup.

        Clients may still have trials that were asked after the backup was taken. Without this,
        their ids would be given again, and an answer by id would count for another trial.

        Parameters
        ----------
        count : int, default 1_000_000
            Number of ids to leave out: more than were asked since the backup.

        Returns
        -------
        int
            The id of the next trial.
        """
        jump = whole(count, "count", 1, "how many ids to leave out")
        self._control("skip", lambda fold: {"count": jump}, jump=jump)
        return self._read(lambda fold: fold.n + 1)

    def trim(self, before: int, *, progress: bool = False) -> int:
        """Remove the history of early rounds from a database. The tuner does not change.

        Parameters
        ----------
        before : int
            The first round whose history is kept.
        progress : bool, default False
            True if a progress bar may appear.

        Returns
        -------
        int
            Number of rows that were removed.
        """
        before = whole(before, "before", 1, "the first round whose history is kept")
        with self._apart() as (_, log):
            return care.trim(log, before, progress)


for _same in (
    *("best", "best_for", "recommend", "center", "certificate", "certificate_for", "uplift"),
    *("summary", "plot", "pause", "resume", "set_parameters"),
):
    getattr(Study, _same).__doc__ = inspect.getdoc(getattr(Tuner, _same))


def _told(fold: Fold, asked: Trial, answer: dict[str, Any]) -> dict[str, Any]:
    """Return the row of an answer: all that is known of its round."""
    row = fold.tuner.checked_answer(asked, answer)
    body = answer | {
        "point": list(map(float, row.point)),
        "expected": finite_or_none(row.expected),
        "paused": row.paused,
        "center": fold.asked[asked.id].center,
    }
    if fold.tuner.control is not None:
        body |= {"held_back": row.held_back}
        body |= {"expected_control": finite_or_none(row.expected_control)}
    known = {"context": row.context} if row.context else {}
    return body | {"asked": known | ({"covariates": asked.covariates} if asked.covariates else {})}


def _refuse_another(row: Row, trial: Query | int, answer: dict[str, Any]) -> None:
    body = json.loads(row.body)
    if isinstance(trial, Query) and trial.point.tolist() != body["point"]:
        raise QueryError(
            f"trial {row.ask} of this study asked about {body['point']}, got one about "
            f"{trial.point}: it belongs to another study. Nothing was changed."
        )
    told = {part: body[part] for part in ANSWER if part in body}
    # As text: as values 1.0 and true would be equal, and JSON has no NaN.
    as_text = json.dumps(answer, sort_keys=True, default=str)
    if json.dumps(told, sort_keys=True) != as_text:
        raise AnsweredError(
            f"trial {row.ask} was already answered with {json.dumps(told)}, got "
            f"{as_text}. Nothing was changed."
        )


def clock(microseconds: int) -> datetime:
    """Return a time, clipped to Python's calendar in case its client's clock was wrong."""
    return datetime.fromtimestamp(min(max(microseconds / 1e6, 0.0), LATEST), UTC)


def _service(url: Any) -> Any:
    """Return the module of studies at a service if this is the address of one."""
    if not (isinstance(url, str) and url.lower().startswith(("http://", "https://"))):
        return None
    from dikin.studies import remote  # only where there is a service

    return remote


def _database(url: Url, token: str | None = None, patience: float = PATIENCE) -> Database:
    if token is not None:
        raise ParameterError(
            "a token is for a service such as https://host, and this is a database: leave it out"
        )
    return open_database(url, patience)


@contextmanager
def _log(database: Database, name: str) -> Iterator[Log]:
    """Give the rows of a study that must exist, over a connection that is closed at the end."""
    with closing(database):
        log = Log(database, name)
        if not log.find():
            raise _unknown_study(database, name)
        yield log


def _unknown_study(database: Database, name: str) -> UnknownStudyError:
    path, create = database.path, "To create one, give a tuner: Study(url, name, tuner)"
    create += ", or dikin study create"
    if path is not None and not path.exists():
        return UnknownStudyError(f"there is no file {path}, so no study {name!r}. {create}")
    known = names(database)
    others = did_you_mean(name, known) if known else " It has none at all."
    return UnknownStudyError(f"{database.name} has no study {name!r}.{others} {create}")
