"""What is tuned: a name, a range and, where there is one, today's value.

A parameter knows its part of the working space: intervals are sides of a cube, shares are a
simplex. It says how a coordinate there becomes a value of the user's, and back. What cannot be
tuned is refused where it is written; numbers are kept as Python's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields
from math import exp, floor, isfinite, log
from typing import Any

import numpy as np

from dikin.arguments import LARGEST, is_whole, number
from dikin.errors import ParameterError, did_you_mean, shown
from dikin.vectors import Array

SLACK = 1e-6
"""By how much shares may miss a sum of 1: people write 0.333333."""
MOST_WHOLE = 2**53
"""Beyond it neighbouring whole numbers are the same float."""


@dataclass(frozen=True)
class Real:
    """A number between two bounds: a price, a timeout, a rate.

    Parameters
    ----------
    low, high : float
        The bounds; both may be played.
    start : float, optional
        Today's value, where tuning begins. The middle of the range without one.
    log : bool, default False
        Whether to search in the logarithm, for a range over powers of ten such as 0.001 to 10. The
        guarantee is then for values that are convex (concave, if large values are good) in the
        logarithm of the parameter: many are in one of the two scales only.

    Raises
    ------
    ParameterError
        If the bounds or the start are unusable.

    Examples
    --------
    >>> Real(1, 14, start=4)
    Real(low=1, high=14, start=4)
    """

    low: float
    high: float
    start: float | None = None
    log: bool = False

    def __repr__(self) -> str:
        return _shown(self)

    def __post_init__(self) -> None:
        low, high = _bounds(self)
        if not isinstance(self.log, bool):
            raise ParameterError(f"log must be True or False, got {shown(self.log)}")
        if self.log and low <= 0:
            raise ParameterError(
                f"log=True needs a low above 0, got low={self.low}; give a small positive low, or "
                "leave log out"
            )
        _check_start(self, low, high)
        _keep(self, _as_number)

    def to_unit(self, value: float) -> float:
        """The coordinate in [0, 1] of a value.

        Parameters
        ----------
        value : float
            Between the bounds.

        Returns
        -------
        float
            In [0, 1].
        """
        if self.log:
            return (log(value) - log(self.low)) / (log(self.high) - log(self.low))
        return (value - self.low) / (self.high - self.low)

    def from_unit(self, u: float) -> float:
        """The value at a coordinate.

        Parameters
        ----------
        u : float
            In [0, 1].

        Returns
        -------
        float
            Between the bounds.
        """
        if self.log:
            value = exp(log(self.low) + u * (log(self.high) - log(self.low)))
        else:
            value = self.low + u * (self.high - self.low)
        return min(max(value, float(self.low)), float(self.high))

    def played(self, u: float, uniform: float) -> float:
        """The value that is played at a coordinate.

        Parameters
        ----------
        u : float
            In [0, 1].
        uniform : float
            A random number in [0, 1); not needed here.

        Returns
        -------
        float
            The value to play.
        """
        return self.from_unit(u)

    def best(self, u: float) -> float:
        """The value to settle on at a coordinate.

        Parameters
        ----------
        u : float
            In [0, 1].

        Returns
        -------
        float
            The value to settle on.
        """
        return self.from_unit(u)

    @staticmethod
    def shown(value: float) -> float:
        """A value as the user reads it.

        Parameters
        ----------
        value : float
            As it stands in a row of numbers.

        Returns
        -------
        float
            The same.
        """
        return float(value)


@dataclass(frozen=True)
class Integer:
    """A whole number between two bounds: a level, a size, a number of workers.

    Tuning happens between the whole numbers: 3.3 is played as 3 in seven of ten rounds and as 4 in
    three, by lot. In the mean this is the piecewise linear interpolation of the values at whole
    numbers. For one whole number alone it is convex if the sequence of values is, and then the
    guarantee is against the best whole number; beside other parameters it need not be, and the
    guarantee is for values that are declared separable (`Tuner(separable=True)`). It has corners,
    so that a `lipschitz` constant can hold for it and a `smoothness` cannot.

    Parameters
    ----------
    low, high : int
        The bounds; both may be played.
    start : int, optional
        Today's value, where tuning begins. The middle of the range without one.

    Raises
    ------
    ParameterError
        If the bounds or the start are unusable.

    Examples
    --------
    >>> Integer(1, 9, start=6)
    Integer(low=1, high=9, start=6)
    """

    low: int
    high: int
    start: int | None = None

    def __repr__(self) -> str:
        return _shown(self)

    def __post_init__(self) -> None:
        for what in ("low", "high", "start"):
            value = getattr(self, what)
            if what == "start" and value is None:
                continue
            if not is_whole(value):
                raise ParameterError(
                    f"{what} of an Integer must be a whole number, got {shown(value)}"
                )
            if abs(int(value)) > MOST_WHOLE:
                raise ParameterError(
                    f"{what} must be between -2^53 and 2^53, got a number of "
                    f"{int(value).bit_length()} bits"
                )
        low, high = _bounds(self)
        _check_start(self, low, high)
        _keep(self, int)

    def to_unit(self, value: float) -> float:
        """The coordinate in [0, 1] of a value.

        Parameters
        ----------
        value : float
            Between the bounds.

        Returns
        -------
        float
            In [0, 1].
        """
        return (value - self.low) / (self.high - self.low)

    def played(self, u: float, uniform: float) -> float:
        """One of the two whole numbers around a coordinate, the nearer one more often.

        Parameters
        ----------
        u : float
            In [0, 1].
        uniform : float
            A random number in [0, 1).

        Returns
        -------
        float
            The value to play.
        """
        between = u * (self.high - self.low)
        below = floor(between)
        return self._within(below + (uniform < between - below))

    def best(self, u: float) -> float:
        """The whole number nearest to a coordinate.

        Parameters
        ----------
        u : float
            In [0, 1].

        Returns
        -------
        float
            The value to settle on.
        """
        return self._within(floor(u * (self.high - self.low) + 0.5))

    def _within(self, steps: int) -> float:
        return float(min(max(self.low + steps, self.low), self.high))

    @staticmethod
    def shown(value: float) -> int:
        """A value as the user reads it.

        Parameters
        ----------
        value : float
            As it stands in a row of numbers.

        Returns
        -------
        int
            The whole number.
        """
        return int(value)


@dataclass(frozen=True, init=False)
class Shares:
    """Shares of a whole: traffic to several servers, a budget over several channels.

    They are not negative and add up to 1: a simplex. The guarantee is for values that are convex
    (concave, if large values are good) in the shares; a mean over the parts, each weighted with its
    share, is linear and so both.

    Parameters
    ----------
    names : sequence of str
        What the parts are called; at least two.
    start : mapping or sequence, optional
        Today's shares, by name or in the order of the names. Equal shares without one.

    Raises
    ------
    ParameterError
        If the names or the start are unusable.

    Examples
    --------
    >>> Shares(["old", "new"], start={"old": 0.9, "new": 0.1})
    Shares(names=('old', 'new'), start=(0.9, 0.1))
    """

    names: Any
    start: Any = None

    def __init__(
        self, names: Sequence[str], start: Mapping[str, float] | Sequence[float] | None = None
    ) -> None:
        object.__setattr__(self, "names", _as_tuple(names))
        self._check_names()
        object.__setattr__(self, "start", None if start is None else self._shares(start))

    def __repr__(self) -> str:
        return _shown(self)

    def _check_names(self) -> None:
        names = self.names
        named = isinstance(names, tuple) and all(isinstance(each, str) and each for each in names)
        if not named or len(names) < 2:
            raise ParameterError(
                "Shares need the names of two parts or more, such as Shares(['old', 'new']), got "
                f"{shown(names)}"
            )
        twice = [each for each, count in Counter(names).items() if count > 1]
        if twice:
            raise ParameterError(f"the part {shown(twice[0])} is named twice")

    def _shares(self, start: Any) -> tuple[float, ...]:
        """The shares of the start in the order of the names, if they are shares."""
        given = self._by_order(start) if isinstance(start, Mapping) else _as_tuple(start)
        if not isinstance(given, tuple) or len(given) != len(self.names):
            raise ParameterError(
                f"start must have a share for each of {', '.join(self.names)}, got {shown(given)}"
            )
        named = dict(zip(self.names, given, strict=True))
        shares = tuple(number(share, f"the share of {part}") for part, share in named.items())
        if not (all(share >= 0 for share in shares) and abs(sum(shares) - 1) <= SLACK):
            raise ParameterError(
                f"the shares of start must not be negative and add up to 1, got {named} with the "
                f"sum {sum(shares):g}"
            )
        return shares

    def _by_order(self, start: Mapping[Any, Any]) -> tuple[Any, ...]:
        known = set(self.names)
        for part in start:
            if part not in known:
                near = did_you_mean(str(part), self.names)
                raise ParameterError(f"start has a share of {shown(part)}.{near}")
        lacking = [part for part in self.names if part not in start]
        if lacking:
            raise ParameterError(f"start has no share of {', '.join(lacking)}")
        return tuple(start[name] for name in self.names)

    def start_point(self) -> Array:
        """The shares of the start, which add up to 1 exactly, or equal ones."""
        if self.start is None:
            return np.full(len(self.names), 1.0 / len(self.names))
        shares = np.array(self.start, dtype=float)
        exact: Array = shares / shares.sum()
        return exact


Parameter = Real | Integer | Shares
Interval = Real | Integer

NO_CATEGORIES = (
    "There are no categories: between two of them there is no half-way, and a bandit convex "
    "learner needs one. For a choice between a few alternatives by their mean use Shares (each "
    "gets a share of the rounds), for a switch Integer(0, 1), or one tuner for each alternative"
)


def check_parameters(parameters: Any) -> dict[str, Parameter]:
    """The parameters by name, or an error that says what is wrong with which.

    Parameters
    ----------
    parameters : mapping
        From names to `Real`, `Integer` or `Shares`.

    Returns
    -------
    dict
        The same.

    Raises
    ------
    ParameterError
        If a name or a parameter is unusable.
    """
    if not isinstance(parameters, Mapping) or not parameters:
        raise ParameterError(
            "parameters must be a dictionary of one or more names such as {'price': dikin.Real(1, "
            f"14, start=4)}}, got {shown(parameters)}"
        )
    for name, parameter in parameters.items():
        if not isinstance(name, str) or not 0 < len(name) <= 100 or not name.isprintable():
            raise ParameterError(
                f"a parameter's name must be 1 to 100 printable characters, got {name!r}"
            )
        if not isinstance(parameter, Parameter):
            raise ParameterError(
                f"{name}: wanted dikin.Real(low, high), dikin.Integer(low, high) or "
                f"dikin.Shares(names), got {shown(parameter)}. {_advice(parameter)}"
            )
    return dict(parameters)


def _advice(came: Any) -> str:
    """What may have been meant by something that is no parameter."""
    if isinstance(came, tuple | list) and len(came) == 2 and not isinstance(came[0], str):
        return f"Did you mean dikin.Real({shown(came[0])}, {shown(came[1])})?"
    return NO_CATEGORIES


def spec_of(parameter: Parameter) -> dict[str, Any]:
    """A parameter as JSON values.

    Parameters
    ----------
    parameter : Real, Integer or Shares
        Checked before.
    """
    given = {part.name: getattr(parameter, part.name) for part in fields(parameter)}
    values = {
        name: list(value) if isinstance(value, tuple) else value for name, value in given.items()
    }
    return {"kind": type(parameter).__name__.lower()} | values


KINDS: dict[str, type[Real] | type[Integer] | type[Shares]] = {
    "real": Real,
    "integer": Integer,
    "shares": Shares,
}
EXAMPLES = (
    '{"low": 1, "high": 14, "start": 4}, {"kind": "integer", "low": 1, "high": 9}, '
    '{"kind": "shares", "names": ["old", "new"], "start": [0.9, 0.1]}'
)


def parameter_from_spec(name: str, spec: Any) -> Parameter:
    """The parameter that a JSON object describes.

    Parameters
    ----------
    name : str
        What it is called, for the message.
    spec : dict
        Its kind and its arguments, as `spec_of` gives them.

    Raises
    ------
    ParameterError
        If it is no description of a parameter.
    """
    if not isinstance(spec, Mapping):
        raise ParameterError(
            f"{name}: a parameter is an object such as {EXAMPLES}, got {shown(spec)}"
        )
    given = dict(spec)
    kind = given.pop("kind", "shares" if "names" in given else "real")
    cls = KINDS.get(kind) if isinstance(kind, str) else None
    if cls is None:
        raise ParameterError(
            f"{name}: there is no kind {shown(kind)}.{did_you_mean(str(kind), KINDS)} Parameters "
            f"are such as {EXAMPLES}"
        )
    _refuse_words(name, cls, given)
    with refusals_about(name):
        return cls(**given)


@contextmanager
def refusals_about(name: str) -> Iterator[None]:
    """Have a refusal say which parameter it is about.

    Parameters
    ----------
    name : str
        What the parameter is called.
    """
    try:
        yield
    except ParameterError as refused:
        raise ParameterError(f"{name}: {refused}") from None


def _refuse_words(name: str, cls: type[Parameter], given: dict[str, Any]) -> None:
    """Refuse a description with a word too many or too few."""
    needed = {part.name: part.default is MISSING for part in fields(cls)}
    for word in given:
        if word not in needed:
            raise ParameterError(
                f"{name}: {shown(word)} is not known.{did_you_mean(str(word), needed)}"
            )
    missing = [word for word, must in needed.items() if must and word not in given]
    if missing:
        raise ParameterError(f"{name}: {' and '.join(missing)} missing, got {shown(given)}")


def _shown(parameter: Parameter) -> str:
    """A constructor's call without what is left at its default."""
    parts = [
        f"{part.name}={shown(getattr(parameter, part.name))}"
        for part in fields(parameter)
        if getattr(parameter, part.name) is not part.default
    ]
    return f"{type(parameter).__name__}({', '.join(parts)})"


def _bounds(parameter: Interval) -> tuple[float, float]:
    low, high = number(parameter.low, "low"), number(parameter.high, "high")
    for what, bound in (("low", low), ("high", high)):
        if not (isfinite(bound) and abs(bound) < LARGEST):
            raise ParameterError(
                f"{what} must be a finite number between {-LARGEST:g} and {LARGEST:g}, got {bound}"
            )
    if not low < high:
        raise ParameterError(
            f"low must be below high, got low={parameter.low} and high={parameter.high}"
        )
    return low, high


def _check_start(parameter: Interval, low: float, high: float) -> None:
    if parameter.start is None:
        return
    start = number(parameter.start, "start")
    if not low <= start <= high:
        raise ParameterError(
            f"start={parameter.start} lies outside its range, {parameter.low} to {parameter.high}; "
            "widen the range, or begin inside"
        )


def _keep(parameter: Interval, kind: Callable[[Any], float]) -> None:
    """Keep Python's own numbers: NumPy's have other digits, and may overflow."""
    for part in ("low", "high", "start"):
        value = getattr(parameter, part)
        if value is not None:
            object.__setattr__(parameter, part, kind(value))


def _as_number(value: Any) -> float:
    return value if type(value) is int else float(value)


def _as_tuple(values: Any) -> Any:
    """Names or shares as a tuple; what is none is left as it is, to be refused."""
    if isinstance(values, list | tuple | np.ndarray):
        return tuple(value.item() if isinstance(value, np.generic) else value for value in values)
    return values
