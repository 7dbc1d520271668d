"""Offsets of either arm from the forecast: what lasts is learnt, whichever arm moves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dikin.worth.offsets import LONG, MEMORY, Offsets

Signal = Callable[[int], float]


def learnt(rounds: int, tuned: Signal, control: Signal, forecast: Signal) -> Offsets:
    """One round in ten plays the control; there is no noise."""
    found = Offsets()
    for t in range(rounds):
        held_back = t % 10 == 3
        found.learn((control if held_back else tuned)(t) - forecast(t), held_back, forecast(t))
    return found


def test_a_forecast_that_is_off_by_a_constant_is_corrected() -> None:
    found = learnt(400, lambda t: 500.0, lambda t: 430.0, lambda t: 480.0)
    assert found.tuned == pytest.approx(20.0, rel=1e-3)
    assert found.control == pytest.approx(-50.0)


@pytest.mark.parametrize("moves", [True, False], ids=["both arms move", "tuning moves one"])
def test_the_control_moves_with_the_forecast_or_stays(moves: bool) -> None:
    """The mutants, one idea of the control alone, are wrong where the other is right."""

    def tuned(t: int) -> float:
        return 500.0 + 0.5 * t

    found = learnt(1000, tuned, tuned if moves else lambda t: 500.0, tuned)
    truth = 0.0 if moves else 500.0 - tuned(1000)
    wrong = found.still if moves else found.moving
    assert abs(found.control - truth) < 0.1 * abs(wrong - truth)
    assert abs(wrong - truth) > 10.0


def test_the_offsets_are_their_formulas() -> None:
    """Weighted sums over all rounds, in place of steps."""
    chance, rows, found = np.random.default_rng(5), [], Offsets()
    for t in range(300):
        row = (float(chance.normal(3.0, 2.0)), bool(chance.random() < 0.3), 10.0 + 0.01 * t)
        rows.append(row)
        found.learn(*row)
    means = [rows[0][2]]
    for t, (_, _, forecast) in enumerate(rows, start=1):
        means.append(means[-1] + (forecast - means[-1]) / min(t, LONG))
    means[0] = rows[0][2]
    tuned = weighted([d for d, held, _ in rows if not held], first=2)
    # In units of the mean forecast the control that stays is a mean of its own.
    pairs = [(d, d + means[t]) for t, (d, held, _) in enumerate(rows) if held]
    moving, still = (weighted(list(each), first=1) for each in zip(*pairs, strict=True))
    assert (found.tuned, found.moving) == pytest.approx((tuned, moving))
    assert found.still == pytest.approx(still - means[-1])
    squares = found.moving_square, found.still_square
    weights = np.array(squares)[::-1] / sum(squares)
    assert found.control == pytest.approx(float(weights @ [found.moving, found.still]))


def weighted(numbers: list[float], first: int) -> float:
    """The mean with a memory; its first number has the weight 1/first."""
    steps = [1 / min(n + first, MEMORY) for n in range(len(numbers))]
    kept = np.cumprod([1.0, *(1 - step for step in steps[:0:-1])])[::-1]
    return float(np.dot(kept * steps, numbers))
