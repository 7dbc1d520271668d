"""What the page, the metrics and `GET /v1/studies/{name}` say of a study, as JSON values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from dikin.serialization import finite_or_none
from dikin.service.limits import NUMBERS_AT_ONCE
from dikin.studies.overview import Overview
from dikin.studies.study import Study
from dikin.tuning.space import Space
from dikin.tuning.summary import value_text
from dikin.tuning.tuner import RECENT

LATE_SECONDS = 3600.0
LATE_ASKS = 1000
"""A query that is open for longer, or since so many others, is worth a warning."""
FIRST = 20
"""Rounds whose mean says where it began."""

Glance = dict[str, Any]


def glance(study: Study, warned: Sequence[str], first_mean: float | None) -> Glance:
    """A study at a glance, with what it warned of and the mean of its first rounds."""
    seen = study.overview()
    now = datetime.now(UTC)
    return {
        "name": study.name,
        "kind": "learner" if study.space is None else "tuner",
        "learner": seen.learner,
        "rounds": seen.rounds,
        "asked": seen.asked,
        "open": {
            "count": seen.open_queries,
            "first": seen.first_open,
            "oldest_seconds": _age(seen.oldest_asked, now),
        },
        "last_told_seconds": _age(seen.last_told, now),
        "center": seen.center.tolist(),
        "certificate": finite_or_none(seen.certificate),
        "restarts": seen.restarts,
        "first_round": study.first_round,
        **_said_by_tuner(seen),
        **_recent(study, seen),
        "first_mean": first_mean,
        "first_rounds": FIRST,
        **_columns(study.space, seen),
        "warnings": [*warned, *_warnings(study.space, seen, now)],
        "problem": None,
    }


def unreadable(name: str, problem: str) -> Glance:
    """What is said of a study that cannot be read."""
    return {"name": name, "problem": problem}


def _age(then: datetime | None, now: datetime) -> float | None:
    return None if then is None else max(0.0, (now - then).total_seconds())


def _said_by_tuner(seen: Overview) -> Glance:
    said = seen.summary
    if said is None:
        return {
            "maximize": False,
            "held": False,
            **dict.fromkeys(("best", "start", "surprise", "exploring_cost", "ahead", "outlook")),
            "clipped": None,
        }
    return {
        "maximize": said.maximize,
        "held": said.held,
        "best": said.best,
        "start": said.start,
        "surprise": finite_or_none(said.surprise),
        "exploring_cost": finite_or_none(said.exploring_cost),
        "ahead": said.ahead,
        "outlook": finite_or_none(said.outlook),
        "clipped": said.clipped,
    }


def _recent(study: Study, seen: Overview) -> Glance:
    """The mean of the last values or losses."""
    if seen.summary is not None:
        said = seen.summary
        return {
            "recent_mean": finite_or_none(said.recent_mean),
            "recent_rounds": said.recent_rounds,
        }
    told = [number_told(record) for record in study.records(max(1, seen.rounds - RECENT + 1))]
    numbers = [loss for loss in told if loss is not None]
    mean = sum(numbers) / len(numbers) if numbers else None
    return {"recent_mean": mean, "recent_rounds": len(numbers)}


def mean_of_first(study: Study) -> float | None:
    """The mean of the first rounds; None where they were trimmed, or are not numbers."""
    told = [number_told(record) for record in study.records(1, FIRST)]
    values = [value for value in told if value is not None]
    return sum(values) / FIRST if len(values) == FIRST else None


def fitting(study: Study, rounds: int) -> int:
    """So many rounds, or fewer where their points are large: one answer has not too many numbers.

    Each round has a point, the best guess after it and, by name, the point again.
    """
    return max(1, min(rounds, NUMBERS_AT_ONCE // (3 * study.center.size)))


def number_told(record: dict[str, Any]) -> float | None:
    """The value or loss of a round; None where it was not one number."""
    told = record.get("value", record.get("loss"))
    return told if isinstance(told, float) else None


def _columns(space: Space | None, seen: Overview) -> Glance:
    """What each number of a point is called, and between which bounds it lies."""
    if space is None:
        places = np.ndindex(seen.center.shape)
        names = [f"x[{', '.join(map(str, place))}]" for place in places]
        return {"columns": names, "ranges": None, "log": [False] * len(names), "space": None}
    axes = [each.axis for name, each in space.parameters.items() for _ in each.columns(name)]
    return {
        "columns": list(space.columns),
        "ranges": [[axis.low, axis.high] for axis in axes],
        "log": [axis.log for axis in axes],
        "labels": [list(axis.labels) for axis in axes],
        "space": space.spec(),
    }


# --- warnings ------------------------------------------------------------------------------------


def _warnings(space: Space | None, seen: Overview, now: datetime) -> Iterator[str]:
    """What somebody should look at."""
    yield from _late(seen, now, "query" if space is None else "trial")
    if seen.restarts:
        times = "once" if seen.restarts == 1 else f"{seen.restarts} times"
        yield f"the range of the values was found to be wider {times}, and learning began anew"
    if space is not None and seen.summary is not None and seen.rounds >= RECENT:
        yield from _at_bounds(space, seen)


def _late(seen: Overview, now: datetime, word: str) -> Iterator[str]:
    age = _age(seen.oldest_asked, now)
    if age is None or seen.first_open is None:
        return
    behind = seen.asked - 1 - seen.first_open
    if age > LATE_SECONDS or behind > LATE_ASKS:
        plural = {"query": "queries", "trial": "trials"}[word]
        waiting = (
            f"1 {word} waits" if seen.open_queries == 1 else f"{seen.open_queries} {plural} wait"
        )
        yield (
            f"{waiting} for an answer, the oldest ({seen.first_open}) for {_duration(age)}, and "
            f"{behind:,} were asked since. Tell what came of them, or forget them (dikin study "
            "forget)"
        )


def _duration(seconds: float) -> str:
    for size, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} s"


def _at_bounds(space: Space, seen: Overview) -> Iterator[str]:
    best = space.params(seen.center)
    for name, bound in space.bounds_near(seen.center).items():
        yield (
            f"the best {name} found is {value_text(best[name])}, next to its bound "
            f"{value_text(bound)}: if values beyond it are possible, try a wider range"
        )
