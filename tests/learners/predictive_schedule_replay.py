"""lambda and eta by section 13.3 of docs/mathematics.md, beside those of the shipped `Predictive`.

On the disc, in a known range and with a declared constant. Read off the learner: forecast and level
of a query when it was asked, V and the level after an answer, and the sum of the estimates. The
Hessian is inverted; S, lambda, the rate and what its rises have cost are computed anew.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np

import dikin
from dikin.learners.predictive import expectation
from reference.barriers import Array

DISC, DIM, NU = dikin.Ball(2), 2, 1.0


class ScheduleReplay:
    """A game, with a second computation of what it is tuned by."""

    fold, steep_fold = 4.0, 3.0
    """lambda is so many times what exploring costs after it: smooth and Lipschitz losses."""
    every, first = 8, 64
    """In the first rounds the rate is looked at each time, later after so many."""
    spread, step = 8.0, 1.1
    smooth_share, steep_share = 0.5, 0.8

    def __init__(self, memory: float | None = None, seed: int = 0, **constant: float) -> None:
        self.learner = dikin.Predictive(
            DISC, loss_range=(-1, 1), memory=memory, seed=seed, **constant
        )
        self.beta, self.lipschitz = constant.get("smoothness"), constant.get("lipschitz")
        self.memory = memory or np.inf
        self.keep = 1 - 1 / self.memory
        self.rounds = 0
        self.S = self.lam = self.exploring = self.changes = 0.0
        self.eta = 0.9 / (DIM * self.level)
        self.asked: list[tuple[Any, float, float, float, float]] = []
        self.refused = self.raised = self.stayed = 0

    @property
    def level(self) -> float:
        return float(self.learner._state.numbers.level)

    def ask(self) -> None:
        y, shift = self.learner.center, self.shift
        room = 1 - float(y @ y)
        hessian = (2 / room + shift) * np.eye(DIM) + 4 / room**2 * np.outer(y, y)
        tau = float(np.trace(np.linalg.inv(hessian)))
        expected = float(expectation(self.learner._plan, self.learner._state.numbers))
        self.asked.append((self.learner.ask(), tau, shift, expected, self.level))

    @property
    def shift(self) -> float:
        return self.eta * self.S

    def tell(self, slope: Array, noise: float, sigma: float) -> None:
        """Answer the query that has waited longest, and compute what follows."""
        query, tau, shift, expected, level = self.asked.pop(0)
        value = float(slope @ query.point) + noise
        self.learner.tell(query, value, sigma)
        self.rounds += 1
        self.add(self.price(tau), tau, sigma)
        self.move(self.stiffness(tau, shift), abs(value - expected) > level)

    def stiffness(self, tau: float, shift: float) -> float:
        """h, at the centre around which the answer was played."""
        return DIM / tau - shift

    def price(self, tau: float) -> float:
        if self.beta is not None:
            return self.beta / 2 * (tau / DIM + tau / (DIM + 2))
        return self.lipschitz * sqrt(tau / DIM)

    def add(self, price: float, tau: float, sigma: float) -> None:
        """lambda S_t = 4 a S_{t-1}, or lambda sqrt(S_t) = 3 a sqrt(S_{t-1}): roots by numpy."""
        S = self.keep * self.S
        before = S or DIM / (self.eta * tau)
        if self.beta is not None:
            roots = np.roots([1.0, before + sigma, -self.fold * price * before])
        else:
            roots = np.roots([1.0, before + sigma, 0.0, -((self.steep_fold * price) ** 2) * before])
        lam = float(max(root.real for root in roots if abs(root.imag) < 1e-12))
        self.S = S + sigma + lam
        self.lam = self.keep * self.lam + lam
        self.exploring = self.keep * self.exploring + price
        self.changes *= self.keep

    def move(self, stiff: float, clipped: bool) -> None:
        """The next rate."""
        before, after = self.eta, self.eta
        if clipped or self.rounds < self.first or self.rounds % self.every == 0:
            wanted = self.balance(stiff)
            after = wanted if max(wanted / before, before / wanted) >= self.step else before
            after = min(after, 0.9 / (DIM * self.level))
        self.eta = after
        if after != before and not self.affords(before, after):
            self.eta = before
            self.refused += 1
        self.raised += self.eta > before
        self.stayed += self.eta == before

    def balance(self, stiff: float) -> float:
        v = max(sqrt(self.learner._state.numbers.mean_square), self.level / self.spread)
        span = max(min(self.rounds + 1, self.memory), 3)
        if self.beta is not None:
            bend, share = sqrt(2 * self.beta * self.S) / (DIM * v), self.smooth_share
        else:
            bend, share = (self.lipschitz * self.S / (DIM * v) ** 2) ** (2 / 3), self.steep_share
        e = max(bend - stiff, 0.0) / self.S
        wanted = share * sqrt(e**2 + 2 * NU * log(span) / (span * (DIM * v) ** 2))
        return min(wanted, 0.9 / (DIM * self.level))

    def affords(self, before: float, after: float) -> bool:
        """Of a rise the barrier of what is remembered, gamma psi/eta, becomes psi/eta'."""
        cost = self.rise(before, after) * self.barrier(after)
        others = self.exploring + self.lam / 2 + NU * log(self.rounds + 1) / after
        if cost > 0 and self.changes + cost > others:
            return False
        self.changes += cost
        return True

    def rise(self, before: float, after: float) -> float:
        return self.keep / before - 1 / after

    def barrier(self, rate: float) -> float:
        """psi at the centre of that rate."""
        geometry = self.learner.geometry
        iterate = geometry.start()
        geometry.solve(self.learner._state.linear[: geometry.size], self.S, 1 / rate, iterate)
        u = geometry.vector(iterate)
        return -log(1 - float(u @ u))

    def compare(self) -> None:
        """To 1e-8: rounding of the inverted Hessians, fed back for some hundred rounds."""
        n = self.learner._state.numbers
        shipped = n.curvature, n.curvature - n.sigma, n.rate, n.rate_changes
        own = self.S, self.lam, self.eta, self.changes
        np.testing.assert_allclose(shipped, own, rtol=1e-8, atol=1e-10)
