"""What the next loss will be: a mixture of small forecasters, weighted by how well they have done.

Three forecasters look at the losses alone: the last one, a level with a trend, and a mean with a
memory of 64 rounds. A fourth is the user's own number, where one is given; in the other rounds it
sleeps. The forecast b_t is their mean by weight. After the value v_t has come, each weight is
multiplied by exp(-(v_t - p_k)^2/(2 rho_t^2)), rho_t = max{c_t, max_k |v_t - p_k|}, and 1/(t + 1) of
all weight is shared out equally. As exp(-(v - p)^2/(2 rho^2)) is concave in p while |v - p| <= rho,

    sum_t ((v_t - b_t)^2 - (v_t - p_k,t)^2)/rho_t^2  <=  2 (ln 4 + ln(T + 1))

for every forecaster k, summed over the rounds in which it is awake (docs/mathematics.md, 13.5).

The state is a run of numbers at the beginning of a list or an array: the same source runs on the
list of a learner that is asked and told, and compiled on the array of the fast loop.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import Any

from dikin.kernel import compilable

NAMES = ("last loss", "level and trend", "mean of 64", "yours")
COUNT = 4
LAST, LEVEL, MEAN, TREND = 0, 1, 2, 3
"""Where the forecasters keep their numbers: what they expect next, and the trend."""
WEIGHTS = 4
"""Where their weights begin; the last one is the user's."""
OWN = WEIGHTS + 3
MIXTURE = 8
"""Where the forecast of the next round is kept, the user's number apart."""
SIZE = 9

NONE = 1e300
"""Stands for a number that the user did not give; larger than any loss."""

LONG = 64.0
"""Rounds that the mean remembers."""
LEVEL_GAIN, TREND_GAIN = 0.2, 0.02
"""How fast the level follows the losses, and the trend the level."""

Numbers = MutableSequence[float] | Any
"""A list, or the compiled loop's array."""


def fresh() -> list[float]:
    """The state before the first loss: all forecasters say 0, and weigh the same."""
    return [0.0, 0.0, 0.0, 0.0, 0.25, 0.25, 0.25, 0.25, 0.0]


@compilable
def begin(n: Numbers, value: float) -> None:
    """Set all forecasters to one number, with the same weight.

    Parameters
    ----------
    n : list or Array
        The state, which is written.
    value : float
        What all forecasters expect from now on.
    """
    n[LAST] = n[LEVEL] = n[MEAN] = n[MIXTURE] = value
    n[TREND] = 0.0
    for k in range(COUNT):
        n[WEIGHTS + k] = 1.0 / COUNT


@compilable
def forecast(n: Numbers, own: float) -> float:
    """The forecast of the next loss.

    Parameters
    ----------
    n : list or Array
        The state.
    own : float
        The user's own number for that loss, or NONE.

    Returns
    -------
    float
        The mean of the forecasters that are awake, by weight.
    """
    mixed: float = n[MIXTURE]
    if own == NONE:
        return mixed
    weight: float = n[OWN]  # all weights add up to one
    return (1.0 - weight) * mixed + weight * own


@compilable
def exp_near_zero(x: float) -> float:
    """The exponential by Pade's quotient, as a library's call takes longer.

    Parameters
    ----------
    x : float
        A number with |x| <= 1/2.

    Returns
    -------
    float
        The exponential of x, to 1e-13 of itself.
    """
    y = x * x
    even, odd = 30240.0 + y * (3360.0 + 30.0 * y), x * (15120.0 + y * (420.0 + y))
    return (even + odd) / (even - odd)


@compilable
def learn(
    n: Numbers,
    seen: Sequence[float] | Any,
    own: float,
    value: float,
    error_scale: float,
    count: float,
) -> None:
    """Take in a value.

    Parameters
    ----------
    n : list or Array
        The state, which is written.
    seen : sequence of float
        The state in which the value was forecast: n itself, unless answers come late.
    own : float
        The user's own number for that value, or NONE.
    value : float
        The value.
    error_scale : float
        The size c_t of an error that is nothing special.
    count : float
        The number of values so far, this one included.
    """
    _update_weights(n, seen, own, value, error_scale, count)
    _update_forecasters(n, value, count)


@compilable
def _update_weights(
    n: Numbers,
    seen: Sequence[float] | Any,
    own: float,
    value: float,
    error_scale: float,
    count: float,
) -> None:
    """Weigh the forecasters anew by the squares of their errors."""
    last, trend, mean = value - seen[LAST], value - seen[LEVEL], value - seen[MEAN]
    last, trend, mean = last * last, trend * trend, mean * mean
    user = 0.0 if own == NONE else (value - own) * (value - own)
    largest = max(error_scale * error_scale, last, trend, mean, user)
    if not largest > 0.0:
        return
    a, b, c, d = n[WEIGHTS], n[WEIGHTS + 1], n[WEIGHTS + 2], n[OWN]
    rate = -0.5 / largest
    before = a + b + c
    # Only ratios count: all weights as if the mean's had stayed.
    a, b = a * exp_near_zero(rate * (last - mean)), b * exp_near_zero(rate * (trend - mean))
    after = a + b + c
    if own != NONE:
        before += d
        after += d * exp_near_zero(rate * (user - mean))
    # Who slept keeps its weight, those awake share what they had; then a little for everyone.
    share = 1.0 / (count + 1.0)
    kept = (1.0 - share) * before / after
    share *= 1.0 / COUNT
    a, b, c = kept * a + share, kept * b + share, kept * c + share
    n[WEIGHTS], n[WEIGHTS + 1], n[WEIGHTS + 2], n[OWN] = a, b, c, 1.0 - (a + b + c)


@compilable
def _update_forecasters(n: Numbers, value: float, count: float) -> None:
    """Move what the forecasters expect next, and its mixture."""
    error = value - n[LEVEL]  # moves the level and the trend; what it expects is their sum
    gain = 1.0 if count == 1.0 else LEVEL_GAIN
    n[TREND] += TREND_GAIN * error if count > 1.0 else 0.0
    n[LEVEL] += gain * error + n[TREND]
    n[LAST] = value
    away = value - n[MEAN]
    n[MEAN] += away / count if count < LONG else away * (1.0 / LONG)
    a, b, c = n[WEIGHTS], n[WEIGHTS + 1], n[WEIGHTS + 2]
    n[MIXTURE] = (a * value + b * n[LEVEL] + c * n[MEAN]) / (a + b + c)
