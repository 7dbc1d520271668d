"""A serving queue: requests in batches on replicas, a p99 limit, day and night.

Queues and time are those of SimPy (`simpy` on PyPI). A round is four seconds of an hour of the day.
Requests arrive at random, 33 a second at 3 and 300 at 15 o'clock, times a random level of the hour.
A replica takes up to `batch` of them, and waits at most `wait_ms` for more after the first. A batch
of b takes (20 + 2 b) ms, give or take a tenth: constant and linear parts, as for models on a GPU.

A replica costs 1 while it computes and 0.4 while it waits: the value is the mean cost of the
replicas. The limit is a p99 of 150 ms from arrival to answer. Today's setting keeps it at any hour.
`dikin.Tuner` has the hour as its context. Rivals without contexts have one copy for the twelve
hours of the day and one for the night. The second number is the share of all requests, in per cent,
that take longer than 150 ms: 1 % may.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

import dikin
from evidence.games import Outcome, Task
from evidence.limited import CMA_PENALTY, PENALIZED, TPE_LIMIT, TPE_PENALTY, Limited
from evidence.rivals import KEEP, TUNER, Array, import_optional

TITLE, GAMES, WORKERS, LEAST = "Serving queue", 8, 2, 1e-9
FIGURES = ("cost of the replicas", "requests above 150 ms, %")
PROBLEM, FIRST_SEED = "twenty days", 79_000
ROUNDS, SECONDS = 480, 4.0
BOUND = 150.0
IDLE = 0.4
PARAMETERS = {
    "batch": dikin.Integer(1, 64, start=8, log=True),
    "wait_ms": dikin.Real(0, 100, start=10),
    "replicas": dikin.Integer(1, 6, start=3),
}


def rate(hour: int) -> float:
    """Return the mean number of requests a second."""
    return float(100 * np.exp(1.1 * np.cos(2 * np.pi * (hour - 15) / 24)))


def milliseconds(batch: int) -> float:
    """Return the mean time that a batch takes."""
    return 20.0 + 2.0 * batch


class Server:
    """Replicas that take batches from one queue."""

    def __init__(self, params: dict[str, Any], gaps: Array, chance: np.random.Generator) -> None:
        simpy = import_optional("simpy")
        self.params, self.chance = params, chance
        self.clock, self.busy = simpy.Environment(), 0.0
        self.queue, self.turn = simpy.Store(self.clock), simpy.Resource(self.clock)
        self.times: list[float] = []
        """Milliseconds of every request that was answered."""
        self.clock.process(self._arrive(gaps))
        for _ in range(params["replicas"]):
            self.clock.process(self._serve())

    def _arrive(self, gaps: Array) -> Iterator[Any]:
        for gap in gaps:
            yield self.clock.timeout(gap)
            self.queue.put(self.clock.now)

    def _serve(self) -> Iterator[Any]:
        while True:
            with self.turn.request() as turn:  # one replica at a time collects a batch
                yield turn
                batch = [(yield self.queue.get())]
                late = self.clock.timeout(self.params["wait_ms"])
                while len(batch) < self.params["batch"]:
                    more = self.queue.get()
                    yield more | late
                    if not more.triggered:
                        more.cancel()
                        break
                    batch.append(more.value)
            spent = milliseconds(len(batch)) * max(0.5, 1 + 0.1 * self.chance.normal())
            yield self.clock.timeout(spent)
            self.busy += spent
            self.times += [self.clock.now - arrived for arrived in batch]


def simulate(params: dict[str, Any], hour: int, chance: np.random.Generator) -> tuple[float, Array]:
    """Return the cost of a round, and the milliseconds of its requests, once all are answered."""
    level = rate(hour) * np.exp(0.1 * chance.normal())
    gaps = chance.exponential(1000 / level, max(round(level * SECONDS), 1))
    server = Server(params, gaps, chance)
    while len(server.times) < len(gaps):
        server.clock.step()
    share = server.busy / server.clock.now
    return IDLE * params["replicas"] + (1 - IDLE) * share, np.array(server.times)


def run(task: Task) -> Outcome:
    """One run."""
    seed, groups = FIRST_SEED + task.game, ("day", "night")
    context = {"hour": dikin.Cycle(24)}
    player = Limited(task.player, PARAMETERS, BOUND, groups, context, seed, task.rounds)
    cost, late, requests = 0.0, 0, 0
    for t in range(task.rounds):
        hour = t % 24
        group = groups[not 9 <= hour < 21]
        trial = player.ask(group, {"hour": hour})
        value, times = simulate(trial.params, hour, np.random.default_rng([seed, t]))
        cost, late, requests = (
            cost + value,
            late + int((times > BOUND).sum()),
            requests + len(times),
        )
        player.tell(group, trial, value, float(np.quantile(times, 0.99)))
    return Outcome(cost / task.rounds, 100.0 * late / requests)


def tasks(games: range) -> list[Task]:
    """Every run."""
    players = (TUNER, KEEP, PENALIZED, TPE_LIMIT, TPE_PENALTY, CMA_PENALTY)
    return [Task(PROBLEM, ROUNDS, player, game) for game, player in product(games, players)]
