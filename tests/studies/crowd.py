"""Many clients in ask and tell loops on one study: throughput, turns, and what was acknowledged."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import dikin
from dikin.errors import BusyError
from studies.small import plain, rows_of

Ready = Callable[[], object]
"""Says that all is prepared, and returns when it is so for all."""


def together(clients: int, play: Callable[[Ready], str]) -> list[str]:
    """Let that many processes play; the line that each of them had to say."""
    hears, says = os.pipe()
    waits, starts = os.pipe()
    children = []
    for _ in range(clients):
        child = os.fork()
        if not child:
            os.close(hears)
            os.close(starts)
            try:
                said = play(lambda: (os.write(says, b"ready\n"), os.read(waits, 1)))
                os.write(says, f"{said}\n".encode())  # less than 4 KB, which a pipe takes as one
            except BaseException as error:
                os.write(says, f"ended with {error!r}\n".encode()[:4000])
            finally:
                os._exit(0)
        children.append(child)
    os.close(says)
    with os.fdopen(hears) as results:
        for _ in children:
            assert results.readline() == "ready\n", "a client ended with an error"
        os.close(starts)  # for which all wait
        lines = results.read().splitlines()
    os.close(waits)
    for child in children:
        os.waitpid(child, 0)
    assert not any("ended with" in line for line in lines), lines
    return lines


class Crowd(NamedTuple):
    """What a crowd did."""

    rate: float
    """Rounds a second."""
    busy: int
    """Calls that waited longer than their patience."""
    fewest: int
    most: int
    """Rounds of a client."""
    lost: int
    doubled: int


def crowd(url: str, clients: int, seconds: float) -> Crowd:
    """That many processes ask and tell for so long, with the patience that a study has.

    Each plays one round at least: on a busy machine its first turn may come late.
    """
    dikin.Study(url, "kills", plain()).close()

    def play(ready: Ready) -> str:
        study, rounds, busy = dikin.Study(url, "kills"), 0, 0
        with open(f"{told_in}/{os.getpid()}", "w", encoding="utf-8") as told:
            ready()
            end = time.monotonic() + seconds
            while time.monotonic() < end or not rounds:
                try:
                    query = study.ask()
                    study.tell(query, 0.25 + 0.5 * (query.id % 2))
                except BusyError:
                    busy += 1
                else:
                    rounds += 1
                    told.write(f"{query.id}\n")
        return json.dumps([rounds, busy])

    with tempfile.TemporaryDirectory() as told_in:
        found = [json.loads(line) for line in together(clients, play)]
        acknowledged = Counter(
            int(id) for file in Path(told_in).iterdir() for id in file.read_text().split()
        )
    kept = Counter(row.ask for row in rows_of(url, "kills") if row.kind == "tell")
    rounds = [each for each, _ in found]
    return Crowd(
        rate=sum(rounds) / seconds,
        busy=sum(busy for _, busy in found),
        fewest=min(rounds),
        most=max(rounds),
        lost=sum(kept[id] == 0 for id in acknowledged),
        doubled=sum(n > 1 for n in (*kept.values(), *acknowledged.values())),
    )
