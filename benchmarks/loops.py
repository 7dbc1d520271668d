"""Loops whose best setting is known, and who tunes them: shared by beginning.py and absurd.py.

A round's value is factor (excess + offset + noise) + added. The excess is 0 at the best setting of
the round; that of every setting that is played is kept, as it is what the round costs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from rivals import CMA_ES, TBPSA, TBPSA_, Array, Maker, Parameters, PyCMA, tuner

import dikin
from dikin.kernel import compilable

TUNER = "dikin.Tuner"
EDGE = 0.15
"""How far starts and minima stay from the sides of the cube: `dikin.Tuner` moves other starts."""

Generator = np.random.Generator


# --- what is tuned -----------------------------------------------------------------------------


@compilable
def distance(matrix: Any, minimum: Any, squared: bool, x: Any) -> float:
    """The squares of the entries of matrix (x - minimum), or their sizes, added up."""
    total = 0.0
    for i in range(x.size):
        entry = 0.0
        for j in range(x.size):
            entry += matrix[i, j] * (x[j] - minimum[j])
        total += entry * entry if squared else abs(entry)
    return total


class Losses(NamedTuple):
    """The losses of a loop as arithmetic, which `dikin` can compile."""

    matrix: Array
    minima: Array
    """One in a row."""
    rows: Any
    """Which of them each round has."""
    squared: bool
    scale: float
    offset: float
    noise: Array
    factor: Array
    added: Array
    costs: Array
    """The excess of what was played, written here round by round."""

    def value(self, round: int, chance: float, x: Array) -> float:
        """What is measured at x."""
        t = round - 1
        minimum = self.minima[self.rows[t]]
        cost = self.scale * distance(self.matrix, minimum, self.squared, x)
        self.costs[t] = cost
        measured: float = self.factor[t] * (cost + self.offset + self.noise[t]) + self.added[t]
        return measured


def excess(losses: Losses, round: int, x: Array) -> float:
    """What a setting costs in a round more than the best one, without noise and faults."""
    minimum = losses.minima[losses.rows[round - 1]]
    return losses.scale * distance(losses.matrix, minimum, losses.squared, x)


class Loop(NamedTuple):
    """What is tuned, from which start."""

    parameters: Parameters
    losses: Losses
    size: float
    """About what measured values vary by."""


class Kind(NamedTuple):
    """A kind of losses on the cube, in units of the excess at the start."""

    d: int
    squared: bool
    condition: float
    """The largest weight of a square over the least; on absolute values there are their roots."""
    noise: float
    """The standard deviation of a measurement."""

    def __str__(self) -> str:
        losses = "bowl" if self.squared else "absolute"
        return f"d = {self.d}, {losses}, condition {self.condition:g}, noise {self.noise:g}"


def rotation(chance: Generator, d: int) -> Array:
    """A random rotation, each as likely as any other."""
    q, r = np.linalg.qr(chance.standard_normal((d, d)))
    return np.asarray(q * np.sign(np.diag(r)))


def in_cube(chance: Generator, *shape: int) -> Array:
    """Random points of the cube, away from its sides."""
    return chance.uniform(EDGE, 1.0 - EDGE, shape)


def standing(matrix: Array, minimum: Array, squared: bool, noise: Array) -> Losses:
    """Losses whose minimum does not move, without faults."""
    rounds = len(noise)
    rows = np.zeros(rounds, dtype=np.int64)
    plain = np.ones(rounds), np.zeros(rounds)
    shape = matrix, minimum[None], rows, squared
    return Losses(*shape, 1.0, 0.0, noise, *plain, np.zeros(rounds))


def loop_of(
    kind: Kind, start: Array, minimum: Array, turn: Array, chance: Generator, rounds: int
) -> Loop:
    """Losses of that kind, turned by a rotation; the excess at the start is 1."""
    weights = kind.condition ** (0.5 * np.linspace(0.0, 1.0, kind.d))
    noise = kind.noise * chance.standard_normal(rounds)
    losses = standing(np.diag(weights) @ turn, minimum, kind.squared, noise)
    losses = losses._replace(scale=1.0 / excess(losses, 1, start))
    return Loop(ranges(start), losses, typical_size(losses, start))


def ranges(start: Array) -> Parameters:
    """The cube [0, 1]^d, from a start."""
    return {f"x{i}": dikin.Real(0, 1, start=float(value)) for i, value in enumerate(start)}


def typical_size(losses: Losses, start: Array) -> float:
    """The noise, and a share of what there is to gain."""
    return float(losses.noise.std()) + 0.3 * excess(losses, 1, start)


# --- who tunes ---------------------------------------------------------------------------------


Player = Callable[[Loop, int, tuple[int, ...]], list[Array]]
"""Plays a loop with a seed; the setting that it would keep after so many rounds, for each of some
numbers of rounds, the largest last."""


def by_asking(make: Maker) -> Player:
    """A tuner or a rival, asked and told."""

    def play(loop: Loop, seed: int, horizons: tuple[int, ...]) -> list[Array]:
        player, found = make(loop.parameters, False, seed), []
        for round in range(1, horizons[-1] + 1):
            trial = player.ask()
            player.tell(trial, float(loop.losses.value(round, 0.0, trial.point)))
            if round in horizons:
                best = player.best
                found.append(np.array([best[name] for name in loop.parameters], dtype=float))
        return found

    return play


class CautiousCMA(PyCMA):
    """Its first step is 0.3 of half the range; its tolerances are never asked for."""

    first_step = 0.15


PLAYERS: dict[str, Player] = {TUNER: by_asking(tuner), CMA_ES: by_asking(CautiousCMA)}
WITH_TBPSA: dict[str, Player] = PLAYERS | {TBPSA_: by_asking(TBPSA)}


class Outcome(NamedTuple):
    """What a game cost, for one number of rounds."""

    rounds: int
    cost: float
    """The mean excess of what was played."""
    final: float
    """The excess of the setting that would be kept."""


def outcomes(player: Player, loop: Loop, seed: int, horizons: tuple[int, ...]) -> list[Outcome]:
    """Play one game and read it after each of these numbers of rounds."""
    # An absurd value is a line in the log: here it would be one for every game.
    logging.getLogger("dikin").setLevel(logging.ERROR)
    kept = player(loop, seed, horizons)
    return [
        Outcome(
            rounds,
            six_digits(loop.losses.costs[:rounds].mean()),
            six_digits(excess(loop.losses, rounds, setting)),
        )
        for rounds, setting in zip(horizons, kept, strict=True)
    ]


def six_digits(value: float) -> float:
    """As it stands in the file, so that a page can be made from either."""
    return float(f"{value:.6g}")
