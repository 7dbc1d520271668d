"""The schedule of `Predictive`: lambda, the rate and its budget (docs/mathematics.md, 13.3)."""

from __future__ import annotations

from math import floor, inf, log, sqrt

from dikin.kernel import compilable
from dikin.learners.predictive_state import (
    Centres,
    Levels,
    Numbers,
    Plan,
    largest_rate,
    smoothness_of,
)
from dikin.theory import schedules

CAP = 0.9
"""Of 1/(d c): the largest step in the local norm, with a known range. It must be below 1 for the
rates that are proved, which are for a known range. Without one it is CAP (1 + 1/sqrt(d)): the level
is then a multiple of what surprises are, so that a step of a full level is rare. Of a step a share
1/sqrt(d) leads to the minimum and the rest is noise; so in many dimensions larger steps had more
regret, and in few they had less. Certificates hold for any."""
SHARE_RANGED, SHARE_MEASURED = 1.0, 4.0
"""Rises of the rate may cost so many times all else, with a known range and without one, and so may
clipped rounds in a known range. A larger share had less regret on bowls and on absolute distances.
The rates that are proved are for 1; certificates hold for any."""
GUESS_RANGED, GUESS_MEASURED = 1.0, 10.0
"""The smoothness that is tuned for where none is declared, in units of the largest level: about
that of a bowl that fills the range of the losses. With a known range the first level is that range.
Without one it comes from losses around one point: in a random direction they vary by a share
1/sqrt(d) of what they vary by at most, and so the guess is GUESS_MEASURED sqrt(d) levels.
Certificates hold for any."""
FACTOR = 0.5
"""Of the rate that balances exploration and noise: half of it had less regret in most games."""
STEEP_FACTOR = 0.8
"""The same for Lipschitz losses."""
SPREAD = 8.0
"""The level c is taken for at most so many times the typical surprise."""
WINDOW = 64.0
"""Rounds over which the typical surprise is taken."""
CURVED, STEEP_CURVED = 2.0, 1.5
"""lambda_t/2 is this many times the price of exploring after it: smooth and Lipschitz losses."""
CURVED_MEASURED = 2.5
"""The same for smooth losses whose range is not known."""
STEP = 1.1
"""A rate changes by this factor at least, or stays."""
EVERY = 8
"""How often it is looked at, after the first WINDOW rounds: it costs a tenth of a round."""


@compilable
def regularisation(
    plan: Plan, total: float, rate: float, cost: float, smooth: bool, trace: float, sigma: float
) -> float:
    """lambda_t: about what exploring would cost after it, so that neither is much the larger.

    smooth:     lambda (S + sigma + lambda) = 2 CURVED a S,       a the price of the round
    Lipschitz:  lambda sqrt(S + sigma + lambda) = 2 STEEP_CURVED a sqrt(S)

    `total` is S. While it is 0, d/(eta tau) stands for it: the mean curvature of the barrier.
    """
    if not total > 0.0:
        total = plan.dim / (rate * trace)
    if smooth:
        half, target = 0.5 * (total + sigma), 2.0 * plan.curved * cost * total
        return target / (half + sqrt(half * half + target))
    if cost == 0.0:
        return 0.0
    doubled = 2.0 * STEEP_CURVED * cost
    return schedules.smooth_regularisation(total + sigma, doubled * doubled * total)


@compilable
def average_shares(plan: Plan, n: Numbers, shares: tuple[float, float], round: int) -> None:
    """The mean shares of the declared constants, with one round more."""
    rounds = min(round + 1.0, plan.memory)
    n.shares[0] += (shares[0] - n.shares[0]) / rounds
    n.shares[1] += (shares[1] - n.shares[1]) / rounds


@compilable
def balanced_rate(
    plan: Plan, levels: Levels, shares: list[float], total: float, span: float, stiff: float
) -> float:
    """eta_{t+1}, from the state after round t.

    It balances the noise of the estimates, eta d^2 V/2 a round, with what exploring costs. V is at
    least (c/SPREAD)^2, so that no surprise that c admits costs much more than was planned for.
    `total` is S; `span` is t + 1, or the rounds that are remembered. `stiff` is the curvature of
    the barrier, h = d/tau - eta S: where the barrier keeps exploration small, near the boundary,
    there is little to balance.

    smooth:     beta/(eta S + h) + eta d^2 V/2 is least at eta S + h = sqrt(2 beta S/V)/d
    Lipschitz:  L/sqrt(eta S + h) + eta d^2 V/2 at  eta S + h = (L S/(d^2 V))^(2/3)

    beta and L are the mean ones of the rounds so far, but no less than a share t^(-1/2) of those
    that were declared.
    """
    d, noise, level = plan.dim, levels.mean_square, levels.current
    if noise < level * level / (SPREAD * SPREAD):
        noise = level * level / (SPREAD * SPREAD)
    span = span if span > 3.0 else 3.0
    low = 2.0 * plan.nu * log(span) / (span * noise * d * d)
    best, factor = 0.0, FACTOR
    if total > 0.0:
        least = 1.0 / sqrt(span)
        beta = max(shares[0], least) * smoothness_of(plan, levels)
        lipschitz = max(shares[1], least) * plan.lipschitz
        if beta < inf:
            best = sqrt(2.0 * beta * total / noise) / d
        if lipschitz < inf:
            for_lipschitz = (lipschitz * total / (d * d * noise)) ** (2.0 / 3.0)
            if not beta < inf or cheaper(plan, beta, lipschitz, total, noise, for_lipschitz, best):
                best, factor = for_lipschitz, STEEP_FACTOR
        best = (best - stiff) / total if best > stiff else 0.0
    best = factor * sqrt(best * best + low)
    cap = largest_rate(plan, level)
    return best if best < cap else cap


@compilable
def cheaper(
    plan: Plan,
    beta: float,
    lipschitz: float,
    total: float,
    noise: float,
    one: float,
    two: float,
) -> bool:
    """Whether a round costs less where eta S + h is `one` than where it is `two`.

    A balance at 0 says that exploring costs nothing.
    """
    if min(one, two) == 0.0:
        return one < two
    slope = 0.5 * plan.dim * plan.dim * noise / total
    first = min(beta / one, lipschitz / sqrt(one)) + slope * one
    second = min(beta / two, lipschitz / sqrt(two)) + slope * two
    return first < second


@compilable
def budget(plan: Plan, centres: Centres, i: int, rounds: float) -> float:
    """What clipped rounds may cost, and what rises may: a share of what all else costs at least."""
    others = centres.exploring[i] + 0.5 * centres.lam[i]
    return plan.share * (others + plan.nu * log(rounds + 1.0) / centres.rate[i])


@compilable
def pay_for_rate(
    plan: Plan, centres: Centres, i: int, keep: float, before: float, barrier: float
) -> bool:
    """Whether a rate that has just changed from `before` can be paid for; if so, it is.

    A rate that falls always can: then the barrier's share of the bound is a gain. `barrier` is
    psi_0 at the new centre.
    """
    cost = (keep / before - 1.0 / centres.rate[i]) * barrier
    allowed = budget(plan, centres, i, centres.rounds[i])
    if cost > 0.0 and centres.rate_changes[i] + cost > allowed:
        return False
    centres.rate_changes[i] += cost
    return True


@compilable
def rate_is_due(clipped: bool, rounds: float, added: float) -> bool:
    """Whether it is time to look at the rate of a centre that has learnt `added` rounds more."""
    due = floor(rounds / EVERY) > floor((rounds - added) / EVERY)
    return clipped or rounds < WINDOW or due


@compilable
def next_rate(plan: Plan, levels: Levels, wanted: float, before: float) -> float:
    """The rate as it is wanted, if it is another one by a factor of STEP; never above the cap."""
    rate = before if before < STEP * wanted < STEP * STEP * before else wanted
    return min(rate, largest_rate(plan, levels.current))
