"""One of several values without an order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from dikin.errors import ParameterError
from dikin.plotting.axes import Axis
from dikin.tuning.parameters.base import ParameterKind
from dikin.tuning.parameters.levels import Level, different_levels

MOST = 16
"""Values of a choice: each needs rounds of its own."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Choice(ParameterKind):
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

    Raises
    ------
    ParameterError
        If the values or the start are unusable.

    Examples
    --------
    >>> Choice(["lz4", "zstd"], start="zstd")
    Choice(values=('lz4', 'zstd'), start='zstd')
    """

    values: tuple[Level, ...]
    start: Level | None = None

    def __init__(self, values: Sequence[Level], start: Level | None = None) -> None:
        levels, first = different_levels(values, start, "Choice")
        if len(levels) > MOST:
            raise ParameterError(f"a Choice has 2 to {MOST} values, got {len(levels)}")
        object.__setattr__(self, "values", levels)
        object.__setattr__(self, "start", first)

    @property
    def options(self) -> int:
        """The number of values."""
        return len(self.values)

    def start_values(self) -> Sequence[float]:
        return (0.0 if self.start is None else float(self.values.index(self.start)),)

    def setting(self, values: Sequence[float]) -> Level:
        return self.values[int(min(max(values[0], 0.0), len(self.values) - 1.0))]

    @property
    def axis(self) -> Axis:
        ends = 0, len(self.values) - 1
        return Axis(*ends, whole=True, labels=tuple(map(str, self.values)))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(["lz4", "zstd", "none"], start="zstd")
        yield cls([1, "auto"])
