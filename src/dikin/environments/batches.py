"""Losses made of data: every round a batch of rows, and the mean loss of a linear prediction on it.

    f_t(x) = (1/|I_t|) sum_{i in I_t} g(c_i.x, y_i),      rows (c_i, y_i), batch I_t.

The batches are drawn before the game: a size, at random out of those given, then so many different
rows. They come in a fixed order, and again from the first when all have been. sigma_t is computed
from the contexts of the batch (`dikin.curvature`), and is exactly 0 for a batch with fewer rows
than the domain has dimensions. How often each row has counted follows from the number of the round,
so the best fixed point is that of a weighted sum over the rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from math import fsum, inf
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dikin.curvature.bounds import Curvature
from dikin.curvature.contexts import of_contexts
from dikin.curvature.gram import column, table
from dikin.curvature.losses import ScalarLoss
from dikin.curvature.plane import Plane
from dikin.domains.base import Array, Domain
from dikin.environments.base import Environment
from dikin.environments.hindsight import least_point
from dikin.errors import ParameterError
from dikin.rng import Generator
from dikin.units import whole

Index = NDArray[np.int64]


class Rows(NamedTuple):
    """What the losses are made of."""

    contexts: Array
    targets: Array
    rows: Index
    starts: Index
    weights: Array
    sigmas: Array


class BatchWorld(Rows):
    """The losses but for their values; a subclass brings these and the scalar loss."""

    __slots__ = ()
    loss: ClassVar[ScalarLoss]

    def bend(self, round: int) -> float:
        sigma: float = self.sigmas[(round - 1) % self.sigmas.size]
        return sigma

    def tally(self, round: int, chance: float, sums: Array) -> None:
        """Nothing: the number of rounds says all."""

    def gradient(self, round: int, chance: float, x: Array) -> Array:
        k = (round - 1) % self.weights.size
        rows = self.rows[self.starts[k] : self.starts[k + 1]]
        contexts = self.contexts[rows]
        slopes = self.loss.slope(contexts @ x, self.targets[rows])
        return np.asarray(self.weights[k] * slopes @ contexts)


class Batches(Environment):
    """Batches of rows; a subclass brings the scalar loss g and its kernel.

    `contexts` has a row c_i for every entry of `targets`, as long as a point of the domain.
    """

    loss: ClassVar[ScalarLoss]

    def __init__(
        self,
        domain: Domain,
        contexts: ArrayLike,
        targets: ArrayLike,
        sizes: ArrayLike,
        *,
        batches: int = 1000,
        seed: int | None = None,
    ) -> None:
        super().__init__(domain, seed)
        self.contexts = np.ascontiguousarray(table(contexts, domain.center.size))
        self.targets = self._checked(column(targets, len(self.contexts), "targets").copy())
        chosen = _sizes(sizes, len(self.contexts))
        count = whole(batches, "batches", 1, "there is none to play otherwise")
        self.rows, self.starts = draw(self._setup, len(self.contexts), chosen, count)
        self.weights = 1.0 / np.diff(self.starts)
        """What a row counts in its batch."""
        self.batch_curvatures = [self._curvature(k) for k in range(count)]
        """What the contexts say of every batch, in the order of play."""
        self.sigmas = np.array([bounds.strong_convexity for bounds in self.batch_curvatures])
        self.smoothness = max(bounds.smoothness for bounds in self.batch_curvatures)
        self._bound_losses()

    @classmethod
    def _checked(cls, targets: Array) -> Array:
        """The targets, or an error if the loss has no meaning for them."""
        return targets

    def batch(self, round: int) -> Index:
        """The rows that round t = 1, 2, ... is about."""
        k = (round - 1) % self.weights.size
        return self.rows[self.starts[k] : self.starts[k + 1]]

    def _curvature(self, k: int) -> Curvature:
        rows = self.batch(k + 1)
        return of_contexts(
            self.domain,
            self.contexts[rows],
            self.loss,
            targets=self.targets[rows],
            weights=self.weights[k],
        )

    def _bound_losses(self) -> None:
        """Range and slope. Convex g is largest, and steepest, at an end of where c.x can be."""
        plane = Plane(self.domain)
        ends = plane.span(self.contexts)
        tops = np.max([self.loss.value(z, self.targets) for z in ends], axis=0)
        slopes = np.max([abs(self.loss.slope(z, self.targets)) for z in ends], axis=0)
        steep = slopes * np.linalg.norm(plane.rows(self.contexts), axis=1)
        self.loss_range = (0.0, float(self._means(tops).max()))
        self.lipschitz = float(self._means(steep).max())
        if not 0 < self.loss_range[1] < inf:
            raise ParameterError("contexts and targets admit no loss but 0, or one without bound")

    def _means(self, values: Array) -> Array:
        """The mean of every batch."""
        return np.add.reduceat(values[self.rows], self.starts[:-1]) * self.weights

    def best(self) -> tuple[Array, float]:
        """The best fixed point; its total is above the least by 1e-11 of the largest, at most."""
        if self.rounds == 0:
            return self.domain.center, 0.0
        again, rest = divmod(self.rounds, self.weights.size)
        times = (again + (np.arange(self.weights.size) < rest)) * self.weights
        counted = np.repeat(times, np.diff(self.starts))
        weights = np.bincount(self.rows, counted, len(self.contexts)).astype(float)
        size = self.rounds * self.loss_range[1]
        point = least_point(self.domain, self.contexts, self.targets, weights, self.loss, size)
        losses = self.loss.value(self.contexts @ point.ravel(), self.targets)
        return point, fsum(weights * losses)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        """Few rows with predictions of the order of one, in batches smaller and larger than d."""
        rng = np.random.default_rng(seed)
        far = domain.radius + float(np.linalg.norm(domain.center))
        contexts = rng.standard_normal((2 * domain.dim + 4, domain.center.size)) * (3 / far)
        sizes = (1, domain.dim, domain.dim + 2)
        targets = cls._invent(rng, contexts, domain)
        yield cls(domain, contexts, targets, sizes, batches=12, seed=seed)

    @classmethod
    @abstractmethod
    def _invent(cls, rng: Generator, contexts: Array, domain: Domain) -> Array:
        """Targets for examples."""


def draw(rng: Generator, rows: int, sizes: Index, batches: int) -> tuple[Index, Index]:
    """The rows of so many batches one after the other, and where each starts and the last ends."""
    lengths = rng.choice(sizes, batches)
    chosen = [rng.permutation(rows)[:length] for length in lengths.tolist()]
    return np.concatenate(chosen), np.concatenate([[0], np.cumsum(lengths)])


def _sizes(sizes: Any, rows: int) -> Index:
    try:
        given = np.atleast_1d(np.asarray(sizes))
    except ValueError:  # rows of unequal length
        given = np.empty(0)
    if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iu":
        raise ParameterError(f"sizes must be whole numbers, got {sizes!r}")
    if given.min() < 1 or given.max() > rows:
        raise ParameterError(
            f"the size of a batch is between 1 and the number of rows, {rows}; got {sizes!r}"
        )
    return given.astype(np.int64)
