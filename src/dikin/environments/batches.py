"""Losses from data: every round a batch of rows, and the mean loss of a linear prediction on it.

    f_t(x) = (1/|I_t|) sum_{i in I_t} g(c_i.x, y_i),      rows (c_i, y_i), batch I_t,

for the squared loss g(z, y) = (z - y)^2/2 or the logistic one, ln(1 + exp(-y z)) with y = -1 or 1.
The batches are drawn before the game: a random size out of `sizes`, then that many different rows.
They come in a fixed order, which is repeated when all have been played. sigma_t is computed
from the contexts of the batch (`dikin.curvature`), and is exactly 0 for a batch with fewer rows
than the domain has dimensions. How often each row has counted follows from the number of the round,
so the best fixed point is that of a weighted sum over the rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from math import exp, fsum, inf, log
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dikin.arguments import whole
from dikin.curvature.bounds import Curvature
from dikin.curvature.contexts import of_contexts
from dikin.curvature.gram import context_rows, one_per_row
from dikin.curvature.losses import Logistic, ScalarLoss, Squared
from dikin.curvature.projection import Projection
from dikin.domains.base import Array, Domain
from dikin.environments.base import Environment
from dikin.environments.hindsight import sum_minimiser
from dikin.errors import ParameterError
from dikin.kernel import reordered
from dikin.rng import Generator

Index = NDArray[np.int64]


class BatchData(NamedTuple):
    """The data of the losses."""

    contexts: Array
    targets: Array
    rows: Index
    starts: Index
    weights: Array
    sigmas: Array
    smoothnesses: Array
    slopes: Array


class BatchKernel(BatchData):
    """The losses except for their values; a subclass adds these and the scalar loss."""

    __slots__ = ()
    loss: ClassVar[ScalarLoss]

    def strong_convexity(self, round: int) -> float:
        sigma: float = self.sigmas[(round - 1) % self.sigmas.size]
        return sigma

    def constants(self, round: int) -> tuple[float, float]:
        k = (round - 1) % self.sigmas.size
        return self.smoothnesses[k], self.slopes[k]

    def accumulate(self, round: int, chance: float, sums: Array) -> None:
        """Add nothing: the number of rounds determines the best point."""

    def gradient(self, round: int, chance: float, x: Array) -> Array:
        k = (round - 1) % self.weights.size
        rows = self.rows[self.starts[k] : self.starts[k + 1]]
        contexts = self.contexts[rows]
        slopes = self.loss.derivative(contexts @ x, self.targets[rows])
        return np.asarray(self.weights[k] * slopes @ contexts)


class Batches(Environment):
    """Batches of rows; a subclass adds the kernel, and with it the scalar loss.

    Attributes
    ----------
    contexts, targets : numpy.ndarray
        The rows.
    rows, starts : numpy.ndarray of int
        The rows of all batches, one batch after the other, and where each starts.
    weights : numpy.ndarray
        The weight of one row in each batch: 1/size.
    batch_curvatures : list of Curvature
        The curvature of every batch, in the order of play.
    sigmas, smoothnesses, slopes : numpy.ndarray
        The strong convexity, the smoothness and the Lipschitz constant of every batch.
    loss : ScalarLoss
        The loss g of one prediction.
    """

    _kernel: ClassVar[Any]

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
        self.loss: ScalarLoss = self._kernel.loss
        self.contexts = np.ascontiguousarray(context_rows(contexts, domain.center.size))
        self.targets = one_per_row(targets, len(self.contexts), "targets").copy()
        self._refuse_targets(self.targets)
        chosen = _sizes(sizes, len(self.contexts))
        count = whole(batches, "batches", 1, "there is none to play otherwise")
        self.rows, self.starts = draw_batches(self._setup, len(self.contexts), chosen, count)
        self.weights = 1.0 / np.diff(self.starts)
        self.batch_curvatures = [self._curvature(k) for k in range(count)]
        self.sigmas = np.array([bounds.strong_convexity for bounds in self.batch_curvatures])
        self.smoothnesses = np.array([bounds.smoothness for bounds in self.batch_curvatures])
        self.smoothness = float(self.smoothnesses.max())
        self._bound_losses()
        self.kernel = self._kernel(
            self.contexts,
            self.targets,
            self.rows,
            self.starts,
            self.weights,
            self.sigmas,
            self.smoothnesses,
            self.slopes,
        )

    @classmethod
    def _refuse_targets(cls, targets: Array) -> None:
        """Raise an error if the loss has no meaning for the targets."""

    def batch(self, round: int) -> Index:
        """The rows that a round is about.

        Parameters
        ----------
        round : int
            As for `curvature`.

        Returns
        -------
        numpy.ndarray of int
            Indices into `contexts` and `targets`, all different.
        """
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
        projection = Projection(self.domain)
        ends = projection.prediction_range(self.contexts)
        tops = np.max([self.loss.value(z, self.targets) for z in ends], axis=0)
        slopes = np.max([abs(self.loss.derivative(z, self.targets)) for z in ends], axis=0)
        slopes = slopes * np.linalg.norm(projection.apply(self.contexts), axis=1)
        self.loss_range = (0.0, float(self._means(tops).max()))
        self.slopes = self._means(slopes)
        self.lipschitz = float(self.slopes.max())
        if not 0 < self.loss_range[1] < inf:
            raise ParameterError("contexts and targets admit only losses of 0, or unbounded ones")

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
        point = sum_minimiser(self.domain, self.contexts, self.targets, weights, self.loss, size)
        losses = self.loss.value(self.contexts @ point.ravel(), self.targets)
        return point, fsum(weights * losses)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        # Few rows with predictions of the order of one, in batches smaller and larger than d.
        rng = np.random.default_rng(seed)
        far = domain.radius + float(np.linalg.norm(domain.center))
        contexts = rng.standard_normal((2 * domain.dim + 4, domain.center.size)) * (3 / far)
        sizes = (1, domain.dim, domain.dim + 2)
        targets = cls._example_targets(rng, contexts, domain)
        yield cls(domain, contexts, targets, sizes, batches=12, seed=seed)

    @classmethod
    @abstractmethod
    def _example_targets(cls, rng: Generator, contexts: Array, domain: Domain) -> Array:
        """Targets for examples."""


def draw_batches(rng: Generator, rows: int, sizes: Index, batches: int) -> tuple[Index, Index]:
    """The rows of so many batches one after the other, and where each starts and the last ends."""
    lengths = rng.choice(sizes, batches)
    chosen = [rng.permutation(rows)[:length] for length in lengths.tolist()]
    return np.concatenate(chosen), np.concatenate([[0], np.cumsum(lengths)])


def _sizes(sizes: Any, rows: int) -> Index:
    try:
        array = np.atleast_1d(np.asarray(sizes))
    except ValueError:  # rows of unequal length
        array = np.empty(0)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        raise ParameterError(f"sizes must be whole numbers, got {sizes!r}")
    if array.min() < 1 or array.max() > rows:
        raise ParameterError(
            f"the size of a batch is between 1 and the number of rows, {rows}; got {sizes!r}"
        )
    return array.astype(np.int64)


# --- least squares -----------------------------------------------------------------------------


class SquaredKernel(BatchKernel):
    """Means of squared losses."""

    __slots__ = ()
    loss = Squared()

    def value(self, round: int, chance: float, x: Array) -> float:
        k = (round - 1) % self.weights.size
        first, last = self.starts[k], self.starts[k + 1]
        total = squared_loss_sum(self.contexts, self.targets, self.rows, first, last, x)
        loss: float = self.weights[k] * total
        return loss


@reordered
def squared_loss_sum(
    contexts: Array, targets: Array, rows: Index, first: int, last: int, x: Array
) -> float:
    """The sum of (c.x - y)^2/2 over some rows."""
    total = 0.0
    for k in range(first, last):
        i = rows[k]
        error = -targets[i]
        for j in range(x.size):
            error += contexts[i, j] * x[j]
        total += 0.5 * error * error
    return total


class SquaredBatches(Batches):
    """Least squares: every round the mean of (c_i.x - y_i)^2/2 over a batch of rows (c_i, y_i).

    Parameters
    ----------
    domain : Domain
        The set to play on.
    contexts : array_like
        A row c_i for every case, as long as a flattened point of the domain.
    targets : array_like
        A number y_i for every row, or one for all.
    sizes : array_like of int
        The sizes that a batch may have, each between 1 and the number of rows. Sizes are drawn with
        equal probability; one that is listed twice is drawn twice as often.
    batches : int, default 1000
        How many batches are drawn. Then they are repeated in the same order.
    seed : int, optional
        Fixes the batches; without one they differ every time.

    Raises
    ------
    ParameterError
        If a size does not fit the rows, or all losses are 0.
    ShapeError
        If contexts or targets have another shape.

    Examples
    --------
    >>> from dikin import Ball
    >>> contexts, targets = [[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]], [0.5, -0.5, 0.0]
    >>> game = SquaredBatches(Ball(2), contexts, targets, sizes=[1, 3], seed=1)
    >>> sorted({(len(game.batch(t)), round(game.curvature(t), 6)) for t in range(1, 100)})
    [(1, 0.0), (3, 0.565741)]
    """

    _kernel = SquaredKernel

    @classmethod
    def _example_targets(cls, rng: Generator, contexts: Array, domain: Domain) -> Array:
        middle, half = contexts @ domain.center.ravel(), np.linalg.norm(contexts, axis=1)
        return np.asarray(middle + rng.uniform(-2, 2, middle.size) * half * domain.radius)


# --- logistic regression -----------------------------------------------------------------------


class LogisticKernel(BatchKernel):
    """Means of logistic losses."""

    __slots__ = ()
    loss = Logistic()

    def value(self, round: int, chance: float, x: Array) -> float:
        k = (round - 1) % self.weights.size
        first, last = self.starts[k], self.starts[k + 1]
        total = logistic_loss_sum(self.contexts, self.targets, self.rows, first, last, x)
        loss: float = self.weights[k] * total
        return loss


@reordered
def logistic_loss_sum(
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


class LogisticBatches(Batches):
    """Logistic regression: every round the mean of ln(1 + exp(-y_i c_i.x)) over a batch of rows.

    Parameters
    ----------
    domain, contexts, sizes, batches, seed
        As for `SquaredBatches`.
    targets : array_like
        A label y_i for every row, -1 or 1; or one for all.

    Raises
    ------
    ParameterError
        If a size does not fit the rows, or a label is neither -1 nor 1.
    ShapeError
        If contexts or targets have another shape.

    Examples
    --------
    >>> from dikin import Ball
    >>> contexts, labels = [[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]], [1, -1, 1]
    >>> game = LogisticBatches(Ball(2), contexts, labels, sizes=[1, 3], seed=1)
    >>> sorted({(len(game.batch(t)), round(game.curvature(t), 6)) for t in range(1, 100)})
    [(1, 0.0), (3, 0.090894)]
    """

    _kernel = LogisticKernel

    @classmethod
    def _refuse_targets(cls, targets: Array) -> None:
        if not np.isin(targets, (-1.0, 1.0)).all():
            odd = targets[~np.isin(targets, (-1.0, 1.0))][0]
            raise ParameterError(f"the labels of a logistic loss are -1 and 1, got {odd:g}")

    @classmethod
    def _example_targets(cls, rng: Generator, contexts: Array, domain: Domain) -> Array:
        return rng.choice([-1.0, 1.0], len(contexts))
