"""Algorithms 1 and 2 of Luo, Zhang and Zhao (COLT 2022), as they are played in R^d.

With psi the nu-self-concordant barrier and S_t = lambda_0 + sum_{s<=t} (sigma_s + lambda_s), both
are, for k = 2 (Algorithm 1, beta-smooth losses) and k = 3 (Algorithm 2, L-Lipschitz losses),

    line 1   H_t     = kappa Hessian(psi)(y_t) + eta_t S_{t-1} I
    line 2   s_t uniform on the unit sphere
    line 3   x_t     = y_t + z_t,   z_t = delta H_t^(-1/2) s_t
    line 4   lambda_t^k (S_{t-1} + sigma_t + lambda_t) = target              oracle-tuning-*-main
    line 5   g_t     = (d/delta) (f_t(x_t) + lambda_t/2 |x_t|^2) H_t^(1/2) s_t
    line 6   eta_{t+1} = scale (coefficient/S_t + floor)^(1/k), at most a cap
    line 7   y_{t+1} = argmin_u  G_t.u + S_t/2 |u|^2 + (kappa/eta_{t+1}) psi(u),
             G_t     = sum_{s<=t} g_s - (sigma_s + lambda_s) y_s

The paper plays in R^{d+1} with Psi(x, b) = 400 (psi(x/b) - 2 nu ln b). With b = 1 its lifting
carried out gives these lines with delta = 1 (docs/mathematics.md, "The reduced form"). The box of
Algorithm 1 has coefficient = beta + 1 and scale = 1/(2d), that of Algorithm 2 coefficient =
(L + 1)^2 and scale = d^(-4/3). target = d^2 coefficient, and there are two sets of constants:

    sharp:  kappa = 1, lambda_0 = target, cap 1/(3d), floor nu ln T/T (k = 2) or 0 (k = 3)
    paper:  kappa = 400, lambda_0 = max{rho, target}, no cap, floor nu/(T ln T) or coefficient/T

`sharp` is the default, where the present round replaces an unknown T. `paper` follows the paper to
the letter. It needs the horizon, and below about 10^8 rounds its lambda_0 is so large that the
centre hardly moves. Other schedules make other learners of the same lines: `barrier_family`.
The certificate is that of `dikin.theory.certificate`, with tau_t = delta^2 tr(H_t^-1).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, log, sqrt
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from dikin.arguments import nonnegative
from dikin.domains.base import Array, Domain
from dikin.errors import CertificateWarning, ParameterError, SlowLearnerWarning, shown
from dikin.kernel import compilable
from dikin.learners.kernel_learner import KernelLearner, LearnerState, Memo, Proposal
from dikin.learners.parameters import LIPSCHITZ, SMOOTHNESS, one_of, optional_horizon, parameter
from dikin.silence import warn
from dikin.theory import rates
from dikin.theory.certificate import RANGE, Account, Part

TOTAL, RATE, SPENT, HELD = range(4)
"""The numbers of the state: S_t, eta_{t+1}, and two sums of the certificate."""
UNEQUAL = 10.0
"""The ratio of the longest side to the shortest above which the learner warns."""
EARLIEST = 3.0
"""ln t/t falls only from t = e on. It is held constant before, so that the rate never rises."""


def target(order: int, dim: int, constant: float) -> float:
    """Return d^2 (constant + 1)^(k-1): as lambda_0 it keeps every lambda_t below 1."""
    return float(dim**2 * (constant + 1.0) ** (order - 1))


def uncurved(first: float, target: float, rounds: int, order: int) -> float:
    """Return about S_T without curvature, from T alone: it solves dS/dt = (target/S)^(1/k)."""
    power = 1 + 1 / order
    return float((first**power + power * target ** (1 / order) * rounds) ** (1 / power))


@compilable
def regularisation(total: float, target: float, order: int) -> float:
    """Return lambda_t > 0 of lambda^k (total + lambda) = target, the equation of line 4.

    (target/total)^(1/k) and target^(1/(k+1)) are at or above it. The smaller one is close, and
    Halley's method cubes the error: a step that moves by less than 1e-6 is the last.
    """
    k, share = float(order), target / total
    root: float = sqrt(share) if order == 2 else share ** (1.0 / 3.0)
    if root > total:  # exactly when target^(1/(k+1)) is the smaller of the two
        root = target ** (1.0 / (k + 1.0))
    for _ in range(60):  # three are enough, but not for NaN, which an altered state may have
        low = 1.0 if order == 2 else root  # root^(k-2)
        value = low * root * root * (total + root) - target
        slope = low * root * (k * total + (k + 1.0) * root)
        bend = 0.5 * k * low * ((k - 1.0) * total + (k + 1.0) * root)
        fall = value * slope / (slope * slope - value * bend)
        root -= fall
        if abs(fall) < 1e-6 * root:
            break
    return root


class Schedule(NamedTuple):
    """The constants of lines 1 to 7 and of a_t. Without a target lambda_t = 0 and eta_t = cap."""

    dim: float
    cap: float  # the largest rate: sharp constants keep eta_t |g_t|* at most 1/2 by it
    smoothness: float = 0.0  # beta
    lipschitz: float = 0.0  # L
    order: int = rates.SMOOTH  # k
    target: float = 0.0
    first: float = 0.0  # lambda_0
    coefficient: float = 0.0
    scale: float = 0.0
    floor: float = 0.0  # inside the root of line 6, if the horizon is known
    anytime: float = 0.0  # nu if it is not known: then the floor is nu ln t/t
    kappa: float = 1.0
    reach: float = 1.0  # delta
    trust: float = 1.0  # 1 to use the curvature of answers, 0 to ignore it
    assumed: float = 0.0  # curvature that every round has, also the next one
    least: float = 0.0  # a round with less curvature is thrown away

    def regularisation(self, total: float) -> float:
        """lambda_t from S_{t-1} + sigma_t = total: line 4."""
        return regularisation(total, self.target, self.order) if self.target > 0.0 else 0.0

    def rate(self, total: float, round: int) -> float:
        """eta_t from S_{t-1} = total: line 6."""
        if self.target == 0.0:
            return self.cap
        floor = self.floor
        if self.anytime > 0.0:
            rounds = float(round) if round > EARLIEST else EARLIEST
            floor = self.anytime * log(rounds) / rounds
        inside = self.coefficient / total + floor
        root: float = sqrt(inside) if self.order == rates.SMOOTH else inside ** (1.0 / 3.0)
        rate = self.scale * root
        return rate if rate < self.cap else self.cap

    def typical(self, rounds: int) -> float:
        """A rate near eta_{T+1} that depends on T alone: it places the certificate's comparator."""
        if self.target == 0.0:
            return self.cap
        total = uncurved(self.first, self.target, rounds, self.order)
        return self.rate(total, rounds + 1)


class BarrierKernel(NamedTuple):
    """One round: `ask` is lines 1 to 3, `tell` lines 4 to 7."""

    geometry: Any
    schedule: Schedule

    def ask(self, state: LearnerState, s: Array, metric: Array, u: Array) -> Proposal:
        right, geometry, numbers = self.schedule, self.geometry, state.numbers
        shift = numbers[RATE] * (numbers[TOTAL] + right.assumed)
        # Lines 1 and 2: normal noise becomes a direction, and s_t = unit s.
        seen = geometry.explore(state.iterate, right.kappa, shift, s, metric)
        unit = 1.0 / sqrt(seen[0])
        # Line 3.
        return geometry.point(state.iterate, metric, seen, right.reach * unit, u), unit, seen

    def tell(
        self, round: int, memo: Memo, loss: float, curvature: float, state: LearnerState
    ) -> None:
        right, numbers, (played_square, unit, seen) = self.schedule, state.numbers, memo.asked
        d, beta, lipschitz, reach = right.dim, right.smoothness, right.lipschitz, right.reach
        # A round that is thrown away adds zero: a branch here would cost time in every round.
        counts = 1.0 if curvature >= right.least else 0.0
        sigma = right.trust * curvature + right.assumed
        lam = right.regularisation(numbers[TOTAL] + sigma)  # line 4
        slope = d / reach * (loss + 0.5 * lam * played_square)  # line 5
        added, scale = counts * (sigma + lam), counts * slope * unit
        along, square = self.geometry.linear_update(
            memo.iterate, memo.metric, seen, scale, added, state.linear
        )  # g_t.y_t and |y_t|^2
        # The certificate.
        tau = reach * reach * seen[1]
        price = 0.5 * tau * (beta / d + (beta - sigma) / (d + 2.0)) + lipschitz * sqrt(tau / d)
        numbers[SPENT] += counts * price + (1.0 - counts) * RANGE
        numbers[SPENT] += along - 0.5 * (added + counts * lam) * square
        numbers[HELD] += counts * lam
        numbers[TOTAL] += added
        rate = right.rate(numbers[TOTAL], round + 1)  # line 6
        if rate < numbers[RATE]:
            numbers[RATE] = rate
        weight = right.kappa / numbers[RATE]
        self.geometry.solve(state.linear, numbers[TOTAL], weight, state.iterate)  # line 7


class BarrierFTRL(KernelLearner):
    """Follow the regularised leader with a barrier. Subclasses supply the schedule."""

    @property
    def _schedule(self) -> Schedule:
        right: Schedule = self._kernel.schedule
        return right

    def _follow(self, right: Schedule) -> None:
        numbers = [right.first, right.rate(right.first, 1), 0.0, right.first]
        state = LearnerState(numbers, np.zeros(self.geometry.size), self.geometry.start())
        self._start(BarrierKernel(self.geometry, right), state)

    def _certificate_part(self) -> Part | None:
        """The account of the rounds. None if the centre is not known accurately enough."""
        geometry, right, (numbers, linear, iterate) = self.geometry, self._schedule, self._state
        if not geometry.converged(iterate):
            warn(
                "the centre is so close to the boundary that rounding decides where it is: the "
                "certificate is NaN until it is farther inside. The learner itself continues.",
                CertificateWarning,
                stacklevel=4,
            )
            return None
        y, weight = geometry.vector(iterate), right.kappa / numbers[RATE]
        least = float(linear.dot(y)) + 0.5 * numbers[TOTAL] * float(y.dot(y))
        least += weight * geometry.barrier(iterate)
        rounds = self.rounds - self._earlier
        account = Account(rounds, numbers[SPENT] - least, numbers[HELD], weight)
        return Part(account, right, self.units.loss_scale)


def sharp_schedule(
    order: int, dim: int, nu: float, constant: float, horizon: int | None
) -> Schedule:
    """The constants of docs/mathematics.md, from beta or L in the paper's units."""
    d, coefficient = float(dim), (constant + 1.0) ** (order - 1)
    goal, cap = target(order, dim, constant), 1.0 / (3.0 * dim)
    common = Schedule(d, cap, order=order, target=goal, first=goal, coefficient=coefficient)
    if order == rates.LIPSCHITZ:
        return common._replace(lipschitz=constant, scale=d ** (-4.0 / 3.0))
    right = common._replace(smoothness=constant, scale=0.5 / d)
    if horizon is None:
        return right._replace(anytime=nu)
    return right._replace(floor=nu * log(horizon) / horizon)


def paper_schedule(sharp: Schedule, nu: float, horizon: int) -> tuple[Schedule, float]:
    """The constants of the paper's algorithm boxes, and the round from which its theorem holds."""
    d, beta, lipschitz = sharp.dim, sharp.smoothness, sharp.lipschitz
    if sharp.order == rates.SMOOTH:
        rho = 512.0 * nu * (1.0 + 32.0 * sqrt(nu)) ** 2
        lambda_0, floor = (beta + 1.0) * rho / nu, nu / (horizon * log(horizon))
    else:  # rho'
        steep = 16.0 * sqrt(nu) * (d * (4.0 * lipschitz + 1.0)) ** (1.0 / 3.0)
        rho = 2.0**16 * (steep + (lipschitz + 1.0) ** (2.0 / 3.0)) ** 3 / d
        lambda_0, floor = rho, sharp.coefficient / horizon
    first = max(lambda_0, sharp.target)
    return sharp._replace(cap=inf, kappa=400.0, first=first, floor=floor, anytime=0.0), rho


class Adaptive(BarrierFTRL):
    """Both algorithms."""

    order: ClassVar[int]  # k
    horizon: int | None = optional_horizon(1, "or None", default=None, kw_only=True)
    constants: str = parameter(
        '"sharp", those of docs/mathematics.md, or "paper", those of the publication.',
        one_of("sharp", "paper"),
        default="sharp",
        kw_only=True,
    )

    def _begin(self) -> None:
        rounded = self.domain.geometry(self.units.radius, equal_sides=True)
        ratio = rounded.longest / rounded.shortest
        if ratio > UNEQUAL:
            warn(
                f"the sides of {self.domain} differ by a factor of {ratio:.3g}, and "
                f"{type(self).__name__} measures plain lengths, as in the paper: it learns little "
                "along short sides. Use Predictive, which makes sides equal, or choose units in "
                "which they are",
                SlowLearnerWarning,
                stacklevel=3,
            )
        constant = self._in_units("smoothness" if self.order == rates.SMOOTH else "lipschitz")
        dim, nu, horizon = self.domain.dim, self.domain.nu, self.horizon
        right = sharp_schedule(self.order, dim, nu, constant, horizon)
        if self.constants == "paper":
            if horizon is None or horizon < 2:
                raise ParameterError(
                    "constants='paper' contain ln T and need horizon=T, at least 2, "
                    f"got {shown(horizon)}; the default constants='sharp' need none"
                )
            right, needed = paper_schedule(right, nu, horizon)
            if horizon < needed:
                warn(
                    f"the paper's theorem holds from T = {needed:.2g} rounds on, and horizon is "
                    f"{horizon}: below that, its constants allow hardly any learning, and the "
                    "certificate grows like T. The default constants='sharp' hold for every T.",
                    SlowLearnerWarning,
                    stacklevel=3,
                )
        self._follow(right)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        make: Any = cls
        # beta or L is 1 in the paper's units, for losses in [-1, 1].
        unit = domain.radius**-2 if cls.order == rates.SMOOTH else 1.0 / domain.radius
        yield make(domain, unit, seed=seed)
        yield make(domain, (20 if cls.order == rates.SMOOTH else 5) * unit, horizon=1000, seed=seed)
        yield make(domain, unit, loss_range=(3, 11), seed=seed)


class AdaptiveSmooth(Adaptive):
    """Learner for losses that are `smoothness`-smooth on the domain, in the user's units.

    Regret of order d^(2/3) T^(2/3) without curvature, d^(3/2) sqrt(T) with constant curvature, and
    in between as the curvature of each round allows (Theorem 7 of the paper).

    References
    ----------
    Luo, Zhang, Zhao: Adaptive bandit convex optimization with heterogeneous curvature. COLT 2022.

    Examples
    --------
    >>> from dikin import Box
    >>> learner = AdaptiveSmooth(Box([0, 0], [10, 2]), smoothness=0.5, loss_range=(0, 40), seed=7)
    >>> query = learner.ask()
    >>> learner.tell(query, loss=12.3, curvature=0.1)
    >>> learner.rounds
    1
    """

    order = rates.SMOOTH
    smoothness: float = parameter(SMOOTHNESS, nonnegative)


class AdaptiveLipschitz(Adaptive):
    """Learner for losses that are `lipschitz`-Lipschitz on the domain, in the user's units.

    Regret of order d^(1/2) T^(3/4) without curvature, d^(2/3) T^(2/3) with constant curvature, and
    in between as the curvature of each round allows (Theorem 12 of the paper).

    References
    ----------
    Luo, Zhang, Zhao: Adaptive bandit convex optimization with heterogeneous curvature. COLT 2022.

    Examples
    --------
    >>> from dikin import Simplex
    >>> learner = AdaptiveLipschitz(Simplex(3), lipschitz=2.0, loss_range=(0, 1), seed=7)
    >>> query = learner.ask()
    >>> learner.tell(query, loss=0.4)
    >>> learner.rounds
    1
    """

    order = rates.LIPSCHITZ
    lipschitz: float = parameter(LIPSCHITZ, nonnegative)
