"""A periodic quantity: the hour of the day, the day of the week."""

from __future__ import annotations

from dataclasses import dataclass

from dikin.arguments import LARGEST, number
from dikin.errors import ParameterError, shown


@dataclass(frozen=True, slots=True)
class Cycle:
    """A quantity that repeats after a period: the hour of the day, the day of the week.

    Parameters
    ----------
    period : float
        24 for hours, 7 for days of the week.

    Examples
    --------
    >>> Cycle(24)
    Cycle(period=24.0)
    """

    period: float

    def __post_init__(self) -> None:
        period = number(self.period, "the period of a Cycle")
        if not 1.0 / LARGEST < period < LARGEST:
            raise ParameterError(
                "the period of a Cycle must be positive and finite, such as 24 for hours; got "
                f"{shown(self.period)}"
            )
        object.__setattr__(self, "period", period)
