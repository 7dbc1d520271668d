"""Replay a whole journal, and compare it with its snapshots and with what a client has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from math import isclose
from typing import Any

from dikin.engine.progress import Progress
from dikin.errors import StateError
from dikin.studies.journal import Event, Journal, Snapshot
from dikin.studies.replica import Replica

DIGITS = 1e-6
"""Relative difference of numbers that other machines may compute, in units of the largest number of
a row."""


def verify(journal: Journal, ours: Snapshot, progress: bool) -> int:
    """Replay a journal up to a client's own snapshot; returns how many rows were replayed.

    Each page of rows is a separate read, so that a long verification does not keep the database
    from cleaning up: rows never change, and the seal of each binds it to the one before.
    """
    first, *later = journal.snapshots()
    if first.number > ours.number:
        raise _trimmed_meanwhile(journal)
    replica, rows = Replica.of(first), ours.number - first.number
    try:
        with Progress(rows, progress) as bar:
            for snapshot in (*later, ours):
                if snapshot.number <= ours.number:
                    _replay_up_to(snapshot, replica, journal, bar)
    except StateError:
        if journal.first_snapshot().number > first.number:
            raise _trimmed_meanwhile(journal) from None
        raise
    return rows


def _replay_up_to(snapshot: Snapshot, replica: Replica, journal: Journal, bar: Progress) -> None:
    """Replay rows; an error if they do not give the snapshot."""

    def counted(events: Iterator[Event]) -> Iterator[Event]:
        for event in events:
            yield event
            bar.move(1)

    events = journal.events(replica.number, replica.seal)
    replica.replay(counted(islice(events, snapshot.number - replica.number)))
    if not _agree(replica.snapshot(), snapshot):
        raise StateError(
            f"study {journal.name!r} in {journal.database.name} was altered or damaged: what its "
            f"rows make of it is not what is kept for row {snapshot.number}"
        )


def _agree(found: Snapshot, kept: Snapshot) -> bool:
    """Return whether two snapshots are equal but for the last digits of their numbers.

    The clients of a study may compute other digits.
    """
    if found == kept or found[:2] != kept[:2]:
        return found == kept
    return _close(json.loads(found.state), json.loads(kept.state))


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_close(a[name], b[name]) for name in a)
    if not (isinstance(a, list) and isinstance(b, list)):
        return _close_numbers(a, b, 0.0)
    size = max((abs(each) for each in (*a, *b) if isinstance(each, float)), default=0.0)
    return len(a) == len(b) and all(
        _close_numbers(x, y, size) if isinstance(x, float) else _close(x, y)
        for x, y in zip(a, b, strict=True)
    )


def _close_numbers(a: Any, b: Any, size: float) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return isclose(a, b, rel_tol=DIGITS, abs_tol=DIGITS * size)
    return type(a) is type(b) and bool(a == b)


def _trimmed_meanwhile(journal: Journal) -> StateError:
    """The error for rows that were trimmed before they could be checked: no damage."""
    return StateError(f"study {journal.name!r} was trimmed meanwhile; verify it again")
