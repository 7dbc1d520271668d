"""A plain learner of your own: it stays where the loss was least."""

from collections.abc import Iterator
from math import inf
from typing import Any, Self

import numpy as np
from dikin.learners.chart import ChartLearner

import dikin
from dikin.arguments import positive
from dikin.domains.base import Array
from dikin.learners.parameters import Parameter


@dikin.register
class Climber(ChartLearner):
    """Tries a normal step from the best point so far, and stays where the loss was least."""

    step = Parameter("The size of a step, as a share of the domain's radius.", positive)

    def __init__(
        self,
        domain: dikin.Domain,
        step: float = 0.3,
        *,
        loss_range: tuple[float, float] | None = (-1.0, 1.0),
        seed: int | None = None,
    ) -> None:
        super().__init__(domain, loss_range, seed)
        self.step = step  # checked, as it is declared above
        self._best, self._least = np.zeros(domain.dim), inf

    @property
    def center(self) -> Array:
        return self._at(self._best)

    def _propose(self) -> tuple[Array, float, Array]:
        u = self._best + self.step * self._noise.draw()
        u /= self._excess(u, 1.0)  # to the boundary, if the step left the set
        return *self._vector(u), u

    def _vector(self, memo: Array) -> tuple[Array, float]:
        return memo.copy(), float(memo @ memo)  # a copy, as the user may write into a point

    def _learn(self, memo: Array, loss: float, curvature: float) -> None:
        if loss < self._least:
            self._best, self._least = memo, loss
        self.rounds += 1

    @classmethod
    def examples(cls, domain: dikin.Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, seed=seed)
        yield cls(domain, 0.05, loss_range=(3, 11), seed=seed)

    def _numbers(self) -> dict[str, Any]:
        return {"best": self._best, "least": self._least}

    def _set_numbers(self, numbers: dict[str, Any]) -> None:
        self._best, self._least = numbers["best"], numbers["least"]

    def _memo_state(self, memo: Array) -> tuple[Any, ...]:
        return (memo,)

    def _memo_from(self, state: tuple[Any, ...]) -> Array:
        memo: Array = state[0]
        return memo
