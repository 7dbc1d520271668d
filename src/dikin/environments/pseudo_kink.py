"""Losses of one prediction: a kink across a plane that turns from round to round.

    f_t(x) = l |z_t.v| + e_t z_t.v + o_t - m,      v = x - theta,

with z_t, the context, one of a few unit vectors, in turn, theta inside, e_t and o_t random signs
times small constants, and m a constant that makes the range of the losses symmetric. l is the
rest of the Lipschitz constant after the tilt. The losses are functions of z_t.x alone, without any
curvature across z_t. Since |e_t| < l, their sum is smallest at theta.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import NamedTuple, Self

import numpy as np

from dikin.arguments import positive, whole
from dikin.domains.base import Array, Domain
from dikin.environments.base import Environment, add, displacement_sums, two_signs


class PseudoKink(Environment):
    """Losses with a kink, each a function of one product z_t.x with z_t known beforehand.

    Parameters
    ----------
    domain : Domain
        The set to play on.
    lipschitz : float, default 1.0
        The largest slope of a loss, in loss per unit of length, positive.
    contexts : int, default 64
        Number of different z_t, which come in turn.
    seed : int, optional
        Fixes the contexts, the minimum and the noise. Without one they differ every time.
    depth : float, default 0.2
        How far the minimum is from the centre, as a share of the inradius, from 0 to 0.85.

    Raises
    ------
    ParameterError
        If a number does not fit.

    Examples
    --------
    >>> from dikin import Ball
    >>> game = PseudoKink(Ball(2), lipschitz=1.0, contexts=3, seed=1)
    >>> game.context().round(2)
    array([ 0.81, -0.58])
    """

    comparator_sums = 1
    smoothness = inf

    def __init__(
        self,
        domain: Domain,
        lipschitz: float = 1.0,
        contexts: int = 64,
        seed: int | None = None,
        *,
        depth: float = 0.2,
    ) -> None:
        super().__init__(domain, seed)
        lipschitz = positive(lipschitz, "lipschitz")
        count = whole(contexts, "contexts", 1, "how many different ones there are")
        theta = self._inner_point(depth)
        far = domain.radius + depth * domain.inradius
        tilt, offset = 0.05 * lipschitz, 0.02 * lipschitz * far
        high = lipschitz * far
        self.lipschitz = float(lipschitz)
        self.loss_range = (-high / 2 - offset, high / 2 + offset)
        table = np.stack([self._direction() for _ in range(count)])
        self.kernel: PseudoKinkKernel = PseudoKinkKernel(
            theta, table, lipschitz - tilt, tilt, offset, high / 2
        )

    def best(self) -> tuple[Array, float]:
        total = self.total(1) - self.rounds * self.kernel.middle
        return self.kernel.theta.reshape(self.domain.point_shape), total

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, seed=seed)
        yield cls(domain, 30.0, 3, seed=seed, depth=0.85)


class PseudoKinkKernel(NamedTuple):
    """The losses themselves. A round's uniform number holds both signs."""

    theta: Array
    table: Array
    slope: float
    tilt: float
    offset: float
    middle: float

    def context(self, round: int) -> Array:
        return np.array(self.table[(round - 1) % self.table.shape[0]])

    def value(self, round: int, chance: float, x: Array) -> float:
        z = self.table[(round - 1) % self.table.shape[0]]
        along, _ = displacement_sums(x, self.theta, z)
        tilt, offset = two_signs(chance)
        value: float = self.slope * abs(along) + tilt * self.tilt * along
        return value + offset * self.offset - self.middle

    def gradient(self, round: int, chance: float, x: Array) -> Array:
        z = self.context(round)
        side = float(np.sign(z @ (x - self.theta)))
        return np.asarray((self.slope * side + two_signs(chance)[0] * self.tilt) * z)

    def strong_convexity(self, round: int) -> float:
        return 0.0

    def accumulate(self, round: int, chance: float, sums: Array) -> None:
        _, offset = two_signs(chance)
        add(sums, 1, offset * self.offset)
