"""Lipschitz losses with a sharp minimum: a kink across one plane, or the distance to a point.

    f_t(x) = s_t (l g(v) + e_t a.v) + sigma_t/2 |v|^2 + o_t - m,      v = x - theta,
    g(v)   = sqrt(k (a.v)^2 + (1 - k) |v|^2),

so that g is the kink |a.v| for k = 1 and the distance |v| for k = 0, with a a unit vector, theta
inside, e_t and o_t random signs times small constants, and m a constant that makes the range of the
losses symmetric. l is the rest of the largest Lipschitz constant after the other terms, and s_t the
share of the round: its own constant is s_t (l + |e_t|) + sigma_t |v|. Since |e_t| < l, the sum of
the losses is smallest at theta.

The plane may turn from round to round: a is then one of a few unit vectors in turn, the context.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, sqrt
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from dikin.arguments import whole
from dikin.domains.base import Array, Domain
from dikin.environments import patterns
from dikin.environments.base import Environment, add, displacement_sums, two_signs
from dikin.environments.patterns import Decaying, FlatFirst
from dikin.errors import ParameterError


class SharpKernel(NamedTuple):
    """The losses themselves. A round's uniform number holds both signs."""

    theta: Array
    planes: Array
    """The vectors a, one per row."""
    kink: float
    slope: float
    tilt: float
    offset: float
    middle: float
    pattern: Any
    steep: Any
    """The largest Lipschitz constant times s_t."""

    def value(self, round: int, chance: float, x: Array) -> float:
        a = self.planes[(round - 1) % self.planes.shape[0]]
        along, square = displacement_sums(x, self.theta, a)
        tilt, offset = two_signs(chance)
        sharp = sqrt(self.kink * along * along + (1.0 - self.kink) * square)
        curved = 0.5 * self.pattern.at(round) * square
        share = self.steep.at(round) / self.steep.sigma
        value: float = share * (self.slope * sharp + tilt * self.tilt * along) + curved
        return value + offset * self.offset - self.middle

    def gradient(self, round: int, chance: float, x: Array) -> Array:
        v, tilt = x - self.theta, two_signs(chance)[0] * self.tilt
        a = self.planes[(round - 1) % self.planes.shape[0]]
        along, square = float(a @ v), float(v @ v)
        sharp = sqrt(self.kink * along * along + (1.0 - self.kink) * square)
        rise = (self.kink * along * a + (1.0 - self.kink) * v) / sharp if sharp > 0 else 0 * v
        share = self.steep.at(round) / self.steep.sigma
        sharp_part = share * (self.slope * rise + tilt * a)
        return np.asarray(sharp_part + self.pattern.at(round) * v)

    def strong_convexity(self, round: int) -> float:
        return float(self.pattern.at(round))

    def accumulate(self, round: int, chance: float, sums: Array) -> None:
        _, offset = two_signs(chance)
        add(sums, 1, offset * self.offset)


class Kink(Environment):
    """Losses with a kink across one plane: every step across it is paid for, none along it.

    Parameters
    ----------
    domain : Domain
        The set to play on.
    lipschitz : float or pattern
        The largest slope of a loss, in loss per unit of length, positive. A pattern such as
        `Decaying` makes later losses less steep, but for the addition of the curvature.
    curvature : float or pattern, default 0.0
        The strong convexity of the losses: a number, or a pattern such as `Decaying`. It uses up a
        part of the Lipschitz constant.
    seed : int, optional
        Fixes the minimum, the plane and the noise. Without one they differ every time.
    depth : float, default 0.2
        How far the minimum is from the centre, as a share of the inradius, from 0 to 0.85.

    Raises
    ------
    ParameterError
        If the curvature alone would make the losses steeper than 0.8 `lipschitz`.
        If `lipschitz` is not positive or `depth` not in its range.

    Examples
    --------
    >>> from dikin import Ball
    >>> Kink(Ball(2), lipschitz=2.0, curvature=0.5, seed=1).curvature(7)
    0.5
    """

    comparator_sums = 1
    smoothness = inf
    sharpness: ClassVar[float] = 1.0
    """The number k of g."""

    def __init__(
        self,
        domain: Domain,
        lipschitz: Any,
        curvature: Any = 0.0,
        seed: int | None = None,
        *,
        depth: float = 0.2,
    ) -> None:
        super().__init__(domain, seed)
        steep = patterns.as_positive_pattern(lipschitz, "lipschitz")
        lipschitz, pattern = float(steep.sigma), patterns.as_pattern(curvature)
        theta = self._inner_point(depth)
        far = domain.radius + depth * domain.inradius
        most = 0.8 * lipschitz / far
        if pattern.sigma > most:
            raise ParameterError(
                f"the curvature {pattern.sigma:g} uses up the Lipschitz constant: with "
                f"lipschitz={lipschitz:g} on this domain it can be at most {most:g}"
            )
        self.lipschitz = float(lipschitz)
        tilt, offset = 0.05 * lipschitz, 0.02 * lipschitz * far
        slope = lipschitz - pattern.sigma * far - tilt
        high = (slope + tilt) * far + pattern.sigma / 2 * far**2
        planes, kink = np.stack([self._direction()]), self.sharpness
        self.kernel: SharpKernel = SharpKernel(
            theta, planes, kink, slope, tilt, offset, high / 2, pattern, steep
        )
        self.loss_range = (-high / 2 - offset, high / 2 + offset)

    def best(self) -> tuple[Array, float]:
        total = self.total(1) - self.rounds * self.kernel.middle
        return self.kernel.theta.reshape(self.domain.point_shape), total

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        most = 0.4 / domain.radius
        yield cls(domain, 1.0, seed=seed)
        yield cls(domain, 1.0, curvature=Decaying(most, 0.3), seed=seed, depth=0.85)
        yield cls(domain, 30.0, curvature=FlatFirst(most, 30), seed=seed)
        yield cls(domain, Decaying(2.0, 0.4), curvature=Decaying(most, 0.5), seed=seed)


class Distance(Kink):
    """Losses that are the distance to a point: steep in every direction, so no step is free.

    Parameters
    ----------
    domain, lipschitz, curvature, depth
        As for `Kink`, with the same errors.
    seed : int, optional
        Fixes the minimum and the noise. Without one they differ every time.

    Examples
    --------
    >>> from dikin import Ball
    >>> Distance(Ball(2), lipschitz=2.0, curvature=0.5, seed=1).curvature(7)
    0.5
    """

    sharpness = 0.0


class TurningKernel(SharpKernel):
    """Losses of which each is a function of one product z_t.x, with z_t known beforehand."""

    def context(self, round: int) -> Array:
        return np.array(self.planes[(round - 1) % self.planes.shape[0]])


class PseudoKink(Kink):
    """Losses with a kink, each a function of one product z_t.x with z_t known beforehand.

    Parameters
    ----------
    domain, lipschitz, depth
        As for `Kink`, with the same errors.
    contexts : int, default 64
        Number of different z_t, which come in turn.
    seed : int, optional
        Fixes the contexts, the minimum and the noise. Without one they differ every time.

    Examples
    --------
    >>> from dikin import Ball
    >>> game = PseudoKink(Ball(2), lipschitz=1.0, contexts=3, seed=1)
    >>> game.context().round(2)
    array([ 0.81, -0.58])
    """

    def __init__(
        self,
        domain: Domain,
        lipschitz: Any = 1.0,
        contexts: int = 64,
        seed: int | None = None,
        *,
        depth: float = 0.2,
    ) -> None:
        super().__init__(domain, lipschitz, 0.0, seed, depth=depth)
        count = whole(contexts, "contexts", 1, "how many different ones there are")
        more = [self._direction() for _ in range(count - 1)]
        planes = np.stack([*self.kernel.planes, *more])
        self.kernel = TurningKernel(*self.kernel._replace(planes=planes))

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, seed=seed)
        yield cls(domain, 30.0, 3, seed=seed, depth=0.85)
