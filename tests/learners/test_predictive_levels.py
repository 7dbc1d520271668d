"""Without a known range: the level by the median, faults, and losses that really change.

The level is transcribed here from docs/mathematics.md, 13.3, as a loop over all surprises so far.
"""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.learners import predictive_schedule as schedule
from dikin.learners.predictive import expectation
from dikin.learners.predictive_schedule import Numbers

BOX = dikin.Box([0, 0], [1, 1])
Values = Any


def bowl(point: Any) -> float:
    away = point - [0.7, 0.4]
    return float(away @ away)


def play(learner: Any, values: Values, rounds: int) -> list[tuple[float, float, Numbers]]:
    """The surprise, the level it had, and the numbers after it, for every round after the eighth.

    `values` gives what is measured, from a round and the loss.
    """
    found = []
    for t in range(rounds):
        before = learner._state.numbers.copy()
        query = learner.ask()
        value = values(t, bowl(query.point))
        learner.tell(query, value)
        if before.level > 0:
            surprise = value - expectation(learner._plan, before)
            found.append((surprise, before.level, learner._state.numbers.copy()))
    return found


def noisy(seed: int, size: float = 0.05) -> Values:
    noise = size * np.random.default_rng(seed).standard_normal(5000)
    return lambda t, loss: loss + float(noise[t])


# --- the median ----------------------------------------------------------------------------------


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
        assert n.median == pytest.approx(median, rel=1e-9)
        assert n.top == pytest.approx(top, rel=1e-9)
        assert n.level == pytest.approx(6 * median, rel=1e-9)


def test_where_nothing_surprises_the_level_is_a_64th_of_the_largest() -> None:
    learner, noise = dikin.Predictive(BOX, seed=1), noisy(1)
    play(learner, lambda t, loss: noise(t, loss) if t < 60 else 0.0, 250)
    assert learner._state.numbers.level == pytest.approx(learner._state.numbers.top / 64, rel=1e-9)


# --- what is far off -----------------------------------------------------------------------------


def rounds_until_learnt(values: Values, change: int, seed: int) -> int:
    """Rounds after a change until five in a row are learnt as they are."""
    learner = dikin.Predictive(BOX, seed=seed)
    found = play(learner, values, change + 200)[change - 8 :]
    clipped = [abs(surprise) > level for surprise, level, _ in found]
    return next(i for i in range(len(clipped)) if not any(clipped[i : i + 5]))


@pytest.mark.parametrize("seed", range(6))
def test_a_scale_that_changes_by_100_is_followed_within_50_rounds(seed: int) -> None:
    calm = noisy(10 + seed)

    def values(t: int, loss: float) -> float:
        return calm(t, loss) * (100.0 if t >= 400 else 1.0)

    assert 5 <= rounds_until_learnt(values, 400, seed) <= 50


@pytest.mark.parametrize("seed", range(6))
def test_a_new_base_is_followed_within_12_rounds(seed: int) -> None:
    """All values larger by a constant: after eight they are no faults."""
    calm = noisy(20 + seed)
    assert 8 <= rounds_until_learnt(lambda t, x: calm(t, x) + 50.0 * (t >= 400), 400, seed) <= 12


def after_a_burst() -> tuple[float, float, Any]:
    """Seven values in a row that are far off: how far centre and level moved, and the learner."""
    rng, calm = np.random.default_rng(4), noisy(4)
    wild = 1e3 * rng.standard_normal(1000)
    learner = dikin.Predictive(BOX, seed=4)
    play(learner, calm, 400)
    center, level = learner.center, learner._state.numbers.level
    for t in range(7):
        learner.tell(learner.ask(), float(wild[t]))
    moved = float(np.abs(learner.center - center).max())
    return moved, learner._state.numbers.level / level, learner


def test_a_burst_of_wild_values_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant clips what is far off, and learns that."""
    moved, grown, learner = after_a_burst()
    assert moved <= 0.02  # what changes is the rate, and with it how far the barrier pulls
    assert grown <= exp(7 * 0.05) * (1 + 1e-9)
    assert learner.clipped >= 7
    monkeypatch.setattr(schedule, "FAR", 1e12)
    assert after_a_burst()[0] > 2 * moved


def test_a_usual_value_takes_one_fault_back() -> None:
    """Faults that come now and then are none the less faults, however many there were."""
    learner = dikin.Predictive(BOX, seed=4)
    play(learner, noisy(4), 100)
    counts = []
    for value in (1e6, -1e6, 0.2, 1e6, 0.2, 0.2, 0.2):
        learner.tell(learner.ask(), value)
        counts.append(learner._state.numbers.faults)
    assert counts == [1, 2, 1, 2, 1, 0, 0]


def test_the_level_halves_forty_times_at_most() -> None:
    """To 10^-12 of the range: with less, rounding would be the surprise."""
    learner = dikin.Predictive(dikin.Ball(2), loss_range=(-1, 1))
    n, first = learner._state.numbers, learner._state.numbers.level
    n.mean_square, n.exploring = 0.0, 1e9  # no surprise; all is paid for
    for _ in range(60):
        schedule.double_or_halve(learner._plan, n, False, 1)
    assert n.level == first * 2.0**-40


# --- the certificate right after the first rounds ------------------------------------------------


@pytest.mark.parametrize(
    ("domain", "start"),
    [
        (dikin.Box(10 * [0.0], 10 * [1.0]), None),
        (dikin.Ball(5), [0.9, 0.0, 0.0, 0.0, 0.0]),
        (dikin.Box([0, 0], [1, 1]), [0.1, 0.9]),
    ],
    ids=str,
)
def test_it_holds_right_after_them(domain: dikin.Domain, start: Any) -> None:
    """Steep linear losses, whose best point is far from where the first rounds are played.

    Seeds are fixed: nothing fails by chance. In truth the odds are 1 in 700.
    """
    slope, gaps = np.linspace(3.0, 4.0, domain.dim), []
    best = -float(domain.support(-slope)) + float(slope @ domain.center)
    for seed in range(40):
        noise = np.random.default_rng([seed, 3]).normal(0, 0.1, 8)
        learner = dikin.Predictive(domain, smoothness=0.0, start=start, seed=seed)
        regret = 0.0
        for t in range(8):
            query = learner.ask()
            loss = float(slope @ query.point)
            regret += loss - best
            learner.tell(query, loss + noise[t])
        gaps.append(learner.certificate - regret)
    assert np.mean(gaps) >= -3 * np.std(gaps, ddof=1) / np.sqrt(len(gaps))


# --- losses that are all the same at first -------------------------------------------------------


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


@pytest.mark.parametrize("same", [0, 20, 40, 300])
@pytest.mark.parametrize(("first", "scale"), [(0, 1), (100, 1), (1e6, 1), (1e6, 1e-3), (1, 1e3)])
def test_what_they_were_does_not_matter_later(first: float, same: int, scale: float) -> None:
    """The excess at the start is 0.5: a tenth of it shows that the loop has learnt."""
    assert settled(first, same, scale) < 0.05


@pytest.mark.parametrize("domain", [dikin.Ball(2), dikin.Ball(5), dikin.Box([-1, -1], [1, 1])])
def test_a_bowl_around_its_minimum_is_no_such_case(domain: dikin.Domain) -> None:
    """Without noise all losses are the same but for rounding as long as the ellipsoid is."""
    learner = dikin.Predictive(domain, 2.0, seed=1)
    for _ in range(500):
        query = learner.ask()
        learner.tell(query, 7.0 + float(query.point @ query.point))
    assert np.abs(learner.center).max() < 0.1


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_a_start_stays_where_it_is_when_the_level_is_known(scale: float) -> None:
    """Whatever the unit of loss. 1e-9: Newton's method."""
    learner = dikin.Predictive(BOX, start=[0.2, 0.7], seed=1)
    for t in range(9):
        assert np.abs(learner.center - [0.2, 0.7]).max() < 1e-9
        learner.tell(learner.ask(), scale * (t % 3))
    assert np.abs(learner.center - [0.2, 0.7]).max() > 1e-3
