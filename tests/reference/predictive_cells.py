"""Several centres, a measured curvature and a tested memory, as sums over all answers.

The rules are those of docs/mathematics.md, 13.7. Nothing is carried on from round to round: every
sum is taken anew over the whole history, averages as weighted sums, a regression from deviations.
Come from outside: the rates, how large surprises are (V, c, c*), what is learnt of a surprise, and
the direction that was drawn, as its root of H is the learner's own affair.

Units as in `reference.predictive`. Cell 0 learns from every answer. With contexts there is one more
for each feature, which learns from an answer by the feature's weight, its share.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, sqrt

import numpy as np

from reference.predictive import Array, Barrier, least_on_path, newton

WINDOWS = (64, 256, 1024)


def after(factors: Sequence[float] | Array) -> Array:
    """Of every factor, the product of those after it."""
    reversed_ = np.append(1.0, np.asarray(factors, dtype=np.float64)[:0:-1])
    return np.asarray(np.cumprod(reversed_)[::-1]) if len(factors) else np.zeros(0)


@dataclass(frozen=True)
class Asked:
    """A query: its context, centre, ellipsoid and displacement."""

    shares: Array
    center: Array
    metric: Array
    shift: float
    z: Array
    reach: float

    @cached_property
    def trace(self) -> float:
        return float(np.trace(np.linalg.inv(self.metric)))

    @cached_property
    def slope(self) -> Array:
        """d H z by the reach: the estimate for a surprise of 1."""
        return self.z.size / self.reach * (self.metric @ self.z)


@dataclass(frozen=True)
class Told:
    """An answer that is learnt from, and the sizes before and after it."""

    query: Asked
    surprise: float
    learnt: float
    sigma: float
    smoothness: float
    curved: float
    noise: float
    typical: float
    direction: Array
    above: bool  # in the first rounds, the surprise was more than the level

    @cached_property
    def g(self) -> Array:
        return self.learnt * self.query.slope


@dataclass
class Cell:
    """What one centre has learnt."""

    center: Array
    rate: float
    rounds: float
    began: float

    def __post_init__(self) -> None:
        self.told: list[Told] = []
        self.shares: list[float] = []
        self.believed: list[float] = []
        self.lams: list[float] = []
        self.keeps: list[float] = []
        self.errors: list[float] = []
        self.steps: list[Array] = []
        self.alarms: list[tuple[int, float, Array]] = []
        self.fades: list[float] = []
        self.sums = (0.0, 0.0, 0.0)
        self.home = self.center.copy()
        self.slope = np.zeros_like(self.center)
        self.evidence = 0.0

    @property
    def bends(self) -> Array:
        """sigma + believed + lambda of every answer, by its share."""
        told = np.array([a.sigma for a in self.told])
        return np.array(self.shares) * (told + np.array(self.believed) + np.array(self.lams))


class CellsReference:
    """One run: `ask` and `tell` replay what somebody else played."""

    def __init__(
        self,
        psi: Barrier,
        dim: int,
        start: Array,
        cells: int,
        adaptive: bool,
        keep: float,
    ) -> None:
        self.psi, self.dim, self.start = psi, dim, start
        self.adaptive, self.keep = adaptive, keep
        self.cells = [Cell(start.copy(), 1.0, 0.0, 0.0) for _ in range(cells)]
        self.booked: list[tuple[Asked, float, float]] = []

    def begin(self, rates: list[float], rounds: int) -> None:
        """The size of losses is known, after so many answers."""
        for i, (cell, rate) in enumerate(zip(self.cells, rates, strict=True)):
            cell.rate = rate
            cell.rounds = cell.began = float(rounds) if i == 0 else 0.0

    # What is played

    def stiffness(self, cell: Cell) -> float:
        """S: a memory leaves so much of what each answer brought, and so do alarms."""
        left = after(cell.fades)
        for until, kept, _ in cell.alarms:
            left[:until] *= kept
        return float(left @ cell.bends)

    def own_share(self, c: int) -> float:
        """How far a feature's centre is free to leave the common one."""
        evidence = max(self.cells[c].evidence, self.cells[0].evidence)
        return 1.0 - evidence**-3.0 if evidence > 1 else 0.0

    def played(self, shares: Array) -> tuple[Array, float]:
        """The centre in a context, and eta S."""
        common = self.cells[0]
        wide = 1 / (1e-100 + common.rate * self.stiffness(common))
        if len(self.cells) == 1:
            return common.center, common.rate * self.stiffness(common)
        center, squares = np.zeros(self.dim), 0.0
        for c in np.flatnonzero(shares[1:]) + 1:
            cell, own = self.cells[c], self.own_share(c) / 2
            center += shares[c] * self.held_minimiser(c)
            reach = 1 / (1e-100 + cell.rate * self.stiffness(cell))
            squares += shares[c] * (own * reach + (1 - own) * wide)
        return center, 1.0 / squares

    def ask(self, shares: Array, point: Array, reach: float) -> Asked:
        center, shift = self.played(shares)
        metric = self.psi.hessian(center) + shift * np.eye(self.dim)
        z = (point - center) / reach
        assert abs(z @ metric @ z - 1) <= 1e-7, f"z'Hz = {z @ metric @ z}"
        return Asked(shares, center.copy(), metric, shift, z, reach)

    # What is learnt

    def book(self, query: Asked, surprise: float, sigma: float) -> None:
        """What an answer says in the certificate, learnt from or not."""
        between = len(self.cells) > 1 and bool(((query.shares > 0) & (query.shares < 1)).any())
        self.booked.append((query, surprise, 0.0 if between else sigma))

    def tell(self, answer: Told, rates: list[float]) -> None:
        common, before = self.cells[0], self.cells[0].center
        shares = answer.query.shares
        for cell, share in zip(self.cells, shares, strict=True):
            if share > 0:
                self.learn(cell, float(share), answer)
        if len(self.cells) > 1:
            self.compare(shares)
        common.rate = rates[0]
        common.center = self.minimiser(common)
        if self.adaptive:
            self.test_memory(common, common.center - before, answer)
        for c in np.flatnonzero(shares[1:]) + 1:
            cell = self.cells[c]
            away = cell.center - cell.home
            cell.rate = rates[c]
            cell.center, cell.home = self.held_minimiser(c), common.center
            if self.adaptive:
                self.test_memory(cell, cell.center - cell.home - away, answer)

    def learn(self, cell: Cell, share: float, answer: Told) -> None:
        """Belief, lambda and the count, from what was before."""
        total = self.keep**share * self.stiffness(cell)
        cell.keeps.append(1.0 - share / (500.0 + cell.rounds))
        cell.fades.append(self.keep**share)
        cell.told.append(answer)
        cell.shares.append(share)
        believed = self.measured_curvature(cell) if self.adaptive else 0.0
        if self.adaptive and answer.above and cell is self.cells[0]:
            believed = max(believed, self.least_curvature(cell, total, answer.query))
        cell.believed.append(believed)
        cell.lams.append(self.regularisation(cell, total, answer, believed))
        cell.rounds += share

    def regularisation(self, cell: Cell, total: float, answer: Told, believed: float) -> float:
        """The positive root of lambda (S + sigma + lambda) = 2 k a S."""
        d, tau = self.dim, answer.query.trace * answer.query.reach**2
        total = total if total > 0 else d / (cell.rate * tau)
        price = answer.smoothness * (d + 1) / (d + 2) * tau / d
        curved = answer.sigma + believed
        roots = np.roots([1.0, total + curved, -2.0 * answer.curved * price * total])
        return float(max(roots.real))

    def measured_curvature(self, cell: Cell) -> float:
        """The regression of the estimates on the points, both less their weighted means.

        For a feature: of all features together, each with means of its own.
        """
        cell.sums = self.deviations(cell)
        every = [cell] if cell is self.cells[0] else self.cells[1:]
        rise, spread, variance = np.sum([each.sums for each in every], axis=0)
        if not (rise > 0 and spread > 0) or rise**2 <= 9 * variance:
            return 0.0
        slope = float(0.5 * rise / spread * (1 - 9 * variance / rise**2))
        return min(slope, 0.25 * cell.told[-1].smoothness)

    def least_curvature(self, cell: Cell, total: float, query: Asked) -> float:
        """So much more makes eta S three times the barrier's curvature: half-way out."""
        return 3 * (self.dim / query.trace - query.shift) / cell.rate - total

    def deviations(self, cell: Cell) -> tuple[float, float, float]:
        """Sums over a cell: of g.y and of y.y, both less the means, and of the squared errors."""
        weights = np.array(cell.shares) * after(cell.keeps)
        y = np.array([a.query.center for a in cell.told])
        g = np.array([a.g for a in cell.told])
        middle = weights @ y / weights.sum()
        cell.errors.append(float(g[-1] @ (y[-1] - middle)) ** 2)
        rise = float(weights @ (g * (y - middle)).sum(axis=1))
        spread = float(weights @ ((y - middle) ** 2).sum(axis=1))
        return rise, spread, float(weights @ np.array(cell.errors))

    def models(self, cell: Cell) -> Array:
        """The linear term of what was learnt, with the stiffness that alarms have taken away."""
        if not cell.told:
            return np.zeros(self.dim)
        bends = np.array([a.sigma for a in cell.told]) + np.array(cell.believed)
        g = np.array([a.g for a in cell.told])
        y = np.array([a.query.center for a in cell.told])
        linear = (after(cell.fades) * cell.shares) @ (g - bends[:, None] * y)
        return np.asarray(linear + sum((pull for _, _, pull in cell.alarms), np.zeros(self.dim)))

    def minimiser(self, cell: Cell) -> Array:
        """Of the models, with a barrier that is least at the start."""
        linear = cell.rate * self.models(cell) - self.psi.gradient(self.start)
        return newton(self.psi, linear, cell.rate * self.stiffness(cell), cell.center)

    def held_minimiser(self, c: int) -> Array:
        """Of a feature's models and of what holds it, with a barrier least at the common centre."""
        cell, common, own = self.cells[c], self.cells[0].center, self.own_share(c)
        stiffness = cell.rate * self.stiffness(cell)
        linear = own * cell.rate * self.models(cell) - (1 - own) * stiffness * common
        return newton(self.psi, linear - self.psi.gradient(common), stiffness, cell.center)

    def test_memory(self, cell: Cell, step: Array, answer: Told) -> None:
        """Whether averages of the steps, in units of noise, are too large for chance."""
        query, d, held = answer.query, self.dim, self.stiffness(cell)
        stiff = d / query.trace - query.shift + cell.rate * held
        cell.steps.append(step * sqrt(stiff / (d * answer.noise)) / cell.rate)
        ages, left = np.arange(len(cell.steps) - 1, -1, -1), 1.0
        for window in WINDOWS:
            weights = sqrt((2 - 1 / window) / window) * (1 - 1 / window) ** ages
            path = weights @ np.array(cell.steps)
            x = 1.5 + log(max(cell.rounds / window, 1.0))
            loud = path @ path > d + 2 * sqrt(d * x) + 2 * x
            if loud and left * cell.rounds > 3 * window:
                left = min(left, max(0.5, 3 * window / cell.rounds))
        if left < 1:
            pull = (1 - left) * held * cell.center
            cell.alarms.append((len(cell.told), left, pull))
            cell.rounds *= left

    def compare(self, shares: Array) -> None:
        """Do the slopes of features' models at the common centre differ more than by chance?

        An analysis of variance. The slope of a feature is as of its own last answer.
        """
        d, common = self.dim, self.cells[0].center
        for c in np.flatnonzero(shares[1:]) + 1:
            self.cells[c].slope = self.slope_at(self.cells[c], common)
        present = [c for c in range(1, len(self.cells)) if self.cells[c].told]
        seen = [self.cells[c] for c in present]
        counts, noises = np.array([self.weight_and_noise(cell) for cell in seen]).T
        slopes = np.array([cell.slope for cell in seen])
        total, count = slopes.sum(axis=0), counts.sum()
        if len(seen) < 2 or not noises.sum() > 0 or count < 2 * len(seen):
            return
        between = float((slopes**2).sum(axis=1) @ (1 / counts) - total @ total / count)
        within = (len(seen) - 1) * noises.sum() / count
        self.cells[0].evidence = between / within / (1 + sqrt(2 / (d * (len(seen) - 1))))
        for c, n, own_noise in zip(present, counts, noises, strict=True):
            if shares[c] > 0 and n >= 2:
                away = self.cells[c].slope - n / count * total
                noise = max(own_noise, n / count * noises.sum())
                self.cells[c].evidence = float(away @ away) / noise / (1 + 3 * sqrt(2 / d))

    def slope_at(self, cell: Cell, point: Array) -> Array:
        """Of the models without what regularises them."""
        lams = after(cell.fades) * cell.shares * np.array(cell.lams)
        for until, kept, _ in cell.alarms:
            lams[:until] *= kept
        return self.models(cell) + (self.stiffness(cell) - lams.sum()) * point

    def weight_and_noise(self, cell: Cell) -> tuple[float, float]:
        """The number of answers and the sum of their squared estimates, as far as remembered."""
        left, shares = after(cell.fades) ** 2, np.array(cell.shares)
        squares = np.array([a.g @ a.g for a in cell.told])
        return float(left @ shares), float((left * shares**2) @ squares)

    # The certificate

    def certificate(self, smoothness: float, weights: Array) -> float:
        """C_T, for weights of the answers as they were booked."""
        d, total = self.dim, 0.0
        first = 0 if len(self.cells) == 1 else 1
        linear = np.zeros((len(self.cells), d))
        bends = np.zeros(len(self.cells))
        for weight, (query, surprise, sigma) in zip(weights, self.booked, strict=True):
            tau, y, g = query.trace * query.reach**2, query.center, surprise * query.slope
            price = smoothness / 2 * (tau / d + tau / (d + 2)) - sigma / 2 * tau / (d + 2)
            total += weight * (price + float(g @ y) - sigma / 2 * float(y @ y))
            linear += weight * np.outer(query.shares, g - sigma * y)
            bends += weight * sigma * query.shares
        return total - sum(
            least_of(self.psi, linear[c], float(bends[c])) for c in range(first, len(self.cells))
        )


def least_of(psi: Barrier, linear: Array, bend: float) -> float:
    """The least of linear.u + bend/2 |u|^2 on the set."""
    if bend == 0:
        return -psi.support(-linear)
    u = least_on_path(psi, linear, bend, 1e-12 / psi.nu)
    return float(linear @ u + bend / 2 * (u @ u))
