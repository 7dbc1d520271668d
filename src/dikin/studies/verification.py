"""Replay a whole journal and compare it with its snapshots, in several processes if desired.

Snapshots cut a journal into pieces. A piece is correct if replaying it from the snapshot at its
beginning gives the snapshot at its end, bit for bit. If all pieces are correct, so is the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from dikin.errors import StateError, StoreError
from dikin.studies.database import Database
from dikin.studies.journal import Event, Journal, Snapshot
from dikin.studies.processes import processes
from dikin.studies.replica import Replica

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

WORTH_A_PROCESS = 20_000
"""The number of rows that take about as long to replay as a process takes to start."""

Count = Callable[[int], None]
"""Called with the number of rows replayed since the last call."""


class Piece(NamedTuple):
    """The rows of a journal between two snapshots."""

    begin: Snapshot
    end: Snapshot

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.end.number - self.begin.number


def pieces(journal: Journal, last: Snapshot) -> list[Piece]:
    """The pieces of a journal up to a client's own snapshot."""
    earlier = [snapshot for snapshot in journal.snapshots() if snapshot.number <= last.number]
    if not earlier:
        raise trimmed_meanwhile(journal)
    if earlier[-1].number == last.number and earlier[-1] != last:
        raise StateError(f"the snapshot of study {journal.name!r} is not what this client has")
    return [Piece(*pair) for pair in pairwise([*earlier, last]) if pair[0].number < pair[1].number]


def trimmed_meanwhile(journal: Journal) -> StateError:
    """The error for rows that were trimmed before they could be checked: no damage."""
    return StateError(f"study {journal.name!r} was trimmed meanwhile; verify it again")


def check(journal: Journal, piece: Piece, count: Count) -> None:
    """Replay a piece; an error if it does not end with its snapshot.

    Each page of rows is a separate read, so that a long verification does not keep the database
    from cleaning up: rows never change, and the seal of each binds it to the one before.
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
    """Replay pieces in separate processes."""
    database = journal.database
    source = type(database), database.url, database.patience, journal.name
    with processes(workers) as (pool, _):
        running = {pool.submit(_check_apart, *source, part): part.rows for part in parts}
        try:
            for future in as_completed(running):
                future.result()
                count(running[future])
        except BrokenProcessPool:
            raise StoreError(
                "a verifying process was killed, which is no sign of damage. Verify again, "
                "with fewer workers if memory ran out"
            ) from None


def _check_apart(kind: type[Database], url: URL, patience: float, name: str, piece: Piece) -> None:
    with closing(kind(url, patience)) as database:
        journal = Journal(database, name)
        journal.find()
        check(journal, piece, lambda _: None)
