"""Bowls: the same quadratic in every round, or one whose minimum moves on an ellipse.

    f_t(x) = 1/2 sum_i ((x_i - theta_t,i)/s_i)^2,
    theta_t = c + cos(phi_t) p + sin(phi_t) q,
    phi_t   = speed (t - 1) + jump floor((t - 1)/period).

On a box with s_i half its i-th side this is the bowl on the cube, whatever the sides. With C and S
the sums of the cosines and sines, the sum of the losses is least at c + (C p + S q)/T: the best
fixed point has a closed form. p and q are orthogonal in the weights 1/s_i^2, so its losses need the
sum of cos^2 besides. Every theta_t lies inside, so the best point of each round suffers nothing.

Regret against a fixed point says little where the minimum moves; `dynamic_total` is what the best
point of each round would have suffered. No certificate of this library bounds the latter.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from math import cos, inf, pi, sin, sqrt
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from dikin.arguments import number, whole
from dikin.domains.base import Array, Domain
from dikin.environments.base import GAP, MAX_DEPTH, Environment, add, linear_minimiser
from dikin.errors import ParameterError
from dikin.kernel import compilable, reordered


class BowlKernel(NamedTuple):
    """The losses themselves, which are not random."""

    center: Array
    p: Array
    q: Array
    weights: Array
    sigma: float
    speed: float
    jump: float
    period: int

    def value(self, round: int, chance: float, x: Array) -> float:
        phi = angle(round, self.speed, self.jump, self.period)
        return bowl_sum(x, self.center, self.p, self.q, self.weights, cos(phi), sin(phi))

    def gradient(self, round: int, chance: float, x: Array) -> Array:
        phi = angle(round, self.speed, self.jump, self.period)
        theta = self.center + cos(phi) * self.p + sin(phi) * self.q
        return np.asarray(self.weights * (x - theta))

    def strong_convexity(self, round: int) -> float:
        return self.sigma

    def accumulate(self, round: int, chance: float, sums: Array) -> None:
        phi = angle(round, self.speed, self.jump, self.period)
        add(sums, 1, cos(phi))
        add(sums, 2, sin(phi))
        add(sums, 3, cos(phi) * cos(phi))


@compilable
def angle(round: int, speed: float, jump: float, period: int) -> float:
    """phi_t."""
    return speed * (round - 1) + jump * ((round - 1) // period)


@reordered
def bowl_sum(
    x: Array, center: Array, p: Array, q: Array, weights: Array, cosine: float, sine: float
) -> float:
    """Half the weighted square of x - theta."""
    total = 0.0
    for i in range(x.size):
        v = x[i] - center[i] - cosine * p[i] - sine * q[i]
        total += weights[i] * v * v
    return 0.5 * total


class BowlLosses(Environment):
    """A bowl at rest or one that moves; subclasses say how."""

    comparator_sums = 3
    kernel: BowlKernel

    def _begin(
        self, p: Array, q: Array, scales: Array, speed: float, jump: float, period: int
    ) -> None:
        """Set the losses up, and the constants that they keep."""
        weights = scales**-2.0
        center = self.domain.center.ravel()
        self.kernel = BowlKernel(center, p, q, weights, float(weights.min()), speed, jump, period)
        self.smoothness = float(weights.max())
        far = _farthest(self.domain, p, q, scales)
        self.lipschitz = float(np.linalg.norm(weights * far.lengths))
        self.lipschitz = min(self.lipschitz, self.smoothness * far.distance)
        square = min(float(weights @ far.lengths**2), self.smoothness * far.distance**2)
        self.loss_range = (0.0, square / 2)

    def constants(self, equal_sides: bool) -> dict[str, float]:
        plain = super().constants(equal_sides)
        if not equal_sides:
            return plain
        geometry = self.domain.equal_sided_geometry(self.domain.radius)
        axes = np.stack([geometry.outward(e).ravel() for e in np.eye(geometry.size)])
        hessian = (axes * self.kernel.weights) @ axes.T / geometry.longest**2
        smoothness = float(np.linalg.eigvalsh(hessian)[-1])
        slope = smoothness * 2.0 * self.domain.radius * geometry.longest  # times the diameter
        return {
            "smoothness": min(plain["smoothness"], smoothness),
            "lipschitz": min(plain["lipschitz"], slope),
        }

    def best(self) -> tuple[Array, float]:
        kernel, rounds = self.kernel, max(self.rounds, 1)
        cosines, sines, squares = self.total(1), self.total(2), self.total(3)
        step = (cosines * kernel.p + sines * kernel.q) / rounds
        p, q, mean = (float(kernel.weights @ v**2) for v in (kernel.p, kernel.q, step))
        total = (squares * p + (self.rounds - squares) * q - rounds * mean) / 2
        return (kernel.center + step).reshape(self.domain.point_shape), total

    def dynamic_total(self) -> float:
        return 0.0  # the minimum of every round lies inside


class Farthest(NamedTuple):
    """How far points of a domain can be from the minimum of a round: in all, in each entry."""

    distance: float
    lengths: Array


def _farthest(domain: Domain, p: Array, q: Array, scales: Array) -> Farthest:
    """Bounds: of the distance from the radius, of the entries, where they count, from extremes."""
    moved = np.hypot(p, q)
    distance = domain.radius + max(float(np.linalg.norm(p)), float(np.linalg.norm(q)))
    if scales.min() == scales.max():
        return Farthest(distance, np.full(p.size, inf))
    # An extreme of the domain is found to this much.
    slack = GAP * domain.radius
    units = np.eye(p.size)
    ends = [
        max(-unit @ linear_minimiser(domain, s * unit) * s for s in (1.0, -1.0)) for unit in units
    ]
    return Farthest(distance, np.array(ends) + slack + moved)


class Bowl(BowlLosses):
    """The same bowl in every round: half the squared distance to a point, in units you choose.

    Parameters
    ----------
    domain : Domain
        The set to play on.
    seed : int, optional
        Fixes the minimum; without one it differs every time.
    depth : float, default 0.8
        How far out the minimum lies, as a share of the way from the centre to the boundary in a
        random direction, from 0 to 0.85.
    scales : array_like, optional
        The unit of length of every entry, in the shape of a point; by default the domain's radius.
        In these units the bowl is round. On a domain without interior they must be equal.

    Raises
    ------
    ParameterError
        If `depth` or `scales` do not fit.

    Examples
    --------
    >>> from dikin import Box
    >>> plate = Box([0, 0], [1, 1000])
    >>> game = Bowl(plate, scales=[0.5, 500.0], seed=1)
    >>> game.smoothness, game.curvature(1)
    (4.0, 4e-06)
    """

    def __init__(
        self,
        domain: Domain,
        seed: int | None = None,
        *,
        depth: float = 0.8,
        scales: ArrayLike | None = None,
    ) -> None:
        super().__init__(domain, seed)
        if not 0.0 <= number(depth, "depth") <= MAX_DEPTH:
            raise ParameterError(
                f"depth is a share from 0, the centre, to {MAX_DEPTH}; got {depth!r}"
            )
        lengths = _scales(domain, scales)
        v = self._setup.standard_normal(domain.dim)
        # In the units of the bowl all directions are alike, and on a plane the units are equal.
        v = v * lengths[: domain.dim]
        p = domain.outward(depth / domain.gauge(v) * v).ravel()
        self._begin(p, np.zeros_like(p), lengths, 0.0, 0.0, 1)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, seed)
        if domain.dim == domain.center.size:
            scales = domain.radius * np.geomspace(1, 30, domain.dim)
            yield cls(domain, seed, scales=scales.reshape(domain.point_shape), depth=0.5)


def _scales(domain: Domain, scales: ArrayLike | None) -> Array:
    """The length of every entry, flattened."""
    if scales is None:
        return np.full(domain.center.size, domain.radius)
    lengths = np.array(scales, dtype=float)
    if lengths.shape != domain.point_shape or not (np.isfinite(lengths) & (lengths > 0)).all():
        raise ParameterError(
            f"scales must be a positive length for every entry of a point, of shape "
            f"{domain.point_shape}, got {scales!r}"
        )
    if domain.dim < lengths.size and lengths.min() < lengths.max():
        raise ParameterError(
            f"{domain} lies in a plane, across which unequal scales would carry points out of it: "
            "leave scales out"
        )
    return lengths.ravel()


def unit_pair(domain: Domain, one: Array, two: Array) -> tuple[Array, Array]:
    """Two orthogonal unit vectors of the domain's plane, flattened; the second 0 on a line."""
    one = one / sqrt(float(one @ one))
    two = two - float(two @ one) * one
    length = sqrt(float(two @ two))
    two = two / length if domain.dim > 1 else np.zeros(1)
    return domain.outward(one).ravel(), domain.outward(two).ravel()


# --- a minimum that moves ------------------------------------------------------------------------

GOLDEN_ANGLE = pi * (3 - sqrt(5))
"""An angle whose multiples never repeat: every jump leads to a new place."""


class Drifting(BowlLosses):
    """A bowl that moves on a circle; subclasses say how."""

    _period: ClassVar[str]
    """What `period` counts."""

    def __init__(
        self, domain: Domain, period: int, seed: int | None = None, *, depth: float = 0.8
    ) -> None:
        super().__init__(domain, seed)
        period = whole(period, "period", 1, self._period)
        if not 0.0 < number(depth, "depth") <= MAX_DEPTH:
            raise ParameterError(
                f"depth is a share of the inradius above 0 and at most {MAX_DEPTH}; got {depth!r}"
            )
        one, two = self._setup.standard_normal((2, domain.dim))
        size = depth * domain.inradius
        p, q = (size * unit for unit in unit_pair(domain, one, two))
        scales = np.full(domain.center.size, domain.radius)
        self._begin(p, q, scales, *self._motion(period))

    @staticmethod
    @abstractmethod
    def _motion(period: int) -> tuple[float, float, int]:
        """The speed, the jump and the rounds between two jumps."""


class Circling(Drifting):
    """A bowl whose minimum goes around the centre at a steady speed.

    Regret against the best point of each round, not the best fixed one, is `total_loss` less
    `dynamic_total()`.

    Parameters
    ----------
    domain : Domain
        The set to play on.
    period : int
        Rounds that it takes to go around once; at least 1.
    seed : int, optional
        Fixes the circle; without one it differs every time.
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

    _period = "rounds that it takes to go around"

    @staticmethod
    def _motion(period: int) -> tuple[float, float, int]:
        return 2 * pi / period, 0.0, 1

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 300, seed)
        yield cls(domain, 7, seed, depth=0.3)


class Jumping(Drifting):
    """A bowl whose minimum jumps to another place of a circle from time to time.

    Parameters
    ----------
    domain, seed, depth
        As for `Circling`, with the same errors.
    period : int
        Rounds between two jumps; at least 1.

    Examples
    --------
    >>> from dikin import Ball
    >>> Jumping(Ball(2), period=100, seed=1).smoothness
    1.0
    """

    _period = "rounds between two jumps"

    @staticmethod
    def _motion(period: int) -> tuple[float, float, int]:
        return 0.0, GOLDEN_ANGLE, period

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 40, seed)
        yield cls(domain, 1, seed, depth=0.3)
