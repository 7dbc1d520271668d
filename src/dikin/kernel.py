"""Parts of the compiled loop: marked functions, without a compiler.

A *kernel* is a NamedTuple of numbers and arrays whose methods use arithmetic, `math` and marked
functions only. The same methods run as plain Python, which is how `ask` and `tell` use them, and
compiled, which is how `play` does. Kernels draw no random numbers and raise nothing. Vectors are
written in place. Those of learners and sets make no arrays, and functions return none.

A loop over the entries of a vector is slow in plain Python. So a function that has one exists
twice: its body is NumPy, and `looped` gives the loop that the compiler takes instead. Formulas do
not: the operation on one entry is a marked function of its own, which NumPy calls with whole
vectors and the loop with single entries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")


class Mark(NamedTuple):
    """Treatment of a function by the compiler."""

    body: Callable[..., object]
    """The function to compile: itself, or its loop."""
    order_free: bool
    """Its sums may be taken in another order."""


FUNCTIONS: dict[Callable[..., object], Mark] = {}
"""Every marked function."""


def compilable(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a function that kernels call: the compiled loop compiles it."""
    FUNCTIONS[function] = Mark(function, False)
    return function


def looped(
    loop: Callable[P, R], order_free: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Mark a NumPy function that kernels call, and give the loop that the compiler takes for it.

    A loop whose order is free uses the processor's vectors for sums: its result differs from
    NumPy's by a few units in the last place of the sum. It must only read its arrays: where it also
    wrote one, compilers choose the order of the sum by how far apart the arrays happen to lie in
    memory, and no two runs would be the same.
    """

    def mark(function: Callable[P, R]) -> Callable[P, R]:
        FUNCTIONS[function] = Mark(loop, order_free)
        return function

    return mark


def reordered(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a loop without a NumPy form, whose sums may be reordered: see `looped`."""
    FUNCTIONS[function] = Mark(function, True)
    return function


def _choose(condition: bool, one: float, other: float) -> float:
    return one if condition else other


@looped(_choose)
def choose(condition: bool, one: float, other: float) -> float:
    """Return one number where the condition holds, the other elsewhere, entry by entry."""
    if isinstance(condition, np.ndarray):
        return np.where(condition, one, other)
    return one if condition else other
