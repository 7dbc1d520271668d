"""TEWA (Liu, Baudry, Zimmert, Rebeschini, Akhavan, NeurIPS 2025): curvature that nobody tells.

Tilted exponentially weighted average, the version for a fixed comparator. It explores on a sphere
of radius h and lets experts with different rates descend on the estimates, one of which is right
for whatever curvature there is. In the paper's units, with s_t uniform on the unit sphere,

    h = sqrt(d) T^(-1/4), at most r/2,    G = d/h,    D = 2,    shrink = 1 - h/r
    eta_i = 2^(-i)/(5 G D),               i = 0, ..., ceil(log2(T)/2)
    x_t   = sum_i w_i x_{t,i} / sum_i w_i,                w_i = eta_i exp(-L_{t-1,i})
    z_t   = x_t + h s_t is played,        g_t = (d/h) f_t(z_t) s_t
    l_{t,i}(x) = eta_i g_t.(x - x_t) + eta_i^2 G^2 |x - x_t|^2
    L_{t,i}    = sum_{s<=t} l_{s,i}(x_{s,i})
    x_{t+1,i}  = the point of `shrink` X nearest to
                 x_{t,i} - gradient l_{t,i}(x_{t,i})/(2 eta_i^2 G^2 t)

Regret of order sqrt(d) T^(3/4) for Lipschitz losses and d sqrt(T)/sigma for smooth and
sigma-strongly convex ones with their minimisers inside, by the same settings: sigma is neither told
nor known. Two things differ from the text. Its experts live in {x : x + h Ball inside X}; here they
live in (1 - h/r) X, which is contained in it, convex too, and has a projection wherever X has one.
And h stops at r/2, not at r, where only the centre would be left. The grid's factor 5 is that of
MetaGrad (van Erven, Koolen 2016).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, exp, log2, sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.domains.base import NOTHING, Array, ClosedGeometry, Domain
from dikin.learners.base import Learner, locked
from dikin.learners.player import Aimed, Machine, Memory, Scratch
from dikin.units import LossRange, planned


@dataclass(slots=True)
class Spot:
    """What the learner remembers of a query."""

    middle: Array
    """x_t."""
    noise: Array
    way: Array
    """s_t."""


class TewaPlayer(NamedTuple):
    """The learner for the compiled loop; numbers = (L_i of every expert, x_t, s_t)."""

    kernel: Any
    reach: float
    shrink: float
    steep: float
    rates: Array

    def ask(self, memory: Memory, scratch: Scratch) -> Aimed:
        """No numbers."""
        kernel, count, size = self.kernel, self.rates.size, self.kernel.size
        losses, noise, work, u = memory.numbers[:count], scratch.noise, scratch.work, scratch.u
        middle = memory.numbers[count : count + size]
        way = memory.numbers[count + size :]
        total, square, least = 0.0, 1.0, losses.min()
        for j in range(size):
            middle[j] = way[j] = 0.0
        for i in range(count):
            linear = memory.linear[i * size : (i + 1) * size]
            state = memory.state[i * kernel.states : (i + 1) * kernel.states]
            square, _ = kernel.aim(linear, state, 0.0, 1.0, noise, work)
            kernel.point(linear, state, work, noise, 0.0, u)
            weight = self.rates[i] * exp(least - losses[i])
            total += weight
            for j in range(size):
                middle[j] += weight * u[j]
        kernel.recoil(memory.state[: kernel.states], work, noise, 1.0 / sqrt(square), 0.0, way)
        for j in range(size):
            middle[j] *= self.shrink / total
            u[j] = middle[j] + self.reach * way[j]
        return 0.0, 0.0, 0.0

    def tell(
        self,
        round: int,
        aimed: Aimed,
        loss: float,
        curvature: float,
        memory: Memory,
        scratch: Scratch,
    ) -> None:
        kernel, count, size = self.kernel, self.rates.size, self.kernel.size
        noise, work, u = scratch.noise, scratch.work, scratch.u
        middle = memory.numbers[count : count + size]
        way = memory.numbers[count + size :]
        for i in range(count):
            linear = memory.linear[i * size : (i + 1) * size]
            state = memory.state[i * kernel.states : (i + 1) * kernel.states]
            kernel.aim(linear, state, 0.0, 1.0, noise, work)
            kernel.point(linear, state, work, noise, 0.0, u)
            rate, bend = self.rates[i], 2.0 * (self.rates[i] * self.steep) ** 2
            along = square = 0.0
            for j in range(size):
                estimate, away = self.steep * loss * way[j], self.shrink * u[j] - middle[j]
                along += away * estimate
                square += away * away
                step = (rate * estimate + bend * away) / (bend * round * self.shrink)
                linear[j] = step - u[j]
            memory.numbers[i] += rate * along + 0.5 * bend * square
            kernel.solve(linear, 1.0, NOTHING, state)


class Tewa(Learner):
    """Learner for losses of unknown curvature, over a known horizon; what is told is ignored.

    >>> from dikin import Ball
    >>> learner = Tewa(Ball(2), horizon=1000, seed=1)
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
        self.horizon = planned(horizon, 1, "the exploration depends on it")
        inradius = domain.inradius / domain.radius
        self._reach = min(sqrt(domain.dim) * self.horizon**-0.25, inradius / 2.0)
        self._shrink = 1.0 - self._reach / inradius
        self._steep = domain.dim / self._reach
        rates = 1 + ceil(log2(self.horizon) / 2.0)
        self._rates = 0.5 ** np.arange(rates) / (10.0 * self._steep)
        self._losses = np.zeros(rates)
        self._places = [self.geometry.start()] * rates
        """x_{t,i}/shrink, points of the whole set."""
        self._linear = np.zeros((rates, self.geometry.size))
        """What they were solved from, one a row."""
        self._frame = self.geometry.frame(self.geometry.start(), 0.0, 1.0)

    def _experts(self) -> Array:
        """x_{t,i}, one a row."""
        rows = [self.geometry.vector(place) for place in self._places]
        return np.asarray(self._shrink * np.stack(rows))

    def _middle(self) -> Array:
        """x_t."""
        # Only ratios of the weights count: the best expert's exponential is one.
        weights = self._rates * np.exp(self._losses.min() - self._losses)
        return np.asarray(weights @ self._experts() / weights.sum())

    @property
    @locked
    def center(self) -> Array:
        """x_t in the user's units: the average of the experts."""
        u = self._middle()
        return self._inside(u, self.units.point(self.geometry.outward(u)).copy())

    def _propose(self) -> tuple[Array, float, Spot]:
        memo = self._memo_from((self._middle(), self._noise.draw()))
        return *self._vector(memo), memo

    def _vector(self, memo: Spot) -> tuple[Array, float]:
        u = memo.middle + self._reach * memo.way
        return u, float(u.dot(u))

    def _learn(self, memo: Spot, loss: float, curvature: float) -> None:
        estimate = self._steep * loss * memo.way
        away = self._experts() - memo.middle
        bends = 2.0 * (self._rates * self._steep) ** 2
        losses = self._rates * (away @ estimate) + 0.5 * bends * (away * away).sum(axis=1)
        slopes = self._rates[:, None] * estimate + bends[:, None] * away
        steps = slopes / (bends[:, None] * (self._rounds_in_range + 1) * self._shrink)
        linear = steps - self._experts() / self._shrink
        moves = zip(linear, self._places, strict=True)
        self._places = [self.geometry.project(row, place) for row, place in moves]
        self._linear, self._losses = linear, self._losses + losses
        self._rounds_in_range += 1

    def machine(self) -> Machine | None:
        geometry = self.geometry
        if self._open or not isinstance(geometry, ClosedGeometry):
            return None
        numbers = np.concatenate([self._losses, np.zeros(2 * geometry.size)])
        states = np.concatenate([geometry.pack(place) for place in self._places])
        memory = Memory(numbers, self._linear.ravel().copy(), states)
        player = TewaPlayer(
            geometry.kernel(), self._reach, self._shrink, self._steep, self._rates.copy()
        )
        return Machine(player, memory, self._noise.generator())

    def adopt(self, machine: Machine, rounds: int) -> None:
        assert isinstance(self.geometry, ClosedGeometry)
        memory, count = machine.memory, self._rates.size
        self._losses = memory.numbers[:count].copy()
        self._linear = memory.linear.reshape(count, -1).copy()
        rows = zip(self._linear, memory.state.reshape(count, -1), strict=True)
        self._places = [self.geometry.unpack(linear, state) for linear, state in rows]
        self._rounds_in_range += rounds
        self._next += rounds

    def arguments(self) -> dict[str, Any]:
        return {"horizon": self.horizon, "loss_range": self.loss_range}

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 4, loss_range=(3, 11), seed=seed)

    def _numbers(self) -> dict[str, Any]:
        places = tuple(self.geometry.memory(place) for place in self._places)
        return {"places": places, "linear": self._linear, "losses": self._losses}

    def _set_numbers(self, numbers: dict[str, Any]) -> None:
        self._places = [self.geometry.recall(place) for place in numbers["places"]]
        self._linear, self._losses = numbers["linear"], numbers["losses"]

    def _memo_state(self, memo: Spot) -> tuple[Any, ...]:
        return memo.middle, memo.noise

    def _memo_from(self, state: tuple[Any, ...]) -> Spot:
        middle, noise = state
        aim = self._frame.aim(noise)
        return Spot(middle, noise, aim.point(1.0 / sqrt(aim.square)))
