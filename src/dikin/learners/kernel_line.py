"""Exponential weights with a kernel of segments: any convex losses on a line, sqrt(T).

On a grid x_1, ..., x_N of the interval [a, b], N = 2 ceil(sqrt(T)) + 1, with weights p of mean
mu = sum_i p_i x_i and losses in [0, 1], a round is

    i ~ p,   y uniform between mu and x_i; if |x_i - mu| < eps, on [mu - eps, mu + eps] in [a, b]
    F_j = f(y) K(y; x_j)/sum_i p_i K(y; x_i),      p_j proportional to exp(-eta_t sum F_j)

with K(.; x) the density of y when x was drawn, eps = (b - a)/sqrt(T), eta_t = sqrt(ln N/(t V)) and
V = 2 (1 + ln((b - a)/eps)). The regret is at most 4 sqrt(T V ln N), plus 4.25 (b - a) L sqrt(T) for
L-Lipschitz losses (docs/mathematics.md, Proposition 9). A round costs O(N) = O(sqrt T).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, erfc, log, sqrt
from typing import Any, Self

import numpy as np

from dikin.domains.base import Array, Domain
from dikin.domains.dense import DenseGeometry
from dikin.errors import DomainError, ParameterError
from dikin.learners import parameters
from dikin.learners.base import Learner
from dikin.players import locked

LONGEST = 10**12
"""The longest horizon: beyond it, the grid has more than two million points."""


class KernelLine(Learner):
    """Learner for convex losses on an interval, or any other domain of dimension one.

    The losses need only have a range. Curvature is not used.

    Raises
    ------
    DomainError
        If the dimension of the domain is not one.
    ParameterError
        If the horizon needs a grid of more than two million points.

    Notes
    -----
    Published: a kernel that gives estimates of small variance, by Bubeck, Eldan and Lee, in any
    dimension, where it is far from practical. A proof without an algorithm that sqrt(T) is possible
    on a line, by Bubeck, Dekel, Koren and Peres.

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
    """

    kept = ("_sums",)
    horizon: int = parameters.horizon(2, "the grid depends on it")

    def _begin(self) -> None:
        domain = self.domain
        if domain.dim != 1:
            raise DomainError(
                f"KernelLine plays on lines, and {domain} is of dimension {domain.dim}: use "
                "BanditNewton or AdaptiveLipschitz there"
            )
        if self.horizon > LONGEST:
            raise ParameterError(
                f"horizon={self.horizon} needs a grid of {2 * self.horizon**0.5:.1g} points, and "
                f"as many steps per round; the horizon may be at most {LONGEST:.0e}"
            )
        radius, count = np.array([self.units.radius]), 2 * ceil(sqrt(self.horizon)) + 1
        self._low, self._high = -1.0 / domain.gauge(-radius), 1.0 / domain.gauge(radius)
        self._floor = (self._high - self._low) / sqrt(self.horizon)  # eps
        self._pace = sqrt(log(count) / (2.0 * (1.0 + log(sqrt(self.horizon)))))  # sqrt(ln N/V)
        self._points, self._sums = np.linspace(self._low, self._high, count), np.zeros(count)

    def _form(self) -> DenseGeometry:
        return DenseGeometry(self.domain, self.units.radius)

    def _weights(self) -> tuple[Array, float]:
        """p and mu."""
        eta = self._pace / sqrt(self.rounds - self._earlier + 1)
        weights = np.exp(-eta * (self._sums - self._sums.min()))
        weights /= weights.sum()
        return weights, float(weights.dot(self._points))

    @property
    @locked
    def center(self) -> Array:
        """mu in the user's units."""
        return self._inside(np.array([self._weights()[1]]))

    def _piece(self, mean: float) -> tuple[float, float]:
        """[mu - eps, mu + eps] in [a, b], less mu."""
        return max(-self._floor, self._low - mean), min(self._floor, self._high - mean)

    def _kernel(self, mean: float, step: float) -> Array:
        """K(mu + step; x_j) for all j."""
        offsets, (low, high) = self._points - mean, self._piece(mean)
        far, flat = np.abs(offsets), float(abs(step) <= self._floor) / (high - low)
        between = (offsets * step >= 0.0) & (far >= abs(step))
        found: Array = np.where(far < self._floor, flat, between / np.maximum(far, self._floor))
        return found

    def _propose(self) -> tuple[Array, float, Any]:
        weights, mean = self._weights()
        ends = weights.cumsum()
        chance = 0.5 * erfc(-float(self._noise.draw()[0]) / sqrt(2.0)) * float(ends[-1])
        i = int(ends.searchsorted(chance))
        share = min(max(1.0 - (float(ends[i]) - chance) / float(weights[i]), 0.0), 1.0)
        offset, (low, high) = float(self._points[i]) - mean, self._piece(mean)
        step = share * offset if abs(offset) >= self._floor else low + share * (high - low)
        # The density at y comes from y - mu, as rounding would move it out of a piece.
        memo, u = (mean, step, float(weights.dot(self._kernel(mean, step)))), mean + step
        return np.array([u]), u * u, memo

    def _learn(self, memo: Any, loss: float, curvature: float) -> None:
        mean, step, density = memo
        self._sums = self._sums + 0.5 * (1.0 + loss) / density * self._kernel(mean, step)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 1000, seed=seed)
        yield cls(domain, 50, loss_range=(3, 11), seed=seed)
