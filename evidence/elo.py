"""Engine tuning by games: quadratic Elo, as in github.com/vdbergh/spsa_simul, draw ratio .61.

An engine has d parameters in [0, 200], and loses Elo by the squared distance to the best setting,
which is 30 to 70 away from today's 100 in every parameter. Today's engine loses 100 Elo. A round is
one game with the result -1, 0 or 1. Where one side is so strong that a draw ratio of .61 leaves no
room for its wins, the ratio is the largest that does.

SPSA (Spall 1998) plays its two settings against each other, as testing frameworks of chess engines
do: both count, each half. Its constants are those of the frameworks: alpha .602, gamma .101, A a
tenth of the rounds, and steps that end at a twentieth of the range. Their gain in the end is .002
for tens of thousands of games. Ten and a hundred times as much are tried too. All others play each
setting against today's, because they have one number for one setting.

A round costs the Elo that its settings lose to the best one. The second number is the Elo that the
setting in the end loses.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

import dikin
from evidence.games import Outcome, Task
from evidence.rivals import CMA_ES, KEEP, PLAYERS, TBPSA_, TUNER, Array

TITLE, GAMES, WORKERS, LEAST = "Engine tuning", 20, 2, 1e-1
FIRST_SEED = 77_000
SHORT, LONG, LONG_GAMES = 1_000, 10_000, 10
DIMENSIONS = {"four parameters": 4, "sixteen parameters": 16}
WIDTH, TODAY, LOST, DRAWS = 200.0, 100.0, 100.0, 0.61
ALPHA, GAMMA = 0.602, 0.101
STEP = WIDTH / 20
GAINS = {f"SPSA (gain {gain:g})": gain for gain in (0.002, 0.02, 0.2)}


class Engine:
    """An engine: the Elo that its settings lose, and games between them."""

    def __init__(self, d: int, chance: np.random.Generator) -> None:
        self.chance = chance
        self.best = TODAY + chance.choice([-1.0, 1.0], d) * chance.uniform(30, 70, d)
        self.scale = LOST / ((TODAY - self.best) ** 2).sum()

    def lost(self, setting: Any) -> float:
        return float(self.scale * ((setting - self.best) ** 2).sum())

    def result(self, lead: float) -> int:
        """Return 1 for a win, 0 for a draw and -1 for a loss of a side so many Elo ahead."""
        drawn = self.chance.random() - wins(lead)
        return 1 if drawn < 0 else -1 if drawn >= draws(lead) else 0


def score(lead: float) -> float:
    """Return the expected points of a side that is so many Elo ahead."""
    return float(1 / (1 + 10 ** (-lead / 400)))


def draws(lead: float) -> float:
    """Return the share of draws."""
    return min(DRAWS, 2 * score(lead), 2 * score(-lead))


def wins(lead: float) -> float:
    """Return the share of wins: with half of the draws they are the score."""
    return score(lead) - draws(lead) / 2


class SPSA:
    """Simultaneous perturbation.

    With D in {-1, 1}^d drawn in round k, and the result r of a game,

        c_k = c/k^gamma, a_k = a/(A + k)^alpha,    x + c_k D plays against x - c_k D,
        x <- x + a_k/c_k r D

    where c and a are such that c_N = STEP and a_N/c_N^2 is the gain in the last round N.
    """

    def __init__(self, start: Array, gain: float, rounds: int, seed: int) -> None:
        self.x, self.k, self.far = start, 1, 0.1 * rounds
        self.c = STEP * rounds**GAMMA
        self.a = gain * STEP**2 * (self.far + rounds) ** ALPHA
        self.chance = np.random.default_rng(seed)

    def ask(self) -> Array:
        """Return both settings. They stay in the ranges."""
        self.width = self.c / self.k**GAMMA
        self.way = self.chance.choice([-1.0, 1.0], len(self.x))
        both = self.x + self.width * np.outer([1.0, -1.0], self.way)
        return np.asarray(np.clip(both, 0, WIDTH))

    def tell(self, result: int) -> None:
        step = self.a / (self.far + self.k) ** ALPHA / self.width
        self.x = np.clip(self.x + step * result * self.way, 0, WIDTH)
        self.k += 1


def run(task: Task) -> Outcome:
    """One run."""
    d, seed = DIMENSIONS[task.problem], FIRST_SEED + task.game
    engine, costs = Engine(d, np.random.default_rng([seed, d])), np.empty(task.rounds)
    if task.player in GAINS:
        spsa = SPSA(np.full(d, TODAY), GAINS[task.player], task.rounds, seed)
        for t in range(task.rounds):
            one, other = map(engine.lost, spsa.ask())
            costs[t] = (one + other) / 2
            spsa.tell(engine.result(other - one))
        return Outcome(float(costs.mean()), engine.lost(spsa.x))
    ranges = {f"x{i:02d}": dikin.Real(0, WIDTH, start=TODAY) for i in range(d)}
    player = PLAYERS[task.player](ranges, True, seed, task.rounds)
    for t in range(task.rounds):
        trial = player.ask()
        costs[t] = engine.lost(trial.point)
        player.tell(trial, float(engine.result(LOST - costs[t])))
    final = np.array([player.best[name] for name in ranges], dtype=float)
    return Outcome(float(costs.mean()), engine.lost(final))


def tasks(games: range) -> list[Task]:
    """Every run. There are half as many of the long ones."""
    players = (TUNER, KEEP, *GAINS, TBPSA_, CMA_ES)
    cases = product(games, (SHORT, LONG), DIMENSIONS, players)
    return [
        Task(problem, rounds, player, game)
        for game, rounds, problem, player in cases
        if rounds == SHORT or game < LONG_GAMES
    ]
