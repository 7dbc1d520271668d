"""The guard holds what does harm, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dikin.errors import ParameterError, StateError
from dikin.worth.guard import Guard


def play(guard: Guard, count: int, gain: float, seed: int, sign: float = 1.0) -> int | None:
    """The round in which it holds."""
    chance = np.random.default_rng(seed)
    for t in range(count):
        held = bool(chance.random() < 0.1)
        value = 100.0 + (0.0 if held else gain) + 5.0 * float(chance.standard_normal())
        guard.add(sign * value, held, sign * (100.0 + gain), sign * 100.0)
        if guard.holds:
            return t
    return None


@pytest.mark.parametrize(
    ("gain", "maximize", "sign"),
    [(-10.0, True, 1.0), (10.0, False, 1.0), (10.0, True, -1.0), (-10.0, False, -1.0)],
    ids=["earnings", "costs", "negative earnings", "negative costs"],
)
def test_harm_is_held_in_every_sense(gain: float, maximize: bool, sign: float) -> None:
    guard = Guard(0.02, 0.1, maximize=maximize)
    when = play(guard, 2000, gain, 1, sign)
    assert when is not None
    assert guard.reason is not None
    assert guard._estimate.uplift().high < 0
    assert "surely by more than 2 %" in guard.reason
    opposite = Guard(0.02, 0.1, maximize=not maximize)
    assert play(opposite, 2000, gain, 1, sign) is None


def test_harm_that_comes_late_is_seen_in_recent_rounds() -> None:
    guard = Guard(0.02, 0.1, maximize=True)
    assert play(guard, 3000, 5.0, 2) is None
    assert play(guard, 1000, -10.0, 3) is not None
    assert guard.reason is not None
    assert int(guard.reason.split()[1].replace(",", "")) < 2000
    assert guard._estimate.uplift().mean > 0


def test_the_sentence() -> None:
    guard = Guard(0.02, 0.1, maximize=True)
    play(guard, 2000, -20.0, 4)
    assert guard.reason is not None
    assert guard.reason.startswith("Over ")
    assert guard.reason.endswith("the control is played until somebody resumes.")
    assert "worse than the control, by " in guard.reason


def test_it_stays_held_until_a_person_resumes() -> None:
    guard = Guard(0.02, 0.1, maximize=True)
    play(guard, 2000, -10.0, 5)
    reason = guard.reason
    play(guard, 1, 50.0, 6)
    assert guard.reason == reason
    guard.resume()
    assert not guard.holds
    assert play(guard, 2000, 5.0, 7) is None
    guard.resume()
    assert play(guard, 2000, -10.0, 8) is not None


def test_false_holds_are_rare(coverage: Any) -> None:
    """400 loops at the limit, where it is hardest: six standard deviations above 5 %."""
    row = coverage.guard_loops("at the limit", lambda t: -2.0, 0.1, 400, 0, 99, rounds=1500)
    assert row.held < 0.05 + 6 * (0.05 * 0.95 / 400) ** 0.5


def test_a_guard_that_looks_at_the_mean_alone_would_hold_without_reason() -> None:
    """The mutant: no interval."""
    guard = Guard(0.02, 0.1, maximize=True)
    chance, crossed = np.random.default_rng(9), False
    for _ in range(3000):
        held = bool(chance.random() < 0.1)
        guard.add(100.0 + 10.0 * float(chance.standard_normal()), held, 100.0, 100.0)
        crossed |= guard._estimate.uplift().mean_percent < -2.0
    assert crossed
    assert not guard.holds


@pytest.mark.parametrize("cut", [5, 400, 1000])
def test_a_state_continues_bit_for_bit(cut: int) -> None:
    guard = Guard(0.02, 0.1, maximize=True)
    play(guard, cut, -3.0, 10)
    again = Guard.restore(json.loads(json.dumps(guard.state(), allow_nan=False)))
    assert again.state() == guard.state()
    assert play(again, 3000, -6.0, 11) == play(guard, 3000, -6.0, 11)
    assert again.state() == guard.state()
    held = Guard.restore(json.loads(json.dumps(guard.state(), allow_nan=False)))
    assert held.reason == guard.reason
    held.resume()
    assert held._estimate.maximize


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"If you mean 2 %, write 0\.02"):
        Guard(2, 0.1)
    with pytest.raises(ParameterError, match="guard must be a number"):
        Guard("2 %", 0.1)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="holdback"):
        Guard(0.02, 0.0)
    with pytest.raises(StateError):
        Guard.restore({})
