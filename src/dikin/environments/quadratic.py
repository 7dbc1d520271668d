"""Quadratic losses with a minimiser that jumps: the best fixed point is a weighted mean.

f_t(x) = sigma_t/2 |x - theta_t|^2,      theta_t one of two points of the domain, drawn each round.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.domains.base import Array, Domain
from dikin.environments.base import Environment, add, displacement_sums
from dikin.environments.patterns import Decaying, as_pattern
from dikin.errors import ParameterError

SHARE = 0.7
"""Probability of the first of the two minimisers."""


class Quadratic(Environment):
    """Round quadratics whose minimum is one of two points, drawn again every round.

    Parameters
    ----------
    domain : Domain
        The set to play on.
    curvature : float or pattern, default 1.0
        Strong convexity and smoothness of the losses: a number, or a pattern such as `Decaying`.
    seed : int, optional
        Fixes both points and the draws. Without one they differ every time.

    Raises
    ------
    ParameterError
        If the curvature is 0 in every round, or no number or pattern.

    Examples
    --------
    >>> from dikin import Ball
    >>> Quadratic(Ball(2), curvature=2.0, seed=1).smoothness
    2.0
    """

    comparator_sums = 2

    def __init__(self, domain: Domain, curvature: Any = 1.0, seed: int | None = None) -> None:
        super().__init__(domain, seed)
        pattern = as_pattern(curvature)
        if pattern.sigma == 0:
            raise ParameterError("curvature must be positive somewhere, got 0 for every round")
        depth = 0.8
        far = domain.radius + depth * domain.inradius
        self.smoothness = float(pattern.sigma)
        self.lipschitz = self.smoothness * far
        self.loss_range = (0.0, self.smoothness / 2 * far**2)
        self.kernel: QuadraticKernel = QuadraticKernel(
            self._inner_point(depth), self._inner_point(depth), pattern
        )

    def best(self) -> tuple[Array, float]:
        one, two, kernel = self.total(1), self.total(2), self.kernel
        if one + two == 0:
            return self.domain.center, 0.0
        point = (one * kernel.one + two * kernel.two) / (one + two)
        apart = float(np.sum((kernel.one - kernel.two) ** 2))
        return point.reshape(self.domain.point_shape), one * two / (one + two) / 2 * apart

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, seed=seed)
        yield cls(domain, Decaying(3.0, 0.5), seed=seed)


class QuadraticKernel(NamedTuple):
    """The losses themselves."""

    one: Array
    two: Array
    pattern: Any

    def value(self, round: int, chance: float, x: Array) -> float:
        theta = self.one if chance < SHARE else self.two
        _, square = displacement_sums(x, theta, theta)
        return float(0.5 * self.pattern.at(round) * square)

    def gradient(self, round: int, chance: float, x: Array) -> Array:
        theta = self.one if chance < SHARE else self.two
        return np.asarray(self.pattern.at(round) * (x - theta))

    def strong_convexity(self, round: int) -> float:
        return float(self.pattern.at(round))

    def accumulate(self, round: int, chance: float, sums: Array) -> None:
        add(sums, 1 if chance < SHARE else 2, self.pattern.at(round))
