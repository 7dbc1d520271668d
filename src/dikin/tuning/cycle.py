"""A periodic quantity: the hour of the day, the day of the week."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from dikin.arguments import LARGEST, number
from dikin.errors import ParameterError, shown


@dataclass(frozen=True, slots=True)
class Cycle:
    """A quantity in which `period` is the same as 0: the hour of the day, the day of the week.

    Parameters
    ----------
    period : float
        Its period: 24 for hours, 7 for days of the week.

    Raises
    ------
    ParameterError
        If the period is not a positive number.

    Examples
    --------
    >>> Cycle(24).phase(30)
    0.25
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

    def phase(self, value: float) -> float:
        """How far into the cycle a value is.

        Parameters
        ----------
        value : float
            The quantity, in the units of the period; any finite number.

        Returns
        -------
        float
            A share of the period, at least 0 and below 1.
        """
        share = value % self.period / self.period
        return share if share < 1.0 else 0.0  # a tiny negative value is rounded to the period

    def spec(self) -> dict[str, Any]:
        """The cycle as plain JSON values, for `from_spec`."""
        return {"kind": "cycle", "period": self.period}

    @classmethod
    def from_spec(cls, spec: Any) -> Self:
        """The cycle that a JSON object describes.

        Parameters
        ----------
        spec : dict
            Such as {"kind": "cycle", "period": 24}.

        Returns
        -------
        Cycle
            The same cycle.

        Raises
        ------
        ParameterError
            If the object does not describe one.
        """
        if not isinstance(spec, dict) or set(spec) != {"kind", "period"} or spec["kind"] != "cycle":
            raise ParameterError(
                'a cycle is described by an object such as {"kind": "cycle", "period": 24}, got '
                f"{shown(spec)}"
            )
        return cls(spec["period"])
