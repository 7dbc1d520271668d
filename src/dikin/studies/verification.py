"""Replay a whole journal and compare it with what is on record, in several processes if wanted.

Snapshots cut a journal into pieces. A piece is right if its replay, from the snapshot at its
beginning, is the snapshot at its end bit for bit; if all pieces are, so is the whole.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from itertools import islice, pairwise
from multiprocessing import get_context, parent_process
from typing import TYPE_CHECKING, NamedTuple

from dikin.errors import StateError, StoreError
from dikin.studies.database import Database
from dikin.studies.journal import Event, Journal, Snapshot
from dikin.studies.replica import Replica

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

WORTH_A_PROCESS = 20_000
"""Rows that take about as long to replay as a process takes to start."""

Count = Callable[[int], None]
"""Hears how many more rows were replayed."""


class Piece(NamedTuple):
    """The rows of a journal after one snapshot up to another."""

    begin: Snapshot
    end: Snapshot

    @property
    def rows(self) -> int:
        """How many there are."""
        return self.end.number - self.begin.number


def pieces(journal: Journal, last: Snapshot) -> list[Piece]:
    """The pieces of a journal up to a client's own snapshot."""
    earlier = [taken for taken in journal.snapshots() if taken.number <= last.number]
    if not earlier:
        raise trimmed_meanwhile(journal)
    if earlier[-1].number == last.number and earlier[-1] != last:
        raise StateError(f"the snapshot of study {journal.name!r} is not what this client has")
    return [Piece(*pair) for pair in pairwise([*earlier, last]) if pair[0].number < pair[1].number]


def trimmed_meanwhile(journal: Journal) -> StateError:
    """No damage: rows that were to be checked are gone."""
    return StateError(f"study {journal.name!r} was trimmed meanwhile; verify it again")


def check(journal: Journal, piece: Piece, count: Count) -> None:
    """Replay a piece; an error if it does not end with its snapshot.

    Each page of rows is read by itself, so that a long look does not keep the database from tidying
    up: rows do not change, and each is bound to the one before it by its seal.
    """
    again = Replica.of(piece.begin)
    rows = islice(journal.events(again.number, again.seal), piece.rows)
    again.replay(_counted(rows, count))
    if again.snapshot() != piece.end:
        raise StateError(
            f"study {journal.name!r} in {journal.database.name} was altered or damaged: what its "
            f"rows make of row {piece.begin.number} is not what is kept for row {piece.end.number}"
        )


def _counted(rows: Iterator[Event], count: Count) -> Iterator[Event]:
    for row in rows:
        yield row
        count(1)


def check_in_processes(journal: Journal, parts: list[Piece], workers: int, count: Count) -> None:
    """Replay pieces in processes of their own."""
    # Spawned: a fork would take threads and connections with it in the middle of their work.
    with ProcessPoolExecutor(workers, get_context("spawn"), _begin_process) as pool:
        database = journal.database
        source = type(database), database.url, database.patience, journal.name
        running = {pool.submit(_check_apart, *source, part): part.rows for part in parts}
        try:
            for done in as_completed(running):
                done.result()
                count(running[done])
        except BrokenProcessPool:
            raise StoreError(
                "a process that verified was killed; nothing is known to be wrong. Verify again, "
                "with fewer workers if the memory was not enough"
            ) from None
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _begin_process() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started this process hears them
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that was killed could not say that this process has nothing to do any more."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _check_apart(kind: type[Database], url: URL, patience: float, name: str, piece: Piece) -> None:
    with closing(kind(url, patience)) as database:
        journal = Journal(database, name)
        journal.find()
        check(journal, piece, lambda _: None)
