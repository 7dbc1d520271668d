"""Marks that mean what they say: Holm's correction, certificates above regrets, ratios, files."""

from __future__ import annotations

from dataclasses import replace
from math import isnan, nan
from pathlib import Path
from typing import Any

import pytest
from matrix_file import read_matrix
from scipy.stats import ttest_ind, ttest_rel
from which_learner_page import level

from dikin.errors import CheckFailedError
from dikin.experiments.fit import half_interval
from dikin.feedback import Feedback
from dikin.rng import stream
from evidence.compare import matrix, refuse_broken_certificates
from evidence.compare.competitors import Competitor
from evidence.compare.matrix import Matrix, Outcome, p_value
from evidence.compare.plan import Match, undecided
from evidence.compare.scenarios import SCENARIOS
from evidence.external import FixedPoint
from evidence.orderings import (
    BEHIND,
    BEST,
    ERROR_RATE,
    OPEN,
    paired_p,
    rejected,
    welch_p,
)


def outcome(learner: str, regrets: list[float], **changes: Any) -> Outcome:
    made = Outcome(learner, "zero", "VALUE", 100, tuple(range(len(regrets))), tuple(regrets))
    return replace(made, certificates=(nan,) * len(regrets), seconds=1.0, group="smooth", **changes)


# --- Holm -----------------------------------------------------------------------------------------


def adjusted(p_values: list[float]) -> list[float]:
    """Holm's adjusted p-values, word for word: max over j <= k of min(1, (m - j + 1) p_(j))."""
    m = len(p_values)
    ordered = sorted(range(m), key=lambda i: p_values[i])
    found = [0.0] * m
    for k, index in enumerate(ordered, start=1):
        found[index] = max(
            min(1.0, (m - j + 1) * p_values[ordered[j - 1]]) for j in range(1, k + 1)
        )
    return found


def test_holm_rejects_what_the_adjusted_p_values_reject() -> None:
    rng = stream(0, "p-values")
    for _ in range(200):
        count = int(rng.integers(1, 30))
        p = (rng.random(count) ** 4).tolist()
        assert rejected(p) == [value <= ERROR_RATE for value in adjusted(p)]
    assert rejected([]) == []
    # Textbook steps: 0.01 <= 0.05/4, 0.015 <= 0.05/3, 0.03 > 0.05/2 ends it.
    assert rejected([0.04, 0.01, 0.03, 0.015]) == [False, True, False, True]


def uncorrected(p_values: list[float]) -> list[bool]:
    return [p <= ERROR_RATE for p in p_values]


def wrong_families(method: Any) -> int:
    """Of 400 families of 50 true hypotheses, those with any rejection."""
    rng = stream(0, "families")
    return sum(any(method(rng.random(50).tolist())) for _ in range(400))


def test_all_statements_of_a_page_are_right_with_odds_of_95_percent() -> None:
    """At most 20 of 400 expected; 6 standard deviations more, 46, fails once in 10^8 seeds."""
    assert wrong_families(rejected) <= 46
    assert wrong_families(uncorrected) > 300, "without the correction it would be noticed"


def test_p_values_are_students_and_welchs() -> None:
    rng = stream(0, "samples")
    for _ in range(20):
        one, two = rng.standard_normal(9).tolist(), (rng.standard_normal(9) + 0.5).tolist()
        other = (3 * rng.standard_normal(4)).tolist()
        assert paired_p(one, two) == pytest.approx(ttest_rel(one, two).pvalue, rel=1e-9)
        welch = ttest_ind(one, other, equal_var=False).pvalue
        assert welch_p(one, other) == pytest.approx(welch, rel=1e-9)
    assert paired_p([1.0, 2.0], [1.0, 2.0]) == 1.0
    assert paired_p([1.0, 2.0], [2.0, 3.0]) == 0.0
    assert welch_p([1.0, 1.0], [1.0, 1.0, 1.0]) == 1.0
    assert welch_p([1.0, 1.0], [2.0, 2.0, 2.0]) == 0.0


def test_every_printed_comparison_is_in_the_family() -> None:
    """Each against the best of all, the best of this library, and the best that is sound."""
    theirs = outcome("Z", [5.0, 6.0, 5.5], package="cma")
    unsound = outcome("A", [7.0, 8.0, 7.5], broken=("curvature",))
    sound, other = outcome("B", [9.0, 9.5, 9.2]), outcome("C", [9.0, 9.9, 9.0])
    table = Matrix((theirs, unsound, sound, other))
    pairs = {(one, two) for _, one, two in table.p_values}
    against_z, against_a = {("A", "Z"), ("B", "Z"), ("C", "Z")}, {("A", "B"), ("A", "C")}
    assert pairs == against_z | against_a | {("B", "C")}


# --- marks ----------------------------------------------------------------------------------------


def test_the_best_is_marked_and_those_not_distinguished() -> None:
    best = outcome("A", [10.0, 12.0, 11.0, 13.0])
    near = outcome("B", [12.0, 10.0, 13.0, 12.0])
    paired = outcome("C", [10.6, 12.5, 11.4, 13.5])  # close, and worse in every single game
    seer = outcome("D", [1.0, 1.0, 1.0, 1.0], feedback=Feedback.PAIR.name)
    absent = Outcome("E", "zero", "VALUE", 100, left_out="no")
    table = Matrix((best, near, paired, seer, absent))
    assert [table.mark(c) for c in table.outcomes] == [BEST, OPEN, BEHIND, "", ""]
    assert level(table, table.ranked("zero")) == [best, near]
    assert table.ratio(paired) == pytest.approx(12.0 / 11.5)
    assert table.learners() == ["A", "B", "C", "D"]  # those that see more last
    assert list(table.absent()) == ["E no"]


def test_another_package_wins_if_it_does_and_ratios_are_to_this_library() -> None:
    ours, theirs = outcome("A", [10.0, 12.0, 11.0]), outcome("Z", [5.0, 6.0, 5.5], package="cma")
    table = Matrix((ours, theirs))
    assert [table.mark(c) for c in table.outcomes] == [BEHIND, BEST]
    assert [table.ratio(c) for c in table.outcomes] == [1.0, 0.5]
    assert table.learners() == ["A", "Z"]


def test_games_of_other_seeds_are_compared_by_welch() -> None:
    many = outcome("A", [10.0, 12.0, 11.0, 13.0, 9.0, 12.0, 11.0, 10.0])
    few = outcome("B", [16.0, 17.0, 16.5])
    assert p_value(few, many) == pytest.approx(welch_p(few.regrets, many.regrets))
    assert Matrix((few, many)).distinguished(few, many)
    near = outcome("B", [11.0, 14.0, 12.0])
    assert not Matrix((near, many)).distinguished(near, many)
    single = outcome("B", [30.0])
    assert not Matrix((single, many)).distinguished(single, many), "one game distinguishes nobody"
    assert Matrix((single, many)).p_values == {}


def test_the_interval_is_students() -> None:
    # t(0.975, 3) = 3.1824; the standard deviation of 1, 2, 3, 4 is sqrt(5/3).
    assert half_interval([1.0, 2.0, 3.0, 4.0]) == pytest.approx(3.182446 * (5 / 3) ** 0.5 / 2)
    assert isnan(half_interval([1.0]))


# --- a second look --------------------------------------------------------------------------------

FIRST, MOST = 6, 16


def two_looks(first: int) -> int:
    """Of 2 000 pairs with the same law, those that are distinguished after one look or two."""
    rng, wrong = stream(0, "two looks"), 0
    for _ in range(2_000):
        games = 100 + 10 * rng.standard_normal((2, MOST))
        for count in (FIRST, MOST):
            one, two = (
                outcome(name, regrets[:count].tolist(), first_look=first)
                for name, regrets in zip("AB", games, strict=True)
            )
            if Matrix((one, two)).distinguished(one, two):
                wrong += 1
                break
    return wrong


def test_a_second_look_does_not_raise_the_odds_of_a_wrong_statement() -> None:
    """At most 100 of 2 000 expected; 5 standard deviations more, 149, fails once in 10^6 seeds."""
    assert two_looks(first=FIRST) <= 149
    assert two_looks(first=0) > 149, "without doubled p-values it would be noticed"


def of_match(made: Outcome) -> Match:
    """The match that an outcome is of."""
    competitor = Competitor(made.learner, FixedPoint)
    return Match(made.rounds, range(len(made.seeds)), competitor, SCENARIOS[made.scenario])


def test_those_whose_standing_is_open_play_more_with_the_best_beside_them() -> None:
    best = outcome("A", [10.0, 12.0, 11.0, 13.0], package="cma")
    library = outcome("B", [20.0, 21.0, 20.5, 20.0])
    open_beside_both = outcome("C", [5.0, 40.0, 12.0, 45.0])
    behind = outcome("D", [90.0, 91.0, 90.5, 91.5])
    open_and_far = outcome("H", [20.0, 220.0, 90.0, 50.0])
    seer = outcome("E", [1.0, 2.0, 3.0, 4.0], feedback=Feedback.PAIR.name)
    enough = outcome("F", [11.0, 11.0, 12.0, 13.0, 9.0, 12.0, 10.0], package="cma")
    absent = Outcome("G", "zero", "VALUE", 100, left_out="no")
    alone = outcome("A", [10.0, 12.0, 11.0, 13.0], scenario="linear")
    others = behind, open_and_far, seer, enough, absent, alone
    table = Matrix((best, library, open_beside_both, *others))
    assert table.standing(enough, best) == table.standing(open_and_far, best) == OPEN
    more = undecided([of_match(one) for one in table.outcomes], table, most=6)
    assert sorted(match.key for match in more.values()) == [
        f"{name}/zero/100/4-5" for name in "ABC"
    ]
    assert undecided([of_match(one) for one in table.outcomes], table, most=4) == {}


# --- certificates ---------------------------------------------------------------------------------


def test_a_regret_above_its_certificate_is_said_loudly() -> None:
    """Means of 10, 12, 11, 13: 11.5 with a standard error of 0.645."""
    regrets = [10.0, 12.0, 11.0, 13.0]
    low = replace(outcome("A", regrets), certificates=(9.5, 9.4, 9.6, 9.5))
    near = replace(low, certificates=(9.6, 9.7, 9.6, 9.7))
    assert low.exceeds
    assert not near.exceeds
    with pytest.raises(CheckFailedError, match=r"A in zero: mean regret 11\.5, .*certificate 9\.5"):
        refuse_broken_certificates(Matrix((low,)))
    for harmless in (
        near,
        replace(low, broken=("smoothness",)),
        replace(low, moving=True),
        replace(low, certificates=(nan,) * 4),
    ):
        refuse_broken_certificates(Matrix((harmless,)))


def test_files_give_back_what_was_measured(tmp_path: Path) -> None:
    outcomes = (
        outcome("A", [10.0, 12.5], broken=("curvature", "smoothness"), compiled=True, first_look=2),
        replace(outcome("B", [1.0, 2.0], package="cma", moving=True), certificates=(20.0, 22.0)),
        Outcome("C", "zero", "PAIR", 100, left_out="not here", group="smooth"),
    )
    matrix.write(Matrix(outcomes), tmp_path)
    again = read_matrix(tmp_path).outcomes
    assert repr(again) == repr(outcomes)  # NaN is not equal to itself
    assert again[1].certificate == 21.0
    text = (tmp_path / "compare.csv").read_text()
    assert "21.0000" in text
    assert "moving" in text
