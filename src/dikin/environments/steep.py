"""What Lipschitz losses with a sharp bottom share: constants that use up the Lipschitz constant.

    f_t(x) = l g(v) + sigma_t/2 |v|^2 + e_t a.v + o_t - m,      v = x - theta,
    g(v)   = sqrt(k (a.v)^2 + (1 - k) |v|^2),

a kink |a.v| for k = 1 and a cone |v| for k = 0, with a a unit vector, theta inside, e_t and o_t
random signs times small constants, and m a constant that makes the range of the losses symmetric. l
is what the Lipschitz constant leaves after the other terms. As |e_t| < l the sum of the losses is
least at theta.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from math import inf, sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.domains.base import Array, Domain
from dikin.environments.base import Environment, add
from dikin.environments.patterns import Decaying, FlatFirst, as_pattern
from dikin.environments.shared import ridge_sums, two_signs
from dikin.errors import CurvatureTooLargeError
from dikin.units import strictly_positive


class SteepWorld(NamedTuple):
    """The losses themselves; a round's uniform number holds both signs."""

    theta: Array
    a: Array
    kink: float
    steep: float
    tilt: float
    offset: float
    middle: float
    pattern: Any

    def value(self, round: int, chance: float, x: Array) -> float:
        along, square = ridge_sums(x, self.theta, self.a)
        tilt, offset = two_signs(chance)
        bottom = sqrt(self.kink * along * along + (1.0 - self.kink) * square)
        curved = 0.5 * self.pattern.at(round) * square
        value: float = self.steep * bottom + curved + tilt * self.tilt * along
        return value + offset * self.offset - self.middle

    def gradient(self, round: int, chance: float, x: Array) -> Array:
        v, tilt = x - self.theta, two_signs(chance)[0] * self.tilt
        along, square = float(self.a @ v), float(v @ v)
        bottom = sqrt(self.kink * along * along + (1.0 - self.kink) * square)
        rise = (
            (self.kink * along * self.a + (1.0 - self.kink) * v) / bottom if bottom > 0 else 0 * v
        )
        return np.asarray(self.steep * rise + self.pattern.at(round) * v + tilt * self.a)

    def bend(self, round: int) -> float:
        sigma: float = self.pattern.at(round)
        return sigma

    def tally(self, round: int, chance: float, sums: Array) -> None:
        _, offset = two_signs(chance)
        add(sums, 1, offset * self.offset)


class Steep(Environment):
    """Losses of a given Lipschitz constant and curvature pattern; subclasses bring k.

    `depth` is how far from the centre theta lies, as a share of the inradius.
    """

    tallies = 1
    smoothness = inf

    def __init__(
        self,
        domain: Domain,
        lipschitz: float,
        curvature: Any = 0.0,
        seed: int | None = None,
        *,
        depth: float = 0.2,
    ) -> None:
        super().__init__(domain, seed)
        lipschitz = strictly_positive(lipschitz, "lipschitz")
        pattern = as_pattern(curvature)
        theta = self._inner_point(depth)
        far = domain.radius + depth * domain.inradius
        most = 0.8 * lipschitz / far
        if pattern.sigma > most:
            raise CurvatureTooLargeError(
                f"the curvature {pattern.sigma:g} uses up the Lipschitz constant: with "
                f"lipschitz={lipschitz:g} on this domain it can be at most {most:g}"
            )
        self.lipschitz = float(lipschitz)
        tilt, offset = 0.05 * lipschitz, 0.02 * lipschitz * far
        steep = lipschitz - pattern.sigma * far - tilt
        high = (steep + tilt) * far + pattern.sigma / 2 * far**2
        self.world: SteepWorld = SteepWorld(
            theta,
            self._direction(),
            self._kink(),
            steep,
            tilt,
            offset,
            high / 2,
            pattern,
        )
        self.loss_range = (-high / 2 - offset, high / 2 + offset)

    @staticmethod
    @abstractmethod
    def _kink() -> float:
        """K of g."""

    def best(self) -> tuple[Array, float]:
        total = self.total(1) - self.rounds * self.world.middle
        return self.world.theta.reshape(self.domain.point_shape), total

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        most = 0.4 / domain.radius
        yield cls(domain, 1.0, seed=seed)
        yield cls(domain, 1.0, curvature=Decaying(most, 0.3), seed=seed, depth=0.85)
        yield cls(domain, 30.0, curvature=FlatFirst(most, 30), seed=seed)
