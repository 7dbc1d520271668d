"""What the next loss will be: a mixture of small forecasters, weighted by how well they have done.

Four forecasters look at the losses alone: the last one, means with a memory of 8 and of 64 rounds,
and a level with a trend. A fifth is the user's own number, where one is given; in the other rounds
it sleeps. The forecast b_t is their mean by weight. After the value v_t has come, each weight is
multiplied by exp(-(v_t - p_k)^2/(2 rho_t^2)), rho_t = max{c_t, max_k |v_t - p_k|}, and 1/t of all
weight is shared out equally. As exp(-(v - p)^2/(2 rho^2)) is concave in p while |v - p| <= rho,

    sum_t ((v_t - b_t)^2 - (v_t - p_k,t)^2)/rho_t^2  <=  2 (ln 5 + ln T)

for every forecaster k, summed over the rounds in which it is awake (docs/mathematics.md, 13.5).

The state is a run of numbers at the beginning of a list or an array: the same source runs on the
list of a learner that is asked and told, and compiled on the array of the fast loop.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from math import exp, isnan
from typing import Any

from dikin.kernel import compiled

NAMES = ("last loss", "mean of 8", "mean of 64", "level and trend", "yours")
AWAKE = 4
"""Forecasters that always have a number; the user's own comes after them."""
COUNT = 5

MIXTURE = 0
"""Where the forecast of the next round is kept."""
WEIGHTS = 1
NUMBERS = WEIGHTS + COUNT
"""Where the numbers of the forecasters are kept; the user's own is not: it comes with a query."""
TREND = NUMBERS + AWAKE
SIZE = TREND + 1

SHORT, LONG = 8.0, 64.0
"""Rounds that the two means remember."""
LEVEL_GAIN, TREND_GAIN = 0.2, 0.02
"""How fast the level follows the losses, and the trend the level."""

Numbers = MutableSequence[float] | Any
"""A list, or the compiled loop's array."""


def fresh() -> list[float]:
    """The state before the first loss: all forecasters say 0, and weigh the same."""
    return [0.0] + COUNT * [1.0 / COUNT] + AWAKE * [0.0] + [0.0]


@compiled
def begin(n: Numbers, value: float) -> None:
    """All forecasters at one number, with the same weight."""
    n[MIXTURE], n[TREND] = value, 0.0
    for k in range(AWAKE):
        n[NUMBERS + k] = value
    for k in range(COUNT):
        n[WEIGHTS + k] = 1.0 / COUNT


@compiled
def forecast(n: Numbers, own: float) -> float:
    """The forecast of the next loss, with the user's own number or NaN."""
    if isnan(own):
        mixed: float = n[MIXTURE]
        return mixed
    awake = 1.0 - n[WEIGHTS + AWAKE]  # weights add up to one
    return awake * n[MIXTURE] + n[WEIGHTS + AWAKE] * own


@compiled
def learn(
    n: Numbers, seen: Sequence[float] | Any, own: float, value: float, level: float, count: float
) -> None:
    """Take in a value; `seen` is the state in which its forecast was made.

    `level` is the size of an error that is nothing special, `count` the values so far, this one
    included.
    """
    _weigh(n, seen, own, value, level, count)
    _update(n, value, count)
    mixed = total = 0.0
    for k in range(AWAKE):
        weight = n[WEIGHTS + k]
        mixed += weight * n[NUMBERS + k]
        total += weight
    n[MIXTURE] = mixed / total


@compiled
def _weigh(
    n: Numbers, seen: Sequence[float] | Any, own: float, value: float, level: float, count: float
) -> None:
    asleep = isnan(own)
    most = level * level
    for k in range(AWAKE):
        error = value - seen[NUMBERS + k]
        most = max(most, error * error)
    if not asleep:
        most = max(most, (value - own) * (value - own))
    if most == 0.0:
        return
    before = after = 0.0
    for k in range(AWAKE):
        error = value - seen[NUMBERS + k]
        weight = n[WEIGHTS + k]
        before += weight
        weight *= exp(-0.5 * error * error / most)
        n[WEIGHTS + k] = weight
        after += weight
    if not asleep:
        weight = n[WEIGHTS + AWAKE]
        before += weight
        weight *= exp(-0.5 * (value - own) * (value - own) / most)
        n[WEIGHTS + AWAKE] = weight
        after += weight
    # Who slept keeps its weight, those awake share what they had; then a little for everyone.
    share = 1.0 / (count + 1.0)
    kept, equal = (1.0 - share) * before / after, share / COUNT
    for k in range(AWAKE):
        n[WEIGHTS + k] = kept * n[WEIGHTS + k] + equal
    other = 1.0 - share if asleep else kept
    n[WEIGHTS + AWAKE] = other * n[WEIGHTS + AWAKE] + equal


@compiled
def _update(n: Numbers, value: float, count: float) -> None:
    """The forecasters' own numbers."""
    n[NUMBERS] = value
    n[NUMBERS + 1] += (value - n[NUMBERS + 1]) / min(count, SHORT)
    n[NUMBERS + 2] += (value - n[NUMBERS + 2]) / min(count, LONG)
    if count == 1.0:
        n[NUMBERS + 3] = value
    else:
        # Its number is level + trend: what it expected. The error moves both.
        error = value - n[NUMBERS + 3]
        n[TREND] += TREND_GAIN * error
        n[NUMBERS + 3] += LEVEL_GAIN * error + n[TREND]
