"""The schedule of `Predictive` in working units (docs/mathematics.md, 13.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, inf, log, sqrt
from typing import NamedTuple

from dikin.arguments import LARGEST
from dikin.domains.base import Array
from dikin.kernel import Record, compilable
from dikin.learners import adaptive

MEASURED, REACH = 8, 0.5
"""Without a range so many losses, so far out in the ellipsoid, show how large they are."""
NONE = 1e300
"""More than any loss in working units. Stands for no forecast of the user's."""
FACTOR, STEEP_FACTOR, STEEP_CURVED = 0.5, 0.8, 1.5
"""Of the rate that balances exploring and noise, for smooth and for Lipschitz losses. For these
lambda_t/2 is STEEP_CURVED times the price of exploring after it."""
SPREAD = 8.0
"""The level c is taken for at most so many times the typical surprise."""
WINDOW, EVERY, STEP = 64.0, 8, 1.1
"""Rounds over which the typical surprise is taken. After them the rate is looked at once in EVERY
rounds. It changes by the factor STEP at least, or stays."""
RARE, DEEPEST = 3.0, 40.0
"""The level halves while it would still be RARE typical surprises, and at most DEEPEST times."""
LEVEL, MEDIANS, FAR = 8.0, 6.0, 3.0
"""The first level in standard deviations of the losses measured, the level later in medians of
|surprise|, and a surprise in levels beyond which a loss is taken for a fault."""
MEDIAN_STEP, TYPICAL = 0.05, 0.25
"""Exponent of a step of the median, and the share of it below which a surprise in the first rounds
shows that it is far too large."""
FAULTS, FEW, YOUNG = 8.0, 5.0, 0.25
"""After so many far losses, less one for each that was not far, they are no faults. In the first
rounds fewer do: YOUNG of the rounds so far, and at least FEW."""
LOWEST, SETTLING = 1.0 / 64.0, 32.0
"""The least level as a share of the largest one, and the rounds after which that does not fall."""
NORMAL, NORMAL_WIDE = 0.95, 1.7
"""Of eight normal numbers the third largest less the third least, and the second largest less the
second least, in standard deviations."""
ROUNDED, TINY = 1e-12, 1.0 / LARGEST
"""Losses that differ by less, in units of the largest or in all, are the same."""


class Tuning(NamedTuple):
    """Tuned constants. The proved rates are for a known range."""

    widest: float  # the largest level: the width of the range
    guess: float  # the smoothness of a bowl that fills the range, in units of the largest level
    cap: float  # the largest step in the local norm: the rate is at most this over d c
    share: float  # rises of the rate, and clipped rounds, may cost so many times all else
    curved: float  # lambda_t/2 is so many times the price of exploring a smooth loss after it

    @classmethod
    def of(cls, ranged: bool, d: float) -> Tuning:
        """Return that for a known range, or for losses measured around one point."""
        if ranged:
            return cls(2.0, 1.0, 0.9, 1.0, 2.0)
        return cls(inf, 10.0 * sqrt(d), 0.9 * (1.0 + 1.0 / sqrt(d)), 4.0, 2.5)


class Plan(NamedTuple):
    """Constants of a learner."""

    dim: float
    nu: float
    smoothness: float  # beta; infinity where only L is known, -1 where it is guessed
    lipschitz: float  # L, or infinity
    tuning: Tuning
    slope: Array  # psi'(u_0), empty where the start is the analytic centre
    lift: float  # psi'(u_0).u_0 - psi(u_0) + psi(0)
    memory: float  # rounds that are remembered, or infinity
    keep: float  # gamma = 1 - 1/memory


@dataclass(slots=True)
class Numbers(Record):
    """The numbers that a round changes."""

    rate: float = 1.0  # eta: without effect while S is 0
    curvature: float = 0.0  # S: sum of sigma + lambda
    exploring: float = 0.0  # sum of the prices of exploring, as far as it moved the centre
    rate_changes: float = 0.0  # sum of (1/eta_t - 1/eta_{t+1}) psi_0(y_{t+1})
    # How large surprises and losses are.
    level: float = 0.0  # c: 0 while the size of losses is not known
    top: float = 0.0  # c*, the largest level
    mean_square: float = 0.0  # V: of recent surprises
    halvings: float = 0.0  # doublings that would bring the level back to the top
    median: float = 0.0  # of recent |surprise|
    smoothed: float = 0.0  # the level that the median asks for, over the last rounds
    low: float = NONE  # the least loss, as clipped
    high: float = -NONE  # the largest
    faults: float = 0.0  # losses that were far off, less one for each that was not
    known_since: float = 0.0  # the round in which sizes were known
    clipped: float = 0.0  # rounds of which not all was learnt
    # Forecasts of four forecasters, their weights, and the mean of the first three by weight.
    last: float = 0.0
    trending: float = 0.0
    trend: float = 0.0
    average: float = 0.0
    own: float = NONE
    last_weight: float = 0.25
    trending_weight: float = 0.25
    mean_weight: float = 0.25
    own_weight: float = 0.25
    mixture: float = 0.0
    # Sums of the certificate.
    g_y: float = 0.0  # g.y, nothing clipped
    sigma: float = 0.0  # of the curvature that was told
    sigma_y_square: float = 0.0  # sigma |y|^2
    tau: float = 0.0  # tr(H^-1)
    root_tau: float = 0.0
    sigma_tau: float = 0.0
    price: float = 0.0  # of exploring
    # Losses that were measured, sorted, and later some that were far off.
    samples: list[float] = field(default_factory=lambda: MEASURED * [0.0])

    def copy(self) -> Numbers:
        """Return a twin that can be written into."""
        twin = Record.copy(self)  # a class with slots is made twice: super() has the first
        twin.samples = self.samples.copy()
        return twin


@compilable
def largest_rate(plan: Plan, level: float) -> float:
    """The cap of eta at a level: no step is longer than a share of 1 in the local norm."""
    return plan.tuning.cap / (plan.dim * level)


@compilable
def smoothness_of(plan: Plan, n: Numbers) -> float:
    """The smoothness as declared, or the guess."""
    return plan.smoothness if plan.smoothness >= 0.0 else plan.tuning.guess * n.top


@compilable
def regularisation(
    plan: Plan, n: Numbers, cost: float, smooth: bool, trace: float, sigma: float
) -> float:
    """lambda_t: about the cost of exploring after it. Then neither is much the larger."""
    total = n.curvature if n.curvature > 0.0 else plan.dim / (n.rate * trace)
    if smooth:
        half, target = 0.5 * (total + sigma), 2.0 * plan.tuning.curved * cost * total
        return target / (half + sqrt(half * half + target))
    if cost == 0.0:
        return 0.0
    doubled = 2.0 * STEEP_CURVED * cost
    return adaptive.regularisation(total + sigma, doubled * doubled * total, 2)


@compilable
def next_rate(plan: Plan, n: Numbers, span: float, stiff: float) -> float:
    """eta_{t+1} after round t: it balances the noise of the estimates with the cost of exploring.

    `span` is t + 1, or the rounds that are remembered. `stiff` is the curvature of the barrier, h.
    """
    d, total = plan.dim, n.curvature
    noise = max(n.mean_square, n.level * n.level / (SPREAD * SPREAD))
    span = max(span, 3.0)
    low = 2.0 * plan.nu * log(span) / (span * noise * d * d)
    best, factor = 0.0, FACTOR
    if total > 0.0:
        beta, lipschitz = smoothness_of(plan, n), plan.lipschitz
        if beta < inf:
            best = sqrt(2.0 * beta * total / noise) / d
        if lipschitz < inf:
            steep = (lipschitz * total / (d * d * noise)) ** (2.0 / 3.0)
            if not beta < inf or cheaper(plan, beta, lipschitz, total, noise, steep, best):
                best, factor = steep, STEEP_FACTOR
        best = (best - stiff) / total if best > stiff else 0.0
    cap = largest_rate(plan, n.level)
    wanted = min(factor * sqrt(best * best + low), cap)
    return min(n.rate if n.rate < STEP * wanted < STEP * STEP * n.rate else wanted, cap)


@compilable
def cheaper(
    plan: Plan, beta: float, lipschitz: float, total: float, noise: float, one: float, two: float
) -> bool:
    """Return whether a round costs less where eta S + h is `one` than where it is `two`."""
    if min(one, two) == 0.0:  # exploring costs nothing
        return one < two
    slope = 0.5 * plan.dim * plan.dim * noise / total
    first = min(beta / one, lipschitz / sqrt(one)) + slope * one
    second = min(beta / two, lipschitz / sqrt(two)) + slope * two
    return first < second


@compilable
def budget(plan: Plan, n: Numbers, rounds: float) -> float:
    """The most that clipped rounds may cost, and rises: a share of the least cost of all else."""
    others = n.exploring + 0.5 * (n.curvature - n.sigma)  # that is lambda/2
    return plan.tuning.share * (others + plan.nu * log(rounds + 1.0) / n.rate)


# --- the level: how large a surprise may be, and what is a fault ---------------------------------


@compilable
def clip(value: float, level: float) -> float:
    """Return the nearest number of [-level, level]."""
    return level if value > level else -level if value < -level else value


@compilable
def is_fault(plan: Plan, surprise: float, level: float) -> bool:
    """Return whether nothing is learnt from a surprise. Within a known range nothing is a fault."""
    return plan.tuning.widest == inf and abs(surprise) > FAR * level


@compilable
def measuring(n: Numbers) -> bool:
    """Return whether the size of the losses is not known yet."""
    return n.level == 0.0


@compilable
def update_levels(
    plan: Plan, n: Numbers, surprise: float, level: float, loss: float, round: int
) -> None:
    """V and the level after a surprise that had this level when it was asked."""
    size, age = abs(surprise), round - n.known_since + MEASURED
    if size > level:
        n.clipped += 1.0
    far = is_fault(plan, surprise, level)
    if not far:
        recent = max(4.0, 0.25 * age) if plan.tuning.widest == inf else round
        n.mean_square += (min(size, level) ** 2 - n.mean_square) / min(recent, WINDOW)
    if plan.tuning.widest < inf:
        double_or_halve(plan, n, size > level, round)
    elif far:
        count_fault(n, loss, age)
    else:
        n.faults = max(n.faults - 1.0, 0.0)
        follow_median(n, size, age)


@compilable
def double_or_halve(plan: Plan, n: Numbers, clipped: bool, round: int) -> None:
    """c_{t+1} in a known range: doubled after a clipped round, halved where that is paid for."""
    if clipped:
        n.level = min(2.0 * n.level, plan.tuning.widest)
        n.top = max(n.top, n.level)
        n.halvings = max(n.halvings - 1.0, 0.0)
    elif 4.0 * RARE * RARE * n.mean_square < n.level * n.level and n.halvings < DEEPEST:
        each = 2.0 * plan.dim * min(n.top + 2.0 * smoothness_of(plan, n), 2.0 * plan.lipschitz)
        if each * (n.clipped + n.halvings + 1.0) <= budget(plan, n, round):
            n.level *= 0.5
            n.halvings += 1.0


@compilable
def follow_median(n: Numbers, size: float, age: float) -> None:
    """c_{t+1} without a range: by the median of |surprise|, of all that are no faults."""
    step = MEDIAN_STEP
    if size < TYPICAL * n.median:
        step = max(step, 1.0 / (2.0 + 0.25 * max(age - MEASURED, 0.0)))
    n.median *= exp(step if size > n.median else -step)
    if age >= SETTLING:
        n.median = max(n.median, LOWEST * n.top / MEDIANS)
    n.level = MEDIANS * n.median
    n.smoothed *= (n.level / n.smoothed) ** (1.0 / max(1.0, min(0.25 * age, WINDOW)))
    if n.smoothed > n.top or age < SETTLING:
        n.top = n.smoothed


@compilable
def count_fault(n: Numbers, value: float, age: float) -> None:
    """Count one more loss that is far off. When they are no faults any more, sizes begin anew."""
    first = int(n.faults)
    if first == 0:  # fewer than there is room for may have to do
        for i in range(MEASURED):
            n.samples[i] = value
    n.samples[first % MEASURED] = value
    n.faults += 1.0
    if n.faults < min(max(YOUNG * age, FEW), FAULTS):
        return
    for i in range(MEASURED):
        insert_sample(n.samples, n.samples[i], i)
    deviation = (n.samples[MEASURED - 2] - n.samples[1]) / NORMAL_WIDE
    n.faults = 0.0
    if LEVEL * deviation > n.level:
        n.level = LEVEL * deviation
        n.median = n.level / MEDIANS
        n.mean_square = max(n.mean_square, deviation * deviation)
    restart_forecast(n, trimmed_mean(n.samples))


@compilable
def restart_forecast(n: Numbers, value: float) -> None:
    """Set all forecasters to one number, with the same weight."""
    n.last = n.trending = n.average = n.mixture = value
    n.trend = 0.0
    n.last_weight = n.trending_weight = n.mean_weight = n.own_weight = 0.25


@compilable
def measure(plan: Plan, n: Numbers, loss: float, round: int) -> None:
    """Take in a loss that shows how large they are: the first level when enough of them differ."""
    samples = n.samples
    insert_sample(samples, loss, round - 1)
    width, size = samples[MEASURED - 3] - samples[2], max(abs(samples[0]), abs(samples[-1]))
    if round < MEASURED or width / NORMAL <= TINY + ROUNDED * size:
        return
    deviation = width / NORMAL
    n.known_since = float(round)
    n.mean_square = (deviation / REACH) ** 2
    n.level = n.top = n.smoothed = LEVEL * deviation
    n.median = n.level / MEDIANS
    n.rate = largest_rate(plan, n.level)
    n.low, n.high = samples[2], samples[MEASURED - 3]
    restart_forecast(n, trimmed_mean(samples))


@compilable
def insert_sample(samples: list[float], value: float, count: int) -> None:
    """Put a value among so many sorted samples. If there is no room, in place of a middle one."""
    if count >= MEASURED:
        for i in range(MEASURED // 2, MEASURED - 1):
            samples[i] = samples[i + 1]
        count = MEASURED - 1
    k = count
    while k > 0 and samples[k - 1] > value:
        samples[k] = samples[k - 1]
        k -= 1
    samples[k] = value


@compilable
def trimmed_mean(samples: list[float]) -> float:
    """Return the mean of eight sorted samples without the two largest and the two least."""
    return (samples[2] + samples[3] + samples[4] + samples[5]) / (MEASURED - 4.0)
