"""Linear losses: they cost nothing to explore and show how fast a learner learns.

f_t(x) = (L/2) (a + s_t b).(x - c),      s_t a random sign, a and b unit vectors, c the centre.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Self

from dikin.arguments import positive
from dikin.domains.base import Array, Domain
from dikin.environments.base import Environment, add, linear_minimiser, one_sign
from dikin.kernel import reordered


class Linear(Environment):
    """Linear losses with one direction in common and one whose sign is random.

    Parameters
    ----------
    domain : Domain
        The set to play on.
    lipschitz : float, default 1.0
        The largest slope of a loss, in loss per unit of length, positive.
    seed : int, optional
        Fixes both directions and the signs. Without one they differ every time.

    Raises
    ------
    ParameterError
        If `lipschitz` is not positive.

    Examples
    --------
    >>> from dikin import Ball
    >>> Linear(Ball(2), seed=1).curvature(7)
    0.0
    """

    comparator_sums = 1
    smoothness = 0.0

    def __init__(self, domain: Domain, lipschitz: float = 1.0, seed: int | None = None) -> None:
        super().__init__(domain, seed)
        lipschitz = positive(lipschitz, "lipschitz")
        self.lipschitz = float(lipschitz)
        a, b = (lipschitz / 2 * self._direction() for _ in range(2))
        self.kernel: LinearKernel = LinearKernel(domain.center.ravel(), a, b)
        self.loss_range = (-lipschitz * domain.radius, lipschitz * domain.radius)

    def best(self) -> tuple[Array, float]:
        slope = self.rounds * self.kernel.a + self.total(1) * self.kernel.b
        v = linear_minimiser(self.domain, slope)
        return self.domain.center + v.reshape(self.domain.point_shape), float(slope @ v)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, seed=seed)
        yield cls(domain, 30.0, seed=seed)


class LinearKernel(NamedTuple):
    """The losses themselves."""

    center: Array
    a: Array
    b: Array

    def value(self, round: int, chance: float, x: Array) -> float:
        return linear_sum(x, self.center, self.a, self.b, one_sign(chance))

    def gradient(self, round: int, chance: float, x: Array) -> Array:
        return self.a + one_sign(chance) * self.b

    def strong_convexity(self, round: int) -> float:
        return 0.0

    def accumulate(self, round: int, chance: float, sums: Array) -> None:
        add(sums, 1, one_sign(chance))


@reordered
def linear_sum(x: Array, center: Array, a: Array, b: Array, sign: float) -> float:
    """(a + sign b).(x - center)."""
    total = 0.0
    for i in range(x.size):
        total += (a[i] + sign * b[i]) * (x[i] - center[i])
    return total
