"""Which of many differences are real: tests of means, and Holm's correction for their number.

Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics
6 (1979): with p_1 <= ... <= p_m, hypotheses are rejected in this order as long as p_k <= level/(m -
k + 1). The odds that any true hypothesis is rejected are at most `level`, however the tests depend
on each other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import ttest_1samp, ttest_ind

LEVEL = 0.05
"""The odds of any wrong statement among all that a page makes."""


def paired_p(one: Sequence[float], two: Sequence[float]) -> float:
    """The two-sided p-value of Student's test that paired values have the same mean."""
    apart = np.subtract(one, two)
    return float(ttest_1samp(apart, 0.0).pvalue) if np.ptp(apart) else float(not apart.any())


def welch_p(one: Sequence[float], two: Sequence[float]) -> float:
    """The two-sided p-value of Welch's test that two samples have the same mean."""
    if np.ptp(one) or np.ptp(two):
        return float(ttest_ind(one, two, equal_var=False).pvalue)
    return float(one[0] == two[0])


def rejected(p_values: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Which hypotheses Holm's procedure rejects."""
    count = len(p_values)
    order = np.argsort(p_values, kind="stable")
    found = [False] * count
    for rank, index in enumerate(order.tolist()):
        if not p_values[index] <= level / (count - rank):
            break
        found[index] = True
    return found
