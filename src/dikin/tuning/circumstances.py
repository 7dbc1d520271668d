"""Contexts and covariates: what is known of a round besides its setting, checked and encoded once.

A context chooses the setting and is known when a trial is asked: words, a cycle or a range give a
few weights that add up to 1. A covariate explains the value and may come with it: its kind gives a
few features.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import cos, pi, prod, sin
from typing import Any, NamedTuple

import numpy as np

from dikin.arguments import LARGEST, as_float
from dikin.errors import (
    ContextError,
    CovariateError,
    DikinError,
    ParameterError,
    StateError,
    did_you_mean,
    shown,
)
from dikin.tuning.cycle import Cycle
from dikin.vectors import Array

MOST = 16
"""Covariates of a tuner, and words of a category: a round takes longer with each."""
MOST_WEIGHTS = 64
"""Weights of a context: each has slopes of its own."""
COMBINED = 16
"""Up to so many combinations of contexts have a weight each; beyond, every name has its own."""
LONGEST = 100
"""Characters of a name or of a word."""
HARMONICS = 2
"""Waves of a cycle: a peak a day, and two."""
HOURS, KNOTS = 4, 3
"""Places of a cycle and of a range that tables show."""
DRAWN = 8
"""Points from one place to the next at which a setting is drawn."""

Values = dict[str, float | str]
"""Contexts or covariates of a round by name."""


class Words(NamedTuple):
    """One of a few words; an undeclared category takes in new ones."""

    words: tuple[str, ...]

    @property
    def size(self) -> int:
        return len(self.words)

    @property
    def places(self) -> tuple[float | str, ...]:
        return self.words

    @property
    def curve(self) -> tuple[float, ...]:
        return ()

    def weights(self, value: float | str) -> list[float]:
        return self.features(value)

    def features(self, value: float | str) -> list[float]:
        return [float(value == word) for word in self.words]

    def spec(self) -> Any:
        return list(self.words)


class Number(NamedTuple):
    """A number; of a context the ends of its range are declared."""

    low: float | None = None
    high: float | None = None
    size = 1

    @property
    def places(self) -> tuple[float | str, ...]:
        if self.low is None or self.high is None:
            return ()
        return tuple(np.linspace(self.low, self.high, KNOTS).tolist())

    @property
    def curve(self) -> tuple[float, ...]:
        return tuple(np.linspace(*self.places[:: KNOTS - 1], DRAWN * (KNOTS - 1) + 1).tolist())

    def weights(self, value: float | str) -> list[float]:
        low, high = float(self.places[0]), float(self.places[-1])
        place = (float(value) - low) / (high - low) * (KNOTS - 1)
        return [max(0.0, 1.0 - abs(place - knot)) for knot in range(KNOTS)]

    def features(self, value: float | str) -> list[float]:
        return [float(value)]

    def spec(self) -> Any:
        if self.low is None:
            return None
        return {"kind": "range", "low": self.low, "high": self.high}


class Waves(NamedTuple):
    """A number that comes round again."""

    cycle: Cycle
    size = 2 * HARMONICS

    @property
    def places(self) -> tuple[float | str, ...]:
        return tuple(hour * self.cycle.period / HOURS for hour in range(HOURS))

    @property
    def curve(self) -> tuple[float, ...]:
        return tuple(np.linspace(0.0, self.cycle.period, DRAWN * HOURS + 1).tolist())

    def weights(self, value: float | str) -> list[float]:
        place = self.cycle.phase(float(value)) * HOURS
        away = [abs(place - knot) for knot in range(HOURS)]
        return [max(0.0, 1.0 - min(each, HOURS - each)) for each in away]

    def features(self, value: float | str) -> list[float]:
        angle = 2.0 * pi * self.cycle.phase(float(value))
        return [wave(h * angle) for h in range(1, HARMONICS + 1) for wave in (cos, sin)]

    def spec(self) -> Any:
        return self.cycle.spec()


Kind = Words | Number | Waves


class Contexts:
    """The contexts that a tuner was declared with.

    Parameters
    ----------
    declared : mapping
        From names to a list of words, a `Cycle`, or the two ends of a range of numbers.

    Raises
    ------
    ParameterError
        If a declaration is unusable, or there are more than 64 features.
    """

    def __init__(self, declared: Mapping[str, Any] | None) -> None:
        if declared is not None and (not isinstance(declared, Mapping) or not declared):
            raise ParameterError(
                'context is declared by name, as in {"region": ["eu", "us"], "hour": '
                f'dikin.Cycle(24), "load": (0, 1)}}; got {shown(declared)}'
            )
        self.kinds = {_name(n, ParameterError): _context(n, k) for n, k in (declared or {}).items()}
        sizes = [len(kind.places) for kind in self.kinds.values()]
        self.combined = prod(sizes) <= COMBINED
        self.size = (prod(sizes) if self.combined else sum(sizes)) if sizes else 0
        if self.size > MOST_WEIGHTS:
            raise ParameterError(
                f"these contexts have {self.size} words and places, at most {MOST_WEIGHTS}: leave "
                "a name out (as a covariate it still explains noise), or put words together"
            )

    def checked(self, given: Any) -> Values:
        """Return a context as it is kept; refuse a name too many or too few, and a wrong value."""
        if not self.kinds:
            if given is None:
                return {}
            raise ContextError(
                "this tuner was declared without contexts: Tuner(..., context={...}) chooses a "
                "setting by them, and ask(covariates={...}) explains noise with them; got "
                f"{shown(given)}. Nothing was changed."
            )
        example = ", ".join(f'"{name}": ...' for name in self.kinds)
        if not isinstance(given, Mapping):
            raise ContextError(
                f"this tuner chooses by context: ask(context={{{example}}}); got {shown(given)}. "
                "Nothing was changed."
            )
        for name in given:
            if name not in self.kinds:
                raise ContextError(
                    f"there is no context {name!r}.{did_you_mean(str(name), self.kinds)} Declared "
                    f"are {', '.join(map(repr, self.kinds))}. Nothing was changed."
                )
        for name in self.kinds:
            if name not in given:
                raise ContextError(
                    f"the context {name!r} is missing: ask(context={{{example}}}). Nothing was "
                    "changed."
                )
        return {name: self._value(name, given[name]) for name in self.kinds}

    def _value(self, name: str, value: Any) -> float | str:
        kind = self.kinds[name]
        if isinstance(kind, Words):
            if isinstance(value, str) and value in kind.words:
                return str(value)
            hint = did_you_mean(value, kind.words) if isinstance(value, str) else ""
            raise ContextError(
                f"the context {name!r} is one of {', '.join(map(repr, kind.words))}; got "
                f"{shown(value)}.{hint} Nothing was changed."
            )
        number = None if isinstance(value, str | bool) else as_float(value)
        if number is None or not abs(number) < LARGEST:
            raise ContextError(
                f"the context {name!r} is a finite number below {LARGEST:g}, got {shown(value)}. "
                "Nothing was changed."
            )
        if isinstance(kind, Number) and not (kind.low or 0.0) <= number <= (kind.high or 0.0):
            raise ContextError(
                f"the context {name!r} lies between {kind.low:g} and {kind.high:g}; got "
                f"{shown(value)}. Declare a wider range, or pass the nearer end. Nothing was "
                "changed."
            )
        return number

    def weights(self, values: Values) -> Array:
        """Return the weights of a context that was checked: not negative, with the sum 1."""
        rows = [kind.weights(values[name]) for name, kind in self.kinds.items()]
        if self.combined:
            return np.array([prod(each) for each in product(*rows)] if rows else [])
        return np.concatenate(rows) / len(rows)

    def places(self) -> Iterator[tuple[str, Values]]:
        """Yield the contexts of tables, with a label each."""
        for values in product(*(kind.places for kind in self.kinds.values())):
            text = ", ".join(v if isinstance(v, str) else f"{v:.6g}" for v in values)
            yield text, dict(zip(self.kinds, values, strict=True))

    def spec(self) -> dict[str, Any]:
        """Return the declarations as plain JSON values."""
        return {name: kind.spec() for name, kind in self.kinds.items()}


class Covariates:
    """The covariates that a tuner knows; a name that was not declared is learnt when it comes.

    Features of numbers are counted from the first value that came, so that a large offset costs no
    digits, and one that is missing counts as the mean so far.
    """

    def __init__(self, declared: Mapping[str, Any] | None) -> None:
        if declared is not None and not isinstance(declared, Mapping):
            raise ParameterError(
                'covariates are declared by name, as in {"hour": dikin.Cycle(24), "load": float, '
                f'"kind": ["a", "b"]}}, got {shown(declared)}'
            )
        self.kinds: dict[str, Kind] = {}
        self.places: list[tuple[str, int]] = []
        """The name and the number of each feature, in the order in which they came."""
        self.first: dict[str, float] = {}
        self.count, self.mean = np.zeros(0), np.zeros(0)
        for name, kind in (declared or {}).items():
            self._add(_name(name, ParameterError), _covariate(name, kind))
        _refuse_many(self.kinds, ParameterError)
        self.declared = self.spec()

    @property
    def size(self) -> int:
        """Number of features."""
        return len(self.places)

    def _add(self, name: str, kind: Kind) -> None:
        known = self.kinds[name].size if name in self.kinds else 0
        self.places += [(name, i) for i in range(known, kind.size)]
        self.kinds[name] = kind
        more = np.zeros(len(self.places) - len(self.mean))
        self.count, self.mean = np.append(self.count, more), np.append(self.mean, more)

    def checked(self, given: Any) -> Values:
        """Return covariates as they are kept, in order of their names; None is left out."""
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise CovariateError(
                'covariates are given by name, as in {"load": 0.7, "hour": 14}, got '
                f"{shown(given)}. Nothing was changed."
            )
        values: Values = {}
        for name, value in given.items():
            if value is not None:
                values[_name(name, CovariateError)] = _number_or_word(name, value)
        for name, value in values.items():
            self._refuse_other_kind(name, value)
        _refuse_many(self.kinds | dict.fromkeys(values), CovariateError)
        return {name: values[name] for name in sorted(values)}

    def _refuse_other_kind(self, name: str, value: float | str) -> None:
        kind = self.kinds.get(name)
        if kind is None:
            return
        wanted = "a word" if isinstance(kind, Words) else "a number"
        if isinstance(value, str) != isinstance(kind, Words):
            raise CovariateError(
                f"the covariate {name!r} is {wanted}, got {shown(value)}: use another name for "
                "another quantity. Nothing was changed."
            )
        if isinstance(kind, Words) and value not in kind.words and kind.size >= MOST:
            raise CovariateError(
                f"the covariate {name!r} has the words {', '.join(map(repr, kind.words))}, and a "
                f"category has at most {MOST}; got {shown(value)}. Put rare words together, as "
                "'other'. Nothing was changed."
            )

    def include(self, values: Values) -> int:
        """Take in new names and words, and the means; return how many features are new."""
        before = self.size
        for name, value in values.items():
            kind = self.kinds.get(name)
            if kind is None:
                kind = Words(()) if isinstance(value, str) else Number()
            if isinstance(kind, Words) and value not in kind.words:
                kind = Words((*kind.words, str(value)))
            if kind != self.kinds.get(name):
                self._add(name, kind)
            if isinstance(kind, Number):
                self.first.setdefault(name, float(value))
        for at, (name, i) in enumerate(self.places):
            if name in values:
                self.count[at] += 1.0
                self.mean[at] += (self._feature(name, i, values) - self.mean[at]) / self.count[at]
        return self.size - before

    def _feature(self, name: str, i: int, values: Values) -> float:
        return self.kinds[name].features(values[name])[i] - self.first.get(name, 0.0)

    def features(self, values: Values) -> Array:
        """Return a number for every feature; the mean so far where a covariate is missing."""
        row = [
            self._feature(name, i, values) if name in values else mean
            for (name, i), mean in zip(self.places, self.mean.tolist(), strict=True)
        ]
        return np.array(row)

    def spec(self) -> dict[str, Any]:
        """Return the kinds as plain JSON values."""
        return {name: kind.spec() for name, kind in self.kinds.items()}

    def state(self) -> dict[str, Any]:
        """Return everything that the future depends on, as plain JSON values."""
        return {
            "declared": self.declared,
            "kinds": self.spec(),
            "places": [list(each) for each in self.places],
            "first": self.first,
            "count": self.count.tolist(),
            "mean": self.mean.tolist(),
        }

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Covariates:
        """Return the covariates that gave the state."""
        found = cls(None)
        found.declared = state["declared"]
        for name, spec in state["kinds"].items():
            found.kinds[name] = Words(()) if spec == [] else _covariate(name, spec)
        found.places = [(str(name), int(i)) for name, i in state["places"]]
        found.first = {str(name): float(value) for name, value in state["first"].items()}
        sizes = {name: kind.size for name, kind in found.kinds.items()}
        if sorted(found.places) != sorted((n, i) for n, size in sizes.items() for i in range(size)):
            raise StateError(f"the places of covariates in a state cannot be {shown(found.places)}")
        found.count, found.mean = np.array(state["count"], float), np.array(state["mean"], float)
        known = found.count.shape == found.mean.shape == (found.size,)
        if not (known and np.isfinite(found.count + found.mean).all()):
            raise StateError("the means of covariates in a state must be finite, one for each")
        return found


def merged(first: Values, later: Values) -> Values:
    """Return what was known when a trial was asked and what came with its value."""
    for name, value in later.items():
        if first.get(name, value) != value:
            raise CovariateError(
                f"the covariate {name!r} was {shown(first[name])} when the trial was asked, and "
                f"{shown(value)} came with its value: pass it once, or give the second one a name "
                "of its own. Nothing was changed."
            )
    return first | later


# --- declarations and values ---------------------------------------------------------------------


def _name(name: Any, error: type[DikinError]) -> str:
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST or not name.isprintable():
        raise error(
            f"the name of a context or covariate is a text of 1 to {LONGEST} printable characters, "
            f"got {shown(name)}. Nothing was changed."
        )
    return str(name)


def _refuse_many(names: Mapping[str, Any], error: type[DikinError]) -> None:
    if len(names) > MOST:
        raise error(
            f"a tuner has at most {MOST} covariates, got {len(names)}: {', '.join(names)}. Leave "
            "out those that explain the least. Nothing was changed."
        )


def _number_or_word(name: str, value: Any) -> float | str:
    if isinstance(value, str):
        if not 0 < len(value) <= LONGEST or not value.isprintable():
            raise CovariateError(
                f"a word of the covariate {name!r} has 1 to {LONGEST} printable characters, got "
                f"{shown(value)}. Nothing was changed."
            )
        return str(value)
    number = float(value) if isinstance(value, bool | np.bool_) else as_float(value)
    if number is None:
        raise CovariateError(
            f"the covariate {name!r} must be a number or a word, got {shown(value)}. Nothing was "
            "changed."
        )
    if not abs(number) < LARGEST:
        raise CovariateError(
            f"the covariate {name!r} must be a finite number below {LARGEST:g}, got {number}; "
            "leave it out where it is not known. Nothing was changed."
        )
    return number


def _words(given: Any) -> Words | None:
    if not isinstance(given, Sequence) or isinstance(given, str):
        return None
    words = tuple(given)
    if not all(isinstance(word, str) and 0 < len(word) <= LONGEST for word in words):
        return None
    return Words(words) if words and len(set(words)) == len(words) else None


def _context(name: Any, given: Any) -> Kind:
    if isinstance(given, Cycle):
        return Waves(given)
    if isinstance(given, dict) and given.get("kind") == "cycle":
        return Waves(Cycle.from_spec(given))
    if isinstance(given, dict) and set(given) == {"kind", "low", "high"}:
        given = (given["low"], given["high"])
    words = _words(given)
    if words is not None and words.size >= 2:
        return words
    if isinstance(given, Sequence) and not isinstance(given, str) and len(given) == 2:
        low, high = (None if isinstance(end, str | bool) else as_float(end) for end in given)
        if low is not None and high is not None and -LARGEST < low < high < LARGEST:
            return Number(low, high)
    raise ParameterError(
        f"the context {name!r} is a list of at least two different words, a Cycle such as "
        f"dikin.Cycle(24), or the two ends of a range of numbers; got {shown(given)}"
    )


def _covariate(name: str, given: Any) -> Kind:
    if given is None or given is float or given is int:
        return Number()
    if isinstance(given, Cycle):
        return Waves(given)
    if isinstance(given, dict):
        return Waves(Cycle.from_spec(given))
    words = _words(given)
    if words is not None and words.size <= MOST:
        return words
    raise ParameterError(
        f"the covariate {name!r} is declared as float for a number, a Cycle such as "
        f"dikin.Cycle(24), or a list of at most {MOST} different words; got {shown(given)}"
    )
