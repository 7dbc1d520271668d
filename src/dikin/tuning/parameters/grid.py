"""Parameters whose numbers are whole."""

from __future__ import annotations

from abc import abstractmethod
from math import floor
from typing import Any

import numpy as np

from dikin.plotting.axes import Axis
from dikin.tuning.parameters.base import ParameterKind
from dikin.vectors import Array

FEW = 4
"""Up to so many numbers are searched without an order."""
MOST = 10_000
"""Beyond so many numbers the nearest one is as good as any."""


class Grid(ParameterKind):
    """Whole numbers on [0, 1], at equal distances unless a kind says otherwise.

    Few numbers are searched as a `Choice` is, more of them along a coordinate.
    """

    @property
    @abstractmethod
    def ends(self) -> tuple[int, int]:
        """The first and the last whole number."""

    @property
    def options(self) -> int:
        low, high = self.ends
        return high - low + 1 if high - low < FEW else 0

    @property
    def grid(self) -> Array | None:
        low, high = self.ends
        if high - low >= MOST:
            return None
        return np.array([self.to_unit(value) for value in range(low, high + 1)])

    def to_unit(self, value: float) -> float:
        low, high = self.ends
        return (value - low) / (high - low)

    def best(self, u: float) -> float:
        low, high = self.ends
        return float(min(max(floor(low + u * (high - low) + 0.5), low), high))

    def shown(self, value: float) -> Any:
        return int(value)

    @property
    def axis(self) -> Axis:
        return Axis(*self.ends, whole=True)
