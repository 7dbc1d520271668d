"""Which of many differences are real: tests of means, and Holm's correction for their number.

Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics
6 (1979): with p_1 <= ... <= p_m, hypotheses are rejected in this order as long as p_k <= level/(m -
k + 1). The odds that any true hypothesis is rejected are at most `level`, however the tests depend
on each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, stdev, variance

import numpy as np
from scipy.stats import t as student

ERROR_RATE = 0.05
"""The odds of any wrong statement among all that a page makes."""


def paired_p(one: Sequence[float], two: Sequence[float]) -> float:
    """The two-sided p-value of Student's test that paired values have the same mean."""
    apart = [a - b for a, b in zip(one, two, strict=True)]
    mean, spread = fmean(apart), stdev(apart)
    if spread == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return float(2 * student.sf(abs(mean) / spread * sqrt(len(apart)), len(apart) - 1))


def welch_p(one: Sequence[float], two: Sequence[float]) -> float:
    """The two-sided p-value of Welch's test that two samples have the same mean."""
    apart = fmean(one) - fmean(two)
    shares = [variance(values) / len(values) for values in (one, two)]
    total = sum(shares)
    if total == 0.0:
        return 1.0 if apart == 0.0 else 0.0
    parts = zip(shares, (one, two), strict=True)
    freedom = total**2 / sum(share**2 / (len(values) - 1) for share, values in parts)
    return float(2 * student.sf(abs(apart) / sqrt(total), freedom))


def rejected(p_values: Sequence[float], level: float = ERROR_RATE) -> list[bool]:
    """Which hypotheses Holm's procedure rejects."""
    count = len(p_values)
    order = np.argsort(p_values, kind="stable")
    result = [False] * count
    for rank, index in enumerate(order.tolist()):
        if not p_values[index] <= level / (count - rank):
            break
        result[index] = True
    return result
