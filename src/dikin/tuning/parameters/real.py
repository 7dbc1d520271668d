"""A number between two bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

from dikin.arguments import LARGEST, number, plain_number, true_or_false
from dikin.errors import ParameterError, shown
from dikin.plotting.axes import Axis
from dikin.tuning.parameters.base import ParameterKind


@dataclass(frozen=True, eq=False, repr=False)
class Real(ParameterKind):
    """A number between two bounds: a price, a timeout, a rate.

    Parameters
    ----------
    low, high : float
        The bounds, which may be used.
    start : float, optional
        The value in use today, with which tuning begins. The middle of the range by default.
    log : bool, default False
        Whether to search in the logarithm, for a range over powers of ten such as 0.001 to 10. A
        certificate is then for values that are convex (concave, if large values are good) in the
        logarithm of the parameter.

    Examples
    --------
    >>> Real(1, 14, start=4)
    Real(low=1, high=14, start=4)
    """

    low: float
    high: float
    start: float | None = None
    log: bool = False

    def __post_init__(self) -> None:
        check_bounds(self, plain_number)

    @property
    def linear_range(self) -> tuple[float, float] | None:
        return None if self.log else (float(self.low), float(self.high))

    @cached_property
    def axis(self) -> Axis:
        """The ends of the numbers, and their scale."""
        return Axis(self.low, self.high, self.log)


def check_bounds(parameter: Any, plain: Callable[[Any], float]) -> None:
    """Refuse unusable `low`, `high`, `start` and `log`, and keep the numbers as Python's own.

    NumPy's have other digits, and may overflow.
    """
    low, high, start = number(parameter.low, "low"), number(parameter.high, "high"), parameter.start
    for name, bound in (("low", low), ("high", high)):
        if not (isfinite(bound) and abs(bound) < LARGEST):
            raise ParameterError(
                f"{name} must be a finite number between {-LARGEST:g} and {LARGEST:g}, got {bound}"
            )
    given = f"low={parameter.low} and high={parameter.high}"
    if not low < high:
        raise ParameterError(f"low must be below high, got {given}")
    if start is not None and not low <= number(start, "start") <= high:
        raise ParameterError(
            f"start={shown(start)} lies outside its range, {parameter.low} to {parameter.high}. "
            "Widen the range, or choose a value inside"
        )
    if true_or_false(parameter.log, "log") and low <= 0:
        raise ParameterError(
            f"log=True needs a low above 0, got {given}. Give a positive low, or leave log out"
        )
    for name in ("low", "high") if start is None else ("low", "high", "start"):
        object.__setattr__(parameter, name, plain(getattr(parameter, name)))
