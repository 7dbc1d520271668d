"""Least squares on batches of data: g(z, y) = (z - y)^2/2; sigma_t is lambda_min of C'C/n."""

from __future__ import annotations

from typing import Any

import numpy as np

from dikin.curvature.losses import Squared
from dikin.domains.base import Array, Domain
from dikin.environments.batches import Batches, BatchWorld, Index
from dikin.kernel import reordered
from dikin.rng import Generator


class SquaredBatches(Batches):
    """Every round the mean of (c_i.x - y_i)^2/2 over a batch of rows (c_i, y_i).

    >>> from dikin import Ball
    >>> contexts, targets = [[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]], [0.5, -0.5, 0.0]
    >>> game = SquaredBatches(Ball(2), contexts, targets, sizes=[1, 3], seed=1)
    >>> sorted({(len(game.batch(t)), round(game.curvature(t), 6)) for t in range(1, 100)})
    [(1, 0.0), (3, 0.565741)]
    """

    loss = Squared()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.world: SquaredWorld = SquaredWorld(
            self.contexts, self.targets, self.rows, self.starts, self.weights, self.sigmas
        )

    @classmethod
    def _invent(cls, rng: Generator, contexts: Array, domain: Domain) -> Array:
        middle, half = contexts @ domain.center.ravel(), np.linalg.norm(contexts, axis=1)
        return np.asarray(middle + rng.uniform(-2, 2, middle.size) * half * domain.radius)


class SquaredWorld(BatchWorld):
    """The losses themselves."""

    __slots__ = ()
    loss = Squared()

    def value(self, round: int, chance: float, x: Array) -> float:
        k = (round - 1) % self.weights.size
        first, last = self.starts[k], self.starts[k + 1]
        total = squares(self.contexts, self.targets, self.rows, first, last, x)
        loss: float = self.weights[k] * total
        return loss


@reordered
def squares(contexts: Array, targets: Array, rows: Index, first: int, last: int, x: Array) -> float:
    """The sum of (c.x - y)^2/2 over some rows."""
    total = 0.0
    for k in range(first, last):
        i = rows[k]
        error = -targets[i]
        for j in range(x.size):
            error += contexts[i, j] * x[j]
        total += 0.5 * error * error
    return total
