"""A number between two bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, log
from typing import Self

from dikin.arguments import plain_number, true_or_false
from dikin.errors import ParameterError
from dikin.plotting.axes import Axis
from dikin.tuning.parameters.interval import Interval, check_bounds


@dataclass(frozen=True, eq=False, repr=False)
class Real(Interval):
    """A number between two bounds: a price, a timeout, a rate.

    Parameters
    ----------
    low, high : float
        The bounds; both may be played.
    start : float, optional
        Today's value, where tuning begins. The middle of the range without one.
    log : bool, default False
        Whether to search in the logarithm, for a range over powers of ten such as 0.001 to 10. The
        guarantee is then for values that are convex (concave, if large values are good) in the
        logarithm of the parameter: many are in one of the two scales only.

    Raises
    ------
    ParameterError
        If the bounds or the start are unusable.

    Examples
    --------
    >>> Real(1, 14, start=4)
    Real(low=1, high=14, start=4)
    """

    low: float
    high: float
    start: float | None = None
    log: bool = False

    def __post_init__(self) -> None:
        check_bounds(self, plain_number)
        if true_or_false(self.log, "log") and self.low <= 0:
            raise ParameterError(
                f"log=True needs a low above 0, got low={self.low}; give a small positive low, or "
                "leave log out"
            )

    @property
    def linear_range(self) -> tuple[float, float] | None:
        return None if self.log else (float(self.low), float(self.high))

    def to_unit(self, value: float) -> float:
        if self.log:
            return (log(value) - log(self.low)) / (log(self.high) - log(self.low))
        return (value - self.low) / (self.high - self.low)

    def best(self, u: float) -> float:
        if self.log:
            value = exp(log(self.low) + u * (log(self.high) - log(self.low)))
        else:
            value = self.low + u * (self.high - self.low)
        return min(max(value, float(self.low)), float(self.high))

    @property
    def axis(self) -> Axis:
        return Axis(self.low, self.high, self.log)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(1, 14, start=4)
        yield cls(-2, 0.5)
        yield cls(0.001, 10, log=True)
