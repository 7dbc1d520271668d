"""The numbers behind the lines: statistics over the rounds, and values that are far off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dikin.vectors import Array

MARKS = 400
"""Rounds at which curves are taken, at most: more are closer than two pixels."""
LEAST_WINDOW, WINDOWS = 10, 50
"""A curve is taken over a fiftieth of all rounds, and at least ten."""
LOW, HIGH = 0.05, 0.95
"""The quantiles that bound a band."""
FAR = 10
"""Factor by which a few values must be farther from the median than all others to be far off."""


def marks(rounds: int) -> NDArray[np.int64]:
    """Return the rows at which curves are taken, with the first and the last."""
    return np.unique(np.linspace(0, rounds - 1, min(rounds, MARKS)).round().astype(np.int64))


def window(rounds: int) -> int:
    """Return the number of rows over which a curve is taken, fewer at the beginning."""
    return max(LEAST_WINDOW, rounds // WINDOWS)


def rolling(column: Array, of: Callable[[Array], Any]) -> Array:
    """Return a statistic of the finite numbers up to each mark, NaN without any."""
    size = window(len(column))
    windows = (column[max(0, mark + 1 - size) : mark + 1] for mark in marks(len(column)))
    finite = (rows[np.isfinite(rows)] for rows in windows)
    return np.array([of(rows) if len(rows) else np.nan for rows in finite])


def band(column: Array) -> tuple[Array, Array]:
    """Return the range around each mark, from the 5 % to the 95 % quantile, of finite numbers."""
    ends = rolling(column, lambda rows: np.quantile(rows, (LOW, HIGH)))
    return ends[:, 0], ends[:, 1]


def far_off(values: Array) -> NDArray[np.bool_]:
    """Return the values, two or a fiftieth at most, that are far from the median of the others."""
    finite = values[np.isfinite(values)]
    middle = np.median(finite) if len(finite) else 0.0
    away, order = np.abs(values - middle), np.sort(np.abs(finite - middle))
    first = max(len(order) - max(2, len(order) // 50), (len(order) + 1) // 2 + 1)
    nearer, farther = order[first - 1 : -1], order[first:]
    jumps = np.flatnonzero((farther > FAR * nearer) & (nearer > 1e-9 * abs(middle)))
    return away >= farther[jumps[0]] if len(jumps) else np.zeros(len(values), bool)


def limits(values: Array) -> tuple[float, float]:
    """Return the ends of an axis on which a few values far off do not hide the others."""
    usual = values[np.isfinite(values) & ~far_off(values)]
    low, high = np.quantile(usual, (0.01, 0.99))
    width = high - low if high > low else np.ptp(usual) or abs(low) or 1.0
    least, most = max(usual.min(), low - 2 * width), min(usual.max(), high + 2 * width)
    return float(least - 0.06 * width), float(most + 0.06 * width)
