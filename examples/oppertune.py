"""The two test problems of the OPPerTune package, for `dikin.Tuner` and four rivals.

Five settings in [1, 100], the squared distance to (10, 50, 70, 20, 80) over 10^4, from (50, 20, 30,
70, 10); two settings in [1, 1000], the absolute distance to (200, 800) over 1000, from (400, 400).
1000 rounds each, measured without noise. Prints the mean regret a round in per cent of what staying
at the start would cost, and draws the regret of every round.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from report import Results, play_parallel, publish
from rivals import RIVALS, TPE, Array, Maker, tuner

import dikin

TUNER, TPE_ = "dikin.Tuner", "TPE (Optuna)"
PLAYERS: dict[str, Maker] = {TUNER: tuner, **RIVALS, TPE_: TPE}
ROUNDS, WORKERS = 1000, 2


class Problem(NamedTuple):
    """What is tuned: a range that all settings share, where they start and where they are best."""

    low: float
    high: float
    start: tuple[float, ...]
    best: tuple[float, ...]
    distance: Callable[[Array], float]
    """Of the difference from the best setting."""

    def parameters(self) -> dict[str, dikin.Real]:
        names = (f"x{i + 1}" for i in range(len(self.start)))
        return {
            name: dikin.Real(self.low, self.high, start=start)
            for name, start in zip(names, self.start, strict=True)
        }

    def loss(self, point: Array) -> float:
        return self.distance(np.asarray(point) - np.array(self.best))


def squares(v: Array) -> float:
    return float(v @ v) / 1e4


def sizes(v: Array) -> float:
    return float(np.abs(v).sum()) / 1e3


PROBLEMS = {
    "5 settings": Problem(1, 100, (50, 20, 30, 70, 10), (10, 50, 70, 20, 80), squares),
    "2 settings": Problem(1, 1000, (400, 400), (200, 800), sizes),
}


class Task(NamedTuple):
    """One game."""

    problem: str
    player: str
    seed: int


class Game(NamedTuple):
    """What came of it."""

    task: Task
    shares: Array
    """The regret of each round in per cent of that of the start."""


def play(task: Task, rounds: int) -> Game:
    """One game by ask and tell; the least loss is 0, so that the loss is the regret."""
    problem = PROBLEMS[task.problem]
    player = PLAYERS[task.player](problem.parameters(), False, task.seed)
    losses = np.empty(rounds)
    for round in range(rounds):
        trial = player.ask()
        losses[round] = problem.loss(trial.point)
        player.tell(trial, float(losses[round]))
    return Game(task, 100.0 * losses / problem.loss(np.array(problem.start)))


def play_all(games: int, seed: int, rounds: int) -> list[Game]:
    """Every game, with a progress bar; the slowest player first."""
    tasks = [
        Task(problem, player, seed + game)
        for player in reversed(PLAYERS)
        for problem in PROBLEMS
        for game in range(games)
    ]
    return play_parallel(lambda task: play(task, rounds), tasks, WORKERS)


def results_of(games: list[Game]) -> Results:
    """Regret a round by player and problem."""
    values = {
        player: {
            problem: np.array([g.shares.mean() for g in games if g.task[:2] == (problem, player)])
            for problem in PROBLEMS
        }
        for player in PLAYERS
    }
    about = f"mean regret a round over {len(games[0].shares):,} rounds, % of that of the start"
    return Results("oppertune", about, values, min(game.task.seed for game in games))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", type=int, default=6, help="of each problem (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first game (%(default)s)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of each game (%(default)s)")
    parser.add_argument("--out", type=Path, default=Path("."), help="folder to write to")
    parser.add_argument("--page", type=Path, help="a page whose table is written anew")
    chosen = parser.parse_args()
    games = play_all(chosen.games, chosen.seed, chosen.rounds)
    publish(results_of(games), chosen.out, chosen.page)


if __name__ == "__main__":
    main()
