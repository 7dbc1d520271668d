"""What the next loss will be: a mixture of small forecasters, weighted by how well they have done.

Three forecasters look at the losses alone: the last one, a level with a trend, and a mean with a
memory of 64 rounds. A fourth is the user's own number, where one is given, and a fifth a regression
on covariates (`regression`), where there are some; in the other rounds they sleep. The forecast b_t
is their mean by weight. After the value v_t has come, each weight is multiplied by
exp(-(v_t - p_k)^2/(2 rho_t^2)), rho_t = max{c_t, max_k |v_t - p_k|} with c_t/2 for c_t where the
regression is awake, and 1/(t + 1) of all weight is shared out equally. As
exp(-(v - p)^2/(2 rho^2)) is concave in p while |v - p| <= rho,

    sum_t ((v_t - b_t)^2 - (v_t - p_k,t)^2)/rho_t^2  <=  2 (ln 5 + ln(T + 1))

for every forecaster k, summed over the rounds in which it is awake (docs/mathematics.md, 13.5).
"""

from __future__ import annotations

from dataclasses import dataclass

from dikin.kernel import Record, compilable

NONE = 1e300
"""Stands for a number that the user did not give; larger than any loss."""

LONG = 64.0
"""Rounds that the mean remembers."""
EQUAL = 0.25
"""The weight of each forecaster at first: the weights are in units of that of the first four."""
QUICK = 0.5
"""Of the level c_t, where the regression is awake: what it explains is to be had from the first
rounds on, and weights move four times as fast. Half a level is some two standard deviations."""
LEVEL_GAIN, TREND_GAIN = 0.2, 0.02
"""How fast the level follows the losses, and the trend the level."""


@dataclass(slots=True)
class Forecasters(Record):
    """What the forecasters expect next, and how much each of them weighs.

    Parameters
    ----------
    last, level, long_mean : float
        What they expect: the last loss, the level with its trend, the mean.
    trend : float
        The trend of the level.
    last_weight, level_weight, mean_weight, own_weight : float
        Their weights and that of the user's number; they add up to one.
    mixture : float
        The forecast of the next round, the user's number and the regression apart.
    own : float
        The user's number for the round that is asked, or NONE.
    regression_weight : float
        The weight of the regression beside these four, in the same units: 1/4 is a fifth of all.
    regression : float
        What the regression on covariates expects of the round that is asked, or NONE.
    precision : float
        How much the loss of that round teaches: 1, and less where it is known to be noisier.
    """

    last: float = 0.0
    level: float = 0.0
    long_mean: float = 0.0
    trend: float = 0.0
    last_weight: float = EQUAL
    level_weight: float = EQUAL
    mean_weight: float = EQUAL
    own_weight: float = EQUAL
    mixture: float = 0.0
    own: float = NONE
    regression_weight: float = EQUAL
    regression: float = NONE
    precision: float = 1.0

    @property
    def weights(self) -> dict[str, float]:
        """Each forecaster's share of all weight, by the name that the user reads."""
        weights = {
            "last loss": self.last_weight,
            "level and trend": self.level_weight,
            "mean of 64": self.mean_weight,
            "yours": self.own_weight,
            "covariates": self.regression_weight,
        }
        return {name: weight / (1.0 + self.regression_weight) for name, weight in weights.items()}


@compilable
def restart(f: Forecasters, value: float) -> None:
    """Set all forecasters to one number, with the same weight.

    Parameters
    ----------
    f : Forecasters
        The state, which is written.
    value : float
        What all forecasters expect from now on.
    """
    f.last = f.level = f.long_mean = f.mixture = value
    f.trend = 0.0
    f.last_weight = f.level_weight = f.mean_weight = f.own_weight = EQUAL
    f.regression_weight = EQUAL


@compilable
def forecast(f: Forecasters) -> float:
    """The forecast of the next loss.

    Parameters
    ----------
    f : Forecasters
        The state.

    Returns
    -------
    float
        The mean of the forecasters that are awake, by weight.
    """
    return mixed(f, f.own, f.regression)


@compilable
def mixed(f: Forecasters, own: float, regression: float) -> float:
    """The forecast with these numbers of the user and of the regression.

    Parameters
    ----------
    f : Forecasters
        The state.
    own, regression : float
        What they expect, or NONE.

    Returns
    -------
    float
        The mean of the forecasters that are awake, by weight.
    """
    mixture, weight = f.mixture, 1.0 - f.own_weight
    if own != NONE:
        mixture, weight = weight * f.mixture + f.own_weight * own, 1.0
    if regression == NONE:
        return mixture
    share = f.regression_weight / (weight + f.regression_weight)
    return mixture + share * (regression - mixture)


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
    f: Forecasters, asked: Forecasters, value: float, error_scale: float, count: float
) -> None:
    """Take in a value.

    Parameters
    ----------
    f : Forecasters
        The state, which is written.
    asked : Forecasters
        The state in which the value was forecast: f itself, unless answers come late.
    value : float
        The value.
    error_scale : float
        The size c_t of an error that is nothing special.
    count : float
        The number of values so far, this one included.
    """
    _update_weights(f, asked, value, error_scale, count)
    _update_forecasters(f, value, count)


@compilable
def _update_weights(
    f: Forecasters, asked: Forecasters, value: float, error_scale: float, count: float
) -> None:
    """Weigh the forecasters anew by the squares of their errors."""
    last, trend, mean = value - asked.last, value - asked.level, value - asked.long_mean
    last, trend, mean = last * last, trend * trend, mean * mean
    own = 0.0 if asked.own == NONE else (value - asked.own) * (value - asked.own)
    regression = 0.0
    if asked.regression != NONE:
        regression = (value - asked.regression) * (value - asked.regression)
        error_scale *= QUICK
    largest = max(error_scale * error_scale, last, trend, mean, own, regression)
    if not largest > 0.0:
        return
    a, b, c, d, e = (
        f.last_weight,
        f.level_weight,
        f.mean_weight,
        f.own_weight,
        f.regression_weight,
    )
    rate = -0.5 / largest
    before = a + b + c
    # Only ratios count: all weights as if the mean's had stayed.
    a, b = a * exp_near_zero(rate * (last - mean)), b * exp_near_zero(rate * (trend - mean))
    after = a + b + c
    if asked.own != NONE:
        before += d
        after += d * exp_near_zero(rate * (own - mean))
    judged = e
    if asked.regression != NONE:
        judged = e * exp_near_zero(rate * (regression - mean))
        before += e
        after += judged
    # A sleeping forecaster keeps its weight, those awake share theirs; then a little for everyone.
    share = 1.0 / (count + 1.0)
    kept = 1.0 - share
    scale = kept * before / after
    share *= 0.2 * (1.0 + e)  # a quarter, as long as the regression has always slept
    a, b, c = scale * a + share, scale * b + share, scale * c + share
    total = 1.0
    if asked.regression != NONE or e != EQUAL:
        judged = (scale if asked.regression != NONE else kept) * judged + share
        total = 1.0 + e - judged  # of the other four: all weight together stays
        a, b, c, f.regression_weight = a / total, b / total, c / total, judged / total
    f.last_weight, f.level_weight, f.mean_weight = a, b, c
    f.own_weight = 1.0 - (a + b + c)


@compilable
def _update_forecasters(f: Forecasters, value: float, count: float) -> None:
    """Move what the forecasters expect next, and its mixture."""
    error = value - f.level  # moves the level and the trend; what it expects is their sum
    gain = 1.0 if count == 1.0 else LEVEL_GAIN
    f.trend += TREND_GAIN * error if count > 1.0 else 0.0
    f.level += gain * error + f.trend
    f.last = value
    away = value - f.long_mean
    f.long_mean += away / count if count < LONG else away * (1.0 / LONG)
    mix(f)


@compilable
def mix(f: Forecasters) -> None:
    """The mixture of what the forecasters expect.

    Parameters
    ----------
    f : Forecasters
        The state, whose mixture is written.
    """
    a, b, c = f.last_weight, f.level_weight, f.mean_weight
    f.mixture = (a * f.last + b * f.level + c * f.long_mean) / (a + b + c)
