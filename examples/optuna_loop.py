"""Samplers of Optuna in a live loop and offline: where a tuner belongs, and where it does not.

Live, every trial is a customer's: the shop of `price.py`, whose demand changes, and the mean regret
of all rounds against the best setting of each. Offline, only the best trial counts: two functions
without noise, Hartmann's in six dimensions (Dixon and Szegő, 1978) and Schwefel's in two (1981),
whose deepest valley is in a corner. Prints all for `TunerSampler` and for Optuna's own samplers.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import optuna
from comparison import play_parallel
from price import NOISE, Market
from report import Results, publish

from dikin.adapters.optuna import TunerSampler

Array = np.typing.NDArray[np.float64]

TODAY = {"price": 4.0, "ads": 40.0}
WORKERS = 2
SAMPLERS: dict[str, Callable[[int], Any]] = {
    "dikin's TunerSampler": lambda seed: TunerSampler(seed=seed),
    "Optuna's TPESampler": lambda seed: optuna.samplers.TPESampler(seed=seed),
    "Optuna's RandomSampler": lambda seed: optuna.samplers.RandomSampler(seed=seed),
}


class Task(NamedTuple):
    """One game."""

    kind: str
    sampler: str
    rounds: int
    seed: int


def live(study: optuna.Study, rounds: int, seed: int) -> float:
    """The mean regret of a shop that asks and tells; the first trial is today's setting."""
    market, draws = Market(rounds), np.random.default_rng(seed)
    study.enqueue_trial(TODAY)
    regret = 0.0
    for round in range(rounds):
        trial = study.ask()
        price, ads = trial.suggest_float("price", 1, 14), trial.suggest_float("ads", 0, 60)
        revenue = market.revenue(round, price, ads)
        study.tell(trial, revenue + NOISE * draws.standard_normal())
        regret += market.revenue(round, *market.best(round)) - revenue
    return regret / rounds


def offline(function: Callable[[Array], float], dim: int) -> Callable[..., float]:
    """The least value of a function on the unit cube that is found."""

    def objective(trial: optuna.Trial) -> float:
        return function(np.array([trial.suggest_float(f"x{i}", 0, 1) for i in range(dim)]))

    def game(study: optuna.Study, rounds: int, seed: int) -> float:
        study.optimize(objective, n_trials=rounds)
        return float(study.best_value)

    return game


HEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
STEEPNESS = np.array(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)
PLACES = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)
DEEPEST = 3.32237
"""The depth of Hartmann's function."""


def hartmann(x: Array) -> float:
    """Hartmann's function above its least value."""
    return float(DEEPEST - HEIGHTS @ np.exp(-(STEEPNESS * (x - PLACES) ** 2).sum(axis=1)))


def schwefel(x: Array) -> float:
    """Schwefel's function above its least value, on [-500, 500] in each dimension."""
    z = 1000.0 * x - 500.0
    return float(418.9829 * z.size - z @ np.sin(np.sqrt(np.abs(z))))


KINDS = {
    "live": (live, "maximize"),
    "offline, Hartmann": (offline(hartmann, 6), "minimize"),
    "offline, Schwefel": (offline(schwefel, 2), "minimize"),
}


def play(task: Task) -> float:
    """One game in a study of its own."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    game, direction = KINDS[task.kind]
    study = optuna.create_study(direction=direction, sampler=SAMPLERS[task.sampler](task.seed))
    return game(study, task.rounds, task.seed)


def results_of(tasks: list[Task], found: list[float]) -> Results:
    """The numbers by sampler and kind."""
    values: dict[str, dict[str, Array]] = {}
    for sampler in SAMPLERS:
        for kind in KINDS:
            mine = [(t, v) for t, v in zip(tasks, found, strict=True) if t[:2] == (kind, sampler)]
            setting = f"{kind}, {mine[0][0].rounds} trials"
            values.setdefault(sampler, {})[setting] = np.array([value for _, value in mine])
    about = "live the mean regret a round, offline the best value above the least possible one"
    return Results("optuna", about, values, min(task.seed for task in tasks))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=500, help="live (%(default)s)")
    parser.add_argument("--trials", type=int, default=100, help="offline (%(default)s)")
    parser.add_argument("--games", type=int, default=8, help="of each (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first game (%(default)s)")
    parser.add_argument("--out", type=Path, default=Path("."), help="folder to write to")
    parser.add_argument("--page", type=Path, help="a page whose table is written anew")
    chosen = parser.parse_args()
    tasks = [
        Task(kind, sampler, chosen.rounds if kind == "live" else chosen.trials, chosen.seed + game)
        for kind in KINDS
        for sampler in SAMPLERS
        for game in range(chosen.games)
    ]
    results = results_of(tasks, play_parallel(play, tasks, WORKERS))
    publish([results], chosen.out / "optuna.csv", chosen.page)


if __name__ == "__main__":
    main()
