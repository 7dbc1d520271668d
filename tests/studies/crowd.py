"""Many clients in ask and tell loops on one study: throughput, turns, and what was acknowledged."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable
from math import inf
from typing import NamedTuple

import dikin
from dikin.errors import BusyError
from studies.small import plain, rows_of


class Client(NamedTuple):
    """What a process uses to speak with the one that started it."""

    says: int
    waits: int

    def ready(self) -> None:
        """Say that all is prepared, and return when it is so for all."""
        os.write(self.says, b"ready\n")
        os.read(self.waits, 1)  # returns when the other end is closed

    def say(self, line: str) -> None:
        """A line of less than 4 KB, which a pipe takes as one."""
        os.write(self.says, line.encode() + b"\n")


def together(clients: int, play: Callable[[Client], None]) -> tuple[float, list[str]]:
    """Let that many processes play; when they began, and the lines that they said."""
    hears, says = os.pipe()
    waits, starts = os.pipe()
    children = []
    for _ in range(clients):
        child = os.fork()
        if not child:
            os.close(hears)
            os.close(starts)
            try:
                play(Client(says, waits))
            finally:
                os._exit(0)
        children.append(child)
    os.close(says)
    with os.fdopen(hears) as results:
        for _ in children:
            assert results.readline() == "ready\n", "a client ended with an error"
        begin = time.time()
        os.close(starts)
        lines = results.read().splitlines()
    os.close(waits)
    for child in children:
        os.waitpid(child, 0)
    return begin, lines


class Crowd(NamedTuple):
    """What a crowd did."""

    rate: float
    """Events a second, asks and tells."""
    by_time: list[int]
    """Events in each twelfth of the time."""
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
    start, lines = together(clients, lambda client: _play(url, seconds, client))
    return _reckoned(url, [json.loads(line) for line in lines], clients, start, seconds)


def _play(url: str, seconds: float, client: Client) -> None:
    rounds, busy, stamps = list[int](), 0, list[float]()
    study = dikin.Study(url, "kills")
    client.ready()
    end = time.time() + seconds
    while time.time() < end or not rounds:
        try:
            query = study.ask()
            stamps.append(time.time())
            study.tell(query, 0.25 + 0.5 * (query.id % 2))
        except BusyError:
            busy += 1
        else:
            stamps.append(time.time())
            rounds.append(query.id)
    for piece in range(0, len(stamps), 50):
        client.say(_line(rounds=[], busy=0, stamps=stamps[piece : piece + 50]))
    for piece in range(0, len(rounds), 200):
        client.say(_line(rounds=rounds[piece : piece + 200], busy=0, stamps=[]))
    client.say(_line(rounds=[], busy=busy, stamps=[]))


def _line(**report: object) -> str:
    return json.dumps(report | {"client": os.getpid()})


def _reckoned(url: str, reports: list[dict], clients: int, start: float, seconds: float) -> Crowd:
    told = Counter(row.ask for row in rows_of(url, "kills") if row.kind == "tell")
    rounds = Counter[int]({report["client"]: 0 for report in reports})
    for report in reports:
        rounds[report["client"]] += len(report["rounds"])
    acknowledged = [query for report in reports for query in report["rounds"]]
    stamps = [stamp for report in reports for stamp in report["stamps"]]
    parts = Counter(min(11, int(12 * (stamp - start) / seconds)) for stamp in stamps)
    assert len(rounds) == clients, "a client ended with an error"
    return Crowd(
        rate=len(stamps) / seconds,
        by_time=[parts[i] for i in range(12)],
        busy=sum(report["busy"] for report in reports),
        fewest=min(rounds.values(), default=0),
        most=max(rounds.values(), default=0),
        lost=sum(told[query] == 0 for query in acknowledged),
        doubled=sum(times > 1 for times in told.values())
        + sum(times > 1 for times in Counter(acknowledged).values()),
    )


def ratio(many: Crowd, few: Crowd) -> float:
    """Of the two rates."""
    return many.rate / few.rate if few.rate else inf
