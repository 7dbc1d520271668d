"""How far from its guess a value counts: a level that follows the size of the residuals."""

from __future__ import annotations

from math import exp, inf, isnan

QUANTILE, TIMES, STEP = 0.98, 3.0, 0.5
"""The level is three times the 98 % quantile of the residuals, 7 standard deviations of normal
ones; it follows in steps of up to a factor exp(1/2)."""


def next_level(level: float, size: float) -> float:
    """The level of clipping after a residual of some size.

    Parameters
    ----------
    level : float
        The level so far; infinite before a residual was other than zero.
    size : float
        The absolute value of the residual, not clipped.

    Returns
    -------
    float
        Larger if the size is above a third of the level, slightly smaller otherwise, so that one
        residual in fifty is above that third in the long run.
    """
    if size == 0.0:
        return level
    if level == inf:
        return TIMES * size
    return level * exp(STEP * (QUANTILE if TIMES * size > level else QUANTILE - 1.0))


def limited(x: float, low: float, high: float) -> float:
    """The number of a range that is nearest.

    Parameters
    ----------
    x : float
        Any number.
    low, high : float
        The ends of the range.

    Returns
    -------
    float
        It, or the nearer end; NaN for NaN.
    """
    return x if isnan(x) else min(max(x, low), high)
