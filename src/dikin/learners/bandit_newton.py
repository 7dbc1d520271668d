"""Bandit Newton (Lattimore and Gyorgy, COLT 2023): stochastic convex losses, sqrt(T).

A normal law N(mu, Sigma) follows the losses by Newton's method. With s standard normal,
Sigma^-1 = A = C C', losses Z in place of f (below) and D the change from the last Z,

    X = mu + C^-T s,       g = D C s,       H = lambda D (C s s' C' - A)
    A <- A + (eta/4) H,    mu <- mu - eta A^-1 g,

eta = sqrt(d/T)/(1 + L/d), lambda = 1/d: the authors' practical choice, without the truncations of
their theorem. It starts at the centre with Sigma = (2/d^2) Hessian(psi)(centre)^-1. On a ball of
radius r this is the paper's (r/d)^2 I. It follows the proportions of any other set.

The paper's losses are defined everywhere. Here the convex extension through the gauge of the set
(Fokkema, van der Hoeven, Lattimore and Mayo, COLT 2024) takes their place: for f in [0, 1],

    P = max{1, gauge(X)/(1 - eps)},   play X/P,   Z = P f(X/P) + c (P - 1),   c = min{1/eps, L},

convex as f(z) - f'(z).z is at least -L and, in (1 - eps) X, at least -1/eps, with eps = 1/sqrt(T).

Regret of order (1 + L/d) (d^(3/2) sqrt(T) + d^3) up to logarithms, with high probability, for
independent losses of one convex mean, L in units of the radius. For some 16 d^5 (1 + L/d)^2/q^2
rounds, q the curvature of losses in [0, 1], it looks linear. If no horizon is given, the current
round replaces T, without a proof.

Two guards, which sound losses do not reach: a new A is dropped if Sigma would be more than four
times the first one or if A has lost its digits, and mu stays in 2 X.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite, sqrt
from typing import Any, Self

import numpy as np

from dikin.arguments import positive
from dikin.domains.base import Array, Domain
from dikin.domains.dense import DenseGeometry
from dikin.learners.base import Learner
from dikin.learners.parameters import LIPSCHITZ, optional_horizon, parameter
from dikin.players import locked

NARROWEST = 1e20
"""By how much A may exceed its first value: steps are then 1e-10 of the first ones."""


class BanditNewton(Learner):
    """Learner for independent convex losses with one mean, `lipschitz` at most, on any domain.

    Notes
    -----
    Published: the update of mean and covariance with the authors' practical choice of eta and
    lambda, by Lattimore and Gyorgy, for losses on the whole space. The extension through the gauge
    of a set, by Fokkema and others, for another form of the method.

    Ours: both together, which no published theorem covers, the constant min{1/eps, L} of the
    extension, the first covariance, the current round in place of a horizon, and the guards.

    References
    ----------
    Lattimore, Gyorgy: A second-order method for stochastic bandit convex optimisation. COLT 2023.
    Fokkema, van der Hoeven, Lattimore, Mayo: Online Newton method for bandit convex optimisation.
    COLT 2024.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = BanditNewton(Ball(2), lipschitz=1.0, seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    """

    kept = ("_mean", "_inverse", "_last")
    lipschitz: float = parameter(LIPSCHITZ, positive)
    horizon: int | None = optional_horizon(2, "eps < 1", default=None, kw_only=True)

    def _begin(self) -> None:
        # For losses in [0, 1], a range half as wide as the paper's.
        self._slope = self._in_units("lipschitz") / 2
        domain, dim = self.domain, self.domain.dim
        hessian = domain.hessian(np.zeros(dim)) * (dim * self.units.radius) ** 2
        self._first: Array = (hessian + hessian.T) / 4.0
        self._mean, self._last, self._inverse = np.zeros(dim), 0.0, self._first

    def _form(self) -> DenseGeometry:
        return DenseGeometry(self.domain, self.units.radius)

    def _excess(self, u: Array, size: float) -> float:
        """The factor by which a vector must shrink to lie in `size` times the set: 1 inside."""
        v = self.units.radius / size * u
        with np.errstate(all="ignore"):  # outside the set a formula may overflow
            inside = isfinite(self.domain.barrier(v))
        return 1.0 if inside else max(1.0, self.domain.gauge(v))

    def _clock(self) -> float:
        """T, or the current round if no horizon is known. At least 2, which keeps eps below 1."""
        return float(self.horizon or max(2, self.rounds - self._earlier + 1))

    @property
    @locked
    def center(self) -> Array:
        """The mean mu in the user's units, pulled into the set if it lies outside."""
        return self._inside(self._mean / self._excess(self._mean, 1.0))

    def _propose(self) -> tuple[Array, float, Any]:
        s, root = self._noise.draw(), np.linalg.cholesky(self._inverse)
        x = self._mean + np.linalg.solve(root.T, s)
        inverse_margin = sqrt(self._clock())  # 1/eps
        excess = self._excess(x, 1.0 - 1.0 / inverse_margin)
        pull, wall = root @ s, min(inverse_margin, self._slope)  # C s, c
        u = x / excess
        return u, float(u @ u), (pull, excess, wall)

    def _learn(self, memo: Any, loss: float, curvature: float) -> None:
        pull, excess, wall = memo
        value = excess * (1.0 + loss) / 2.0 + wall * (excess - 1.0)
        dim = self.domain.dim
        step = (value - self._last) * sqrt(dim / self._clock()) / (1.0 + self._slope / dim)
        inverse = self._curved(step / (4.0 * dim), pull)
        mean = self._mean - step * np.linalg.solve(inverse, pull)
        self._mean = mean / self._excess(mean, 2.0)
        self._inverse, self._last = inverse, value

    def _curved(self, share: float, pull: Array) -> Array:
        """A + (eta/4) H, or A itself where a guard forbids it."""
        inverse = (1.0 - share) * self._inverse + share * np.outer(pull, pull)
        try:
            np.linalg.cholesky(inverse - self._first / 4.0)
        except np.linalg.LinAlgError:
            return self._inverse
        beyond = np.trace(inverse) > NARROWEST * np.trace(self._first)
        return self._inverse if beyond else inverse

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        unit = 1.0 / domain.radius
        yield cls(domain, unit, seed=seed)
        yield cls(domain, 20 * unit, loss_range=(3, 11), horizon=5000, seed=seed)
