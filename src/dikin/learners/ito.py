"""Ito (AISTATS 2020): smooth and strongly convex losses, sqrt(T) without a barrier, sigma known.

Exponential weights on quadratic models of the losses. The user promises that the best point lies in
K' = (1 - r/inradius) X, whose points are at least r = depth inside (0 promises nothing):

    p_t     = N(theta_t, I/(sigma eta t)) cut off at the edge of K': mean mu_t, covariance B_t^2
    theta_t = (1/t) sum_{j<t} (mu_j - g_j/sigma)
    x_t     = mu_t + alpha_t B_t s_t,      s_t uniform on the unit sphere
    g_t     = (d/alpha_t) f_t(x_t) B_t^-1 s_t

    r = 0:  eta = sqrt(beta ln T/(d sigma T)),   regret of order d^(3/2) sqrt(beta T ln T/sigma)
    r > 0:  eta = sqrt(beta ln T/(sigma T)),     regret of order d sqrt(beta T ln T/sigma)
                                                 + d^2 ln d/(r^2 sigma), on K'

    paper:  alpha_t = min{1/9 + r sqrt(t eta sigma/2), sqrt d},   eta at most 1/(18 d ln(50 T))
    sharp:  alpha_t = min{1 + r sqrt(t eta sigma), sqrt d},       eta at most 1/(2d)

The paper allows for estimated means and covariances. Here they are exact, which changes two
constants. A log-concave X >= 0 has E X^2 <= 2 (E X)^2: seen from the mean, no edge of K' is nearer
than one standard deviation across it, so mu_t + B_t s is in K' for all |s| <= 1; and
|B_t| <= 1/sqrt(sigma eta t), so the rest of alpha_t goes no farther than r. The logarithm of the
integral of a tilted log-concave law is self-concordant (Bubeck and Eldan, The entropic barrier), so
ln E exp(-eta g.(x - mu)) <= -s - ln(1 - s) for s = eta d |f|/alpha < 1 needs no union bound.

The learner assumes the curvature sigma in every round, whatever it is told.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from math import log, sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from dikin import arguments
from dikin.domains.base import Array, Domain
from dikin.domains.truncated_normal import HasTruncatedNormal
from dikin.errors import (
    DomainError,
    ParameterError,
    SlowLearnerWarning,
)
from dikin.learners import parameters
from dikin.learners.base import Learner
from dikin.learners.parameters import Parameter
from dikin.learners.threads import locked
from dikin.units import LossRange


class Reach(NamedTuple):
    """How fast the learner learns and how far it explores; the set K' is the unit of length."""

    dim: float
    sigma: float
    eta: float
    near: float
    """alpha at the edge of K': 1, or 1/9 in the paper."""
    room: float
    """r sqrt(eta sigma), divided by sqrt(2) in the paper."""

    def alpha(self, round: int) -> float:
        return min(self.near + self.room * sqrt(round), sqrt(self.dim))


@dataclass(slots=True)
class Memo:
    """What the learner remembers about a query: the law it was drawn from, and its direction."""

    theta: Array
    round: int
    """The round t in which it was asked."""
    noise: Array
    iterate: Array
    metric: Array
    unit: float
    """1/|s| of the direction."""


class Ito(Learner):
    """Learner for `smoothness`-smooth losses that are all `curvature`-strongly convex: box or ball.

    `depth` promises that the best point lies at least that far inside the set.

    Raises
    ------
    DomainError
        If the domain is neither a box nor a ball.
    ParameterError
        If `depth` leaves no point of the domain.

    Notes
    -----
    Published: the algorithm, for any convex set with a membership oracle, with estimated means and
    covariances, and the constants of `constants="paper"`.

    Ours: exact means and covariances, hence boxes and balls only; and with them the constants of
    `constants="sharp"`, the default, which the docstring of the module states and
    docs/mathematics.md proves.

    References
    ----------
    Ito: An optimal algorithm for bandit convex optimization with strongly-convex and smooth
    loss. AISTATS 2020.

    Examples
    --------
    >>> from dikin import Box
    >>> learner = Ito(Box([0, 0], [1, 1]), horizon=1000, smoothness=1.0, curvature=0.5, seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    >>> learner.rounds
    1
    """

    horizon = parameters.horizon(2, "the rate contains ln T")
    smoothness = parameters.smoothness()
    curvature = parameters.curvature()
    depth = Parameter(
        "How far inside the set the best point is promised to lie; 0 promises nothing.",
        arguments.nonnegative,
    )
    constants = parameters.constants()

    def __init__(
        self,
        domain: Domain,
        horizon: int,
        smoothness: float,
        curvature: float,
        *,
        depth: float = 0.0,
        loss_range: LossRange = (-1.0, 1.0),
        constants: str = "sharp",
        seed: int | None = None,
    ) -> None:
        super().__init__(domain, loss_range, seed)
        if not isinstance(self.geometry, HasTruncatedNormal):
            raise DomainError(
                "Ito needs the moments of normal laws cut off at the edge of the set, which are "
                f"known for Box and Ball and not for {domain}: use HazanLevy there"
            )
        self.horizon, self.smoothness, self.curvature = horizon, smoothness, curvature
        self.depth, self.constants = depth, constants
        if not self.depth < domain.inradius:
            raise ParameterError(
                f"depth={self.depth:g} leaves no point of {domain}, whose inradius is "
                f"{domain.inradius:g}"
            )
        self._shrink = 1.0 - self.depth / domain.inradius
        self._reach = self._tuned()
        self._linear = np.zeros(self.geometry.size)
        """-t theta_t."""

    def _tuned(self) -> Reach:
        horizon, dim, paper = self.horizon, self.domain.dim, self.constants == "paper"
        beta, sigma = self._in_units("smoothness"), self._assumed_curvature(self.curvature)
        cap = 1.0 / (18.0 * dim * log(50.0 * horizon)) if paper else 0.5 / dim
        rate = sqrt(beta * log(horizon) / (sigma * horizon * (1 if self.depth else dim)))
        if paper and rate > cap:
            warnings.warn(
                f"at T = {horizon} the paper's rate {rate:.2g} is more than its theorem allows, "
                f"{cap:.2g}: the smaller one is used. The default constants='sharp' allow more.",
                SlowLearnerWarning,
                stacklevel=3,
            )
        eta = min(rate, cap)
        room = self.depth / self.units.radius * sqrt(eta * sigma * (0.5 if paper else 1.0))
        # With K' as the unit of length, a curvature is smaller by the square of its size.
        return Reach(dim, sigma * self._shrink**2, eta, 1.0 / 9.0 if paper else 1.0, room)

    def _memo(self, theta: Array, round: int, noise: Array) -> Memo:
        """A direction from the law p_t with the centre theta."""
        geometry = self.geometry
        assert isinstance(geometry, HasTruncatedNormal)
        iterate, metric = geometry.start(), np.zeros((geometry.metric_size, geometry.size))
        precision = self._reach.sigma * self._reach.eta * round
        square = geometry.truncated_normal(theta, precision, noise, iterate, metric)
        unit = 1.0 / sqrt(square) if square > 0.0 else 0.0
        return Memo(theta, round, noise, iterate, metric, unit)

    def _present(self, noise: Array) -> Memo:
        """A direction from theta_t, the current centre."""
        round = self._rounds_in_range + 1
        return self._memo(-self._linear / round, round, noise)

    @property
    @locked
    def center(self) -> Array:
        """mu_t in the user's units."""
        still = self._present(np.zeros(self.geometry.size))
        return self._inside(self._shrink * self.geometry.vector(still.iterate))

    def _propose(self) -> tuple[Array, float, Memo]:
        memo = self._present(self._noise.draw())
        return *self._vector(memo), memo

    def _vector(self, memo: Memo) -> tuple[Array, float]:
        u = np.empty(self.geometry.size)
        far = self._reach.alpha(memo.round) * memo.unit
        square = self.geometry.point(memo.iterate, memo.metric, far, u)
        return self._shrink * u, self._shrink**2 * square

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        reach, linear = self._reach, self._linear.copy()
        slope = reach.dim * loss / (reach.alpha(memo.round) * reach.sigma)
        self.geometry.linear_update(memo.iterate, memo.metric, slope * memo.unit, 1.0, linear)
        self._linear = linear
        self._rounds_in_range += 1

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        unit = 1.0 / domain.radius**2
        yield cls(domain, 1000, unit, 0.5 * unit, seed=seed)
        depth = 0.2 * domain.inradius
        yield cls(domain, 10**6, 20 * unit, unit, depth=depth, loss_range=(3, 11), seed=seed)

    def _numbers(self) -> dict[str, Any]:
        return {"linear": self._linear}

    def _set_numbers(self, numbers: dict[str, Any]) -> None:
        self._linear = numbers["linear"]

    def _memo_state(self, memo: Memo) -> tuple[Any, ...]:
        return memo.theta, memo.round, memo.noise

    def _memo_from(self, state: tuple[Any, ...]) -> Memo:
        return self._memo(*state)
