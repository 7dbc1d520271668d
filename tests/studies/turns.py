"""Clients that want the same study all the time: how are the turns shared out?"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from itertools import groupby
from typing import NamedTuple

import dikin
from dikin.studies.fair_lock import FairLock
from studies.kills import rows_of
from studies.together import Client, together


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
    _, lines = together(clients, lambda client: _play(url, seconds, client))
    longest = max(map(float, lines))
    players = [row[3] for row in rows_of(url)]
    row = max(len(list(run)) for _, run in groupby(players))
    return Turns(sorted(Counter(players).values()), row, longest)


def _play(url: str, seconds: float, client: Client) -> None:
    study = dikin.Study(url, "turns", patience=60.0)
    client.ready()
    end, longest = time.monotonic() + seconds, 0.0
    while (before := time.monotonic()) < end:
        study.forget(study.ask())
        longest = max(longest, time.monotonic() - before)
    client.say(str(longest))


def without_fair_lock() -> None:
    """SQLite's own waiting, for comparison."""
    FairLock.acquire = lambda self, patience, prepare: False  # type: ignore[method-assign]


if __name__ == "__main__":
    if sys.argv[2] == "alone":
        without_fair_lock()
    print(json.dumps(contend(sys.argv[1], clients=3, seconds=float(sys.argv[3]))))
