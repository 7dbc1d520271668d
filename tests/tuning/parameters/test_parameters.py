"""Each kind of parameter: what it accepts, and how a coordinate becomes a value."""

import json
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import log10
from typing import Any
from unittest.mock import call

import numpy as np
import pytest

import dikin
from dikin import Choice, Integer, Levels, Real, Shares, Tuner
from dikin.errors import ParameterError
from dikin.tuning.parameters.description import check_parameters, parameter_from_spec

REFUSED: list[tuple[Any, Any, list[str]]] = [
    (Real, call(9, 1), ["low must be below high", "low=9", "high=1"]),
    (Real, call(float("nan"), 1), ["low", "finite", "nan"]),
    (Real, call(0, float("inf")), ["high", "finite", "inf"]),
    (Real, call("1", 14), ["low", "number", "'1'"]),
    (Real, call(1, 14, start=15), ["start=15", "1 to 14"]),
    (Real, call(1, 14, start=float("nan")), ["start=nan", "1 to 14"]),
    (Real, call(1, 14, start="4"), ["start", "number", "'4'"]),
    (Real, call(0, 14, log=True), ["log=True", "above 0", "low=0"]),
    (Real, call(1, 14, log="yes"), ["log", "True or False", "'yes'"]),
    (Real, call(-1e200, 1e200), ["low", "finite"]),
    (Integer, call(1.5, 9), ["low", "whole number", "1.5"]),
    (Integer, call(1, 9, start=2.0), ["start", "whole number", "2.0"]),
    (Integer, call(0, 10**400), ["high", "2^53"]),
    (Shares, call(["a"]), ["names of two parts or more", "('a',)"]),
    (Shares, call(["a", 2]), ["names of two parts or more"]),
    (Shares, call(["a", "b", "a"]), ["'a' is named twice"]),
    (Shares, call(["a", "b"], start=[0.5]), ["a share for each of a, b", "(0.5,)"]),
    (Shares, call(["a", "b"], start={"a": 0.5, "c": 0.5}), ["a share for each of a, b", "'c'"]),
    (Shares, call(["a", "b"], start=[0.5, 0.6]), ["add up to 1", "1.1"]),
    (Shares, call(["a", "b"], start=[1.5, -0.5]), ["not be negative", "-0.5"]),
    (Shares, call(["a", "b"], start=[0.5, "x"]), ["share of b", "number", "'x'"]),
    (Shares, call(["a", "b"], start=0.5), ["a share for each of a, b", "0.5"]),
    (Integer, call(3, 3), ["low must be below high"]),
    (Real, call(0, np.array([1.0])), ["high", "number", "array"]),
    (Levels, call([16]), ["two or more values", "(16,)"]),
    (Levels, call("ab"), ["two or more values", "'ab'"]),
    (Levels, call([1, 2, 1.0]), ["value 1 ", "twice"]),
    (Levels, call([1, True]), ["a value of Levels", "finite number or a printable text", "True"]),
    (Levels, call([1, float("nan")]), ["a value of Levels", "finite number", "nan"]),
    (Levels, call([1, 10**400]), ["a value of Levels", "finite number"]),
    (Levels, call(["a", ""]), ["a value of Levels", "printable text", "''"]),
    (Levels, call(["a", "b\n"]), ["a value of Levels", "printable text"]),
    (Levels, call([16, 32], start="16"), ["one of the values (16, 32)", "'16'"]),
    (Levels, call([0, 1], start=True), ["start", "finite number", "True"]),
    (Choice, call([*range(17)]), ["2 to 16 values", "17"]),
    (Choice, call(["a", {}]), ["a value of Choice", "{}"]),
    (Choice, call(["a", "b"], start="c"), ["one of the values ('a', 'b')", "'c'"]),
    (Integer, call(0, 9, log=True), ["log=True", "above 0", "low=0"]),
    (Integer, call(1, 9, log=1), ["log", "True or False", "1"]),
]
NO_PARAMETERS: list[tuple[Any, list[str]]] = [
    (["red", "green"], ["dikin.Choice(['red', 'green'])"]),
    ((1, 14), ["dikin.Real(low, high)", "(1, 14)", "Did you mean"]),
    (("off", 3), ["dikin.Choice(('off', 3))"]),
    (None, ["dikin.Real", "None"]),
]

RESERVED = ("round", "value", "expected", "paused", "failed", "held_back")
"""Columns of a history."""


def refusal(make: Callable[[], Any]) -> str:
    with pytest.raises(ParameterError) as refused:
        make()
    return str(refused.value).lower()


@pytest.mark.parametrize(("kind", "given", "words"), REFUSED, ids=repr)
def test_what_cannot_be_tuned_is_refused_and_named(kind: Any, given: Any, words: list[str]) -> None:
    """Of many parameters in one JSON object, which is it?"""
    words_of = {Shares: ("names",), Levels: ("values",), Choice: ("values",)}
    named = dict(zip(words_of.get(kind, ("low", "high")), given.args, strict=False))
    spec = {"kind": kind.__name__.lower(), **named, **given.kwargs}
    message = refusal(lambda: kind(*given.args, **given.kwargs))
    assert refusal(lambda: parameter_from_spec("price", spec)) == f"price: {message}"
    assert [word for word in words if word.lower() not in message] == []


@pytest.mark.parametrize(("parameter", "words"), NO_PARAMETERS, ids=repr)
def test_what_is_no_parameter_is_named(parameter: Any, words: list[str]) -> None:
    message = refusal(lambda: dikin.Tuner({"price": parameter}))
    assert message.startswith("price: ")
    assert [word for word in words if word.lower() not in message] == []


@pytest.mark.parametrize("names", [None, {}, [], {"": Real(0, 1)}, {3: Real(0, 1)}, {"a\n": 1}])
def test_names_are_needed(names: Any) -> None:
    with pytest.raises(ParameterError, match="name"):
        check_parameters(names)


def test_shares_by_name_and_by_order_are_the_same() -> None:
    by_name = Shares(["old", "new"], start={"new": 0.1, "old": 0.9})
    assert by_name == Shares(["old", "new"], start=[0.9, 0.1])
    assert Tuner({"mix": by_name}).center.tolist() == [0.9, 0.1]


def test_a_real_is_linear_or_a_power() -> None:
    for u in (0.0, 0.1, 0.5, 0.77, 1.0):
        assert Real(1, 14).best(u) == pytest.approx(1 + 13 * u, abs=1e-12)
        # From 0.01 to 100 there are four powers of ten.
        assert log10(Real(0.01, 100, log=True).best(u)) == pytest.approx(-2 + 4 * u, abs=1e-12)


def test_the_ends_of_a_range_are_never_passed_by_rounding() -> None:
    for low, high in np.random.default_rng(1).uniform(0.001, 5, (300, 2)):
        side = Real(min(low, high), max(low, high), log=True)
        assert side.low <= side.best(0.0) <= side.best(1.0) <= side.high


@pytest.mark.parametrize(
    "side",
    [Integer(1, 9), Integer(-3, 9), Integer(1, 1000, log=True), Levels([*range(7)])],
    ids=repr,
)
def test_every_whole_number_comes_back(side: Any) -> None:
    low, high = side.axis[:2]
    assert [side.best(u) for u in side.grid.tolist()] == [*range(low, high + 1)]
    assert side.best(-0.1) == low
    assert side.best(1.1) == high


def test_the_nearest_whole_number_is_nearest_in_the_logarithm() -> None:
    side = Integer(1, 1000, log=True)
    for u in np.linspace(0, 1, 400):
        nearest = min(range(1, 1001), key=lambda value: abs(side.to_unit(value) - u))
        assert side.best(u) == nearest


@pytest.mark.parametrize(
    ("parameter", "options"),
    [
        (Integer(1, 4), 4),
        (Integer(1, 5), 0),
        (Levels(["off", "on"]), 2),
        (Levels([1, 2, 4, 8, 16]), 0),
        (Choice([*range(16)]), 16),
        (Real(0, 1), 0),
    ],
    ids=repr,
)
def test_few_numbers_are_searched_as_a_choice(parameter: Any, options: int) -> None:
    assert parameter.options == options
    assert Tuner({"p": parameter, "x": Real(0, 1)}).space.options == ((options,) if options else ())


def test_numbers_of_numpy_and_fractions_become_plain_ones() -> None:
    tuner = dikin.Tuner(
        {
            "small": Integer(np.int8(-100), np.int8(100)),
            "single": Real(np.float32(0.1), np.float32(0.3), start=np.float32(0.2)),
            "third": Real(Fraction(1, 3), Decimal(2)),
            "no dimension": Real(np.array(0.1), np.array(3), start=Decimal("1.5")),
            "traffic": Shares(["old", "new"], start=[Decimal("0.9"), Fraction(1, 10)]),
            "batch": Levels(np.array([16, 32]), start=np.int8(32)),
            "machine": Levels(np.array(["a", "b"]), start=np.str_("b")),
        },
        seed=1,
    )
    twin = dikin.restore(json.loads(json.dumps(tuner.state())))
    trials = tuner.ask(n=20)
    assert trials == twin.ask(n=20)
    assert len({trial["small"] for trial in trials}) > 5
    ends = [p.low for p in tuner.space.parameters.values() if isinstance(p, Real | Integer)]
    assert {type(low) for low in ends} == {int, float}
    batch, machine = (tuner.space.parameters[name] for name in ("batch", "machine"))
    assert [type(each) for each in (*batch.values, batch.start)] == [int] * 3
    assert [type(each) for each in (*machine.values, machine.start)] == [str] * 3
    assert tuner.space.parameters["traffic"].start == (0.9, 0.1)


@pytest.mark.parametrize(
    ("parameters", "column"),
    [
        ({"price": Real(0, 1), "best": Shares(["price", "b"])}, "best.price"),
        ({"price": Real(0, 1), "best.price": Real(0, 1)}, "best.price"),
        ({"mix": Shares(["a", "b"]), "mix.a": Real(0, 1)}, "mix.a"),
        *(({name: Real(0, 1)}, name) for name in (*RESERVED, "metric.a", "context.a")),
    ],
)
def test_two_columns_of_one_name_are_refused(parameters: Any, column: str) -> None:
    with pytest.raises(ParameterError, match=f"called {column!r}"):
        dikin.Tuner(parameters)
