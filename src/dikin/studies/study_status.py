"""The status of a study: that of its tuner, with figures from the journal."""

from __future__ import annotations

import time
from dataclasses import replace
from math import nan

from dikin.status import OpenQueries, Status, value_text
from dikin.studies.fold import Fold
from dikin.studies.log import Log
from dikin.tuning.tuner import RECENT

LATE_SECONDS, LATE_ROWS = 3600.0, 2000
"""A trial that has been open for longer, or for so many later rows, causes a warning."""


def study_status(fold: Fold, log: Log) -> Status:
    """Return the status of a study."""
    first, tuner = next(iter(fold.asked), None), fold.tuner
    told_at = log.last_time()
    status = replace(
        tuner.summary(),
        name=log.name,
        rounds=fold.rounds,
        failed=fold.failed,
        open=OpenQueries(
            len(fold.asked), first, nan if first is None else _age(fold.asked[first].at)
        ),
        last_told_seconds=nan if told_at is None else _age(told_at),
        first_round=int(fold.marks[0][0]) + 1,
    )
    warnings = [*status.warnings]
    if first is not None:
        age, behind, count = status.open.oldest_seconds, fold.n - first, status.open.count
        if age > LATE_SECONDS or behind > LATE_ROWS:
            waiting = "1 trial waits" if count == 1 else f"{count} trials wait"
            warnings.append(
                f"{waiting} for an answer, the oldest ({first}) for {_duration(age)}, and "
                f"{behind:,} asks and answers came since. Tell their results, or forget them "
                "(dikin study forget)"
            )
    if status.rounds >= RECENT:
        best = tuner.space.params(status.center)
        warnings += (
            f"the best {name} so far is {value_text(best[name])}, next to its bound "
            f"{value_text(bound)}: if values beyond it are possible, try a wider range"
            for name, bound in tuner.space.bounds_near(status.center).items()
        )
    return replace(status, warnings=tuple(warnings))


def _age(microseconds: int) -> float:
    return max(0.0, time.time() - microseconds / 1e6)


def _duration(seconds: float) -> str:
    for size, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} s"
