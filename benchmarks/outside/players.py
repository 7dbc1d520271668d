"""Who plays the outside benchmarks, and with which settings of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from rivals import (
    BLUEFIN,
    CMA_ES,
    KEEP,
    TBPSA,
    TBPSA_,
    TPE,
    Array,
    Bluefin,
    Maker,
    NoiseHandlingCMA,
    Parameters,
    PyCMA,
    Today,
    tuner,
)

import dikin
from dikin.rng import Generator
from evidence.evolution import import_optional

TUNER, TPE_ = "dikin.Tuner", "TPE (Optuna)"
NOISE_CMA, NGOPT = "CMA-ES, noise handling (pycma)", "NGOpt (nevergrad)"


class NGOpt(TBPSA):
    """The optimizer that nevergrad chooses by itself, told that values are noisy and how many."""

    def __init__(self, parameters: Parameters, maximize: bool, seed: int, rounds: int) -> None:
        self._budget = rounds
        super().__init__(parameters, maximize, seed)

    def _prepare(self, start: Array, generator: Generator) -> None:
        nevergrad = import_optional("nevergrad")
        space = nevergrad.p.Array(init=start, lower=0.0, upper=1.0)
        space.function.deterministic = False
        words = generator.integers(2**32, size=8, dtype=np.uint32)
        space.random_state = np.random.RandomState(words)
        self._optimizer: Any = nevergrad.optimizers.NGOpt(
            parametrization=space, budget=self._budget
        )


def all_players(rounds: int) -> dict[str, Maker]:
    """By the names in the tables, for games of so many rounds."""

    def ng_opt(parameters: Parameters, maximize: bool, seed: int) -> NGOpt:
        return NGOpt(parameters, maximize, seed, rounds)

    return {
        TUNER: tuner,
        KEEP: Today,
        BLUEFIN: Bluefin,
        CMA_ES: PyCMA,
        NOISE_CMA: NoiseHandlingCMA,
        TBPSA_: TBPSA,
        NGOPT: ng_opt,
        TPE_: TPE,
    }


class OneEach:
    """A rival without contexts: one of them for each value of the context."""

    def __init__(self, make: Maker, parameters: Parameters, contexts: list[str], seed: int) -> None:
        self._players = {
            name: make(parameters, False, seed + place) for place, name in enumerate(contexts)
        }

    def ask(self, context: str) -> Any:
        return self._players[context].ask()

    def tell(self, context: str, trial: Any, value: float) -> None:
        self._players[context].tell(trial, value)


class TunerWithContexts:
    """One `dikin.Tuner` that is told the context before it chooses."""

    def __init__(self, parameters: Parameters, contexts: list[str], seed: int) -> None:
        self._tuner = dikin.Tuner(parameters, context={"context": contexts}, seed=seed)

    def ask(self, context: str) -> Any:
        return self._tuner.ask(context={"context": context})

    def tell(self, context: str, trial: Any, value: float) -> None:
        self._tuner.tell(trial, value)


ONE_TUNER = "dikin.Tuner, contexts"


def contextual(
    player: str, parameters: Parameters, contexts: list[str], seed: int, rounds: int
) -> OneEach | TunerWithContexts:
    """By its name in the tables: one tuner for all contexts, or a player for each."""
    if player == ONE_TUNER:
        return TunerWithContexts(parameters, contexts, seed)
    each = max(rounds // len(contexts), 1)
    return OneEach(all_players(each)[player], parameters, contexts, seed)


def last_tenth(costs: Any) -> float:
    """What the rounds cost in the end, exploring included."""
    return float(np.mean(costs[-max(len(costs) // 10, 1) :]))
