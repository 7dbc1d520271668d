"""Times things against each other on a noisy machine: in turns, several times, the best of each."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple


class Row(NamedTuple):
    """A line of the table."""

    what: str
    figure: str
    against: str
    ratio: float | None = None
    limit: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the ratio keeps its limit, such as '<= 12' or '>= 1.8'."""
        if self.ratio is None or not self.limit:
            return None
        sign, number = self.limit.split()
        return self.ratio <= float(number) if sign == "<=" else self.ratio >= float(number)


def best_of(repeats: int, *jobs: Callable[[], object]) -> list[float]:
    """Seconds of each job, run in turns so that a disturbance meets them all; the best counts."""
    best = [float("inf")] * len(jobs)
    for _ in range(repeats):
        for i, job in enumerate(jobs):
            start = time.perf_counter()
            job()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def pretty(seconds: float) -> str:
    """A duration in a unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
