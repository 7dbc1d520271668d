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
OWN_WINDOW = 64


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
        self.apart: list[Array] = []
        self.scaled_so_far: list[Array] = []
        self.shares: list[Array] = []

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
        beyond = max(self.cells[c].evidence - 1.5, 0.0)
        return beyond / (2.0 + beyond)

    def parts(self, shares: Array) -> Array:
        """How much every centre counts in a context."""
        own = np.array([self.own_share(c) for c in range(1, len(self.cells))]) * shares[1:]
        return np.concatenate([[1.0 - own.sum()], own])

    def played(self, shares: Array) -> tuple[Array, float]:
        """The centre in a context, and eta S."""
        if len(self.cells) == 1:
            cell = self.cells[0]
            return cell.center, cell.rate * self.stiffness(cell)
        parts = self.parts(shares)
        center = sum(part * cell.center for part, cell in zip(parts, self.cells, strict=True))
        wide = sum(
            part / (1e-100 + cell.rate * self.stiffness(cell)) if part > 0 else 0.0
            for part, cell in zip(parts, self.cells, strict=True)
        )
        return np.asarray(center), 1.0 / wide

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
        shares = answer.query.shares
        if len(self.cells) > 1:
            self.compare(answer)
        before = [cell.center for cell in self.cells]
        for i, (cell, share) in enumerate(zip(self.cells, shares, strict=True)):
            if share > 0:
                self.learn(cell, float(share), answer)
                cell.rate = rates[i]
                cell.center = self.minimiser(cell)
                if self.adaptive:
                    self.test_memory(cell, before[i], answer)

    def learn(self, cell: Cell, share: float, answer: Told) -> None:
        """Belief, lambda and the count, from what was before."""
        total = self.keep**share * self.stiffness(cell)
        cell.keeps.append(1.0 - share / (500.0 + cell.rounds))
        cell.fades.append(self.keep**share)
        cell.told.append(answer)
        cell.shares.append(share)
        believed = self.measured_curvature(cell) if self.adaptive else 0.0
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
        """The regression of the estimates on the points, both less their weighted means."""
        weights = np.array(cell.shares) * after(cell.keeps)
        y = np.array([a.query.center for a in cell.told])
        g = np.array([a.g for a in cell.told])
        middle = weights @ y / weights.sum()
        cell.errors.append(float(g[-1] @ (y[-1] - middle)) ** 2)
        rise = float(weights @ (g * (y - middle)).sum(axis=1))
        spread = float(weights @ ((y - middle) ** 2).sum(axis=1))
        variance = float(weights @ np.array(cell.errors))
        if not (rise > 0 and spread > 0) or rise**2 <= 9 * variance:
            return 0.0
        slope = 0.5 * rise / spread * (1 - 9 * variance / rise**2)
        return min(slope, 0.25 * cell.told[-1].smoothness)

    def minimiser(self, cell: Cell) -> Array:
        """Of the models, with the stiffness that alarms have left around where they came."""
        bends = np.array([a.sigma for a in cell.told]) + np.array(cell.believed)
        g = np.array([a.g for a in cell.told])
        y = np.array([a.query.center for a in cell.told])
        linear = (after(cell.fades) * cell.shares) @ (g - bends[:, None] * y)
        linear = linear - self.psi.gradient(self.start) / cell.rate
        linear = linear + sum((pull for _, _, pull in cell.alarms), np.zeros(self.dim))
        return newton(self.psi, cell.rate * linear, cell.rate * self.stiffness(cell), cell.center)

    def test_memory(self, cell: Cell, before: Array, answer: Told) -> None:
        """Whether averages of the steps, in units of noise, are too large for chance."""
        query, d, held = answer.query, self.dim, self.stiffness(cell)
        stiff = d / query.trace - query.shift + cell.rate * held
        cell.steps.append((cell.center - before) * sqrt(stiff / (d * answer.noise)) / cell.rate)
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

    def compare(self, answer: Told) -> None:
        """Do the estimates of a feature differ from those of all?"""
        self.apart.append(self.scaled(answer) - self.common_mean())
        self.scaled_so_far.append(self.scaled(answer))
        self.shares.append(answer.query.shares)
        for c in np.flatnonzero(answer.query.shares[1:] > 0) + 1:
            shares = np.array(self.shares)[:, c]
            counts = np.minimum(np.cumsum(shares), OWN_WINDOW)
            steps = np.divide(shares, counts, out=np.zeros_like(shares), where=shares > 0)
            own = (steps * after(1 - steps)) @ np.array(self.apart)
            if counts[-1] >= 4:
                found = float(counts[-1] * (own @ own)) / self.dim
                self.cells[c].evidence = max(self.cells[c].evidence, found)

    def scaled(self, answer: Told) -> Array:
        """The estimate in units of noise, without its ellipsoid."""
        return sqrt(self.dim) * answer.learnt / answer.typical * answer.direction

    def common_mean(self) -> Array | float:
        """The mean over all contexts so far; what was measured first counts as nothing."""
        if not self.scaled_so_far:
            return 0.0
        counts = np.arange(1, len(self.scaled_so_far) + 1) + self.cells[0].began
        steps = 1.0 / np.minimum(counts, OWN_WINDOW)
        return np.asarray((steps * after(1 - steps)) @ np.array(self.scaled_so_far))

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
