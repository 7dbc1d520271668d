"""The certificate of `Predictive`: its sums, the objective, the bound and its outlook.

docs/mathematics.md, 13.2, proves it, whatever the schedule and the levels were.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isnan, log, nan, sqrt
from typing import Any, NamedTuple

import numpy as np

from dikin.domains.base import Array, Domain
from dikin.kernel import compilable
from dikin.learners import predictive_schedule as schedule
from dikin.learners.kernel_learner import LearnerState
from dikin.learners.predictive_levels import double_or_halve, has_falling_level, measuring
from dikin.learners.predictive_schedule import EVERY, WINDOW
from dikin.learners.predictive_state import Levels, Numbers, Plan, Sums, smoothness_of

# --- the sums ------------------------------------------------------------------------------------


@compilable
def exploring_price(plan: Plan, levels: Levels, trace: float) -> tuple[float, bool]:
    """What exploring a round costs at most, and whether that is the price of a smooth loss.

    `trace` is tr(H^-1).
    """
    smooth = smoothness_of(plan, levels) * plan.square_price * trace
    lipschitz = plan.lipschitz * plan.length_price * sqrt(trace)
    return (smooth, True) if smooth <= lipschitz else (lipschitz, False)


@compilable
def add_answer(
    sums: Sums, g_y: float, y_square: float, tau: float, cost: float, sigma: float, lam: float
) -> None:
    """What an answer adds to the sums.

    `g_y` is g.y, not clipped, and `y_square` |y|^2 at the centre of the query; `tau` is tr(H^-1)
    there, times the square of how far out it was played; `cost` is the price of exploring.
    """
    sums.rounds += 1.0
    sums.g_y += g_y
    sums.y_square += y_square
    sums.sigma_y_square += sigma * y_square
    sums.tau += tau
    sums.root_tau += sqrt(tau)
    sums.exploring += cost
    sums.sigma_tau += sigma * tau
    sums.lam += lam
    sums.curvature += sigma + lam


@compilable
def discount(sums: Sums, keep: float) -> None:
    """What is left of the sums when older answers weigh `keep`."""
    sums.rounds *= keep
    sums.clipped *= keep
    sums.curvature *= keep
    sums.lam *= keep
    sums.g_y *= keep
    sums.y_square *= keep
    sums.sigma_y_square *= keep
    sums.tau *= keep
    sums.root_tau *= keep
    sums.sigma_tau *= keep
    sums.exploring *= keep
    sums.rate_changes *= keep


# --- the objective -------------------------------------------------------------------------------


@compilable
def start_barrier(geometry: Any, plan: Plan, iterate: Array) -> float:
    """psi_0 at the centre."""
    barrier: float = geometry.barrier(iterate)
    if plan.slope.size > 0:
        barrier += plan.lift - geometry.product(iterate, plan.slope)
    return barrier


def least_objective(geometry: Any, plan: Plan, state: LearnerState) -> float:
    """The least of the sum that the centre would minimise if nothing had been clipped.

    NaN where rounding at the boundary decides the centre.
    """
    n, linear, iterate, excess = state
    if not geometry.converged(iterate):
        return nan
    if not excess.any():
        return objective_at(geometry, plan, state)
    unclipped = state._replace(linear=linear + excess, iterate=iterate.copy())
    geometry.solve(unclipped.linear, n.sums.curvature, 1.0 / n.rate, unclipped.iterate)
    if geometry.converged(unclipped.iterate):
        return objective_at(geometry, plan, unclipped)
    # Of a fault as large as this, at least: the set lies in the unit ball.
    return objective_at(geometry, plan, state) - float(np.linalg.norm(excess))


def objective_at(geometry: Any, plan: Plan, state: LearnerState) -> float:
    """The sum at the centre of a state, with its linear term."""
    n, linear, iterate, _ = state
    y = geometry.vector(iterate)
    value = float(linear @ y) + 0.5 * n.sums.curvature * float(y @ y)
    return float(value + (geometry.barrier(iterate) + plan.lift) / n.rate)


# --- the bound -----------------------------------------------------------------------------------


class Bound(NamedTuple):
    """Theorem 13 of docs/mathematics.md for one set and one start."""

    plan: Plan
    domain: Domain
    start_norm: float = 0.0
    """|u_0|."""
    start_steepness: float = 0.0
    """k, the most that -psi'(u_0).u can be."""
    steepness: float = 0.0
    """k_0, the most that -psi'(u_0).(u - u_0) can be."""

    def value(
        self,
        n: Numbers,
        objective: float,
        smoothness: float,
        lipschitz: float,
        exploring: float,
        width: float,
    ) -> float:
        """The bound from the sums, the least of the objective, and what one loss varies by."""
        if isnan(objective) or measuring(n.levels):
            return nan
        sums, d = n.sums, self.plan.dim
        share: float = max(sums.rounds, 1.0) ** -0.75
        width = min(width, 2.0 * lipschitz)
        anchored = width == inf  # the comparator moves to the centre, and what that costs is known
        share = min(share, 0.5) if anchored else share
        away = 0.0 if anchored else self.start_norm
        far = (1.0 - share + share * away) ** 2
        rest = 0.5 * sums.lam * far + self._rise(share, anchored) / n.rate + exploring
        rest -= 0.5 * sums.sigma_tau / (d + 2.0)
        rest += sums.g_y - 0.5 * sums.sigma_y_square - objective
        if anchored:
            fall = 0.5 * smoothness * (sums.y_square + sums.tau / (d + 2.0)) - sums.g_y
            return (rest + share * fall) / (1.0 - share)
        return share * self._fall * width * sums.rounds + rest

    @property
    def _fall(self) -> float:
        """The most by which a loss at the start is above that at another point, in widths."""
        return 1.0 if self.plan.slope.size > 0 else 1.0 / (1.0 + self.domain.symmetry)

    def _rise(self, share: float, anchored: bool) -> float:
        """At least psi_0 at every point moved by that share to the start, or to the centre."""
        if self.plan.slope.size == 0:
            return self.domain.barrier_growth(share)
        if anchored:
            growth = self.domain.barrier_growth(share) + self.plan.lift
            return growth + (1.0 - share) * self.start_steepness
        return self.domain.nu * log(1.0 / share) + (1.0 - share) * self.steepness


# --- the outlook: the schedule, run ahead --------------------------------------------------------


class Centre(NamedTuple):
    """What a look ahead has to know of the centre, which stays."""

    trace: Callable[[float], float]
    """tr(H^-1) for any eta S."""
    barrier: float
    """psi_0."""
    square: float
    """|y|^2."""

    def regularisers(self, n: Numbers) -> float:
        """What the regularisers have at the centre."""
        return 0.5 * n.sums.lam * self.square + self.barrier / n.rate


def look_ahead(
    plan: Plan, n: Numbers, answered: int, rounds: int, centre: Centre
) -> tuple[float, float]:
    """Change the numbers as so many answers more would, if nothing else changed.

    Every surprise is sqrt(V), none is clipped, the centre stays, and the curvature that is told is
    the mean of what was told. Later rounds are taken several at a time: numbers change slowly then.

    Returns what the noise of the estimates costs, and what a memory leaves of a sum of before.
    """
    sigma = max(n.sums.curvature - n.sums.lam, 0.0) / max(n.sums.rounds, 1.0)
    noise, left, last = 0.0, 1.0, answered + rounds
    while answered < last:
        step = min(_stride(answered), last - answered)
        keep = plan.keep**step
        weight = float(step) if keep == 1.0 else (1.0 - keep) / (1.0 - plan.keep)
        noise = keep * noise + weight * 0.5 * n.rate * plan.dim**2 * n.levels.mean_square
        left, answered = keep * left, answered + step
        _add_equal_answers(plan, n, answered, keep, weight, sigma, centre)
    return noise, left


def _stride(answered: int) -> int:
    """How many rounds are taken at a time: up to one of eight in which the rate is looked at."""
    if answered < WINDOW:
        return 1
    return EVERY * (1 + answered // (EVERY * EVERY * EVERY)) - answered % EVERY


def _add_equal_answers(
    plan: Plan,
    n: Numbers,
    answered: int,
    keep: float,
    weight: float,
    sigma: float,
    centre: Centre,
) -> None:
    """Some rounds that are all the same: one is added, and counts `weight` times."""
    shift = n.rate * n.sums.curvature
    trace = centre.trace(shift)
    discount(n.sums, keep)
    before, rate = n.sums.copy(), n.rate
    cost, smooth = exploring_price(plan, n.levels, trace)
    lam = schedule.regularisation(plan, n, cost, smooth, trace, sigma)
    add_answer(n.sums, 0.0, 0.0, trace, cost, sigma, lam)
    n.sums.y_square += centre.square  # sigma |y|^2 grows by as much as the objective falls
    if has_falling_level(plan):
        double_or_halve(plan, n, False, float(answered))
    schedule.update_rate(plan, n, False, answered, plan.dim / trace - shift)
    for name in Sums.__slots__:
        value = getattr(before, name)
        setattr(n.sums, name, value + weight * (getattr(n.sums, name) - value))
    changed = n.rate != rate
    if changed and not schedule.pay_for_rate(plan, n, float(answered), 1.0 / rate, centre.barrier):
        n.rate = rate
