"""Smooth losses that make exploration costly: steep across a ridge, as curved as declared along it.

    f_t(x) = beta_t/2 (a.v)^2 + sigma_t/2 |v - (a.v) a|^2 + e_t a.v + o_t - m,    v = x - theta,

with a a unit vector, theta inside, e_t and o_t random signs times small constants, and m a constant
that makes the range of the losses symmetric. The smoothness is beta_t and the strong convexity
sigma_t <= beta_t, exactly (beta_t in dimension one). The noise has the direction of the ridge's
slope, and is as large as beta_t is, so the sum of the losses is least at
theta - (e_{1:T}/beta_{1:T}) a, a point inside: the best fixed point has a closed form.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.domains.base import Array, Domain
from dikin.environments import patterns
from dikin.environments.base import Environment, add, displacement_sums, two_signs
from dikin.environments.patterns import Constant, Decaying, FlatFirst
from dikin.errors import ParameterError

SAMPLED = [2**i for i in range(21)]
"""Rounds in which a curvature that changes is compared with a smoothness that changes."""


class Ridge(Environment):
    """Quadratic losses that are steep across a ridge and as curved as declared along it.

    Parameters
    ----------
    domain : Domain
        The set to play on.
    smoothness : float or pattern
        The curvature across the ridge, the largest there is, positive, or a pattern that begins
        with a positive number.
    curvature : float or pattern, default 0.0
        The strong convexity of the losses: a number, or a pattern such as `Decaying`, at most the
        smoothness.
    seed : int, optional
        Fixes the minimum, the ridge and the noise. Without one they differ every time.
    depth : float, default 0.2
        How far the minimum is from the centre, as a share of the inradius, from 0 to 0.85.

    Raises
    ------
    ParameterError
        If the curvature exceeds the smoothness in some round (of the first million at least).
        If `smoothness` is not positive or `depth` not in its range.

    Examples
    --------
    >>> from dikin import Ball, Decaying
    >>> Ridge(Ball(2), smoothness=1.0, curvature=Decaying(1.0, 0.5), seed=1).curvature(100)
    0.1
    """

    comparator_sums = 3

    def __init__(
        self,
        domain: Domain,
        smoothness: Any,
        curvature: Any = 0.0,
        seed: int | None = None,
        *,
        depth: float = 0.2,
    ) -> None:
        super().__init__(domain, seed)
        steep = patterns.as_positive_pattern(smoothness, "smoothness")
        smoothness, pattern = float(steep.sigma), patterns.as_pattern(curvature)
        if pattern.sigma > smoothness:
            raise ParameterError(
                f"the curvature {pattern.sigma:g} exceeds the smoothness {smoothness:g}"
            )
        for t in [1] if isinstance(steep, Constant) else SAMPLED:
            if pattern.at(t) > steep.at(t):
                raise ParameterError(
                    f"the curvature of round {t}, {pattern.at(t):g}, exceeds the smoothness of "
                    f"that round, {steep.at(t):g}"
                )
        self.smoothness = smoothness
        theta = self._inner_point(depth)
        far = domain.radius + depth * domain.inradius
        tilt, offset = 0.1 * smoothness * domain.inradius, 0.02 * smoothness * far**2
        low, high = -(tilt**2) / (2 * smoothness), smoothness / 2 * far**2 + tilt * far
        half = (high - low) / 2 + offset
        middle, a = (high + low) / 2, self._direction()
        self.kernel: RidgeKernel = RidgeKernel(
            theta, a, self.smoothness, tilt, offset, middle, pattern, steep
        )
        self.lipschitz = self.smoothness * far + tilt
        self.loss_range = (-half, half)

    def best(self) -> tuple[Array, float]:
        kernel, tilts, offsets = self.kernel, self.total(1), self.total(2)
        total_smoothness = self.total(3) or kernel.smoothness
        point = kernel.theta - tilts / total_smoothness * kernel.a
        total = offsets - self.rounds * kernel.middle - tilts**2 / (2 * total_smoothness)
        return point.reshape(self.domain.point_shape), total

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 1.0, seed=seed)
        yield cls(domain, 0.5, curvature=Decaying(0.5, 0.3), seed=seed, depth=0.85)
        yield cls(domain, 40.0, curvature=FlatFirst(40.0, 30), seed=seed)
        yield cls(domain, Decaying(2.0, 0.4), curvature=Decaying(1.0, 0.5), seed=seed)


class RidgeKernel(NamedTuple):
    """The losses themselves. A round's uniform number holds both signs."""

    theta: Array
    a: Array
    smoothness: float
    tilt: float
    offset: float
    middle: float
    pattern: Any
    steep: Any
    """beta_t."""

    def value(self, round: int, chance: float, x: Array) -> float:
        along, square = displacement_sums(x, self.theta, self.a)
        sigma, beta = self.pattern.at(round), self.steep.at(round)
        curved = 0.5 * (beta - sigma) * along * along + 0.5 * sigma * square
        tilt, offset = two_signs(chance)
        tilt *= self.tilt * (beta / self.smoothness)
        value: float = curved + tilt * along + offset * self.offset
        return value - self.middle

    def gradient(self, round: int, chance: float, x: Array) -> Array:
        v, sigma, beta = x - self.theta, self.pattern.at(round), self.steep.at(round)
        along = float(self.a @ v)
        tilt = two_signs(chance)[0] * self.tilt * (beta / self.smoothness)
        return np.asarray(((beta - sigma) * along + tilt) * self.a + sigma * v)

    def strong_convexity(self, round: int) -> float:
        return float(self.pattern.at(round))

    def accumulate(self, round: int, chance: float, sums: Array) -> None:
        tilt, offset = two_signs(chance)
        beta = self.steep.at(round)
        add(sums, 1, tilt * self.tilt * (beta / self.smoothness))
        add(sums, 2, offset * self.offset)
        add(sums, 3, beta)
