"""Bowls whose minimum moves: around a circle, or in jumps.

The bowl of `bowl.py` with p and q orthogonal and at `depth` times the inradius from the centre.
Regret against a fixed point says little where the minimum moves; `moving_total` is what the best
point of each round would have suffered. No certificate of this library speaks about the latter.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi, sqrt
from typing import Self

import numpy as np

from dikin.domains.base import Domain
from dikin.environments.base import DEEPEST
from dikin.environments.bowl import Bowls, unit_pair
from dikin.errors import ParameterError
from dikin.units import number, whole

GOLDEN = pi * (3 - sqrt(5))
"""An angle whose multiples never come back to where they were: every jump finds a new place."""


class Drifting(Bowls):
    """A bowl that moves on a circle; subclasses say how."""

    def _circle(self, depth: float, speed: float, leap: float, every: int) -> None:
        if not 0.0 < number(depth, "depth") <= DEEPEST:
            raise ParameterError(
                f"depth is a share of the inradius above 0 and at most {DEEPEST}; got {depth!r}"
            )
        domain = self.domain
        one, two = self._setup.standard_normal((2, domain.dim))
        size = depth * domain.inradius
        p, q = (size * unit for unit in unit_pair(domain, one, two))
        scales = np.full(domain.center.size, domain.radius)
        self._begin(p, q, scales, speed, leap, every)


class Circling(Drifting):
    """A bowl whose minimum goes around the centre once in `period` rounds.

    >>> from dikin import Ball
    >>> game = Circling(Ball(2), period=100, seed=1)
    >>> game.moving_total()
    0.0
    """

    def __init__(
        self, domain: Domain, period: int, seed: int | None = None, *, depth: float = 0.8
    ) -> None:
        super().__init__(domain, seed)
        period = whole(period, "period", 1, "rounds that it takes to go around")
        self._circle(depth, 2 * pi / period, 0.0, 1)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 300, seed)
        yield cls(domain, 7, seed, depth=0.3)


class Jumping(Drifting):
    """A bowl whose minimum jumps to another place of a circle every `period` rounds.

    >>> from dikin import Ball
    >>> Jumping(Ball(2), period=100, seed=1).smoothness
    1.0
    """

    def __init__(
        self, domain: Domain, period: int, seed: int | None = None, *, depth: float = 0.8
    ) -> None:
        super().__init__(domain, seed)
        period = whole(period, "period", 1, "rounds between two jumps")
        self._circle(depth, 0.0, GOLDEN, period)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 40, seed)
        yield cls(domain, 1, seed, depth=0.3)
