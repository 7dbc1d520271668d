"""Synthetic games: still ones, and ones in which something moves; `faults` has absurd values.

A kind is written d-shape-noise-world-faults, such as 2-bowl30-normal.05-drift-none. A round costs
f(x_t) - f*, in units of that of the start, at most 10. The second number is the cost of the setting
that would be kept. A game is read after 200, 1,000 and 4,000 rounds. Values come in other units,
with another offset in each game.
"""

from __future__ import annotations

import logging
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import dikin
from evidence.games import Outcome, Task
from evidence.rivals import CMA_ES, TUNER, Array, Maker, Parameters, PyCMA, tuner

TITLE, GAMES, WORKERS, LEAST = "Rows", 16, 2, 1e-9
RANGED = "dikin.Tuner, value_range"
CAP, MARKS, FIRST_SEED = 10.0, (200, 1000, 4000), 101
SHAPES = ("bowl1", "bowl30", "abs1", "abs30", "huber", "norm30")
NOISES = ("none", "normal.05", "normal.5", "student.1")
WORLDS = ("drift", "circle", "walk", "jump", "season", "level_walk", "level_jumps")


class Kind(NamedTuple):
    """A kind of game."""

    d: int
    shape: str
    noise: str
    world: str = "still"
    faults: str = "none"

    def __str__(self) -> str:
        return "-".join(map(str, self))

    @classmethod
    def of(cls, text: str) -> Kind:
        """Read a kind as it stands in the CSV."""
        d, *rest = text.split("-")
        return cls(int(d), *rest)


STILL = [Kind(*each) for each in product((2, 5), SHAPES, NOISES)]
MOVING = [
    Kind(2, "bowl1", noise, world) for world, noise in product(WORLDS, ("normal.05", "normal.3"))
]


class Game:
    """A function on [0, 1]^d, its measured values, and how it moves."""

    def __init__(self, kind: Kind, seed: tuple[int, ...]) -> None:
        self.kind, d = kind, kind.d
        rng = np.random.default_rng([*seed, *str(kind._replace(faults="none"))[:-5].encode()])
        self.start, self.at = rng.uniform(0.15, 0.85, (2, d))
        while np.linalg.norm(self.start - self.at) < 0.25 * np.sqrt(d):
            self.start, self.at = rng.uniform(0.15, 0.85, (2, d))
        if kind.shape == "whole":
            self.start, self.at = (np.round(20.0 * each) / 20.0 for each in (self.start, self.at))
        condition = 30.0 if kind.shape.endswith("30") else 1.0
        turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
        powers = np.linspace(0.0, 1.0, d) if d > 1 else np.zeros(1)
        self.root = np.sqrt(condition) ** powers[:, None] * turn
        if kind.shape.startswith("abs"):
            self.root = condition ** powers[:, None] * turn
        self.scale, self.offset = 10.0 ** rng.uniform(-2.0, 2.0), rng.normal()
        self.standing, self.center, self.noises = 1.0, self.at.copy(), rng
        self.standing = self.regret(self.start)
        angle = rng.uniform(0.0, 2.0 * np.pi)
        self.way = np.concatenate([[np.cos(angle), np.sin(angle)], np.zeros(max(d - 2, 0))])[:d]
        self.level, self.phase, self.moves = 0.0, angle, np.random.default_rng(rng.integers(2**32))
        self.faults: dict[int, tuple[float, float]] = {}
        """A factor and an addition by round: absurd values."""

    @property
    def parameters(self) -> Parameters:
        """The settings, from the start."""
        sides = enumerate(self.start.tolist())
        if self.kind.shape == "whole":
            return {f"x{i:02d}": dikin.Integer(0, 20, start=round(20 * s)) for i, s in sides}
        return {f"x{i:02d}": dikin.Real(0, 1, start=s) for i, s in sides}

    def point(self, values: Any) -> Array:
        """Return values of the parameters as a point of the cube."""
        return np.asarray(values, float) / (20.0 if self.kind.shape == "whole" else 1.0)

    def ranged(self, parameters: Parameters, maximize: bool, seed: int, rounds: int) -> dikin.Tuner:
        """Return `dikin.Tuner` with a range of values that is six starts wide."""
        low, high = (self.scale * (self.offset + end) for end in (-1.0, 5.0))
        return dikin.Tuner(parameters, maximize=maximize, value_range=(low, high), seed=seed)

    def move(self, t: int) -> None:
        """Change the world before round t."""
        world, rng = self.kind.world, self.moves
        if world == "drift":
            self.at = self.center + 0.3 * self.way * np.sin(t / 2000.0 + self.phase)
        elif world == "circle":
            turn = 2.0 * np.pi * t / 1000.0 + self.phase
            self.at = 0.5 + 0.25 * np.array([np.cos(turn), np.sin(turn)])
        elif world == "walk":
            self.at = np.clip(self.at + 0.004 * rng.normal(size=self.kind.d), 0.1, 0.9)
        elif world == "jump" and t % 500 == 499:
            self.at = rng.uniform(0.15, 0.85, self.kind.d)
        elif world == "season":
            self.level = np.sin(2.0 * np.pi * t / 200.0 + self.phase)
        elif world == "level_walk":
            self.level += 0.05 * rng.normal()
        elif world == "level_jumps" and t % 100 == 99:
            self.level = 2.0 * rng.normal()

    def regret(self, x: Array) -> float:
        """f(x) - f*, in units of that of the start."""
        shape, u = self.kind.shape, self.root @ (x - self.at)
        if shape.startswith(("bowl", "whole")):
            value = 0.5 * float(u @ u)
        elif shape.startswith("abs"):
            value = float(np.abs(u).sum())
        elif shape == "huber":
            size = np.abs(u)
            value = float(np.where(size < 0.1, 5.0 * size**2, size - 0.05).sum())
        else:
            value = float(np.linalg.norm(u))
        return value / self.standing

    def measured(self, t: int, regret: float) -> float:
        """Return the value of a round: in other units, with noise, sometimes absurd."""
        name, _, size = self.kind.noise.partition(".")
        if name == "normal":
            regret += float("0." + size) * self.noises.normal()
        elif name == "student":
            regret += float("0." + size) * self.noises.standard_t(2.2)
        factor, added = self.faults.get(t, (1.0, 0.0))
        return factor * float(self.scale * (regret + self.level + self.offset)) + added


class CautiousCMA(PyCMA):
    """CMA-ES with a first step of 0.2 of each range."""

    first_step = 0.2


def run(task: Task) -> dict[Task, Outcome]:
    """One game, read at every mark up to its rounds."""
    return outcomes(Game(Kind.of(task.problem), (FIRST_SEED, task.game)), task, MARKS)


def outcomes(game: Game, task: Task, marks: tuple[int, ...]) -> dict[Task, Outcome]:
    """Run one game, and read it at the marks."""
    logging.getLogger("dikin").setLevel(logging.ERROR)  # an absurd value is a line in the log
    seed, total = 1000 * FIRST_SEED + task.game, 0.0
    makers: dict[str, Maker] = {TUNER: tuner, CMA_ES: CautiousCMA, RANGED: game.ranged}
    player, found = makers[task.player](game.parameters, False, seed, task.rounds), {}
    for t in range(1, task.rounds + 1):
        trial = player.ask()
        game.move(t - 1)
        regret = game.regret(game.point(trial.point))
        total += min(regret, CAP)
        player.tell(trial, game.measured(t - 1, regret))
        if t in (*marks, task.rounds):
            best = game.point([player.best[name] for name in game.parameters])
            found[task._replace(rounds=t)] = Outcome(total / t, game.regret(best))
    return found


def tasks(games: range) -> list[Task]:
    """Every game."""
    kinds, both = (*STILL, *MOVING), (TUNER, CMA_ES)
    return [Task(str(k), MARKS[-1], player, g) for k in kinds for player in both for g in games]
