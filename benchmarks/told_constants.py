"""What it is worth to tell smoothness and slope of every loss: real rows, and losses that fade.

Patients of scikit-learn's diabetes data, one in each round, and the squared error of a linear
prediction. No round is strongly convex, and the smoothness of a round is the squared length of its
row, which `dikin.curvature` computes: the largest is many times the mean. And ridges and cones
whose constant falls as t^(-1/2). Each game is played twice, told and not told, with the same
losses. Prints the ratios of mean certificate and mean regret, told to not told, with twice their
standard errors over the paired games, and the share that Theorem 22 of docs/mathematics.md predicts
for the leading term of the bound.

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


def patients(seed: int) -> Environment:
    """One patient a round."""
    rows = diabetes(3)
    return dikin.SquaredBatches(dikin.Ball(3), *rows, sizes=[1], batches=442, seed=seed)


def falling_ridge(seed: int) -> Environment:
    return dikin.Ridge(dikin.Ball(2), dikin.Decaying(1.0, 0.5), seed=seed)


def falling_cone(seed: int) -> Environment:
    return dikin.Distance(dikin.Ball(2), dikin.Decaying(1.0, 0.5), seed=seed)


PATIENTS, RIDGE, CONE = "patients", "ridge, t^(-1/2)", "cone, t^(-1/2)"
LOSSES: dict[str, Callable[[int], Environment]] = {
    PATIENTS: patients,
    RIDGE: falling_ridge,
    CONE: falling_cone,
}


class Told(NamedTuple):
    """A learner, the constant that it is told, and the power of its mean share in the bound."""

    learner: type[Any]
    constant: str
    power: float
    losses: str


CASES = (
    Told(dikin.AdaptiveSmooth, "smoothness", 1 / 3, PATIENTS),
    Told(dikin.AdaptiveLipschitz, "lipschitz", 1 / 2, PATIENTS),
    Told(dikin.Predictive, "smoothness", 1 / 3, PATIENTS),
    Told(dikin.AdaptiveSmooth, "smoothness", 1 / 3, RIDGE),
    Told(dikin.Predictive, "smoothness", 1 / 3, RIDGE),
    Told(dikin.AdaptiveLipschitz, "lipschitz", 1 / 2, CONE),
    Told(dikin.Predictive, "lipschitz", 1 / 2, CONE),
)


class Row(NamedTuple):
    """A game, played both ways."""

    learner: str
    losses: str
    game: int
    rounds: int
    mean_share: float
    predicted: float
    regret: float
    regret_told: float
    certificate: float
    certificate_told: float


def played(case: Told, number: int, rounds: int) -> Row:
    ends, name, seed = [], case.constant, FIRST_SEED + number
    for told in (False, True):
        losses = LOSSES[case.losses](seed)
        most = getattr(losses, name)
        learner = case.learner(
            losses.domain, loss_range=losses.loss_range, seed=seed, **{name: most}
        )
        learner.takes_constants = told
        run = dikin.play(learner, losses, rounds, progress=False)
        ends.append((float(run.regret[-1]), float(run.certificate[-1])))
    mean = float(np.mean([losses.constants_of(t)[name] for t in range(1, rounds + 1)])) / most
    (regret, bound), (regret_told, bound_told) = ends
    outcome = regret, regret_told, bound, bound_told
    kind = f"{case.learner.__name__}({name})"
    return Row(kind, case.losses, number, rounds, mean, mean**case.power, *outcome)


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
    for case in CASES:
        own = [played(case, number, arguments.rounds) for number in range(arguments.games)]
        rows += own
        regret, bound = (ratio(own, what) for what in ("regret", "certificate"))
        print(
            f"{own[0].learner:30}{case.losses:17}mean share {own[0].mean_share:.3f}, predicted "
            f"{own[0].predicted:.2f}; certificate {bound[0]:.2f} +- {2 * bound[1]:.2f}, regret "
            f"{regret[0]:.2f} +- {2 * regret[1]:.2f} of what they are if not told",
            flush=True,
        )
    if arguments.out is not None:
        write_csv(arguments.out, fields(*Row._fields), rows)


if __name__ == "__main__":
    main()
