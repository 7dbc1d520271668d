"""The checks of a range with two bounds and a start."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

from dikin.arguments import LARGEST, number
from dikin.errors import ParameterError


def check_bounds(parameter: Any, plain: Callable[[Any], float]) -> None:
    """Refuse unusable `low`, `high` and `start`, and keep them as Python's own numbers.

    NumPy's have other digits, and may overflow.
    """
    low, high = number(parameter.low, "low"), number(parameter.high, "high")
    for name, bound in (("low", low), ("high", high)):
        if not (isfinite(bound) and abs(bound) < LARGEST):
            raise ParameterError(
                f"{name} must be a finite number between {-LARGEST:g} and {LARGEST:g}, got {bound}"
            )
    if not low < high:
        raise ParameterError(
            f"low must be below high, got low={parameter.low} and high={parameter.high}"
        )
    start = parameter.start
    if start is not None and not low <= number(start, "start") <= high:
        raise ParameterError(
            f"start={start} lies outside its range, {parameter.low} to {parameter.high}; widen the "
            "range, or begin inside"
        )
    for name in ("low", "high") if start is None else ("low", "high", "start"):
        object.__setattr__(parameter, name, plain(getattr(parameter, name)))
