"""A client of a study: its state, its connection, and its care when either fails.

The state in memory is never ahead of the database. After a failure it is made again.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from dikin.errors import DikinError, StateError, StoreError
from dikin.silence import silence
from dikin.studies.database import ANY, CONTROL, Database, LostConnection, Row, Taken
from dikin.studies.fold import Fold
from dikin.studies.log import Damage, Log, Snapshot
from dikin.tuning.space import Space

T = TypeVar("T")
logger = logging.getLogger("dikin")

SLACK = 16
"""Rows that may come between the last row that an ask has read and its own."""
SNAPSHOT_EVERY, SNAPSHOT_IN_CROWD = 1000, 16
"""Rows between snapshots: a new client folds at most so many. In a crowd everybody is behind, and
reading a snapshot takes less time than folding the rows."""
BYTES_OF_ROW = 20_000
"""Bytes of a snapshot that are read in the time in which a row is folded."""


class Ledger:
    """One client of one study."""

    def __init__(self, database: Database, name: str, client: str) -> None:
        self.database, self.log, self.client = database, Log(database, name), client
        self.sharing = False
        """True if the rows of several calls share a commit, by `flush`."""
        self.damage: Damage | None = None
        """The fault of the rows after those that were read."""
        self.space: Space
        """The parameters, as they were when rows were last read."""
        self.others = 0
        """Rows of others that were found when rows were last read."""
        self._fold: Fold | None = None
        self._epoch, self._saved = 0, 0
        self._held = self._ahead = False
        """True in a transaction that keeps others out, and where the state has rows of it."""
        self._lost: StoreError | None = None
        self._closed = False
        database.on_fork = self._before_fork

    # --- calls ---------------------------------------------------------------------------------

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
        self._reset(reason)

    def _clean_up(self, error: BaseException) -> None:
        """End the transaction after a failure, but for a refusal while rows share a commit."""
        refused = isinstance(error, Exception) and not isinstance(error, StoreError)
        if self._held and self.sharing and not refused:
            self._lost = StoreError(
                f"the rows that were to be written together were not: {error or 'interrupted'}. "
                "The study is as the database has it; send them again"
            )
        if not (self.sharing and refused):
            self._reset(error)

    def _reset(self, error: BaseException) -> None:
        """Forget all that is not in the database."""
        interrupted = not isinstance(error, Exception)
        if self._ahead or interrupted:
            self._fold = None
        self._held = self._ahead = False
        self.database.rollback()
        if interrupted:
            self.database.close()  # the driver may be in any state

    def close(self) -> None:
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
        return self._fold or self.current()

    def current(self, head: tuple[int, int, int] | None = None) -> Fold:
        """Learn the rows of others, unless id, last row and epoch are these. Return the state."""
        fold = self._fold  # nobody else can write while this client holds the study
        if fold and (self._held or head == (self.log.study, fold.n, self._epoch)):
            return fold
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
                    if row.who == self.client and not began:
                        fold.apply(row)
                        continue
                    with silence():
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
        self._worth = max(SNAPSHOT_IN_CROWD, len(state.text) // BYTES_OF_ROW)
        """Rows from which on it is faster to read a snapshot."""

    def _gone_back(self, seen: int, head: int) -> None:
        """Refuse a database that has lost rows. Their numbers are not given again."""
        self._ahead = True
        self._reset(Exception())
        skip = Row("skip", json.dumps({"seen": seen}), who=self.client, at=now())
        _, epoch = self.log.head()
        self.database.append(self.log.study, [skip], epoch, (head, head), seen - head)
        raise StateError(
            f"study {self.log.name!r} in {self.database.name} has gone back from row {seen} to row "
            f"{head}: an older copy was put in its place, or a server has lost what it had "
            "confirmed. What came after that row is gone, and its trials are not given again. From "
            "here on this client continues with what is there"
        )

    # --- writing -------------------------------------------------------------------------------

    @property
    def exact(self) -> bool:
        """True if the next row will most likely have the number after the last one."""
        return self._held or not self.others

    def append(
        self,
        rows: Sequence[Row],
        *,
        slack: int | None = None,
        jump: int = 0,
    ) -> int | None:
        """Append rows. Return the number of the first, None if too many came before them."""
        fold = self._fold or self.current()
        if self.damage is not None:
            raise self.damage
        study, control = self.log.study, rows[0].kind in CONTROL
        if self.sharing and self._held and not control:
            placed: tuple[int, str] | None
            placed = self.database.append_later(study, rows, self._epoch, fold.n)
        else:
            self._write()
            heads = ANY if slack is None else (fold.n, fold.n + slack)
            placed = self.database.append(study, rows, self._epoch, heads, jump)
        if placed is None:
            return None
        first, seal = placed
        if first == fold.n + 1 + jump:
            self._fold, self._ahead = None, self._held
            for n, row in enumerate(rows, first):
                fold.apply(row._replace(n=n, seal=seal))
            self._epoch += control
            if seal:
                fold.mark()
            self._fold, self.space = fold, fold.tuner.space
        else:
            self.others = max(self.others, 1)
        return first

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

    # --- transactions --------------------------------------------------------------------------

    def _hold(self) -> None:
        """Keep other writers out from now on, and learn their rows."""
        if not self._held:
            self.database.begin()
            self.log.lock()
            self.current()
            self._held = True

    def _write(self) -> None:
        """Write the rows that wait, and learn their seal."""
        if self.database.waiting:
            self.database.write()
        fold = self._fold
        if fold is not None and not fold.seal:
            fold.seal = self.database.seal
            fold.mark()

    def _commit(self) -> None:
        """Commit. If the connection breaks meanwhile, the last seal shows if that was done."""
        self._write()
        fold = self.fold

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
        self._held = self._ahead = False

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


def now() -> int:
    return time.time_ns() // 1000
