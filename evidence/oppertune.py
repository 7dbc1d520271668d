"""The two test problems of the OPPerTune package, for the usual players and TPE.

Five settings in [1, 100], the squared distance to (10, 50, 70, 20, 80) over 10^4, from (50, 20, 30,
70, 10); two settings in [1, 1000], the absolute distance to (200, 800) over 1000, from (400, 400).
1,000 rounds each, measured without noise. A round costs its regret in per cent of the start's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import dikin
from evidence.games import Outcome, Task, take_turns
from evidence.rivals import PLAYERS, TPE_, USUAL, Array, last_tenth

TITLE, GAMES, WORKERS, LEAST = "OPPerTune", 16, 2, 1e-9
ROUNDS = 1_000


class Problem(NamedTuple):
    """A range that all settings share, where they start, and where they are best."""

    low: float
    high: float
    start: tuple[float, ...]
    best: tuple[float, ...]
    squared: bool

    def parameters(self) -> dict[str, dikin.Real]:
        starts = enumerate(self.start, 1)
        return {f"x{i}": dikin.Real(self.low, self.high, start=start) for i, start in starts}

    def loss(self, point: Array) -> float:
        v = np.asarray(point) - np.array(self.best)
        return float(v @ v) / 1e4 if self.squared else float(np.abs(v).sum()) / 1e3


PROBLEMS = {
    "5 settings": Problem(1, 100, (50, 20, 30, 70, 10), (10, 50, 70, 20, 80), True),
    "2 settings": Problem(1, 1000, (400, 400), (200, 800), False),
}


def run(task: Task) -> Outcome:
    """One game. The least loss is 0, so that the loss is the regret."""
    problem = PROBLEMS[task.problem]
    player = PLAYERS[task.player](problem.parameters(), False, task.game, task.rounds)
    unit = problem.loss(np.array(problem.start)) / 100.0

    def answer(trial: dikin.Trial, round: int) -> tuple[float, float]:
        loss = problem.loss(trial.point)
        return loss, loss / unit

    costs = take_turns(player, task.rounds, answer)
    return Outcome(float(np.mean(costs)), last_tenth(costs))


def tasks(games: range) -> list[Task]:
    """Every game."""
    return [
        Task(problem, ROUNDS, player, 1 + game)
        for problem in PROBLEMS
        for player in (TPE_, *USUAL)
        for game in games
    ]
