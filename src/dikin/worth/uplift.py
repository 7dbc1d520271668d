from __future__ import annotations

from dataclasses import dataclass
from math import floor, inf, isfinite, log10, nan
from typing import Any, Self

from dikin.serialization import plain


@dataclass(frozen=True, kw_only=True)
class Uplift:
    """The gain of a tuned round over the control. `print` it, or read its parts.

    Parameters
    ----------
    mean : float
        The estimated gain of a round: above zero is better, also where small values are good. NaN
        before the control was played.
    low, high : float
        The interval of the true mean gain so far, infinite in case of doubt. It may be read
        after every round: the truth is outside at *any* time with a probability of 1 - confidence.
    mean_percent, low_percent, high_percent : float
        The same in per cent of the control's mean value, NaN or infinite if that may be zero.
    control_mean : float
        The estimated mean value of the control over the same rounds, in the user's sense.
    tuned_rounds, held_back_rounds : int
        The rounds that were counted in either arm.
    confidence : float
        The probability that the truth never leaves the interval.
    maximize : bool
        Whether large values are good.
    note : str, optional
        The reason why the interval is missing, or the rounds until a change is seen if it is wide.
    """

    mean: float
    low: float
    high: float
    mean_percent: float
    low_percent: float
    high_percent: float
    control_mean: float
    tuned_rounds: int
    held_back_rounds: int
    confidence: float
    maximize: bool
    note: str | None = None

    @property
    def rounds(self) -> int:
        """The rounds that were counted."""
        return self.tuned_rounds + self.held_back_rounds

    @property
    def total(self) -> float:
        """The gain of all tuned rounds together: the mean times their number."""
        return self.mean * self.tuned_rounds

    @property
    def is_known(self) -> bool:
        """True if there is an interval."""
        return isfinite(self.high - self.low)

    @property
    def has_percent(self) -> bool:
        """True if it is known in per cent of the control's mean value too."""
        return all(map(isfinite, (self.mean_percent, self.low_percent, self.high_percent)))

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain JSON values, `total` included, with None for NaN."""
        found: dict[str, Any] = plain(vars(self) | {"total": self.total})
        return found

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        """Return the record that `to_json` wrote.

        Parameters
        ----------
        content : dict
            The dictionary that `to_json` returned.
        """
        unknown = {"low": -inf, "high": inf, "note": None}
        parts: dict[str, Any] = {
            name: unknown.get(name.partition("_")[0], nan) if value is None else value
            for name, value in content.items()
            if name != "total"
        }
        return cls(**parts)

    def __str__(self) -> str:
        if not self.is_known:
            return f"not known: {self.note}"
        parts, unit = (self.mean, self.low, self.high), ""
        if self.has_percent:
            parts, unit = (self.mean_percent, self.low_percent, self.high_percent), " %"
        half = (parts[2] - parts[1]) / 2
        digits = max(0, 1 - floor(log10(half))) if half > 0 else 1
        mean, low, high = (f"{part:+,.{digits}f}" for part in parts)
        sure = f"{100 * self.confidence:g} %: {low} to {high}, may be read at any time"
        digits = max(0, 2 - floor(log10(abs(self.total)))) if self.total else 0
        good = "earned" if self.maximize else "saved"
        total = f"{abs(self.total):,.{digits}f} {good if self.total >= 0 else 'lost'}"
        return (
            f"{mean}{unit} ({sure}), {total} so far{'' if self.note is None else f'. {self.note}'}"
        )
