"""A client of a study: its state, its connection, and its care when either fails.

The state in memory is never ahead of the database. After a failure it is made again.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any, NoReturn, TypeVar

from dikin.arguments import whole
from dikin.errors import (
    AnsweredError,
    DikinError,
    ParameterError,
    QueryError,
    StateError,
    StoreError,
    StudyExistsError,
    UnknownStudyError,
    did_you_mean,
    few_of,
)
from dikin.open_queries import Query
from dikin.serialization import finite_or_none
from dikin.silence import silence
from dikin.status import Status
from dikin.studies.arguments import ANSWER
from dikin.studies.database import ANY, CONTROL, Database, LostConnection, Row, Taken
from dikin.studies.fold import Fold, study_status, text_of
from dikin.studies.history import Spaces, records
from dikin.studies.log import Damage, Log, Snapshot, create_tables, has_tables, names
from dikin.tuning.space import Params, Space
from dikin.tuning.trial import Trial, trial_of
from dikin.tuning.tuner import Tuner

Known = Mapping[str, Any] | None
Key = str | None
Check = Callable[[Fold], Any]
T = TypeVar("T")
logger = logging.getLogger("dikin")

SLACK = 16  # rows that may come between the last row that an ask has read and its own
SNAPSHOT_EVERY, SNAPSHOT_IN_CROWD = 1000, 16
"""Rows between snapshots: a new client folds at most so many. In a crowd everybody is behind, and
reading a snapshot takes less time than folding the rows."""
MOST_OPEN = 10_000
"""The number of open trials with which another one may be asked. Each is part of a client's memory
and of the state that it reads when it opens the study."""
BYTES_OF_ROW = 20_000  # bytes of a snapshot that are read in the time in which a row is folded


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


class Ledger:
    """One client of one study in a database."""

    def __init__(self, database: Database, name: str, client: str) -> None:
        self.database, self.log, self.client = database, Log(database, name), client
        self.place = f"in {database.name}"
        self.sharing = False  # True if the rows of several calls share a commit, by `flush`
        self.damage: Damage | None = None  # the fault of the rows after those that were read
        self.space: Space  # the parameters, as they were when rows were last read
        self.others = 0  # rows of others that were found then
        self._fold: Fold | None = None
        self._epoch, self._saved = 0, 0
        self._held = False  # True in a transaction that keeps others out
        self._waiting: list[Row] = []  # rows of it that are appended together, as one statement
        self._lost: StoreError | None = None
        self._closed = self._created = False
        database.on_fork = self._before_fork

    def call(self, act: Callable[[], T]) -> T:
        """Do something that uses the state and the database, again if the connection breaks."""
        self.database.refuse_child()
        frame, guard = sys._getframe(), self.database.guard
        clean = guard.enter(frame)
        try:
            if self._closed:
                raise StateError("this study was closed; open it again with Study(url, name)")
            if not clean:
                self._clean_up(KeyboardInterrupt())
            return self.database.insist(act, self._undo)
        except BaseException as error:
            self._clean_up(error)
            raise
        finally:
            guard.leave(frame)

    def _undo(self, reason: Exception) -> None:
        """Prepare another attempt, unless rows of earlier calls are lost."""
        if self._held and self.sharing:
            raise self.database.failure(reason) from reason
        self._reset()

    def _clean_up(self, error: BaseException) -> None:
        """End the transaction after a failure, but for a refusal while rows share a commit."""
        interrupted = not isinstance(error, Exception)
        if self.sharing and not interrupted and not isinstance(error, StoreError):
            return
        if self.sharing and self._held:
            self._lost = StoreError(
                f"the rows that were to be written together were not: {error or 'interrupted'}. "
                "The study is as the database has it; send them again"
            )
        if interrupted:
            self._fold = None
        self._reset()
        if interrupted:
            self.database.close()  # the driver may be in any state

    def _reset(self) -> None:
        """Forget all that is not in the database."""
        if self._held:
            self._fold = None
        self._held, self._waiting = False, []
        self.database.rollback()

    def close(self) -> None:
        if self._closed or os.getpid() != self.database.process:
            return
        try:
            self.flush()
        finally:
            self._closed = True
            self.database.close()

    @property
    def fold(self) -> Fold:
        """The state, as it was when rows were last read."""
        return self._fold or self.current()

    def current(self, head: tuple[int, int, int] | None = None) -> Fold:
        """Learn the rows of others, unless id, last row and epoch are these. Return the state."""
        fold = self._fold  # nobody else can write while this client holds the study
        if fold and (self._held or head == (self.log.study, fold.n, self._epoch)):
            return fold
        if self._waiting:
            self._write()
        fold, began = self._fold or self._loaded(), self._fold is None
        page = self.log.page(fold.n)
        if page.head < fold.n:
            self._gone_back(fold.n, page.head)
        self.others, self._saved = 0 if began else page.head - fold.n, page.saved
        if not began and page.saved - fold.n > self._worth:
            fold = self._loaded()
            page = self.log.page(fold.n)
        if page.base > fold.marks[0][1]:
            fold.trimmed(self.log.beginning())
        self._fold, self.damage = None, None
        try:
            for group in self.log.rows(fold.n, fold.seal, first=page):
                for row in group:
                    mine = row.who == self.client and not began
                    with nullcontext() if mine else silence():
                        fold.apply(row)
                fold.mark()
        except Damage as damage:
            last = self.log.row(n=fold.n)
            if began:
                logger.error("%s", damage)
            elif damage.n == fold.n and (last is None or last.seal != fold.seal):
                self._gone_back(fold.n, fold.n)  # other rows are where this client has read some
            self.damage = damage
        self._fold, self._epoch, self.space = fold, page.epoch, fold.tuner.space
        return fold

    def _loaded(self) -> Fold:
        state = self.log.snapshot() or self.log.beginning()
        self._weigh(state)
        return Fold.read(state, self.log)

    def _weigh(self, state: Snapshot) -> None:
        # Rows from which on it is faster to read a snapshot.
        self._worth = max(SNAPSHOT_IN_CROWD, len(state.text) // BYTES_OF_ROW)

    def _gone_back(self, seen: int, head: int) -> None:
        """Refuse a database that has lost rows. Their numbers are not given again."""
        self._reset()
        self._fold = None
        skip = Row("skip", json.dumps({"seen": seen}), who=self.client, at=now())
        _, epoch = self.log.head()
        self.database.append(self.log.study, [skip], epoch, (head, head), seen - head)
        raise StateError(
            f"study {self.log.name!r} in {self.database.name} has gone back from row {seen} to row "
            f"{head}: an older copy was put in its place, or a server has lost what it had "
            "confirmed. What came after that row is gone, and its trials are not given again. From "
            "here on this client continues with what is there"
        )

    @property
    def exact(self) -> bool:
        """True if the next row will most likely have the number after the last one."""
        return self._held or not self.others

    def append(self, rows: Sequence[Row], *, slack: int | None = None, jump: int = 0) -> int | None:
        """Append rows. Return the number of the first, None if too many came before them."""
        fold = self._fold or self.current()
        if self.damage is not None:
            raise self.damage
        if self.sharing and self._held and rows[0].kind not in CONTROL:
            first, seal = fold.n + 1, ""
            self._waiting += rows
        else:
            if self._waiting:
                self._write()
            heads = ANY if slack is None else (fold.n, fold.n + slack)
            placed = self.database.append(self.log.study, rows, self._epoch, heads, jump)
            if placed is None:
                return None
            first, seal = placed
        if first == fold.n + 1 + jump:
            self._fold = None
            for n, row in enumerate(rows, first):
                fold.apply(row._replace(n=n, seal=seal))
            if seal:
                fold.mark()
            self._epoch += rows[0].kind in CONTROL
            self._fold, self.space = fold, fold.tuner.space
        else:
            self.others = max(self.others, 1)
        return first

    def _write(self) -> None:
        """Append the rows that wait, as one statement with one seal."""
        rows, self._waiting = self._waiting, []
        if rows:
            try:
                placed = self.database.append(self.log.study, rows, self._epoch)
            except Taken as taken:
                raise StoreError(f"{self.database.name} is damaged: {taken}") from taken
            if placed is None:
                raise StoreError(f"study {self.log.name!r} was deleted meanwhile")
            if self._fold is not None:
                self._fold.seal = placed[1]
                self._fold.mark()

    def _row(self, **part: int | str | None) -> Row | None:
        """Return a row, as `Log.row`, of those that wait, too."""
        ((name, value),) = part.items()
        if value is not None and any(getattr(row, name) == value for row in self._waiting):
            self._write()
        return self.log.row(**part)

    def write(self, act: Callable[[], T | None], alone: bool = False) -> T:
        """Append rows by `act`, with others kept out if it returns None, or with `alone`."""
        # No partial: with a handler inside its call CPython 3.11 gives it other arguments.
        return self.call(lambda: self._written(act, alone))

    def _written(self, act: Callable[[], T | None], alone: bool) -> T:
        if not (self.sharing or alone):
            with suppress(Taken):  # a row of that key, or that closes that trial, came first
                result = act()
                if result is not None:
                    self._save_snapshot()
                    return result
        self._hold()
        try:
            result = act()
        except Taken as taken:
            raise StoreError(f"{self.database.name} is damaged: {taken}") from taken
        if result is None:
            raise StoreError(f"study {self.log.name!r} was deleted meanwhile. Nothing was written")
        self._save_snapshot()
        if not self.sharing:
            self._commit()
        return result

    def _save_snapshot(self) -> None:
        fold = self._fold or self.current()
        if fold.n - self._saved < (SNAPSHOT_EVERY if self.others <= SLACK // 2 else self._worth):
            return
        self._write()
        state = fold.snapshot()
        self.log.save_snapshot(state)
        self._saved = fold.n
        self._weigh(state)

    def _hold(self) -> None:
        """Keep other writers out from now on, and learn their rows."""
        if not self._held:
            self.database.begin()
            self.log.lock()
            self.current()
            self._held = True

    def _commit(self) -> None:
        """Commit. If the connection breaks meanwhile, the last seal shows if that was done."""
        self._write()
        fold = self._fold or self.current()

        def is_written() -> bool:
            self.database.begin()
            self.log.lock()  # not before the server has ended what it was doing
            row = self.log.row(n=fold.n)
            self.database.rollback()
            return row is not None and row.seal == fold.seal

        try:
            self.database.commit()
        except LostConnection:
            self.database.rollback()
            if not self.database.insist(is_written):
                raise
        self._held = False

    def _before_fork(self) -> None:
        """Commit the rows that wait. The next call hears of it where that fails."""
        if self._held:
            try:
                self._commit()
            except (DikinError, LostConnection) as error:
                self._clean_up(self.database.failure(error))

    def flush(self) -> None:
        """Commit the rows that wait. Raise the error of those that were lost."""
        lost, self._lost = self._lost, None
        if lost is not None:
            raise lost
        if self._held:
            try:
                self.call(self._commit)
            finally:
                self._lost = None

    def open(self, tuner: Tuner | None) -> bool:
        """Find the study or create it. Return True if it was created."""
        try:
            self.call(lambda: self._find(tuner))
        except BaseException:
            self.database.close()
            raise
        return self._created

    def _find(self, tuner: Tuner | None) -> None:
        log = self.log
        if not log.find():
            if tuner is None:
                raise _unknown_study(log.database, log.name)
            self._create(tuner)
        stored = self.current().tuner
        theirs = (tuner or stored).identity()
        for part, value in stored.identity().items():
            if value != theirs.get(part):
                raise StudyExistsError(
                    f"study {log.name!r} in {log.database.name} exists with {part} {value}, not "
                    f"{theirs.get(part)}; open it without a tuner (set_parameters changes its "
                    "ranges), or choose another name"
                )

    def _create(self, tuner: Tuner) -> None:
        ids = [trial.id for trial in tuner.open_queries]
        if ids:
            raise ParameterError(
                f"{tuner!r} has open trials {few_of(ids)}: answer or forget them before it becomes "
                "a study"
            )
        content = text_of(tuner.state_in_study(self.log.name), rounds=tuner.rounds)
        Fold.read(Snapshot(-1, "", content))  # refuse now what could not be read back later
        with self.database.transaction():
            if not has_tables(self.database):
                create_tables(self.database)
            self._created = self.log.create(content)
        self.log.find()

    def names(self) -> list[str]:
        return names(self.database)

    @contextmanager
    def existing(self) -> Iterator[Log]:
        """Give the rows of a study that must exist, and close the connection at the end."""
        with closing(self.database):
            if not self.log.find():
                raise _unknown_study(self.database, self.log.name)
            yield self.log

    def delete(self) -> None:
        with self.existing() as log, self.database.transaction():
            log.delete()  # the study is not opened before: it may be damaged

    @contextmanager
    def apart(self) -> Iterator[tuple[Fold, Log]]:
        """Give state and rows over another connection: calls of other threads do not wait."""
        self.flush()
        fold = self.look("state", lambda fold: fold)
        with Ledger(self.database.another(), self.log.name, self.client).existing() as log:
            yield fold, log

    def ask(self, asked_for: list[Any], key: Key) -> list[Trial]:
        known = key
        if key is None and self.database.path is None:  # whether it was written may be unknown
            key = secrets.token_hex(8)

        def act() -> list[Trial] | None:
            nonlocal known
            before, known = self._row(key=known), key
            return self._asked(asked_for, key) if before is None else self._again(before, asked_for)

        return self.write(act, self.others > SLACK)

    def _asked(self, asked_for: list[Any], key: Key) -> list[Trial] | None:
        fold = self.fold if self.exact else self.current()
        exact, count = self.exact, asked_for[2] or 1
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
        rows = [Row("ask", json.dumps(body), None, None, self.client, at) for body in bodies]
        rows[0] = rows[0]._replace(key=key)
        first = self.append(rows, slack=0 if exact else SLACK)
        if first is None:
            return None
        return [trial_of(tuner.space, id, body) for id, body in enumerate(bodies, first)]

    def _again(self, row: Row, asked_for: list[Any]) -> list[Trial]:
        if json.loads(row.body).get("for") != asked_for:
            self._refuse_key(row)
        last = row.n + (asked_for[2] or 1) - 1
        rows = self.log.some("n BETWEEN ? AND ?", row.n, last)
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
            "tell them, or close those whose answers will never come, forget(older_than=SECONDS) "
            "or dikin study forget NAME --older-than SECONDS. Nothing was changed"
        )

    def close_trial(self, trial: Query | int, answer: dict[str, Any] | None) -> None:
        """Append the row that answers or forgets a trial, unless there is one already."""
        id = trial if isinstance(trial, int) else trial.id
        kind = "forget" if answer is None else "tell"

        def act() -> int | None:
            fold = self._fold or self.current()
            if id not in fold.asked:
                fold = self.current()
            if id not in fold.asked and 0 <= id < 2**63:  # the integers of a database
                row = self._row(ask=id)
                if row is not None and row.kind == kind:
                    if answer is not None:
                        _refuse_another(row, trial, answer)
                    return row.n
            asked = fold.tuner.open_trial(trial)
            body = {} if answer is None else _told(fold, asked, answer)
            return self.append([Row(kind, json.dumps(body), id, None, self.client, now())])

        self.write(act)

    def forget_older(self, age: float) -> int:
        before = now() - 1e6 * age

        def act() -> int | None:
            ids = [id for id, asked in self.current().asked.items() if asked.at < before]
            rows = [Row("forget", "{}", id, None, self.client, now()) for id in ids]
            return len(ids) if not ids or self.append(rows) is not None else None

        return self.write(act, alone=True)

    def control(
        self, kind: str, body: dict[str, Any], check: Check, *, jump: int = 0, key: Key = None
    ) -> None:
        """Append a row of another kind, unless its check returns False."""
        key = key and f"{kind} {key}"

        def act() -> int | None:
            before = self._row(key=key)
            if before is not None:
                return before.n if before.kind == kind else self._refuse_key(before)
            if check(self.fold) is False:
                return 0
            row = Row(kind, json.dumps(body), None, key, self.client, now())
            return self.append([row], jump=jump)

        self.write(act, alone=True)

    def look(self, part: str, look: Callable[[Fold], T], **given: Any) -> T:
        """Read a part of the status, or the answer of an operation with arguments."""
        return self.call(lambda: look(self.current()))

    def status(self, head: tuple[int, int, int] | None = None) -> Status:
        """Return the status. The database is not asked if id, last row and epoch are these."""
        return self.call(lambda: study_status(self.current(head), self.log.name))

    def waiting(self, after: int = -1, limit: int | None = None) -> list[OpenQuery]:
        """Return the open trials with ids after this one, at most `limit`."""
        after = whole(after, "after", -1, "ids are counted from 0")

        def look(fold: Fold) -> list[OpenQuery]:
            later = ((id, asked) for id, asked in fold.asked.items() if id > after)
            tuner, found = fold.tuner, list[OpenQuery]()
            for id, asked in islice(later, limit):
                point = tuner.open_trial(id).point
                who = asked.who, clock(asked.at)
                found.append(OpenQuery(id, point, tuner.space.params(point), *who))
            return found

        return self.look("open", look)

    def rounds(self, first: int, last: int | None) -> Generator[dict[str, Any]]:
        with self.apart() as (fold, log):
            spaces, upto = Spaces(fold.tuner.space, fold.spaces), fold.n
            earlier = (mark for mark in reversed(fold.marks) if mark[0] < first)
            round, n, seal = next(earlier, fold.marks[0])
            yield from records(log.rows(n, seal, upto), spaces, round, first, last)


def now() -> int:
    return time.time_ns() // 1000


def _told(fold: Fold, asked: Trial, answer: dict[str, Any]) -> dict[str, Any]:
    """Return the row of an answer: all that is known of its round."""
    row = fold.tuner.checked_answer(asked, answer)
    known = {"context": row.context} if row.context else {}
    if asked.covariates:
        known["covariates"] = asked.covariates
    body = answer | {
        "point": list(map(float, row.point)),
        "expected": finite_or_none(row.expected),
        "paused": row.paused,
        "center": fold.asked[asked.id].center,
        "asked": known,
    }
    if fold.tuner.control is not None:
        body |= {"held_back": row.held_back}
        body |= {"expected_control": finite_or_none(row.expected_control)}
    return body


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
    return datetime.fromtimestamp(min(max(microseconds / 1e6, 0.0), 253402300799.0), UTC)


def _unknown_study(database: Database, name: str) -> UnknownStudyError:
    path, create = database.path, "To create one, give a tuner: Study(url, name, tuner)"
    create += ", or dikin study create"
    if path is not None and not path.exists():
        return UnknownStudyError(f"there is no file {path}, so no study {name!r}. {create}")
    known = names(database)
    others = did_you_mean(name, known) if known else " It has none at all."
    return UnknownStudyError(f"{database.name} has no study {name!r}.{others} {create}")
