"""The mixture of forecasters: its bound, for any forecasters and any losses, and its mutants.

With e_k = (v - p_k)/rho and the rate 1/2, exp(-e^2/2) is concave in p while |e| <= 1. So the
mixture's loss is at most the mixed loss, and weights w_k >= 1/(4 (t + 1)) after round t give

    sum_{s < t <= T} ((v_t - b_t)^2 - (v_t - p_k,t)^2)/rho_t^2  <=  2 (ln 4 + ln T)

for every k and every s, over the rounds in which k is awake.
"""

from collections.abc import Callable, Iterator
from math import exp, log, nan

import numpy as np
import pytest

import dikin
from dikin.learners import predictive_schedule as schedule
from dikin.learners.predictive_schedule import (
    AVERAGE,
    LAST,
    LAST_WEIGHT,
    LEVEL,
    MEAN_WEIGHT,
    MIXTURE,
    NONE,
    OWN,
    TRENDING,
    TRENDING_WEIGHT,
    first_numbers,
)
from paper.charts import holds

PLAN = dikin.Predictive(dikin.Ball(2))._kernel
Learn = Callable[[list[float], list[float], float, int], None]


def advice_of(n: list[float]) -> list[float]:
    return [n[LAST], n[TRENDING], n[AVERAGE], nan if n[OWN] == NONE else n[OWN]]


class Tally:
    """For every forecaster, the sum of the bound and the least value that it has had."""

    def __init__(self) -> None:
        self.rounds, self.sums, self.least = 0, np.zeros(4), np.zeros(4)

    def add(self, value: float, n: list[float]) -> None:
        errors = (value - np.array(advice_of(n))) ** 2
        rho = max(n[LEVEL] ** 2, float(np.nanmax(errors)))
        mixed = (value - schedule.expectation(PLAN, n)) ** 2
        self.rounds += 1
        if rho > 0:
            self.sums += np.nan_to_num((mixed - errors) / rho)
        assert (self.sums - self.least).max() <= 2 * (log(4) + log(self.rounds)) + 1e-9
        self.least = np.minimum(self.least, self.sums)


def two_camps(rounds: int) -> Iterator[tuple[list[float], float]]:
    """Advice 0 or 1/4, and a loss beyond one of them at 3/4 of its distance to the other, in turn.

    Where the curvature of exp(-e^2) is positive, at |e| > 1/sqrt(2), both camps share a side.
    """
    for t in range(rounds):
        yield [0.0, 0.0, 0.25, NONE], (1.0 if t % 2 else -0.75)


def late_bloomer(rounds: int) -> Iterator[tuple[list[float], float]]:
    """A forecaster that is all wrong for half of the time, and right from then on."""
    for t in range(rounds):
        right = 0.0 if t < rounds // 2 else 1.0
        yield [right, right, 1.0 - right, NONE], right if t < rounds // 2 else 0.0


def sleeper(rounds: int) -> Iterator[tuple[list[float], float]]:
    """The same of the user's number, which sleeps in every third round."""
    for t in range(rounds):
        right = 0.0 if t < rounds // 2 else 1.0
        own = NONE if t % 3 == 0 else 1.0 - right
        yield [right, right, right, own], right if t < rounds // 2 else 0.0


def check_any_advice(learn: Learn) -> None:
    for game in (two_camps, late_bloomer, sleeper):
        n, tally = first_numbers(), Tally()
        for t, (advice, value) in enumerate(game(3000), 1):
            n[LAST], n[TRENDING], n[AVERAGE], n[OWN] = advice
            awake = np.array([n[LAST_WEIGHT], n[TRENDING_WEIGHT], n[MEAN_WEIGHT]])
            n[MIXTURE] = float(awake @ advice[:3]) / float(awake.sum())
            tally.add(value, n)
            learn(n, n.copy(), value, t)


def too_fast(n: list[float], then: list[float], value: float, round: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schedule, "exp", lambda x: exp(2 * x))
        schedule.learn_forecast(n, then, value, round)


def without_a_share(n: list[float], then: list[float], value: float, round: int) -> None:
    schedule.learn_forecast(n, then, value, 10**12)


def test_the_bound_holds_for_any_advice_and_needs_its_rate_and_its_share() -> None:
    holds(check_any_advice, schedule.learn_forecast, too_fast, without_a_share)
