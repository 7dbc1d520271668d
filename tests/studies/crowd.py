"""Many clients in ask and tell loops on one study: throughput, turns, and what was acknowledged."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from math import inf
from typing import NamedTuple

import dikin
from dikin.errors import BusyError
from studies.kills import rows_of


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
    """That many processes ask and tell for so long, with the patience that a study has."""
    dikin.Study(url, "kills", dikin.Predictive(dikin.Ball(2), seed=1)).close()
    hears, says = os.pipe()
    waits, starts = os.pipe()
    children = []
    for _ in range(clients):
        child = os.fork()
        if not child:
            os.close(hears)
            os.close(starts)
            try:
                _play(url, waits, seconds, says)
            finally:
                os._exit(0)
        children.append(child)
    os.close(says)
    with os.fdopen(hears) as results:
        for _ in children:
            assert results.readline() == "ready\n", "a client ended with an error"
        start = time.time()
        os.close(starts)
        reports = [json.loads(line) for line in results]
    os.close(waits)
    for child in children:
        os.waitpid(child, 0)
    return _reckoned(url, reports, clients, start, seconds)


def _play(url: str, waits: int, seconds: float, says: int) -> None:
    rounds, busy, stamps = list[int](), 0, list[float]()
    study = dikin.Study(url, "kills")
    os.write(says, b"ready\n")
    os.read(waits, 1)  # returns when the other end is closed
    end = time.time() + seconds
    while time.time() < end:
        try:
            query = study.ask()
            stamps.append(time.time())
            study.tell(query, 0.25 + 0.5 * (query.id % 2))
        except BusyError:
            busy += 1
        else:
            stamps.append(time.time())
            rounds.append(query.id)
    for piece in range(0, len(stamps), 50):  # a pipe takes 4 KB at a time as one
        os.write(says, _line(rounds=[], busy=0, stamps=stamps[piece : piece + 50]))
    for piece in range(0, len(rounds), 200):
        os.write(says, _line(rounds=rounds[piece : piece + 200], busy=0, stamps=[]))
    os.write(says, _line(rounds=[], busy=busy, stamps=[]))


def _line(**report: object) -> bytes:
    return json.dumps(report | {"client": os.getpid()}).encode() + b"\n"


def _reckoned(url: str, reports: list[dict], clients: int, start: float, seconds: float) -> Crowd:
    told = Counter(row[2] for row in rows_of(url) if row[1] == "tell")
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
