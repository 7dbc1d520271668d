"""One of several values, in an order or without one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

from dikin.arguments import as_float, is_whole, plain_tuple
from dikin.errors import ParameterError, shown
from dikin.plotting.axes import Axis
from dikin.tuning.parameters.base import ParameterKind

Level = int | float | str
MOST = 16
"""Values of a choice: each needs rounds of its own."""


@dataclass(frozen=True, eq=False, repr=False)
class Levels(ParameterKind):
    """One of several values in an order: batch sizes, machine types from small to large.

    All values are as far apart as their positions 0, 1, 2, ..., whatever they are. Up to four of
    them are searched as a `Choice` is.

    In `trial.point` and in a history a level stands as its position.

    Parameters
    ----------
    values : sequence of float or str
        Two or more different numbers or texts, in the order in which they are searched.
    start : float or str, optional
        The level in use today, with which tuning begins. The middle of the order by default.

    Examples
    --------
    >>> Levels([16, 32, 64, 128], start=32)
    Levels(values=(16, 32, 64, 128), start=32)
    """

    values: Sequence[Level]
    start: Level | None = None

    def __post_init__(self) -> None:
        kind, plain = type(self).__name__, plain_tuple(self.values)
        if not isinstance(plain, tuple) or len(plain) < 2:
            raise ParameterError(
                f"{kind} needs two or more values, such as [16, 32, 64] or ['lz4', 'zstd'], got "
                f"{shown(plain)}"
            )
        levels = tuple(_level(value, f"a value of {kind}") for value in plain)
        for value, count in Counter(levels).items():
            if count > 1:
                raise ParameterError(f"the value {shown(value)} occurs twice")
        start = None if self.start is None else _level(self.start, "start")
        if start is not None and start not in levels:
            raise ParameterError(f"start must be one of the values {shown(levels)}, got {start!r}")
        object.__setattr__(self, "values", levels)
        object.__setattr__(self, "start", start)

    def numbers(self, value: Any) -> Sequence[float]:
        return [float(self.values.index(value))]

    def setting(self, numbers: Sequence[float]) -> Level:
        return self.values[int(min(max(numbers[0], 0.0), len(self.values) - 1.0))]

    @cached_property
    def axis(self) -> Axis:
        """The ends of the numbers, and their scale."""
        return Axis(0, len(self.values) - 1, whole=True, labels=tuple(map(str, self.values)))


@dataclass(frozen=True, eq=False, repr=False)
class Choice(Levels):
    """One of 2 to 16 values without an order: a codec, an algorithm, a layout.

    Each value has a level and a best setting of the other parameters of its own, and both resemble
    those of the other values until measurements say otherwise. For values in an order use `Levels`.

    In `trial.point` and in a history a value stands as its position.

    Parameters
    ----------
    values : sequence of float or str
        Different numbers or texts.
    start : float or str, optional
        The value in use today, with which tuning begins. The first one by default.

    Examples
    --------
    >>> Choice(["lz4", "zstd"], start="zstd")
    Choice(values=('lz4', 'zstd'), start='zstd')
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.values) > MOST:
            raise ParameterError(f"a Choice has 2 to {MOST} values, got {len(self.values)}")

    @property
    def options(self) -> int:
        return len(self.values)

    @property
    def grid(self) -> None:
        return None


def _level(value: Any, name: str) -> Level:
    if isinstance(value, str) and value.isprintable() and value:
        return str(value)
    number = as_float(value)
    if number is None or not isfinite(number):
        raise ParameterError(
            f"{name} must be a finite number or a printable text, got {shown(value)}"
        )
    return int(value) if is_whole(value) else number
