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
from dikin.studies.turnstile import Turnstile
from studies.kills import rows_of


class Turns(NamedTuple):
    """How turns were shared out while all the clients were playing."""

    shares: list[int]
    """Events of each client, fewest first."""
    row: int
    """The most events of one client in a row."""
    longest: float
    """The longest that any client waited for an event, in seconds."""


def contend(url: str, clients: int, seconds: float) -> Turns:
    """That many processes ask and forget for so long."""
    dikin.Study(url, "turns", dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, seed=1)).close()
    hears, says = os.pipe()
    children = []
    for _ in range(clients):
        child = os.fork()
        if not child:
            _play(url, seconds, says)
        children.append(child)
    os.close(says)
    for child in children:
        os.waitpid(child, 0)
    with os.fdopen(hears) as results:
        longest = max(float(line) for line in results)
    players = _while_all_played([row[3] for row in rows_of(url)], clients)
    row = max(len(list(run)) for _, run in groupby(players))
    return Turns(sorted(Counter(players).values()), row, longest)


def _play(url: str, seconds: float, says: int) -> None:
    study = dikin.Study(url, "turns", patience=60.0)
    end, longest = time.monotonic() + seconds, 0.0
    while (before := time.monotonic()) < end:
        study.forget(study.ask())
        longest = max(longest, time.monotonic() - before)
    os.write(says, f"{longest}\n".encode())
    os._exit(0)


def _while_all_played(players: list[str], clients: int) -> list[str]:
    """From the last client's first event to the first client's last."""
    names = set(players)
    assert len(names) == clients
    begin = max(players.index(name) for name in names)
    end = min(len(players) - players[::-1].index(name) for name in names)
    return players[begin:end]


def without_turnstile() -> None:
    """SQLite's own waiting, for comparison."""
    Turnstile.enter = lambda self, patience: False  # type: ignore[method-assign]


if __name__ == "__main__":
    if sys.argv[2] == "alone":
        without_turnstile()
    print(json.dumps(contend(sys.argv[1], clients=3, seconds=float(sys.argv[3]))))
