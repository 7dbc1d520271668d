"""The two problems that OPPerTune (Somashekar et al., NSDI 2024) has for AutoScope, its contexts.

*Example*: its program `examples/autoscope`: four types of jobs, a share in [0, 1] from 0.45 and a
scan interval from 2 to 300 seconds in steps of 2 from 10, and the mean of both distances to the
best setting of the type, each in units of its range. *Test*: its `tests/test_autoscope.py`: eight
types, three settings in [0, 1] from (0.5, 0.3, 0.1), and the root mean square of the distances.
Types are drawn at random, 1 000 rounds, no noise.

The package is on no index, so AutoScope itself does not play here. Both programs give it the right
tree and fix it: what is left is one Bluefin for each type, with the constants of `dikin.Bluefin`;
and the test asserts what AutoScope earns in its 1 000 rounds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import dikin
from outside.games import Outcome, Task
from outside.players import NGOPT, ONE_TUNER, TPE_, all_players, contextual, last_tenth

ROUNDS = 1_000
FIRST_SEED = 72_000


class Problem(NamedTuple):
    """Ranges with starts, and the best setting of each type of jobs."""

    parameters: dict[str, dikin.Real | dikin.Integer]
    widths: tuple[float, ...]
    steps: tuple[float, ...]
    """What is played is a multiple of it; 0 for any number."""
    best: dict[str, tuple[float, ...]]
    squared: bool

    def loss(self, setting: np.ndarray, job: str) -> float:
        steps = np.array(self.steps)
        played = np.where(steps > 0, np.rint(setting / np.maximum(steps, 1)) * steps, setting)
        away = np.abs(played - np.array(self.best[job])) / np.array(self.widths)
        return float(np.sqrt((away**2).mean()) if self.squared else away.mean())


PROBLEMS = {
    "example": Problem(
        {"share": dikin.Real(0, 1, start=0.45), "interval": dikin.Real(2, 300, start=10)},
        (1.0, 298.0),
        (0.0, 2.0),
        {"0": (0.125, 10), "1": (0.325, 60), "2": (0.525, 150), "3": (0.925, 290)},
        squared=False,
    ),
    "test": Problem(
        {f"p{i + 1}": dikin.Real(0, 1, start=start) for i, start in enumerate((0.5, 0.3, 0.1))},
        (1.0, 1.0, 1.0),
        (0.0, 0.0, 0.0),
        {
            "0": (0.1, 0.3, 0.6),
            "1": (0.4, 0.5, 0.1),
            "2": (0.2, 0.3, 0.7),
            "3": (0.1, 0.7, 0.8),
            "4": (0.6, 0.7, 0.9),
            "5": (0.7, 0.8, 0.3),
            "6": (0.4, 0.6, 0.2),
            "7": (0.3, 0.2, 0.8),
        },
        squared=True,
    ),
}


def play(task: Task) -> Outcome:
    """One game."""
    problem, seed = PROBLEMS[task.problem], FIRST_SEED + task.game
    jobs = [*problem.best]
    player = contextual(task.player, problem.parameters, jobs, seed, task.rounds)
    costs = np.empty(task.rounds)
    for round, job in enumerate(map(str, np.random.default_rng(seed).choice(jobs, task.rounds))):
        trial = player.ask(job)
        costs[round] = problem.loss(np.asarray(trial.point), job)
        player.tell(job, trial, float(costs[round]))
    return Outcome(float(costs.mean()), last_tenth(costs))


def tasks(games: range) -> list[Task]:
    """Every game."""
    players = [ONE_TUNER, *(name for name in all_players(ROUNDS) if name != NGOPT)]
    found = [
        Task(problem, ROUNDS, player, game)
        for game in games
        for problem in PROBLEMS
        for player in players
    ]
    return sorted(found, key=lambda task: task.player == TPE_)
