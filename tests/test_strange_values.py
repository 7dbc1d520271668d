"""Values that nobody should report: the library's own errors, short, and nothing changed."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.errors import DikinError, few_of, shown

NESTED: list[Any] = []
for _ in range(100_000):
    NESTED = [NESTED]


class Broken:
    """An object whose repr fails."""

    def __repr__(self) -> str:
        raise OSError("no")


STRANGE: dict[str, Any] = {
    "huge": 10**5000,
    "minus huge": -(10**5000),
    "time": np.timedelta64(3, "s"),
    "python time": timedelta(3),
    "nested": NESTED,
    "complex": 1j,
    "bytes": b"1",
    "objects": np.array([1.0], dtype=object),
    "matrix": np.zeros((50, 50)),
    "broken": Broken(),
    "long": "x" * 10_000,
}
MAKERS: dict[str, Callable[[], Any]] = {
    "AdaptiveSmooth": lambda: dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, seed=1),
    "Predictive": lambda: dikin.Predictive(dikin.Box([0], [1]), seed=1),
    "no range": lambda: dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, loss_range=None, seed=1),
    "Tuner": lambda: dikin.Tuner({"x": dikin.Real(0, 1)}, seed=1),
}
ACTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "loss": lambda made, query, value: made.tell(query, value),
    "curvature": lambda made, query, value: made.tell(query, 0.5, value),
    "id": lambda made, query, value: made.tell(value, 0.5),
    "forget": lambda made, query, value: made.forget(value),
    "forecast": lambda made, query, value: made.ask(forecast=value),
    "metric": lambda made, query, value: made.tell(query, 0.5, metrics={"ms": value}),
    "metrics": lambda made, query, value: made.tell(query, 0.5, metrics=value),
    "context": lambda made, query, value: made.ask(value),
    "setting": lambda made, query, value: made.add_trial({"x": value}, 0.5),
}
CALLS = [
    *((name, act) for name in [*MAKERS][:3] for act in [*ACTS][:5]),
    *(("Tuner", act) for act in ACTS if act not in ("curvature", "forecast")),
]
CONSTRUCTORS: dict[str, Callable[[Any], Any]] = {
    "Simplex": dikin.Simplex,
    "Ball": dikin.Ball,
    "Spectrahedron": dikin.Spectrahedron,
    "lower": lambda value: dikin.Box([value], [1]),
    "radius": lambda value: dikin.Ball(2, radius=value),
    "smoothness": lambda value: dikin.Predictive(dikin.Ball(2), smoothness=value),
    "memory": lambda value: dikin.Predictive(dikin.Ball(2), memory=value),
    "start": lambda value: dikin.Predictive(dikin.Ball(2), start=value),
    "loss_range": lambda value: dikin.Predictive(dikin.Ball(2), loss_range=(0, value)),
    "Real": lambda value: dikin.Tuner({"x": dikin.Real(0, value)}),
    "Integer": lambda value: dikin.Tuner({"x": dikin.Integer(0, value)}),
    "Shares": lambda value: dikin.Tuner({"x": dikin.Shares(value)}),
    "parameters": dikin.Tuner,
}


@pytest.mark.parametrize("value", STRANGE)
@pytest.mark.parametrize(("maker", "act"), CALLS)
def test_a_strange_value_is_refused_in_a_few_words(maker: str, act: str, value: str) -> None:
    made = MAKERS[maker]()
    query = made.ask()
    before = made.state()
    with pytest.raises(DikinError) as refused:
        ACTS[act](made, query, STRANGE[value])
    assert len(str(refused.value)) < 600
    assert made.state() == before


@pytest.mark.parametrize("value", STRANGE)
@pytest.mark.parametrize("constructor", CONSTRUCTORS)
def test_a_strange_argument_is_refused_in_a_few_words(constructor: str, value: str) -> None:
    with pytest.raises(DikinError) as refused:
        CONSTRUCTORS[constructor](STRANGE[value])
    assert len(str(refused.value)) < 600


def test_a_set_that_no_memory_holds_is_refused() -> None:
    for make in (dikin.Simplex, dikin.Ball, dikin.Spectrahedron):
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
    for large in (STRANGE["long"], [[1] * 100] * 100, STRANGE["matrix"], dict.fromkeys(range(99))):
        assert len(shown(large)) <= 200
    assert few_of([]) == "none"
    assert few_of([3, 5]) == "[3, 5]"
