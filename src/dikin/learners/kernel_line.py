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
most 2 (ln N/eta_T + (V/2) sum_t eta_t) <= 4 sqrt(T V ln N), and by 4.25 (b - a) L sqrt(T) more for
the grid and the floor eps where losses are L-Lipschitz (docs/mathematics.md); no constant of theirs
is used. One rate sqrt(2 ln N/(T V)) for all rounds has a bound smaller by sqrt(2) and, where losses
are kinder than the bound, learns more slowly. A round costs O(N) = O(sqrt T).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, erfc, exp, log, sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.domains.base import Array, Domain
from dikin.errors import DomainError, ParameterError
from dikin.kernel import compiled
from dikin.learners.chart import ChartLearner
from dikin.learners.player import Aimed, Machine, Memory, Scratch
from dikin.units import LossRange, planned

LONGEST = 10**12
"""A horizon beyond which the grid has more than two million points."""


class Grid(NamedTuple):
    """What the horizon and the interval [low, high] fix."""

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


@compiled
def uniform(normal: float) -> float:
    """A uniform number in (0, 1) from a standard normal one."""
    return 0.5 * erfc(-normal / sqrt(2.0))


@compiled
def flat_density(mean: float, grid: Grid) -> float:
    """K near the mean: one over the length of [mu - eps, mu + eps] in [a, b]."""
    return 1.0 / (min(mean + grid.floor, grid.high) - max(mean - grid.floor, grid.low))


@compiled
def drawn_step(offset: float, mean: float, share: float, grid: Grid) -> float:
    """The point at a share of the way to x_i = mean + offset, or of the flat piece: less the mean.

    A step is never longer than the offset, whatever is rounded: y then always has a density.
    """
    if abs(offset) >= grid.floor:
        return share * offset
    low, high = max(-grid.floor, grid.low - mean), min(grid.floor, grid.high - mean)
    return low + share * (high - low)


class Stab(NamedTuple):
    """What the learner remembers of a query: the point mu + step, and how likely it was."""

    mean: float
    step: float
    density: float
    """sum_i p_i K(y; x_i)."""


class LineKernel(NamedTuple):
    """The chart of a line, for the compiled loop: all that is needed of the domain."""

    line: Array
    """The chart's unit vector in the user's coordinates."""
    size: int = 1
    states: int = 1
    works: int = 1

    def outward(self, u: Array, center: Array, radius: float, x: Array) -> None:
        for i in range(x.size):
            x[i] = center[i] + radius * (u[0] * self.line[i])


class LinePlayer(NamedTuple):
    """The learner for the compiled loop; numbers = sums, linear = weights, state = eta."""

    kernel: Any
    grid: Grid
    points: Array

    def ask(self, memory: Memory, scratch: Scratch) -> Aimed:
        """The mean, the step and the density of a `Stab`."""
        points, weights, grid = self.points, memory.linear, self.grid
        mean = weigh(memory.numbers, memory.state[0], points, weights)
        total = 0.0
        for j in range(points.size):
            total += weights[j]
        chance, i, end = uniform(scratch.noise[0]) * total, 0, weights[0]
        while end < chance:  # the last end is the total, to the last bit
            i += 1
            end += weights[i]
        share = min(max(1.0 - (end - chance) / weights[i], 0.0), 1.0)
        step = drawn_step(points[i] - mean, mean, share, grid)
        flat, density = flat_density(mean, grid), 0.0
        for j in range(points.size):
            density += weights[j] * segment_density(points[j] - mean, step, grid.floor, flat)
        scratch.u[0] = mean + step
        return mean, step, density

    def tell(
        self,
        round: int,
        aimed: Aimed,
        loss: float,
        curvature: float,
        memory: Memory,
        scratch: Scratch,
    ) -> None:
        points, grid, (mean, step, density) = self.points, self.grid, aimed
        estimate, flat = 0.5 * (1.0 + loss) / density, flat_density(mean, grid)
        for j in range(points.size):
            kernel = segment_density(points[j] - mean, step, grid.floor, flat)
            memory.numbers[j] += estimate * kernel
        memory.state[0] = grid.pace / sqrt(round + 1)


@compiled
def weigh(sums: Array, eta: float, points: Array, weights: Array) -> float:
    """Write the weights of the sums; gives the mean."""
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


@compiled
def segment_density(offset: float, step: float, floor: float, flat: float) -> float:
    """K(y; x) from x - mu and y - mu."""
    far = abs(offset)
    if far < floor:
        return flat if abs(step) <= floor else 0.0
    return 1.0 / far if offset * step >= 0.0 and far >= abs(step) else 0.0


class KernelLine(ChartLearner):
    """Learner for convex losses on an interval, or any other domain of dimension one.

    Nothing is asked of the losses but their range; curvature is not used.

    >>> from dikin import Box
    >>> learner = KernelLine(Box([0], [4]), horizon=1000, loss_range=(0, 1), seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    >>> learner.rounds
    1
    """

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
        self.horizon = planned(horizon, 2, "the grid depends on it")
        if self.horizon > LONGEST:
            raise ParameterError(
                f"horizon={self.horizon} needs a grid of {2 * self.horizon**0.5:.1g} points, and "
                f"as many steps a round; at most {LONGEST:.0e} rounds can be planned for"
            )
        radius = np.array([self.units.radius])
        low, high = -1.0 / domain.gauge(-radius), 1.0 / domain.gauge(radius)
        self._grid = Grid.of(low, high, self.horizon)
        self._points = self._grid.points()
        self._weigh(np.zeros(self._grid.size))

    def _weigh(self, sums: Array) -> None:
        """Take over the sums of the estimates; the weights are those of the next round."""
        self._sums = sums
        weights = np.exp(-self._eta() * (sums - sums.min()))
        self._weights: Array = weights / weights.sum()
        self._mean = float(self._weights @ self._points)

    def _eta(self) -> float:
        return self._grid.pace / sqrt(self._rounds_in_range + 1)

    @property
    def center(self) -> Array:
        """Mu in the user's units."""
        return self._at(np.array([self._mean]))

    def _propose(self) -> tuple[Array, float, Stab]:
        """One uniform number draws both: what is left of it once i is known is uniform again."""
        ends = self._weights.cumsum()
        chance = uniform(float(self._noise.draw()[0])) * float(ends[-1])
        i = int(ends.searchsorted(chance))
        share = 1.0 - (float(ends[i]) - chance) / float(self._weights[i])
        offset = float(self._points[i]) - self._mean
        step = drawn_step(offset, self._mean, min(max(share, 0.0), 1.0), self._grid)
        density = float(self._weights @ self._kernel(self._mean, step))
        memo = Stab(self._mean, step, density)
        return *self._vector(memo), memo

    def _kernel(self, mean: float, step: float) -> Array:
        """K(mean + step; x_j) for every j."""
        floor, offset = self._grid.floor, self._points - mean
        far = np.abs(offset)
        flat = flat_density(mean, self._grid) if abs(step) <= floor else 0.0
        between = (offset * step >= 0.0) & (far >= abs(step))
        return np.where(far < floor, flat, between / np.maximum(far, floor))

    def _vector(self, memo: Stab) -> tuple[Array, float]:
        u = np.array([memo.mean + memo.step])
        return u, float(u[0] * u[0])

    def _learn(self, memo: Stab, loss: float, curvature: float) -> None:
        estimate = 0.5 * (1.0 + loss) / memo.density
        self._rounds_in_range += 1
        self._weigh(self._sums + estimate * self._kernel(memo.mean, memo.step))

    def machine(self) -> Machine | None:
        if self._open:
            return None
        line = self.domain.outward(np.ones(1)).ravel()
        memory = Memory(self._sums.copy(), np.zeros(self._grid.size), np.array([self._eta()]))
        player = LinePlayer(LineKernel(line), self._grid, self._points)
        return Machine(player, memory, self._noise.generator())

    def adopt(self, machine: Machine, rounds: int) -> None:
        self._rounds_in_range += rounds
        self._next += rounds
        self._weigh(machine.memory.numbers.copy())

    def arguments(self) -> dict[str, Any]:
        return {"horizon": self.horizon, "loss_range": self.loss_range}

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 1000, seed=seed)
        yield cls(domain, 50, loss_range=(3, 11), seed=seed)

    def _numbers(self) -> dict[str, Any]:
        return {"sums": self._sums}

    def _set_numbers(self, numbers: dict[str, Any]) -> None:
        self._weigh(numbers["sums"])

    def _memo_state(self, memo: Stab) -> tuple[Any, ...]:
        return tuple(memo)

    def _memo_from(self, state: tuple[Any, ...]) -> Stab:
        return Stab(*state)
