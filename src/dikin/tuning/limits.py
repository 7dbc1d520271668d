"""Limits on metrics as people write them: "p99_ms <= 200"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

from dikin.arguments import LARGEST, as_float
from dikin.errors import LossError, ParameterError, shown
from dikin.tuning.circumstances import UNCHANGED, refuse_name

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
    try:
        bound = float(number)
    except ValueError:
        raise ParameterError(
            f"the limit {shown(text)} must have a metric on the left and a number on the right, as "
            f"in {EXAMPLE}. A bound on parameters belongs in constraints"
        ) from None
    wanted = ""
    if operator not in ("<=", ">="):
        wanted = f"must compare with <= or >=, as in {EXAMPLE}"
    elif not isfinite(bound) or abs(bound) >= LARGEST:
        wanted = f"needs a finite number below {LARGEST:g}"
    elif metric == FAILED and (operator == ">=" or not 0.0 <= bound < 1.0):
        wanted = "must be a share, as in 'failed <= 0.01'"
    if wanted:
        raise ParameterError(f"the limit {shown(text)} {wanted}")
    refuse_name("metric", metric, ParameterError)
    return Limit(text, metric, 1.0 if operator == "<=" else -1.0, bound)


def checked_metrics(given: Any, limits: Sequence[Limit], failed: bool) -> dict[str, float]:
    """Return the metrics of a trial. Refuse other values than numbers, and missing limited metrics.

    A failed trial may lack every metric.
    """
    if given is not None and not isinstance(given, Mapping):
        raise LossError(
            f'metrics are given by name, as in {{"p99_ms": 187.0}}, got {shown(given)}. {UNCHANGED}'
        )
    metrics: dict[str, float] = {}
    for name, value in (given or {}).items():
        refuse_name("metric", name, LossError)
        if name == FAILED:
            raise LossError(
                f"the metric 'failed' is recorded by tell(trial, failed=True). {UNCHANGED}"
            )
        number = as_float(value)
        if number is None or not abs(number) < LARGEST:
            raise LossError(
                f"the metric {name!r} must be a finite number below {LARGEST:g}, got "
                f"{shown(value)}. Report a trial without measurements as "
                f"tell(trial, failed=True). {UNCHANGED}"
            )
        metrics[name] = number
    for _, name, _, _ in () if failed else limits:
        if name not in metrics and name != FAILED:
            raise LossError(
                f"the metric {name!r} has a limit and is missing: tell(trial, value, "
                f"metrics={{{name!r}: ...}}), got {shown(metrics)}. {UNCHANGED}"
            )
    return metrics
