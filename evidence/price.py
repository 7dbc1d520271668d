"""Price and advertising of a shop, tuned by the revenue of every hour while demand changes.

Customers come more on some days of the week than on others, prices drift upwards, and half-way a
competitor opens. A player has two ranges, today's setting and one noisy number an hour. A round
costs the regret against the best setting *of its hour*.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

import dikin
from evidence.games import Outcome, Task, take_turns
from evidence.rivals import PLAYERS, USUAL, last_tenth

TITLE, GAMES, WORKERS, LEAST = "Price and advertising", 8, 2, 1e-9
PARAMETERS = {"price": dikin.Real(1, 14, start=4), "ads": dikin.Real(0, 60, start=40)}
WEEK = (1.0, 0.95, 0.95, 1.0, 1.1, 1.25, 0.8)
"""Demand on the days of a week, in units of that on a Monday."""
HOURS = 24
BASE, SLOPE, LIFT, COST, NOISE = 560.0, 40.0, 8.0, 6.0, 100.0
"""Customers at price 0; those that a unit of price loses; those that advertising brings; the cost
of a unit of it; the standard deviation of the revenue of an hour."""
DRIFT, COMPETITOR = 0.25, 0.7
"""By how much demand has grown at the end, and the share of it that the competitor leaves."""


class Market(NamedTuple):
    """The customers of one game. Everything happens once, however many rounds there are."""

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
        """Best price and best advertising: where both derivatives are 0.

        With s = sqrt(1 + ads) the revenue is a quadratic in (price, s).
        """
        base, slope = self._demand(round)
        s = LIFT * base / (4.0 * COST * slope - LIFT**2)
        return (base + LIFT * s) / (2.0 * slope), s * s - 1.0


def run(task: Task) -> Outcome:
    """One game. Its second number is the last tenth of the rounds."""
    player = PLAYERS[task.player](PARAMETERS, True, task.game, task.rounds)
    market = Market(task.rounds)
    noise = NOISE * np.random.default_rng(task.game).standard_normal(task.rounds)

    def answer(trial: dikin.Trial, round: int) -> tuple[float, float]:
        revenue = market.revenue(round, **trial.params)
        return revenue + noise[round], market.revenue(round, *market.best(round)) - revenue

    costs = take_turns(player, task.rounds, answer)
    return Outcome(float(np.mean(costs)), last_tenth(costs))


def tasks(games: range) -> list[Task]:
    """Every game, the longest first."""
    return [
        Task("shop", rounds, player, 1 + game)
        for rounds in (50_000, 5_000, 500)
        for player in USUAL
        for game in games
    ]
