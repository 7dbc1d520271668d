"""The rule for orderings: by hand, against SciPy and by simulation."""

from math import exp, inf, log, nan, sqrt

import numpy as np
import pytest
from scipy import stats

from evidence.orderings import (
    BEHIND,
    BEST,
    LEVEL,
    LEVEL_RATIO,
    OPEN,
    Orderings,
    Ratio,
    ratio_of,
    ratio_of_means,
    standing_of,
)


def games(*costs: float) -> dict[int, float]:
    return dict(enumerate(costs))


def test_a_ratio_is_a_geometric_mean_with_students_interval() -> None:
    logarithms = [0.1, 0.4, 0.25, 0.05]
    ratio = ratio_of(logarithms)
    found = stats.ttest_1samp(logarithms, 0.0).confidence_interval(0.95)
    assert ratio == pytest.approx((exp(0.2), exp(found.low), exp(found.high)))


def test_the_ratio_of_means_has_the_interval_of_its_first_order() -> None:
    """By difference quotients: what each game does to the logarithm of the ratio."""
    one, two = np.array([3.0, 4.0, 5.5, 4.5]), np.array([1.0, 2.0, 1.4, 1.2])
    middle = log(one.mean() / two.mean())

    def slopes(games: np.ndarray, sign: float) -> np.ndarray:
        moved = games + 1e-6 * np.eye(len(games)) * games
        return sign * len(games) * (np.log(moved.mean(axis=1)) - log(games.mean())) / 1e-6

    each = slopes(one, 1.0) + slopes(two, -1.0)
    half = stats.t.ppf(0.975, 3) * each.std(ddof=1) / 2
    paired = ratio_of_means(one, two)
    assert paired == pytest.approx((exp(middle), exp(middle - half), exp(middle + half)), rel=1e-5)
    assert ratio_of_means([2.0], [1.0]).value == pytest.approx(2.0)


def test_where_means_count_ratios_and_tests_are_of_means() -> None:
    """By hand: "a" has the lesser mean, and "b" the lesser geometric mean."""
    costs = {"p": {"a": games(2.0, 4.0, 6.0), "b": games(0.1, 0.2, 14.0)}}
    table, logarithms = Orderings(costs, 1e-9, arithmetic=True), Orderings(costs, 1e-9)
    assert (table.best("p"), logarithms.best("p")) == ("a", "b")
    assert table.mean("p", "b") == pytest.approx(14.3 / 3)
    a, b = ([*costs["p"][name].values()] for name in "ab")
    assert table.ratio("p", "b") == ratio_of_means(b, a)
    for one, x, y in ((table, a, b), (logarithms, np.log(a), np.log(b))):
        assert one.p_value("p", "a", "b") == pytest.approx(stats.ttest_rel(x, y).pvalue)
    assert table.among(["a", "b"]).arithmetic


def test_standings() -> None:
    """Far and surely; near and surely; and measured badly, which is not level."""
    sure = np.array([1.0, 1.01, 0.99, 1.0, 1.005])
    costs = {
        "best": games(*(0.99 * sure)),
        "near": games(*(1.02 * sure[::-1])),
        "far": games(*(2.0 * sure[::-1])),
        "noisy": games(0.2, 9.0, 0.5, 7.0, 0.9),
    }
    table = Orderings({"p": costs}, 1e-9)
    found = {player: table.standing("p", player) for player in costs}
    assert found == {"best": BEST, "near": BEHIND, "far": BEHIND, "noisy": OPEN}
    both = Orderings({"p": {"best": games(1, 1.03, 0.98), "near": games(1.01, 1.02, 1)}}, 1e-9)
    assert both.standing("p", "near") == LEVEL
    assert both.ratio("p", "near").high < LEVEL_RATIO
    for ratio in (Ratio(0.6, 0.3, 1.09), Ratio(1.0, 0.95, 1.11), Ratio(nan, nan, nan)):
        assert standing_of(ratio, distinguished=False) == OPEN


def test_of_players_who_are_alike_hardly_any_table_calls_one_behind() -> None:
    """20 of 400 tables at most, and six deviations: a false alarm in less than 1 of 10^6 runs."""
    chance = np.random.default_rng(2)
    wrong = 0
    for _ in range(400):
        costs = {
            str(problem): {name: games(*np.exp(chance.normal(0, 1, 5))) for name in "ab"}
            for problem in range(4)
        }
        table = Orderings(costs, 1e-9)
        wrong += any(table.standing(p, name) == BEHIND for p in costs for name in "ab")
    assert wrong < 20 + 6 * sqrt(400 * 0.05 * 0.95)


PROBLEMS = {
    "1": {"a": games(1.0), "b": games(2.0), "c": games(8.0)},
    "2": {"a": games(3.0), "b": games(1.0), "c": games(9.0)},
    "3": {"a": games(1.0), "b": games(1.0e-12), "c": games(2.0)},
    "4": {"a": games(1.0), "b": games(2.0)},
}


def test_factors_overall_and_ranks_by_hand() -> None:
    """Factors are infinite without games, and a mean is over the problems that both have."""
    table = Orderings(PROBLEMS, 0.5)
    assert table.factors("a") == pytest.approx([1.0, 1.0, 2.0, 3.0])
    assert table.factors("c") == pytest.approx([4.0, 8.0, 9.0, inf])
    assert table.overall("c", "a") == pytest.approx(ratio_of([log(8), log(3), log(2)]))
    among = table.among(["a", "b", "c"])
    assert among.problems == ["1", "2", "3"]
    assert among.ranks() == pytest.approx({"a": 5 / 3, "b": 4 / 3, "c": 3.0})
