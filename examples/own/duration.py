"""A parameter kind of your own: lengths of time such as '30s' and '5min'."""

from collections.abc import Sequence
from typing import Any

import dikin
from dikin.errors import ParameterError
from dikin.plotting.axes import Axis

UNITS = {"s": 1, "min": 60, "h": 3600}


def seconds(text: Any, name: str) -> float:
    for unit, size in UNITS.items():
        digits = str(text).removesuffix(unit).strip()
        if digits != text and digits.replace(".", "", 1).isdecimal() and float(digits) > 0:
            return float(digits) * size
    raise ParameterError(f"{name} must be a time such as '30s', '5min' or '2h', got {text!r}")


@dikin.register
class Duration(dikin.ParameterKind):
    """A length of time, searched in the logarithm: values must be convex in that scale."""

    def __init__(self, low: str, high: str, start: str | None = None) -> None:
        self.low, self.high, self.start = low, high, start
        self._low, self._high = seconds(low, "low"), seconds(high, "high")
        if not self._low < self._high:
            raise ParameterError(f"low must be below high, got {low!r} and {high!r}")
        if start is not None and not self._low <= seconds(start, "start") <= self._high:
            raise ParameterError(f"start must be between {low!r} and {high!r}, got {start!r}")

    @property
    def axis(self) -> Axis:
        return Axis(self._low, self._high, log=True)

    def numbers(self, value: Any) -> Sequence[float]:
        return [seconds(value, "start")]

    def setting(self, numbers: Sequence[float]) -> str:
        return f"{numbers[0]:.6g}s"
