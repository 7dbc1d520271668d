"""A posted price, against the policies of Weaver, Kumar and Jain (Marketing Science).

"Nonparametric pricing bandits leveraging informational externalities to learn the demand curve": a
price for each batch of ten consumers, with valuations Beta(2, 9), Beta(2, 2) or Beta(9, 2). The
policies choose among 0.1, 0.2, ..., 1. Numbers are those of the authors' R package PricingBandits:
one more observation of ten sales at price 0, noise 0.25 over the count of a price, 11 knots, kernel
scales in [0.15, 1.5] and [0.1, 0.4]. Scales are chosen here on a grid by likelihood, and GP-TS-M
draws by Hamiltonian trajectories (Pakman, Paninski 2014) where the package uses other numerics.
`dikin.Tuner` has the range [0.1, 1] and the start 0.55, and gets the mean revenue of a batch.

A round costs the expected revenue below that of the best price, in per cent of the latter. The
second number is the cost of the price that would be kept.
"""

from __future__ import annotations

from itertools import product
from math import log, pi
from typing import Any

import numpy as np
from numba import njit
from scipy.stats import beta

import dikin
from evidence.games import Outcome, Task
from evidence.rivals import KEEP, TUNER, Array, Today, tuner

TITLE, GAMES, WORKERS, LEAST = "Pricing", 20, 2, 1e-2
FIRST_SEED, BATCH = 75_000, 10
ROUNDS, TRAJECTORIES = (100, 1_000), 20
DEMANDS = {"right-skewed": (2, 9), "symmetric": (2, 2), "left-skewed": (9, 2)}
PRICES, KNOTS = np.arange(1, 11) / 10, np.arange(11) / 10
SCALES = [*product((0.15, 0.3, 0.5, 0.7, 1.0, 1.5), (0.1, 0.15, 0.2, 0.3, 0.4))]
# Integrals of the hat functions of the knots, from 0 to every price.
STEPS = 0.05 * (np.tri(10, 11) + np.pad(np.tri(10), ((0, 0), (1, 0))))
UPPER = np.append(2.0, np.zeros(len(KNOTS)))
PARAMETERS = {"price": dikin.Real(0.1, 1, start=0.55)}


class Policy:
    """Thompson sampling, each price alone. Others change the scores."""

    def __init__(self, seed: int) -> None:
        self.chance = np.random.default_rng(seed)
        self.sold, self.count = np.zeros(len(PRICES)), np.zeros(len(PRICES))

    def ask(self) -> float:
        return float(PRICES[int(np.argmax(PRICES * self.demand()))])

    def tell(self, price: float, revenue: float) -> None:
        place = round(10 * price) - 1
        self.sold[place] += BATCH * revenue / price
        self.count[place] += BATCH

    def demand(self) -> Array:
        """Return the demand at every price that the next choice goes by."""
        return self.chance.beta(1 + self.sold, 1 + self.count - self.sold)

    def mean(self) -> Array:
        return (1 + self.sold) / (2 + self.count)

    @property
    def best(self) -> dict[str, float]:
        return {"price": float(PRICES[int(np.argmax(PRICES * self.mean()))])}


class UCB(Policy):
    """UCB tuned. A price that was not tried counts as one sale."""

    def demand(self) -> Array:
        count = np.maximum(self.count, 1)
        rate = np.where(self.count > 0, self.sold / count, 1.0)
        t = count.sum()
        spread = PRICES**2 * rate * (1 - rate) + np.sqrt(2 * log(t) / count)
        return np.asarray(rate + np.sqrt(log(t) / count * np.minimum(0.25, spread)))


def kernel(x: Array, y: Array, scale: float, length: float) -> Array:
    """Return the covariance of a Gaussian process at two sets of points."""
    return np.asarray(scale**2 * np.exp(-((x[:, None] - y[None]) ** 2) / (2 * length**2)))


def at_prices(x: Array, *scales: float) -> tuple[Array, Array]:
    """Return covariances of demand at every price, with data and own."""
    return kernel(x, PRICES, *scales), kernel(PRICES, PRICES, *scales)


class Process(Policy):
    """Thompson sampling from a Gaussian process (GP-TS)."""

    def ask(self) -> float:
        return super().ask() if self.count.any() else float(self.chance.choice(PRICES))

    def posterior(self, rows: Any) -> tuple[Array, Array]:
        """Return mean and covariance, from the covariances of `rows`: with data, and its own."""
        seen = self.count > 0
        x, y = np.append(0.0, PRICES[seen]), np.append(1.0, self.sold[seen] / self.count[seen])
        noise = np.diag(0.25 / np.append(BATCH, self.count[seen]))
        inner = np.array([kernel(x, x, *scales) for scales in SCALES]) + noise
        fits = np.linalg.solve(inner, np.broadcast_to(y[:, None], (len(SCALES), len(y), 1)))
        likely = -0.5 * fits[:, :, 0] @ y - 0.5 * np.linalg.slogdet(inner)[1]
        best = int(np.argmax(likely))
        cross, own = rows(x, *SCALES[best])
        return cross.T @ fits[best, :, 0], own - cross.T @ np.linalg.solve(inner[best], cross)

    def demand(self) -> Array:
        return self.chance.multivariate_normal(*self.posterior(at_prices), check_valid="ignore")

    def mean(self) -> Array:
        return self.posterior(at_prices)[0]


class ProcessUCB(Process):
    """The Gaussian process with upper confidence bounds (GP-UCB)."""

    def demand(self) -> Array:
        (mean, covariance), t = self.posterior(at_prices), self.count.sum() + BATCH
        width = 2 * log(len(PRICES) * t**2 * pi**2 / (6 * 0.1)) / 5
        return np.asarray(mean + np.sqrt(width * np.maximum(np.diag(covariance), 0.0)))


def with_slopes(x: Array, scale: float, length: float) -> tuple[Array, Array]:
    """Return covariances of the value at 0 and of the slopes at the knots, with data and own."""
    points, far = np.append(0.0, KNOTS), length**2
    apart, own = points[:, None] - points[None], kernel(points, points, scale, length)
    mixed = own[0] * apart[0] / far
    own *= 1 / far - apart**2 / far**2
    own[0], own[:, 0], own[0, 0] = mixed, mixed, scale**2
    cross = kernel(x, points, scale, length)
    cross[:, 1:] *= (x[:, None] - KNOTS[None]) / far
    return cross, own


@njit(cache=True)  # type: ignore[untyped-decorator]
def truncated(shift: Any, root: Any, z: Any, speeds: Any) -> Any:
    """Move z by exact Hamiltonian trajectories of a standard normal with root z <= shift."""
    for v in speeds:
        left, bounces = pi / 2, 0
        while bounces < 1000:
            first, wall = left, -1
            for j in range(len(shift)):
                along, at = -(root[j] * v).sum(), -(root[j] * z).sum()
                u = np.hypot(along, at)
                if u > abs(shift[j]):
                    t = (np.arccos(-shift[j] / u) - np.arctan2(-along, at)) % (2 * pi)
                    if 1e-9 < t < first:
                        first, wall = t, j
            z, v = z * np.cos(first) + v * np.sin(first), v * np.cos(first) - z * np.sin(first)
            left, bounces = left - first, bounces + 1
            if wall < 0:
                break
            v = v - 2 * (root[wall] * v).sum() / (root[wall] ** 2).sum() * root[wall]
    return z


class Falling(Process):
    """Thompson sampling from Gaussian demand curves that fall (GP-TS-M)."""

    draw = np.append(1.0, -np.ones(len(KNOTS)))

    def demand(self) -> Array:
        mean, covariance = self.posterior(with_slopes)
        sizes, axes = np.linalg.eigh(covariance)
        sizes = np.sqrt(np.maximum(sizes, 1e-10))
        z = axes.T @ (self.draw - mean) / sizes
        speeds = self.chance.standard_normal((TRAJECTORIES, len(z)))
        root = np.ascontiguousarray(axes * sizes)
        self.draw = np.minimum(mean + root @ truncated(UPPER - mean, root, z, speeds), UPPER)
        return np.asarray(self.draw[0] + STEPS @ self.draw[1:])

    def mean(self) -> Array:
        return np.asarray(np.mean([self.demand() for _ in range(100)], axis=0))


NAMES = ("UCB", "Thompson sampling", "GP-UCB", "GP-TS", "GP-TS-M")
POLICIES = dict(zip(NAMES, (UCB, Policy, ProcessUCB, Process, Falling), strict=True))


def run(task: Task) -> Outcome:
    """One game."""
    seed, shape = FIRST_SEED + task.game, DEMANDS[task.problem]
    make = {TUNER: tuner, KEEP: Today}.get(task.player)
    chance, grid = np.random.default_rng([seed, *shape]), np.linspace(0, 1, 10_001)
    best = float((grid * beta.sf(grid, *shape)).max())
    player: Any = POLICIES[task.player](seed) if make is None else make(PARAMETERS, True, seed, 0)
    prices = np.empty(task.rounds)
    for t in range(task.rounds):
        trial = player.ask()
        prices[t] = trial if make is None else trial.params["price"]
        sold = (chance.beta(*shape, BATCH) >= prices[t]).mean()
        player.tell(trial, float(prices[t] * sold))
    final = np.array([player.best["price"]])
    revenues = ((p * beta.sf(p, *shape)).mean() for p in (prices, final))
    return Outcome(*(float(100.0 * (1.0 - revenue / best)) for revenue in revenues))


def tasks(games: range) -> list[Task]:
    """Every game."""
    return [Task(*case) for case in product(DEMANDS, ROUNDS, (TUNER, KEEP, *POLICIES), games)]
