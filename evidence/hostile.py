"""Games that mislead a model: the tuner with its certificate, `Predictive` and `AdaptiveSmooth`.

The loss of a round is k + g.x + b/2 |x - w|^2 on [-1, 1]^d. All rounds are written down before the
first, and so the best point in hindsight is known. `Tuner` and `AdaptiveSmooth` know the smoothness
(4 times as large on the cube of the tuner), `AdaptiveSmooth` the range too, `Predictive` nothing.
The cost is the regret, and the final figure the certificate, of the tuner alone. Noise is on the
values, and not in the regret.
"""

from __future__ import annotations

import logging
from math import isqrt, nan, sqrt
from typing import Any, NamedTuple

import numpy as np

import dikin
from dikin.vectors import Array
from evidence.games import Outcome, Task
from evidence.rivals import TUNER

TITLE, GAMES, WORKERS, LEAST = "Hostile games", 25, 2, 1e-9
SEED, ROUNDS, NOISE = 4013, 2_000, 0.2
KINDS = ("period", "bursts", "spikes 5 %", "switch", "storm", "steady", "alternate", "random sign",
         "noise spikes", "spikes 1 %", "drift")  # fmt: skip
CASES = ("d = 2", "d = 5", "d = 2, noise", "d = 5, noise")
PLAYERS = (TUNER, "Predictive", "AdaptiveSmooth")


class Game(NamedTuple):
    """The losses of all rounds, and what is added to the values."""

    constants: Array
    slopes: Array
    bend: float
    minima: Array
    noise: Array

    def loss(self, t: int, x: Array) -> float:
        """Return the loss of a round."""
        away = x - self.minima[t]
        return float(self.constants[t] + self.slopes[t] @ x + 0.5 * self.bend * away @ away)

    def best(self) -> Array:
        """Return the best point in hindsight."""
        if self.bend:
            return np.asarray(np.clip(self.minima.mean(axis=0), -1.0, 1.0), float)
        return np.asarray(-np.sign(self.slopes.sum(axis=0)), float)

    @property
    def range(self) -> tuple[float, float]:
        """Bounds of the values."""
        reach = np.abs(self.slopes).sum(axis=1)
        far = 0.5 * self.bend * ((1.0 + np.abs(self.minima)) ** 2).sum(axis=1)
        low, high = self.constants - reach + self.noise, self.constants + reach + far + self.noise
        return float(low.min()), float(high.max())


def game(problem: str, rounds: int, rng: np.random.Generator) -> Game:
    """Return a game by its name. Linear losses lie in [-1, 1], or nearly."""
    kind, case = problem.split(", ", 1)
    d, t = int(case[4]), np.arange(rounds)
    ways = rng.normal(size=(2, d))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True) * sqrt(d)
    signs = rng.choice([-1.0, 1.0], size=rounds)
    along, across, constants, noise = np.zeros((4, rounds))
    minima = np.tile(rng.uniform(-0.6, 0.6, d), (rounds, 1))
    match kind:
        case "period":
            along, across = 0.7 * rng.choice([-1.0, 1.0], size=32)[t % 32], across + 0.3
        case "bursts":
            along = np.where(t % 200 >= 180, -1.0, 0.25)
        case "spikes 5 %" | "spikes 1 %":
            constants = np.where(rng.random(rounds) < int(kind[7]) / 100, signs, 0.0)
        case "switch":
            along = np.where(t // isqrt(rounds) % 2 == 0, 1.0, -1.0)
        case "storm":
            on = np.where(t >= rounds // 2, 1.0, 0.0)
            along, across = 0.6 * on * signs, 0.4 * on
        case "steady":
            along = along + 1.0
        case "alternate":
            along, constants = along + 0.2, np.where(t % 2 == 0, 0.8, -0.8)
        case "random sign":
            along = signs
        case "noise spikes":
            noise = 0.05 * rng.normal(size=rounds)
            noise += np.where(rng.random(rounds) < 0.05, signs, 0.0)
        case "drift":
            minima = np.zeros((rounds, d))
            minima[:, 0] = 0.5 * np.cos(2 * np.pi * t / rounds)
            minima[:, -1] = 0.5 * np.sin(2 * np.pi * t / rounds)
    bowl = "spikes" in kind or kind == "drift"
    noise = noise + NOISE * rng.normal(size=rounds) * case.endswith("noise")
    slopes = np.outer(along, ways[0]) + np.outer(across, ways[1])
    return Game(constants, slopes, bowl / d, minima, noise)


def tasks(games: range) -> list[Task]:
    """Every game."""
    return [
        Task(f"{kind}, {case}", ROUNDS, player, game)
        for game in games
        for kind in KINDS
        for case in CASES
        for player in PLAYERS
    ]


def run(task: Task) -> Outcome:
    """One game."""
    played = game(task.problem, task.rounds, np.random.default_rng([SEED, task.game]))
    d, seed, smoothness = played.minima.shape[1], 1000 * SEED + task.game, max(played.bend, 0.01)
    learner: Any
    logging.getLogger("dikin").setLevel(logging.ERROR)  # spikes are reported as faults
    if task.player == TUNER:
        names = {f"x{i}": dikin.Real(-1, 1, start=0.0) for i in range(d)}
        learner = dikin.Tuner(names, smoothness=4.0 * smoothness, seed=seed)
    else:
        box = dikin.Box(-np.ones(d), np.ones(d))
        learner = dikin.Predictive(box, seed=seed)
        if task.player == "AdaptiveSmooth":
            learner = dikin.AdaptiveSmooth(box, smoothness, loss_range=played.range, seed=seed)
    best, regret = played.best(), 0.0
    for t in range(task.rounds):
        trial = learner.ask()
        x = np.array([*trial.params.values()]) if task.player == TUNER else trial.point
        loss = played.loss(t, x)
        regret += loss - played.loss(t, best)
        learner.tell(trial, loss + played.noise[t])
    return Outcome(regret, learner.certificate if task.player == TUNER else nan)
