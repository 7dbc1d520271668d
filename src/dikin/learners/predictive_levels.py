"""The levels of `Predictive`: how large a surprise may be, and what is a fault.

In a known range the level doubles and halves; without one it is measured, and then follows the
median of |surprise| (docs/mathematics.md, 13.3).
"""

from __future__ import annotations

from math import exp, inf

from dikin import forecasts
from dikin.arguments import LARGEST
from dikin.kernel import compilable
from dikin.learners.predictive_schedule import WINDOW, budget
from dikin.learners.predictive_state import (
    MEASURED,
    Levels,
    Numbers,
    Plan,
    largest_rate,
    smoothness_of,
)

RARE = 3.0
"""The level halves when it would still be so many times the typical surprise."""
DEEPEST = 40.0
"""How often the level may halve: below 10^-12 of the range rounding would be the surprise."""
REACH = 0.5
"""Without a known range the first losses are measured this far out in the ellipsoid."""
LEVEL = 8.0
"""The first level, in standard deviations of the losses that were measured."""
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
FEW, YOUNG = 5.0, 0.25
"""In the first rounds fewer do, whether they agree or not: this share of the rounds so far, but not
fewer than FEW. The first steps may lead far off, and what is seen there is no fault."""
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
ABSURD = 256.0
"""Measured losses so many times farther apart than five of the eight are no measure of the rest. In
SETTLING rounds the level would fall by about this factor, and the largest level then stays."""
TOO_HIGH = 8.0
"""A provisional level of so many times the one that is found later is given up."""
TINY = 1.0 / LARGEST
"""Losses that differ by less are the same: squares would be 0."""


@compilable
def clip(value: float, level: float) -> float:
    """The nearest number of [-level, level]."""
    return level if value > level else -level if value < -level else value


@compilable
def is_fault(plan: Plan, surprise: float, level: float) -> bool:
    """Whether nothing is learnt from so large a surprise; within a known range there is none."""
    far = FAR_BY_LOT if plan.by_lot else FAR
    return plan.widest == inf and abs(surprise) > far * level


@compilable
def clipped_surprise(plan: Plan, levels: Levels, surprise: float, level: float) -> float:
    """r-bar, what is learnt of a surprise that had this level when it was asked."""
    if provisional(plan, levels) or is_fault(plan, surprise, level):
        return 0.0
    return clip(surprise, level)


@compilable
def measuring(levels: Levels) -> bool:
    """Whether the size of the losses is not known yet."""
    return levels.current == 0.0


@compilable
def provisional(plan: Plan, levels: Levels) -> bool:
    """Whether there is a level, but one of losses that were nearly all the same."""
    return plan.widest == inf and levels.known_since == 0.0


@compilable
def is_young(plan: Plan, levels: Levels, rounds: int) -> bool:
    """Whether sizes were measured a few rounds ago. By lot a large value may be a rare one."""
    measured = plan.widest == inf and not plan.by_lot
    return measured and rounds - levels.known_since < SETTLING - MEASURED


@compilable
def has_falling_level(plan: Plan) -> bool:
    """Whether the level is that of a known range, halved where surprises are small."""
    return plan.widest < inf and not plan.by_lot


@compilable
def update_levels(
    plan: Plan, n: Numbers, surprise: float, level: float, loss: float, rounds: int
) -> None:
    """V and the level after a surprise that had this level when it was asked."""
    levels = n.levels
    count, size = float(rounds), abs(surprise)
    clipped, far = size > level, is_fault(plan, surprise, level)
    age = count - levels.known_since + MEASURED
    if clipped:
        count_clipped(n)
    if not far:
        window = min(count, WINDOW)
        if plan.widest == inf:
            window = max(4.0, min(0.25 * age, WINDOW))
        levels.mean_square += (min(size, level) ** 2 - levels.mean_square) / window
    if has_falling_level(plan):
        double_or_halve(plan, n, clipped, count)
    elif provisional(plan, levels):
        settle_level(plan, n, loss, rounds)
    elif far:
        count_fault(n, loss, age)
    elif plan.widest == inf:
        levels.faults = max(levels.faults - 1.0, 0.0)
        follow_median(plan, levels, size, age)


@compilable
def count_clipped(n: Numbers) -> None:
    """One more round of which not all was learnt."""
    for m in range(len(n.sums.clipped)):
        n.sums.clipped[m] += 1.0


# --- a known range -------------------------------------------------------------------------------


@compilable
def clip_price(d: float, width: float, smoothness: float, lipschitz: float) -> float:
    """What clipping a round costs at most: 2 d Lambda, for a set in the unit ball."""
    return 2.0 * d * min(width + 2.0 * smoothness, 2.0 * lipschitz)


@compilable
def double_or_halve(plan: Plan, n: Numbers, clipped: bool, rounds: float) -> None:
    """c_{t+1} in a known range: doubled after a clipped round, halved where that is paid for.

    The budget: were the level to come back to the top by clipping, and were one more round clipped,
    all clipped rounds together would cost no more than that.
    """
    levels = n.levels
    level = levels.current
    if clipped:
        levels.current = min(2.0 * level, plan.widest)
        levels.top = max(levels.top, levels.current)
        levels.halvings = max(levels.halvings - 1.0, 0.0)
    elif 4.0 * RARE * RARE * levels.mean_square < level * level and levels.halvings < DEEPEST:
        each = clip_price(plan.dim, levels.top, smoothness_of(plan, levels), plan.lipschitz)
        clipped_rounds = n.sums.clipped[0] + levels.halvings + 1.0
        if each * clipped_rounds <= budget(plan, n.centres, 0, rounds):
            levels.current = 0.5 * level
            levels.halvings += 1.0


# --- no known range ------------------------------------------------------------------------------


@compilable
def follow_median(plan: Plan, levels: Levels, size: float, age: float) -> None:
    """The level by the median of |surprise|, of all that are no faults.

    It moves by a small step a round, up or down; only down faster, in the first rounds, as there
    may be faults among the losses that were measured. The largest level follows what it asks for in
    the mean, so that a burst of faults does not raise it. By lot the level is at least that one,
    which then falls as 1/t, and not below a recent surprise.
    """
    early = 1.0 / (2.0 + 0.25 * max(age - MEASURED, 0.0))
    step = MEDIAN_STEP
    if size < TYPICAL_SHARE * levels.median and early > step:
        step = early
    levels.median *= exp(step if size > levels.median else -step)
    if levels.median * MEDIANS < LOWEST * levels.top and age >= SETTLING:
        levels.median = LOWEST * levels.top / MEDIANS
    wanted = MEDIANS * levels.median
    window = max(1.0, min(0.25 * age, WINDOW))
    levels.smoothed *= (wanted / levels.smoothed) ** (1.0 / window)
    if levels.smoothed > levels.top or age < SETTLING:
        levels.top = levels.smoothed
    if plan.by_lot and age >= SETTLING:
        levels.top = max(levels.top * (1.0 - 1.0 / age), size)
    levels.current = max(wanted, levels.top) if plan.by_lot else wanted


@compilable
def count_fault(n: Numbers, value: float, age: float) -> None:
    """One more loss that is far off; when they are no faults any more, sizes begin anew."""
    levels, samples = n.levels, n.levels.samples
    first = int(levels.faults)
    if first == 0:  # fewer than there is room for may have to do
        for i in range(MEASURED):
            samples[i] = value
    samples[first % MEASURED] = value
    levels.faults += 1.0
    enough = min(max(YOUNG * age, FEW), ANY)
    if levels.faults < min(AGREEING, enough):
        return
    for i in range(MEASURED):
        insert_sample(samples, samples[i], i)
    deviation = (samples[MEASURED - 2] - samples[1]) / NORMAL_WIDE
    middle = trimmed_mean(samples)
    if deviation > AGREE * abs(middle - n.forecasters.mixture) and levels.faults < enough:
        return
    levels.faults = 0.0
    if LEVEL * deviation > levels.current:
        levels.current = LEVEL * deviation
        levels.median = levels.current / MEDIANS
        levels.mean_square = max(levels.mean_square, deviation * deviation)
    forecasts.restart(n.forecasters, middle)


@compilable
def measure(plan: Plan, n: Numbers, loss: float, rounds: int) -> None:
    """One more loss that shows how large they are; the first level when there are enough.

    After LONGEST of which most are the same there is a provisional level.
    """
    levels, samples = n.levels, n.levels.samples
    insert_sample(samples, loss, rounds - 1)
    if rounds < MEASURED:
        return
    if plan.dim > 1.0 and not plan.by_lot:
        bring_in_faults(samples)
    deviation = sample_deviation(samples)
    levels.known_since = float(rounds) if deviation > 0.0 else 0.0
    if deviation == 0.0 and rounds >= LONGEST:
        deviation = provisional_deviation(samples)
    if deviation > 0.0:
        set_sizes(levels, deviation)
        for i in range(len(n.centres.rate)):
            n.centres.rate[i] = largest_rate(plan, levels.current)
            n.centres.rounds[i] = float(rounds) if i % plan.cells == 0 else 0.0
        levels.low, levels.high = samples[2], samples[MEASURED - 3]
        forecasts.restart(n.forecasters, trimmed_mean(samples))


@compilable
def settle_level(plan: Plan, n: Numbers, loss: float, rounds: int) -> None:
    """One more loss while the level is provisional: it ends when enough of them differ.

    Where it was far too high, what was guessed by it ends too: no lambda has to be chosen before
    it is used.
    """
    levels, samples = n.levels, n.levels.samples
    insert_sample(samples, loss, rounds - 1)
    deviation = sample_deviation(samples)
    if deviation == 0.0:
        return
    levels.known_since = float(rounds)
    if levels.current < TOO_HIGH * LEVEL * deviation:
        return
    set_sizes(levels, deviation)
    centres = n.centres
    for i in range(len(centres.rate)):
        centres.rate_changes[i] = 0.0
        if plan.smoothness < 0.0:
            centres.curvature[i] = max(centres.curvature[i] - centres.lam[i], 0.0)
            centres.lam[i] = centres.exploring[i] = 0.0


@compilable
def set_sizes(levels: Levels, deviation: float) -> None:
    """Level and V by losses of that deviation, whatever they were."""
    levels.mean_square = (deviation / REACH) ** 2
    levels.current = levels.top = levels.smoothed = LEVEL * deviation
    levels.median = levels.current / MEDIANS


# --- samples of the losses -----------------------------------------------------------------------


@compilable
def insert_sample(samples: list[float], value: float, count: int) -> None:
    """Put a value among so many sorted samples; if there is no room, in place of a middle one."""
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
def bring_in_faults(samples: list[float]) -> None:
    """Where three of eight sorted samples are absurd, they count as the nearest of the others.

    Not on a line, nor by lot: only two points are played there, and three losses of eight may well
    be those of the other one.
    """
    first, most = 0, MEASURED // 2
    for i in range(1, MEASURED - most):
        if samples[i + most] - samples[i] < samples[first + most] - samples[first]:
            first = i
    low, high = samples[first], samples[first + most]
    width = high - low
    if width > same_within(samples) and samples[MEASURED - 3] - samples[2] > ABSURD * width:
        for i in range(MEASURED):
            samples[i] = min(max(samples[i], low), high)


@compilable
def sample_median(samples: list[float], count: int) -> float:
    """The median of the first samples."""
    last = min(count, MEASURED) - 1
    return 0.5 * (samples[last // 2] + samples[(last + 1) // 2])


@compilable
def trimmed_mean(samples: list[float]) -> float:
    """The mean of eight sorted samples without the two largest and the two least."""
    total = 0.0
    for i in range(2, MEASURED - 2):
        total += samples[i]
    return total / (MEASURED - 4.0)


@compilable
def same_within(samples: list[float]) -> float:
    """Samples that differ by less are the same but for rounding."""
    return TINY + ROUNDED * max(abs(samples[0]), abs(samples[MEASURED - 1]))


@compilable
def sample_deviation(samples: list[float]) -> float:
    """The standard deviation of losses by eight samples; 0 if most are the same.

    The two largest and the two least are left out: they may be faults.
    """
    deviation = (samples[MEASURED - 3] - samples[2]) / NORMAL
    return deviation if deviation > same_within(samples) else 0.0


@compilable
def provisional_deviation(samples: list[float]) -> float:
    """The same where most are the same.

    None are left out then; and if all are the same, such as those of a bowl around its minimum,
    their size says how large differences may be. 0 if they are all 0.
    """
    largest = max(abs(samples[0]), abs(samples[MEASURED - 1]))
    deviation = 0.5 * (samples[MEASURED - 1] - samples[0])
    if not deviation > same_within(samples):
        deviation = UNVARIED * largest
    return deviation if deviation > TINY else 0.0
