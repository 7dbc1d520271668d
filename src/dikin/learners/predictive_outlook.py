"""The schedule of `Predictive`, run ahead: what exploring is going to cost."""

from __future__ import annotations

from collections.abc import Callable

from dikin.learners import predictive_schedule as schedule
from dikin.learners.predictive_certificate import exploring_price
from dikin.learners.predictive_levels import TINY, double_or_halve, has_falling_level
from dikin.learners.predictive_schedule import EVERY, WINDOW
from dikin.learners.predictive_state import Numbers, Plan


def look_ahead(
    plan: Plan, n: Numbers, answered: int, rounds: int, trace: Callable[[float], float]
) -> float:
    """What exploring has cost and noise will have added to it after so many answers more.

    Every surprise is sqrt(V), none is clipped, the centre stays, and the curvature that is told is
    the mean of what was told. A round's noise moves the models by eta d^2 V/2; where the curvature
    is not known, what the regularisers cost is as much again, as they are balanced with it. Later
    rounds are taken several at a time: numbers change slowly then. `trace` is tr(H^-1) at the
    centre, for any shift. The numbers are written.
    """
    centres, last = n.centres, answered + rounds
    sigma = max(centres.curvature[0] - centres.lam[0], 0.0) / max(centres.rounds[0], 1.0)
    own = centres.rate[0] * centres.curvature[0]
    share = n.shift / own if own > 0.0 else 1.0  # other centres may explore less, or more
    total = n.sums.exploring[0]
    while answered < last:
        step = min(_stride(answered), last - answered)
        keep = plan.keep**step
        weight = float(step) if keep == 1.0 else (1.0 - keep) / (1.0 - plan.keep)
        answered += step
        shift = share * centres.rate[0] * centres.curvature[0]
        cost = _add_equal_answers(plan, n, answered, keep, weight, sigma, trace(shift), shift)
        noise = 0.5 * centres.rate[0] * plan.dim**2 * n.levels.mean_square
        noise *= 1.0 + centres.lam[0] / max(centres.curvature[0], centres.lam[0], TINY)
        total = keep * total + weight * (cost + noise)
    return total


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
    trace: float,
    shift: float,
) -> float:
    """Some rounds that are all the same, of which one counts `weight` times; what one costs."""
    centres, levels = n.centres, n.levels
    cost, smooth = exploring_price(plan, levels, trace, n.shares[0], n.shares[1])
    lam = schedule.regularisation(
        plan, keep * centres.curvature[0], centres.rate[0], cost, smooth, trace, sigma
    )
    centres.curvature[0] = keep * centres.curvature[0] + weight * (sigma + lam)
    centres.lam[0] = keep * centres.lam[0] + weight * lam
    centres.exploring[0] = keep * centres.exploring[0] + weight * cost
    if has_falling_level(plan):
        double_or_halve(plan, n, False, float(answered))
    span = min(answered + 1.0, plan.memory)
    stiff = plan.dim / trace - shift
    wanted = schedule.balanced_rate(plan, levels, n.shares, centres.curvature[0], span, stiff)
    centres.rate[0] = schedule.next_rate(plan, levels, wanted, centres.rate[0])
    return cost
