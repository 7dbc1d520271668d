"""What a holdback costs, how far covariates narrow the uplift, and how fast the guard acts.

    python benchmarks/holdback.py [cost] [covariates] [guard]

Games of a real tuner of two parameters with normal noise. Seeds and numbers of games are fixed.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from math import sqrt

import numpy as np

from dikin import Real, Tuner
from dikin.tuning.space import Params

ROUNDS, NOISE = 2000, 10.0
COST_GAMES, WIDTH_GAMES, HARMFUL_GAMES, HARMLESS_GAMES = 30, 6, 30, 60
LEARNING = 50
"""Rounds that it takes to learn what a covariate explains."""
HARM_AT = 500
"""The round at which tuned rounds become 10 % worse than the control."""


def revenue(params: Params) -> float:
    """Best at (9, 20): 500."""
    off = params["price"] - 9, params["ads"] - 20
    return float(500.0 - 2.0 * off[0] ** 2 - 0.05 * off[1] ** 2)


def tuner(seed: int, **more: float) -> Tuner:
    parameters = {"price": Real(1, 14, start=4), "ads": Real(0, 60, start=40)}
    return Tuner(parameters, maximize=True, seed=seed, **more)  # type: ignore[arg-type]


def cost() -> None:
    """The regret of tuned rounds with a holdback, over that without."""
    ratios, totals = [], []
    for seed in range(COST_GAMES):
        tuned = {}
        for share in (0.0, 0.05):
            player, rng, lost = tuner(seed, holdback=share), np.random.default_rng(seed), [0.0, 0.0]
            for _ in range(ROUNDS):
                trial = player.ask()
                value = revenue(trial.params)
                lost[trial.held_back] += 500.0 - value
                player.tell(trial, value + NOISE * rng.standard_normal())
            tuned[share] = lost
        ratios.append(tuned[0.05][0] / tuned[0.0][0])
        totals.append(sum(tuned[0.05]) / tuned[0.0][0])
    error = float(np.std(ratios) / sqrt(COST_GAMES))
    print(f"cost of a holdback of 5 %, {COST_GAMES} games of {ROUNDS:,} rounds:")
    print(f"  regret of tuned rounds   {np.mean(ratios):.3f} +- {error:.3f} times that without")
    print(f"  with the control's own   {np.mean(totals):.3f} times")


def covariates() -> None:
    """The width of the interval with a covariate, over that without."""
    print(f"width of the interval with a covariate, {WIDTH_GAMES} games of {ROUNDS:,} rounds:")
    for share in (0.5, 0.75, 0.9):
        slope, ratios, explained = NOISE * sqrt(share / (1.0 - share)), [], []
        for seed in range(WIDTH_GAMES):
            widths = {}
            for told in (False, True):
                player, rng = tuner(seed, holdback=0.1), np.random.default_rng(seed)
                for _ in range(ROUNDS):
                    load = rng.standard_normal()
                    trial = player.ask(covariates={"load": load} if told else None)
                    noise = slope * load + NOISE * rng.standard_normal()
                    player.tell(trial, revenue(trial.params) + noise)
                widths[told] = player.uplift.high - player.uplift.low
            ratios.append(widths[True] / widths[False])
            explained.append(player.explained.share)
        found = float(np.mean(explained))  # exploring varies the values besides the noise
        learning = sqrt(1 - share * (1 - LEARNING / ROUNDS))
        print(
            f"  R2 {share:.2f} of the noise: {np.mean(ratios):.3f}, predicted "
            f"{sqrt(1 - share):.3f}, {learning:.3f} if {LEARNING} rounds explain nothing; "
            f"{found:.2f} of the values: predicted {sqrt(1 - found):.3f}"
        )


def held_at(seed: int, worse: Callable[[int], float]) -> int | None:
    """The round in which a guard of 2 % holds; None if it never does."""
    player, rng = tuner(seed, holdback=0.1, guard=0.02), np.random.default_rng(seed)
    for round in range(ROUNDS):
        trial = player.ask()
        value = revenue(trial.params) * (1.0 if trial.held_back else 1.0 - worse(round))
        player.tell(trial, value + NOISE * rng.standard_normal())
        if player.held:
            return round
    return None


def guard() -> None:
    """How soon it holds where tuning does harm, and how often where it does none."""
    control = revenue({"price": 4.0, "ads": 40.0})

    def harm(round: int) -> float:
        # The best setting is then 10 % below the control.
        return 0.0 if round < HARM_AT else 1.0 - 0.9 * control / 500.0

    found = [held_at(seed, harm) for seed in range(HARMFUL_GAMES)]
    after = sorted(round - HARM_AT for round in found if round is not None)
    false = [held_at(seed, lambda _: 0.0) for seed in range(HARMLESS_GAMES)]
    print(f"guard of 2 %, tuned rounds 10 % worse than the control from round {HARM_AT} on:")
    print(f"  held in {len(after)} of {HARMFUL_GAMES} games within {ROUNDS - HARM_AT:,} rounds")
    if after:
        print(
            f"  after {np.median(after):.0f} rounds (median), {np.quantile(after, 0.95):.0f} (95 %)"
        )
    held = sum(round is not None for round in false)
    print(f"  held in {held} of {HARMLESS_GAMES} games without harm")


PARTS: dict[str, Callable[[], None]] = {"cost": cost, "covariates": covariates, "guard": guard}

if __name__ == "__main__":
    logging.getLogger("dikin").setLevel(logging.ERROR)
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()
