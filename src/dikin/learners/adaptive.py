"""Algorithms 1 and 2 of Luo, Zhang and Zhao (COLT 2022), as they are played in R^d.

With psi the nu-self-concordant barrier and S_t = lambda_0 + sum_{s<=t} (sigma_s + lambda_s), both
are, for k = 2 (Algorithm 1, beta-smooth losses) and k = 3 (Algorithm 2, L-Lipschitz losses),

    line 1   H_t     = kappa Hessian(psi)(y_t) + eta_t S_{t-1} I
    line 2   s_t uniform on the unit sphere
    line 3   x_t     = y_t + z_t,   z_t = H_t^(-1/2) s_t
    line 4   lambda_t^k (S_{t-1} + sigma_t + lambda_t) = target              oracle-tuning-*-main
    line 5   g_t     = d (f_t(x_t) + lambda_t/2 |x_t|^2) H_t^(1/2) s_t
    line 6   eta_{t+1} = scale (coefficient/S_t + floor)^(1/k), at most a cap
    line 7   y_{t+1} = argmin_u  G_t.u + S_t/2 |u|^2 + (kappa/eta_{t+1}) psi(u),
             G_t     = sum_{s<=t} g_s - (sigma_s + lambda_s) y_s

The paper plays in R^{d+1} with Psi(x, b) = 400 (psi(x/b) - 2 nu ln b). With b = 1 its lifting
carried out gives these lines (docs/mathematics.md, "The reduced form"). The box of Algorithm 1 has
coefficient = beta + 1 and scale = 1/(2d), that of Algorithm 2 coefficient = (L + 1)^2 and scale =
d^(-4/3). target = d^2 coefficient, and there are two sets of constants:

    sharp:  kappa = 1, lambda_0 = target, cap 1/(3d), floor nu ln T/T (k = 2) or 0 (k = 3)
    paper:  kappa = 400, lambda_0 = max{rho, target}, no cap, floor nu/(T ln T) or coefficient/T

`sharp` is the default, where the present round replaces an unknown T. `paper` follows the paper to
the letter. It needs the horizon, and below about 10^8 rounds its lambda_0 is so large that the
centre hardly moves. The certificate is that of `dikin.theory.certificate`, with tau_t = tr(H_t^-1).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, log, sqrt
from typing import Any, ClassVar, NamedTuple, Self

from dikin.arguments import nonnegative
from dikin.domains.base import Array, Domain
from dikin.errors import ParameterError, shown
from dikin.kernel import compilable
from dikin.learners.barrier_ftrl import HELD, RATE, SPENT, TOTAL, BarrierFTRL
from dikin.learners.kernel_learner import Asked, LearnerState, Proposal
from dikin.learners.parameters import LIPSCHITZ, SMOOTHNESS, one_of, optional_horizon, parameter
from dikin.theory import rates

EARLIEST = 3.0
"""ln t/t falls only from t = e on. It is held constant before, so that the rate never rises."""


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
    """The constants of lines 4 to 7, and of a_t."""

    dim: float
    order: int  # k
    smoothness: float  # beta, or 0
    lipschitz: float  # L, or 0
    target: float
    first: float  # lambda_0
    coefficient: float
    scale: float
    cap: float  # sharp constants keep eta_t |g_t|* at most 1/2 by it
    floor: float = 0.0  # inside the root of line 6, if the horizon is known
    anytime: float = 0.0  # nu if it is not known: then the floor is nu ln t/t
    kappa: float = 1.0

    def regularisation(self, total: float) -> float:
        """lambda_t from S_{t-1} + sigma_t = total: line 4."""
        return regularisation(total, self.target, self.order)

    def rate(self, total: float, round: int) -> float:
        """eta_t from S_{t-1} = total: line 6."""
        floor = self.floor
        if self.anytime > 0.0:
            rounds = float(round) if round > EARLIEST else EARLIEST
            floor = self.anytime * log(rounds) / rounds
        inside = self.coefficient / total + floor
        root: float = sqrt(inside) if self.order == rates.SMOOTH else inside ** (1.0 / 3.0)
        return min(self.scale * root, self.cap)

    def typical(self, rounds: int) -> float:
        """A rate near eta_{T+1} that depends on T alone: it places the certificate's comparator."""
        return self.rate(rates.uncurved(self.first, self.target, rounds, self.order), rounds + 1)


class AdaptiveRound(NamedTuple):
    """One round: `ask` is lines 1 to 3, `tell` lines 4 to 7 and the terms of the certificate."""

    geometry: Any
    schedule: Schedule

    def ask(self, state: LearnerState, s: Array, metric: Array, u: Array) -> Proposal:
        geometry, numbers = self.geometry, state.numbers
        shift = numbers[RATE] * numbers[TOTAL]
        # Lines 1 and 2: normal noise becomes a direction, and s_t = unit s.
        seen = geometry.explore(state.iterate, self.schedule.kappa, shift, s, metric)
        unit = 1.0 / sqrt(seen[0])
        return geometry.point(state.iterate, metric, seen, unit, u), unit, seen  # line 3

    def tell(
        self, round: int, asked: Asked, loss: float, sigma: float, state: LearnerState
    ) -> None:
        geometry, right, numbers = self.geometry, self.schedule, state.numbers
        (_, _, iterate), metric, (played_square, unit, seen) = asked
        d, tau = right.dim, seen[1]
        lam = right.regularisation(numbers[TOTAL] + sigma)  # line 4
        scale = d * unit * (loss + 0.5 * lam * played_square)  # line 5: g_t = scale H_t^(1/2) s
        along, y_square = geometry.linear_update(  # g_t.y_t and |y_t|^2
            iterate, metric, seen, scale, sigma + lam, state.linear
        )
        numbers[TOTAL] += sigma + lam
        # The certificate: g_t.y_t + a_t - lambda_t/2 |y_t|^2 - (sigma_t + lambda_t)/2 |y_t|^2.
        curved = 0.5 * tau * (right.smoothness / d + (right.smoothness - sigma) / (d + 2.0))
        numbers[SPENT] += curved + right.lipschitz * sqrt(tau / d)
        numbers[SPENT] += along - 0.5 * (sigma + 2.0 * lam) * y_square
        numbers[HELD] += lam
        numbers[RATE] = min(numbers[RATE], right.rate(numbers[TOTAL], round + 1))  # line 6
        weight = right.kappa / numbers[RATE]
        geometry.solve(state.linear, numbers[TOTAL], weight, state.iterate)  # line 7


def sharp_schedule(
    order: int, dim: int, nu: float, constant: float, horizon: int | None
) -> Schedule:
    """The constants of docs/mathematics.md, from beta or L in the paper's units."""
    d, coefficient = float(dim), (constant + 1.0) ** (order - 1)
    goal, cap = rates.target(order, dim, constant), 1.0 / (3.0 * dim)
    if order == rates.LIPSCHITZ:
        scale = d ** (-4.0 / 3.0)
        return Schedule(d, order, 0.0, constant, goal, goal, coefficient, scale, cap)
    right = Schedule(d, order, constant, 0.0, goal, goal, coefficient, 0.5 / d, cap)
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
        self._warn_of_unequal_sides()
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
                self._warn_of_short_horizon(horizon, needed)
        self._follow(AdaptiveRound(self.geometry, right))

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
