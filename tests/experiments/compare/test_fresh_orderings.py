"""What new games say of the orderings of a table of costs."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from fresh_orderings import KEPT, OTHER, REVERSED, SAME, counted, verdicts_of

from dikin.experiments.compare.orderings import Orderings


def games(*costs: float) -> dict[int, float]:
    return dict(enumerate(costs))


NEAR, FAR = games(1.0, 1.1, 0.9, 1.0), games(2.0, 2.1, 1.9, 2.0)
PROBLEMS = ("one", "two", "three", "four")
TABLE = Orderings({name: {"a": NEAR, "b": FAR} for name in PROBLEMS}, 1e-9)


def test_each_of_the_four_words() -> None:
    """The new games repeat the first, reverse the last, and say nothing sure of the others."""
    again = Orderings(
        {
            "one": {"a": NEAR, "b": FAR},
            "two": {"a": NEAR, "b": games(0.5, 9.0, 0.4, 8.0)},
            "three": {"a": NEAR, "b": games(0.1, 2.0, 0.2, 1.5)},
            "four": {"a": FAR, "b": NEAR},
        },
        1e-9,
    )
    found = verdicts_of(TABLE, again)
    assert [(each.problem, each.less, each.more) for each in found] == [
        (name, "a", "b") for name in PROBLEMS
    ]
    assert [each.word for each in found] == [KEPT, SAME, OTHER, REVERSED]
    assert found[0].ratio.low > 1.0 > found[3].ratio.high
    assert "1 are kept" in counted([each.word for each in found])
    assert "1 are reversed" in counted([each.word for each in found])


def test_only_what_is_distinguished_and_was_played_again_is_looked_at() -> None:
    noisy = games(0.3, 5.0, 0.2, 4.0)
    table = Orderings(
        {
            "open": {"a": NEAR, "b": noisy},
            "behind": {"a": NEAR, "b": FAR, "gone": FAR},
            "gone": {"a": NEAR, "b": FAR},
        },
        1e-9,
    )
    assert "b" in table.costs["open"]
    again = Orderings({"open": {"a": NEAR, "b": FAR}, "behind": {"a": NEAR, "b": FAR}}, 1e-9)
    assert [(each.problem, each.more) for each in verdicts_of(table, again)] == [("behind", "b")]


def test_the_correction_is_for_all_orderings_together() -> None:
    """At p of about 0.03 one ordering alone is kept, and among four it is not."""
    sure, unsure = games(1.0, 1.0, 1.0, 1.0), games(1.2, 1.4, 1.9, 2.4)
    again = Orderings({"one": {"a": sure, "b": unsure}}, 1e-9)
    assert again.p_value("one", "a", "b") == pytest.approx(0.03, abs=0.02)
    alone = Orderings({"one": TABLE.costs["one"]}, 1e-9)
    assert [each.word for each in verdicts_of(alone, again)] == [KEPT]
    four = Orderings(dict.fromkeys(PROBLEMS, again.costs["one"]), 1e-9)
    assert [each.word for each in verdicts_of(TABLE, four)] == [SAME] * 4


def test_a_single_new_game_keeps_nothing() -> None:
    again = Orderings({"one": {"a": games(1.0), "b": games(2.0)}}, 1e-9)
    assert [each.word for each in verdicts_of(TABLE, again)] == [SAME]


def test_chance_alone_keeps_hardly_any_ordering() -> None:
    """400 times new games of players who are alike: in 20 any ordering is kept or reversed.

    Six standard deviations above: fails by chance less than once in 10^6 runs. With the order of
    the means alone, about half of the orderings would look kept.
    """
    chance = np.random.default_rng(3)
    decided, same, count = 0, 0, 400
    for _ in range(count):
        costs = {
            name: {player: games(*np.exp(chance.normal(0, 1, 6))) for player in "ab"}
            for name in PROBLEMS
        }
        words = [each.word for each in verdicts_of(TABLE, Orderings(costs, 1e-9))]
        decided += bool({KEPT, REVERSED} & {*words})
        same += words.count(SAME) + words.count(KEPT)
    assert decided < 20 + 6 * sqrt(count * 0.05 * 0.95)
    assert abs(same - 2 * count) < 6 * sqrt(4 * count * 0.25)
