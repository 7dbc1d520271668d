"""A kind of parameter as a user would write it; it is not registered yet."""

from collections.abc import Sequence
from math import floor

import numpy as np

import dikin
from dikin.plotting.axes import Axis
from dikin.vectors import Array


class Odd(dikin.ParameterKind):
    """An odd number up to a last one."""

    def __init__(self, last: int, start: int | None = None) -> None:
        if last % 2 == 0:
            raise ValueError(f"last must be odd, got {last}")
        self.last, self.start = last, start

    @property
    def grid(self) -> Array:
        return np.linspace(0.0, 1.0, (self.last + 1) // 2)

    @property
    def axis(self) -> Axis:
        return Axis(1, self.last)

    def best(self, u: float) -> float:
        return 1.0 + 2.0 * floor((self.last - 1) / 2 * u + 0.5)

    def setting(self, numbers: Sequence[float]) -> int:
        return int(numbers[0])
