"""A client of a study: its state, its connection, and what it does when either fails.

Nothing is computed while others wait. An ask reads the rows of others, computes, and appends a row
in one short transaction, if no more than a few rows have come meanwhile. The state in memory is
never ahead of the database: after a failure it is made again from a snapshot and rows.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import count
from typing import TypeVar

from dikin import serialization
from dikin.errors import BusyError, DikinError, StateError, StoreError
from dikin.silence import silence
from dikin.studies.database import Again, Database, Head, LostConnection, Record, Taken
from dikin.studies.fold import Fold, loaded
from dikin.studies.history import earlier_rounds
from dikin.studies.log import Damage, Log, Row
from dikin.tuning.space import Space

T = TypeVar("T")
logger = logging.getLogger("dikin")

SLACK = 16
"""Rows that may come between what an ask has read and its own row."""
SNAPSHOT_EVERY, SNAPSHOT_IN_CROWD = 1000, 16
"""Rows between snapshots: a new client folds at most so many; in a crowd everybody is behind, and
reading a snapshot takes less than folding the rows."""
CROWD = 4
"""Other clients among the last rows from which on they are a crowd."""


class Ledger:
    """One client of one study."""

    def __init__(self, database: Database, name: str, client: str) -> None:
        self.database, self.log, self.client = database, Log(database, name), client
        self.share_seconds = 0.0
        """For how long rows wait for others, to share a commit; above 0 the caller flushes."""
        self.damage: Damage | None = None
        """What is wrong with the rows after those that were read."""
        self.space: Space
        """The parameters, as they were when rows were last read."""
        self.alone = True
        """Whether nobody else seems to write at present."""
        self._fold: Fold | None = None
        self._epoch = 0
        self.changing = False
        """Whether the state may be ahead of the database."""
        self._pending: list[Record] = []
        """Rows of the open transaction that are not in the database yet."""
        self._held_since: float | None = None
        """When the open transaction began, whose rows share a commit."""
        self._lost: StoreError | None = None
        self._mine: set[int] = set()
        """Own rows that were not learnt yet, as others came before them."""
        self._writers: deque[str] = deque(maxlen=64)
        self._unsaved = 0
        self._nonce, self._count = secrets.token_hex(6), count()
        self._closed = False
        database.on_fork = self._before_fork

    # --- calls ---------------------------------------------------------------------------------

    def call(self, act: Callable[[], T]) -> T:
        """Do something that uses the state and the database; again if the connection breaks."""
        self.database.refuse_child()
        frame, guard = sys._getframe(), self.database.guard
        clean = guard.enter(frame)
        try:
            if self._closed:
                raise StateError("this study was closed; open it again with Study(url, name)")
            if not clean:
                self._reset()
            return self.database.reconnecting(lambda: self._attempt(act))
        except Again as held:
            self._reset()
            raise self.database.busy(held) from held
        except BaseException as error:
            self._clean_up(error)
            raise
        finally:
            guard.leave(frame)

    def _attempt(self, act: Callable[[], T]) -> T:
        try:
            return act()
        except LostConnection as lost:
            if self._held_since is not None:
                raise self.database.unavailable(lost) from lost
            if self.changing:
                self._reset()
            raise

    def _clean_up(self, error: BaseException) -> None:
        """Forget what is not in the database after a failure."""
        held = self._held_since is not None
        interrupted = not isinstance(error, Exception)
        if self.changing or interrupted or (held and isinstance(error, StoreError)):
            self._reset()
        if interrupted:
            self.database.close()  # the driver may be in any state
        if held and self._held_since is None:
            self._lost = StoreError(
                f"the rows that were to be written together were not: {error or 'interrupted'}. "
                "The study is as the database has it; send them again"
            )

    def _reset(self) -> None:
        self._fold, self.changing, self._held_since = None, False, None
        self._pending = []
        self.database.rollback()

    def close(self) -> None:
        """Write what waits, and close the connection."""
        if self._closed or os.getpid() != self.database.process:
            return
        try:
            self.flush()
        finally:
            self._closed = True
            self.database.close()

    # --- reading -------------------------------------------------------------------------------

    @property
    def fold(self) -> Fold:
        """The state, as it was when rows were last read."""
        if self._fold is None:
            self.refresh()
        assert self._fold is not None
        return self._fold

    def current(self) -> Fold:
        """Return the state with all rows that others have appended."""
        self.refresh()
        return self.fold

    def refresh(self) -> int:
        """Learn the rows of others; return how many there were."""
        if self._held_since is not None:
            return 0  # nobody else can write
        fold, began = self._fold, self._fold is None
        if fold is None:
            fold = self._loaded()
        page = self.log.page(fold.n)
        if page.head < fold.n:
            self._gone_back(fold.n, page.head)
        if page.head - fold.n > SLACK and not began:
            newest = self.log.snapshot_number(serialization.VERSION)
            if newest is not None and newest - fold.n > SLACK // 2:
                fold = self._loaded()
                page = self.log.page(fold.n)
        if page.base > fold.marks[0][1]:
            fold.trimmed(self.log.beginning())
        self._fold, before = None, fold.n
        try:
            for group in self.log.rows(fold.n, fold.seal, first=page):
                for row in group:
                    self._writers.append(row.who)
                    if row.n in self._mine:
                        self._mine.discard(row.n)
                        fold.apply(row)
                        continue
                    with silence():
                        fold.apply(row)
                fold.mark()
        except Damage as damage:
            if began and self.damage is None:
                logger.error("%s", damage)
            if not began:
                self._refuse_other_rows(fold, damage)
            self.damage = damage
        else:
            self.damage = None
        self._fold, self._epoch, self.space = fold, page.epoch, fold.tuner.space
        self._unsaved += fold.n - before
        return fold.n - before

    def _loaded(self) -> Fold:
        fold = loaded(self.log)
        fold.recall = lambda fold: earlier_rounds(self.log, fold)
        self._unsaved = 0
        self._mine = {n for n in self._mine if n > fold.n}
        return fold

    def _gone_back(self, seen: int, head: int) -> None:
        """Refuse a database that has lost rows; their numbers are not given again."""
        skip = Record("skip", json.dumps({"seen": seen}), who=self.client, at=now())
        epoch = self.log.head()[1]
        self.log.append([skip], Head(head, epoch, 0), control=True, jump=seen - head)
        self._fold, self._mine = None, set()
        raise StateError(
            f"study {self.log.name!r} in {self.database.name} has gone back from row {seen} to row "
            f"{head}: an older copy was put in its place, or a server has lost what it had "
            "confirmed. What came after that row is gone, and its trials are not given again. From "
            "here on this client continues with what is there"
        )

    def _refuse_other_rows(self, fold: Fold, damage: Damage) -> None:
        """Refuse a database with other rows in the place of those that this client has read."""
        row = self.log.row(fold.n)
        if damage.n == fold.n and (row is None or row.seal != fold.seal):
            self._gone_back(fold.n, fold.n)

    # --- writing -------------------------------------------------------------------------------

    def key(self) -> str | None:
        """Return a key for a row, where it may be unknown if it was written."""
        return f"{self._nonce}.{next(self._count):x}" if self.database.keyed else None

    @property
    def exact(self) -> bool:
        """Whether the next row will most likely have the number after the last one."""
        return self.alone or self._held_since is not None

    def append(
        self,
        rows: Sequence[Record],
        *,
        slack: int | None = None,
        control: bool = False,
        jump: int = 0,
    ) -> int | None:
        """Append rows, and learn them if nothing came before; return the number of the first.

        None if too many rows have come since the last `refresh`: read them, and try again.
        """
        fold = self.fold
        if self.damage is not None:
            raise self.damage
        if self._held_since is not None:
            first = fold.n + 1 + jump
            if control:
                self.settle()
            self._pending += rows
            if control:
                self.settle(control=True, jump=jump)
            seal = fold.seal
        else:
            head = Head(fold.n, self._epoch, slack)
            placed = self.log.append(rows, head, control=control, jump=jump)
            if placed is None:
                return None
            first, seal = placed
            self._epoch += control
        if first != fold.n + 1 + jump:
            self._mine.update(range(first, first + len(rows)))
            self.alone = False
            return first
        self.changing = True
        for n, row in enumerate(rows, first):
            fold.apply(Row(*row, n, seal))
        if self._held_since is None:
            fold.mark()
        self.changing, self.space = False, fold.tuner.space
        self._unsaved += len(rows)
        return first

    def write(self, act: Callable[[], T | None]) -> T:
        """Repeat what others were faster than, up to this client's patience."""
        return self.call(lambda: self._until_placed(act))

    def _until_placed(self, act: Callable[[], T | None]) -> T:
        deadline = time.monotonic() + self.database.patience
        while True:
            if self.share_seconds:
                self.hold()
            try:
                result = act()
            except Taken as taken:  # a row of that key, or that closes that trial, came first
                if self._held_since is not None:  # and yet nobody else could write
                    raise self.database.unavailable(LostConnection(str(taken))) from taken
                result = None
            if result is not None:
                self._save_snapshot()
                return result
            if time.monotonic() > deadline:
                raise BusyError(
                    f"the rows of other clients come faster than this one can read them: study "
                    f"{self.log.name!r}, for {self.database.patience:g} seconds. Nothing was "
                    "changed; try again, or give Study a longer patience"
                )
            self.alone = False
            self.refresh()

    def _save_snapshot(self) -> None:
        others = len({who for who in self._writers if who != self.client})
        every = SNAPSHOT_IN_CROWD if others >= CROWD else SNAPSHOT_EVERY
        if self._unsaved < every or self._held_since is not None:
            return
        if every == SNAPSHOT_IN_CROWD:
            newest = self.log.snapshot_number(serialization.VERSION) or 0
            if self.fold.n - newest < every:
                self._unsaved = max(0, self.fold.n - newest)
                return
        self._unsaved = 0
        fold = self.fold
        self.log.save_snapshot(serialization.VERSION, fold.n, fold.seal, fold.text())

    # --- shared commits ------------------------------------------------------------------------

    def hold(self) -> None:
        """Begin a transaction whose rows share a commit, unless there is one."""
        if self._held_since is not None:
            if time.monotonic() - self._held_since < self.share_seconds:
                return
            self._commit()
        self.database.begin()
        try:
            self.log.lock()
            self.refresh()
        except BaseException:
            self.database.rollback()
            raise
        self._held_since = time.monotonic()

    def settle(self, *, control: bool = False, jump: int = 0) -> None:
        """Write the rows that wait, without committing them."""
        pending, self._pending = self._pending, []
        if not pending:
            return
        fold = self.fold
        head = Head(fold.n, self._epoch)
        placed = self.log.append(pending, head, control=control, jump=jump)
        if placed is None:
            raise StoreError(f"study {self.log.name!r} was deleted meanwhile. Nothing was written")
        self._epoch += control
        fold.seal = placed[1]
        if not control:
            fold.mark()

    def _commit(self) -> None:
        self.settle()
        self.database.commit()
        self._held_since = None
        self._save_snapshot()

    def _before_fork(self) -> None:
        """Commit the rows that wait; the next call hears of it where that fails."""
        if self._held_since is not None:
            try:
                self._commit()
            except (DikinError, LostConnection) as error:
                self._clean_up(self.database.unavailable(LostConnection(str(error))))

    def flush(self) -> None:
        """Commit the rows that wait; raise the error of those that were lost."""
        lost, self._lost = self._lost, None
        if lost is not None:
            raise lost
        if self._held_since is not None:
            try:
                self.call(self._commit)
            finally:
                self._lost = None


def now() -> int:
    """Return the time in microseconds since 1970."""
    return time.time_ns() // 1000
