"""How `minimize` calls a function: by name where the function can be called so."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from dikin import Ball, Real, Shares, minimize
from dikin.errors import ParameterError

seen: list[Any] = []
"""What the functions below were given, as they got it."""


def kept(*given: Any, **named: Any) -> float:
    seen.append(given or named)
    return 1.0


def one_named(price: Any) -> float:
    return kept(price=price)


def one_of_another_name(params: Any) -> float:
    return kept(params)


def two_named(price: Any, ads: Any) -> float:
    return kept(price=price, ads=ads)


def named_with_default(price: Any, ads: Any = 3.0) -> float:
    return kept(price=price, ads=ads)


def keyword_only(*, price: Any) -> float:
    return kept(price=price)


def every_keyword(**named: Any) -> float:
    return kept(**named)


def named_and_every_other(price: Any, **named: Any) -> float:
    return kept(price=price, **named)


def dictionary_and_every_other(params: Any, **named: Any) -> float:
    return kept(params, *named)


def dictionary_with_default(params: Any = None) -> float:
    return kept(params)


def dictionary_and_option(params: Any, scale: float = 1.0) -> float:
    return kept(params)


def by_position_only(price: Any, /) -> float:
    return kept(price)


class Market:
    def revenue(self, price: Any) -> float:
        return kept(price=price)

    def of_setting(self, params: Any) -> float:
        return kept(params)

    @staticmethod
    def fixed(price: Any) -> float:
        return kept(price=price)

    def __call__(self, price: Any) -> float:
        return kept(price=price)


class WithoutSignature:
    """As some functions that are written in C: `inspect` refuses to look at it."""

    __signature__ = "none"

    def __call__(self, params: Any) -> float:
        return kept(params)


PRICE = {"price": Real(0, 10)}
PLANE = PRICE | {"ads": Real(0, 60)}
BY_NAME: list[tuple[Callable[..., float], Any, set[str]]] = [
    (one_named, PRICE, {"price"}),
    (lambda price: kept(price=price), PRICE, {"price"}),
    (two_named, PLANE, {"price", "ads"}),
    (named_with_default, PRICE, {"price", "ads"}),
    (named_with_default, PLANE, {"price", "ads"}),
    (keyword_only, PRICE, {"price"}),
    (every_keyword, PRICE, {"price"}),
    (every_keyword, PLANE, {"price", "ads"}),
    (every_keyword, {"max price": Real(0, 1), "self": Real(0, 1)}, {"max price", "self"}),
    (named_and_every_other, PLANE, {"price", "ads"}),
    (partial(two_named, ads=3.0), PRICE, {"price", "ads"}),
    (partial(kept, ads=3.0), PRICE, {"price", "ads"}),
    (Market().revenue, PRICE, {"price"}),
    (Market.fixed, PRICE, {"price"}),
    (Market(), PRICE, {"price"}),
    (lambda signature: kept(signature=signature), {"signature": Real(0, 1)}, {"signature"}),
]
AS_DICTIONARY: list[tuple[Callable[..., float], Any]] = [
    (one_of_another_name, PRICE),
    (one_of_another_name, PLANE),
    (lambda p: kept(p), PRICE),
    (lambda price: kept(price), PLANE),
    (dictionary_and_every_other, PRICE),
    (dictionary_with_default, PRICE),
    (dictionary_and_option, PRICE),
    (by_position_only, PRICE),
    (partial(dictionary_and_option, scale=2.0), PRICE),
    (Market().of_setting, PRICE),
    (WithoutSignature(), PRICE),
]


@pytest.fixture(autouse=True)
def nothing_seen() -> None:
    seen.clear()


@pytest.mark.parametrize(("function", "parameters", "names"), BY_NAME)
def test_a_function_that_can_be_called_by_name_is(
    function: Any, parameters: Any, names: set[str]
) -> None:
    minimize(function, parameters, 2, seed=1)
    assert [set(each) for each in seen] == [names, names]
    assert all(isinstance(value, float) for each in seen for value in each.values())


@pytest.mark.parametrize(("function", "parameters"), AS_DICTIONARY)
def test_any_other_is_given_one_dictionary(function: Any, parameters: Any) -> None:
    minimize(function, parameters, 2, seed=1)
    assert [[type(part) for part in each] for each in seen] == [[dict], [dict]]
    assert all(set(each[0]) == set(parameters) for each in seen)


def test_a_function_of_which_nothing_is_known_is_given_the_dictionary() -> None:
    with pytest.raises(TypeError, match="'dict'"):
        minimize(int, PRICE, 2, seed=1)


def test_shares_by_name_are_a_dictionary() -> None:
    minimize(lambda traffic: kept(traffic["new"]), {"traffic": Shares(["old", "new"])}, 2, seed=1)
    assert all(isinstance(each[0], float) for each in seen)


@pytest.mark.parametrize("function", [lambda: 1.0, lambda price, budget: 1.0, Market.revenue])
def test_a_function_that_can_be_called_in_neither_way_is_refused(function: Any) -> None:
    wanted = r"called with price and ads by name, or with one dictionary"
    with pytest.raises(ParameterError, match=wanted):
        minimize(function, PLANE, 2, seed=1)
    assert seen == []


def test_a_point_of_a_domain_is_always_one_argument() -> None:
    minimize(lambda **named: kept(**named) if named else 1.0, {"x": Real(0, 1)}, 2, seed=1)
    minimize(lambda x: kept(x), Ball(1), 2, seed=1)
    assert [type(each) for each in seen] == [dict, dict, tuple, tuple]
