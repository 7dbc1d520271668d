"""Lipschitz losses that are steep in every direction: g(v) = |v|, and no detour is free."""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

from dikin.domains.base import Array
from dikin.environments.base import add
from dikin.environments.shared import ridge_sums, two_signs
from dikin.environments.steep import Shape, Steep


class Cone(Steep):
    """Losses of a given Lipschitz constant and curvature pattern, steep in every direction.

    >>> from dikin import Ball
    >>> Cone(Ball(2), lipschitz=2.0, curvature=0.5, seed=1).curvature(7)
    0.5
    """

    @staticmethod
    def _world(shape: Shape, pattern: Any) -> ConeWorld:
        return ConeWorld(shape, pattern)


class ConeWorld(NamedTuple):
    """The losses themselves; a round's uniform number holds both signs."""

    shape: Shape
    pattern: Any

    def value(self, round: int, chance: float, x: Array) -> float:
        shape = self.shape
        along, square = ridge_sums(x, shape.theta, shape.a)
        tilt, offset = two_signs(chance)
        curved = 0.5 * self.pattern.at(round) * square
        value: float = shape.steep * sqrt(square) + curved + tilt * shape.tilt * along
        return value + offset * shape.offset - shape.middle

    def bend(self, round: int) -> float:
        sigma: float = self.pattern.at(round)
        return sigma

    def tally(self, round: int, chance: float, sums: Array) -> None:
        _, offset = two_signs(chance)
        add(sums, 1, offset * self.shape.offset)
