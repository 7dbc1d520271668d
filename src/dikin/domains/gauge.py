"""How far out a point is: the gauge of a set that is known by its barrier alone."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

import numpy as np

from dikin.vectors import Array


def gauge_by_bisection(
    barrier: Callable[[Array], float], v: Array, radius: float, inradius: float
) -> float:
    """The least p for which the barrier is finite at v/p, by bisection to rounding."""
    length = float(np.linalg.norm(v))
    # Sizes may be exact: the bracket is a little wider than they say.
    low, high = (1 - 1e-9) * length / radius, (1 + 1e-9) * length / inradius
    with np.errstate(all="ignore"):  # outside the set a formula may return anything
        while high - low > 4e-16 * high:
            middle = (low + high) / 2
            if isfinite(barrier(v / middle)):
                high = middle
            else:
                low = middle
    return high
