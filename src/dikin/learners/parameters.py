"""The arguments of a learner's constructor, each declared once.

A declaration on the class says what an argument means, how it is checked, how it is converted to
the paper's units, and how strongly convex a loss can be that satisfies it. Assigning the attribute
checks it; `Learner.arguments`, `Learner.curvature_limit`, saved states and the section `Parameters`
of a class's docstring follow from the declarations.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from textwrap import fill
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np

from dikin import arguments
from dikin.arguments import moderate, nonnegative, optional, positive
from dikin.domains.base import Domain
from dikin.errors import FeedbackError, shown
from dikin.units import Units

T = TypeVar("T")

Limit = tuple[float, str]
"""The largest strong convexity of a loss in the user's units, and the reason."""

LINEAR: Limit = (0.0, "as linear losses are not strongly convex")


def limit_of_smooth(smoothness: float, domain: Domain) -> Limit:
    """A smooth loss is at most as strongly convex as it is smooth."""
    return smoothness, "the smoothness that this learner was built with"


def limit_of_lipschitz(lipschitz: float, domain: Domain) -> Limit:
    """The limit of a Lipschitz loss on a set of diameter D (docs/mathematics.md)."""
    return 4.0 * lipschitz / domain.diameter, "4 L/D: no loss of this Lipschitz constant has more"


def range_limit(units: Units, domain: Domain) -> Limit:
    """The largest curvature that a loss within the range can have.

    Half-way between two points at the distance D a sigma-strongly convex loss lies by sigma D^2/8
    below its mean there, and cannot lie below the range.
    """
    limit = 8.0 * (2.0 * units.loss_scale) / domain.diameter**2
    return limit, "8 (high - low)/D^2: no loss within loss_range on a set that wide has more"


class Parameter(Generic[T]):
    """An argument of a constructor, as an attribute that checks its value when it is set.

    Parameters
    ----------
    meaning
        What the argument is, for the class's docstring.
    check
        Returns the value to store, from the value passed and the argument's name; or raises.
    scaled
        The value in the paper's units, from the learner's units and the value.
    limit
        The largest strong convexity of a loss that satisfies the argument.
    """

    def __init__(
        self,
        meaning: str,
        check: Callable[[Any, str], T],
        *,
        scaled: Callable[[Units, float], float] | None = None,
        limit: Callable[[float, Domain], Limit] | None = None,
    ) -> None:
        self.meaning, self.check, self.scaled, self.limit = meaning, check, scaled, limit
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, learner: None, owner: type) -> Self: ...

    @overload
    def __get__(self, learner: object, owner: type) -> T: ...

    def __get__(self, learner: object | None, owner: type) -> T | Self:
        if learner is None:
            return self
        try:
            value: T = vars(learner)[self.name]
        except KeyError:
            raise AttributeError(f"{owner.__name__} has no {self.name} yet") from None
        return value

    def __set__(self, learner: object, value: Any) -> None:
        vars(learner)[self.name] = self.check(value, self.name)

    def in_units(self, units: Units, value: float) -> float:
        """The value in the paper's units; refused if it is too large to compute with."""
        assert self.scaled is not None
        return moderate(self.scaled(units, value), self.name, value)


# --- arguments that several learners have ---------------------------------------------------------


def horizon(least: int, why: str) -> Parameter[int]:
    """The number of rounds, which must be at least `least` for the formulas to hold."""
    return Parameter("T, the number of rounds to be played.", arguments.horizon(least, why))


def optional_horizon(least: int, why: str) -> Parameter[int | None]:
    """The number of rounds, if it is known."""
    meaning = "T, the number of rounds to be played; None if it is not known."
    return Parameter(meaning, optional(arguments.horizon(least, why)))


def smoothness() -> Parameter[float]:
    """The smoothness of every loss."""
    return Parameter(SMOOTHNESS, nonnegative, scaled=Units.curvature, limit=limit_of_smooth)


def lipschitz() -> Parameter[float]:
    """The Lipschitz constant of every loss."""
    return Parameter(LIPSCHITZ, positive, scaled=Units.slope, limit=limit_of_lipschitz)


def curvature() -> Parameter[float]:
    """The strong convexity of every loss."""
    meaning = "The strong convexity that every loss has: assumed in every round, whatever is told."
    return Parameter(meaning, positive)


def constants() -> Parameter[str]:
    """The choice between two sets of constants."""
    meaning = '"sharp", those of docs/mathematics.md, or "paper", those of the publication.'
    return Parameter(meaning, arguments.one_of("sharp", "paper"))


# --- answers of two parts ------------------------------------------------------------------------


def two_parts(learner: Any, answer: Any) -> tuple[Any, Any]:
    """Return the two parts of an answer, or raise an error."""
    row = isinstance(answer, np.ndarray) and answer.ndim > 0
    parts = tuple(answer) if row or isinstance(answer, tuple | list) else ()
    if len(parts) != 2:
        raise FeedbackError(
            f"{type(learner).__name__} must be told {learner.feedback.value}; got "
            f"{shown(answer)}. Nothing was changed."
        )
    return parts[0], parts[1]


# --- docstrings ----------------------------------------------------------------------------------

SMOOTHNESS = "A constant beta with f(x + v) <= f(x) + f'(x).v + beta/2 |v|^2 for every loss."
LIPSCHITZ = "A constant L with |f(x) - f(x')| <= L |x - x'| for every loss."
COMMON = {
    "domain": "The set to play on.",
    "loss_range": (
        "The least and the largest possible loss; None where they are not known. Then they are "
        "found while playing, and the learner restarts where a loss does not fit."
    ),
    "seed": "Whole number that all randomness comes from; None for a fresh one.",
}
"""The meanings of arguments that every learner has."""
TYPES = {
    "LossRange": "(float, float) or None",
    "ArrayLike": "array_like",
    "Sequence[Learner]": "sequence of Learner",
}
"""The names of types in docstrings, where they differ from the code."""
SECTION = re.compile(r"^    (Raises|Notes|References|Examples)\n    -+\n", re.MULTILINE)


def with_parameters(
    text: str, constructor: Mapping[str, inspect.Parameter], meanings: dict[str, str]
) -> str:
    """The docstring of a class with a section `Parameters`, if it has none of its own."""
    if "    Parameters\n    ----------\n" in text:
        return text
    all_meanings = COMMON | meanings
    entries = [
        f"    {name}{_typed(argument)}\n{_wrapped(all_meanings[name])}\n"
        for name, argument in constructor.items()
        if name in all_meanings
    ]
    section = "    Parameters\n    ----------\n" + "".join(entries)
    match = SECTION.search(text)
    if match is None:
        return f"{text.rstrip()}\n\n{section}    "
    return f"{text[: match.start()]}{section}\n{text[match.start() :]}"


def _typed(argument: inspect.Parameter) -> str:
    """The type and default of an argument, as in docstrings; empty if it has no type."""
    if argument.annotation is argument.empty:
        return ""
    annotation = inspect.formatannotation(argument.annotation).strip("'")
    words = " or ".join(TYPES.get(part, part) for part in annotation.split(" | "))
    if argument.default is argument.empty:
        return f" : {words}"
    if argument.default is None:
        return f" : {words.removesuffix(' or None')}, optional"
    return f" : {words}, default {argument.default!r}"


def _wrapped(meaning: str) -> str:
    return fill(meaning, 100, initial_indent=8 * " ", subsequent_indent=8 * " ")
