"""f_t(x) = |x - target|^2/2 + noise, the noise uniform in an interval around 0."""

from collections.abc import Iterator
from typing import NamedTuple, Self

import dikin
from dikin.domains.base import Array
from dikin.environments.base import add


class ValleyKernel(NamedTuple):
    """The losses themselves."""

    target: Array
    noise: float

    def value(self, round: int, chance: float, x: Array) -> float:
        total = 0.0
        for i in range(x.size):
            total += (x[i] - self.target[i]) ** 2
        return total / 2 + self.noise * (2 * chance - 1)

    def strong_convexity(self, round: int) -> float:
        return 1.0

    def accumulate(self, round: int, chance: float, sums: Array) -> None:
        add(sums, 1, 2 * chance - 1)


@dikin.register
class Valley(dikin.Environment):
    """A bowl around a random point, with noise."""

    comparator_sums = 1
    smoothness = 1.0

    def __init__(self, domain: dikin.Domain, noise: float = 0.1, seed: int | None = None) -> None:
        super().__init__(domain, seed)
        self.kernel: ValleyKernel = ValleyKernel(self._inner_point(0.5), float(noise))
        # The target is half an inradius from the centre: no point is farther from it than this.
        self.lipschitz = domain.radius + 0.5 * domain.inradius
        self.loss_range = (-noise, self.lipschitz**2 / 2 + noise)

    def best(self) -> tuple[Array, float]:
        point = self.kernel.target.reshape(self.domain.point_shape)
        return point, self.kernel.noise * self.total(1)

    @classmethod
    def examples(cls, domain: dikin.Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, seed=seed)
        yield cls(domain, 0.0, seed=seed)
