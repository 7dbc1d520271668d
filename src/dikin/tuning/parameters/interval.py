"""A parameter with one number, searched on [0, 1]: the base of most kinds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

from dikin.arguments import LARGEST, number
from dikin.errors import ParameterError, shown
from dikin.plotting.axes import Axis
from dikin.tuning.parameters.base import ParameterKind


class Interval(ParameterKind):
    """A parameter with one number, whose coordinate lies in [0, 1]: a side of the tuner's cube.

    A kind gives the coordinate of a number (`to_unit`) and the number at a coordinate (`best`).
    One whose values are no numbers also gives the `number` of a value, and the value as `shown`.
    """

    @abstractmethod
    def to_unit(self, value: float) -> float:
        """The coordinate in [0, 1] of a number.

        Parameters
        ----------
        value : float
            Between the bounds.

        Returns
        -------
        float
            In [0, 1].
        """

    @abstractmethod
    def best(self, u: float) -> float:
        """The number to settle on at a coordinate.

        Parameters
        ----------
        u : float
            In [0, 1].

        Returns
        -------
        float
            Between the bounds.
        """

    def number(self, value: Any) -> float:
        """The number of a value that the user gave.

        Parameters
        ----------
        value : object
            Such as the start.

        Returns
        -------
        float
            Between the bounds.
        """
        return float(value)

    def shown(self, value: float) -> Any:
        """The value of a number, as the user reads it.

        Parameters
        ----------
        value : float
            Anything finite.

        Returns
        -------
        object
            A value that JSON knows.
        """
        return float(value)

    # --- as every kind answers -------------------------------------------------------------------

    def values_at(self, coordinates: Sequence[float]) -> Sequence[float]:
        return (self.best(coordinates[0]),)

    def coordinates(self, values: Sequence[float]) -> Sequence[float]:
        return (self.to_unit(values[0]),)

    def start_values(self) -> Sequence[float] | None:
        return None if self.start is None else (self.number(self.start),)

    def setting(self, values: Sequence[float]) -> Any:
        return self.shown(values[0])

    @property
    def axis(self) -> Axis:
        return Axis(self.best(0.0), self.best(1.0))


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
            f"start={shown(start)} lies outside its range, {parameter.low} to {parameter.high}; "
            "widen the range, or begin inside"
        )
    for name in ("low", "high") if start is None else ("low", "high", "start"):
        object.__setattr__(parameter, name, plain(getattr(parameter, name)))
