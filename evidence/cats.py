"""CATS of Vowpal Wabbit (Majzoubi et al., NeurIPS 2020) on a problem that was reported there.

Issue 2891 of github.com/VowpalWabbit/vowpal_wabbit, "CATs fails to converge with fixed context and
simple convex reward function": a setting in [0, 1], the squared distance to a fixed target as the
cost, no noise. The report speaks of a target of 0 and of one of 0.5: both are here. The third
problem has contexts: one of four users, drawn at random, each with another target.

CATS has no default for its number of actions: a player for each of 24 settings, those that the
report searched (actions, bandwidth, epsilon), with `--coin` as in Vowpal Wabbit's tutorial on
continuous actions. Costs are squared distances. The last tenth of the rounds is the final cost.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

import dikin
from evidence.games import Outcome, Task
from evidence.rivals import NGOPT, PLAYERS, TPE_, OneEach, OneTuner, last_tenth

TITLE, GAMES, WORKERS, LEAST = "CATS", 8, 1, 1e-6
ROUNDS = 5_000
FIRST_SEED = 71_000
TARGETS = {
    "target 0": {"all": 0.0},
    "target 0.5": {"all": 0.5},
    "four users": {"a": 0.1, "b": 0.35, "c": 0.6, "d": 0.85},
}
START = 0.25
"""The start of the players that have one. CATS begins with exploring everywhere."""
SETTINGS = [*product((8, 32, 128), (0.01, 0.03, 0.1, 0.2), (0.05, 0.2))]
"""Actions, bandwidth, epsilon."""
CATS = {f"CATS {a}, bandwidth {b:g}, epsilon {e:g}": (a, b, e) for a, b, e in SETTINGS}
SLOW = {TPE_, NGOPT}
ONE_TUNER = "dikin.Tuner, contexts"


class Cats:
    """Vowpal Wabbit's CATS: one learner, with the context as a feature."""

    def __init__(self, actions: int, bandwidth: float, epsilon: float, seed: int) -> None:
        from vowpalwabbit import Workspace

        self._workspace = Workspace(
            f"--cats {actions} --bandwidth {bandwidth} --min_value 0 --max_value 1 "
            f"--epsilon {epsilon} --coin --random_seed {seed} --quiet"
        )

    def ask(self, context: str) -> Any:
        """Return the action, and the density with which it was drawn."""
        return self._workspace.predict(f"| {context}")

    def tell(self, context: str, trial: Any, value: float) -> None:
        action, density = trial
        self._workspace.learn(f"ca {action}:{value}:{density} | {context}")


def _player(task: Task, contexts: list[str], seed: int) -> Any:
    if task.player in CATS:
        return Cats(*CATS[task.player], seed)
    parameters = {"x": dikin.Real(0, 1, start=START)}
    if task.player == ONE_TUNER:
        return OneTuner(parameters, contexts, seed)
    return OneEach(PLAYERS[task.player], parameters, contexts, seed, task.rounds)


def run(task: Task) -> Outcome:
    """One game."""
    targets, seed = TARGETS[task.problem], FIRST_SEED + task.game
    player = _player(task, [*targets], seed)
    drawn = np.random.default_rng(seed).choice([*targets], task.rounds)
    costs = np.empty(task.rounds)
    for round, context in enumerate(map(str, drawn)):
        trial = player.ask(context)
        x = trial[0] if task.player in CATS else trial["x"]
        costs[round] = (x - targets[context]) ** 2
        player.tell(context, trial, float(costs[round]))
    return Outcome(float(costs.mean()), last_tenth(costs))


def tasks(games: range) -> list[Task]:
    """Every game. The players of a whole grid are many, and quick."""
    players = [name for name in PLAYERS if name not in SLOW]
    return [
        Task(problem, ROUNDS, player, game)
        for game in games
        for problem, targets in TARGETS.items()
        for player in (*([ONE_TUNER] if len(targets) > 1 else []), *players, *CATS)
    ]
