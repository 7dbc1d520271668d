"""A client of a study: its copy of the tuner, its turns at the database, and its failures.

The journal in the database is authoritative; the client's tuner is a replay of it. An event is one
transaction:

    wait for a turn; replay new rows; ask, tell or forget; append a row; commit

and only then does the call return. The service lets the events of several calls share a commit
(`share_seconds`), and answers after it. A failure before the commit leaves the database as it was;
the copy is discarded and rebuilt. If the connection breaks during the commit, the call finds out by
the row's seal whether it was written: no event is lost or made twice.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from dikin.errors import BusyError, DikinError, StateError, StoreError
from dikin.studies import forks
from dikin.studies.database import RETRY_PAUSE, Database, LostConnection
from dikin.studies.journal import Event, Journal, row_seal
from dikin.studies.replica import Replica

logger = logging.getLogger("dikin")

SNAPSHOT_EVERY = 1000
"""Rows between snapshots: a new client replays at most this many, in some ten milliseconds."""
REPLAY_IN_TURN = 400
"""Rows that may be replayed during this client's turn while others wait: some ten milliseconds, and
more rows than many clients write in one round of turns."""

S = TypeVar("S")
T = TypeVar("T")
Act = Callable[[Replica], tuple[Sequence[Event], T]]
"""Changes the tuner by one event, by several that are written together, or by none."""


class Session:
    """One client of one study."""

    def __init__(self, database: Database, journal: Journal) -> None:
        self.database, self.journal = database, journal
        self.lock = database.lock
        self.share_seconds = 0.0
        """For how long events wait for others, to share a commit; above 0 the caller flushes."""
        self._process = os.getpid()
        self._replayed: Replica | None = None
        self.differences = 0
        """Settings of others that came out otherwise here. The recorded ones count."""
        self._snapshot = 0
        """The row of the newest known snapshot."""
        self._writing = False
        """Whether it is this client's turn and a transaction is open."""
        self._queueing = False
        """Whether this client is waiting for its turn, with no transaction yet."""
        self._began = 0.0
        self._returned: list[Event] = []
        """Events of the open transaction whose calls have returned."""
        self._inside = False
        """Whether a call is running, or was interrupted while running."""
        self._pending: list[Event] = []
        """Events of the open transaction that are not in the database yet."""
        self._keys: list[tuple[str, int, int]] = []
        """Keys that were noted in the open transaction: name, query and time."""
        self._failure: DikinError | None = None
        """The error of a commit before a fork, that no call waited for."""
        self._uncertain: tuple[Event, Any] | None = None
        """The last event of the present call, if its commit has begun, and the call's result."""
        self._closed = False
        forks.register(self)

    # --- calls ---------------------------------------------------------------------------------

    def write(self, act: Act[T]) -> T:
        """Make an event when it is this client's turn."""
        with forks.gate:  # otherwise a client in a tight loop would keep a fork waiting
            pass
        with self.lock:
            self._refuse_unusable()
            self._inside, self._uncertain = True, None
            try:
                result = self.retry(self._transact, act)
            except Exception:
                self._inside = False  # it has cleaned up
                raise
            self._inside = False
            return result

    def read(self, look: Callable[[Replica], T]) -> T:
        """Read the tuner, up to date, and the database at the same instant.

        Never blocks on writers.
        """
        with forks.gate:  # otherwise a client in a tight loop would keep a fork waiting
            pass
        with self.lock:
            self._refuse_unusable()
            self._inside = True
            try:
                result = self.retry(self._view, look)
            except Exception:
                self._inside = False
                raise
            self._inside = False
            return result

    def _refuse_unusable(self) -> None:
        if self._closed:
            raise StateError("this study was closed; open it again with Study(url, name)")
        if os.getpid() != self._process:
            raise _in_child()
        if self._failure is not None:
            self._raise_failure()
        if self._inside:  # the last call was interrupted, perhaps before it could clean up
            self._undo(KeyboardInterrupt())

    def _raise_failure(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def retry(self, job: Callable[[S], T], argument: S) -> T:
        """Repeat a job while the server is unavailable, up to this client's patience."""
        deadline = time.monotonic() + self.database.patience
        while True:
            if os.getpid() != self._process:  # a call that was begun in the parent
                raise _in_child()
            try:
                return job(argument)
            except LostConnection as lost:
                if time.monotonic() > deadline:
                    raise self._unreachable(lost) from lost
                time.sleep(RETRY_PAUSE)

    def _unreachable(self, lost: LostConnection) -> StoreError:
        return StoreError(
            f"{self.database.name} is unavailable: {lost}. Repeat the call later: an answer counts "
            "once, and so does an ask with a key"
        )

    # --- the tuner -----------------------------------------------------------------------------

    def _view(self, look: Callable[[Replica], T]) -> T:
        if self._writing:
            try:
                return look(self._current())
            except LostConnection as lost:
                self._undo(lost)  # the transaction and the turn are lost with the connection
                raise
        with self.database.view():
            return look(self._current())

    def _current(self) -> Replica:
        """The tuner, with all rows that others have appended."""
        if self._replayed is not None and self._returned:
            return self._replayed  # nobody else has had a turn since
        return self._up_to(*self.journal.head())

    def _up_to(self, last: int, seal: str) -> Replica:
        """The tuner after the row with this number and seal, the last one."""
        replayed = self._replayed
        if replayed is not None and (last, seal) == (replayed.number, replayed.seal):
            return replayed
        self._replayed = None
        if replayed is not None and last < replayed.number:
            raise StateError(
                f"study {self.journal.name!r} in {self.database.name} has gone back from row "
                f"{replayed.number} to row {last}: was it replaced by an older copy? From here on "
                "this client goes on with what is there"
            )
        if replayed is None or self._snapshot_is_nearer(replayed, last):
            replayed = self._load(last, seal)
        else:
            try:
                self._replay_new(replayed, last, seal)
            except StateError:  # rows were trimmed; or damaged, and then loading says so
                replayed = self._load(last, seal)
        self._replayed = replayed
        return replayed

    def _snapshot_is_nearer(self, replayed: Replica, last: int) -> bool:
        """Whether a snapshot is nearer to the last row than the tuner is."""
        far = last - replayed.number > SNAPSHOT_EVERY
        return far and self.journal.newest_snapshot_number() > replayed.number

    def _load(self, last: int, seal: str) -> Replica:
        replayed = Replica.of(self.journal.newest_snapshot())
        self._snapshot = replayed.number
        self._replay_new(replayed, last, seal)
        return replayed

    def _replay_new(self, replayed: Replica, last: int, seal: str) -> None:
        before = replayed.differences
        replayed.replay(self.journal.events(replayed.number, replayed.seal, (last, seal)))
        found = replayed.differences - before
        if found and not self.differences:
            logger.warning(
                "study %r in %s: %d settings come out otherwise here than where they were asked "
                "(another processor, another NumPy, with or without Numba). The recorded settings "
                "count. This is logged once.",
                self.journal.name,
                self.database.name,
                found,
            )
        self.differences += found

    # --- transactions --------------------------------------------------------------------------

    def _transact(self, act: Act[T]) -> T:
        refusal: DikinError | None = None
        try:
            replayed = self._current() if self._writing else self._take_turn()
            uncertain = self._uncertain
            if uncertain is not None:  # of an attempt before, whose connection broke
                written = self.journal.seal_at(uncertain[0].number) == uncertain[0].seal
                self._uncertain = None  # only now: the connection may break in reading, too
                if written:
                    self._finish((), None)
                    result: T = uncertain[1]
                    return result
            try:
                events, result = act(replayed)
            except DikinError as error:
                if not replayed.consistent:
                    raise
                self._finish((), None)
                refusal = error
            else:
                self._finish(events, result)
        except BaseException as error:
            self._undo(error)
            raise
        if refusal is not None:
            raise refusal
        return result

    def _take_turn(self) -> Replica:
        """Begin a transaction; new rows are replayed beforehand, so that others need not wait."""
        for last_try in (False, False, True):
            if self._replayed is None:
                self._view(_nothing)
            self._writing = self._queueing = True  # from here on there is something to clean up
            self.database.begin(self.journal.study, self._catch_up)
            self._queueing, self._began = False, time.monotonic()
            last, seal = self.journal.head()
            if last_try or (self._replayed and last - self._replayed.number <= REPLAY_IN_TURN):
                break
            self._abandon()
            self._view(_nothing)
        return self._up_to(last, seal)

    def _catch_up(self) -> None:
        """Replay new rows of others before this client's turn."""
        with self.database.view():
            self._up_to(*self.journal.head())

    def _finish(self, events: Sequence[Event], result: Any) -> None:
        """Commit now or later, or do nothing."""
        if not (events or self._returned):
            self._abandon()
            return
        self._pending += events
        if time.monotonic() - self._began >= self.share_seconds:
            self._commit(events, result)
        else:
            self._returned += events

    def _undo(self, error: BaseException) -> None:
        """Clean up after a failure; raises another error if it affects more than one call."""
        returned = self._returned
        if not (self._queueing and isinstance(error, BusyError)):
            self._replayed = None
        database_works = not isinstance(error, LostConnection | StoreError)
        if returned and database_works and self._keep_returned(returned):
            return  # one failed call must not lose the events of others
        self._abandon()
        if not isinstance(error, Exception):
            self.database.disconnect()  # the driver may be in any state
        self._inside = False
        if returned and self._are_lost(returned):
            raise StoreError(
                f"{len(returned)} events that waited to be written together may be lost: "
                f"{error or 'the call was interrupted'}. The study is as the database has it; see "
                "its history"
            ) from error

    def _keep_returned(self, returned: list[Event]) -> bool:
        """Commit the events whose calls have returned, without the interrupted one."""
        for again in (self._commit_again, self._append_again):
            try:
                committed = again(returned)
            except (DikinError, LostConnection):
                committed = False
            if committed:
                self._end()
                self._inside = False
                return True
            self.database.disconnect()  # whatever its state
        return False

    def _commit_again(self, returned: list[Event]) -> bool:
        """Commit in the open transaction, if there is one."""
        if not self.database.in_transaction:
            return False
        self.journal.remove_from(returned[0].number)
        self._append_and_commit(returned)
        return True

    def _append_again(self, returned: list[Event]) -> bool:
        """Commit in another transaction, unless the first succeeded or others had a turn."""
        self.database.rollback()  # this client may still have the turn
        if self._are_lost(returned):
            if not self._begin_before(returned[0]):
                return False
            queries = {event.query for event in returned}
            for key in self._keys:
                if key[1] in queries:
                    self.journal.remember(*key)
            self._append_and_commit(returned)
        return True

    def _append_and_commit(self, events: list[Event]) -> None:
        number, seal = events[-1].number, events[-1].seal
        self.journal.append(events)
        self.journal.move_head(number, seal)
        self.database.commit((self.journal.study, number, seal))

    def _begin_before(self, event: Event) -> bool:
        """Take a turn again after a lost connection; return whether nobody else had one."""
        self.database.begin(self.journal.study)
        last, seal = self.journal.head()
        return last == event.number - 1 and row_seal(seal, *event[:-1]) == event.seal

    def _are_lost(self, returned: list[Event]) -> bool:
        """Whether events are not in the database; True if it cannot be reached."""
        try:
            with self.database.view():
                return self.journal.seal_at(returned[-1].number) != returned[-1].seal
        except (DikinError, LostConnection):
            return True

    def insert_pending(self) -> None:
        """Insert the events that are not in the database yet, without committing them."""
        pending, self._pending = self._pending, []
        if pending:
            self.journal.append(pending)

    def remember(self, key: str, query: int, time: int) -> None:
        """Note under which key a query was asked, in the transaction of its event."""
        self.journal.remember(key, query, time)
        self._keys.append((key, query, time))

    def _commit(self, events: Sequence[Event], result: Any) -> None:
        replayed = self._replayed
        assert replayed is not None
        if replayed.number - self._snapshot >= SNAPSHOT_EVERY:
            self._save_snapshot(replayed)
        self.insert_pending()
        self.journal.move_head(replayed.number, replayed.seal)
        if events:
            self._uncertain = events[-1], result
        self.database.commit((self.journal.study, replayed.number, replayed.seal))
        self._uncertain = None
        self._end()

    def _save_snapshot(self, replayed: Replica) -> None:
        self._snapshot = self.journal.newest_snapshot_number()
        if replayed.number - self._snapshot >= SNAPSHOT_EVERY:
            self.journal.save_snapshot(replayed.snapshot())
            self._snapshot = replayed.number

    def before_fork(self) -> None:
        """Commit waiting events and close the connection, which the next call opens again."""
        if not self._inside:  # otherwise the call itself cleans up and commits them
            try:
                self.flush()
            except DikinError as failure:
                self._failure = failure  # the next call raises it
        self.database.cut_off()

    def flush(self) -> None:
        """Commit waiting events; raises an error that no call has raised yet, too."""
        with self.lock:
            self._raise_failure()
            if self._inside:  # a call was interrupted, perhaps before it could clean up
                self._undo(KeyboardInterrupt())
            if self._returned:
                try:
                    self._commit((), None)
                except LostConnection as lost:
                    self._undo(lost)  # an error, unless the commit succeeded after all
                except BaseException as error:
                    self._undo(error)
                    raise

    def _abandon(self) -> None:
        if self._writing:
            self.database.rollback()
        self._end()

    def _end(self) -> None:
        self._writing = self._queueing = False
        self._returned, self._pending, self._keys = [], [], []

    @contextmanager
    def transaction(self, key: int | None = None) -> Iterator[None]:
        """A transaction for something other than an event; committed at the end.

        `key` is the lock to take, if not that of the study.
        """
        with self.lock:
            self._refuse_unusable()
            self.flush()
            try:
                self._writing = True
                self.retry(self.database.begin, self.journal.study if key is None else key)
                yield
                self.database.commit()
                self._end()
            except BaseException as error:
                self._undo(error)
                if isinstance(error, LostConnection):
                    raise self._unreachable(error) from error
                raise

    def close(self) -> None:
        """Commit waiting events and close the database."""
        with self.lock:
            if self._closed or os.getpid() != self._process:
                return
            try:
                if self._inside:
                    self._undo(KeyboardInterrupt())
                self.flush()
            finally:
                self._closed = True
                self.database.close()


def _in_child() -> StateError:
    return StateError("a study does not go through a fork: open it again in the new process")


def _nothing(replayed: Replica) -> None:
    """Read nothing: only bring the tuner up to date."""
