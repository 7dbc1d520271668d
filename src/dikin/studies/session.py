"""A client's hold on a study: its replica, its turns at the database, and what may go wrong there.

The truth is the journal in the database; the replica is a cache of it. An event is one transaction:

    take one's turn; replay what others have appended; ask, tell or forget; append a row; commit

and only then does the call return. Whatever fails before the commit leaves the database as it was,
and the replica is thrown away and made anew. Where the connection breaks during the commit, the
row's seal tells afterwards whether it was written: no event is lost or made twice.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from dikin.errors import DikinError, StateError, StoreError
from dikin.learners.base import Query
from dikin.studies.database import PAUSE, Database, LostConnection
from dikin.studies.journal import Event, Journal
from dikin.studies.replica import Replica

SNAPSHOT_EVERY = 1000
"""Rows between snapshots: who starts replays at most so many, which takes some ten milliseconds."""
FEW = 100
"""Rows that may be replayed while it is this client's turn and the others wait."""

S = TypeVar("S")
T = TypeVar("T")
Act = Callable[[Replica], tuple[Event | None, T]]
"""Moves the replica by one event, or by none."""


class Session:
    """One client of one study; `linger` is how long an event may wait for others to join it."""

    def __init__(self, database: Database, journal: Journal, linger: float) -> None:
        self.database, self.journal = database, journal
        self.guard = threading.RLock()
        self.unclaimed: tuple[Event, Query] | None = None
        """A query that was written without its caller hearing of it; the next such ask gives it."""
        self._linger = linger
        self._process = os.getpid()
        self._replica: Replica | None = None
        self._snapshot = 0
        """The row of the newest snapshot that is known of."""
        self._writing = False
        """Whether a transaction is open, and this client's turn."""
        self._began = 0.0
        self._waiting = 0
        """Events of the open transaction whose calls have returned."""
        self._unsent: list[Event] = []
        """Events of the open transaction that are not in the database yet."""
        self._timer: threading.Timer | None = None
        self._failure: DikinError | None = None
        """What became of a commit that no call waited for."""
        self._unsure: tuple[Event, Any] | None = None
        """An event whose commit has begun, and what its caller is to get."""
        self._closed = False

    # --- calls ---------------------------------------------------------------------------------

    def write(self, act: Act[T]) -> T:
        """Make an event when it is this client's turn."""
        with self.guard:
            self._refuse_unusable()
            try:
                return self._transact(act)
            except LostConnection:
                return self.patiently(self._transact, act)

    def read(self, look: Callable[[Replica], T]) -> T:
        """Look at the replica, up to date, and at the database as it is at that instant.

        This waits for nobody's turn.
        """
        with self.guard:
            self._refuse_unusable()
            return self.patiently(self._view, look)

    def _refuse_unusable(self) -> None:
        if self._closed:
            raise StateError("this study was closed; open it again with Study(url, name)")
        if os.getpid() != self._process:
            raise StateError("a study does not go through a fork: open it again in the new process")
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def patiently(self, job: Callable[[S], T], given: S) -> T:
        """Do a job again while the server is away, up to this client's patience."""
        deadline = time.monotonic() + self.database.patience
        while True:
            try:
                return job(given)
            except LostConnection as lost:
                if time.monotonic() > deadline:
                    raise self._away(lost) from lost
                time.sleep(PAUSE)

    def _away(self, lost: LostConnection) -> StoreError:
        return StoreError(
            f"{self.database.name} is away: {lost}. Repeat the call later: an answer counts once, "
            "and a query that was written is given by the next ask"
        )

    # --- the replica ---------------------------------------------------------------------------

    def _view(self, look: Callable[[Replica], T]) -> T:
        if self._writing:
            try:
                return look(self._current())
            except LostConnection as lost:
                self._undo(lost)  # the transaction and the turn are gone with the connection
                raise
        with self.database.view():
            return look(self._current())

    def _current(self) -> Replica:
        """The replica, with everything that others have appended."""
        if self._replica is not None and self._waiting:
            return self._replica  # it has been our turn since
        return self._up_to(*self.journal.head())

    def _up_to(self, last: int, seal: str) -> Replica:
        """The replica after the row with this number and seal, the last one."""
        replica, self._replica = self._replica, None
        if replica is not None and last < replica.number:
            raise StateError(
                f"study {self.journal.name!r} in {self.database.name} has gone back from row "
                f"{replica.number} to row {last}: was it replaced by an older copy? From here on "
                "this client goes on with what is there"
            )
        if replica is None or last - replica.number > SNAPSHOT_EVERY:
            replica = self._load()
        elif (last, seal) != (replica.number, replica.seal):
            try:
                self._follow(replica)
            except StateError:
                replica = self._load()  # rows were trimmed; or damaged, and then this says so
        self._replica = replica
        return replica

    def _load(self) -> Replica:
        replica = Replica.of(self.journal.snapshot())
        self._snapshot = replica.number
        self._follow(replica)
        return replica

    def _follow(self, replica: Replica) -> None:
        for event in self.journal.events(replica.number, replica.seal):
            replica.replay(event)

    # --- transactions --------------------------------------------------------------------------

    def _transact(self, act: Act[T]) -> T:
        refusal: DikinError | None = None
        try:
            replica = self._current() if self._writing else self._take_turn()
            if self._unsure is not None:
                self._settle()
            try:
                event, result = act(replica)
            except DikinError as error:
                if not replica.whole:
                    raise
                self._finish(None, None)
                refusal = error
            else:
                self._finish(event, result)
        except BaseException as error:
            self._undo(error)
            raise
        if refusal is not None:
            raise refusal
        return result

    def _take_turn(self) -> Replica:
        """Begin a transaction; what there is to replay is replayed before others have to wait."""
        for last_try in (False, False, True):
            if self._replica is None:
                self._view(_nothing)
            self._writing = True  # from here on there is something to give back
            self.database.begin(self.journal.study)
            self._began = time.monotonic()
            last, seal = self.journal.head()
            if last_try or (self._replica and last - self._replica.number <= FEW):
                break
            self._abandon()
            self._view(_nothing)
        return self._up_to(last, seal)

    def _finish(self, event: Event | None, result: Any) -> None:
        """Commit now, or later, or nothing."""
        if event is not None:
            self._unsent.append(event)
        elif not self._waiting:
            self._abandon()
            return
        if time.monotonic() - self._began >= self._linger:
            self._commit(event, result)
        elif event is not None:
            self._waiting += 1
            self._commit_later()

    def _undo(self, error: BaseException) -> None:
        """Give everything back after a failure; another error where more than one call failed."""
        lost, self._replica = self._waiting, None
        self._abandon()
        if lost and isinstance(error, DikinError | LostConnection):
            raise StoreError(
                f"{lost} events that waited to be written together may be lost: {error}. "
                "The study is as the database has it; see its history"
            ) from error

    def send(self) -> None:
        """Insert the events that are not in the database yet, without committing them."""
        unsent, self._unsent = self._unsent, []
        if unsent:
            self.journal.append(unsent)

    def _settle(self) -> None:
        """Find out whether the event was written during whose commit the connection broke."""
        assert self._unsure is not None
        (event, result), self._unsure = self._unsure, None
        if self.journal.seal_at(event.number) == event.seal and isinstance(result, Query):
            self.unclaimed = event, result

    def _commit(self, event: Event | None, result: Any) -> None:
        replica = self._replica
        assert replica is not None
        if replica.number - self._snapshot >= SNAPSHOT_EVERY:
            self._keep_snapshot(replica)
        self.send()
        self.journal.move_head(replica.number, replica.seal)
        if event is not None:
            self._unsure = event, result
        self.database.commit()
        self._unsure = None
        self._end()

    def _keep_snapshot(self, replica: Replica) -> None:
        self._snapshot = self.journal.snapshot().number
        if replica.number - self._snapshot >= SNAPSHOT_EVERY:
            self.journal.keep(replica.snapshot())
            self._snapshot = replica.number

    def _commit_later(self) -> None:
        if self._timer is None:
            # Not a daemon: a program that ends waits for it.
            self._timer = threading.Timer(self._linger, self._commit_waiting)
            self._timer.start()

    def _commit_waiting(self) -> None:
        """What the timer does where no call came to commit."""
        with self.guard:
            if threading.current_thread() is not self._timer:
                return
            try:
                self.flush()
            except DikinError as failure:
                self._failure = failure

    def flush(self) -> None:
        """Commit what waits."""
        with self.guard:
            if self._waiting:
                try:
                    self._commit(None, None)
                except BaseException as error:
                    self._undo(error)
                    raise

    def _abandon(self) -> None:
        if self._writing:
            self.database.rollback()
        self._end()

    def _end(self) -> None:
        self._writing, self._waiting, self._unsent = False, 0, []
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """A transaction for something that is no event; committed at the end."""
        with self.guard:
            self._refuse_unusable()
            self.flush()
            try:
                self._writing = True
                self.patiently(self.database.begin, self.journal.study)
                yield
                self.database.commit()
                self._end()
            except BaseException as error:
                self._undo(error)
                if isinstance(error, LostConnection):
                    raise self._away(error) from error
                raise

    def close(self) -> None:
        """Commit what waits and let go of the database."""
        with self.guard:
            if self._closed or os.getpid() != self._process:
                return
            failure = self._failure
            try:
                self.flush()
            finally:
                self._closed = True
                self.database.close()
            if failure is not None:
                raise failure


def _nothing(replica: Replica) -> None:
    """What is to be seen when the replica is only to be brought up to date."""
