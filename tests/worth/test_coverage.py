"""The truth stays inside at all times: small simulations, and the arrays that they use."""

from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any

import numpy as np
import pytest

from dikin.worth import rounds_to_see
from dikin.worth.estimate import UpliftEstimate
from evidence import worth as coverage
from evidence.games import ROOT, read_table

LOOPS, ROUNDS = 300, 1000
MOST = 0.05 + 6 * (0.05 * 0.95 / LOOPS) ** 0.5
"""Six standard deviations above 5 %: a valid interval fails less than once in 10^6 runs."""


@pytest.mark.parametrize(
    "name", ["season", "bounded", "rare 2 %, harm", "big buyers 2 %, harm", "lost values"]
)
def test_the_truth_is_inside_at_all_times(name: str) -> None:
    row = coverage.cover(name, LOOPS, ROUNDS)
    assert max(row.missed, row.missed_percent) < MOST


def test_levels_that_are_a_quantile_miss_rare_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: no arm holds its level up, and nothing is withheld."""
    monkeypatch.setattr(coverage.ManySums, "is_clear", lambda sums, q, alpha: sums.first_spread > 0)
    monkeypatch.setattr(coverage, "RARE", inf)
    assert coverage.cover("big buyers 2 %, harm", LOOPS, ROUNDS).missed > 0.5


def share_outside(
    *,
    told: float = 0.2,
    peek: float = 0.0,
    half: Callable[[Any], Any] = lambda many: many.all.interval(many.q, 0.05)[1],
) -> float:
    """The share of loops whose gain of 4 is outside at some time; 20 % are held back."""
    chance = np.random.default_rng(5)
    many, outside = coverage.ManyEstimates(LOOPS, told, None), np.zeros(LOOPS, dtype=bool)
    for _ in range(ROUNDS):
        held = chance.random(LOOPS) < 0.2
        value = np.where(held, 100.0, 104.0) + 10.0 * chance.standard_normal(LOOPS)
        many.forecast = many.forecast + peek * (value - many.forecast)
        many.add(value, held)
        middle = many.all.values[0] - many.all.values[1]
        seen = np.isfinite(many.all.interval(many.q, 0.05)[1])
        outside |= seen & (np.abs(middle - 4.0 * many.all.rounds) > half(many))
    return float(outside.mean())


def for_one_round(many: Any) -> Any:
    """An interval that is not valid at any time."""
    return 1.96 * np.sqrt(many.all.spreads(many.q).sum(axis=0))


@pytest.mark.parametrize("mutant", [{"half": for_one_round}, {"told": 0.05}, {"peek": 0.5}])
def test_another_interval_coin_or_guess_is_noticed(mutant: dict[str, Any]) -> None:
    """The sound one is inside; not so where the coin is another, or a guess knows the value."""
    assert share_outside() < MOST
    assert share_outside(**mutant) > MOST


def test_false_holds_are_rare() -> None:
    """400 loops at the limit, where it is hardest: six standard deviations above 5 %."""
    kind = coverage.Kind("", partial(coverage.steady, gain=lambda t: -2.0), 0.1)
    row = coverage.guard_loops("at the limit", kind, 400, 0, 99, rounds=1500)
    assert row.held < 0.05 + 6 * (0.05 * 0.95 / 400) ** 0.5


@pytest.mark.parametrize("value_range", [None, (0.0, 5000.0)])
def test_many_loops_are_single_ones(value_range: tuple[float, float] | None) -> None:
    """The same sums, windows, levels and doubts: two texts of the same formulas."""
    loops, q, chance = 3, 0.2, np.random.default_rng(6)
    many = coverage.ManyEstimates(loops, q, value_range)
    single = [
        UpliftEstimate(q, maximize=True, value_range=value_range, guard=0.01) for _ in range(loops)
    ]
    short = np.zeros(loops, dtype=bool)
    for _ in range(900):
        held = chance.random(loops) < q
        value = 100.0 + 10.0 * np.abs(chance.standard_t(2.5, loops)) - 15.0 * ~held
        expected = [float(each) for each in many.forecast]
        for i, each in enumerate(single):
            each.add(float(value[i]), bool(held[i]), expected[i], expected[i])
        many.add(value, held)
        middle, half = many.all.interval(q, 0.05)
        short |= many.is_short(0.01)
        for i, each in enumerate(single):
            assert each._all.interval(q, 0.05) == pytest.approx(
                tuple(
                    (middle[i] + sign * half[i]) / max(many.all.rounds[i], 1) for sign in (-1, 1)
                ),
                rel=1e-6,
            )
            assert (each.doubt() is None) == many.is_printed()[i]
            assert (each.reason is not None) == short[i]
    assert short.any()
    assert many.first_window == single[0]._first_window == 2


def test_rounds_to_see_a_gain_are_enough_in_four_of_five_loops() -> None:
    """Six standard deviations of 300 loops, and 3 % for the variance that is not known."""
    rounds = round(rounds_to_see(4.0, 10.0, 0.2))
    assert 100 < rounds < ROUNDS
    chance, many = np.random.default_rng(7), coverage.ManyEstimates(LOOPS, 0.2, None)
    for _ in range(rounds + 1):
        held = chance.random(LOOPS) < 0.2
        many.add(np.where(held, 100.0, 104.0) + 10.0 * chance.standard_normal(LOOPS), held)
    middle, half = many.all.interval(0.2, 0.05)
    seen = float(np.mean(middle > half))
    assert abs(seen - 0.8) < 6 * (0.8 * 0.2 / LOOPS) ** 0.5 + 0.03


def test_every_promise_is_kept_in_the_measured_tables() -> None:
    folder = ROOT / "docs" / "worth"
    covered, power = (read_table(folder / f"{name}.csv") for name in ("coverage", "power"))
    assert {row["kind"] for row in covered} == {*coverage.KINDS}
    assert {row["loops"] for row in covered} == {"2000"}
    assert max(float(row[each]) for row in covered for each in ("missed", "missed_percent")) <= 0.05
    assert power == [
        {name: str(value) for name, value in row._asdict().items()} for row in coverage.power_rows()
    ]
