"""Which learner for losses of your own? Your losses, domain and learner in the comparison.

A shop sets two prices, both between 1 and 10 and at most 2 apart, and sees what a day has cost it
against the best day. Learners of the library play against that, and one of the shop's own. Prints
the table, and writes it, every game and a picture into a folder.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import dikin
from evidence.compare import Request, Scenario, compare
from evidence.compare.matrix import Matrix

PRICES = dikin.Polytope(
    [[1, 0], [-1, 0], [0, 1], [0, -1], [1, -1], [-1, 1]], [10, -1, 10, -1, 2, 2]
)
NOISE = 0.1
"""Days differ by at most this much."""


def shop(horizon: int, seed: int) -> dikin.Environment:
    """A bowl around prices that depend on the seed, as losses between 0 and 1/2, and noise."""
    chance = np.random.default_rng(seed)
    best = chance.uniform(2, 4) + np.array([0.0, chance.uniform(-1, 1)])
    noise = chance.uniform(-NOISE, NOISE, size=horizon)
    far = 2 * PRICES.radius  # no two prices are farther apart

    def loss(day: int, prices: np.typing.NDArray[np.float64]) -> float:
        return float(np.sum((prices - best) ** 2)) / (2 * far**2) + float(noise[day - 1])

    return dikin.FromFunction(
        PRICES,
        loss,
        curvature=1 / far**2,
        loss_range=(-NOISE, 0.5 + NOISE),
        smoothness=1 / far**2,
        lipschitz=1 / far,
        comparator=best,
        seed=seed,
    )


class Careless(dikin.AdaptiveSmooth):
    """`AdaptiveSmooth` that takes the losses for ten times as smooth as it is told.

    The name of an argument is what a learner wants to be told.
    """

    def __init__(
        self,
        domain: dikin.Domain,
        smoothness: float,
        *,
        loss_range: tuple[float, float] = (-1.0, 1.0),
        seed: int | None = None,
    ) -> None:
        super().__init__(domain, 10 * smoothness, loss_range=loss_range, seed=seed)


def play(rounds: int, games: int, out: Path, workers: int = 2) -> Matrix:
    request = Request(
        learners=("predictive", "adaptivesmooth", "fkm", "fixedpoint", Careless),
        scenarios=(Scenario.own("shop", shop),),
        rounds=rounds,
        seeds=games,
        workers=workers,
    )
    return compare(request, out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--games", type=int, default=8)
    parser.add_argument("--out", type=Path, default=Path("comparison"), help="folder to write to")
    options = parser.parse_args()
    play(options.rounds, options.games, options.out)


if __name__ == "__main__":
    main()
