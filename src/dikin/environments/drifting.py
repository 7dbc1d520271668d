"""Bowls whose minimum moves: around a circle, or in jumps.

The bowl of `bowl.py` with p and q orthogonal and at `depth` times the inradius from the centre.
Regret against a fixed point says little where the minimum moves; `dynamic_total` is what the best
point of each round would have suffered. No certificate of this library speaks about the latter.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi, sqrt
from typing import Self

import numpy as np

from dikin.domains.base import Domain
from dikin.environments.base import MAX_DEPTH
from dikin.environments.bowl import BowlLosses, unit_pair
from dikin.errors import ParameterError
from dikin.units import number, whole

GOLDEN_ANGLE = pi * (3 - sqrt(5))
"""An angle whose multiples never come back to where they were: every jump finds a new place."""


class Drifting(BowlLosses):
    """A bowl that moves on a circle; subclasses say how."""

    def _circle(self, depth: float, speed: float, jump: float, period: int) -> None:
        if not 0.0 < number(depth, "depth") <= MAX_DEPTH:
            raise ParameterError(
                f"depth is a share of the inradius above 0 and at most {MAX_DEPTH}; got {depth!r}"
            )
        domain = self.domain
        one, two = self._setup.standard_normal((2, domain.dim))
        size = depth * domain.inradius
        p, q = (size * unit for unit in unit_pair(domain, one, two))
        scales = np.full(domain.center.size, domain.radius)
        self._begin(p, q, scales, speed, jump, period)


class Circling(Drifting):
    """A bowl whose minimum goes around the centre at a steady speed.

    Regret against the best point of each round, not the best fixed one, is `total_loss` less
    `dynamic_total()`.

    Parameters
    ----------
    domain : Domain
        The set that is played on.
    period : int
        Rounds that it takes to go around once; at least 1.
    seed : int, optional
        Fixes the circle; without one it is new every time.
    depth : float, default 0.8
        The radius of the circle, as a share of the inradius; above 0 and at most 0.85.

    Raises
    ------
    ParameterError
        If `period` or `depth` do not fit.

    Examples
    --------
    >>> from dikin import Ball
    >>> game = Circling(Ball(2), period=100, seed=1)
    >>> game.dynamic_total()
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
    """A bowl whose minimum jumps to another place of a circle from time to time.

    Regret against the best point of each round, not the best fixed one, is `total_loss` less
    `dynamic_total()`.

    Parameters
    ----------
    domain : Domain
        The set that is played on.
    period : int
        Rounds between two jumps; at least 1.
    seed : int, optional
        Fixes the circle; without one it is new every time.
    depth : float, default 0.8
        The radius of the circle, as a share of the inradius; above 0 and at most 0.85.

    Raises
    ------
    ParameterError
        If `period` or `depth` do not fit.

    Examples
    --------
    >>> from dikin import Ball
    >>> Jumping(Ball(2), period=100, seed=1).smoothness
    1.0
    """

    def __init__(
        self, domain: Domain, period: int, seed: int | None = None, *, depth: float = 0.8
    ) -> None:
        super().__init__(domain, seed)
        period = whole(period, "period", 1, "rounds between two jumps")
        self._circle(depth, 0.0, GOLDEN_ANGLE, period)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 40, seed)
        yield cls(domain, 1, seed, depth=0.3)
