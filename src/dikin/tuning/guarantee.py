"""The certificate: a bound on the regret of a tuner that follows any model.

A model chooses a centre y and a factor M with the ellipsoid y + M s inside the set, and forecasts
the value at y + M s by b + q.Ms + e(s), e even. All of it is known before the direction s is drawn,
and so the value v gives an estimate of a gradient without bias,

    ghat = d (v - b - q.Ms - e(s)) M^-T s + q,

and, whatever chose y, with a the largest cost of exploring,

    E regret(u) <= E [ sum (ghat.y + a) - min_u sum ghat.u ]:

Theorem 27 of docs/mathematics.md. Nothing is clipped, and it is true of any model. A single run may
well have a bound below its regret.
"""

from __future__ import annotations

from math import inf, log, nan, sqrt
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from dikin.errors import ParameterError
from dikin.serialization import Stateful, number_or_nan
from dikin.tuning.sets import Set
from dikin.vectors import Array

PHI, WALL = 0.15, 0.7
"""Shares of the ellipsoid of `Predictive`, and of the way to the walls, that are explored."""
AWAY = 0.5
"""Distance of the centre to walls, in units of the noise over the sum of `Floor`."""
FIRST = 0.15
"""Radius of exploring in the first rounds."""
CLIP, RECENT, LAST = 6.0, 31, 5
"""Surprises are clipped at six medians of the last 31. The median of the last five is expected."""


class Play(NamedTuple):
    """Everything that the answer of an open trial needs."""

    centre: Array
    covector: Array
    """d M^-T s."""
    trace: float
    """tr M M'."""
    expected: float
    """b + q.Ms + e(s)."""
    slope: Array
    """q."""
    failed: float
    """The value that a failure counts as, fixed before s was drawn."""

    def estimate(self, value: float) -> Array:
        """Return the estimate of the gradient that a value gives."""
        return (value - self.expected) * self.covector + self.slope

    @classmethod
    def from_json(cls, row: list[Any]) -> Play:
        """Return the row of its plain JSON values."""
        parts: list[Any] = [np.array(e) if isinstance(e, list) else number_or_nan(e) for e in row]
        return cls(*parts)


def play(
    centre: Array,
    factor: Array,
    direction: Array,
    level: float,
    slope: Array,
    even: float = 0.0,
    failed: float = nan,
) -> Play:
    """Return the row of a trial at centre + factor @ direction: b = level, q = slope, e = even."""
    if factor.ndim == 1:
        covector, away = len(direction) * direction / factor, factor * direction
    else:
        covector = np.asarray(len(direction) * np.linalg.solve(factor.T, direction), float)
        away = factor @ direction
    expected = level + float(slope @ away) + even
    return Play(centre, covector, float((factor * factor).sum()), expected, slope, failed)


def exploring_price(d: int, trace: float, smoothness: float, lipschitz: float) -> float:
    """Return the largest cost of exploring in a round: a of Theorem 13, for the better constant."""
    smooth = smoothness * (d + 1.0) / (d + 2.0) * trace / d if smoothness < inf else inf
    steep = lipschitz * sqrt(trace / d) if lipschitz < inf else inf
    return min(smooth, steep)


class Certificate(Stateful):
    """The bound on the expected regret of whatever was used: Theorem 27.

    It is proved if the losses are convex and have the constants, in the coordinates of the rows,
    and if nothing but the value of a trial depends on its direction: which answers come must not.
    A failure counts as the value that was fixed for it. Trials that are never answered do not
    count. Constants and the width of the values are infinite where they are not known. With
    contexts the best point of each of their weights, `cells`, is compared with.
    """

    PARTS = ("estimates", "at_centres", "squares", "lengths", "exploring", "others", "rounds")

    def __init__(
        self,
        set: Set,
        smoothness: float = inf,
        lipschitz: float = inf,
        width: float = inf,
        cells: int = 1,
    ) -> None:
        self.set, self.smoothness, self.lipschitz = set, smoothness, lipschitz
        self.width = width
        self.estimates = np.zeros((cells, set.d))
        self.at_centres = self.squares = self.lengths = self.exploring = 0.0
        self.others = self.rounds = 0

    def add(self, row: Play, value: float | None, shares: Array | None = None) -> None:
        """Add an answer, None for a failure. `shares` are the weights of its context."""
        estimate = row.estimate(row.failed if value is None else value)
        self.estimates += estimate if shares is None else np.outer(shares, estimate)
        self.at_centres += float(estimate @ row.centre)
        self.squares += row.trace
        self.lengths += sqrt(row.trace)
        price = exploring_price(self.set.d, row.trace, self.smoothness, self.lipschitz)
        self.exploring += price if price < inf else 0.0
        self.rounds += 1

    def add_other(self) -> None:
        """Add a round that was not drawn around a centre: it costs the spread of a loss at most."""
        self.others += 1
        self.rounds += 1

    @property
    def value(self) -> float:
        """The bound for the declared constants, NaN without one."""
        known = min(self.smoothness, self.lipschitz) < inf
        return self._bound(self.exploring if known else inf, self.lipschitz)

    def certificate_for(
        self, *, smoothness: float | None = None, lipschitz: float | None = None
    ) -> float:
        """Return the bound for a constant that was not declared."""
        d = max(self.set.d, 1)
        if smoothness is not None and lipschitz is None:
            return self._bound(smoothness * (d + 1.0) / (d + 2.0) * self.squares / d, inf)
        if lipschitz is not None and smoothness is None:
            return self._bound(lipschitz * self.lengths / sqrt(d), lipschitz)
        raise ParameterError("certificate_for needs one of smoothness=... and lipschitz=...")

    def _bound(self, exploring: float, lipschitz: float) -> float:
        if not exploring < inf or not self.rounds:
            return nan
        total = self.at_centres + sum(self.set.support(-linear) for linear in self.estimates)
        if self.others:
            exploring += self.others * min(lipschitz * self.set.diameter, self.width)
        return exploring + total if exploring < inf else nan


class Floor(Stateful):
    """The least exploring with which a certificate is of use, where a constant is declared.

    A virtual `Predictive` is kept by its rules (docs/mathematics.md, 13.3), and a share of its
    ellipsoid is explored at least: a heuristic, without which the certificate is true, and larger.
    """

    NUMBERS = ("rounds", "total", "square", "rate", "largest", "exploring", "noise")
    PARTS = (*NUMBERS, "values", "misses")

    def __init__(self, set: Set, smoothness: float, lipschitz: float, width: float) -> None:
        R, d = set.radius, set.d
        trace = float(np.trace(np.linalg.inv(set.barrier(np.zeros(d))[1]))) / R**2
        self.set, self.stiff, self.width = set, d / trace, width
        self.beta, self.slope = smoothness * R**2, lipschitz * R
        self.rounds = self.total = self.square = self.rate = self.largest = 0.0
        self.exploring = self.noise = 0.0
        self.values: tuple[float, ...] = ()
        self.misses: tuple[float, ...] = ()

    def shape(self, centre: Array, factor: Array) -> tuple[Array, Array]:
        """Return the centre and the factor that are used, for those that a model wants."""
        set, d = self.set, self.set.d
        flat = (2.0 + self.rate * self.total) / PHI**2
        # what bounds the regret of the virtual `Predictive`
        barrier = set.nu * log(self.rounds + 2.0) / self.rate if self.rate else inf
        promise = self.exploring + self.noise + 0.5 * self.total + barrier
        noise = d * sqrt(self.square * self.rounds) / max(promise, 1e-300)
        y = set.inside(centre, 1.0 - min(max(1.0 / sqrt(flat), AWAY * noise), 0.5) / 2.0)
        hessian, eye = set.barrier(y)[1], np.eye(d)
        if self.rounds <= d + 4:
            square = np.linalg.inv(eye / (d * FIRST**2) + hessian)
        else:
            least = np.linalg.inv(hessian / WALL**2 + flat / set.radius**2 * eye)
            root = np.linalg.cholesky(hessian)
            sizes, axes = np.linalg.eigh(root.T @ factor @ factor.T @ root)
            axes = np.linalg.solve(root.T, axes)
            square = (axes * np.clip(sizes, 0.0, 0.998 - WALL**2)) @ axes.T + least
        return y, np.asarray(np.linalg.cholesky(square), float)

    def learn(self, value: float) -> None:
        """Count the value of a round."""
        missed = value - median(self.values[-LAST:]) if self.values else 0.0
        if self.values:
            self.misses = (*self.misses, abs(missed))[-RECENT:]
        self.values = (*self.values, value)[-LAST:]
        misses = self.misses or (0.0,)
        level = self.width if self.width < inf else CLIP * median(misses) or max(misses)
        level = max(level, self.largest / 64.0)
        if not self.misses or level < 1e-150:  # values that are all the same say nothing of noise
            return
        d, square = self.set.d, min(missed * missed, level * level)
        self.rounds += 1.0
        self.largest = max(self.largest, level)
        self.square += (square - self.square) / min(self.rounds, 64.0)
        v, n = max(sqrt(self.square), level / 8.0), self.rounds + 2.0
        low, cap = sqrt(2.0 * self.set.nu * log(n) / n) / (d * v), 0.9 / (d * level)
        self.rate = min(self.rate or 0.5 * low, cap)
        cost = exploring_price(d, d / (self.stiff + self.rate * self.total), self.beta, self.slope)
        total = self.total or self.stiff / self.rate
        self.exploring += cost
        self.noise += 0.6 * self.rate * d * d * square
        self.total += 8.0 * cost * total / (total + sqrt(total * total + 16.0 * cost * total))
        smooth = sqrt(2.0 * self.beta * self.total) / (d * v) if self.beta < inf else inf
        steep = (self.slope * self.total / (d * v) ** 2) ** (2.0 / 3.0) if self.slope < inf else inf
        best = max(min(smooth, steep) - self.stiff, 0.0) / self.total if self.total else 0.0
        self.rate = min(0.5 * sqrt(best * best + low * low), cap)
