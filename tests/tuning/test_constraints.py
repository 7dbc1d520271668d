"""Constraints as texts: against Python's own reading of them, and what is refused."""

from typing import Any

import numpy as np
import pytest

import dikin
from dikin import Integer, Levels, Real, Shares
from dikin.errors import ParameterError
from dikin.tuning.constraints import read_constraints
from dikin.tuning.sets import Cube
from dikin.tuning.space import Space

PARAMETERS = {"ads": Real(0, 60), "staff": Real(0, 20), "price": Real(1, 14)}
TEXTS = [
    "ads + 3 * staff <= 100",
    "ads <= 3*staff",
    "2 * (ads - staff) / 4 >= -(price + 1)",
    "1 <= price - staff * 0.5 <= 9.5",
    "-ads >= -50 + price",
    "+ads * 2 <= 8e1",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_means_what_python_reads_in_it(text: str) -> None:
    found = read_constraints(text, PARAMETERS)
    draws = np.random.default_rng(3).uniform(0, 60, (400, 3))
    held = 0
    for draw in draws:
        values = dict(zip(PARAMETERS, draw.tolist(), strict=True))
        sums = [sum(f * values[n] for n, f in each.factors.items()) for each in found]
        ours = all(s <= each.limit for s, each in zip(sums, found, strict=True))
        assert ours == eval(text, {}, values)
        held += ours
    assert 0 < held < len(draws)  # both cases occurred


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ("ads * staff <= 3", "not linear at 'ads * staff'"),
        ("ads ** 2 <= 3", "not linear at 'ads ** 2'"),
        ("ads / staff <= 3", "not linear at 'ads / staff'"),
        ("ads / 0 <= 3", "not linear"),
        ("abs(ads) <= 3", "not linear at 'abs(ads)'"),
        ("__import__('os').system('true') <= 3", "not linear"),
        ("ads <= True", "not linear at 'True'"),
        ("adds <= 3", "Did you mean 'ads'"),
        ("ads == 3", "<= or >="),
        ("ads < 3", "<= or >="),
        ("ads + 3", "<= or >="),
        ("ads <=", "is not like"),
        ("3 <= 4", "no parameter in it"),
        ("ads - ads <= 4", "no parameter in it"),
        (["ads <= 3", 7], "text such as"),
        (7, "texts such as"),
        ("level <= 3", "only a Real without log"),
        ("size <= 3", "names size, Levels(values=(1, 2)): only a Real without log"),
        ("rate <= 3", "only a Real without log"),
        ("mix <= 3", "only a Real without log"),
    ],
)
def test_what_is_no_linear_constraint_is_refused(texts: Any, words: str) -> None:
    more = {"level": Integer(0, 9), "rate": Real(0.1, 9, log=True), "mix": Shares(["a", "b"])}
    more["size"] = Levels([1, 2])
    with pytest.raises(ParameterError) as refused:
        read_constraints(texts, PARAMETERS | more)
    assert words in str(refused.value)


def test_every_setting_satisfies_the_constraints() -> None:
    tuner = dikin.Tuner(
        PARAMETERS | {"level": Integer(1, 5)},
        constraints=["ads + 3 * staff <= 60", "price >= 2 + staff / 4"],
        seed=1,
    )
    for _ in range(300):
        trial = tuner.ask()
        p = trial.params
        assert p["ads"] + 3 * p["staff"] <= 60 + 1e-9
        assert p["price"] >= 2 + p["staff"] / 4 - 1e-9
        tuner.tell(trial, -p["ads"] - p["staff"])  # drives it into the constraint
    assert tuner.best["ads"] + 3 * tuner.best["staff"] > 50


def test_constraints_that_leave_no_room_are_named() -> None:
    with pytest.raises(ParameterError, match="'ads >= 61' leave no room"):
        dikin.Tuner(PARAMETERS, constraints="ads >= 61")


def test_a_start_that_breaks_a_constraint_is_refused() -> None:
    parameters = {"ads": Real(0, 60, start=50), "staff": Real(0, 20, start=18)}
    with pytest.raises(ParameterError, match=r"start .*'ads': 50.* breaks a constraint \(ads"):
        dikin.Tuner(parameters, constraints="ads + 3 * staff <= 100")


@pytest.mark.parametrize("text", ["ads <= 1" + 400 * "0", " + ".join(3000 * ["ads"]) + " <= 3"])
def test_an_absurd_text_is_refused(text: str) -> None:
    with pytest.raises(ParameterError) as refused:
        read_constraints(text, PARAMETERS)
    assert len(str(refused.value)) < 600


def is_inside(space: Space, share: list[float]) -> bool:
    """Whether the set has the point at some shares of the ranges."""
    x = np.linalg.solve(space._basis, np.array(share) - space._origin)
    return bool(space.set.room(np.zeros(2), x) > 1.0)


def test_the_set_is_where_the_constraint_holds() -> None:
    """For ranges that do not begin at 0, at points of a grid none of which is on its limit."""
    tuner = dikin.Tuner({"x": Real(2, 10), "y": Real(-3, 5)}, constraints="x + 2 * y <= 7")
    grid = np.linspace(0.02, 0.98, 13).tolist()
    inside = {(u, v) for u in grid for v in grid if is_inside(tuner.space, [u, v])}
    wanted = {(u, v) for u in grid for v in grid if (2 + 8 * u) + 2 * (-3 + 8 * v) <= 7}
    assert inside == wanted
    assert 20 < len(inside) < 149


def test_a_constraint_that_always_holds_does_no_harm() -> None:
    tuner = dikin.Tuner(PARAMETERS, constraints=["ads + staff <= 1e15"], seed=1)
    assert isinstance(tuner.space.set, Cube)


def test_a_start_on_its_limit_is_a_start() -> None:
    for a in range(1, 14):
        for b in range(1, 14):
            parameters = {"a": Real(0, 14, start=a), "b": Real(0, 14, start=b)}
            tuner = dikin.Tuner(parameters, constraints=f"a + 3*b <= {a + 3 * b}")
            assert tuner.best == {"a": a, "b": b}
