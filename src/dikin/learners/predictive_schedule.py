"""The schedule of `Predictive` in working units (docs/mathematics.md, 13.3)."""

from __future__ import annotations

from math import exp, inf, log, sqrt
from typing import Any, NamedTuple

from dikin.arguments import LARGEST
from dikin.domains.base import Array
from dikin.kernel import compilable
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
FIRST_LEVEL, MEDIANS, FAR = 8.0, 6.0, 3.0
"""The first level in standard deviations of the losses measured, the level later in medians of
|surprise|, and a surprise in levels beyond which a loss is taken for a fault."""
MEDIAN_STEP, TYPICAL = 0.05, 0.25
"""Exponent of a step of the median, and the share of it below which a surprise in the first rounds
shows that it is far too large."""
MANY, FEW, YOUNG = 8.0, 5.0, 0.25
"""After so many far losses, less one for each that was not far, they are no faults. In the first
rounds fewer do: YOUNG of the rounds so far, and at least FEW."""
LOWEST, SETTLING = 1.0 / 64.0, 32.0
"""The least level as a share of the largest one, and the rounds after which that does not fall."""
NORMAL, NORMAL_WIDE = 0.95, 1.7
"""Of eight normal numbers the third largest less the third least, and the second largest less the
second least, in standard deviations."""
LONG, LEVEL_GAIN, TREND_GAIN = 64.0, 0.2, 0.02
"""Rounds that the mean remembers, and gains of the level and of its trend."""
ROUNDED, TINY = 1e-12, 1.0 / LARGEST
"""Losses that differ by less, in units of the largest or in all, are the same."""


# The numbers of a state by their places. The first are losses that were measured, sorted, and later
# some that were far off.
RATE, CURVATURE, EXPLORING, RATE_CHANGES = range(MEASURED, MEASURED + 4)
"""eta (without effect while S is 0), S (sum of sigma + lambda), the sum of the prices of exploring
as far as it moved the centre, and that of (1/eta_t - 1/eta_{t+1}) psi_0(y_{t+1})."""
LEVEL, TOP, MEAN_SQUARE, HALVINGS, MEDIAN, SMOOTHED = range(12, 18)
"""c (0 while the size of losses is not known), c* (the largest c), V (of recent surprises),
doublings from c to c*, the median of recent |surprise|, and a mean of the c that it asks for."""
LOW, HIGH, FAULTS, KNOWN_SINCE, CLIPPED = range(18, 23)
"""The least and the largest loss as clipped, losses that were far off less one for each that was
not, the round in which sizes were known, and the rounds of which not all was learnt."""
LAST, TRENDING, TREND, AVERAGE, OWN, MIXTURE = range(23, 29)
"""Forecasts of four forecasters, one with a trend, and the mean of the first three by weight."""
LAST_WEIGHT, TRENDING_WEIGHT, MEAN_WEIGHT, OWN_WEIGHT = range(29, 33)
"""The weights of the forecasters."""
G_Y, SIGMA, SIGMA_Y_SQUARE, TAU, ROOT_TAU, SIGMA_TAU, PRICE = range(33, 40)
"""Sums of the certificate: g.y with nothing clipped, the sigma that was told, sigma |y|^2,
tau = tr(H^-1), its root, sigma tau, and the price of exploring."""
DISCOUNTED = (CURVATURE, EXPLORING, RATE_CHANGES, CLIPPED, *range(G_Y, PRICE + 1))
"""The sums that a finite memory discounts."""


def first_numbers() -> list[float]:
    """Return the numbers of a state before the first round."""
    n = [0.0] * (PRICE + 1)
    n[RATE], n[LOW], n[HIGH], n[OWN] = 1.0, NONE, -NONE, NONE
    n[LAST_WEIGHT : OWN_WEIGHT + 1] = 4 * [0.25]
    return n


class Constants(NamedTuple):
    """Constants of a learner. The last five are tuned: the proved rates are for a known range."""

    geometry: Any
    dim: float
    nu: float
    smoothness: float  # beta; infinity where only L is known, -1 where it is guessed
    lipschitz: float  # L, or infinity
    slope: Array  # psi'(u_0), empty where the start is the analytic centre
    lift: float  # psi'(u_0).u_0 - psi(u_0) + psi(0)
    memory: float  # rounds that are remembered, or infinity
    keep: float  # gamma = 1 - 1/memory
    widest: float  # the largest level: the width of the range
    guess: float  # the smoothness of a bowl that fills the range, in units of the largest level
    cap: float  # the largest step in the local norm: the rate is at most this over d c
    share: float  # rises of the rate, and clipped rounds, may cost so many times all else
    curved: float  # lambda_t/2 is so many times the price of exploring a smooth loss after it


def tuned(ranged: bool, d: float) -> tuple[float, float, float, float, float]:
    """Return the tuned constants for a known range, or for losses measured around one point."""
    if ranged:
        return 2.0, 1.0, 0.9, 1.0, 2.0
    return inf, 10.0 * sqrt(d), 0.9 * (1.0 + 1.0 / sqrt(d)), 4.0, 2.5


@compilable
def largest_rate(c: Constants, level: float) -> float:
    """The cap of eta at a level: no step is longer than a share of 1 in the local norm."""
    return c.cap / (c.dim * level)


@compilable
def smoothness_of(c: Constants, n: list[float]) -> float:
    """The smoothness as declared, or the guess."""
    return c.smoothness if c.smoothness >= 0.0 else c.guess * n[TOP]


@compilable
def regularisation(
    c: Constants, n: list[float], cost: float, smooth: bool, trace: float, sigma: float
) -> float:
    """lambda_t: about the cost of exploring after it. Then neither is much the larger."""
    total = n[CURVATURE] if n[CURVATURE] > 0.0 else c.dim / (n[RATE] * trace)
    if smooth:
        half, target = 0.5 * (total + sigma), 2.0 * c.curved * cost * total
        return target / (half + sqrt(half * half + target))
    if cost == 0.0:
        return 0.0
    doubled = 2.0 * STEEP_CURVED * cost
    return adaptive.regularisation(total + sigma, doubled * doubled * total, 2)


@compilable
def next_rate(c: Constants, n: list[float], span: float, stiff: float) -> float:
    """eta_{t+1} after round t: it balances the noise of the estimates with the cost of exploring.

    `span` is t + 1, or the rounds that are remembered. `stiff` is the curvature of the barrier, h.
    """
    d, total = c.dim, n[CURVATURE]
    noise = max(n[MEAN_SQUARE], n[LEVEL] * n[LEVEL] / (SPREAD * SPREAD))
    span = max(span, 3.0)
    low = 2.0 * c.nu * log(span) / (span * noise * d * d)
    best, factor = 0.0, FACTOR
    if total > 0.0:
        beta, lipschitz = smoothness_of(c, n), c.lipschitz
        if beta < inf:
            best = sqrt(2.0 * beta * total / noise) / d
        if lipschitz < inf:
            steep = (lipschitz * total / (d * d * noise)) ** (2.0 / 3.0)
            if not beta < inf or cheaper(c, beta, lipschitz, total, noise, steep, best):
                best, factor = steep, STEEP_FACTOR
        best = (best - stiff) / total if best > stiff else 0.0
    cap = largest_rate(c, n[LEVEL])
    wanted = min(factor * sqrt(best * best + low), cap)
    return min(n[RATE] if n[RATE] < STEP * wanted < STEP * STEP * n[RATE] else wanted, cap)


@compilable
def cheaper(
    c: Constants, beta: float, lipschitz: float, total: float, noise: float, one: float, two: float
) -> bool:
    """Return whether a round costs less where eta S + h is `one` than where it is `two`."""
    if min(one, two) == 0.0:  # exploring costs nothing
        return one < two
    slope = 0.5 * c.dim * c.dim * noise / total
    first = min(beta / one, lipschitz / sqrt(one)) + slope * one
    second = min(beta / two, lipschitz / sqrt(two)) + slope * two
    return first < second


@compilable
def budget(c: Constants, n: list[float], rounds: float) -> float:
    """The most that clipped rounds may cost, and rises: a share of the least cost of all else."""
    others = n[EXPLORING] + 0.5 * (n[CURVATURE] - n[SIGMA])  # that is lambda/2
    return c.share * (others + c.nu * log(rounds + 1.0) / n[RATE])


# --- the level: how large a surprise may be, and what is a fault ---------------------------------


@compilable
def clip(value: float, level: float) -> float:
    """Return the nearest number of [-level, level]."""
    return level if value > level else -level if value < -level else value


@compilable
def is_fault(c: Constants, surprise: float, level: float) -> bool:
    """Return whether nothing is learnt from a surprise. Within a known range nothing is a fault."""
    return c.widest == inf and abs(surprise) > FAR * level


@compilable
def measuring(n: list[float]) -> bool:
    """Return whether the size of the losses is not known yet."""
    return n[LEVEL] == 0.0


@compilable
def update_levels(
    c: Constants, n: list[float], surprise: float, level: float, loss: float, round: int
) -> None:
    """V and the level after a surprise that had this level when it was asked."""
    size, age = abs(surprise), round - n[KNOWN_SINCE] + MEASURED
    if size > level:
        n[CLIPPED] += 1.0
    far = is_fault(c, surprise, level)
    if not far:
        recent = max(4.0, 0.25 * age) if c.widest == inf else round
        n[MEAN_SQUARE] += (min(size, level) ** 2 - n[MEAN_SQUARE]) / min(recent, WINDOW)
    if c.widest < inf:
        double_or_halve(c, n, size > level, round)
    elif far:
        count_fault(n, loss, age)
    else:
        n[FAULTS] = max(n[FAULTS] - 1.0, 0.0)
        follow_median(n, size, age)


@compilable
def double_or_halve(c: Constants, n: list[float], clipped: bool, round: int) -> None:
    """c_{t+1} in a known range: doubled after a clipped round, halved where that is paid for."""
    if clipped:
        n[LEVEL] = min(2.0 * n[LEVEL], c.widest)
        n[TOP] = max(n[TOP], n[LEVEL])
        n[HALVINGS] = max(n[HALVINGS] - 1.0, 0.0)
    elif 4.0 * RARE * RARE * n[MEAN_SQUARE] < n[LEVEL] * n[LEVEL] and n[HALVINGS] < DEEPEST:
        each = 2.0 * c.dim * min(n[TOP] + 2.0 * smoothness_of(c, n), 2.0 * c.lipschitz)
        if each * (n[CLIPPED] + n[HALVINGS] + 1.0) <= budget(c, n, round):
            n[LEVEL] *= 0.5
            n[HALVINGS] += 1.0


@compilable
def follow_median(n: list[float], size: float, age: float) -> None:
    """c_{t+1} without a range: by the median of |surprise|, of all but faults."""
    step = MEDIAN_STEP
    if size < TYPICAL * n[MEDIAN]:
        step = max(step, 1.0 / (2.0 + 0.25 * max(age - MEASURED, 0.0)))
    n[MEDIAN] *= exp(step if size > n[MEDIAN] else -step)
    if age >= SETTLING:
        n[MEDIAN] = max(n[MEDIAN], LOWEST * n[TOP] / MEDIANS)
    n[LEVEL] = MEDIANS * n[MEDIAN]
    n[SMOOTHED] *= (n[LEVEL] / n[SMOOTHED]) ** (1.0 / max(1.0, min(0.25 * age, WINDOW)))
    if n[SMOOTHED] > n[TOP] or age < SETTLING:
        n[TOP] = n[SMOOTHED]


@compilable
def count_fault(n: list[float], value: float, age: float) -> None:
    """Count one more loss that is far off. When they are not faults any more, sizes begin anew."""
    first = int(n[FAULTS])
    if first == 0:  # fewer than there is room for may have to do
        for i in range(MEASURED):
            n[i] = value
    n[first % MEASURED] = value
    n[FAULTS] += 1.0
    if n[FAULTS] < min(max(YOUNG * age, FEW), MANY):
        return
    for i in range(MEASURED):
        insert_sample(n, n[i], i)
    deviation = (n[MEASURED - 2] - n[1]) / NORMAL_WIDE
    n[FAULTS] = 0.0
    if FIRST_LEVEL * deviation > n[LEVEL]:
        n[LEVEL] = FIRST_LEVEL * deviation
        n[MEDIAN] = n[LEVEL] / MEDIANS
        n[MEAN_SQUARE] = max(n[MEAN_SQUARE], deviation * deviation)
    restart_forecast(n, trimmed_mean(n))


# --- the forecast: docs/mathematics.md, 13.5 -----------------------------------------------------


@compilable
def expectation(c: Constants, n: list[float]) -> float:
    """b: the forecast of the loss of a round, from the numbers when it was asked."""
    expected = n[MIXTURE]
    if n[OWN] != NONE:
        expected = (1.0 - n[OWN_WEIGHT]) * expected + n[OWN_WEIGHT] * n[OWN]
    return clip(expected, 0.5 * c.widest)


@compilable
def learn_forecast(n: list[float], then: list[float], value: float, round: int) -> None:
    """Weigh the forecasters by the squares of their errors, and move them to the value."""
    n[LOW], n[HIGH] = min(n[LOW], value), max(n[HIGH], value)
    last, trending, mean = value - then[LAST], value - then[TRENDING], value - then[AVERAGE]
    last, trending, mean = last * last, trending * trending, mean * mean
    own = 0.0 if then[OWN] == NONE else (value - then[OWN]) * (value - then[OWN])
    largest = max(n[LEVEL] * n[LEVEL], last, trending, mean, own)
    if largest > 0.0:
        a, b, c, d = n[LAST_WEIGHT], n[TRENDING_WEIGHT], n[MEAN_WEIGHT], n[OWN_WEIGHT]
        before, rate = a + b + c, -0.5 / largest
        # Only ratios count: all weights as if the mean's had stayed.
        a, b = a * exp(rate * (last - mean)), b * exp(rate * (trending - mean))
        after = a + b + c
        if then[OWN] != NONE:
            before += d
            after += d * exp(rate * (own - mean))
        share = 1.0 / (round + 1.0)
        scale, share = (1.0 - share) * before / after, 0.25 * share
        a, b, c = scale * a + share, scale * b + share, scale * c + share
        n[LAST_WEIGHT], n[TRENDING_WEIGHT], n[MEAN_WEIGHT] = a, b, c
        n[OWN_WEIGHT] = 1.0 - (a + b + c)
    error = value - n[TRENDING]
    n[TREND] += TREND_GAIN * error if round > 1 else 0.0
    n[TRENDING] += (LEVEL_GAIN if round > 1 else 1.0) * error + n[TREND]
    n[LAST] = value
    n[AVERAGE] += (value - n[AVERAGE]) / min(float(round), LONG)
    a, b, c = n[LAST_WEIGHT], n[TRENDING_WEIGHT], n[MEAN_WEIGHT]
    n[MIXTURE] = (a * n[LAST] + b * n[TRENDING] + c * n[AVERAGE]) / (a + b + c)


@compilable
def restart_forecast(n: list[float], value: float) -> None:
    """Set all forecasters to one number, with the same weight."""
    n[LAST] = n[TRENDING] = n[AVERAGE] = n[MIXTURE] = value
    n[TREND] = 0.0
    n[LAST_WEIGHT] = n[TRENDING_WEIGHT] = n[MEAN_WEIGHT] = n[OWN_WEIGHT] = 0.25


@compilable
def measure(c: Constants, n: list[float], loss: float, round: int) -> None:
    """Take in a loss that shows how large they are: the first level when enough of them differ."""
    insert_sample(n, loss, round - 1)
    width, size = n[MEASURED - 3] - n[2], max(abs(n[0]), abs(n[MEASURED - 1]))
    if round < MEASURED or width / NORMAL <= TINY + ROUNDED * size:
        return
    deviation = width / NORMAL
    n[KNOWN_SINCE] = float(round)
    n[MEAN_SQUARE] = (deviation / REACH) ** 2
    n[LEVEL] = n[TOP] = n[SMOOTHED] = FIRST_LEVEL * deviation
    n[MEDIAN] = n[LEVEL] / MEDIANS
    n[RATE] = largest_rate(c, n[LEVEL])
    n[LOW], n[HIGH] = n[2], n[MEASURED - 3]
    restart_forecast(n, trimmed_mean(n))


@compilable
def insert_sample(n: list[float], value: float, count: int) -> None:
    """Put a value among so many sorted samples. A full row loses a middle one."""
    if count >= MEASURED:
        for i in range(MEASURED // 2, MEASURED - 1):
            n[i] = n[i + 1]
        count = MEASURED - 1
    k = count
    while k > 0 and n[k - 1] > value:
        n[k] = n[k - 1]
        k -= 1
    n[k] = value


@compilable
def trimmed_mean(n: list[float]) -> float:
    """Return the mean of eight sorted samples without the two largest and the two least."""
    return (n[2] + n[3] + n[4] + n[5]) / (MEASURED - 4.0)
