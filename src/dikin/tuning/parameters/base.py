"""The base of every kind of parameter."""

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
    """A parameter with one number, which is searched on [0, 1]; derive a kind of your own from it.

    An object is one parameter. It keeps each argument of its constructor as an attribute of the
    same name: a value that JSON knows, or a tuple of such values. One argument is `start`. A kind
    gives the coordinate of a number (`to_unit`) and the number at a coordinate (`best`). One whose
    values are no numbers also gives the `number` of a value, and the value as `shown`.

    Attributes
    ----------
    kind : str
        The name of the class in lower case, which stands for it in files.
    start : object
        The value in use today as the user gave it; None without one.
    """

    kind: ClassVar[str] = ""
    start: Any

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.kind = cls.__name__.lower()

    # --- the search ------------------------------------------------------------------------------

    @abstractmethod
    def to_unit(self, value: float) -> float:
        """Return the coordinate of a number.

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
        """Return the number to settle on at a coordinate.

        Parameters
        ----------
        u : float
            In [0, 1].

        Returns
        -------
        float
            Between the bounds.
        """

    @property
    def options(self) -> int:
        """Number of values that are searched without an order; 0 where there is a coordinate."""
        return 0

    @property
    def grid(self) -> Array | None:
        """The coordinates that can be used, where they are few; None for all of [0, 1]."""
        return None

    @property
    def linear_range(self) -> tuple[float, float] | None:
        """The numbers at coordinates 0 and 1 if those between are linear; None: no constraint."""
        return None

    # --- values ----------------------------------------------------------------------------------

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the shares of a whole, each with a number of its own; empty elsewhere."""
        return ()

    def number(self, value: Any) -> float:
        """Return the number of a value that the user gave, such as the start.

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
        """Return the value of a number, as the user reads it in `trial.params`.

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

    def setting(self, numbers: Sequence[float]) -> Any:
        """Return what stands in `trial.params` for some numbers: for shares, each by its part.

        Parameters
        ----------
        numbers : sequence of float
            One, or one for each part.

        Returns
        -------
        object
            A value that JSON knows.
        """
        return dict(zip(self.parts, numbers, strict=True)) if self.parts else self.shown(numbers[0])

    @property
    def axis(self) -> Axis:
        """The scale on which the numbers are drawn."""
        return Axis(self.best(0.0), self.best(1.0))

    # --- as a value ------------------------------------------------------------------------------

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the constructor by name: what is saved, printed and compared."""
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
        """Return the same parameter with another start.

        Parameters
        ----------
        start : object
            Its value; None for no start.

        Returns
        -------
        ParameterKind
            The parameter.
        """
        return type(self)(**self.arguments() | {"start": start})

    def spec(self) -> dict[str, Any]:
        """Return the kind and the arguments as JSON values."""
        PARAMETER_KINDS.require(type(self))
        plain = {k: list(v) if isinstance(v, tuple) else v for k, v in self.arguments().items()}
        return {"kind": self.kind} | plain

    @classmethod
    @abstractmethod
    def examples(cls) -> Iterator[Self]:
        """Yield a few small parameters of this kind, on which its tests run."""


@cache
def arguments_of(cls: type[ParameterKind]) -> Mapping[str, Any]:
    """Return the arguments of a constructor with their defaults; `inspect.Parameter.empty` else."""
    return {name: each.default for name, each in inspect.signature(cls).parameters.items()}


PARAMETER_KINDS: Registry[ParameterKind] = Registry(
    "parameter kind",
    ParameterKind,  # type: ignore[type-abstract]
)
