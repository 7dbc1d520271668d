"""Kinds of parameters as a user would write them; none is registered yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor
from typing import Any, Self

import dikin
from dikin.plotting.axes import Axis


class Odd(dikin.Interval):
    """An odd number up to a last one, by lot between neighbours."""

    by_lot = True

    def __init__(self, last: int, start: int | None = None) -> None:
        if last % 2 == 0:
            raise ValueError(f"last must be odd, got {last}")
        self.last, self.start = last, start

    @property
    def has_corners(self) -> bool:
        return self.last > 3

    def to_unit(self, value: float) -> float:
        return (value - 1) / (self.last - 1)

    def best(self, u: float) -> float:
        return self.played(u, 0.5)

    def played(self, u: float, uniform: float) -> float:
        steps = (self.last - 1) / 2 * u
        below = floor(steps)
        return 1.0 + 2.0 * (below + (uniform < steps - below))

    def shown(self, value: float) -> int:
        return int(value)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(9, start=3)
        yield cls(3)


class Disc(dikin.ParameterKind):
    """A place within a distance of the middle, by two numbers: a set that is no cube."""

    by_lot = False
    has_corners = False

    def __init__(self, radius: float, start: Sequence[float] | None = None) -> None:
        self.radius, self.start = radius, None if start is None else tuple(start)

    @property
    def domain(self) -> dikin.Domain:
        return dikin.Ball(2)

    def columns(self, name: str) -> tuple[str, ...]:
        return f"{name}.east", f"{name}.north"

    def played_values(self, coordinates: Sequence[float], uniform: float) -> Sequence[float]:
        return self.best_values(coordinates)

    def best_values(self, coordinates: Sequence[float]) -> Sequence[float]:
        return [self.radius * x for x in coordinates]

    def coordinates(self, values: Sequence[float]) -> Sequence[float]:
        return [x / self.radius for x in values]

    def start_values(self) -> Sequence[float] | None:
        return self.start

    def setting(self, values: Sequence[float]) -> Any:
        return list(values)

    @property
    def axis(self) -> Axis:
        return Axis(-self.radius, self.radius)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(5.0, start=(1.0, -2.0))
        yield cls(0.25)
