"""How far from its guess a value counts: a level that follows the size of the residuals."""

from __future__ import annotations

from math import exp, inf, isnan
from typing import Any

from dikin.units import checked_range

QUANTILE, TIMES, STEP = 0.98, 3.0, 0.5
"""The level is three times the 98 % quantile of the residuals, 7 standard deviations of normal
ones; it follows in steps of up to a factor exp(1/2)."""


def next_level(level: float, size: float) -> float:
    """The level of clipping after a residual, of which `size` is the absolute value, not clipped.

    Larger if the size is above a third of the level, slightly smaller otherwise, so that one
    residual in fifty is above that third in the long run. Infinite before a residual was not zero.
    """
    if size == 0.0:
        return level
    if level == inf:
        return TIMES * size
    return level * exp(STEP * (QUANTILE if TIMES * size > level else QUANTILE - 1.0))


def declared_range(ends: Any) -> tuple[float, float] | None:
    """A declared range of values, checked; None if there is none."""
    return None if ends is None else checked_range(ends, "value")


def in_range(value: float, ends: tuple[float, float] | None) -> float:
    """A value as it counts: outside the declared range it is a fault, and counts as its end."""
    return value if ends is None else limited(value, *ends)


def limited(x: float, low: float, high: float) -> float:
    """The number of a range that is nearest; NaN for NaN."""
    return x if isnan(x) else min(max(x, low), high)
