"""The recent values of a tuner, and how far off what was expected they were."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from math import isfinite, nan, sqrt
from typing import Any

import numpy as np

from dikin.serialization import finite_or_none, number_or_nan

RECENT = 100
"""Values of which a status has the mean."""


class RecentValues:
    """The last values, in the user's sense, and by how much each differed from what was expected.

    A surprise is NaN or None where nothing was expected.
    """

    def __init__(self, values: Iterable[Any] = (), surprises: Iterable[Any] = ()) -> None:
        self._values = deque(map(float, values), maxlen=RECENT)
        self._surprises = deque(map(number_or_nan, surprises), maxlen=RECENT)

    def __len__(self) -> int:
        return len(self._values)

    def add(self, value: float, expected: float) -> None:
        """Count a value, of which this was expected; NaN if nothing was."""
        self._values.append(value)
        self._surprises.append(value - expected)

    def without(self, is_fault: Callable[[float], bool]) -> RecentValues:
        """Return the values whose surprises are not taken for faults."""
        pairs = zip(self._values, self._surprises, strict=True)
        kept = [pair for pair in pairs if not is_fault(pair[1])]
        return RecentValues([value for value, _ in kept], [surprise for _, surprise in kept])

    @property
    def mean(self) -> float:
        """The mean; NaN before any."""
        return sum(self._values) / len(self._values) if self._values else nan

    @property
    def sem(self) -> float:
        """The standard error of the mean; NaN where fewer than two values were expected."""
        finite = [surprise for surprise in self._surprises if isfinite(surprise)]
        if len(finite) < 2:
            return nan
        return float(np.std(finite, ddof=1)) / sqrt(len(self._values))

    def state(self) -> dict[str, Any]:
        """The values and surprises as plain JSON values."""
        surprises = [finite_or_none(surprise) for surprise in self._surprises]
        return {"recent": list(self._values), "surprises": surprises}
