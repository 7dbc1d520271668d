"""Clients that want the same study all the time: how are the turns shared out?"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from itertools import groupby
from typing import NamedTuple

import dikin
from dikin.studies.fair_lock import FairLock
from studies.kills import rows_of


class Turns(NamedTuple):
    """How turns were shared out."""

    shares: list[int]
    """Events of each client, fewest first."""
    row: int
    """The most events of one client in a row."""
    longest: float
    """The longest that any client waited for two events, in seconds."""


def contend(url: str, clients: int, seconds: float) -> Turns:
    """That many processes ask and forget for so long, all at the same time."""
    dikin.Study(url, "turns", dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, seed=1)).close()
    hears, says = os.pipe()
    waits, starts = os.pipe()
    children = []
    for _ in range(clients):
        child = os.fork()
        if not child:
            os.close(starts)
            _play(url, seconds, waits, says)
        children.append(child)
    os.close(says)
    with os.fdopen(hears) as results:
        for _ in children:
            results.readline()  # ready
        os.close(starts)
        longest = max(float(results.readline()) for _ in children)
    for child in children:
        os.waitpid(child, 0)
    players = [row[3] for row in rows_of(url)]
    row = max(len(list(run)) for _, run in groupby(players))
    return Turns(sorted(Counter(players).values()), row, longest)


def _play(url: str, seconds: float, waits: int, says: int) -> None:
    study = dikin.Study(url, "turns", patience=60.0)
    os.write(says, b"ready\n")
    os.read(waits, 1)  # returns when the other end is closed
    end, longest = time.monotonic() + seconds, 0.0
    while (before := time.monotonic()) < end:
        study.forget(study.ask())
        longest = max(longest, time.monotonic() - before)
    os.write(says, f"{longest}\n".encode())
    os._exit(0)


def without_fair_lock() -> None:
    """SQLite's own waiting, for comparison."""
    FairLock.acquire = lambda self, patience, prepare: False  # type: ignore[method-assign]


if __name__ == "__main__":
    if sys.argv[2] == "alone":
        without_fair_lock()
    print(json.dumps(contend(sys.argv[1], clients=3, seconds=float(sys.argv[3]))))
