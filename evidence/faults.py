"""Synthetic games in which five or ten per cent of the values are absurd.

The games of `rows`, five kinds of them, without faults and with faults of six kinds. A size is half
of the excess of the start, in units of the values:

    mixed     half of them the value times 40, the others a constant, 60 sizes away
    above     too large, by about 50 sizes
    around    too large or too small, by about 200 sizes
    bursts    too large by 100 sizes, twenty rounds in a row
    zero      0, as from a sensor that is off
    missing   -999999, as from a table that uses it for missing values
"""

from __future__ import annotations

from itertools import product

import numpy as np

from evidence.games import Outcome, Task
from evidence.rivals import CMA_ES, TUNER
from evidence.rows import FIRST_SEED, RANGED, Game, Kind, outcomes

TITLE, GAMES, WORKERS, LEAST = "Absurd values", 6, 2, 1e-9
ROUNDS, BURST = 1_000, 20
FAULTS = ("mixed", "above", "around", "bursts", "zero", "missing")
SHARES = ("0.05", "0.1")
KINDS = [
    Kind(5, "bowl30", "normal.3"),
    Kind(2, "bowl30", "normal.05"),
    Kind(2, "abs1", "normal.1"),
    Kind(3, "bowl1", "normal.1", "jump"),
    Kind(2, "whole", "normal.1"),
]
"""`whole` is a bowl of whole numbers from 0 to 20."""


def faults(name: str, chance: np.random.Generator, game: Game) -> dict[int, tuple[float, float]]:
    """Return a factor and an addition by round, for exactly a share of the rounds."""
    what, _, text = name.partition("@")
    count, size = round(float(text) * ROUNDS), 0.5 * game.scale
    hit = np.sort(chance.permutation(ROUNDS)[:count])
    if what == "bursts":
        begins = BURST * chance.permutation(ROUNDS // BURST)[: round(count / BURST)]
        hit = np.sort((begins[:, None] + np.arange(BURST)).ravel())
    constant = game.scale * game.offset + chance.choice([-60.0, 60.0]) * size
    found: dict[int, tuple[float, float]] = {}
    for t in hit.tolist():
        normal, other = chance.normal(), chance.random() < 0.5
        found[t] = {
            "mixed": (40.0, 0.0) if other else (0.0, constant),
            "above": (1.0, 50.0 * size * abs(normal)),
            "around": (1.0, 200.0 * size * normal),
            "bursts": (1.0, 100.0 * size),
            "zero": (0.0, 0.0),
            "missing": (0.0, -999_999.0),
        }[what]
    return found


def run(task: Task) -> dict[Task, Outcome]:
    """One game."""
    kind = Kind.of(task.problem)
    game = Game(kind, (FIRST_SEED, task.game))
    if kind.faults != "none":
        chance = np.random.default_rng([FIRST_SEED, task.game, *kind.faults.encode()])
        game.faults = faults(kind.faults, chance, game)
    return outcomes(game, task, ())


def tasks(games: range) -> list[Task]:
    """Every game."""
    cases = ["none", *map("@".join, product(FAULTS, SHARES))]
    kinds = [kind._replace(faults=case) for kind in KINDS for case in cases]
    players = (TUNER, RANGED, CMA_ES)
    return [Task(str(k), ROUNDS, player, g) for g in games for k in kinds for player in players]
