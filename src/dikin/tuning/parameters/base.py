"""What a tuner asks of a parameter, whatever its kind.

A parameter has *coordinates*, in which the tuner searches, and *values*, the numbers of
`trial.point` that stand for what is played. There is one of each for every column of a history.
Only the kind knows how one becomes the other, and what the user reads in `trial.params`.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Self

from dikin.errors import shown
from dikin.plotting.axes import Axis
from dikin.registry import Registry
from dikin.vectors import Array


class ParameterKind(ABC):
    """What a parameter of any kind answers; derive a kind of one number from `Interval` instead.

    An object is one parameter. It keeps each argument of its constructor as an attribute of the
    same name: a value that JSON knows, or a tuple of such values. One argument is `start`.

    Attributes
    ----------
    kind : str
        The name of the class in lower case, which stands for it in files.
    start : object
        Today's value as the user gave it; None without one.
    """

    kind: ClassVar[str] = ""
    start: Any

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.kind = cls.__name__.lower()

    # --- coordinates and values ------------------------------------------------------------------

    @property
    def options(self) -> int:
        """Number of values that are searched without an order; 0 where there are coordinates."""
        return 0

    @property
    def grid(self) -> Array | None:
        """Return the coordinates that can be used, where they are few; None for all of [0, 1]."""
        return None

    @property
    def linear_range(self) -> tuple[float, float] | None:
        """The values at coordinates 0 and 1, if values are exactly linear in between.

        None otherwise: then no constraint can name the parameter.
        """
        return None

    def columns(self, name: str) -> tuple[str, ...]:
        """The name of each value.

        Parameters
        ----------
        name : str
            What the parameter is called.

        Returns
        -------
        tuple of str
            One for each coordinate; the name alone, if there is one.
        """
        return (name,)

    def values_at(self, coordinates: Sequence[float]) -> Sequence[float]:
        """Return the values at some coordinates, whole ones where only these can be used.

        Parameters
        ----------
        coordinates : sequence of float
            One for each column.

        Returns
        -------
        sequence of float
            The values.
        """
        raise NotImplementedError

    def coordinates(self, values: Sequence[float]) -> Sequence[float]:
        """Return the coordinates of some values.

        Parameters
        ----------
        values : sequence of float
            One for each column.

        Returns
        -------
        sequence of float
            The coordinates.
        """
        raise NotImplementedError

    @abstractmethod
    def start_values(self) -> Sequence[float] | None:
        """The values of the start; None without one."""

    @abstractmethod
    def setting(self, values: Sequence[float]) -> Any:
        """What the user reads in `trial.params`.

        Parameters
        ----------
        values : sequence of float
            One for each column; they may come from outside, and be anything finite.

        Returns
        -------
        object
            A value that JSON knows.
        """

    # --- what is shown ---------------------------------------------------------------------------

    @property
    @abstractmethod
    def axis(self) -> Axis:
        """How the values are drawn; the same for all columns."""

    # --- as a value ------------------------------------------------------------------------------

    def arguments(self) -> dict[str, Any]:
        """The arguments of the constructor by name: what is saved, printed and compared."""
        return {name: getattr(self, name) for name in arguments_of(type(self))}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ParameterKind) or type(other) is not type(self):
            return NotImplemented
        return other.arguments() == self.arguments()

    def __hash__(self) -> int:
        return hash((type(self), *self.arguments().values()))

    def __repr__(self) -> str:
        """A constructor's call without what is left at its default."""
        defaults = arguments_of(type(self))
        arguments = {k: v for k, v in self.arguments().items() if v is not defaults[k]}
        return (
            f"{type(self).__name__}({', '.join(f'{k}={shown(v)}' for k, v in arguments.items())})"
        )

    def without_start(self) -> Self:
        """The same parameter with no start."""
        return self.with_start(None)

    def with_start(self, start: Any) -> Self:
        """The same parameter with another start.

        Parameters
        ----------
        start : object
            Its value; None for no start.

        Returns
        -------
        ParameterKind
            The parameter.

        Raises
        ------
        ParameterError
            If it cannot be one.
        """
        return type(self)(**self.arguments() | {"start": start})

    def spec(self) -> dict[str, Any]:
        """The kind and the arguments as JSON values, of which an equal parameter can be made."""
        PARAMETER_KINDS.require(type(self))
        plain = {k: list(v) if isinstance(v, tuple) else v for k, v in self.arguments().items()}
        return {"kind": self.kind} | plain

    @classmethod
    @abstractmethod
    def examples(cls) -> Iterator[Self]:
        """A few small parameters of this kind, on which its tests run."""


@cache
def arguments_of(cls: type[ParameterKind]) -> Mapping[str, Any]:
    """The arguments of a constructor with their defaults; `inspect.Parameter.empty` for none."""
    return {name: each.default for name, each in inspect.signature(cls).parameters.items()}


PARAMETER_KINDS: Registry[ParameterKind] = Registry(
    "parameter kind",
    ParameterKind,  # type: ignore[type-abstract]
)
