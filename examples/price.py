"""Price and advertising of a shop, tuned by the revenue of every hour while demand changes.

Customers come more on some days of the week than on others, prices drift upwards, and half-way a
competitor opens. Nobody tells the tuner any of it: it has two ranges, today's setting and one noisy
number an hour. Prints the mean regret an hour against the best setting *of each hour*, for
`dikin.Tuner` and its rivals, and draws what was played.
"""

from __future__ import annotations

import argparse
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
from report import Results, play_parallel, publish
from rivals import RIVALS, Array, Maker, tuner

import dikin

PARAMETERS = {"price": dikin.Real(1, 14, start=4), "ads": dikin.Real(0, 60, start=40)}
WEEK = (1.0, 0.95, 0.95, 1.0, 1.1, 1.25, 0.8)
"""Demand on the days of a week, in units of that on a Monday."""
HOURS = 24
BASE, SLOPE, LIFT, COST, NOISE = 560.0, 40.0, 8.0, 6.0, 100.0
"""Customers at price 0; those that a unit of price loses; those that advertising brings; what a
unit of it costs; the standard deviation of the revenue of an hour."""
DRIFT, COMPETITOR = 0.25, 0.7
"""By how much demand has grown at the end, and what the competitor leaves of it."""
WORKERS = 2
TUNER = "dikin.Tuner"
PLAYERS: dict[str, Maker] = {TUNER: tuner, **RIVALS}


class Market(NamedTuple):
    """What customers do in one game. Everything happens once, however many rounds there are."""

    rounds: int

    def _demand(self, round: int) -> tuple[float, float]:
        """Customers at price 0, and those that a unit of price loses."""
        day = WEEK[round // HOURS % len(WEEK)]
        growth = 1.0 + DRIFT * round / self.rounds
        left = COMPETITOR if 2 * round >= self.rounds else 1.0
        return BASE * day * growth * left, SLOPE * day

    def revenue(self, round: int, price: float, ads: float) -> float:
        """price (base - slope price + lift sqrt(1 + ads)) - cost ads, concave on the ranges.

        The determinant of its Hessian is not negative, as 2 slope price >= lift sqrt(1 + ads).
        """
        base, slope = self._demand(round)
        return price * (base - slope * price + LIFT * sqrt(1.0 + ads)) - COST * ads

    def best(self, round: int) -> tuple[float, float]:
        """The best price and the best advertising: where both derivatives are 0.

        With s = sqrt(1 + ads) the revenue is a quadratic in (price, s).
        """
        base, slope = self._demand(round)
        s = LIFT * base / (4.0 * COST * slope - LIFT**2)
        return (base + LIFT * s) / (2.0 * slope), s * s - 1.0


# --- the games -----------------------------------------------------------------------------------


class Task(NamedTuple):
    """One game."""

    player: str
    rounds: int
    seed: int


class Game(NamedTuple):
    """What came of it."""

    task: Task
    regret: float
    """The mean over the rounds."""


def play(task: Task) -> Game:
    """One game by ask and tell."""
    player, market = PLAYERS[task.player](PARAMETERS, True, task.seed), Market(task.rounds)
    noise = NOISE * np.random.default_rng(task.seed).standard_normal(task.rounds)
    regret = 0.0
    for round in range(task.rounds):
        trial = player.ask()
        revenue = market.revenue(round, **trial.params)
        player.tell(trial, revenue + noise[round])
        regret += market.revenue(round, *market.best(round)) - revenue
    return Game(task, regret / task.rounds)


def play_all(horizons: list[int], games: int, seed: int) -> list[Game]:
    """Every game, with a progress bar; the longest first, so that no worker waits for the other."""
    tasks = [
        Task(player, rounds, seed + game)
        for rounds in sorted(horizons, reverse=True)
        for player in PLAYERS
        for game in range(games)
    ]
    return play_parallel(play, tasks, WORKERS)


def results_of(horizons: list[int], games: list[Game]) -> Results:
    """Regret an hour by player and number of rounds."""
    values: dict[str, dict[str, Array]] = {}
    for player in PLAYERS:
        for rounds in horizons:
            mine = [game.regret for game in games if game.task[:2] == (player, rounds)]
            values.setdefault(player, {})[f"{rounds:,} rounds"] = np.array(mine)
    first = min(game.task.seed for game in games)
    about = "mean regret a round against the best setting of each round"
    return Results("price", about, values, first)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, nargs="+", default=[500, 5000], help="(%(default)s)")
    parser.add_argument("--games", type=int, default=8, help="of each length (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first game (%(default)s)")
    parser.add_argument("--out", type=Path, default=Path("."), help="folder to write to")
    parser.add_argument("--page", type=Path, help="a page whose table is written anew")
    chosen = parser.parse_args()
    games = play_all(chosen.rounds, chosen.games, chosen.seed)
    results = results_of(chosen.rounds, games)
    publish(results, chosen.out, chosen.page)


if __name__ == "__main__":
    main()
