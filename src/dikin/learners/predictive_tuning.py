"""How `Predictive` tunes itself: plain arithmetic on a run of numbers, compiled as it stands.

The state is one list (one array in the compiled loop): the numbers of the forecasters, then those
below. All in working units; docs/mathematics.md, section 13, has the reasons and the proofs.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite, log, sqrt
from typing import Any, NamedTuple

from dikin import forecasts
from dikin.arguments import LARGEST
from dikin.domains.base import Array
from dikin.kernel import compiled
from dikin.theory import tuning

FACTOR = 0.5
"""Of the rate that balances exploration and noise: half of it had less regret in most games."""
STEEP_FACTOR = 0.8
"""The same for Lipschitz losses."""
CAP = 0.9
"""Of 1/(d c): the largest step in the local norm, with a known range. It must be below 1 for the
rates that are proved, which are for a known range. Without one it is CAP (1 + 1/sqrt(d)): the level
is then a multiple of what surprises are, so that a step of a full level is rare. Of a step a share
1/sqrt(d) leads to the minimum and the rest is noise; so in many dimensions larger steps had more
regret, and in few they had less. Certificates hold for any."""
SHARE_RANGED, SHARE_MEASURED = 1.0, 4.0
"""Clipped rounds may cost so many times all else, and so may rises of the rate: with a known range
and without one. A larger share had less regret on bowls and on absolute distances, and a larger
certificate in games that clip often. The rates that are proved are for 1; certificates hold for
any."""
SPREAD = 8.0
"""The level c is taken for at most so many times the typical surprise."""
RARE = 3.0
"""The level halves when it would still be so many times the typical surprise."""
WINDOW = 64.0
"""Rounds over which the typical surprise is taken."""
DEEPEST = 40.0
"""How often the level may halve: below 10^-12 of the range rounding would be the surprise."""
CURVED, STEEP_CURVED = 2.0, 1.5
"""lambda_t/2 is this many times the price of exploring after it: smooth and Lipschitz losses."""
GUESS_RANGED, GUESS_MEASURED = 1.0, 2.5
"""The smoothness that is tuned for where none is declared, in units of the largest level: about
that of a bowl that fills the range of the losses. With a known range the first level is that range.
Without one it comes from losses around one point: in a random direction they vary by a share
1/sqrt(d) of what they vary by at most, and so the guess is GUESS_MEASURED sqrt(d) levels. On bowls
and absolute distances in 1 to 10 dimensions factors from 2 to 3 had about the same regret, and one
guess for all dimensions had more. Certificates hold for any."""
STEP = 1.1
"""A rate changes by this factor at least, or stays."""
EVERY = 8
"""How often it is looked at, after the first WINDOW rounds: it costs a tenth of a round."""
MEASURED = 8
"""Losses that are only measured where their range is not known."""
REACH = 0.5
"""How far out in the ellipsoid they are measured."""
LEVEL = 8.0
"""The first level then, in standard deviations of those losses."""
NORMAL = 0.95
"""The third largest of eight normal numbers less the third least, in standard deviations."""
LONGEST = 32
"""Losses that are measured while most of them are the same."""
ROUNDED = 1e-12
"""Losses that differ by less, in units of the largest, are the same but for rounding."""
UNVARIED = 0.5
"""Where all of them are the same: their deviation is taken for so much of the largest. A bowl
around its minimum has four times the measured loss farther out, within LEVEL such deviations."""
TINY = 1.0 / LARGEST
"""Losses that differ by less are the same: squares would be 0."""
BEYOND = LARGEST**3
"""More than any loss in working units, for the least of none; a state as JSON has no infinity."""

# Where the state keeps its numbers, after those of the forecasters.
TOTAL = forecasts.SIZE
"""S."""
RATE = TOTAL + 1
"""eta."""
MEAN_SQUARE = TOTAL + 2
"""The mean square of recent surprises, V."""
CLIP = TOTAL + 3
"""The level c."""
TOP = TOTAL + 4
"""The largest level so far."""
HALVINGS = TOTAL + 5
"""How many doublings would bring the level back to the top."""
CLIPPED_ROUNDS = TOTAL + 6
"""Rounds whose surprise was clipped."""
LINEAR_SUM = TOTAL + 7
"""The sum of g.y - sigma/2 |y|^2."""
TAU_SUM = TOTAL + 8
"""The sum of tau."""
ROOT_TAU_SUM = TOTAL + 9
"""The sum of sqrt(tau)."""
EXPLORING_COST = TOTAL + 10
"""The sum of the smaller of the two prices, with the constants that are tuned for."""
SIGMA_TAU_SUM = TOTAL + 11
"""The sum of sigma tau."""
LAMBDA_SUM = TOTAL + 12
WEIGHTED_ROUNDS = TOTAL + 13
"""The number of rounds, each by its discount."""
MEASURING_ROUNDS = TOTAL + 14
"""Rounds that only measured, likewise."""
RATE_CHANGE_COST = TOTAL + 15
"""What changes of the rate have cost: the sum of (1/eta_t - 1/eta_{t+1}) psi_0(y_{t+1})."""
LOW, HIGH = TOTAL + 16, TOTAL + 17
"""The least and the largest loss, as clipped."""
SAMPLES = TOTAL + 18
OWN_FORECAST = SAMPLES + MEASURED
"""What the user expects of the round that is asked, or `forecasts.NONE`."""
SIZE = OWN_FORECAST + 1

SUMS = (
    TOTAL,
    CLIPPED_ROUNDS,
    LINEAR_SUM,
    TAU_SUM,
    ROOT_TAU_SUM,
    EXPLORING_COST,
    SIGMA_TAU_SUM,
    LAMBDA_SUM,
    WEIGHTED_ROUNDS,
    MEASURING_ROUNDS,
    RATE_CHANGE_COST,
)
"""What a memory discounts."""


class Plan(NamedTuple):
    """What the tuning knows, in working units."""

    dim: float
    nu: float
    square_price: float
    """Exploring costs at most this times beta tau."""
    length_price: float
    """And at most this times L sqrt(tau)."""
    smoothness: float
    """beta; infinity where only L is known, -1 where neither is: then it is guessed."""
    guess: float
    """The guess then, in units of the largest level."""
    cap: float
    """The rate is at most this over d c."""
    share: float
    """The budgets of clipped rounds and of rises are so many times all else."""
    lipschitz: float
    """L, or infinity."""
    widest: float
    """The largest level: the width of the range, or infinity where it is not known."""
    keep: float
    """What a round leaves of the terms before it: 1, or 1 - 1/memory."""
    memory: float
    """Rounds that are remembered, or infinity."""
    slope: Array
    """psi'(u_0); empty where the start is the analytic centre."""
    lift: float
    """psi'(u_0).u_0 - psi(u_0) + psi(0)."""


def fresh(plan: Plan) -> list[float]:
    """The state before the first round."""
    n = forecasts.fresh() + (SIZE - forecasts.SIZE) * [0.0]
    n[LOW], n[HIGH], n[OWN_FORECAST] = BEYOND, -BEYOND, forecasts.NONE
    if isfinite(plan.widest):
        n[CLIP] = n[TOP] = plan.widest
        n[RATE] = plan.cap / (plan.dim * plan.widest)
    else:
        n[RATE] = 1.0  # of no effect while S is 0
    return n


# --- prices ------------------------------------------------------------------------------------


@compiled
def smoothness_of(plan: Plan, n: Any) -> float:
    """The smoothness as declared, or the guess."""
    beta: float = plan.smoothness if plan.smoothness >= 0.0 else plan.guess * n[TOP]
    return beta


@compiled
def clip_price(d: float, width: float, smoothness: float, lipschitz: float) -> float:
    """What clipping a round costs at most: 2 d Lambda, for a set in the unit ball."""
    return 2.0 * d * min(width + 2.0 * smoothness, 2.0 * lipschitz)


@compiled
def exploring_price(plan: Plan, n: Any, trace: float) -> tuple[float, bool]:
    """What exploring a round costs at most, and whether that is the price of a smooth loss.

    `trace` is tr(H^-1).
    """
    smooth = smoothness_of(plan, n) * plan.square_price * trace
    lipschitz = plan.lipschitz * plan.length_price * sqrt(trace)
    return (smooth, True) if smooth <= lipschitz else (lipschitz, False)


# --- tuning ------------------------------------------------------------------------------------


@compiled
def regularisation(
    plan: Plan, n: Any, cost: float, smooth: bool, trace: float, told: float
) -> float:
    """lambda_t: about what exploring would cost after it, so that neither is much the larger.

    smooth:     lambda (S + sigma + lambda) = 2 CURVED a S,       a the price of the round
    Lipschitz:  lambda sqrt(S + sigma + lambda) = 2 STEEP_CURVED a sqrt(S)

    While S is 0, d/(eta tau) stands for it: the mean curvature of the barrier.
    """
    total = n[TOTAL] if n[TOTAL] > 0.0 else plan.dim / (n[RATE] * trace)
    if smooth:
        half, target = 0.5 * (total + told), 2.0 * CURVED * cost * total
        root: float = target / (half + sqrt(half * half + target))
        return root
    if cost == 0.0:
        return 0.0
    doubled = 2.0 * STEEP_CURVED * cost
    return tuning.smooth_regularisation(total + told, doubled * doubled * total)


@compiled
def rate(plan: Plan, n: Any, rounds: float, stiff: float) -> float:
    """eta_{t+1}, from the state after round t.

    It balances the noise of the estimates, eta d^2 V/2 a round, with what exploring costs. V is at
    least (c/SPREAD)^2, so that no surprise that c admits costs much more than was planned for.
    `stiff` is the curvature of the barrier, h = d/tau - eta S: where the barrier keeps exploration
    small, near the boundary, there is little to balance.

    smooth:     beta/(eta S + h) + eta d^2 V/2 is least at eta S + h = sqrt(2 beta S/V)/d
    Lipschitz:  L/sqrt(eta S + h) + eta d^2 V/2 at  eta S + h = (L S/(d^2 V))^(2/3)
    """
    d, total = plan.dim, n[TOTAL]
    noise, level = n[MEAN_SQUARE], n[CLIP]
    if noise < level * level / (SPREAD * SPREAD):
        noise = level * level / (SPREAD * SPREAD)
    span = rounds + 1.0 if rounds < plan.memory else plan.memory
    span = span if span > 3.0 else 3.0
    low = 2.0 * plan.nu * log(span) / (span * noise * d * d)
    best, factor = 0.0, FACTOR
    if total > 0.0:
        beta, lipschitz = smoothness_of(plan, n), plan.lipschitz
        if beta < inf:
            best = sqrt(2.0 * beta * total / noise) / d
        if lipschitz < inf:
            for_lipschitz = (lipschitz * total / (d * d * noise)) ** (2.0 / 3.0)
            if not beta < inf or cheaper(plan, beta, total, noise, for_lipschitz, best):
                best, factor = for_lipschitz, STEEP_FACTOR
        best = (best - stiff) / total if best > stiff else 0.0
    best = factor * sqrt(best * best + low)
    cap: float = plan.cap / (d * level)
    return best if best < cap else cap


@compiled
def cheaper(plan: Plan, beta: float, total: float, noise: float, one: float, two: float) -> bool:
    """Whether a round costs less where eta S + h is `one` than where it is `two`.

    A balance at 0 says that exploring costs nothing.
    """
    if min(one, two) == 0.0:
        return one < two
    slope = 0.5 * plan.dim * plan.dim * noise / total
    first = min(beta / one, plan.lipschitz / sqrt(one)) + slope * one
    second = min(beta / two, plan.lipschitz / sqrt(two)) + slope * two
    return first < second


@compiled
def budget(plan: Plan, n: Any, rounds: float) -> float:
    """What clipped rounds may cost, and what rises may: a share of what all else costs at least."""
    others = n[EXPLORING_COST] + 0.5 * n[LAMBDA_SUM] + plan.nu * log(rounds + 1.0) / n[RATE]
    share: float = plan.share * others
    return share


@compiled
def affords(plan: Plan, n: Any, rounds: float, weight: float, barrier: float) -> bool:
    """Whether a rate that has just changed from 1/weight can be paid for; if so, it is.

    A rate that falls always can: then the barrier's share of the certificate is a gain. `barrier`
    is psi_0 at the new centre.
    """
    cost = (plan.keep * weight - 1.0 / n[RATE]) * barrier
    if cost > 0.0 and n[RATE_CHANGE_COST] + cost > budget(plan, n, rounds):
        return False
    n[RATE_CHANGE_COST] += cost
    return True


@compiled
def new_level(plan: Plan, n: Any, clipped: bool, rounds: float) -> None:
    """c_{t+1}: doubled after a round that was clipped, halved where that is rare and paid for.

    The budget: were the level to come back to the top by clipping, and were one more round clipped,
    all clipped rounds together would cost no more than that.
    """
    level = n[CLIP]
    if clipped:
        n[CLIP] = min(2.0 * level, plan.widest)
        n[TOP] = max(n[TOP], n[CLIP])
        n[HALVINGS] = max(n[HALVINGS] - 1.0, 0.0)
    elif 4.0 * RARE * RARE * n[MEAN_SQUARE] < level * level and n[HALVINGS] < DEEPEST:
        each = clip_price(plan.dim, n[TOP], smoothness_of(plan, n), plan.lipschitz)
        if each * (n[CLIPPED_ROUNDS] + n[HALVINGS] + 1.0) <= budget(plan, n, rounds):
            n[CLIP] = 0.5 * level
            n[HALVINGS] += 1.0


@compiled
def measuring(n: Any) -> bool:
    """Whether the size of the losses is not known yet."""
    unknown: bool = n[CLIP] == 0.0
    return unknown


@compiled
def measure(plan: Plan, n: Any, loss: float, rounds: int) -> None:
    """A loss that is only measured; after eight that are not all the same, the level is known.

    The two largest and the two least are left out: they may be faults. The forecasters begin at the
    mean of the others. Where the others are all the same, more are measured; if that does not help,
    none are left out; and if all are the same, such as those of a bowl around its minimum, their
    size says how large differences may be.
    """
    n[SAMPLES + (rounds - 1) % MEASURED] = loss
    n[MEASURING_ROUNDS] += 1.0
    if rounds < MEASURED:
        return
    for i in range(1, MEASURED):  # sorted in place: their order is of no interest any more
        value, k = n[SAMPLES + i], i
        while k > 0 and n[SAMPLES + k - 1] > value:
            n[SAMPLES + k] = n[SAMPLES + k - 1]
            k -= 1
        n[SAMPLES + k] = value
    least, most = n[SAMPLES + 2], n[SAMPLES + MEASURED - 3]
    deviation = (most - least) / NORMAL
    largest = max(abs(n[SAMPLES]), abs(n[SAMPLES + MEASURED - 1]))
    same = TINY + ROUNDED * largest
    if not deviation > same and rounds >= LONGEST:
        least, most = n[SAMPLES], n[SAMPLES + MEASURED - 1]
        deviation = 0.5 * (most - least)
        if not deviation > same:
            deviation = UNVARIED * largest
    if deviation > same:
        n[CLIP] = n[TOP] = LEVEL * deviation
        n[MEAN_SQUARE] = (deviation / REACH) ** 2
        n[RATE] = plan.cap / (plan.dim * n[CLIP])
        n[LOW], n[HIGH] = least, most
        total = 0.0
        for i in range(2, MEASURED - 2):
            total += n[SAMPLES + i]
        forecasts.begin(n, total / (MEASURED - 4.0))


@compiled
def take_in(
    plan: Plan,
    n: Any,
    seen: Any,
    value: float,
    rounds: int,
) -> None:
    """What every answer changes: sums fade, forecasters learn the value, clipped as it may be.

    `rounds` counts the answers, this one included; `seen` are the numbers when it was asked.
    """
    if plan.keep < 1.0:
        for i in SUMS:
            n[i] *= plan.keep
    n[WEIGHTED_ROUNDS] += 1.0
    if value < n[LOW]:
        n[LOW] = value
    if value > n[HIGH]:
        n[HIGH] = value
    forecasts.learn(n, seen, seen[OWN_FORECAST], value, n[CLIP], float(rounds))


@compiled
def take_measurement(plan: Plan, n: Any, seen: Any, loss: float, rounds: int) -> None:
    """An answer that teaches nothing but how large losses are; it may come late."""
    if measuring(n):
        take_in(plan, n, seen, loss, rounds)
        measure(plan, n, loss, rounds)
    else:
        expected, level = n[forecasts.MIXTURE], n[CLIP]
        take_in(plan, n, seen, expected + clip(loss - expected, level), rounds)
        n[MEASURING_ROUNDS] += 1.0


@compiled
def book(
    plan: Plan,
    n: Any,
    surprise: float,
    clipped: bool,
    rounds: int,
    rise: float,
    square: float,
    trace: float,
    shift: float,
    curvature: float,
) -> None:
    """What an answer that teaches changes, but for the linear term and the centre.

    `rise` is g.y and `square` |y|^2 at the centre of the query; `trace` is tr(H^-1) there and
    `shift` its eta S.
    """
    count = float(rounds)
    cost, smooth = exploring_price(plan, n, trace)
    lam = regularisation(plan, n, cost, smooth, trace, curvature)
    n[LINEAR_SUM] += rise - 0.5 * curvature * square
    n[TAU_SUM] += trace
    n[ROOT_TAU_SUM] += sqrt(trace)
    n[EXPLORING_COST] += cost
    n[SIGMA_TAU_SUM] += curvature * trace
    n[LAMBDA_SUM] += lam
    n[TOTAL] += curvature + lam
    excess = surprise * surprise - n[MEAN_SQUARE]
    n[MEAN_SQUARE] += excess / count if count < WINDOW else excess * (1.0 / WINDOW)
    if clipped:
        n[CLIPPED_ROUNDS] += 1.0
    new_level(plan, n, clipped, count)
    if clipped or count < WINDOW or rounds % EVERY == 0:
        wanted = rate(plan, n, count, plan.dim / trace - shift)
        if not n[RATE] < STEP * wanted < STEP * STEP * n[RATE]:
            n[RATE] = wanted
        cap = plan.cap / (plan.dim * n[CLIP])
        if n[RATE] > cap:
            n[RATE] = cap


def look_ahead(
    plan: Plan, n: Any, answered: int, rounds: int, trace: Callable[[float], float], barrier: float
) -> tuple[float, float]:
    """Change the numbers as so many answers more would, if nothing else changed.

    Every surprise is sqrt(V), none is clipped, the centre stays, and the curvature that is told is
    the mean of what was told. `trace` gives tr(H^-1) at the centre for any eta S; `barrier` is
    psi_0 there. Later rounds are taken several at a time: numbers change slowly then.

    Returns what the noise of the estimates costs, and what a memory leaves of a sum of before.
    """
    learnt = n[WEIGHTED_ROUNDS] - n[MEASURING_ROUNDS]
    told = max(n[TOTAL] - n[LAMBDA_SUM], 0.0) / learnt if learnt > 0.0 else 0.0
    noise, left, last = 0.0, 1.0, answered + rounds
    while answered < last:
        step = min(_stride(answered), last - answered)
        keep = plan.keep**step
        weight = float(step) if keep == 1.0 else (1.0 - keep) / (1.0 - plan.keep)
        noise = keep * noise + weight * 0.5 * n[RATE] * plan.dim**2 * n[MEAN_SQUARE]
        left, answered = keep * left, answered + step
        _book_alike(plan, n, answered, keep, weight, trace(n[RATE] * n[TOTAL]), told, barrier)
    return noise, left


def _stride(answered: int) -> int:
    """How many rounds are taken at a time: up to one of eight in which the rate is looked at."""
    if answered < WINDOW:
        return 1
    return EVERY * (1 + answered // (EVERY * EVERY * EVERY)) - answered % EVERY


def _book_alike(
    plan: Plan,
    n: Any,
    answered: int,
    keep: float,
    weight: float,
    trace: float,
    told: float,
    barrier: float,
) -> None:
    """Some rounds that are all the same: one is booked, and counts `weight` times."""
    shift = n[RATE] * n[TOTAL]
    for i in SUMS:
        n[i] *= keep
    before = list(n)
    n[WEIGHTED_ROUNDS] += 1.0
    book(plan, n, sqrt(n[MEAN_SQUARE]), False, answered, 0.0, 0.0, trace, shift, told)
    for i in SUMS:
        n[i] = before[i] + weight * (n[i] - before[i])
    changed, weight_before = n[RATE] != before[RATE], 1.0 / before[RATE]
    if changed and not affords(plan, n, float(answered), weight_before, barrier):
        n[RATE] = before[RATE]


@compiled
def clip(value: float, level: float) -> float:
    """The nearest number of [-level, level]."""
    return level if value > level else -level if value < -level else value
