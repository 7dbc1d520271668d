"""Boxes: what the constructor refuses.

What every set obeys is in tests/checks: `-k box` there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dikin import Box, errors
from domains.constructors import HUGE, INF, NAN, Case, check_refused

REFUSED: dict[str, Case] = {
    "lower > upper": (
        lambda: Box([0, 2], [1, 1.5]),
        errors.EmptyDomainError,
        ["lower[1] = 2", "upper[1] = 1.5"],
    ),
    "lower = upper": (lambda: Box([0, 4], [1, 4]), errors.FlatDomainError, ["lower[1]", "= 4"]),
    "lower nan": (lambda: Box([NAN, 0], [1, 1]), errors.DomainError, ["lower[0] is nan"]),
    "upper inf": (lambda: Box([0, 0], [1, INF]), errors.DomainError, ["upper[1] is inf"]),
    "upper huge": (lambda: Box([0], [HUGE]), errors.DomainError, ["upper"]),
    "2 and 3": (lambda: Box([0, 0], [1, 1, 1]), errors.ShapeError, ["lower has 2", "upper 3"]),
    "no entries": (lambda: Box([], []), errors.ShapeError, ["lower", "non-empty", "(0,)"]),
    "scalars": (lambda: Box(0, 1), errors.ShapeError, ["lower", "vector", "write [0.0]"]),
    "words": (lambda: Box("ab", [1]), errors.DomainError, ["lower must be numbers", "'ab'"]),
    "ragged": (lambda: Box([[0], [1, 2]], [1]), errors.DomainError, ["lower", "[[0], [1, 2]]"]),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_refused(case: Case) -> None:
    check_refused(case)


POINTS: list[tuple[Any, type[errors.DikinError], list[str]]] = [
    ([0.5], errors.ShapeError, ["Box(dim=2)", "(2,)", "got (1,)"]),
    ([[0.5, 0.5]], errors.ShapeError, ["Box(dim=2)", "(2,)", "got (1, 2)"]),
    ([0.5, NAN], errors.OutsideDomainError, ["Box(dim=2)", "1", "nan"]),
    ([0.5, 2.25], errors.OutsideDomainError, ["Box(dim=2)", "2.25", "outside", "1.25"]),
]


@pytest.mark.parametrize(("point", "error", "words"), POINTS)
def test_a_point_outside(point: Any, error: type[errors.DikinError], words: list[str]) -> None:
    with pytest.raises(error) as caught:
        Box([0, 0], [1, 1]).require(point)
    assert isinstance(caught.value, ValueError)
    assert [word for word in words if word not in str(caught.value)] == [], str(caught.value)


def test_a_constructor_keeps_no_alias() -> None:
    lower, upper = np.zeros(2), np.ones(2)
    box = Box(lower, upper)
    upper[0] = -5.0
    assert box.upper.tolist() == [1.0, 1.0]
