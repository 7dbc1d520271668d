"""Faults of a pipeline are noticed, and what is no fault is not."""

from __future__ import annotations

import json
from math import comb, exp
from typing import Any

import numpy as np
import pytest

from dikin.errors import StateError
from dikin.worth import PipelineWatch


def after(values: Any, watch: PipelineWatch | None = None) -> PipelineWatch:
    watch = watch or PipelineWatch()
    for value in values:
        watch.asked()
        watch.told(float(value))
    return watch


def normal(count: int, seed: int = 1) -> Any:
    return 100.0 + 10.0 * np.random.default_rng(seed).standard_normal(count)


def test_usual_values_jump_never() -> None:
    watch = after(normal(200))
    assert (watch.jumps, watch.longest_jumps) == (0, 0)


def test_values_that_stop_coming() -> None:
    watch = after(normal(200))
    for _ in range(99):
        watch.asked()
    assert [*watch.notices()] == []
    watch.asked()
    (notice,) = watch.notices()
    expected = "No value has come for the last 100 trials (before, one came at least every 1)"
    assert notice.startswith(expected)
    watch.told(100.0)
    assert [*watch.notices()] == []


def test_no_value_at_all() -> None:
    watch = PipelineWatch()
    for _ in range(100):
        watch.asked()
    (notice,) = watch.notices()
    assert "none has ever come" in notice


def test_batches_are_no_silence() -> None:
    watch = PipelineWatch()
    for batch in range(20):
        for _ in range(60):
            watch.asked()
        for value in normal(60, batch):
            watch.told(float(value))
    for _ in range(500):
        watch.asked()
    assert [*watch.notices()] == []
    for _ in range(100):
        watch.asked()
    assert len([*watch.notices()]) == 1


@pytest.mark.parametrize("before", [0, 1, 80])
def test_values_that_are_all_the_same(before: int) -> None:
    watch = after(normal(before))
    after([7.0] * 99, watch)
    assert [*watch.notices()] == []
    after([7.0], watch)
    (notice,) = watch.notices()
    assert notice.startswith("The last 100 values were all 7: ")


@pytest.mark.parametrize("factor", [1000.0, 0.001, -1000.0])
def test_a_jump_by_orders_of_magnitude(factor: float) -> None:
    watch = after(normal(100))
    after(normal(4, 2) * factor, watch)
    assert [*watch.notices()] == []
    after(normal(1, 3) * factor, watch)
    (notice,) = watch.notices()
    assert notice.startswith("The last 5 values are of another order of magnitude, such as ")
    after(normal(200, 4) * factor, watch)  # the new size is the usual one by now
    assert [*watch.notices()] == []
    after(normal(5, 5), watch)
    assert len([*watch.notices()]) == 1


def harmless() -> dict[str, Any]:
    chance = np.random.default_rng(6)
    absurd = np.where(chance.random(20_000) < 0.05, 40.0, 1.0)
    return {
        "normal": normal(20_000),
        "around zero": chance.standard_normal(20_000),
        "absurd now and then": normal(20_000) * absurd,
        "rare": 100.0 * (chance.random(20_000) < 0.05),
        "counts": chance.poisson(0.5, 20_000),
        "heavy": chance.lognormal(0.0, 1.5, 20_000),
        "growing": np.exp(np.arange(20_000) / 1000),
    }


@pytest.mark.parametrize("name", harmless())
def test_what_is_no_fault_is_not_noticed(name: str) -> None:
    """Fixed values, looked at after each: not a statistical test."""
    watch = PipelineWatch()
    for value in harmless()[name]:
        watch.told(float(value))
        assert [*watch.notices()] == []


# --- lost answers --------------------------------------------------------------------------------


def counted(tuned: int, held_back: int) -> PipelineWatch:
    return PipelineWatch(holdback=0.1, tuned=tuned, held_back=held_back)


def test_the_counts_are_a_martingale_under_the_coin() -> None:
    """Its mean over the counts of n rounds is 1; with another coin it is not."""
    for n in (7, 60):
        for coin, is_one in ((0.1, True), (0.3, False)):
            odds = [comb(n, k) * coin**k * (1 - coin) ** (n - k) for k in range(n + 1)]
            mean = sum(p * exp(counted(n - k, k)._lost) for k, p in enumerate(odds))
            assert (mean == pytest.approx(1.0, rel=1e-9)) == is_one


def test_answers_of_one_arm_that_get_lost() -> None:
    assert [*counted(900, 100).notices()] == []
    assert [*counted(900, 70).notices()] == []
    (notice,) = counted(900, 30).notices()
    assert notice.startswith(
        "Of 930 answers 30 came from rounds that were held back, where about 93"
    )
    assert len([*counted(600, 200).notices()]) == 1
    assert [*PipelineWatch(tuned=900).notices()] == []


def test_they_are_counted_where_a_coin_decided() -> None:
    watch = PipelineWatch(holdback=0.1)
    for held_back in (True, False, None, False):
        watch.told(1.0, held_back)
    assert (watch.tuned, watch.held_back, watch.values) == (2, 1, 4)


# --- state ---------------------------------------------------------------------------------------


def test_a_state_continues() -> None:
    watch = after(normal(150))
    again = PipelineWatch.restore(json.loads(json.dumps(watch.state())))
    assert again == watch
    assert after([3.0] * 120, again) == after([3.0] * 120, watch)


@pytest.mark.parametrize("state", [{}, {"silent": 1}, []])
def test_what_is_no_state_is_refused(state: Any) -> None:
    with pytest.raises(StateError):
        PipelineWatch.restore(state)


CHANGES = [
    {"size": "large"},
    {"tuned": -1},
    {"holdback": 1.0},
    {"same": 2},
    {"values": 3, "same": 3},
]


@pytest.mark.parametrize("change", CHANGES)
def test_an_altered_state_is_refused(change: Any) -> None:
    with pytest.raises(StateError):
        PipelineWatch.restore(PipelineWatch().state() | change)
