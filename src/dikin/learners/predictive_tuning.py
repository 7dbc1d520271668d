"""How `Predictive` tunes itself: plain arithmetic on a run of numbers, compiled as it stands.

The state is one list (one array in the compiled loop): the numbers of the forecasters, then those
below. All in working units; docs/mathematics.md, section 13, has the reasons and the proofs.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, isfinite, log, sqrt
from typing import Any, NamedTuple

from dikin import forecasts
from dikin.arguments import LARGEST
from dikin.domains.base import Array
from dikin.kernel import compilable
from dikin.theory import schedules

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
"""Rises of the rate may cost so many times all else, with a known range and without one, and so may
clipped rounds in a known range. A larger share had less regret on bowls and on absolute distances.
The rates that are proved are for 1; certificates hold for any."""
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
CURVED_MEASURED = 2.5
"""The same for smooth losses whose range is not known."""
GUESS_RANGED, GUESS_MEASURED = 1.0, 10.0
"""The smoothness that is tuned for where none is declared, in units of the largest level: about
that of a bowl that fills the range of the losses. With a known range the first level is that range.
Without one it comes from losses around one point: in a random direction they vary by a share
1/sqrt(d) of what they vary by at most, and so the guess is GUESS_MEASURED sqrt(d) levels.
Certificates hold for any."""
STEP = 1.1
"""A rate changes by this factor at least, or stays."""
EVERY = 8
"""How often it is looked at, after the first WINDOW rounds: it costs a tenth of a round."""
MEASURED = 8
"""Losses around the start that tell their size where no range is known."""
REACH = 0.5
"""How far out in the ellipsoid they are measured."""
LEVEL = 8.0
"""The first level then, in standard deviations of those losses."""
MEDIANS = 6.0
"""The level later, in medians of |surprise|: some four standard deviations of normal noise."""
FAR, FAR_BY_LOT = 3.0, 1.5
"""A surprise of so many levels is taken for a fault: nothing is learnt from it. Where rare values
count, the level is at least what surprises have been, and few are beyond it."""
MEDIAN_STEP = 0.05
"""By this factor, as an exponent, the median moves a round."""
TYPICAL_SHARE = 0.25
"""A surprise below this share of the median says that it is far too large, in the first rounds."""
AGREEING, ANY = 8.0, 24.0
"""After so many far losses, less one for each that was not far, they are no faults: after the first
number if they agree with each other, after the second in any case."""
AGREE = 0.25
"""They agree if they deviate by less than this share of their distance from what was expected."""
LOWEST = 1.0 / 64.0
"""The level is at least this share of the largest one: where nothing is left to be surprised at,
smaller steps would gain little, and one fault would cost the certificate much."""
SETTLING = 32.0
"""Rounds after which the largest level no longer falls."""
NORMAL = 0.95
"""The third largest of eight normal numbers less the third least, in standard deviations."""
NORMAL_WIDE = 1.7
"""The second largest of eight normal numbers less the second least, likewise."""
LONGEST = 32
"""Losses that are measured while most of them are the same."""
ROUNDED = 1e-12
"""Losses that differ by less, in units of the largest, are the same but for rounding."""
UNVARIED = 0.5
"""Where all of them are the same: their deviation is taken for so much of the largest. A bowl
around its minimum has four times the measured loss farther out, within LEVEL such deviations."""
TOO_HIGH = 8.0
"""A provisional level of so many times the one that is found later is given up."""
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
ALONG_SUM = TOTAL + 7
"""The sum of g.y, of estimates that are not clipped."""
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
RATE_CHANGE_COST = TOTAL + 14
"""What changes of the rate have cost: the sum of (1/eta_t - 1/eta_{t+1}) psi_0(y_{t+1})."""
LOW, HIGH = TOTAL + 15, TOTAL + 16
"""The least and the largest loss, as clipped."""
SQUARE_SUM = TOTAL + 17
"""The sum of |y|^2."""
HELD_SUM = TOTAL + 18
"""The sum of sigma |y|^2."""
MEDIAN = TOTAL + 19
"""The median of recent |surprise|."""
SMOOTHED_LEVEL = TOTAL + 20
"""The level that the median asks for, over the last rounds."""
FAR_ROUNDS = TOTAL + 21
"""How many losses were far off, less one for each that was not."""
BEGUN = TOTAL + 22
"""The round in which sizes were known; 0 while they are not, or provisionally."""
SAMPLES = TOTAL + 23
"""Losses that were measured, sorted; later on, some of the last ones that were far off."""
OWN_FORECAST = SAMPLES + MEASURED
"""What the user expects of the round that is asked, or `forecasts.NONE`."""
SIZE = OWN_FORECAST + 1

SUMS = (
    TOTAL,
    CLIPPED_ROUNDS,
    ALONG_SUM,
    TAU_SUM,
    ROOT_TAU_SUM,
    EXPLORING_COST,
    SIGMA_TAU_SUM,
    LAMBDA_SUM,
    WEIGHTED_ROUNDS,
    RATE_CHANGE_COST,
    SQUARE_SUM,
    HELD_SUM,
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
    by_lot: bool
    """Whether rare values may say as much as frequent ones: then the level falls little."""
    curved: float
    """lambda_t/2 is this many times the price of exploring a smooth loss after it."""
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


@compilable
def smoothness_of(plan: Plan, n: Any) -> float:
    """The smoothness as declared, or the guess."""
    beta: float = plan.smoothness if plan.smoothness >= 0.0 else plan.guess * n[TOP]
    return beta


@compilable
def clip_price(d: float, width: float, smoothness: float, lipschitz: float) -> float:
    """What clipping a round costs at most: 2 d Lambda, for a set in the unit ball."""
    return 2.0 * d * min(width + 2.0 * smoothness, 2.0 * lipschitz)


@compilable
def exploring_price(plan: Plan, n: Any, trace: float) -> tuple[float, bool]:
    """What exploring a round costs at most, and whether that is the price of a smooth loss.

    `trace` is tr(H^-1).
    """
    smooth = smoothness_of(plan, n) * plan.square_price * trace
    lipschitz = plan.lipschitz * plan.length_price * sqrt(trace)
    return (smooth, True) if smooth <= lipschitz else (lipschitz, False)


# --- tuning ------------------------------------------------------------------------------------


@compilable
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
        half, target = 0.5 * (total + told), 2.0 * plan.curved * cost * total
        root: float = target / (half + sqrt(half * half + target))
        return root
    if cost == 0.0:
        return 0.0
    doubled = 2.0 * STEEP_CURVED * cost
    return schedules.smooth_regularisation(total + told, doubled * doubled * total)


@compilable
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


@compilable
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


@compilable
def budget(plan: Plan, n: Any, rounds: float) -> float:
    """What clipped rounds may cost, and what rises may: a share of what all else costs at least."""
    others = n[EXPLORING_COST] + 0.5 * n[LAMBDA_SUM] + plan.nu * log(rounds + 1.0) / n[RATE]
    share: float = plan.share * others
    return share


@compilable
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


@compilable
def has_falling_level(plan: Plan) -> bool:
    """Whether the level is that of a known range, halved where surprises are small."""
    return plan.widest < inf and not plan.by_lot


@compilable
def new_level(plan: Plan, n: Any, clipped: bool, rounds: float) -> None:
    """c_{t+1} in a known range: doubled after a clipped round, halved where that is paid for.

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


# --- no known range ----------------------------------------------------------------------------


@compilable
def measuring(n: Any) -> bool:
    """Whether the size of the losses is not known yet."""
    unknown: bool = n[CLIP] == 0.0
    return unknown


@compilable
def provisional(plan: Plan, n: Any) -> bool:
    """Whether there is a level, but one of losses that were nearly all the same."""
    unsettled: bool = plan.widest == inf and n[BEGUN] == 0.0
    return unsettled


@compilable
def sort_in(n: Any, value: float, count: int) -> None:
    """Put a value among so many sorted samples; if there is no room, in place of a middle one."""
    if count >= MEASURED:
        for i in range(MEASURED // 2, MEASURED - 1):
            n[SAMPLES + i] = n[SAMPLES + i + 1]
        count = MEASURED - 1
    k = count
    while k > 0 and n[SAMPLES + k - 1] > value:
        n[SAMPLES + k] = n[SAMPLES + k - 1]
        k -= 1
    n[SAMPLES + k] = value


@compilable
def middle_sample(n: Any, count: int) -> float:
    """The median of the first samples."""
    last = min(count, MEASURED) - 1
    middle: float = 0.5 * (n[SAMPLES + last // 2] + n[SAMPLES + (last + 1) // 2])
    return middle


@compilable
def trimmed_mean(n: Any) -> float:
    """The mean of eight sorted samples without the two largest and the two least."""
    total = 0.0
    for i in range(2, MEASURED - 2):
        total += n[SAMPLES + i]
    return total / (MEASURED - 4.0)


@compilable
def same_within(n: Any) -> float:
    """Samples that differ by less are the same but for rounding."""
    least: float = TINY + ROUNDED * max(abs(n[SAMPLES]), abs(n[SAMPLES + MEASURED - 1]))
    return least


@compilable
def deviation_of(n: Any) -> float:
    """The standard deviation of losses by eight samples; 0 if most are the same.

    The two largest and the two least are left out: they may be faults.
    """
    deviation: float = (n[SAMPLES + MEASURED - 3] - n[SAMPLES + 2]) / NORMAL
    return deviation if deviation > same_within(n) else 0.0


@compilable
def provisional_deviation(n: Any) -> float:
    """The same where most are the same.

    None are left out then; and if all are the same, such as those of a bowl around its minimum,
    their size says how large differences may be. 0 if they are all 0.
    """
    largest = max(abs(n[SAMPLES]), abs(n[SAMPLES + MEASURED - 1]))
    deviation: float = 0.5 * (n[SAMPLES + MEASURED - 1] - n[SAMPLES])
    if not deviation > same_within(n):
        deviation = UNVARIED * largest
    return deviation if deviation > TINY else 0.0


@compilable
def measure(plan: Plan, n: Any, loss: float, rounds: int) -> None:
    """One more loss that shows how large they are; the first level when there are enough.

    After LONGEST of which most are the same there is a provisional level.
    """
    sort_in(n, loss, rounds - 1)
    if rounds < MEASURED:
        return
    deviation = deviation_of(n)
    n[BEGUN] = float(rounds) if deviation > 0.0 else 0.0
    if deviation == 0.0 and rounds >= LONGEST:
        deviation = provisional_deviation(n)
    if deviation > 0.0:
        set_sizes(n, deviation)
        n[RATE] = plan.cap / (plan.dim * n[CLIP])
        n[LOW], n[HIGH] = n[SAMPLES + 2], n[SAMPLES + MEASURED - 3]
        forecasts.begin(n, trimmed_mean(n))


@compilable
def measure_on(plan: Plan, n: Any, loss: float, rounds: int) -> None:
    """One more loss while the level is provisional: it ends when enough of them differ.

    Where it was far too high, what was guessed by it ends too: no lambda has to be chosen before
    it is used.
    """
    sort_in(n, loss, rounds - 1)
    deviation = deviation_of(n)
    if deviation == 0.0:
        return
    n[BEGUN] = float(rounds)
    if n[CLIP] < TOO_HIGH * LEVEL * deviation:
        return
    n[RATE_CHANGE_COST] = 0.0
    set_sizes(n, deviation)
    if plan.smoothness < 0.0:
        n[TOTAL] = max(n[TOTAL] - n[LAMBDA_SUM], 0.0)
        n[LAMBDA_SUM] = n[EXPLORING_COST] = 0.0


@compilable
def set_sizes(n: Any, deviation: float) -> None:
    """Level and V by losses of that deviation, whatever they were."""
    n[MEAN_SQUARE] = (deviation / REACH) ** 2
    n[CLIP] = n[TOP] = n[SMOOTHED_LEVEL] = LEVEL * deviation
    n[MEDIAN] = n[CLIP] / MEDIANS


@compilable
def follow_median(plan: Plan, n: Any, size: float, age: float) -> None:
    """The level by the median of |surprise|, of all that are no faults.

    It moves by a small step a round, up or down; only down faster, in the first rounds, as there
    may be faults among the losses that were measured. The largest level follows what it asks for in
    the mean, so that a burst of faults does not raise it. By lot the level is at least that one,
    which then falls as 1/t, and not below any surprise of late.
    """
    early = 1.0 / (2.0 + 0.25 * max(age - MEASURED, 0.0))
    step = MEDIAN_STEP
    if size < TYPICAL_SHARE * n[MEDIAN] and early > step:
        step = early
    n[MEDIAN] *= exp(step if size > n[MEDIAN] else -step)
    if n[MEDIAN] * MEDIANS < LOWEST * n[TOP] and age >= SETTLING:
        n[MEDIAN] = LOWEST * n[TOP] / MEDIANS
    wanted = MEDIANS * n[MEDIAN]
    window = max(1.0, min(0.25 * age, WINDOW))
    n[SMOOTHED_LEVEL] *= (wanted / n[SMOOTHED_LEVEL]) ** (1.0 / window)
    if n[SMOOTHED_LEVEL] > n[TOP] or age < SETTLING:
        n[TOP] = n[SMOOTHED_LEVEL]
    if plan.by_lot and age >= SETTLING:
        n[TOP] = max(n[TOP] * (1.0 - 1.0 / age), size)
    n[CLIP] = max(wanted, n[TOP]) if plan.by_lot else wanted


@compilable
def count_far(n: Any, value: float) -> None:
    """One more loss that is far off; when they are no faults any more, sizes begin anew."""
    n[SAMPLES + int(n[FAR_ROUNDS]) % MEASURED] = value
    n[FAR_ROUNDS] += 1.0
    if n[FAR_ROUNDS] < AGREEING:
        return
    for i in range(MEASURED):
        sort_in(n, n[SAMPLES + i], i)
    deviation = (n[SAMPLES + MEASURED - 2] - n[SAMPLES + 1]) / NORMAL_WIDE
    middle = trimmed_mean(n)
    if deviation > AGREE * abs(middle - n[forecasts.MIXTURE]) and n[FAR_ROUNDS] < ANY:
        return
    n[FAR_ROUNDS] = 0.0
    if LEVEL * deviation > n[CLIP]:
        n[CLIP] = LEVEL * deviation
        n[MEDIAN] = n[CLIP] / MEDIANS
        n[MEAN_SQUARE] = max(n[MEAN_SQUARE], deviation * deviation)
    forecasts.begin(n, middle)


# --- answers -----------------------------------------------------------------------------------


@compilable
def take_in(n: Any, seen: Any, value: float, rounds: int) -> None:
    """Forecasters learn a value, clipped as it may be.

    `rounds` counts the answers, this one included; `seen` are the numbers when it was asked.
    """
    if value < n[LOW]:
        n[LOW] = value
    if value > n[HIGH]:
        n[HIGH] = value
    forecasts.learn(n, seen, seen[OWN_FORECAST], value, n[CLIP], float(rounds))


@compilable
def book(
    n: Any, along: float, square: float, trace: float, cost: float, curvature: float, lam: float
) -> None:
    """What an answer adds to the certificate, but for the linear term.

    `along` is g.y, not clipped, and `square` |y|^2 at the centre of the query; `trace` is tr(H^-1)
    there, times the square of how far out it was played; `cost` is the price of exploring.
    """
    n[WEIGHTED_ROUNDS] += 1.0
    n[ALONG_SUM] += along
    n[SQUARE_SUM] += square
    n[HELD_SUM] += curvature * square
    n[TAU_SUM] += trace
    n[ROOT_TAU_SUM] += sqrt(trace)
    n[EXPLORING_COST] += cost
    n[SIGMA_TAU_SUM] += curvature * trace
    n[LAMBDA_SUM] += lam
    n[TOTAL] += curvature + lam


@compilable
def is_fault(plan: Plan, surprise: float, level: float) -> bool:
    """Whether nothing is learnt from so large a surprise; within a known range there is none."""
    far = FAR_BY_LOT if plan.by_lot else FAR
    return plan.widest == inf and abs(surprise) > far * level


@compilable
def lesson(plan: Plan, n: Any, surprise: float, level: float) -> float:
    """What is learnt of a surprise that had this level when it was asked."""
    if provisional(plan, n) or is_fault(plan, surprise, level):
        return 0.0
    return clip(surprise, level)


@compilable
def new_sizes(plan: Plan, n: Any, surprise: float, level: float, loss: float, rounds: int) -> None:
    """V and the level after a surprise that had this level when it was asked."""
    count, size = float(rounds), abs(surprise)
    clipped, far = size > level, is_fault(plan, surprise, level)
    age = count - n[BEGUN] + MEASURED
    if clipped:
        n[CLIPPED_ROUNDS] += 1.0
    if not far:
        window = min(count, WINDOW)
        if plan.widest == inf:
            window = max(4.0, min(0.25 * age, WINDOW))
        n[MEAN_SQUARE] += (min(size, level) ** 2 - n[MEAN_SQUARE]) / window
    if has_falling_level(plan):
        new_level(plan, n, clipped, count)
    elif provisional(plan, n):
        measure_on(plan, n, loss, rounds)
    elif far:
        count_far(n, loss)
    elif plan.widest == inf:
        n[FAR_ROUNDS] = max(n[FAR_ROUNDS] - 1.0, 0.0)
        follow_median(plan, n, size, age)


@compilable
def new_rate(plan: Plan, n: Any, clipped: bool, rounds: int, stiff: float) -> None:
    """The rate after a round, where it is time to look at it."""
    count = float(rounds)
    if clipped or count < WINDOW or rounds % EVERY == 0:
        wanted = rate(plan, n, count, stiff)
        if not n[RATE] < STEP * wanted < STEP * STEP * n[RATE]:
            n[RATE] = wanted
        cap = plan.cap / (plan.dim * n[CLIP])
        if n[RATE] > cap:
            n[RATE] = cap


class Centre(NamedTuple):
    """What a look ahead has to know of the centre, which stays."""

    trace: Callable[[float], float]
    """tr(H^-1) for any eta S."""
    barrier: float
    """psi_0."""
    square: float
    """|y|^2."""


def look_ahead(
    plan: Plan, n: Any, answered: int, rounds: int, centre: Centre
) -> tuple[float, float]:
    """Change the numbers as so many answers more would, if nothing else changed.

    Every surprise is sqrt(V), none is clipped, the centre stays, and the curvature that is told is
    the mean of what was told. Later rounds are taken several at a time: numbers change slowly then.

    Returns what the noise of the estimates costs, and what a memory leaves of a sum of before.
    """
    told = max(n[TOTAL] - n[LAMBDA_SUM], 0.0) / n[WEIGHTED_ROUNDS]
    noise, left, last = 0.0, 1.0, answered + rounds
    while answered < last:
        step = min(_stride(answered), last - answered)
        keep = plan.keep**step
        weight = float(step) if keep == 1.0 else (1.0 - keep) / (1.0 - plan.keep)
        noise = keep * noise + weight * 0.5 * n[RATE] * plan.dim**2 * n[MEAN_SQUARE]
        left, answered = keep * left, answered + step
        _book_alike(plan, n, answered, keep, weight, told, centre)
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
    told: float,
    centre: Centre,
) -> None:
    """Some rounds that are all the same: one is booked, and counts `weight` times."""
    shift = n[RATE] * n[TOTAL]
    trace = centre.trace(shift)
    for i in SUMS:
        n[i] *= keep
    before = list(n)
    cost, smooth = exploring_price(plan, n, trace)
    lam = regularisation(plan, n, cost, smooth, trace, told)
    book(n, 0.0, 0.0, trace, cost, told, lam)
    n[SQUARE_SUM] += centre.square  # HELD_SUM grows by as much as the objective falls
    if has_falling_level(plan):
        new_level(plan, n, False, float(answered))
    new_rate(plan, n, False, answered, plan.dim / trace - shift)
    for i in SUMS:
        n[i] = before[i] + weight * (n[i] - before[i])
    changed, weight_before = n[RATE] != before[RATE], 1.0 / before[RATE]
    if changed and not affords(plan, n, float(answered), weight_before, centre.barrier):
        n[RATE] = before[RATE]


@compilable
def clip(value: float, level: float) -> float:
    """The nearest number of [-level, level]."""
    return level if value > level else -level if value < -level else value
