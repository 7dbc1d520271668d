"""Exponential weights with a kernel of segments: any convex losses on a line, sqrt(T).

The kernel method of Bubeck, Eldan and Lee (JACM 2021) in dimension one, where it is practical. On a
grid x_1, ..., x_N of the interval [a, b], with weights p of mean mu = sum_i p_i x_i and losses in
[0, 1], a round is

    i ~ p,   y uniform between mu and x_i; if |x_i - mu| < eps, on [mu - eps, mu + eps] in [a, b]
    F_j = f(y) K(y; x_j)/sum_i p_i K(y; x_i),      p_j proportional to exp(-eta_t sum F_j)

with K(.; x) the density of y when x was drawn. F_j is an unbiased estimate of F(x_j), the mean of f
between mu and x_j. Convexity gives F(x*) <= (f(mu) + f(x*))/2 and f(mu) <= sum_i p_i F(x_i), so
the regret is at most twice that of the weights on F, whose variance is small:

    E sum_j p_j F_j^2 <= int dy/max(|y - mu|, eps) <= V = 2 (1 + ln((b - a)/eps)).

With eps = (b - a)/sqrt(T), N = 2 ceil(sqrt(T)) + 1 and eta_t = sqrt(ln N/(t V)) the regret is at
most 2 (ln N/eta_T + (V/2) sum_t eta_t) <= 4 sqrt(T V ln N). For L-Lipschitz losses, the grid and
the floor eps add 4.25 (b - a) L sqrt(T) (docs/mathematics.md). The constants are ours. A fixed rate
sqrt(2 ln N/(T V)) has a bound smaller by sqrt(2), but learns more slowly on losses that are easier
than the worst case. A round costs O(N) = O(sqrt T).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, erfc, exp, log, sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.domains.base import Array, Domain
from dikin.errors import DomainError, ParameterError
from dikin.kernel import choose, compilable, looped
from dikin.learners import parameters
from dikin.learners.chart import ChartLearner
from dikin.learners.kernel_learner import KernelLearner, LearnerState, Memo, Proposal
from dikin.units import LossRange
from dikin.vectors import combine

LONGEST = 10**12
"""The longest horizon: beyond it, the grid has more than two million points."""


class Grid(NamedTuple):
    """What follows from the horizon and the interval [low, high]."""

    low: float
    high: float
    size: int
    floor: float
    """eps."""
    pace: float
    """sqrt(ln N/V)."""

    @classmethod
    def of(cls, low: float, high: float, horizon: int) -> Grid:
        count = 2 * ceil(sqrt(horizon)) + 1
        variance = 2.0 * (1.0 + log(sqrt(horizon)))
        return cls(low, high, count, (high - low) / sqrt(horizon), sqrt(log(count) / variance))

    def points(self) -> Array:
        """x_1, ..., x_N."""
        return np.linspace(self.low, self.high, self.size)


@compilable
def uniform(normal: float) -> float:
    """A uniform number in (0, 1) from a standard normal one."""
    return 0.5 * erfc(-normal / sqrt(2.0))


@compilable
def flat_density(mean: float, grid: Grid) -> float:
    """K near the mean: one over the length of [mu - eps, mu + eps] in [a, b]."""
    return 1.0 / (min(mean + grid.floor, grid.high) - max(mean - grid.floor, grid.low))


@compilable
def drawn_step(offset: float, mean: float, share: float, grid: Grid) -> float:
    """The point minus the mean: at a share of the way to x_i = mean + offset, or of the flat piece.

    Rounding never makes a step longer than the offset, so that y always has a density.
    """
    if abs(offset) >= grid.floor:
        return share * offset
    low, high = max(-grid.floor, grid.low - mean), min(grid.floor, grid.high - mean)
    return low + share * (high - low)


def _weigh(sums: Array, eta: float, points: Array, weights: Array) -> float:
    least, total, mean = sums[0], 0.0, 0.0
    for j in range(sums.size):
        least = min(least, sums[j])
    for j in range(sums.size):
        weights[j] = exp(-eta * (sums[j] - least))
        total += weights[j]
    for j in range(sums.size):
        weights[j] /= total
        mean += weights[j] * points[j]
    return mean


@looped(_weigh)
def weigh(sums: Array, eta: float, points: Array, weights: Array) -> float:
    """Write the weights that belong to the sums, and return the mean of the points."""
    np.exp(-eta * (sums - sums.min()), weights)
    weights /= weights.sum()
    return float(weights.dot(points))


def _draw(weights: Array, chance: float) -> tuple[int, float]:
    total = 0.0
    for j in range(weights.size):
        total += weights[j]
    i, end = 0, weights[0]
    while end < chance * total:  # the last end is the total, to the last bit
        i += 1
        end += weights[i]
    return i, min(max(1.0 - (end - chance * total) / weights[i], 0.0), 1.0)


@looped(_draw)
def draw(weights: Array, chance: float) -> tuple[int, float]:
    """An index drawn by weight, and a uniform number in [0, 1] from the rest of the chance."""
    ends = weights.cumsum()
    target = chance * float(ends[-1])
    i = int(ends.searchsorted(target))
    return i, min(max(1.0 - (float(ends[i]) - target) / float(weights[i]), 0.0), 1.0)


@compilable
def segment_density(offset: float, step: float, floor: float, flat: float) -> float:
    """K(y; x) from x - mu and y - mu."""
    far = abs(offset)
    beyond = choose(offset * step >= 0.0, choose(far >= abs(step), 1.0, 0.0), 0.0)
    near = flat if abs(step) <= floor else 0.0
    return choose(far < floor, near, beyond / choose(far < floor, 1.0, far))


def _mixture_density(
    points: Array, weights: Array, mean: float, step: float, floor: float, flat: float
) -> float:
    density = 0.0
    for j in range(points.size):
        density += weights[j] * segment_density(points[j] - mean, step, floor, flat)
    return density


@looped(_mixture_density)
def mixture_density(
    points: Array, weights: Array, mean: float, step: float, floor: float, flat: float
) -> float:
    """The density of a point: the sum of p_i K(y; x_i)."""
    density: Array = segment_density(points - mean, step, floor, flat)  # type: ignore[arg-type, assignment]
    return float(weights.dot(density))


def _add_densities(
    points: Array, mean: float, step: float, floor: float, flat: float, factor: float, sums: Array
) -> None:
    for j in range(points.size):
        sums[j] += factor * segment_density(points[j] - mean, step, floor, flat)


@looped(_add_densities)
def add_densities(
    points: Array, mean: float, step: float, floor: float, flat: float, factor: float, sums: Array
) -> None:
    """Add factor K(y; x_j) to every sum."""
    sums += factor * segment_density(points - mean, step, floor, flat)  # type: ignore[arg-type]


class Line(NamedTuple):
    """The chart of a line, which is all that the compiled loop needs of the domain."""

    line: Array
    """The chart's unit vector in the user's coordinates."""

    @property
    def compilable(self) -> bool:
        return True

    def write_point(self, u: Array, center: Array, radius: float, x: Array) -> None:
        combine(1.0, center, radius * u[0], self.line, x)


class LineKernel(NamedTuple):
    """A round of the learner: numbers = (eta,), iterate = sums, metric = weights and density.

    The second and the third number of a proposal are the mean and the step.
    """

    geometry: Any
    grid: Grid
    points: Array

    def ask(self, state: LearnerState, s: Array, metric: Array, u: Array) -> Proposal:
        points, weights, grid = self.points, metric[: self.points.size], self.grid
        mean = weigh(state.iterate, state.numbers[0], points, weights)
        i, share = draw(weights, uniform(s[0]))
        step = drawn_step(points[i] - mean, mean, share, grid)
        flat = flat_density(mean, grid)
        metric[points.size] = mixture_density(points, weights, mean, step, grid.floor, flat)
        u[0] = mean + step
        return u[0] * u[0], mean, step

    def tell(
        self, round: int, memo: Memo, loss: float, curvature: float, state: LearnerState
    ) -> None:
        points, grid, (_, mean, step) = self.points, self.grid, memo.asked
        estimate, flat = 0.5 * (1.0 + loss) / memo.metric[points.size], flat_density(mean, grid)
        add_densities(points, mean, step, grid.floor, flat, estimate, state.iterate)
        state.numbers[0] = grid.pace / sqrt(round + 1)


class KernelLine(KernelLearner, ChartLearner):
    """Learner for convex losses on an interval, or any other domain of dimension one.

    The losses need only have a range; curvature is not used.

    Raises
    ------
    DomainError
        If the dimension of the domain is not one.
    ParameterError
        If the horizon needs a grid of more than two million points.

    Notes
    -----
    Published: a kernel that gives estimates of small variance, by Bubeck, Eldan and Lee, in any
    dimension, where it is far from practical; and a proof without an algorithm that sqrt(T) is
    possible on a line, by Bubeck, Dekel, Koren and Peres.

    Ours: the algorithm on a line with its grid, its floor eps, its rates, and the proof in
    docs/mathematics.md.

    References
    ----------
    Bubeck, Eldan, Lee: Kernel-based methods for bandit convex optimization. Journal of the ACM
    2021.
    Bubeck, Dekel, Koren, Peres: Bandit convex optimization: sqrt(T) regret in one dimension.
    COLT 2015.

    Examples
    --------
    >>> from dikin import Box
    >>> learner = KernelLine(Box([0], [4]), horizon=1000, loss_range=(0, 1), seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    >>> learner.rounds
    1
    """

    horizon = parameters.horizon(2, "the grid depends on it")

    def __init__(
        self,
        domain: Domain,
        horizon: int,
        *,
        loss_range: LossRange = (-1.0, 1.0),
        seed: int | None = None,
    ) -> None:
        super().__init__(domain, loss_range, seed)
        if domain.dim != 1:
            raise DomainError(
                f"KernelLine plays on lines, and {domain} is of dimension {domain.dim}: use "
                "BanditNewton or AdaptiveLipschitz there"
            )
        self.horizon = horizon
        if self.horizon > LONGEST:
            raise ParameterError(
                f"horizon={self.horizon} needs a grid of {2 * self.horizon**0.5:.1g} points, and "
                f"as many steps per round; the horizon may be at most {LONGEST:.0e}"
            )
        radius = np.array([self.units.radius])
        low, high = -1.0 / domain.gauge(-radius), 1.0 / domain.gauge(radius)
        self._grid = Grid.of(low, high, self.horizon)
        size, line = self._grid.size, Line(domain.outward(np.ones(1)).ravel())
        state = LearnerState([self._grid.pace], np.zeros(0), np.zeros(size))
        self._begin(LineKernel(line, self._grid, self._grid.points()), state)
        self._metric_size = size + 1

    def _center_vector(self) -> Array:
        numbers, sums = self._state.numbers, self._state.iterate
        return np.array([weigh(sums, numbers[0], self._grid.points(), np.empty(sums.size))])

    def _vector(self, memo: Memo) -> tuple[Array, float]:
        square, mean, step = memo.asked
        return np.array([mean + step]), square

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 1000, seed=seed)
        yield cls(domain, 50, loss_range=(3, 11), seed=seed)

    def _memo_state(self, memo: Memo) -> tuple[Any, ...]:
        return *memo.asked, float(memo.metric[-1])  # the sums are not needed again

    def _memo_from(self, state: tuple[Any, ...]) -> Memo:
        *proposal, density = state
        metric = np.full(self._metric_size, density)
        return Memo(
            self._state, np.empty(0), np.empty(0), metric, (proposal[0], proposal[1], proposal[2])
        )
