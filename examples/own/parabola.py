"""{(x, y) : x^2 <= y <= 1}.   Barrier -ln(y - x^2) - ln(1 - y), nu = 2."""

from collections.abc import Iterator
from math import inf, log
from typing import Self

import numpy as np

import dikin
from dikin.arguments import frozen
from dikin.domains.base import Array


@dikin.register
class Parabola(dikin.Domain):
    """The points between a parabola and a line."""

    def __init__(self) -> None:
        self.dim, self.nu, self.point_shape = 2, 2.0, (2,)
        self.center = frozen([0.0, 0.5], "center", 1)  # where the barrier is least
        self.radius, self.inradius, self.diameter = 1.25**0.5, 0.5, 2.0

    def barrier(self, v: Array) -> float:
        _, low, high = self._at(v)
        return -log(low) - log(high) if low > 0 and high > 0 else inf

    def gradient(self, v: Array) -> Array:
        x, low, high = self._at(v)
        return np.array([2 * x / low, 1 / high - 1 / low])

    def hessian(self, v: Array) -> Array:
        x, low, high = self._at(v)
        g = np.array([2 * x, -1.0]) / low
        return np.outer(g, g) + np.diag([2 / low, high**-2.0])

    def _at(self, v: Array) -> tuple[float, float, float]:
        """The first entry, and the slacks of the parabola and of the line."""
        x, y = (self.center + v).tolist()
        return x, y - x * x, 1 - y

    def margin(self, point: Array) -> float:
        # Not the built-in min, which may lose a NaN.
        return float(np.minimum(point[1] - point[0] ** 2, 1 - point[1]))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
