"""What `Predictive` expects of a loss in a context: forecasters for each of its features.

Contexts differ in how large losses are, and each gets better in its own time. So every feature has
the forecasters of `dikin.forecasts` once more, which learn from its own rounds; how much each kind
of forecaster weighs is common to all. A feature that was never seen expects what all expect. A
forecast may be anything that is known before the direction is drawn (docs/mathematics.md, 13.2).
"""

from __future__ import annotations

from dikin import forecasts
from dikin.forecasts.mixture import LEVEL_GAIN, LONG, TREND_GAIN
from dikin.kernel import compilable
from dikin.learners.predictive_levels import AGREE, AGREEING
from dikin.learners.predictive_state import Expected, Numbers, Plan

UNKNOWN = 2.0
"""Far losses that are no faults if they agree, where no loss of a feature was learnt before."""


@compilable
def expect_in_context(plan: Plan, n: Numbers) -> None:
    """The forecasters of all, made those of the context of the round that is asked."""
    f, e = n.forecasters, n.expected
    last = level = trend = long_mean = 0.0
    for c in range(1, plan.cells):
        share = n.features[c]
        if share > 0.0:
            known = e.count[c] > 0.0
            last += share * (e.last[c] if known else f.last)
            level += share * (e.level[c] if known else f.level)
            trend += share * (e.trend[c] if known else f.trend)
            long_mean += share * (e.long_mean[c] if known else f.long_mean)
    f.last, f.level, f.trend, f.long_mean = last, level, trend, long_mean
    forecasts.mix(f)


@compilable
def learn_in_context(plan: Plan, n: Numbers, features: list[float], value: float) -> None:
    """The forecasters of a context's features learn a loss, clipped as it may be."""
    e = n.expected
    for c in range(1, plan.cells):
        share = features[c]
        if share > 0.0:
            e.far_count[c] = max(e.far_count[c] - share, 0.0)
            if e.count[c] == 0.0:
                restart_feature(e, c, value)
            e.count[c] += share
            error = value - e.level[c]
            e.trend[c] += share * TREND_GAIN * error
            e.level[c] += share * (LEVEL_GAIN * error + e.trend[c])
            e.last[c] += share * (value - e.last[c])
            e.long_mean[c] += share * (value - e.long_mean[c]) / min(max(e.count[c], 1.0), LONG)


@compilable
def restart_feature(e: Expected, c: int, value: float) -> None:
    """Set the forecasters of a feature to one number."""
    e.last[c] = e.level[c] = e.long_mean[c] = value
    e.trend[c] = 0.0


@compilable
def count_far(plan: Plan, n: Numbers, features: list[float], value: float, expected: float) -> None:
    """One more loss of a context that is far off; those that agree are no faults after a while.

    That is the losses of this context alone: those of others say nothing about it.
    """
    e = n.expected
    for c in range(1, plan.cells):
        share = features[c]
        if share > 0.0:
            if abs(value - e.far[c]) > AGREE * abs(value - expected):
                e.far_count[c] = 0.0
            e.far_count[c] += share
            e.far[c] += (value - e.far[c]) * min(share / e.far_count[c], 1.0)
            if e.far_count[c] >= (AGREEING if e.count[c] > 0.0 else UNKNOWN):
                restart_feature(e, c, e.far[c])
                e.count[c] = max(e.count[c], share)
                e.far_count[c] = 0.0
