"""A study in a database: a journal, and a session that takes turns at it."""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np

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
from dikin.players import Player
from dikin.status import Status
from dikin.studies import verification
from dikin.studies.backend import Backend, Opening, OpenQuery, Standing
from dikin.studies.client_arguments import seconds
from dikin.studies.database import Database, Sqlite, open_database
from dikin.studies.history import HistoryColumns, answers_between, in_parts, records_between
from dikin.studies.journal import SCHEMA_LOCK, Event, Journal, Snapshot, create_tables
from dikin.studies.journal import names as study_names
from dikin.studies.replica import AskRecord, Replica, snapshot_text
from dikin.studies.rows import Answer, AskArguments, point_in, query_id
from dikin.studies.session import Session
from dikin.studies.study_status import study_status
from dikin.tuning.space import Params, Space
from dikin.vectors import Table

T = TypeVar("T")

TRIM_AT_ONCE = 10_000
"""Rows removed in one transaction while others wait: some hundredths of a second."""
FORGET_AT_ONCE = 500
"""Queries closed in one transaction: some hundredths of a second."""
PATIENCE = 0.8
"""The default patience in seconds: a call ends within one second, including its own work."""


class Key(NamedTuple):
    """The key of a request, and which of the queries that it asks for this is."""

    text: str
    n: int | None = None
    """How many it asks for; None for one, not in a list."""
    place: int = 0

    @property
    def name(self) -> str:
        """The name under which the query is noted; that of the last one says how many there are."""
        if self.n is None:
            return self.text
        return self._last(self.n) if self.place == self.n - 1 else f"{self.text}{UNIT}{self.place}"

    def _last(self, n: int) -> str:
        return f"{self.text}{UNIT}{n - 1}."

    @property
    def names(self) -> tuple[str, ...]:
        """The names to look for: the first query decides whether the request is the same."""
        if self.place:
            return (self.name,)
        first = f"{self.text}{UNIT}0"
        longer = () if self.n is None else (f"{self.text}{UNIT}{self.n - 1}", self._last(self.n))
        return tuple({self.name, self.text, first, self._last(1), *longer})

    def is_of_another(self, noted: Collection[str]) -> bool:
        """Whether what is noted under these names was noted by a request with another n."""
        if self.place or not noted:
            return False
        if self.n is None or self.text in noted:
            return self.n is not None or self.text not in noted
        return self._last(self.n) not in noted and f"{self.text}{UNIT}{self.n - 1}" in noted

    def shorter(self, noted: Collection[str]) -> tuple[str, ...]:
        """The names that a request for fewer would have left; none if it need not be asked."""
        if self.n is None or self.place or not noted or self._last(self.n) in noted:
            return ()
        return tuple(map(self._last, range(1, self.n)))


UNIT = "\x1f"
"""A character that no key of a user's has."""


class LocalBackend(Backend):
    """A study in a database."""

    def __init__(self, opening: Opening) -> None:
        _refuse_token(opening.token)
        self.client, self._name = opening.client, opening.name
        # Makes every row differ from any that another client writes.
        self._nonce = secrets.token_hex(4)
        patience = opening.patience
        patience = PATIENCE if patience is None else seconds(patience, "patience", 0.01, 600.0)
        commit_within = seconds(opening.commit_within, "commit_within", 0.0, patience / 2)
        database = open_database(opening.url, patience)
        self.place = f"in {database.name}"
        self.journal = Journal(database, opening.name)
        self.session = Session(database, self.journal, commit_within)
        self._has_keys = False
        try:
            self.space = self.session.retry(self._open, opening.player)
            self.session.shorten_replays()
        except BaseException:
            self.session.close()
            raise

    def flush_by_hand(self) -> None:
        self.session.timed = False

    @property
    def _signature(self) -> str:
        """The name of this client in rows."""
        return f"{self.client}#{self._nonce}"

    # --- opening -------------------------------------------------------------------------------

    def _open(self, learner: Player[Any] | None) -> Space | None:
        if not self.journal.find():
            if learner is None:
                raise _unknown_study(self.journal.database, self._name)
            self._create(learner)
        # Before the read: whatever is committed meanwhile only adds rows.
        marked = self.journal.database.marked(self.journal.study)

        def look(replica: Replica) -> Player[Any]:
            self.journal.check_mark(marked)
            self.journal.check_recent()
            return replica.player

        player = self.session.read(look)
        if learner is not None:
            self._refuse_other(learner, player)
        space: Space | None = player.space
        return space

    def _create(self, player: Player[Any]) -> None:
        ids = [query.id for query in player.open_queries]
        if ids:
            raise ParameterError(
                f"{player!r} has open queries {few_of(ids)}: answer or forget them "
                "before it becomes a study"
            )
        state = snapshot_text(player, {})
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

    def _refuse_other(self, learner: Player[Any], player: Player[Any]) -> None:
        ours, theirs = player.identity(), learner.identity()
        for part, value in ours.items():
            if value != theirs[part]:
                raise StudyExistsError(
                    f"study {self._name!r} in {self.journal.database.name} exists with the {part} "
                    f"{value}, not {theirs[part]}; open it without a learner or tuner, or choose "
                    "another name"
                )

    @classmethod
    def names(cls, url: str | os.PathLike[str], token: str | None) -> list[str]:
        _refuse_token(token)
        database = open_database(url, PATIENCE)
        session = Session(database, Journal(database, ""), 0.0)
        try:
            return session.retry(study_names, database)
        finally:
            session.close()

    @classmethod
    def delete(cls, url: str | os.PathLike[str], name: str, token: str | None) -> None:
        _refuse_token(token)
        database = open_database(url, PATIENCE)
        journal = Journal(database, name)
        session = Session(database, journal, 0.0)
        try:
            if not session.retry(lambda _: journal.find(), None):
                raise _unknown_study(database, name)
            with session.transaction():  # not opened before: it may be damaged
                journal.delete()
        finally:
            session.close()

    def close(self) -> None:
        self.session.close()

    def flush(self) -> None:
        self.session.flush()

    # --- the game ------------------------------------------------------------------------------

    def ask(self, arguments: AskArguments, key: str | None) -> Query:
        return self._ask(arguments)[1] if key is None else self._ask_under(Key(key), arguments)

    def ask_several(self, arguments: AskArguments, n: int, key: str | None) -> list[Query]:
        if key is not None:
            return [self._ask_under(Key(key, n, place), arguments) for place in range(n)]
        pairs: list[tuple[Event, Query]] = []
        try:
            for _ in range(n):
                pairs.append(self._ask(arguments))
        except BaseException:
            self.session.unclaimed += pairs  # written, but the caller does not get them
            raise
        return [query for _, query in pairs]

    def _ask_under(self, key: Key, arguments: AskArguments) -> Query:
        """Ask under a key, or return the query that was asked under it."""
        if not self._has_keys:
            with self.session.transaction(SCHEMA_LOCK):
                self.journal.create_keys()
            self._has_keys = True
        session, now = self.session, _now()

        def act(replica: Replica) -> tuple[Sequence[Event], Query]:
            noted = self.journal.noted_under(key.names)
            self._refuse_other_count(key, noted)
            query = noted.get(key.name)
            if query is not None:
                return (), self._asked_before(replica, query, key.text, arguments)
            event, question = replica.ask(arguments, self._signature, now)
            session.keyed.add(question.id)
            session.remember(key.name, question.id, now)
            return (event,), question

        question = session.write(act)
        session.keyed.discard(question.id)
        return question

    def _refuse_other_count(self, key: Key, noted: Collection[str]) -> None:
        """Refuse a key under which another number of queries was asked for."""
        shorter = key.shorter(noted)  # or the same request, which was cut off
        if key.is_of_another(noted) or (shorter and self.journal.noted_under(shorter)):
            raise ParameterError(
                f"the key {key.text!r} was used by another request, with another n; a key is for "
                "one request"
            )

    def _asked_before(
        self, replica: Replica, query: int, key: str, arguments: AskArguments
    ) -> Query:
        self.session.insert_pending()
        body, word = self.journal.ask_body(query), replica.player.noun
        if body is None and query not in replica.asked:
            raise ClosedQueryError(
                f"{word} {query}, which was asked under the key {key!r}, was answered and trimmed "
                "from the history; use another key"
            )
        if body is not None and AskArguments.read(body).text() != arguments.text():
            raise ParameterError(
                f"the key {key!r} was used by another request, which asked {word} {query} with "
                "another forecast, context or covariates; a key is for one request"
            )
        point = replica.asked[query].point if body is None else point_in(body)
        values = json.loads(point)
        return replica.query_at(query, frozen(values, "point", np.ndim(values)))

    def _ask(self, arguments: AskArguments) -> tuple[Event, Query]:
        session, result = self.session, list[tuple[Event, Query]]()
        again = list[tuple[Event, Query]]()

        def act(replica: Replica) -> tuple[Sequence[Event], Query]:
            session.unclaimed[:0] = again  # of an attempt before, which failed
            again[:] = [pair for pair in session.unclaimed if replica.is_open(*pair, arguments)][:1]
            result[:] = again or [replica.ask(arguments, self._signature, _now())]
            # Only now: after a refused ask, the next one gets them.
            session.unclaimed = [
                pair
                for pair in session.unclaimed
                if pair not in again and pair[1].id in replica.asked
            ]
            event, question = result[0]
            return () if again else (event,), question

        try:
            session.write(act)
        except BaseException:
            session.unclaimed += again  # found, but the caller does not get it
            raise
        return result[0]

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

    def hold(self) -> None:
        self._switch(Replica.hold)

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
            player = replica.player
            return Standing(player.rounds, player.center, player.certificate)

        return self.session.read(look)

    def status(self) -> Status:
        self.flush()
        return self.session.read(lambda replica: study_status(replica, self.journal))

    def summary(self) -> Status:
        return self.session.read(lambda replica: replica.tuner.summary())

    def best_for(self, context: Any) -> Params:
        return self.session.read(lambda replica: replica.tuner.best_for(context))

    def first_round(self) -> int:
        def look(replica: Replica) -> int:
            return self.journal.first_round() or replica.player.rounds + 1

        return self.session.read(look)

    def certificate_for(self, **constants: float) -> float:
        return self.session.read(lambda replica: replica.player.certificate_for(**constants))

    def waiting(self, after: int, limit: int | None) -> list[OpenQuery]:
        def look(replica: Replica) -> list[OpenQuery]:
            later = ((id, asked) for id, asked in replica.asked.items() if id > after)
            return [self._open_query(*each) for each in islice(later, limit)]

        return self.session.read(look)

    def _open_query(self, id: int, record: AskRecord) -> OpenQuery:
        values = json.loads(record.point)
        point = frozen(values, "point", np.ndim(values))
        params = None if self.space is None else self.space.params(point)
        return OpenQuery(id, point, *record.client_and_time(), params)

    def state(self) -> dict[str, Any]:
        return self.session.read(lambda replica: replica.player.state())

    def history(self, first: int, last: int | None) -> Table:
        def look(replica: Replica, journal: Journal) -> Table:
            row, seal = journal.row_before_round(first)
            answers = answers_between(journal.events(row, seal), first, last)
            columns = HistoryColumns.of(self.space, replica.player.status())
            return in_parts(answers, columns)

        return self._read_apart(look)

    def records(self, first: int, last: int | None) -> list[dict[str, Any]]:
        self.flush()

        def look(_: Replica) -> list[dict[str, Any]]:
            row, seal = self.journal.row_before_round(first)
            return records_between(self.journal.events(row, seal), first, last)

        return self.session.read(look)

    def _read_apart(self, look: Callable[[Replica, Journal], T]) -> T:
        """A long read, over a separate connection: calls of other threads do not wait for it."""
        self.flush()
        self.session.read(lambda _: None)  # refuses a study that was closed or deleted
        database = self.journal.database.another()
        journal = Journal(database, self._name)
        session = Session(database, journal, 0.0)
        try:
            session.retry(lambda _: journal.find(), None)
            return session.read(lambda replica: look(replica, journal))
        finally:
            session.close()

    # --- care ----------------------------------------------------------------------------------

    def verify(self, workers: int, progress: bool) -> int:
        self.flush()
        ours = self.session.read(lambda replica: replica.snapshot())
        database = self.journal.database.another()
        journal = Journal(database, self._name)
        with closing(Session(database, journal, 0.0)) as session:
            return session.retry(lambda _: self._verify(journal, ours, workers, progress), None)

    def _verify(self, journal: Journal, ours: Snapshot, workers: int, progress: bool) -> int:
        journal.find()
        parts = verification.pieces(journal, ours)
        rows = sum(part.rows for part in parts)
        workers = min(workers, 1 + rows // verification.WORTH_A_PROCESS, max(1, len(parts)))
        try:
            with Progress(rows, progress) as bar:
                if workers > 1:
                    verification.check_in_processes(journal, parts, workers, bar.move)
                else:
                    for part in parts:
                        verification.check(journal, part, bar.move)
        except StateError:
            if parts and journal.first_snapshot().number > parts[0].begin.number:
                raise verification.trimmed_meanwhile(journal) from None
            raise
        return rows

    def skip_ids(self, count: int) -> int:
        def act(replica: Replica) -> tuple[Sequence[Event], int]:
            event = replica.skip_ids(count, self._signature, _now())
            return (event,), replica.player.asked

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
    """The snapshot of the learner some rows after another one."""
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
            "learner or tuner: Study(url, name, learner), or dikin study create"
        )
    names = study_names(database)
    others = did_you_mean(name, names) if names else " It has none at all."
    return UnknownStudyError(
        f"{database.name} has no study {name!r}.{others} To create one, give a learner "
        "or tuner: Study(url, name, learner), or dikin study create"
    )
