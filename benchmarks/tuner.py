"""`Tuner` against `Predictive`, which it is made of, and against what users would pick instead."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

from timing import Row, best_of, pretty

import dikin

ROUNDS = 500
PARAMETERS: dict[str, dict[str, Any]] = {
    "2 reals": {"a": dikin.Real(0, 1), "b": dikin.Real(0, 1)},
    "6 integers": {name: dikin.Integer(0, 9) for name in "abcdef"},
    "a real and 3 shares": {"a": dikin.Real(0, 1), "mix": dikin.Shares(["x", "y", "z"])},
}


def tuned(parameters: dict[str, Any]) -> Callable[[], None]:
    tuner = dikin.Tuner(parameters, seed=1)

    def play() -> None:
        for _ in range(ROUNDS):
            trial = tuner.ask()
            tuner.tell(trial, float(trial.point[0]))

    return play


def cma(dim: int) -> Callable[[], None]:
    """pycma in batches, as it is made to be used."""
    import cma

    strategy = cma.CMAEvolutionStrategy(dim * [0.5], 0.3, {"verbose": -9, "seed": 1})

    def play() -> None:
        done = 0
        while done < ROUNDS:
            points = strategy.ask()
            strategy.tell(points, [float(point[0]) for point in points])
            done += len(points)

    return play


def optuna(parameters: dict[str, Any]) -> Callable[[], None]:
    """Optuna's default sampler in memory, from the first trial on."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    kinds = {name: optuna.distributions.FloatDistribution(0, 1) for name in parameters}

    def play() -> None:
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
        for _ in range(ROUNDS // 5):
            trial = study.ask(kinds)
            study.tell(trial, trial.params["a"])

    return play


def rows() -> Iterator[Row]:
    """The tuner's own share of a round, then others."""
    for name, parameters in PARAMETERS.items():
        (ours,) = best_of(9, tuned(parameters))
        yield Row(f"Tuner, ask + tell, {name}", pretty(ours / ROUNDS), "")
    two = PARAMETERS["2 reals"]
    others: dict[str, tuple[Callable[[], Callable[[], None]], int]] = {
        "cma": (lambda: cma(2), ROUNDS),
        "optuna": (lambda: optuna(two), ROUNDS // 5),
    }
    for package, (make, rounds) in others.items():
        if importlib.util.find_spec(package) is None:
            yield Row(f"{package} ask + tell", "not installed", "pip install dikin[compare]")
            continue
        ours, theirs = best_of(3, tuned(two), make())
        yield Row(
            "Tuner, ask + tell, 2 reals",
            pretty(ours / ROUNDS),
            f"{package}, {pretty(theirs / rounds)}",
            (ours / ROUNDS) / (theirs / rounds),
            "",
        )
