"""Contexts of a tuner: what is known before a setting is chosen, and may choose it.

A context is a region, an hour, a load, or several of them at once. Each becomes a few weights that
are not negative and add up to one: a word has all of it, a number shares it out between the two
knots that it lies between. Several together have a weight for every combination. A setting is then
the mean, by these weights, of one setting for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import nan, prod
from typing import Any, NamedTuple, Protocol

import numpy as np

from dikin.arguments import LARGEST, as_float
from dikin.errors import ContextError, ParameterError, did_you_mean, shown
from dikin.tuning.covariates import WORDS
from dikin.tuning.cycle import Cycle

MOST = 64
"""Settings that contexts may choose from: each needs rounds of its own."""
KNOTS = 3
"""Of a number: both ends of its range and the middle."""
HOURS = 4
"""Knots of a cycle."""
DRAWN = 8
"""Points from each knot to the next at which a setting is drawn."""

RANGE_KEYS = {"kind", "low", "high"}
"""Of the JSON object that describes a range."""

Values = dict[str, float | str]
"""A context by name."""


class Part(Protocol):
    """What one of the names of a context can be."""

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each weight."""
        ...

    @property
    def knots(self) -> tuple[float | str, ...]:
        """A value for each of them that has all of its weight."""
        ...

    @property
    def curve(self) -> tuple[float, ...]:
        """Values along which a setting is drawn as a line; none for words."""
        ...

    @property
    def covariate(self) -> Any:
        """The same as a covariate is declared."""
        ...

    def checked(self, name: str, value: Any) -> float | str:
        """The value as it is kept; refused if it cannot be one."""
        ...

    def weights(self, value: float | str) -> list[float]:
        """A weight for each label; they add up to one."""
        ...

    def spec(self) -> Any:
        """As JSON."""
        ...


class Words(NamedTuple):
    """One of a few words."""

    labels: tuple[str, ...]

    @property
    def knots(self) -> tuple[float | str, ...]:
        return self.labels

    @property
    def curve(self) -> tuple[float, ...]:
        return ()

    @property
    def covariate(self) -> Any:
        return list(self.labels)

    def checked(self, name: str, value: Any) -> float | str:
        if isinstance(value, str) and value in self.labels:
            return str(value)
        hint = did_you_mean(value, self.labels) if isinstance(value, str) else ""
        raise ContextError(
            f"the context {name!r} is one of {', '.join(map(repr, self.labels))}; got "
            f"{shown(value)}.{hint} Nothing was changed."
        )

    def weights(self, value: float | str) -> list[float]:
        return [float(value == word) for word in self.labels]

    def spec(self) -> Any:
        return list(self.labels)


class Interval(NamedTuple):
    """A number in a range, by hat functions on a few knots."""

    low: float
    high: float

    @property
    def knots(self) -> tuple[float | str, ...]:
        return tuple(np.linspace(self.low, self.high, KNOTS).tolist())

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"{knot:.6g}" for knot in self.knots)

    @property
    def curve(self) -> tuple[float, ...]:
        return tuple(np.linspace(self.low, self.high, DRAWN * (KNOTS - 1) + 1).tolist())

    @property
    def covariate(self) -> Any:
        return None

    def checked(self, name: str, value: Any) -> float | str:
        number = _number(name, value)
        if not self.low <= number <= self.high:
            raise ContextError(
                f"the context {name!r} lies between {self.low:g} and {self.high:g}; got "
                f"{shown(value)}. Declare a wider range, or tell the nearer end. Nothing was "
                "changed."
            )
        return number

    def weights(self, value: float | str) -> list[float]:
        place = (float(value) - self.low) / (self.high - self.low) * (KNOTS - 1)
        return [max(0.0, 1.0 - abs(place - knot)) for knot in range(KNOTS)]

    def spec(self) -> Any:
        return {"kind": "range", "low": self.low, "high": self.high}


class Round(NamedTuple):
    """A number that comes round again, by hat functions on a few knots."""

    cycle: Cycle

    @property
    def knots(self) -> tuple[float | str, ...]:
        return tuple(knot * self.cycle.period / HOURS for knot in range(HOURS))

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"{knot:.6g}" for knot in self.knots)

    @property
    def curve(self) -> tuple[float, ...]:
        return tuple(np.linspace(0.0, self.cycle.period, DRAWN * HOURS + 1).tolist())

    @property
    def covariate(self) -> Any:
        return self.cycle

    def checked(self, name: str, value: Any) -> float | str:
        return _number(name, value)

    def weights(self, value: float | str) -> list[float]:
        place = self.cycle.phase(float(value)) * HOURS
        away = [abs(place - knot) for knot in range(HOURS)]
        return [max(0.0, 1.0 - min(distance, HOURS - distance)) for distance in away]

    def spec(self) -> Any:
        return self.cycle.spec()


def _number(name: str, value: Any) -> float:
    number = None if isinstance(value, str | bool) else as_float(value)
    if number is None or not abs(number) < LARGEST:
        raise ContextError(
            f"the context {name!r} is a finite number below {LARGEST:g}, got {shown(value)}. "
            "Nothing was changed."
        )
    return number


class Contexts:
    """The contexts that a tuner was declared with.

    Each name has a list of words, a `Cycle`, or the two ends of a range of numbers. `size` is the
    number of weights of a context.
    """

    def __init__(self, parts: Mapping[str, Any]) -> None:
        if not isinstance(parts, Mapping) or not parts:
            raise ParameterError(
                'context is declared by name, as in {"region": ["eu", "us"], "hour": '
                f'dikin.Cycle(24), "load": (0, 1)}}; got {shown(parts)}'
            )
        self.parts: dict[str, Part] = {name: _part(name, part) for name, part in parts.items()}
        few = (name for name, part in self.parts.items() if len(part.labels) <= WORDS)
        self._explain = tuple(few)
        self.size = prod(len(part.labels) for part in self.parts.values())
        if self.size > MOST:
            counts = " x ".join(str(len(part.labels)) for part in self.parts.values())
            raise ParameterError(
                f"these contexts have {counts} = {self.size} settings to learn, at most {MOST}: "
                "leave a name out (as a covariate it still explains noise), or put words together"
            )

    @property
    def labels(self) -> list[str]:
        """A name for each weight."""
        names = (part.labels for part in self.parts.values())
        return [", ".join(labels) for labels in product(*names)]

    def checked(self, context: Any) -> Values:
        """Return a context as it is kept: floats and texts, a value for each declared name."""
        if not isinstance(context, Mapping):
            raise ContextError(
                f"this tuner chooses by context: ask(context={{{self._example()}}}); got "
                f"{shown(context)}. Nothing was changed."
            )
        for name in context:
            if name not in self.parts:
                raise ContextError(
                    f"there is no context {name!r}.{did_you_mean(str(name), self.parts)} "
                    f"Declared are {', '.join(map(repr, self.parts))}. Nothing was changed."
                )
        for name in self.parts:
            if name not in context:
                raise ContextError(
                    f"the context {name!r} is missing: ask(context={{{self._example()}}}). "
                    "Nothing was changed."
                )
        return {name: part.checked(name, context[name]) for name, part in self.parts.items()}

    def _example(self) -> str:
        return ", ".join(f'"{name}": ...' for name in self.parts)

    def weights(self, context: Values) -> list[float]:
        """Return the weights of a checked context, one for each of `labels`; they add up to one."""
        each = (part.weights(context[name]) for name, part in self.parts.items())
        return [prod(weights) for weights in product(*each)]

    def with_covariates(self, covariates: Any) -> Any:
        """Declared covariates, and the contexts: what chooses a setting explains noise too.

        Without those of more words than a covariate has.
        """
        both = set(self.parts) & set(covariates if isinstance(covariates, Mapping) else ())
        if both:
            raise ParameterError(
                f"{shown(min(both))} is declared as a context and as a covariate: a context is a "
                "covariate as well, leave it out there"
            )
        return {name: self.parts[name].covariate for name in self._explain} | (covariates or {})

    def explaining(self, context: Values) -> Values:
        """Return the part of a checked context that is a covariate as well."""
        return {name: context[name] for name in self._explain}

    def grid(self) -> Iterator[tuple[str, Values]]:
        """A context for each of `labels`, at the knots."""
        values = [list(zip(part.labels, part.knots, strict=True)) for part in self.parts.values()]
        for combination in product(*values):
            labels = ", ".join(label for label, _ in combination)
            yield labels, dict(zip(self.parts, (value for _, value in combination), strict=True))

    def spec(self) -> dict[str, Any]:
        """As plain JSON values, for the constructor."""
        return {name: part.spec() for name, part in self.parts.items()}


def _part(name: Any, given: Any) -> Part:
    if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= 100:
        raise ParameterError(
            f"the name of a context is a text of 1 to 100 characters, got {shown(name)}"
        )
    if isinstance(given, Cycle):
        return Round(given)
    if isinstance(given, dict) and given.get("kind") == "cycle":
        return Round(Cycle.from_spec(given))
    if isinstance(given, dict) and set(given) == RANGE_KEYS and given["kind"] == "range":
        given = (given["low"], given["high"])
    if isinstance(given, Sequence) and not isinstance(given, str):
        part = _words(given) or _interval(given)
        if part is not None:
            return part
    raise ParameterError(
        f"the context {name!r} is a list of at least two different words, a Cycle such as "
        f"dikin.Cycle(24), or the two ends of a range of numbers; got {shown(given)}"
    )


def _words(given: Sequence[Any]) -> Words | None:
    words = tuple(given)
    short = all(isinstance(word, str) and 0 < len(word) <= 100 for word in words)
    return Words(words) if short and 2 <= len(words) == len(set(words)) else None


def _interval(given: Sequence[Any]) -> Interval | None:
    ends = [as_float(end) for end in given if not isinstance(end, str | bool)]
    if len(given) != 2 or len(ends) != 2:
        return None
    low, high = (nan if end is None else end for end in ends)
    return Interval(low, high) if -LARGEST < low < high < LARGEST else None
