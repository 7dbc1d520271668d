"""bbob-noisy of COCO (Hansen et al., Optimization Methods and Software 36, 2021): f101 to f130.

Of its ten functions without noise, four are convex, or convex except for irregularities that the
suite adds (steps of the step ellipsoid, small waves in the coordinates of the ellipsoid):
the sphere, the step ellipsoid, the ellipsoid with condition 10^4, and the sum of different powers.
They come with all their kinds of noise. Rosenbrock's, Schaffer's, Griewank-Rosenbrock's and
Gallagher's functions are left out: their level sets are far from convex.

Settings lie in [-5, 5]^d, the start is 0, as COCO proposes. Game i is instance i. A round costs the
value without noise above the least one, in units of the cost of the start. COCO has no values
without noise. In its Cauchy model most values are the true one plus a constant, which repeats
exactly when a point is evaluated twice.
"""

from __future__ import annotations

import logging
from contextlib import chdir
from functools import cache
from itertools import product
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

import dikin
from evidence.games import Outcome, Task, take_turns
from evidence.rivals import NGOPT, PLAYERS, TPE_

TITLE, GAMES, WORKERS, LEAST = "bbob-noisy", 2, 1, 1e-3
DIMENSIONS = 2, 5, 20
MIDDLE = 5
SHORT, LONG = 1_000, 10_000
FIRST_SEED = 70_000
SOLVED = 1e-8
"""Excess below which COCO calls a function solved, and adds no noise."""
MODERATE, SEVERE = "moderate", "severe"
KINDS = "Gaussian", "uniform", "Cauchy"
SHAPES = {
    ("sphere", MODERATE): 101,
    ("sphere", SEVERE): 107,
    ("step ellipsoid", SEVERE): 113,
    ("ellipsoid", SEVERE): 116,
    ("different powers", SEVERE): 119,
}
"""The number of each function with Gaussian noise. The next two are those with the other kinds."""
RAISED = {MODERATE: 10.0, SEVERE: 1000.0}
"""The Cauchy noise of COCO adds this to every value."""
VALUES, LOGARITHMS_ = "values", "logarithms"
LONG_GAMES = 2
"""Long games have these numbers only: they take ten times as long."""
SLOW = {NGOPT, TPE_}
"""They take nearly all of the time."""


class Function(NamedTuple):
    """One function of the suite, and the form of its values that players get."""

    shape: str
    strength: str
    kind: str
    d: int
    form: str = VALUES

    def __str__(self) -> str:
        return f"{self.shape}, {self.strength} {self.kind} noise, d = {self.d}, {self.form}"

    @property
    def number(self) -> int:
        return SHAPES[self.shape, self.strength] + KINDS.index(self.kind)


FUNCTIONS = [Function(*shape, kind, d) for d in DIMENSIONS for shape in SHAPES for kind in KINDS]
LOGARITHMS = [
    f._replace(form=LOGARITHMS_) for f in FUNCTIONS if f.strength == SEVERE and f.d == MIDDLE
]
PROBLEMS = {str(function): function for function in (*FUNCTIONS, *LOGARITHMS)}


@cache
def _suite(d: int) -> Any:
    import cocoex

    return cocoex.Suite("bbob-noisy", "", f"dimensions:{d} instance_indices:1-15")


def _evaluate(number: int, d: int, instance: int) -> Any:
    return _suite(d).get_problem_by_function_dimension_instance(number, d, instance)


class Measured:
    """A function of the suite: noisy values, and the true cost of a setting."""

    def __init__(self, function: Function, instance: int) -> None:
        first = SHAPES[function.shape, function.strength]
        self.noisy = _evaluate(function.number, function.d, instance)
        self._repeating = _evaluate(first + KINDS.index("Cauchy"), function.d, instance)
        self._raised = RAISED[function.strength]
        self.least = self._clean(best_point(self._repeating))
        self.start = self.excess(np.zeros(function.d))

    def _clean(self, x: Any) -> float:
        """Return the value without noise: the first one that comes twice."""
        seen: set[float] = set()
        while True:
            value = float(self._repeating(x))
            if value in seen:
                return value - self._raised
            seen.add(value)

    def excess(self, x: Any) -> float:
        """Return the cost of a setting above that of the best one."""
        return max(self._clean(x) - self.least, 0.0)


def best_point(problem: Any) -> Any:
    """Return where a function is least: COCO writes it into a file of the present folder."""
    with TemporaryDirectory() as folder, chdir(folder):
        problem._best_parameter("print")
        return np.loadtxt(next(Path(folder).iterdir()))


def reported(function: Function, value: float, least: float) -> float:
    """Return a measured value in the form that all players get."""
    return value if function.form == VALUES else log(max(value - least, SOLVED))


def run(task: Task) -> Outcome:
    """One game."""
    # Values that are far off are lines in the log: here they are the problem.
    logging.getLogger("dikin").setLevel(logging.ERROR)
    function = PROBLEMS[task.problem]
    measured = Measured(function, task.game + 1)
    ranges = {f"x{i}": dikin.Real(-5, 5, start=0.0) for i in range(function.d)}
    player = PLAYERS[task.player](ranges, False, FIRST_SEED + task.game, task.rounds)

    def answer(trial: Any, round: int) -> tuple[float, float]:
        value = float(measured.noisy(trial.point))
        return reported(function, value, measured.least), measured.excess(trial.point)

    costs = take_turns(player, task.rounds, answer)
    final = measured.excess(np.array([player.best[name] for name in ranges], dtype=float))
    return Outcome(float(np.mean(costs)) / measured.start, final / measured.start)


def tasks(games: range) -> list[Task]:
    """Two games of everything, then the next two: an interrupted run is balanced."""
    found = [
        Task(name, rounds, player, game)
        for game, rounds in product(games, (SHORT, LONG))
        for name, function in PROBLEMS.items()
        for player in PLAYERS
        if _has_time(player, rounds, function)
        and (rounds == SHORT or (function.form == VALUES and game < LONG_GAMES))
    ]
    return sorted(
        found, key=lambda task: (task.game // 2, task.player in SLOW, task.rounds, task.game)
    )


def _has_time(player: str, rounds: int, function: Function) -> bool:
    """Return whether the game is run: those of the two slowest players are short and few."""
    return player not in SLOW or (rounds, function.d, function.form) == (SHORT, MIDDLE, VALUES)
