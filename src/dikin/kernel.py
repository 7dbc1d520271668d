"""Marks the functions that the compiled loop is made of; knows nothing of a compiler.

A *kernel* is a NamedTuple of numbers and arrays whose methods use loops, arithmetic, `math` and
marked functions only. It runs as plain Python, which is its own reference, and the engine compiles
the same source. Kernels draw no random numbers and raise nothing; vectors are written in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

FUNCTIONS: dict[Callable[..., object], bool] = {}
"""Every marked function, and whether its sums may be taken in another order."""


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a function that kernels call."""
    FUNCTIONS[function] = False
    return function


def reordered(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a function whose sums may be reordered, so that they use the processor's vectors.

    Its result then differs from plain Python's by a few units in the last place of the sum. It must
    only read its arrays: where it also wrote one, compilers choose the order of the sum by how far
    apart the arrays happen to lie in memory, and no two runs would be the same.
    """
    FUNCTIONS[function] = True
    return function
