"""Splits traffic among web servers of this machine, by the mean latency of bursts of requests.

Four servers run on the loopback interface, each with one worker, another time per request and a
queue. Three clients send bursts at the same time, every request to a server drawn by the shares of
its trial, so that answers come late and out of order. Plays with servers that stay as they are and
with servers that change places half-way; prints mean latencies, and draws what was played.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from fleet import Fleet
from report import Results, publish
from rich.console import Console
from rich.progress import Progress
from rivals import (
    BLUEFIN,
    CMA_ES,
    TBPSA,
    TBPSA_,
    Array,
    Bluefin,
    Parameters,
    PyCMA,
    Today,
    Tuning,
    tuner,
)

import dikin

NAMES = ("a", "b", "c", "d")
BEFORE, AFTER = (1.0, 2.0, 3.0, 6.0), (6.0, 3.0, 2.0, 1.0)
"""Milliseconds per request: at first, and after the servers have changed places."""
CLIENTS, REQUESTS = 3, 6
"""How many bursts are under way at once, and how many requests are in each."""
SETTINGS = {"servers stay": (BEFORE, BEFORE), "servers change": (BEFORE, AFTER)}
TUNER, EVEN, TOLD = (
    "dikin.Tuner",
    "keep the even split",
    "told the capacities",
)
Paces = tuple[float, ...]


class Change(NamedTuple):
    """How long a request takes at each server: in the first half of the rounds, and then."""

    rounds: int
    before: Paces
    after: Paces

    def paces(self, round: int) -> Paces:
        return self.before if 2 * round < self.rounds else self.after


class Told:
    """Splits in proportion to the capacities, which it is told."""

    def __init__(self, change: Change) -> None:
        self._change, self._asked = change, 0

    @property
    def best(self) -> dict[str, dict[str, float]]:
        rates = 1.0 / np.array(self._change.paces(self._asked))
        return {"share": dict(zip(NAMES, (rates / rates.sum()).tolist(), strict=True))}

    def ask(self) -> dikin.Trial:
        params = self.best
        self._asked += 1
        return dikin.Trial(self._asked, np.array([*params["share"].values()]), params)

    def tell(self, trial: dikin.Trial, value: float) -> None:
        pass


PARAMETERS: Parameters = {"share": dikin.Shares(NAMES)}
PLAYERS: dict[str, Callable[[Change, int], Tuning]] = {
    TUNER: lambda _, seed: tuner(PARAMETERS, False, seed),
    EVEN: lambda _, seed: Today(PARAMETERS, False, seed),
    BLUEFIN: lambda _, seed: Bluefin(PARAMETERS, False, seed),
    CMA_ES: lambda _, seed: PyCMA(PARAMETERS, False, seed),
    TBPSA_: lambda _, seed: TBPSA(PARAMETERS, False, seed),
    TOLD: lambda change, _: Told(change),
}


# --- the games -----------------------------------------------------------------------------------


class Record(NamedTuple):
    """What was seen in a game, in the order in which the trials were asked."""

    latencies: Array
    shares: Array
    """What was played: a row for each round."""
    overtaken: int
    """Answers that came before that of an older trial."""


def play(
    fleet: Fleet, player: Tuning, change: Change, seed: int, advance: Callable[[], None]
) -> Record:
    """Keep all clients busy until every round is answered, and say so after each answer."""
    rounds, draws, asked = change.rounds, np.random.default_rng(seed), 0
    record = Record(np.full(rounds, np.nan), np.empty((rounds, len(NAMES))), 0)
    waiting: dict[Future[float], tuple[int, dikin.Trial]] = {}
    with ThreadPoolExecutor(CLIENTS) as pool:
        while asked < rounds or waiting:
            while asked < rounds and len(waiting) < CLIENTS:
                if asked == 0 or change.paces(asked) != change.paces(asked - 1):
                    fleet.set_paces(change.paces(asked))
                trial = player.ask()
                shares = trial.point / trial.point.sum()
                counts = draws.multinomial(REQUESTS, shares).tolist()
                waiting[pool.submit(fleet.latency, counts)] = asked, trial
                record.shares[asked] = shares
                asked += 1
            for done in wait(waiting, return_when=FIRST_COMPLETED).done:
                round, trial = waiting.pop(done)
                record.latencies[round] = done.result()
                player.tell(trial, float(record.latencies[round]))
                overtaken = any(other < round for other, _ in waiting.values())
                record = record._replace(overtaken=record.overtaken + overtaken)
                advance()
    return record


class Task(NamedTuple):
    """One game."""

    setting: str
    player: str
    seed: int


def play_all(fleet: Fleet, rounds: int, games: int, seed: int) -> dict[Task, Record]:
    """One game after the other, the players of a game in random order; with a progress bar."""
    order, records = np.random.default_rng(seed), {}
    with Progress() as progress:
        total = games * len(SETTINGS) * len(PLAYERS) * rounds
        bar = progress.add_task("rounds", total=total)
        for game in range(seed, seed + games):
            tasks = [Task(setting, player, game) for setting in SETTINGS for player in PLAYERS]
            for index in order.permutation(len(tasks)):
                task = tasks[index]
                change = Change(rounds, *SETTINGS[task.setting])
                player = PLAYERS[task.player](change, task.seed)
                advance = partial(progress.advance, bar)
                records[task] = play(fleet, player, change, task.seed, advance)
    return records


def results_of(records: dict[Task, Record]) -> Results:
    """Milliseconds by player and setting."""
    rounds = len(next(iter(records.values())).latencies)
    values = {
        player: {
            f"{setting}, {rounds:,} rounds": np.array(
                [record.latencies.mean() for record in of(records, setting, player)]
            )
            for setting in SETTINGS
        }
        for player in PLAYERS
    }
    first = min(task.seed for task in records)
    return Results("traffic", "mean latency in milliseconds", values, first, reference=TOLD)


def of(records: dict[Task, Record], setting: str, player: str) -> list[Record]:
    """The games of a player, by seed."""
    return [records[task] for task in sorted(records) if task[:2] == (setting, player)]


# --- the command ---------------------------------------------------------------------------------


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=500, help="of each game (%(default)s)")
    parser.add_argument("--games", type=int, default=2, help="of each player (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first game (%(default)s)")
    parser.add_argument("--out", type=Path, default=Path("."), help="folder to write to")
    parser.add_argument("--page", type=Path, help="a page whose table is written anew")
    chosen = parser.parse_args()
    for name, least in (("rounds", 2), ("games", 1), ("seed", 0)):
        if getattr(chosen, name) < least:
            parser.error(f"--{name} must be at least {least}, got {getattr(chosen, name)}")
    return chosen


def main() -> None:
    chosen, console = arguments(), Console()
    with Fleet.running(len(NAMES), CLIENTS, REQUESTS) as fleet:
        console.print(f"{len(NAMES)} servers listen on the ports", *fleet.ports)
        records = play_all(fleet, chosen.rounds, chosen.games, chosen.seed)
    overtaken = sum(record.overtaken for record in records.values())
    bursts = len(records) * chosen.rounds
    console.print(f"{bursts:,} bursts of {REQUESTS} requests, {overtaken:,} answers out of order")
    publish(results_of(records), chosen.out, chosen.page)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("Stopped; the servers have ended.", file=sys.stderr)
        sys.exit(130)  # what a shell says of Ctrl-C
    except OSError as error:
        sys.exit(f"Failed; the servers have ended. {type(error).__name__}: {error}")
