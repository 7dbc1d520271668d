"""The base of every kind of parameter."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache
from math import exp, floor, log
from typing import Any, Self

import numpy as np

from dikin.errors import shown
from dikin.plotting.axes import Axis
from dikin.registry import Registered, Registry
from dikin.vectors import Array

FEW = 4
"""Up to so many whole numbers are searched without an order."""
MANY = 10_000
"""Beyond so many whole numbers the nearest one is as good as any."""


class ParameterKind(Registered, ABC):
    """A parameter that is searched on [0, 1]. Derive a kind of your own from it.

    An object is one parameter. It keeps each argument of its constructor as an attribute of the
    same name: a value that JSON knows, or a tuple of such values. One argument is `start`. A kind
    gives the `axis` of its numbers, from which the coordinate of a number follows, and the number
    at a coordinate. If its values are not numbers, it also gives the `numbers` of a value, and the
    value (`setting`) of numbers.

    In every method `u` is a coordinate in [0, 1], `value` a number between the ends of the axis or
    a value of the user, `start` such a value or None, and `numbers` are a finite number, or several
    for a kind with parts.

    Attributes
    ----------
    kind : str
        The name of the class in lower case, which stands for it in files.
    start : object
        The value in use today as the user gave it, or None.
    """

    start: Any

    # --- the search ------------------------------------------------------------------------------

    @property
    @abstractmethod
    def axis(self) -> Axis:
        """The ends of the numbers, and their scale: logarithmic or not, whole or not."""

    def to_unit(self, value: float) -> float:
        """Return the coordinate of a number."""
        low, high, is_log = self.axis[:3]
        if is_log:
            return (log(value) - log(low)) / (log(high) - log(low))
        return (value - low) / (high - low)

    def best(self, u: float) -> float:
        """Return the number at a coordinate, the nearest of whole numbers."""
        low, high, is_log, is_whole = self.axis[:4]
        value = exp(log(low) + u * (log(high) - log(low))) if is_log else low + u * (high - low)
        if is_whole and is_log:
            below = min(max(floor(value), low), high)
            value = min((below, below + 1), key=lambda near: abs(self.to_unit(near) - u))
        elif is_whole:
            value = floor(value + 0.5)
        return float(min(max(value, low), high))

    @property
    def options(self) -> int:
        """Number of values that are searched without an order, 0 where there is a coordinate."""
        low, high, _, is_whole = self.axis[:4]
        return int(high - low) + 1 if is_whole and high - low < FEW else 0

    @property
    def grid(self) -> Array | None:
        """The coordinates that can be used if they are few, or None for all of [0, 1]."""
        low, high, _, is_whole = self.axis[:4]
        if not is_whole or high - low >= MANY:
            return None
        return np.array([self.to_unit(value) for value in range(int(low), int(high) + 1)])

    @property
    def linear_range(self) -> tuple[float, float] | None:
        """The numbers at coordinates 0 and 1 if a constraint may use it: it is linear between."""
        return None

    # --- values ----------------------------------------------------------------------------------

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the shares of a whole, each with a number of its own. Empty elsewhere."""
        return ()

    def numbers(self, value: Any) -> Sequence[float]:
        """Return the numbers of a value that the user gave."""
        return [float(value)]

    def setting(self, numbers: Sequence[float]) -> Any:
        """Return the value of some numbers, as the user reads it in `trial.params`."""
        return int(numbers[0]) if self.axis.whole else float(numbers[0])

    # --- as a value ------------------------------------------------------------------------------

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the constructor by name, to save, print and compare them."""
        return {name: getattr(self, name) for name in arguments_of(type(self))}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ParameterKind) or type(other) is not type(self):
            return NotImplemented
        return other.arguments() == self.arguments()

    def __hash__(self) -> int:
        return hash((type(self), *self.arguments().values()))

    def __repr__(self) -> str:
        defaults = arguments_of(type(self))
        given = {k: v for k, v in self.arguments().items() if v is not defaults[k]}
        return f"{type(self).__name__}({', '.join(f'{k}={shown(v)}' for k, v in given.items())})"

    def with_start(self, start: Any) -> Self:
        """Return the same parameter with another start."""
        return type(self)(**self.arguments() | {"start": start})

    def spec(self) -> dict[str, Any]:
        """Return the kind and the arguments as JSON values."""
        PARAMETER_KINDS.require(type(self))
        plain = {k: list(v) if isinstance(v, tuple) else v for k, v in self.arguments().items()}
        return {"kind": self.kind} | plain


@cache
def arguments_of(cls: type[ParameterKind]) -> Mapping[str, Any]:
    """Return the arguments of a constructor, each with its default or `Parameter.empty`."""
    return {name: each.default for name, each in inspect.signature(cls).parameters.items()}


PARAMETER_KINDS: Registry[ParameterKind] = Registry(
    "parameter kind",
    ParameterKind,  # type: ignore[type-abstract]
)
