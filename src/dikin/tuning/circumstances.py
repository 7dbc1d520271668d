"""Contexts and covariates: the circumstances of a round, checked and encoded once.

A context chooses the setting and is known when a trial is asked: words, a cycle or a range give a
few weights that add up to 1. A covariate explains the value and may come with it: its kind gives a
few features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import cos, isfinite, nan, pi, prod, sin
from typing import Any

import numpy as np

from dikin.arguments import LARGEST, as_float, number
from dikin.errors import (
    ContextError,
    CovariateError,
    DikinError,
    ParameterError,
    StateError,
    did_you_mean,
    shown,
)
from dikin.vectors import Array

MOST = 16
"""Covariates of a tuner, and words of a category: a round takes longer with each."""
MOST_WEIGHTS = 64
"""Weights of a context: each has slopes of its own."""
COMBINED = 16
"""Up to so many combinations of contexts have a weight each. Beyond, every name has its own."""
LONGEST = 100
"""Characters of a name or of a word."""
HARMONICS = 2
"""Waves of a cycle: a peak a day, and two."""
HOURS, KNOTS = 4, 3
"""Places of a cycle and of a range: each has a weight, and a row in tables."""
UNCHANGED = "Nothing was changed."

Values = Mapping[str, float | str]
"""Contexts or covariates of a round by name."""


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


@dataclass(frozen=True)
class Kind:
    """A declaration: words, a number, a range or a cycle."""

    form: str
    spec: Any = None
    """The declaration as a plain JSON value."""
    places: tuple[Any, ...] = ()
    """The words, or the numbers that tables show: of a range from end to end."""
    period: float = nan

    def weights(self, value: Any) -> list[float]:
        """Return not negative weights with the sum 1: of a number, hats around the places."""
        if self.form == "words":
            return [float(value == word) for word in self.places]
        low, high, n = self.places[0], self.places[-1], len(self.places)
        if self.form == "range":
            place = (value - low) / (high - low) * (n - 1)
            return [max(0.0, 1.0 - abs(place - knot)) for knot in range(n)]
        away = [abs(value % self.period / self.period * n - knot) for knot in range(n)]
        return [max(0.0, 1.0 - min(each, n - each)) for each in away]

    def features(self, value: Any) -> list[float]:
        """Return the features of a covariate: a number itself, waves of a cycle, a word's place."""
        if self.form == "words":
            return [float(value == word) for word in self.places]
        if self.form == "number":
            return [value]
        angle = 2.0 * pi * (value % self.period) / self.period
        return [wave(h * angle) for h in range(1, HARMONICS + 1) for wave in (cos, sin)]

    def checked(self, noun: str, given: Any, error: type[DikinError], grows: bool) -> float | str:
        """Return a word or a number of this kind. A category that grows takes new words."""
        form, places = self.form, self.places
        if isinstance(given, str) and form in ("words", "new"):
            fresh = grows and len(places) < MOST and 0 < len(given) <= LONGEST
            if given in places or (fresh and given.isprintable()):
                return str(given)
        elif not isinstance(given, str) and form != "words":
            truth = isinstance(given, bool | np.bool_) and grows
            number = float(given) if truth else as_float(given)
            inside = form != "range" or (number is not None and places[0] <= number <= places[-1])
            if number is not None and abs(number) < LARGEST and inside:
                return number
        wanted, near = f"a finite number below {LARGEST:g}", ""
        if form == "new":
            wanted += f" or a word of 1 to {LONGEST} printable characters"
        elif form == "range":
            wanted = f"a number from {places[0]:g} to {places[-1]:g}"
        elif form == "words":
            more = f", or another one, at most {MOST} in all: put rare words together"
            wanted = f"one of {', '.join(map(repr, places))}" + more * grows
            near = did_you_mean(given, places) if isinstance(given, str) else ""
        raise error(f"{noun} must be {wanted}, got {shown(given)}.{near} {UNCHANGED}")


NUMBER, NEW, NO_KIND = Kind("number"), Kind("new"), Kind("")


def _kind(given: Any) -> Kind:
    """Return the kind that a declaration, or its JSON value, stands for."""
    if isinstance(given, Mapping):
        form, ends = given.get("kind"), [given.get("low"), given.get("high")]
        given = Cycle(given["period"]) if form == "cycle" else ends if form == "range" else ""
    if isinstance(given, Cycle):
        places = tuple(given.period * hour / HOURS for hour in range(HOURS))
        return Kind("cycle", {"kind": "cycle", "period": given.period}, places, given.period)
    if given is None or given is float or given is int:
        return NUMBER
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        return NO_KIND
    if all(isinstance(word, str) and 0 < len(word) <= LONGEST for word in given):
        return Kind("words", [*given], (*given,)) if len({*given}) == len(given) else NO_KIND
    low, high = map(as_float, given) if len(given) == 2 else (None, None)
    if low is None or high is None or not -LARGEST < low < high < LARGEST:
        return NO_KIND
    places = tuple(np.linspace(low, high, KNOTS).tolist())
    return Kind("range", {"kind": "range", "low": low, "high": high}, places)


def _declared(given: Any, wanted: str, usable: Callable[[Kind], bool]) -> dict[str, Kind]:
    """Return the declared kinds. Refuse those that are not usable."""
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise ParameterError(f"{wanted}; got {shown(given)}")
    for name in given:
        refuse_name("context or covariate", name, ParameterError)
    kinds = {str(name): _kind(each) for name, each in given.items()}
    for name, kind in kinds.items():
        if not usable(kind):
            raise ParameterError(f"{wanted}; got {name!r}: {shown(given[name])}")
    return kinds


def refuse_name(noun: str, name: Any, error: type[DikinError]) -> None:
    """Refuse a name unless it is a short text."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST or not name.isprintable():
        raise error(
            f"the name of a {noun} is a text of 1 to {LONGEST} printable characters, got "
            f"{shown(name)}. {UNCHANGED}"
        )


class Contexts:
    """The contexts that a tuner was declared with, by name."""

    def __init__(self, declared: Mapping[str, Any] | None) -> None:
        wanted = (
            'context is declared by name, as in {"region": ["eu", "us"], "hour": dikin.Cycle(24), '
            '"load": (0, 1)}: at least two different words, a Cycle, or two ends of a range'
        )
        if declared is not None and not declared:
            raise ParameterError(f"{wanted}; got {shown(declared)}")
        self.kinds = _declared(declared, wanted, lambda kind: len(kind.places) > 1)
        sizes = [len(kind.places) for kind in self.kinds.values()]
        self.combined = prod(sizes) <= COMBINED
        self.size = (prod(sizes) if self.combined else sum(sizes)) if sizes else 0
        if self.size > MOST_WEIGHTS:
            raise ParameterError(
                f"these contexts have {self.size} words and places, at most {MOST_WEIGHTS}: leave "
                "a name out (as a covariate it still explains noise), or put words together"
            )

    def checked(self, given: Any) -> Values:
        """Return a context as it is kept. Refuse names too many or too few and wrong values."""
        if not self.kinds:
            if given is None:
                return {}
            raise ContextError(
                "this tuner was declared without contexts: Tuner(..., context={...}) chooses a "
                f"setting by them, and ask(covariates={{...}}) explains noise with them; got "
                f"{shown(given)}. {UNCHANGED}"
            )
        if not isinstance(given, Mapping) or given.keys() != self.kinds.keys():
            names = ", ".join(f'"{name}": ...' for name in self.kinds)
            raise ContextError(
                f"this tuner chooses by context: pass context={{{names}}}, got {shown(given)}. "
                f"{UNCHANGED}"
            )
        return {
            name: kind.checked(f"the context {name!r}", given[name], ContextError, False)
            for name, kind in self.kinds.items()
        }

    def weights(self, values: Values) -> Array:
        """Return the weights of a context that was checked: not negative, with the sum 1."""
        rows = [kind.weights(values[name]) for name, kind in self.kinds.items()]
        if not self.combined:
            return np.concatenate(rows) / len(rows)
        return np.array([prod(each) for each in product(*rows)] if rows else [])

    def places(self) -> Iterator[tuple[str, Values]]:
        """Yield the contexts of tables, with a label each."""
        for values in product(*(kind.places for kind in self.kinds.values())):
            text = ", ".join(v if isinstance(v, str) else f"{v:.6g}" for v in values)
            yield text, dict(zip(self.kinds, values, strict=True))

    def spec(self) -> dict[str, Any]:
        """Return the declarations as plain JSON values."""
        return {name: kind.spec for name, kind in self.kinds.items()}


class Covariates:
    """The covariates that a tuner knows. A name that was not declared is learnt when it comes.

    Features of numbers are counted from the first value, because a large offset costs digits. A
    missing covariate counts as the mean so far.
    """

    def __init__(self, declared: Mapping[str, Any] | None) -> None:
        wanted = (
            'covariates are declared by name, as in {"hour": dikin.Cycle(24), "load": float, '
            f'"kind": ["a", "b"]}}: a Cycle, float, or at most {MOST} different words'
        )
        forms = ("number", "cycle", "words")
        kinds = _declared(
            declared, wanted, lambda kind: kind.form in forms and len(kind.places) <= MOST
        )
        self.kinds: dict[str, Kind] = {}
        self.means: dict[tuple[str, int], tuple[int, float]] = {}
        """Count and mean of each feature, by name and number, in the order in which they came."""
        self.first: dict[str, float] = {}
        for name, kind in kinds.items():
            self._add(name, kind)
        self._refuse_many(kinds, ParameterError)
        self.declared = self.spec()

    def _add(self, name: str, kind: Kind) -> None:
        self.kinds[name] = kind
        for i in range(len(kind.features(0.0))):
            self.means.setdefault((name, i), (0, 0.0))

    def checked(self, given: Any) -> Values:
        """Return covariates as they are kept, by name, without those that are None."""
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise CovariateError(
                'covariates are given by name, as in {"load": 0.7, "hour": 14}, got '
                f"{shown(given)}. {UNCHANGED}"
            )
        new = [name for name in given if name not in self.kinds]
        for name in new:
            refuse_name("covariate", name, CovariateError)
        values = {
            name: self.kinds.get(name, NEW).checked(
                f"the covariate {name!r}", given[name], CovariateError, True
            )
            for name in sorted(given)
            if given[name] is not None
        }
        if new:
            self._refuse_many({**self.kinds, **values}, CovariateError)
        return values

    def merged(self, first: Values, later: Any) -> Values:
        """Return the covariates of a trial from its ask and its answer, checked."""
        later = self.checked(later)
        for name, value in later.items():
            if first.get(name, value) != value:
                raise CovariateError(
                    f"the covariate {name!r} was {shown(first[name])} when the trial was asked, "
                    f"and {shown(value)} came with its value: pass it once, or give the second one "
                    f"a name of its own. {UNCHANGED}"
                )
        return self.checked({**first, **later})  # others may have come since it was asked

    @staticmethod
    def _refuse_many(names: Mapping[str, Any], error: type[DikinError]) -> None:
        if len(names) > MOST:
            raise error(
                f"a tuner has at most {MOST} covariates, got {len(names)}: {', '.join(names)}. "
                f"Leave out those that explain the least. {UNCHANGED}"
            )

    def include(self, values: Values) -> Array:
        """Take in new names and words, and the means. Return the features."""
        for name, value in values.items():
            kind = self.kinds.get(name, NEW)
            if isinstance(value, str) and value not in kind.places:
                self._add(name, _kind([*kind.places, value]))
            elif kind is NEW:
                self._add(name, NUMBER)
            if self.kinds[name] is NUMBER:
                self.first.setdefault(name, float(value))
        return self.features(values, learn=True)

    def features(self, values: Values, learn: bool = False) -> Array:
        """Return a number for every feature, the mean so far where a covariate is missing."""
        row = {feature: mean for feature, (_, mean) in self.means.items()}
        for name in values.keys() & self.kinds:
            offset = self.first.get(name, 0.0)
            for i, value in enumerate(self.kinds[name].features(values[name])):
                row[name, i] = value = value - offset
                if learn:
                    count, mean = self.means[name, i]
                    self.means[name, i] = count + 1, mean + (value - mean) / (count + 1)
        return np.array([*row.values()])

    def spec(self) -> dict[str, Any]:
        """Return the kinds as plain JSON values."""
        return {name: kind.spec for name, kind in self.kinds.items()}

    def state(self) -> dict[str, Any]:
        """Return everything that the future depends on, as plain JSON values."""
        means = [[name, i, *known] for (name, i), known in self.means.items()]
        return {"kinds": self.spec(), "means": means, "first": self.first}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from the result of `state`."""
        self.means = {}
        for name, spec in state["kinds"].items():
            self._add(name, _kind(spec))
        means = {
            (str(name), int(i)): (int(count), float(mean))
            for name, i, count, mean in state["means"]
        }
        self.first = {str(name): float(value) for name, value in state["first"].items()}
        same = means.keys() == self.means.keys() and self.first.keys() <= self.kinds.keys()
        if not same or not all(isfinite(mean) for _, mean in means.values()):
            raise StateError("the covariates of a state do not fit each other: it was altered")
        self.means = means
