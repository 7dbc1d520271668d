"""Contexts: one tuner that is told them, beside one tuner for all and one tuner for each.

Bowls with three settings whose minima differ by context not at all, a little or much, 1 500 rounds
of contexts at random; and four types of jobs whose minima lie anywhere, after 1 000 and after 4 000
rounds. Prints the mean regret of a round. All tuners are as they are by default.

    python benchmarks/contexts.py [--games N] [--out FOLDER] [--page PAGE]
"""

from __future__ import annotations

import argparse
import logging
import sys
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

from comparison import play_parallel
from loops import six_digits
from report import Block, Results, publish_blocks
from rivals import Array

import dikin
from dikin.experiments.tables import fields, write_csv

GAMES, FIRST_SEED, WORKERS = 4, 920_000, 1
DIM, NOISE = 3, 0.05
DIFFERENCES = {"none": 0.0, "small": 0.3, "large": 1.0}
APART = 0.4
"""A minimum differs from the common one by this times the difference, up or down, a setting."""
ONE, EACH, CONTEXTS = "one tuner for all", "one tuner each", "one tuner with contexts"
PLAYERS = (ONE, EACH, CONTEXTS)
JOBS = "jobs"
HORIZONS = (1000, 4000)


class Task(NamedTuple):
    """One game."""

    contexts: int
    difference: str
    player: str
    game: int

    @property
    def horizons(self) -> tuple[int, ...]:
        return HORIZONS if self.difference == JOBS else (1500,)


class Row(NamedTuple):
    """A line of the CSV: one game, read after so many rounds."""

    contexts: int
    difference: str
    player: str
    game: int
    rounds: int
    regret: float
    """The mean of a round, in hundredths."""


def minima(task: Task, chance: np.random.Generator) -> Array:
    """The best setting of every context."""
    shape = (task.contexts, DIM)
    if task.difference == JOBS:
        return chance.uniform(-0.8, 0.8, shape)
    common = chance.uniform(-0.3, 0.3, DIM)
    return common + APART * DIFFERENCES[task.difference] * chance.choice([-1.0, 1.0], shape)


def tuners(task: Task, words: list[str]) -> list[dikin.Tuner]:
    """The tuner of each context."""
    settings = {f"x{i}": dikin.Real(-1, 1) for i in range(DIM)}
    seed = FIRST_SEED + task.game
    if task.player == EACH:
        return [dikin.Tuner(settings, seed=100 * seed + k) for k in range(task.contexts)]
    told: Any = {"type": words} if task.player == CONTEXTS else None
    return [dikin.Tuner(settings, context=told, seed=seed)] * task.contexts


def play(task: Task) -> list[Row]:
    """One game, with the same losses for all players."""
    logging.getLogger("dikin").setLevel(logging.ERROR)
    place = task.contexts, *task.difference.encode()
    chance = np.random.default_rng([FIRST_SEED + task.game, *place])
    best, words = minima(task, chance), [f"type {k}" for k in range(task.contexts)]
    players, total = tuners(task, words), 0.0
    found: list[Row] = []
    for round in range(1, task.horizons[-1] + 1):
        k, noise = int(chance.integers(task.contexts)), NOISE * float(chance.standard_normal())
        trial = players[k].ask({"type": words[k]} if task.player == CONTEXTS else None)
        regret = 0.5 * float(((trial.point - best[k]) ** 2).sum())
        total += regret
        players[k].tell(trial, regret + noise)
        if round in task.horizons:
            found.append(Row(*task, round, six_digits(100.0 * total / round)))
    return found


def tasks(games: range) -> list[Task]:
    kinds = [*product((4, 10), DIFFERENCES), (4, JOBS)]
    return [Task(*kind, player, g) for kind in kinds for player in PLAYERS for g in games]


def regrets(rows: list[Row], contexts: int, difference: str, rounds: int) -> dict[str, Array]:
    """One number for each game, by player."""
    mine = [row for row in rows if (*row[:2], row.rounds) == (contexts, difference, rounds)]
    return {
        player: np.array([row.regret for row in mine if row.player == player]) for player in PLAYERS
    }


def blocks(rows: list[Row]) -> list[Block]:
    """Two tables: contexts that differ more or less, and four types of jobs."""
    apart = {
        f"{contexts}, {difference}": regrets(rows, contexts, difference, 1500)
        for contexts, difference in product((4, 10), DIFFERENCES)
    }
    jobs = {f"{rounds:,} rounds": regrets(rows, 4, JOBS, rounds) for rounds in HORIZONS}
    about = "mean regret of a round in hundredths"
    tables = {
        "contexts": (f"{about}, contexts and how much they differ, 1,500 rounds", apart),
        JOBS: (f"{about}, four types of jobs", jobs),
    }
    return [
        Results(
            name,
            text,
            {player: {setting: found[setting][player] for setting in found} for player in PLAYERS},
        ).block()
        for name, (text, found) in tables.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", type=int, default=GAMES, help="of each kind (%(default)s)")
    parser.add_argument("--out", type=Path, help="a folder for the CSV")
    parser.add_argument("--page", type=Path, help="a page whose tables are written anew")
    chosen = parser.parse_args()
    games = range(chosen.games)
    played = play_parallel(play, tasks(games), WORKERS)
    rows = [row for game in played for row in game]
    if chosen.out is not None:
        chosen.out.mkdir(parents=True, exist_ok=True)
        write_csv(chosen.out / "contexts.csv", fields(*Row._fields), rows)
    publish_blocks(blocks(rows), chosen.page)


if __name__ == "__main__":
    main()
