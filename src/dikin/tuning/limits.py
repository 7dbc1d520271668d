"""Limits on metrics as people write them: "p99_ms <= 200"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

from dikin.arguments import LARGEST, as_float
from dikin.errors import LossError, ParameterError, did_you_mean, shown

FAILED = "failed"
"""The metric that is 1 in a trial that failed and 0 in every other one."""
MOST = 8
"""Limits of a tuner: each has a regression of its own."""
EXAMPLE = "'p99_ms <= 200'"
PATTERN = re.compile(r"\s*([^<>=]+?)\s*(<=|>=|<|>|==|=)\s*([^<>=]+?)\s*")


class Limit(NamedTuple):
    """sign * metric <= sign * bound."""

    text: str
    metric: str
    sign: float
    bound: float


def read_limits(texts: Any) -> tuple[Limit, ...]:
    """Return the limits that some texts describe, each a metric, `<=` or `>=`, and a number."""
    texts = [texts] if isinstance(texts, str) else texts
    if not isinstance(texts, Sequence):
        raise ParameterError(f"limits are texts such as {EXAMPLE}, got {shown(texts)}")
    if len(texts) > MOST:
        raise ParameterError(f"a tuner has at most {MOST} limits, got {len(texts)}")
    found = tuple(_read(text) for text in texts)
    for limit in found:
        if sum((other.metric, other.sign) == (limit.metric, limit.sign) for other in found) > 1:
            raise ParameterError(f"the metric {limit.metric!r} has two limits in one direction")
    return found


def _read(text: Any) -> Limit:
    match = PATTERN.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ParameterError(f"a limit is a text such as {EXAMPLE}, got {shown(text)}")
    metric, operator, number = match.groups()
    if operator not in ("<=", ">="):
        raise ParameterError(f"the limit {shown(text)} must compare with <= or >=, as in {EXAMPLE}")
    if not metric.isprintable() or len(metric) > 100:
        raise ParameterError(f"the metric of the limit {shown(text)} has 1 to 100 characters")
    try:
        bound = float(number)
    except ValueError:
        raise ParameterError(
            f"the limit {shown(text)} must have a metric on the left and a number on the right, as "
            f"in {EXAMPLE}. A limit on parameters belongs into constraints"
        ) from None
    if not isfinite(bound) or abs(bound) >= LARGEST:
        raise ParameterError(f"the limit {shown(text)} needs a finite number below {LARGEST:g}")
    if metric == FAILED and (operator == ">=" or not 0.0 <= bound < 1.0):
        raise ParameterError(f"the limit {shown(text)} must be a share, as in 'failed <= 0.01'")
    return Limit(text, metric, 1.0 if operator == "<=" else -1.0, bound)


def checked_metrics(given: Any, limits: Sequence[Limit], failed: bool) -> dict[str, float]:
    """Return the metrics of a trial; refuse what is no number, and a limited one that is missing.

    A failed trial may lack every metric.
    """
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise LossError(
            'metrics are given by name, as in {"p99_ms": 187.0}, got '
            f"{shown(given)}. Nothing was changed."
        )
    wanted = dict.fromkeys(limit.metric for limit in limits if limit.metric != FAILED)
    metrics: dict[str, float] = {}
    for name, value in given.items():
        if not isinstance(name, str) or not 0 < len(name) <= 100 or not name.isprintable():
            raise LossError(
                f"the name of a metric is a text of 1 to 100 printable characters, got "
                f"{shown(name)}. Nothing was changed."
            )
        if name == FAILED:
            raise LossError(
                "the metric 'failed' is recorded by tell(trial, failed=True). Nothing was changed."
            )
        number = as_float(value)
        if number is None or not abs(number) < LARGEST:
            raise LossError(
                f"the metric {name!r} must be a finite number below {LARGEST:g}, got "
                f"{shown(value)}. Report a trial without measurements as "
                "tell(trial, failed=True). Nothing was changed."
            )
        metrics[name] = number
    for name in wanted:
        if name not in metrics and not failed:
            raise LossError(
                f"the metric {name!r} has a limit and is missing: tell(trial, value, "
                f"metrics={{{name!r}: ...}}).{did_you_mean(name, metrics)} Nothing was changed."
            )
    return metrics
