"""The best setting as it is reported: its value, limits and parameters with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, nan
from typing import Any, NamedTuple

from dikin.serialization import number_or_nan
from dikin.status import Record, value_text


class Interval(NamedTuple):
    """A number with the ends of its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        if not isfinite(self.high - self.low):
            return "not known yet"
        return f"{self.mean:.5g} (95 %: {self.low:.5g} to {self.high:.5g})"


UNKNOWN = Interval(nan, nan, nan)


@dataclass(frozen=True)
class Recommendation(Record):
    """The best setting for now. `print` it, or read its parts.

    Parameters
    ----------
    params : dict
        The setting by name.
    value : Interval
        The expected value at the setting, with its 95 % interval. Far values count less, so with
        skewed values it lies between their median and their mean.
    intervals : dict
        For each parameter that is a number the range that the best setting is in, with 95 %
        confidence.
    importance : dict
        For each parameter, but for `Shares`, by how much the mean value is known to get worse when
        it alone is moved, with its 95 % interval. The value is known to depend on the parameter
        where the interval excludes 0.
    limits : dict
        For each limit the mean metric at the setting, with its 95 % interval.
    broken : tuple of str
        The limits that no setting is known to keep.
    """

    params: dict[str, Any]
    value: Interval
    intervals: dict[str, Interval]
    importance: dict[str, Interval]
    limits: dict[str, Interval]
    broken: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Recommendation:
        """Return the record that `to_json` wrote."""
        read = dict(content, value=_read(content["value"]), broken=tuple(content["broken"]))
        for name in ("intervals", "importance", "limits"):
            read[name] = {each: _read(part) for each, part in content[name].items()}
        return cls(**read)

    def lines(self) -> list[tuple[str, str]]:
        """Return the record as (label, text) pairs."""
        rows = [("expected value", str(self.value))]
        for name, value in self.params.items():
            text = value_text(value)
            _, low, high = self.intervals.get(name, UNKNOWN)
            if isfinite(high - low):
                text += f" (95 %: {low:.5g} to {high:.5g})"
            known = self.importance.get(name)
            if known is not None and isfinite(known.low):
                text += ", matters" if known.low > 0.0 else ", no effect is known"
            rows.append((name, text))
        rows += [(text, str(found)) for text, found in self.limits.items()]
        return rows + [("warning", f"no setting is known to keep {text}") for text in self.broken]


def _read(content: list[Any]) -> Interval:
    return Interval(*map(number_or_nan, content))
