"""A study in a database: a journal, and a session that takes turns at it."""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from dikin.arguments import frozen
from dikin.engine.progress import Progress
from dikin.errors import (
    ClosedQueryError,
    ParameterError,
    StateError,
    StudyExistsError,
    UnknownStudyError,
    did_you_mean,
    few_of,
)
from dikin.open_queries import Query
from dikin.status import Status
from dikin.studies import verification
from dikin.studies.backend import OpenQuery, Standing
from dikin.studies.client_arguments import seconds
from dikin.studies.database import Database, Sqlite, open_database
from dikin.studies.history import answers_between, in_parts, records_between
from dikin.studies.journal import SCHEMA_LOCK, Event, Journal, Snapshot, create_tables
from dikin.studies.journal import names as study_names
from dikin.studies.replica import AskRecord, Replica, snapshot_text
from dikin.studies.rows import Answer, AskArguments, point_in, query_id
from dikin.studies.session import Session
from dikin.studies.study_status import study_status
from dikin.tuning.recommendation import Recommendation
from dikin.tuning.space import Params
from dikin.tuning.trial import Trial
from dikin.tuning.tuner import Tuner
from dikin.vectors import Table

T = TypeVar("T")

TRIM_AT_ONCE = 10_000
"""Rows removed in one transaction while others wait: some hundredths of a second."""
ASK_AT_ONCE = FORGET_AT_ONCE = 500
"""Queries asked or closed in one transaction: about a tenth of a second."""
PATIENCE = 0.8
"""The default patience in seconds: a call ends within one second, including its own work."""


UNIT = "\x1f"
"""A character that no key of a user's has: after a key that several trials were asked under."""


class LocalBackend:
    """A study in a database; its methods do what `Study` documents for those of the same name."""

    def __init__(
        self,
        url: str | os.PathLike[str],
        name: str,
        tuner: Tuner | None,
        client: str,
        patience: float | None,
        token: str | None,
    ) -> None:
        _refuse_token(token)
        self.client, self._name, self.created = client, name, False
        # Makes every row differ from any that another client writes.
        self._nonce = secrets.token_hex(4)
        patience = PATIENCE if patience is None else seconds(patience, "patience", 0.01, 600.0)
        database = open_database(url, patience)
        self.place = f"in {database.name}"
        self.journal = Journal(database, name)
        self.session = Session(database, self.journal)
        self._has_keys = False
        try:
            stored = self.session.retry(self._open, tuner)
        except BaseException:
            self.session.close()
            raise
        self.space, self.contexts = stored.space, tuple(stored.contexts.kinds)

    @property
    def _signature(self) -> str:
        """The name of this client in rows."""
        return f"{self.client}#{self._nonce}"

    # --- opening -------------------------------------------------------------------------------

    def _open(self, tuner: Tuner | None) -> Tuner:
        if not self.journal.find():
            if tuner is None:
                raise _unknown_study(self.journal.database, self._name)
            self._create(tuner)
        # Before the read: whatever is committed meanwhile only adds rows.
        marked = self.journal.database.marked(self.journal.study)

        def look(replica: Replica) -> Tuner:
            self.journal.check_mark(marked)
            self.journal.check_recent()
            return replica.tuner

        stored = self.session.read(look)
        if tuner is not None:
            self._refuse_other(tuner, stored)
        return stored

    def _create(self, tuner: Tuner) -> None:
        ids = [trial.id for trial in tuner.open_queries]
        if ids:
            raise ParameterError(
                f"{tuner!r} has open trials {few_of(ids)}: answer or forget them before it becomes "
                "a study"
            )
        state = snapshot_text(tuner.state_in_study(self._name), {})
        Replica.of(Snapshot(0, "", state))  # refuse now what could not be read back later
        database = self.journal.database
        with database.lock:
            database.begin(SCHEMA_LOCK)
            try:
                create_tables(database)
                self.created = self.journal.create(state)
                # A deleted study may have left a mark.
                database.commit((self.journal.study, 0, ""))
            except BaseException:
                database.rollback()
                raise

    def _refuse_other(self, tuner: Tuner, stored: Tuner) -> None:
        ours, theirs = stored.identity(), tuner.identity()
        for part, value in ours.items():
            if value != theirs[part]:
                raise StudyExistsError(
                    f"study {self._name!r} in {self.journal.database.name} exists with the {part} "
                    f"{value}, not {theirs[part]}; open it without a tuner, or choose another name"
                )

    @classmethod
    def names(cls, url: str | os.PathLike[str], token: str | None) -> list[str]:
        _refuse_token(token)
        database = open_database(url, PATIENCE)
        with closing(Session(database, Journal(database, ""))) as session:
            return session.retry(study_names, database)

    @classmethod
    def delete(cls, url: str | os.PathLike[str], name: str, token: str | None) -> None:
        _refuse_token(token)
        database = open_database(url, PATIENCE)
        journal = Journal(database, name)
        with closing(Session(database, journal)) as session:
            if not session.retry(lambda _: journal.find(), None):
                raise _unknown_study(database, name)
            with session.transaction():  # not opened before: it may be damaged
                journal.delete()

    def close(self) -> None:
        self.session.close()

    # --- the game ------------------------------------------------------------------------------

    def ask(self, arguments: AskArguments, key: str | None) -> Trial:
        return self._ask(arguments, None, key)[0]

    def ask_several(self, arguments: AskArguments, n: int, key: str | None) -> list[Trial]:
        if key is not None:
            return self._ask(arguments, n, key)
        trials: list[Trial] = []
        while len(trials) < n:
            trials += self._ask(arguments, min(n - len(trials), ASK_AT_ONCE), None)
        return trials

    def _ask(self, arguments: AskArguments, n: int | None, key: str | None) -> list[Trial]:
        """Ask for `n` trials in one transaction, or return those that were asked under the key."""
        names: tuple[str, ...] = ()
        if key is not None:
            if not self._has_keys:
                with self.session.transaction(SCHEMA_LOCK):
                    self.journal.create_keys()
                self._has_keys = True
            # Noted is the first trial: of several under two names, of which one says how many.
            names = (key,) if n is None else (key + UNIT, f"{key}{UNIT}{n}")

        def act(replica: Replica) -> tuple[Sequence[Event], list[Trial]]:
            if key is not None:
                noted = self.journal.noted_under(tuple({key, key + UNIT, *names}))
                if noted:
                    if names[-1] not in noted:
                        raise ParameterError(
                            f"the key {key!r} was used by another request, with another n; a key "
                            "is for one request"
                        )
                    first = noted[names[-1]]
                    ids = range(first, first + (n or 1))
                    return (), [self._asked_before(replica, id, key, arguments) for id in ids]
            now = _now()
            asked = replica.ask(arguments, n or 1, self._signature, now)
            for name in names:
                self.session.remember(name, asked[0][1].id, now)
            return [event for event, _ in asked], [trial for _, trial in asked]

        return self.session.write(act)

    def _asked_before(self, replica: Replica, id: int, key: str, arguments: AskArguments) -> Trial:
        self.session.insert_pending()
        body = self.journal.ask_body(id)
        if body is None and id not in replica.asked:
            raise ClosedQueryError(
                f"trial {id}, which was asked under the key {key!r}, was answered and trimmed from "
                "the history; use another key"
            )
        if body is not None and AskArguments.read(body).text() != arguments.text():
            raise ParameterError(
                f"the key {key!r} was used by another request, which asked trial {id} with another "
                "context or covariates; a key is for one request"
            )
        point = replica.asked[id].point if body is None else point_in(body)
        return replica.trial_at(id, frozen(json.loads(point), "point", 1))

    def tell(self, query: Query | int, answer: Answer) -> None:
        id = query_id(query)

        def act(replica: Replica) -> tuple[Sequence[Event], None]:
            if id not in replica.asked:
                closed = self._closing_row(query)
                if closed is not None and replica.repeats(query, answer, closed):
                    return (), None
            return (replica.tell(query, answer, self._signature, _now()),), None

        self.session.write(act)

    def forget(self, query: Query | int) -> None:
        def act(replica: Replica) -> tuple[Sequence[Event], None]:
            try:
                return (replica.forget(query, self._signature, _now()),), None
            except ClosedQueryError:
                closed = self._closing_row(query)
                if closed is None or closed[0] != "forget":
                    raise
                return (), None

        self.session.write(act)

    def forget_older(self, seconds: float) -> int:
        before, count = _now() - 1e6 * seconds, 0

        def act(replica: Replica) -> tuple[Sequence[Event], int]:
            older = (id for id, asked in replica.asked.items() if asked.time < before)
            ids = list(islice(older, FORGET_AT_ONCE))
            return [replica.forget(id, self._signature, _now()) for id in ids], len(ids)

        while forgotten := self.session.write(act):
            count += forgotten
        return count

    def pause(self) -> None:
        self._switch(Replica.pause)

    def resume(self) -> None:
        self._switch(Replica.resume)

    def _switch(self, switch: Callable[[Replica, str, int], Sequence[Event]]) -> None:
        self.session.write(lambda replica: (switch(replica, self._signature, _now()), None))

    def _closing_row(self, query: Query | int) -> tuple[str, str] | None:
        """Kind and body of the row that closed a query."""
        if not 0 <= query_id(query) < 2**63:  # the range of a database's integers
            return None
        self.session.insert_pending()
        return self.journal.closing_row(query_id(query))

    # --- looking -------------------------------------------------------------------------------

    def standing(self) -> Standing:
        def look(replica: Replica) -> Standing:
            tuner = replica.tuner
            return Standing(tuner.rounds, tuner.center, tuner.certificate)

        return self.session.read(look)

    def status(self) -> Status:
        self.session.flush()
        return self.session.read(lambda replica: study_status(replica, self.journal))

    def summary(self) -> Status:
        return self.session.read(lambda replica: replica.tuner.summary())

    def best_for(self, context: Any) -> Params:
        return self.session.read(lambda replica: replica.tuner.best_for(context))

    def recommend(self, context: Any) -> Recommendation:
        return self.session.read(lambda replica: replica.tuner.recommend(context))

    def first_round(self) -> int:
        def look(replica: Replica) -> int:
            return self.journal.first_round() or replica.tuner.rounds + 1

        return self.session.read(look)

    def certificate_for(self, **constants: float) -> float:
        return self.session.read(lambda replica: replica.tuner.certificate_for(**constants))

    def waiting(self, after: int, limit: int | None) -> list[OpenQuery]:
        def look(replica: Replica) -> list[OpenQuery]:
            later = ((id, asked) for id, asked in replica.asked.items() if id > after)
            return [self._open_query(*each) for each in islice(later, limit)]

        return self.session.read(look)

    def _open_query(self, id: int, record: AskRecord) -> OpenQuery:
        point = frozen(json.loads(record.point), "point", 1)
        return OpenQuery(id, point, self.space.params(point), *record.client_and_time())

    def state(self) -> dict[str, Any]:
        return self.session.read(lambda replica: replica.tuner.state())

    def history(self, first: int, last: int | None) -> Table:
        def look(replica: Replica, journal: Journal) -> Table:
            row, seal = journal.row_before_round(first)
            answers = answers_between(journal.events(row, seal), first, last)
            return in_parts(answers, self.space, replica.tuner.summary())

        return self._read_apart(look)

    def records(self, first: int, last: int | None) -> list[dict[str, Any]]:
        self.session.flush()

        def look(_: Replica) -> list[dict[str, Any]]:
            row, seal = self.journal.row_before_round(first)
            return records_between(self.journal.events(row, seal), first, last)

        return self.session.read(look)

    def _read_apart(self, look: Callable[[Replica, Journal], T]) -> T:
        """A long read, over a separate connection: calls of other threads do not wait for it."""
        self.session.flush()
        self.session.read(lambda _: None)  # refuses a study that was closed or deleted
        with self._apart() as (session, journal):
            return session.read(lambda replica: look(replica, journal))

    @contextmanager
    def _apart(self) -> Iterator[tuple[Session, Journal]]:
        """Another session of the same study, with a connection of its own."""
        database = self.journal.database.another()
        journal = Journal(database, self._name)
        with closing(Session(database, journal)) as session:
            session.retry(lambda _: journal.find(), None)
            session.differences = self.session.differences
            yield session, journal

    # --- care ----------------------------------------------------------------------------------

    def verify(self, progress: bool) -> int:
        self.session.flush()
        ours = self.session.read(lambda replica: replica.snapshot())
        with self._apart() as (session, journal):
            return session.retry(lambda _: verification.verify(journal, ours, progress), None)

    def skip_ids(self, count: int) -> int:
        def act(replica: Replica) -> tuple[Sequence[Event], int]:
            event = replica.skip_ids(count, self._signature, _now())
            return (event,), replica.tuner.asked

        return self.session.write(act)

    def trim(self, before: int, progress: bool) -> int:
        def look(_: Replica) -> tuple[Snapshot, int]:
            return self.journal.first_snapshot(), self.journal.last_row_before_round(before)

        base, last = self.session.read(look)
        first = base.number
        with Progress(max(0, last - first), progress) as bar:
            while base.number < last:
                further = self._read_apart(partial(_replayed_on, base, last))
                self._trim_to(base, further)
                bar.move(further.number - base.number)
                base = further
        return base.number - first

    def _trim_to(self, base: Snapshot, further: Snapshot) -> None:
        """Remove the rows between two snapshots: few, so that others wait only for a moment."""
        with self.session.transaction():
            if self.journal.first_snapshot() != base:
                raise StateError(f"study {self._name!r} was trimmed by another client meanwhile")
            self.journal.trim(further)


def _replayed_on(base: Snapshot, last: int, _: Replica, journal: Journal) -> Snapshot:
    """The snapshot of the tuner some rows after another one."""
    replica = Replica.of(base)
    rows = min(last - base.number, TRIM_AT_ONCE)
    replica.replay(islice(journal.events(base.number, base.seal), rows))
    return replica.snapshot()


def _refuse_token(token: str | None) -> None:
    if token is not None:
        raise ParameterError(
            "a token is for a service such as https://host, and this is a database: leave it out"
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
            "tuner: Study(url, name, tuner), or dikin study create"
        )
    names = study_names(database)
    others = did_you_mean(name, names) if names else " It has none at all."
    return UnknownStudyError(
        f"{database.name} has no study {name!r}.{others} To create one, give a tuner: "
        "Study(url, name, tuner), or dikin study create"
    )
