"""Values that nobody should tell: the library's own errors, short, and nothing changed."""

from typing import Any

import numpy as np
import pytest

import dikin
from dikin.errors import DikinError, few_of, shown
from strange import Broken, calls, constructions, refuse_argument, refuse_value


@pytest.mark.parametrize(("maker", "act", "value"), calls())
def test_a_strange_value_is_refused_in_a_few_words(maker: str, act: str, value: str) -> None:
    refuse_value(maker, act, value)


@pytest.mark.parametrize(("constructor", "value"), constructions())
def test_a_strange_argument_is_refused_in_a_few_words(constructor: str, value: str) -> None:
    refuse_argument(constructor, value)


@pytest.mark.parametrize("make", [dikin.Simplex, dikin.Ball, dikin.Spectrahedron])
def test_a_set_that_no_memory_holds_is_refused(make: Any) -> None:
    with pytest.raises(DikinError, match="at most"):
        make(10**18)


def test_the_narrowest_box_can_be_played_on() -> None:
    narrow = dikin.Box([1.0], [np.nextafter(1.0, 2.0)])
    for learner in (dikin.Predictive(narrow, seed=1), dikin.AdaptiveSmooth(narrow, 1.0, seed=1)):
        for _ in range(20):
            query = learner.ask()
            assert narrow.contains(query.point)
            learner.tell(query, 0.5)


def test_messages_stay_short_with_many_open_queries() -> None:
    learner = dikin.Predictive(dikin.Ball(2), seed=1)
    for _ in range(2000):
        learner.ask()
    with pytest.raises(DikinError, match=r"\[0, 1, .*, 9\] and 1,990 more") as refused:
        learner.tell(99_999, 0.5)
    assert len(str(refused.value)) < 300


def test_what_is_shown() -> None:
    assert shown("ab") == "'ab'"
    assert shown(10**5000) == "<int that cannot be printed>"
    assert shown(Broken()).startswith("<Broken instance")
    assert shown([1, [2, {"a": 3}]]) == "[1, [2, {'a': 3}]]"
    for large in (
        "x" * 10_000,
        [[1] * 100] * 100,
        np.zeros((50, 50)),
        {str(i): i for i in range(99)},
    ):
        assert len(shown(large)) <= 200
    assert few_of([]) == "none"
    assert few_of([3, 5]) == "[3, 5]"
