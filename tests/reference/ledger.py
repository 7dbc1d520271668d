"""A second account of a run of `Predictive`: running sums, and the certificate telescoped.

The transcription keeps every answer and minimises. Here the state is G and S, and the models'
surplus is added up answer by answer. With Phi_k the objective before answer k, y_k its minimiser,
w the centre of the query, and g' = g + sigma (y_k - w) the slope of l at y_k,

    Phi_{k+1} = gamma Phi_k + l + (lambda/2)|x|^2 + (1/eta_{k+1} - gamma/eta_k) psi_0,
    Phi_k(x)  = Phi_k(y_k) + D_k(x, y_k),    D_k = (S_k/2)|x - y_k|^2 + D_psi(x, y_k)/eta_k,
    l(x)      = l(w) - [g.(w - y_k) - (sigma/2)|y_k - w|^2] + g'.(x - y_k) + (sigma/2)|x - y_k|^2.

At x = y_{k+1}, the sum of all l(w) less Phi_{T+1}(y_{T+1}) becomes, with weights gamma^(T-k), the
sum of

    stability   g'.(y_k - y_{k+1}) - gamma D_k(y_{k+1}, y_k) - (sigma/2)|y_{k+1} - y_k|^2
    drift       g.(w - y_k) - (sigma/2)|y_k - w|^2          zero for an answer that comes at once
    barrier     (gamma/eta_k - 1/eta_{k+1}) psi_0(y_{k+1})     signed
    pull        -(lambda/2)|y_{k+1}|^2.

D_k is computed from the barrier's own divergence: the two sides agree only if every y_k is truly
a minimiser.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import log, sqrt

import numpy as np

from reference.barriers import Array, Normalised
from reference.predictive import PredictiveReference


@dataclass(frozen=True)
class Move:
    """One answer: the centre it came to, the centre it left, and the numbers in between."""

    asked_at: Array
    before: Array
    after: Array
    g: Array
    rbar: float
    sigma: float
    lam: float
    S: float  # before the answer
    rate: float
    next_rate: float

    @property
    def on_time(self) -> bool:
        return bool((self.asked_at == self.before).all())


@dataclass(frozen=True)
class Proposal:
    key: int
    center: Array
    metric: Array
    forecast: float
    level: float
    z: Array


@dataclass
class Ledger:
    psi: Normalised
    start: Array
    gamma: float
    rate: float
    G: Array = field(init=False)
    S: float = 0.0
    moves: list[Move] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.G = np.zeros(self.psi.dim)

    def metric(self, center: Array) -> Array:
        return self.psi.hessian(center) + self.rate * self.S * np.eye(self.psi.dim)

    def slope(self, x: Array) -> Array:
        """eta times the gradient of Phi, from the running sums."""
        start = self.psi.gradient(self.start)
        return self.rate * (self.G + self.S * x) + self.psi.gradient(x) - start

    def book(
        self,
        asked: Proposal,
        answer: tuple[float, float, float, float],
        before: Array,
        after: Array,
    ) -> None:
        loss, sigma, lam, next_rate = answer
        rbar = float(np.clip(loss - asked.forecast, -asked.level, asked.level))
        g = self.psi.dim * rbar * (asked.metric @ asked.z)
        self.moves.append(
            Move(asked.center, before, after, g, rbar, sigma, lam, self.S, self.rate, next_rate)
        )
        self.G = self.gamma * self.G + g - sigma * asked.center
        self.S = self.gamma * self.S + sigma + lam
        self.rate = next_rate

    def divergence(self, x: Array, y: Array) -> float:
        """D_psi(x, y)."""
        return float(self.psi.value(x) - self.psi.value(y) - self.psi.gradient(y) @ (x - y))

    def stability(self, move: Move) -> float:
        step = move.after - move.before
        slope = move.g + move.sigma * (move.before - move.asked_at)
        square = float(step @ step)
        growth = move.S / 2 * square + self.divergence(move.after, move.before) / move.rate
        return float(-slope @ step) - self.gamma * growth - move.sigma / 2 * square

    def stability_bound(self, move: Move) -> float:
        """(gamma/eta) omega*(eta d |rbar|/gamma), for an answer on time."""
        s = move.rate * self.psi.dim * abs(move.rbar) / self.gamma
        return self.gamma * (-s - log(1 - s)) / move.rate

    def drift(self, move: Move) -> float:
        away = move.asked_at - move.before
        return float(move.g @ away - move.sigma / 2 * (away @ away))

    def barrier_sum(self, move: Move) -> float:
        weight = self.gamma / move.rate - 1 / move.next_rate
        return weight * self.divergence(move.after, self.start)

    def pull(self, move: Move) -> float:
        return float(-move.lam / 2 * (move.after @ move.after))

    def surplus(self) -> float:
        total = 0.0
        for move in self.moves:
            total *= self.gamma
            total += self.stability(move) + self.drift(move)
            total += self.barrier_sum(move) + self.pull(move)
        return total

    def gain(self, v: Array) -> float:
        """sum l(w) - l(v), w the centre of the query."""
        total = 0.0
        for weight, move in self.weighted():
            away = v - move.asked_at
            total -= weight * float(move.g @ away + move.sigma / 2 * (away @ away))
        return total

    def weighted(self) -> Iterator[tuple[float, Move]]:
        """Every answer with its weight gamma^(T-k), the last first."""
        weight = 1.0
        for move in reversed(self.moves):
            yield weight, move
            weight *= self.gamma


def on_ellipsoid(metric: Array, s: Array) -> Array:
    """z with z'Hz = 1 in the direction C^-T s, H = CC' the Cholesky factors."""
    return np.asarray(np.linalg.solve(np.linalg.cholesky(metric).T, s / np.linalg.norm(s)))


def random_answer(rng: np.random.Generator, dim: int) -> tuple[float, float, float, float]:
    """Loss, sigma, lambda and a rate, which has eta d c < 1 for c <= 2 and may rise."""
    sigma, lam = (float(rng.choice([0.0, rng.uniform(0, 2)])) for _ in range(2))
    return float(rng.uniform(-1, 1)), sigma, lam, float(rng.uniform(0.05, 0.4)) / dim


def inside(psi: Normalised, rng: np.random.Generator) -> Array:
    """A point off the centre, by two steps in Dikin's ellipsoid."""
    u = np.zeros(psi.dim)
    for _ in range(2):
        direction = rng.normal(size=psi.dim)
        u = u + 0.6 * direction / sqrt(direction @ psi.hessian(u) @ direction)
    return u


def replay(
    kind: type[PredictiveReference],
    psi: Normalised,
    rng: np.random.Generator,
    *,
    answers: int = 20,
    memory: float | None = None,
    late: int = 0,
) -> tuple[PredictiveReference, Ledger]:
    """A random run from a random start; up to `late` queries stay open, answered in any order."""
    start, rate = inside(psi, rng), 0.2 / psi.dim
    reference = kind(psi, psi.dim, start, memory, rate)
    ledger = Ledger(psi, start, 1.0 if memory is None else 1 - 1 / memory, rate)
    queries: list[Proposal] = []
    while len(ledger.moves) < answers:
        center, forecast, level = reference.center, rng.uniform(-1, 1), rng.uniform(0.1, 2)
        metric = ledger.metric(center)
        z = on_ellipsoid(metric, rng.normal(size=psi.dim))
        key = reference.ask(forecast, level, z)
        queries.append(Proposal(key, center, metric, forecast, level, z))
        if len(queries) > late or rng.random() < 0.3:
            asked = queries.pop(rng.integers(len(queries)))
            answer = random_answer(rng, psi.dim)
            reference.tell(asked.key, *answer)
            ledger.book(asked, answer, center, reference.center)
    return reference, ledger
