"""Without a known range: the level by the median, faults, and losses that really change.

The level is transcribed here from docs/mathematics.md, 13.3, as a loop over all surprises so far.
"""

from math import exp, log
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.learners import predictive_schedule as schedule
from dikin.learners.predictive_schedule import (
    EXPLORING,
    LEVEL,
    MEAN_SQUARE,
    MEDIAN,
    TOP,
    expectation,
)

BOX = dikin.Box([0, 0], [1, 1])
Values = Any


def bowl(point: Any) -> float:
    away = point - [0.7, 0.4]
    return float(away @ away)


def play(learner: Any, values: Values, rounds: int) -> list[tuple[float, float, list[float]]]:
    """The surprise, its level, and the numbers after it, for every round after the eighth."""
    found = []
    for t in range(rounds):
        before = learner._state.numbers.copy()
        query = learner.ask()
        value = values(t, bowl(query.point))
        learner.tell(query, value)
        if before[LEVEL] > 0:
            surprise = value - expectation(learner._kernel, before)
            found.append((surprise, before[LEVEL], learner._state.numbers.copy()))
    return found


def noisy(seed: int, size: float = 0.05) -> Values:
    noise = size * np.random.default_rng(seed).standard_normal(5000)
    return lambda t, loss: loss + float(noise[t])


def test_the_level_follows_the_median() -> None:
    """Up or down by 5 % a round, faster down in the first rounds; never below 1/64 of the top."""
    learner = dikin.Predictive(BOX, seed=1)
    found = play(learner, noisy(1), 300)
    median = found[0][1] / 6
    top = smooth = found[0][1]
    for count, (surprise, level, n) in enumerate(found, start=9):
        if abs(surprise) > 3 * level:
            continue  # counted apart
        early = 1 / (2 + (count - 8) / 4)
        step = max(0.05, early) if abs(surprise) < median / 4 else 0.05
        median *= exp(step if abs(surprise) > median else -step)
        if count >= 32:
            median = max(median, top / 64 / 6)
        smooth *= exp(log(6 * median / smooth) / max(1.0, min(count / 4, 64.0)))
        top = smooth if count < 32 else max(top, smooth)
        assert n[MEDIAN] == pytest.approx(median, rel=1e-9)
        assert n[TOP] == pytest.approx(top, rel=1e-9)
        assert n[LEVEL] == pytest.approx(6 * median, rel=1e-9)


def rounds_until_learnt(values: Values, change: int, seed: int) -> int:
    """Rounds after a change until five in a row are learnt as they are."""
    learner = dikin.Predictive(BOX, seed=seed)
    found = play(learner, values, change + 200)[change - 8 :]
    clipped = [abs(surprise) > level for surprise, level, _ in found]
    return next(i for i in range(len(clipped)) if not any(clipped[i : i + 5]))


@pytest.mark.parametrize("seed", range(2))
def test_losses_that_really_change_are_followed(seed: int) -> None:
    """A scale 100 times as large within 50 rounds, and a new base, after eight no faults, in 12."""
    calm = noisy(10 + seed)

    def louder(t: int, loss: float) -> float:
        return calm(t, loss) * (100.0 if t >= 400 else 1.0)

    assert 5 <= rounds_until_learnt(louder, 400, seed) <= 50
    assert 8 <= rounds_until_learnt(lambda t, x: calm(t, x) + 50.0 * (t >= 400), 400, seed) <= 12


def test_a_burst_of_wild_values_is_not_followed() -> None:
    """Seven values in a row that are far off."""
    rng, calm = np.random.default_rng(4), noisy(4)
    wild = 1e3 * rng.standard_normal(1000)
    learner = dikin.Predictive(BOX, seed=4)
    play(learner, calm, 400)
    center, level = learner.center, learner._state.numbers[LEVEL]
    for t in range(7):
        learner.tell(learner.ask(), float(wild[t]))
    # What changes is the rate, and with it how far the barrier pulls.
    assert np.abs(learner.center - center).max() <= 0.02
    assert learner._state.numbers[LEVEL] / level <= exp(7 * 0.05) * (1 + 1e-9)
    assert learner.clipped >= 7


def test_the_level_halves_forty_times_at_most() -> None:
    """To 10^-12 of the range: with less, rounding would be the surprise."""
    learner = dikin.Predictive(dikin.Ball(2), loss_range=(-1, 1))
    n, first = learner._state.numbers, learner._state.numbers[LEVEL]
    n[MEAN_SQUARE], n[EXPLORING] = 0.0, 1e9  # no surprise; all is paid for
    for _ in range(60):
        schedule.double_or_halve(learner._kernel, n, False, 1)
    assert n[LEVEL] == first * 2.0**-40


def settled(first: float, same: int, scale: float, rounds: int = 1000) -> float:
    """The mean loss of the last 300 rounds; so many before were all the same."""
    learner = dikin.Predictive(BOX, start=[0.15, 0.85], seed=5)
    noise = 0.05 * np.random.default_rng(5).standard_normal(rounds)
    costs = []
    for t in range(rounds):
        query = learner.ask()
        costs.append(bowl(query.point))
        learner.tell(query, first + scale * (costs[-1] + noise[t]) * (t >= same))
    return float(np.mean(costs[-300:]))


@pytest.mark.parametrize(
    ("first", "scale", "same"),
    [(0, 1, 0), (100, 1, 20), (1e6, 1, 40), (1e6, 1e-3, 300), (1, 1e3, 20)],
)
def test_what_they_were_does_not_matter_later(first: float, scale: float, same: int) -> None:
    """The excess at the start is 0.5: a tenth of it shows that the loop has learnt."""
    assert settled(first, same, scale) < 0.05


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_a_start_stays_where_it_is_when_the_level_is_known(scale: float) -> None:
    """Whatever the unit of loss. 1e-9: Newton's method."""
    learner = dikin.Predictive(BOX, start=[0.2, 0.7], seed=1)
    for t in range(9):
        assert np.abs(learner.center - [0.2, 0.7]).max() < 1e-9
        learner.tell(learner.ask(), scale * (t % 3))
    assert np.abs(learner.center - [0.2, 0.7]).max() > 1e-3
