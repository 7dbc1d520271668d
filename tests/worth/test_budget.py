"""The budget: right on average, and never overdrawn, whatever the opponent does."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from dikin.errors import LossError, ParameterError, StateError
from dikin.worth import Budget

Opponent = Callable[[Budget, bool], tuple[float, float]]


def ambush(budget: Budget, allowed: bool) -> tuple[float, float]:
    """The control is best, and tuning worst, just when a coin may decide."""
    return (0.0, 1.0) if allowed else (1.0, 0.5)


def unseen(budget: Budget, allowed: bool) -> tuple[float, float]:
    """Tuned rounds look as the control did; the control has become better."""
    guess = budget.guess()
    return (0.4 if guess != guess else guess, 1.0) if allowed else (0.4, 0.4)


def costs(budget: Budget, allowed: bool) -> tuple[float, float]:
    """For values that are costs: tuned rounds cost most, the control nearly nothing."""
    return (1.0, 0.1) if allowed else (0.0, 0.9)


def expected(
    opponent: Opponent, maximize: bool, q: float, rounds: int, reserved: bool = True
) -> tuple[float, float, float]:
    """The exact means over all coins of what is truly left and of the account; the least account.

    A budget that does not reserve anything (`reserved=False`) is the mutant.
    """
    first = Budget(0.4, q, maximize=maximize, value_range=(0.0, 1.0))
    leaves = [(1.0, first.state(), 0.0, inf)]
    sign = 1.0 if maximize else -1.0
    for _ in range(rounds):
        branches = []
        for odds, state, left, least in leaves:
            budget = Budget.restore(state)
            guess = budget.guess()
            amount = budget.ask(guess)
            if not reserved and amount is None and budget.account >= 0.0 and guess == guess:
                amount = 0.0
            values = opponent(budget, amount is not None)
            sides = [(1.0, True)] if amount is None else [(1.0 - q, False), (q, True)]
            for chance, held in sides:
                branch = Budget.restore(budget.state())
                branch.add(values[held], held, guess, amount)
                gain = sign * (values[held] - values[1]) + 0.4 * values[1]
                at_least = min(least, branch.account)
                branches.append((odds * chance, branch.state(), left + gain, at_least))
        leaves = branches
    return (
        sum(odds * left for odds, _, left, _ in leaves),
        sum(odds * state["account"] for odds, state, _, _ in leaves),
        min(least for _, _, _, least in leaves),
    )


GAMES = [(ambush, True), (unseen, True), (costs, False)]


@pytest.mark.parametrize(("opponent", "maximize"), GAMES)
def test_the_account_is_right_on_average_and_never_overdrawn(
    opponent: Opponent, maximize: bool
) -> None:
    left, account, least = expected(opponent, maximize, 0.3, 12)
    assert left == pytest.approx(account, abs=1e-12)
    assert least >= -1e-12
    assert left >= -1e-12


def test_without_a_reserve_hostile_games_overdraw_it() -> None:
    """The mutant: tuned rounds are played as soon as anything is left."""
    left, account, least = expected(costs, False, 0.3, 12, reserved=False)
    assert left == pytest.approx(account, abs=1e-12)
    assert least < -1.0
    assert left < -0.5


def test_tuned_rounds_are_played_when_there_is_enough(coverage: Any) -> None:
    chance = np.random.default_rng(1)
    left, accounts, tuned = coverage.budget_game(coverage.good, 0.1, 1500, chance)
    assert accounts.min() >= 0.0
    assert tuned[1000:].mean() > 0.8
    assert tuned[:50].sum() == 0.0
    assert left[-1] > 0


def test_the_reserve_is_the_most_that_a_round_can_take() -> None:
    budget = Budget(0.05, 0.1, maximize=True, value_range=(0.0, 1.0))
    assert budget.reserve() == inf
    budget.add(0.5, True, nan, None)
    assert budget.account == pytest.approx(0.025)
    worst = budget.reserve(0.5)
    entries = [budget._entry(v, held, 0.5) for v in np.linspace(0, 1, 11) for held in (True, False)]
    assert min(entries) == pytest.approx(-worst)


def test_open_rounds_are_set_aside() -> None:
    budget = Budget(0.4, 0.5, maximize=True, value_range=(0.0, 1.0))
    for _ in range(5):
        budget.add(0.5, True, nan, budget.ask())
    amounts = [budget.ask() for _ in range(20)]
    given = [amount for amount in amounts if amount is not None]
    assert 0 < len(given) < 20
    assert budget.account - budget.set_aside < budget.reserve()
    for amount in given:
        budget.add(1.0, True, 0.5, amount)  # the worst that can come
    assert budget.account >= -1e-12
    assert budget.set_aside == pytest.approx(0.0, abs=1e-12)
    again = budget.ask()
    budget.forget(again)
    budget.forget(None)
    assert budget.set_aside == pytest.approx(0.0, abs=1e-12)


def test_without_a_range_values_count_up_to_a_level() -> None:
    budget, chance = Budget(0.05, 0.1, maximize=True), np.random.default_rng(2)
    assert budget.ask() is None
    least = inf
    for t in range(2000):
        guess = budget.guess()
        amount = budget.ask(guess)
        held = amount is None or bool(chance.random() < 0.1)
        value = (100.0 if held else 80.0) + 5.0 * float(chance.standard_normal())
        budget.add(value * (40.0 if t % 500 == 499 else 1.0), held, guess, amount)
        least = min(least, budget.account)
    assert least >= -1e-9
    assert 20.0 < budget.level < 1000.0  # far below the absurd values, 3 900 away


@pytest.mark.parametrize("cut", [0, 3, 300])
def test_a_state_continues_bit_for_bit(cut: int) -> None:
    def play(budget: Budget, count: int, seed: int) -> None:
        chance = np.random.default_rng(seed)
        for _ in range(count):
            amount = budget.ask()
            held = amount is None or bool(chance.random() < 0.1)
            budget.add(10.0 + float(chance.random()), held, budget.guess(), amount)

    budget = Budget(0.05, 0.1, maximize=True)
    play(budget, cut, 3)
    again = Budget.restore(json.loads(json.dumps(budget.state(), allow_nan=False)))
    play(budget, 500, 4)
    play(again, 500, 4)
    assert again.state() == budget.state()


@pytest.mark.parametrize("value", [-1.0, nan, inf])
def test_values_must_not_be_negative(value: float) -> None:
    budget = Budget(0.05, 0.1)
    before = budget.state()
    with pytest.raises(LossError, match="not negative"):
        budget.add(value, True, nan, None)
    assert budget.state() == before


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ParameterError, match="budget must be a share"):
        Budget(5, 0.1)
    with pytest.raises(ParameterError, match="holdback must be above 0"):
        Budget(0.05, 0)
    with pytest.raises(ParameterError, match="must not be negative"):
        Budget(0.05, 0.1, value_range=(-1, 1))
    with pytest.raises(LossError, match="value_range"):
        Budget(0.05, 0.1, value_range=(0, 1)).add(2.0, True, nan, None)
    state = Budget(0.05, 0.1).state()
    for change in ({"account": "much"}, {"account": nan}, {"share": 7}):
        with pytest.raises(StateError):
            Budget.restore(state | change)
    with pytest.raises(StateError):
        Budget.restore({})
