"""Measurements that are plain wrong: they cost about a round, and a line in the log.

A live loop on a box: a bowl with noise, 500 rounds, and a fault of a million, or minus a million,
in between. Over four fixed seeds the mean regret rose by 1 to 9 % for one fault, by 15 to 22 % for
two, and by 31 and 36 % for one right at the beginning, when nothing else was learnt yet; the limits
in the table have some room. Four faults of the same sign among the eight rounds that measure are
taken for losses, and so are three on a line or by lot.
"""

import logging
from functools import cache
from math import inf
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.learners import predictive_levels as levels
from dikin.learners.kernel_learner import Memo

BOX = dikin.Box([0, 0], [10, 2])
ROUNDS, SEEDS, FAULT = 500, 4, 1e6
RANGE = (2.0, 7.0)

CASES: dict[str, tuple[bool, dict[int, float], float]] = {
    # Whether the range is known, the faults, and how many times the regret without them.
    "in the middle": (False, {250: FAULT}, 1.2),
    "in the middle, below": (False, {250: -FAULT}, 1.2),
    "while measuring": (False, {3: FAULT}, 1.2),
    "while measuring, below": (False, {3: -FAULT}, 1.2),
    "the first of all": (False, {0: FAULT}, 1.2),
    "while measuring, on both sides": (False, {2: FAULT, 5: -FAULT}, 1.2),
    "while measuring, twice above": (False, {2: FAULT, 5: FAULT}, 1.2),
    "while measuring, three times above": (False, {0: FAULT, 2: FAULT, 5: FAULT}, 1.2),
    "while measuring, three times below": (False, {1: -FAULT, 6: -FAULT, 7: -FAULT}, 1.2),
    "just after measuring": (False, {8: FAULT}, 1.2),
    "twice": (False, {150: FAULT, 350: -FAULT}, 1.4),
    "twice in a row": (False, {250: FAULT, 251: FAULT}, 1.4),
    "known range": (True, {250: FAULT}, 1.2),
    "known range, below": (True, {250: -FAULT}, 1.2),
    "known range, the first of all": (True, {0: FAULT}, 1.5),
    "known range, twice": (True, {150: FAULT, 350: -FAULT}, 1.4),
}


def regret(kind: Any, seed: int, ranged: bool, faults: dict[int, float]) -> float:
    """Of the losses themselves, without noise and faults."""
    noise = 0.05 * np.random.default_rng([seed, 1]).normal(size=ROUNDS)
    learner = kind(BOX, loss_range=RANGE if ranged else None, seed=seed)
    total = 0.0
    for t in range(ROUNDS):
        query = learner.ask()
        u = (query.point - [7.0, 0.6]) / [5.0, 1.0]
        loss = float(u @ u)
        total += loss
        learner.tell(query, faults.get(t, 3.0 + loss + float(noise[t])))
    return total


@cache
def without(ranged: bool) -> float:
    return sum(regret(dikin.Predictive, seed, ranged, {}) for seed in range(SEEDS))


class Believes(dikin.Predictive):
    """Clips nothing."""

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        numbers = memo.state.numbers.copy()
        numbers.levels.current = numbers.levels.current and 1e9
        memo = memo._replace(state=memo.state._replace(numbers=numbers))
        super()._learn(memo, loss, curvature)


@pytest.mark.parametrize("name", CASES)
def test_a_fault_costs_little(name: str, caplog: pytest.LogCaptureFixture) -> None:
    ranged, faults, most = CASES[name]

    def check(kind: Any) -> None:
        total = sum(regret(kind, seed, ranged, faults) for seed in range(SEEDS))
        assert total <= most * without(ranged), f"{total / without(ranged)} times as much"

    with caplog.at_level(logging.WARNING, logger="dikin"):
        check(dikin.Predictive)
    # While it measures it cannot tell a fault from a loss. Other lines are of the first rounds.
    seen = sum(t >= 8 or ranged for t in faults)
    lines = [record.getMessage() for record in caplog.records]
    assert sum("1e+06 " in line for line in lines) == SEEDS * seen
    if name in ("in the middle", "known range"):
        with pytest.raises(AssertionError):
            check(Believes)


def test_three_faults_are_told_from_the_other_five(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant that never does takes the size of the faults for that of losses."""
    faults = CASES["while measuring, three times above"][1]
    monkeypatch.setattr(levels, "ABSURD", inf)
    assert sum(regret(dikin.Predictive, seed, False, faults) for seed in range(2)) > without(False)


@pytest.mark.parametrize("faults", range(5))
def test_absurd_samples_count_as_the_nearest_of_the_others(faults: int) -> None:
    """Three of eight, below or above; two are left out anyway, and of four nobody knows."""
    usual = [float(value) for value in np.random.default_rng(faults).normal(5.0, 1.0, 8 - faults)]
    for fault, nearest in ((-FAULT, min(usual)), (FAULT, max(usual))):
        told = sorted([fault] * faults + usual)
        found = told.copy()
        levels.bring_in_faults(found)
        assert found == (sorted([nearest] * 3 + usual) if faults == 3 else told)


def first_level(domain: dikin.Domain, values: list[float], by_lot: bool = False) -> float:
    learner = dikin.Predictive(domain, by_lot=by_lot, seed=1)
    for value in values:
        learner.tell(learner.ask(), value)
    level: float = learner._n.levels.current
    return level


def test_on_a_line_and_by_lot_three_of_eight_may_be_right() -> None:
    """Only two points are played there: that of the other may be far off, three times of eight."""
    values = [1000.0, 0.1, 0.2, 1000.0, 0.3, 0.4, 1000.0, 0.5]
    assert first_level(dikin.Box([0], [1]), values) > 1000
    assert first_level(BOX, values, by_lot=True) > 1000
    assert first_level(BOX, values) < 4


def test_the_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    learner = dikin.Predictive(BOX, loss_range=RANGE, seed=1)
    with caplog.at_level(logging.WARNING, logger="dikin"):
        for _ in range(5):
            learner.tell(learner.ask(), 3.0)
        learner.tell(learner.ask(), FAULT)
        learner.tell(learner.ask(), 3.0)
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("round 6: the loss 1e+06 lies outside loss_range=(2, 7), ")
    assert line.endswith("it is learnt as 7")


def test_a_loss_outside_of_its_range_is_taken_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A little outside, too, where nothing has to be clipped; within rounding it is inside."""
    learner = dikin.Predictive(BOX, loss_range=RANGE, seed=1)
    with caplog.at_level(logging.WARNING, logger="dikin"):
        for loss in (6.9, 7.0, 7.0 * (1 + 1e-13), 2.0):
            learner.tell(learner.ask(), loss)
        assert not caplog.records
        learner.tell(learner.ask(), 7.1)
        assert learner.clipped == 1
        learner.tell(learner.ask(), 1.9)
    assert [record.levelname for record in caplog.records] == ["WARNING"] * 2
    assert learner.rounds == 6


def test_every_value_of_which_not_all_is_learnt_has_a_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Clipped: what it is learnt as. Far off: that nothing is learnt."""
    rng = np.random.default_rng(2)
    learner = dikin.Predictive(BOX, seed=1)
    with caplog.at_level(logging.WARNING, logger="dikin"):
        for t in range(200):
            learner.tell(learner.ask(), float(rng.normal()) + {150: 8.0, 170: 30.0}.get(t, 0.0))
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == learner.clipped
    clipped, far = (line for line in lines if line.startswith(("round 151:", "round 171:")))
    assert "it is learnt as" in clipped
    assert far.endswith("nothing is learnt from it")


def steps_far_off(age: float) -> int:
    """Far losses, all different, until they are believed, so many rounds after sizes were known."""
    learner = dikin.Predictive(BOX, seed=1)
    n = learner._n.copy()
    n.levels.current, n.levels.known_since = 1.0, 8.0
    for count in range(1, 40):
        levels.count_fault(n, 100.0 * 2.0**count, age)
        if n.levels.faults == 0:
            return count
    raise AssertionError("never")


def test_far_losses_are_believed_sooner_in_the_first_rounds() -> None:
    """A quarter of the rounds, from 5 to 24, where they do not agree."""
    assert [steps_far_off(age) for age in (8, 20, 28, 60, 96, 500)] == [5, 5, 7, 15, 24, 24]
