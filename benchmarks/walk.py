"""Stops of a call: how many Python functions of dikin it runs through, in how many files.

    python benchmarks/walk.py          the table
    python benchmarks/walk.py tuner    every stop of the calls whose names contain the word

A tracer counts the calls, generators that are resumed included; no time is measured, so that the
numbers are the same in every run. Counted is a round of every day: the study is open, nobody else
writes to it, and it has some rounds behind it.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

from timing import Row

import dikin

SOURCE = str(Path(dikin.__file__).resolve().parent)
ROUNDS = 40
"""Rounds before those that are counted: a tuner's start is behind it, a snapshot far ahead."""
COUNTED = 9


class Walk(NamedTuple):
    """The functions that one call ran through, in order."""

    stops: list[str]

    @property
    def files(self) -> set[str]:
        return {stop.partition(":")[0] for stop in self.stops}


def walk(call: Callable[[], Any]) -> tuple[Walk, Any]:
    """Trace a call; what it returned comes too."""
    codes: list[CodeType] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(SOURCE):
            codes.append(frame.f_code)

    sys.setprofile(note)
    try:
        result = call()
    finally:
        sys.setprofile(None)
    stops = [f"{c.co_filename[len(SOURCE) + 1 :]}:{c.co_qualname}" for c in codes]
    return Walk(stops), result


def usual_round(player: Any, **known: Any) -> tuple[Walk, Walk]:
    """The ask and the tell of median length among some rounds: not every round does the same."""
    for _ in range(ROUNDS):
        query = player.ask(**known)
        player.tell(query, loss(query.point))
    asks, tells = [], []
    for _ in range(COUNTED):
        asked, query = walk(partial(player.ask, **known))
        told, _ = walk(partial(player.tell, query, loss(query.point)))
        asks.append(asked)
        tells.append(told)
    return _median(asks), _median(tells)


def loss(point: Any) -> float:
    """A bowl, within (-1, 1) wherever it is played."""
    return 0.2 * float((point - 0.1).dot(point - 0.1))


def _median(walked: list[Walk]) -> Walk:
    return sorted(walked, key=lambda each: len(each.stops))[len(walked) // 2]


def walks() -> Iterator[tuple[str, Walk, str]]:
    """What was traced, and how many stops in how many files it may have."""
    yield from _both("AdaptiveSmooth", learner(), "")
    yield from _both("Predictive", dikin.Predictive(dikin.Ball(10), seed=1), "")
    yield from _both("Tuner", tuner(), "")
    everything = tuner(context={"hour": dikin.Cycle(24)}, holdback=0.1, guard=0.02)
    known = {"context": {"hour": 14}, "covariates": {"load": 0.7}}
    yield from _both("Tuner with context, covariate, guard", everything, "", **known)
    with (
        tempfile.TemporaryDirectory() as name,
        dikin.Study(Path(name) / "walk.db", "walk", tuner()) as study,
    ):
        yield from _both("Study of a tuner, SQLite", study, "<= 120")


def learner() -> dikin.AdaptiveSmooth:
    return dikin.AdaptiveSmooth(dikin.Ball(10), 1.0, seed=1)


def tuner(**more: Any) -> dikin.Tuner:
    return dikin.Tuner({"a": dikin.Real(0, 1), "b": dikin.Real(0, 1)}, seed=1, **more)


def _both(name: str, player: Any, limit: str, **known: Any) -> Iterator[tuple[str, Walk, str]]:
    asked, told = usual_round(player, **known)
    yield f"{name}: ask", asked, limit
    yield f"{name}: tell", told, limit


def rows() -> Iterator[Row]:
    for name, walked, limit in walks():
        figure = f"{len(walked.files)} files"
        yield Row(f"{name}, functions called", figure, "", len(walked.stops), limit)


def main() -> None:
    wanted = " ".join(sys.argv[1:])
    for name, walked, _ in walks():
        print(f"{len(walked.stops):4} calls in {len(walked.files):2} files  {name}")
        if wanted and wanted in name:
            for stop, count in Counter(walked.stops).most_common():
                print(f"     {count:3} {stop}")


if __name__ == "__main__":
    main()
