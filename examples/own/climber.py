"""A plain learner of your own: it stays where the loss was least."""

from collections.abc import Iterator
from math import inf
from typing import Self

import numpy as np

import dikin
from dikin.arguments import positive
from dikin.domains.base import Array
from dikin.domains.dense import DenseGeometry
from dikin.learners.parameters import parameter


@dikin.register
class Climber(dikin.Learner):
    """Tries a normal step from the best point so far, and stays where the loss was least."""

    step: float = parameter(
        "The size of a step, as a share of the domain's radius.", positive, default=0.3
    )
    kept = ("_best", "_least")

    def _begin(self) -> None:
        self._best, self._least = np.zeros(self.domain.dim), inf

    def _form(self) -> DenseGeometry:
        return DenseGeometry(self.domain, self.units.radius)  # works with chart vectors

    @property
    def center(self) -> Array:
        return self._inside(self._best)

    def _propose(self) -> tuple[Array, float, Array]:
        u = self._best + self.step * self._noise.draw()
        u /= max(1.0, self.domain.gauge(self.units.radius * u))  # to the boundary, if it left
        return u, float(u @ u), u

    def _learn(self, memo: Array, loss: float, curvature: float) -> None:
        if loss < self._least:
            self._best, self._least = memo, loss

    @classmethod
    def examples(cls, domain: dikin.Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, seed=seed)
        yield cls(domain, 0.05, loss_range=(3, 11), seed=seed)
