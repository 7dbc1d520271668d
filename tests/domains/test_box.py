"""Boxes: the update of few and of many sides."""

from typing import Any

import numpy as np
import pytest

from dikin import Box, errors
from dikin.domains.box import FEW, box_solve
from domains.test_constructors import NAN

POINTS: list[tuple[Any, type[errors.DikinError], list[str]]] = [
    ([0.5], errors.DomainError, ["Box(dim=2)", "(2,)", "got (1,)"]),
    ([0.5, NAN], errors.DomainError, ["Box(dim=2)", "1", "nan"]),
    ([0.5, 2.25], errors.DomainError, ["Box(dim=2)", "2.25", "outside", "1.25"]),
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


def test_few_sides_and_many_have_the_same_update_digit_for_digit() -> None:
    """Many are computed with NumPy, few one by one."""
    rng, size = np.random.default_rng(4), 4 * FEW
    half, linear = rng.uniform(0.1, 1, size), rng.normal(size=size) * 10 ** rng.uniform(-8, 8, size)
    linear[:2] = 0.0, -0.0
    for quadratic, weight in [(0.0, 1.0), (0.7, 1e-3), (1e6, 1e-12), (1e-9, 1e3)]:
        together, alone = np.empty((3, size)), np.empty((3, size))
        box_solve(half, linear, quadratic, weight, together)
        for i in range(0, size, 2):
            part = np.empty((3, 2))
            box_solve(half[i : i + 2], linear[i : i + 2], quadratic, weight, part)
            alone[:, i : i + 2] = part
        assert together.tolist() == alone.tolist()
