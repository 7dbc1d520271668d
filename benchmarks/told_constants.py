"""What it is worth to tell smoothness and slope of every batch: real rows, one case a round.

Patients of scikit-learn's diabetes data, one in each round, and the squared error of a linear
prediction. No round is strongly convex, and the smoothness of a round is the squared length of its
row, which `dikin.curvature` computes: the largest is many times the mean. Each game is played
twice, told and not told, with the same losses and directions. Prints mean regret and certificate,
the ratios told to not told with twice their standard errors over the paired games, and the share
that Theorem 22 of docs/mathematics.md predicts for the leading term of the bound.

    python benchmarks/told_constants.py [--games N] [--rounds T] [--out FILE]
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dikin
from dikin.environments.base import Environment
from dikin.environments.data import diabetes
from dikin.experiments.tables import fields, write_csv

ROUNDS, GAMES, FIRST_SEED = 4000, 8, 7_300


def game(seed: int) -> dikin.SquaredBatches:
    rows = diabetes(3)
    return dikin.SquaredBatches(dikin.Ball(3), *rows, sizes=[1], batches=442, seed=seed)


LEARNERS: dict[str, tuple[str, float, Callable[[Environment, int], Any]]] = {
    "AdaptiveSmooth": (
        "smoothnesses",
        1 / 3,
        lambda losses, seed: dikin.AdaptiveSmooth(
            losses.domain, losses.smoothness, loss_range=losses.loss_range, seed=seed
        ),
    ),
    "AdaptiveLipschitz": (
        "slopes",
        1 / 2,
        lambda losses, seed: dikin.AdaptiveLipschitz(
            losses.domain, losses.lipschitz, loss_range=losses.loss_range, seed=seed
        ),
    ),
    "Predictive": (
        "smoothnesses",
        1 / 3,
        lambda losses, seed: dikin.Predictive(
            losses.domain, losses.smoothness, loss_range=losses.loss_range, seed=seed
        ),
    ),
}
"""The constant that is told, the power of its mean share in the bound, and the learner."""


class Row(NamedTuple):
    """A game, played both ways."""

    learner: str
    game: int
    rounds: int
    mean_share: float
    predicted: float
    regret: float
    regret_told: float
    certificate: float
    certificate_told: float


def played(name: str, number: int, rounds: int) -> Row:
    constant, power, make = LEARNERS[name]
    ends = []
    for told in (False, True):
        losses = game(FIRST_SEED + number)
        learner = make(losses, FIRST_SEED + number)
        learner.takes_constants = told
        run = dikin.play(learner, losses, rounds, progress=False)
        ends.append((float(run.regret[-1]), float(run.certificate[-1])))
    shares = getattr(losses, constant) / getattr(losses, constant).max()
    (regret, bound), (regret_told, bound_told) = ends
    mean = float(shares.mean())
    return Row(name, number, rounds, mean, mean**power, regret, regret_told, bound, bound_told)


def ratio(rows: list[Row], what: str) -> tuple[float, float]:
    """Of the means, told to not told, and its standard error over the paired games."""
    plain = np.array([getattr(row, what) for row in rows])
    told = np.array([getattr(row, f"{what}_told") for row in rows])
    value = float(told.mean() / plain.mean())
    error = float(np.std(told - value * plain, ddof=1)) / sqrt(len(rows)) / float(plain.mean())
    return value, abs(error)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", type=int, default=GAMES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--out", type=Path, help="a CSV file with a line for each game")
    arguments = parser.parse_args()
    logging.disable()
    rows = []
    for name in LEARNERS:
        own = [played(name, number, arguments.rounds) for number in range(arguments.games)]
        rows += own
        regret, bound = (ratio(own, what) for what in ("regret", "certificate"))
        print(
            f"{name:20} mean share {own[0].mean_share:.3f}, predicted {own[0].predicted:.2f}; "
            f"regret {regret[0]:.2f} +- {2 * regret[1]:.2f}, "
            f"certificate {bound[0]:.2f} +- {2 * bound[1]:.2f} of what it is if not told"
        )
    if arguments.out is not None:
        write_csv(arguments.out, fields(*Row._fields), rows)


if __name__ == "__main__":
    main()
