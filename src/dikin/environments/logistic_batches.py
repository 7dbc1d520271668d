"""Logistic regression on batches of data: g(z, y) = ln(1 + exp(-y z)) for labels y = -1 or 1."""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np

from dikin.curvature.losses import Logistic
from dikin.domains.base import Array, Domain
from dikin.environments.batches import Batches, BatchWorld, Index
from dikin.errors import ParameterError
from dikin.kernel import reordered
from dikin.rng import Generator


class LogisticBatches(Batches):
    """Every round the mean of ln(1 + exp(-y_i c_i.x)) over a batch of rows (c_i, y_i).

    >>> from dikin import Ball
    >>> contexts, labels = [[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]], [1, -1, 1]
    >>> game = LogisticBatches(Ball(2), contexts, labels, sizes=[1, 3], seed=1)
    >>> sorted({(len(game.batch(t)), round(game.curvature(t), 6)) for t in range(1, 100)})
    [(1, 0.0), (3, 0.090894)]
    """

    loss = Logistic()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.world: LogisticWorld = LogisticWorld(
            self.contexts, self.targets, self.rows, self.starts, self.weights, self.sigmas
        )

    @classmethod
    def _checked(cls, targets: Array) -> Array:
        if not np.isin(targets, (-1.0, 1.0)).all():
            odd = targets[~np.isin(targets, (-1.0, 1.0))][0]
            raise ParameterError(f"the labels of a logistic loss are -1 and 1, got {odd:g}")
        return targets

    @classmethod
    def _invent(cls, rng: Generator, contexts: Array, domain: Domain) -> Array:
        return rng.choice([-1.0, 1.0], len(contexts))


class LogisticWorld(BatchWorld):
    """The losses themselves."""

    __slots__ = ()
    loss = Logistic()

    def value(self, round: int, chance: float, x: Array) -> float:
        k = (round - 1) % self.weights.size
        first, last = self.starts[k], self.starts[k + 1]
        total = surprises(self.contexts, self.targets, self.rows, first, last, x)
        loss: float = self.weights[k] * total
        return loss


@reordered
def surprises(
    contexts: Array, targets: Array, rows: Index, first: int, last: int, x: Array
) -> float:
    """The sum of ln(1 + exp(-y c.x)) over some rows, written so that nothing overflows.

    ln(1 + e^-|z|) is at most ln 2: a product of many is taken before its logarithm.
    """
    total, product = 0.0, 1.0
    for k in range(first, last):
        i = rows[k]
        z = 0.0
        for j in range(x.size):
            z += contexts[i, j] * x[j]
        z *= targets[i]
        if z < 0.0:
            total -= z
        product *= 1.0 + exp(-abs(z))
        if product > 1e300:
            total += log(product)
            product = 1.0
    return total + log(product)
