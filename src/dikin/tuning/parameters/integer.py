"""A whole number between two bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from dikin.arguments import is_whole
from dikin.errors import ParameterError, shown
from dikin.tuning.parameters.grid import Grid
from dikin.tuning.parameters.interval import check_bounds

MOST_WHOLE = 2**53
"""Beyond it neighbouring whole numbers are the same float."""


@dataclass(frozen=True, eq=False, repr=False)
class Integer(Grid):
    """A whole number between two bounds: a level, a size, a number of workers.

    Tuning happens between the whole numbers: 3.3 is played as 3 in seven of ten rounds and as 4 in
    three, by lot. In the mean this is the piecewise linear interpolation of the values at whole
    numbers. For one whole number alone it is convex if the sequence of values is, and then the
    guarantee is against the best whole number; beside other parameters it need not be, and the
    guarantee is for values that are declared separable (`Tuner(separable=True)`). It has corners,
    so that a `lipschitz` constant can hold for it and a `smoothness` cannot.

    Parameters
    ----------
    low, high : int
        The bounds; both may be played.
    start : int, optional
        Today's value, where tuning begins. The middle of the range without one.

    Raises
    ------
    ParameterError
        If the bounds or the start are unusable.

    Examples
    --------
    >>> Integer(1, 9, start=6)
    Integer(low=1, high=9, start=6)
    """

    low: int
    high: int
    start: int | None = None

    def __post_init__(self) -> None:
        for name in ("low", "high") if self.start is None else ("low", "high", "start"):
            _check_whole(getattr(self, name), name)
        check_bounds(self, int)

    @property
    def ends(self) -> tuple[int, int]:
        return self.low, self.high

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(1, 9, start=6)
        yield cls(-3, 9)
        yield cls(0, 1)


def _check_whole(value: Any, name: str) -> None:
    if not is_whole(value):
        raise ParameterError(f"{name} of an Integer must be a whole number, got {shown(value)}")
    if abs(int(value)) > MOST_WHOLE:
        raise ParameterError(
            f"{name} must be between -2^53 and 2^53, got a number of {int(value).bit_length()} bits"
        )
