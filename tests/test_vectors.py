"""Functions on vectors have a body in NumPy and a loop for the compiler: both do the same.

Sums are taken in another order: 1e-12 of the largest number is granted.
"""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.domains import box
from dikin.kernel import FUNCTIONS

assert dikin.Box  # importing the package marks everything

SIZE = 7
PAIRS = {f.__name__: (f, mark.body) for f, mark in FUNCTIONS.items() if mark.body is not f}
SHAPES = {"iterate": (4, SIZE), "metric": (5, SIZE), "axes": (SIZE, SIZE)}
NUMBERS = {"weight": 0.7, "level": 0.3, "factor": 1.3, "step": 0.1, "floor": 0.15, "chance": 0.42}


def arguments(function: Callable[..., Any], rng: np.random.Generator) -> list[Any]:
    """Positive numbers and vectors; whatever a name stands for elsewhere it may be positive."""
    found: list[Any] = []
    for name, parameter in inspect.signature(function).parameters.items():
        kind = str(parameter.annotation)
        if "Array" in kind:
            found.append(rng.uniform(0.2, 0.9, SHAPES.get(name, SIZE)))
        elif "bool" in kind:
            found.append(bool(rng.random() < 0.5))
        else:
            found.append(NUMBERS.get(name, float(rng.uniform(0.2, 0.9))))
    return found


def difference(one: Callable[..., Any], other: Callable[..., Any]) -> float:
    """The largest of ten draws."""
    worst, rng = 0.0, np.random.default_rng(1)
    for _ in range(10):
        given = arguments(one, rng)
        twins = [np.array(value) if isinstance(value, np.ndarray) else value for value in given]
        results = np.atleast_1d(one(*given) or 0.0), np.atleast_1d(other(*twins) or 0.0)
        pairs = [results, *((a, b) for a, b in zip(given, twins, strict=True) if np.ndim(a))]
        for a, b in pairs:
            worst = max(worst, float(np.abs(a - b).max()) / (1.0 + float(np.abs(a).max())))
    return worst


@pytest.mark.parametrize("name", PAIRS)
def test_both_bodies_do_the_same(name: str) -> None:
    assert difference(*PAIRS[name]) <= 1e-12


def test_there_are_pairs_and_a_wrong_one_is_noticed() -> None:
    assert len(PAIRS) > 12

    def wrong(*arguments: Any) -> None:
        box._box_solve(*arguments)
        arguments[-1][0] *= 1 + 1e-10

    assert difference(box.box_solve, wrong) > 1e-12
