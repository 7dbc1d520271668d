"""Baselines with the lines of `adaptive` at one rate over a known horizon: nothing adapts.

With |f| <= 1 and exploration at the share delta of Dikin's ellipsoid |g_t|* <= d/delta. While
eta |g_t|* <= 1/2, the regret on linearised losses is at most nu ln T/eta + eta T d^2/delta^2 + 2.

    Scrible, SahaTewari, LipschitzBarrier:   eta = (delta/d) min{1/2, sqrt(nu ln T/T)}

makes both terms a/delta with a = d sqrt(nu T ln T), for T >= 4 nu ln T. Exploring costs more:

    Scrible            linear losses: nothing.        delta = 1
                       regret <= 2 a + 2
    SahaTewari         (3/2) beta delta^2 a round.    delta = min{1, (a/((3/2) beta T))^(1/3)}
                       regret <= 3.44 (beta nu ln T)^(1/3) d^(2/3) T^(2/3) + 2
    LipschitzBarrier   2 L delta a round.             delta = min{1, sqrt(a/(L T))}
                       regret <= 4 sqrt(L d) nu^(1/4) T^(3/4) (ln T)^(1/4) + 2

    HazanLevy, Discard assume the curvature sigma in every round (that counts):

    H_t     = Hessian(psi)(y_t) + eta sigma t I,      x_t = y_t + H_t^(-1/2) s_t,
    y_{t+1} = argmin_u sum_{s<=t} (g_s.u + sigma/2 |u - y_s|^2) + psi(u)/eta,
    eta     = sqrt((nu + 2 beta/sigma) ln T/(2 d^2 T)), at most 1/(2d),
    regret <= nu ln T/eta + 2 eta d^2 T + (beta/(eta sigma)) (1 + ln T) + 2

The proofs compare with (1 - 1/T) x + y_1/T and need convexity alone (docs/mathematics.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log, sqrt
from typing import Any, ClassVar, NamedTuple, Self

from dikin.arguments import nonnegative, positive
from dikin.domains.base import Array, Domain
from dikin.learners.barrier_ftrl import RATE, SPENT, TOTAL, BarrierFTRL
from dikin.learners.kernel_learner import Asked, LearnerState, Proposal
from dikin.learners.parameters import (
    CURVATURE,
    LIPSCHITZ,
    SMOOTHNESS,
    assumed_curvature,
    horizon,
    parameter,
)
from dikin.theory.certificate import RANGE, Part


class FixedRate(NamedTuple):
    """The constants of a learner."""

    dim: float
    eta: float
    smoothness: float = 0.0  # beta
    lipschitz: float = 0.0  # L
    reach: float = 1.0  # delta
    curvature: float = 0.0  # sigma: assumed of every round that counts, also the next one
    least: float = 0.0  # a round with less curvature is thrown away
    kappa: float = 1.0
    first: float = 0.0  # S_0

    def rate(self, total: float, round: int) -> float:
        """The same in every round."""
        return self.eta

    def typical(self, rounds: int) -> float:
        """The same for every number of rounds."""
        return self.eta


class FixedRateRound(NamedTuple):
    """One round."""

    geometry: Any
    schedule: FixedRate

    def ask(self, state: LearnerState, s: Array, metric: Array, u: Array) -> Proposal:
        geometry, right, numbers = self.geometry, self.schedule, state.numbers
        shift = numbers[RATE] * (numbers[TOTAL] + right.curvature)
        seen = geometry.explore(state.iterate, right.kappa, shift, s, metric)
        unit = 1.0 / sqrt(seen[0])
        return geometry.point(state.iterate, metric, seen, right.reach * unit, u), unit, seen

    def tell(
        self, round: int, asked: Asked, loss: float, curvature: float, state: LearnerState
    ) -> None:
        geometry, right, numbers = self.geometry, self.schedule, state.numbers
        if curvature < right.least:
            numbers[SPENT] += RANGE
            return
        (_, _, iterate), metric, (_, unit, seen) = asked
        d, beta, sigma = right.dim, right.smoothness, right.curvature
        along, y_square = geometry.linear_update(
            iterate, metric, seen, d / right.reach * loss * unit, sigma, state.linear
        )
        numbers[TOTAL] += sigma
        tau = right.reach * right.reach * seen[1]
        price = 0.5 * tau * (beta / d + (beta - sigma) / (d + 2.0))
        numbers[SPENT] += price + right.lipschitz * sqrt(tau / d)
        numbers[SPENT] += along - 0.5 * sigma * y_square
        weight = right.kappa / numbers[RATE]
        geometry.solve(state.linear, numbers[TOTAL], weight, state.iterate)


class FixedRateFTRL(BarrierFTRL):
    """Learners that need the horizon."""

    horizon: int = horizon(2, "the rate contains ln T")

    def _explore(self, share: float, smoothness: float = 0.0, lipschitz: float = 0.0) -> None:
        dim, reach = float(self.domain.dim), min(1.0, share)
        eta = reach / dim * min(0.5, sqrt(self.domain.nu * log(self.horizon) / self.horizon))
        right = FixedRate(dim, eta, smoothness, lipschitz, reach)
        self._follow(FixedRateRound(self.geometry, right))

    def _learning(self) -> float:
        """a = d sqrt(nu T ln T)."""
        return self.domain.dim * sqrt(self.domain.nu * self.horizon * log(self.horizon))


class Scrible(FixedRateFTRL):
    """Learner for linear losses over a known number of rounds.

    Notes
    -----
    Published: follow the regularised leader with a barrier, exploration over the whole of Dikin's
    ellipsoid, and regret of order d sqrt(nu T ln T).

    Ours: the directions, uniform on the sphere in place of a random eigenvector, with the same
    second moment. The rate, which balances the bound proved in docs/mathematics.md. That of 2008 is
    probably sqrt(nu ln T/T)/(4 d).

    References
    ----------
    Abernethy, Hazan, Rakhlin: Competing in the dark: an efficient algorithm for bandit linear
    optimization. COLT 2008.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = Scrible(Ball(2), horizon=1000, seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    """

    smoothness: ClassVar[float] = 0.0

    def _begin(self) -> None:
        self._explore(1.0)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 1000, seed=seed)
        yield cls(domain, 5000, loss_range=(3, 11), seed=seed)


class SahaTewari(FixedRateFTRL):
    """Learner for `smoothness`-smooth losses over a known number of rounds. Ignores curvature.

    Notes
    -----
    Published: the loop, with one rate and one share delta of Dikin's ellipsoid, and the rate
    T^(2/3). In the units of this library the text has delta = (d sqrt(2 nu ln T)/(beta D^2
    sqrt(T)))^(1/3), D the diameter, and eta = (delta/d) sqrt(2 nu ln T/T).

    Ours: the constants of both, which minimise the bound of a proof that does not assume smooth
    bounded losses to be Lipschitz, as the published one does.

    References
    ----------
    Saha, Tewari: Improved regret guarantees for online smooth convex optimization with bandit
    feedback. AISTATS 2011.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = SahaTewari(Ball(2), horizon=1000, smoothness=1.0, seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    """

    smoothness: float = parameter(SMOOTHNESS, nonnegative)

    def _begin(self) -> None:
        beta = self._in_units("smoothness")
        exploring = 1.5 * beta * self.horizon
        share = (self._learning() / exploring) ** (1 / 3) if exploring > 0 else 1.0
        self._explore(share, smoothness=beta)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        unit = 1.0 / domain.radius**2
        yield cls(domain, 1000, unit, seed=seed)
        yield cls(domain, 10**6, 20 * unit, loss_range=(3, 11), seed=seed)


class LipschitzBarrier(FixedRateFTRL):
    """Learner for `lipschitz` losses over a known number of rounds. Ignores curvature.

    Notes
    -----
    Published: that such a method exists, with regret of order sqrt(L) d^(3/4) T^(3/4). We did not
    have the lecture notes, only the rate that Luo, Zhang and Zhao (COLT 2022) quote.

    Ours: the algorithm, that of `SahaTewari` with the share delta that balances the bound for
    Lipschitz losses. It has the quoted rate where nu is of the order of d.

    References
    ----------
    Luo: lecture notes on bandit convex optimization, as quoted by Luo, Zhang, Zhao: Adaptive bandit
    convex optimization with heterogeneous curvature. COLT 2022.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = LipschitzBarrier(Ball(2), horizon=1000, lipschitz=1.0, seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    """

    lipschitz: float = parameter(LIPSCHITZ, positive)

    def _begin(self) -> None:
        slope = self._in_units("lipschitz")
        self._explore(sqrt(self._learning() / (slope * self.horizon)), lipschitz=slope)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        unit = 1.0 / domain.radius
        yield cls(domain, 1000, unit, seed=seed)
        yield cls(domain, 10**6, 20 * unit, loss_range=(3, 11), seed=seed)


class HazanLevy(FixedRateFTRL):
    """Learner for `smoothness`-smooth losses that are all `curvature`-strongly convex.

    Notes
    -----
    Published: the algorithm and its rate eta, which was checked against the quotation in Luo, Zhang
    and Zhao (COLT 2022) and not against the printed paper.

    Ours: the limit 1/(2 d) on eta, and the constants of the bound, by a proof that does not assume
    smooth bounded losses to be Lipschitz.

    References
    ----------
    Hazan, Levy: Bandit convex optimization: towards tight bounds. NeurIPS 2014.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = HazanLevy(Ball(2), horizon=1000, smoothness=1.0, curvature=0.5, seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    """

    smoothness: float = parameter(SMOOTHNESS, nonnegative)
    curvature: float = parameter(CURVATURE, positive)
    discards = False  # True if a round with less curvature is thrown away

    def _begin(self) -> None:
        beta, sigma = self._in_units("smoothness"), assumed_curvature(self, self.curvature)
        dim, least = float(self.domain.dim), sigma if self.discards else 0.0
        stiff = (self.domain.nu + 2.0 * beta / sigma) * log(self.horizon)
        eta = min(sqrt(stiff / (2.0 * self.horizon)), 0.5) / dim
        right = FixedRate(dim, eta, beta, curvature=sigma, least=least)
        self._follow(FixedRateRound(self.geometry, right))

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        unit = 1.0 / domain.radius**2
        yield cls(domain, 1000, unit, 0.5 * unit, seed=seed)
        yield cls(domain, 10**6, 20 * unit, unit, loss_range=(3, 11), seed=seed)


class Discard(HazanLevy):
    """Learner for losses that are `curvature`-strongly convex in the rounds that count.

    Notes
    -----
    Published: the idea, as the naive method in the remarks of Luo, Zhang and Zhao on Theorem 7, and
    that it tolerates only of order sqrt(T) rounds thrown away.

    Ours: the algorithm, which is `HazanLevy` on the rounds whose curvature reaches `curvature`.

    References
    ----------
    Luo, Zhang, Zhao: Adaptive bandit convex optimization with heterogeneous curvature. COLT 2022,
    after Corollary 10.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = Discard(Ball(2), horizon=1000, smoothness=1.0, curvature=0.5, seed=1)
    >>> learner.tell(learner.ask(), 0.3)  # without curvature: thrown away
    >>> learner.center
    array([0., 0.])
    """

    discards = True
    curvature: float = parameter(
        "The strong convexity of the rounds that count: a round with less is thrown away.", positive
    )

    def _certificate_part(self) -> Part | None:
        # If the range may still be widened, a round thrown away may cost more than its width.
        return None if self.may_restart else super()._certificate_part()
