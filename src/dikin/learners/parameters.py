"""The arguments of a learner's constructor, each declared once, with its meaning and check."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from textwrap import fill
from typing import Any, ClassVar, TypeVar, dataclass_transform

import numpy as np

from dikin.arguments import LARGEST, whole
from dikin.domains.base import Domain
from dikin.errors import FeedbackError, ParameterError, did_you_mean, shown

T = TypeVar("T")

REQUIRED: Any = inspect.Parameter.empty
POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD
HORIZON = "T, the number of rounds"
SMOOTHNESS = "A constant beta with f(x + v) <= f(x) + f'(x).v + beta/2 |v|^2 for every loss."
LIPSCHITZ = "A constant L with |f(x) - f(x')| <= L |x - x'| for every loss."
CURVATURE = "The strong convexity of every loss, which is assumed whatever an answer says."


class Parameter:
    """An argument of a constructor, as an attribute that is checked whenever it is set."""

    def __init__(
        self, meaning: str, check: Callable[[Any, str], Any] | None, default: Any, kw_only: bool
    ) -> None:
        self.meaning, self.check, self.default, self.kw_only = meaning, check, default, kw_only

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.annotation = name, owner.__annotations__.get(name, "Any")

    def __set__(self, learner: object, value: Any) -> None:
        vars(learner)[self.name] = value if self.check is None else self.check(value, self.name)

    @property
    def form(self) -> inspect.Parameter:
        """The argument in a signature."""
        kind = inspect.Parameter.KEYWORD_ONLY if self.kw_only else POSITIONAL
        return inspect.Parameter(self.name, kind, default=self.default, annotation=self.annotation)


def parameter(
    meaning: str,
    check: Callable[[Any, str], Any] | None = None,
    *,
    default: Any = REQUIRED,
    kw_only: bool = False,
) -> Any:
    """Declare an argument of a learner's constructor.

    Parameters
    ----------
    meaning
        The meaning of the argument, for the class's docstring.
    check
        Function of the value and the argument's name that returns the value to store, or raises.
    default
        The value where none is given. Without a default the argument is required.
    kw_only
        True if the argument can be given by name only.
    """
    return Parameter(meaning, check, default, kw_only)


def horizon(least: int, why: str) -> Any:
    """Declare the number of rounds, which must be at least `least` for the formulas to hold."""
    return parameter(f"{HORIZON}.", lambda value, name: whole(value, name, least, why))


def optional_horizon(least: int, why: str, *, default: None, kw_only: bool) -> Any:
    """Declare the number of rounds, which need not be known."""
    check = optional(lambda value, name: whole(value, name, least, why))
    return parameter(
        f"{HORIZON}. None if it is not known.", check, default=default, kw_only=kw_only
    )


# --- checks ---------------------------------------------------------------------------------------


def one_of(*words: str) -> Callable[[Any, str], str]:
    """Return the check of a word, with an error that suggests the nearest known word."""

    def check(value: Any, name: str) -> str:
        if value not in words:
            raise ParameterError(
                f"no {name} are called {shown(value)}.{did_you_mean(str(value), words)}"
            )
        return str(value)

    return check


def optional(check: Callable[[Any, str], T]) -> Callable[[Any, str], T | None]:
    """Return the check of an argument that may be None."""
    return lambda value, name: None if value is None else check(value, name)


@dataclass_transform(
    eq_default=False,
    field_specifiers=(parameter, horizon, optional_horizon),
)
class Declared:
    """A class whose constructor takes the arguments that it and its bases declare."""

    parameters: ClassVar[dict[str, Parameter]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = {name: part for name, part in vars(cls).items() if isinstance(part, Parameter)}
        cls.parameters = cls.parameters | own
        # Positional arguments first, and a seed last.
        order = {name: (part.kw_only, name == "seed") for name, part in cls.parameters.items()}
        declared = {name: cls.parameters[name] for name in sorted(order, key=order.__getitem__)}
        if "__init__" not in vars(cls):
            setattr(cls, "__init__", _constructor(declared))  # noqa: B010
        if vars(cls).get("__doc__") and not inspect.isabstract(cls):
            cls.__doc__ = _with_parameters(cls.__doc__ or "", declared)

    def _prepare(self) -> None:
        """Set up the parts of every learner, after the arguments were set and checked."""

    def _begin(self) -> None:
        """Set up the state before the first round."""


def _constructor(declared: dict[str, Parameter]) -> Callable[..., None]:
    own = inspect.Parameter("self", POSITIONAL)
    signature = inspect.Signature([own, *(part.form for part in declared.values())])

    def __init__(self: Declared, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        try:
            given = signature.bind(self, *args, **kwargs)
        except TypeError as reason:
            raise TypeError(f"{type(self).__name__}() {reason}") from None
        given.apply_defaults()
        for name in declared:
            setattr(self, name, given.arguments[name])
        self._prepare()
        self._begin()

    setattr(__init__, "__signature__", signature)  # noqa: B010
    return __init__


def a_domain(value: Any, name: str) -> Domain:
    """Return a domain, or raise an error."""
    if not isinstance(value, Domain):
        raise ParameterError(f"{name} must be a dikin domain such as Box, got {shown(value)}")
    return value


def assumed_curvature(learner: Any, curvature: float) -> float:
    """A strong convexity that is assumed of every loss, in the paper's units."""
    limit, reason = learner.curvature_limit
    if curvature > limit:
        raise ParameterError(f"curvature={curvature:g} exceeds {limit:g}, {reason}")
    sigma: float = learner.units.curvature(curvature)
    if sigma * LARGEST < 1.0:
        raise ParameterError(
            f"curvature={curvature:g} is {sigma:g} in units of the domain's radius and the losses' "
            f"range; its inverse must be at most {LARGEST:g} to compute with"
        )
    return sigma


def two_parts(learner: Any, answer: Any) -> tuple[Any, Any]:
    """Return the two parts of an answer, or raise an error."""
    row = isinstance(answer, np.ndarray) and answer.ndim > 0
    parts = tuple(answer) if row or isinstance(answer, tuple | list) else ()
    if len(parts) != 2:
        raise FeedbackError(
            f"{type(learner).__name__} must be told {learner.feedback.value}, got "
            f"{shown(answer)}. Nothing was changed."
        )
    return parts[0], parts[1]


def finite_array(values: Any, shape: tuple[int, ...], noun: str) -> Any:
    """Return finite numbers of a shape as an array of the caller's own, or raise an error."""
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        array = np.empty(0)
    if array.shape != shape or not np.isfinite(array).all():
        raise FeedbackError(
            f"a {noun} must be finite numbers of shape {shape}, got {shown(values)}. "
            "Nothing was changed."
        )
    return array


# --- docstrings ----------------------------------------------------------------------------------

TYPES = {
    "LossRange": "(float, float) or None",
    "ArrayLike": "array_like",
    "Sequence[Learner]": "sequence of Learner",
}
"""The names of types in docstrings, where they differ from the code."""
SECTION = re.compile(r"^    (Raises|Notes|References|Examples)\n    -+\n", re.MULTILINE)


def _with_parameters(text: str, declared: dict[str, Parameter]) -> str:
    """The docstring of a class with a section `Parameters`, unless it brings its own."""
    if "    Parameters\n    ----------\n" in text:
        return text
    entries = [
        f"    {name} : {_typed(part)}\n{fill(part.meaning, 100, **INDENT)}\n"
        for name, part in declared.items()
    ]
    section = "    Parameters\n    ----------\n" + "".join(entries)
    match = SECTION.search(text)
    if match is None:
        return f"{text.rstrip()}\n\n{section}    "
    return f"{text[: match.start()]}{section}\n{text[match.start() :]}"


INDENT: Any = {"initial_indent": 8 * " ", "subsequent_indent": 8 * " "}


def _typed(part: Parameter) -> str:
    """The type and default of an argument, as in docstrings."""
    annotation = inspect.formatannotation(part.annotation).strip("'")
    words = " or ".join(TYPES.get(word, word) for word in annotation.split(" | "))
    if part.default is REQUIRED:
        return words
    if part.default is None:
        return f"{words.removesuffix(' or None')}, optional"
    return f"{words}, default {part.default!r}"
