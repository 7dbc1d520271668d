"""The status of a study: that of its tuner, with figures from the journal."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from math import nan

from dikin.status import OpenQueries, Status, value_text
from dikin.studies.journal import Journal
from dikin.studies.replica import Replica
from dikin.tuning.space import Space
from dikin.tuning.tuner import RECENT

LATE_SECONDS = 3600.0
LATE_ASKS = 1000
"""A query that has been open for longer, or for this many later ones, causes a warning."""


def study_status(replica: Replica, journal: Journal) -> Status:
    """The status of a study whose tuner is up to date with its journal."""
    first = next(iter(replica.asked), None)
    oldest = nan if first is None else _age(replica.asked[first].time)
    told_at = journal.last_tell_time()
    status = replica.tuner.summary()
    status = replace(
        status,
        name=journal.name,
        open=OpenQueries(len(replica.asked), first, oldest),
        last_told_seconds=nan if told_at is None else _age(told_at),
        first_round=journal.first_round() or status.rounds + 1,
    )
    warnings = *status.warnings, *_warnings(status, replica.tuner.space)
    return replace(status, warnings=warnings)


def _age(microseconds: int) -> float:
    return max(0.0, time.time() - microseconds / 1e6)


# --- warnings ------------------------------------------------------------------------------------


def _warnings(status: Status, space: Space) -> Iterator[str]:
    yield from _late(status)
    if status.rounds >= RECENT:
        yield from _at_bounds(status, space)


def _late(status: Status) -> Iterator[str]:
    count, first, age = status.open.count, status.open.first, status.open.oldest_seconds
    if first is None:
        return
    behind = status.asked - 1 - first
    if age > LATE_SECONDS or behind > LATE_ASKS:
        subject = "1 trial waits" if count == 1 else f"{count} trials wait"
        yield (
            f"{subject} for an answer, the oldest ({first}) for {_duration(age)}, and "
            f"{behind:,} were asked since. Tell their results, or forget them (dikin study "
            "forget)"
        )


def _duration(seconds: float) -> str:
    for size, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} s"


def _at_bounds(status: Status, space: Space) -> Iterator[str]:
    best = space.params(status.center)
    for name, bound in space.bounds_near(status.center).items():
        yield (
            f"the best {name} so far is {value_text(best[name])}, next to its bound "
            f"{value_text(bound)}: if values beyond it are possible, try a wider range"
        )
