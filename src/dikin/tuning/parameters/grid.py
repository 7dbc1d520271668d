"""A parameter whose numbers are whole: between two neighbours the tuner draws lots."""

from __future__ import annotations

from abc import abstractmethod
from math import floor
from typing import Any

from dikin.plotting.axes import Axis
from dikin.tuning.parameters.interval import Interval


class Grid(Interval):
    """Whole numbers at equal distances on [0, 1].

    Between two neighbours one of them is played, by lot, the nearer one more often. In the mean
    this is the piecewise linear interpolation of the values at the whole numbers.
    """

    by_lot = True

    @property
    @abstractmethod
    def ends(self) -> tuple[int, int]:
        """The first and the last whole number."""

    @property
    def has_corners(self) -> bool:
        low, high = self.ends
        return high - low > 1  # a single line has none

    def to_unit(self, value: float) -> float:
        low, high = self.ends
        return (value - low) / (high - low)

    def best(self, u: float) -> float:
        low, high = self.ends
        return self._within(floor(u * (high - low) + 0.5))

    def played(self, u: float, uniform: float) -> float:
        low, high = self.ends
        between = u * (high - low)
        below = floor(between)
        return self._within(below + (uniform < between - below))

    def _within(self, steps: int) -> float:
        low, high = self.ends
        return float(min(max(low + steps, low), high))

    def shown(self, value: float) -> Any:
        return int(value)

    @property
    def axis(self) -> Axis:
        return Axis(*self.ends, whole=True)
