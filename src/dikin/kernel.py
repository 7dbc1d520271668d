"""Parts of the compiled loop: marked functions and records, without a compiler.

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
from dataclasses import asdict, astuple, dataclass, fields
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple, ParamSpec, Self, TypeVar

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


@dataclass(slots=True)
class Record:
    """Named numbers that kernels change: floats, lists of floats and records.

    A subclass is a dataclass with slots, whose attributes are as fast as the entries of a list. The
    compiled loop takes a NumPy record with fields of the same names: one source runs on both.
    """

    def copy(self) -> Self:
        """Return a copy. A record with lists or records in it copies those too."""
        kind: Any = type(self)
        twin: Self = kind(*values_getter(kind)(self))
        return twin


@cache
def values_getter(cls: type[Record]) -> Callable[[Record], tuple[Any, ...]]:
    """Return a function that takes the values out of a record, in the order of its fields."""
    return attrgetter(*(field.name for field in fields(cls)))


def to_numpy(numbers: Record | list[float]) -> Any:
    """Return a NumPy record or array with the same numbers, for the compiled loop."""
    if isinstance(numbers, Record):
        return np.array(astuple(numbers), _numpy_type(numbers))[()]
    return np.array(numbers, dtype=float)


def to_saved(numbers: Record | list[float]) -> dict[str, Any] | tuple[float, ...]:
    """Return the numbers by name, where they have names, to be saved."""
    return asdict(numbers) if isinstance(numbers, Record) else tuple(numbers)


def from_values(form: Any, values: Any) -> Any:
    """Return the argument of `to_numpy` or `to_saved`, in the same form."""
    if isinstance(form, Record):
        parts = {f.name: getattr(form, f.name) for f in fields(form)}
        return type(form)(*(from_values(part, values[name]) for name, part in parts.items()))
    return list(map(float, values)) if isinstance(form, list) else float(values)


def _numpy_type(part: Any) -> Any:
    if isinstance(part, Record):
        kinds = [(f.name, _numpy_type(getattr(part, f.name))) for f in fields(part)]
        return np.dtype((np.record, np.dtype(kinds, align=True)))
    return (float, (len(part),)) if isinstance(part, list) else float
