"""Values that may be faults: far from most of the others, and from those of similar settings."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median_low

import numpy as np

from dikin.tuning.model import common_value
from dikin.vectors import Array

STEEPER = 3.0
"""Factor by which a value may be steeper than any two ordinary values."""
RARE = 100.0
"""Factor by which a value may be farther than the others where many values are equal."""
ABSURD, CORE = 10.0, 0.7
"""Distances of this share of the first values beyond which one of them is absurd."""

Measured = Sequence[tuple[Array, float]]
"""Settings, each with its context, and their values."""


def fits(where: Array, value: float, rows: Measured, largest: float = 0.0) -> bool:
    """Return True if a value is as far from its nearest neighbour as these values vary.

    Where these are all equal, only the largest value of earlier rows tells how they vary.
    """
    if not rows:
        return False
    settings, values = np.array([x for x, _ in rows]), np.array([v for _, v in rows])
    if (common := common_value(values.tolist())) is not None:  # the others vary as they like
        most = RARE * (float(np.max(np.abs(values - common))) or largest)
        return most == 0.0 or abs(value - common) <= most
    gaps = np.linalg.norm(settings[:, None] - settings, axis=2)
    away = np.linalg.norm(settings - where, axis=1)
    near, width = int(np.argmin(away)), float(gaps.max())
    if not width > 0.0:  # nothing is known of slopes
        return bool(away[near] > 0.0)
    slope = float(np.max(np.abs(values[:, None] - values) / (gaps + 0.1 * width)))
    allowed = STEEPER * slope * away[near] * (1.0 + away[near] / width) ** 3
    return bool(abs(value - values[near]) <= np.ptp(values) + allowed)


def absurd(rows: Measured) -> list[bool]:
    """Return for each of the first values if it is far from most, and from its neighbours."""
    middle = np.median([value for _, value in rows])
    apart = sorted(abs(value - middle) for _, value in rows)
    rare = [each for each in apart if each] or [0.0]
    most = ABSURD * (apart[int(CORE * len(rows))] or median_low(rare))
    core = [(x, value) for x, value in rows if abs(value - middle) <= most]
    return [bool(abs(value - middle) > most) and not fits(x, value, core) for x, value in rows]
