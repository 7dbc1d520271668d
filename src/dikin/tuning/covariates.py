"""Covariates of a tuner: what explains its values and does not depend on the setting.

Each has a name and a kind. A number is one feature of `dikin.forecasts.regression`, a cycle is the
sines and cosines of two harmonics, and a category has a feature for each of its words, 1 for the
word that came and 0 for the others. Kinds are declared, or follow from the first value that comes
under a name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import cos, isfinite, nan, pi, sin
from typing import Any, Protocol, Self

import numpy as np

from dikin import serialization
from dikin.arguments import LARGEST, as_float
from dikin.errors import CovariateError, ParameterError, StateError, shown
from dikin.forecasts.regression import Regression
from dikin.plotting.notebook import pairs_table
from dikin.status import explained_text
from dikin.tuning.cycle import Cycle

MOST = 16
"""Covariates of a tuner: a round takes longer with each."""
WORDS = 16
"""Words of a category."""
LONGEST = 100
"""Characters of a name or of a word."""
HARMONICS = 2
"""Of a cycle: a peak a day, and two."""

NOWHERE: list[int] = []
"""Where features are of a name that is not known."""

Values = dict[str, float | str]
"""Covariates of a round by name, as they are kept: floats and texts."""


class Kind(Protocol):
    """What a covariate is."""

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each feature; one empty name for a number."""
        ...

    @property
    def bounded(self) -> bool:
        """Whether the features lie in [-1, 1]."""
        ...

    def checked(self, name: str, value: float | str) -> None:
        """Refuse a value that is of another kind."""

    def including(self, value: float | str) -> Kind:
        """The kind that has this value, which was checked, too."""
        ...

    def features(self, value: float | str) -> list[float]:
        """A number for each label."""
        ...

    def spec(self) -> Any:
        """The kind as JSON."""
        ...


@dataclass(frozen=True)
class Number:
    """One number."""

    labels = ("",)
    bounded = False

    def checked(self, name: str, value: float | str) -> None:
        if isinstance(value, str):
            raise _other_kind(name, "a number", value)

    def including(self, value: float | str) -> Kind:
        return self

    def features(self, value: float | str) -> list[float]:
        return [float(value)]

    def spec(self) -> Any:
        return None


@dataclass(frozen=True)
class Periodic:
    """A periodic number."""

    cycle: Cycle
    labels = tuple(f"{wave} {h}" for h in range(1, HARMONICS + 1) for wave in ("cos", "sin"))
    bounded = True

    def checked(self, name: str, value: float | str) -> None:
        if isinstance(value, str):
            raise _other_kind(name, f"a number of {self.cycle}", value)

    def including(self, value: float | str) -> Kind:
        return self

    def features(self, value: float | str) -> list[float]:
        angle = 2.0 * pi * self.cycle.phase(float(value))
        return [wave(h * angle) for h in range(1, HARMONICS + 1) for wave in (cos, sin)]

    def spec(self) -> Any:
        return self.cycle.spec()


@dataclass(frozen=True)
class Category:
    """One of a few words, of which more may come."""

    labels: tuple[str, ...]
    bounded = True

    def checked(self, name: str, value: float | str) -> None:
        if not isinstance(value, str):
            raise _other_kind(name, "a word", value)
        if value not in self.labels and len(self.labels) >= WORDS:
            raise CovariateError(
                f"the covariate {name!r} has the words {', '.join(map(repr, self.labels))}, and a "
                f"category has at most {WORDS}; got {shown(value)}. Put rare words together, as "
                "'other'. Nothing was changed."
            )

    def including(self, value: float | str) -> Kind:
        return self if value in self.labels else Category((*self.labels, str(value)))

    def features(self, value: float | str) -> list[float]:
        return [float(value == word) for word in self.labels]

    def spec(self) -> Any:
        return list(self.labels)


def _other_kind(name: str, kind: str, value: Any) -> CovariateError:
    return CovariateError(
        f"the covariate {name!r} is {kind}, got {shown(value)}: give another name to what is of "
        "another kind. Nothing was changed."
    )


# --- what comes from outside ---------------------------------------------------------------------


def checked_values(covariates: Any) -> Values:
    """Covariates as they are kept: floats and texts by name, in order; None is left out."""
    if covariates is None:
        return {}
    if not isinstance(covariates, Mapping):
        raise CovariateError(
            'covariates are given by name, as in {"load": 0.7, "hour": 14}, got '
            f"{shown(covariates)}. Nothing was changed."
        )
    values: Values = {}
    for name, value in covariates.items():
        if value is not None:
            values[_checked_name(name)] = (
                value
                if type(value) is float and -LARGEST < value < LARGEST
                else _checked_value(name, value)
            )
    _refuse_many(values)
    return {name: values[name] for name in sorted(values)}  # in whatever order they came


def _checked_name(name: Any) -> str:
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST or not name.isprintable():
        raise CovariateError(
            f"the name of a covariate is a text of 1 to {LONGEST} printable characters, got "
            f"{shown(name)}. Nothing was changed."
        )
    return str(name)


def _checked_value(name: str, value: Any) -> float | str:
    if isinstance(value, str):
        if not 0 < len(value) <= LONGEST or not value.isprintable():
            raise CovariateError(
                f"a word of the covariate {name!r} has 1 to {LONGEST} printable characters, got "
                f"{shown(value)}. Nothing was changed."
            )
        return str(value)
    if isinstance(value, bool | np.bool_):
        return float(value)
    number = as_float(value)
    if number is None:
        raise CovariateError(
            f"the covariate {name!r} must be a number or a word, got {shown(value)}. Nothing was "
            "changed."
        )
    if not isfinite(number) or not abs(number) < LARGEST:
        raise CovariateError(
            f"the covariate {name!r} must be a finite number below {LARGEST:g}, got {number}; "
            "leave it out where it is not known. Nothing was changed."
        )
    return number


def _refuse_many(names: Mapping[str, Any]) -> None:
    if len(names) > MOST:
        raise CovariateError(
            f"a tuner has at most {MOST} covariates, got {len(names)}: {', '.join(names)}. Leave "
            "out those that explain the least (tuner.explained). Nothing was changed."
        )


def merged(first: Values, later: Values) -> Values:
    """What was known of a round when it was asked, and what came with its value.

    A name with two different values is refused.
    """
    if not first:
        return later
    for name, value in later.items():
        if first.get(name, value) != value:
            raise CovariateError(
                f"the covariate {name!r} was {shown(first[name])} when the trial was asked, and "
                f"{shown(value)} came with its value: give it once, or give the second one a name "
                "of its own. Nothing was changed."
            )
    return first | later


def declared_kinds(declarations: Any) -> dict[str, Kind]:
    """The kinds of declared covariates: a `Cycle`, the words of a category, None or `float`."""
    if declarations is None:
        return {}
    if not isinstance(declarations, Mapping):
        raise ParameterError(
            'covariates are declared by name, as in {"hour": dikin.Cycle(24), "load": float, '
            f'"kind": ["a", "b"]}}, got {shown(declarations)}'
        )
    try:
        kinds = {
            _checked_name(name): _declared_kind(name, kind) for name, kind in declarations.items()
        }
        _refuse_many(kinds)
    except CovariateError as reason:
        raise ParameterError(str(reason)) from reason
    return kinds


def specs_of(kinds: Mapping[str, Kind]) -> dict[str, Any]:
    """Kinds as plain JSON values, for `declared_kinds`."""
    return {name: kind.spec() for name, kind in kinds.items()}


def _declared_kind(name: str, declaration: Any) -> Kind:
    if declaration is None or declaration is float or declaration is int:
        return Number()
    if isinstance(declaration, Cycle):
        return Periodic(declaration)
    if isinstance(declaration, dict):
        return Periodic(Cycle.from_spec(declaration))
    if isinstance(declaration, Sequence) and not isinstance(declaration, str) and declaration:
        words = tuple(_checked_value(name, word) for word in declaration)
        if all(isinstance(word, str) for word in words) and len(set(words)) == len(words):
            if len(words) > WORDS:
                raise ParameterError(
                    f"the covariate {name!r} has {len(words)} words; a category has at most {WORDS}"
                )
            return Category(tuple(map(str, words)))
    raise ParameterError(
        f"the covariate {name!r} is declared as float for a number, a Cycle such as "
        f"dikin.Cycle(24), or a list of different words; got {shown(declaration)}"
    )


# --- the covariates of a tuner -------------------------------------------------------------------


class Covariates:
    """The covariates that a tuner knows, and the regression on their features."""

    def __init__(self, kinds: dict[str, Kind]) -> None:
        self.kinds: dict[str, Kind] = {}
        self.regression = Regression()
        self._places: dict[str, list[int]] = {}
        """Where the features of a name are among all."""
        self._size = 0
        for name, kind in kinds.items():
            self._set(name, kind)

    def _set(self, name: str, kind: Kind) -> None:
        """A kind that is new, or has more features than before."""
        places = self._places.setdefault(name, [])
        more = len(kind.labels) - len(places)
        places += range(self._size, self._size + more)
        self._size += more
        self.kinds[name] = kind
        self.regression.add_features(more * [kind.bounded])

    def refuse(self, values: Values) -> None:
        """Refuse values that do not fit what is known; nothing is changed."""
        for name, value in values.items():
            if name in self.kinds:
                self.kinds[name].checked(name, value)
        if not values.keys() <= self.kinds.keys():
            _refuse_many(self.kinds | dict.fromkeys(values))

    def include(self, values: Values) -> bool:
        """Take in names and words that are new; return whether there were any."""
        before = self._size
        for name, value in values.items():
            kind = self.kinds.get(name)
            if kind is None:
                kind = Category(()) if isinstance(value, str) else Number()
                self._set(name, kind)
            wider = kind.including(value)
            if wider is not kind:
                self._set(name, wider)
        return self._size > before

    def features(self, values: Values) -> list[float]:
        """A number for every feature of the regression, NaN where a covariate is missing."""
        features: list[Any] = self._size * [nan]
        for name, value in values.items():
            kind, places = self.kinds.get(name), self._places.get(name, NOWHERE)
            if isinstance(kind, Number):  # most are, and this is done in every round
                features[places[0]] = value
            elif kind is not None:
                for place, number in zip(places, kind.features(value), strict=True):
                    features[place] = number
        return features

    def explained(self, scale: float) -> Explained:
        """What the covariates explain.

        `scale` is a loss of the regression in the user's units and sense.
        """
        share, slope = self.regression.explained, self.regression.fit.slope
        parts = [max(part, 0.0) for part in self.regression.contributions]
        total = sum(parts)
        by, coefficients = dict[str, float](), dict[str, float | dict[str, float]]()
        for name, kind in self.kinds.items():
            places = self._places[name]
            by[name] = share * sum(parts[i] for i in places) / total if total > 0.0 else 0.0
            slopes = [scale * slope[i] for i in places]
            if isinstance(kind, Category):  # of words only the differences count
                slopes = [each - sum(slopes) / len(slopes) for each in slopes]
            coefficients[name] = (
                slopes[0] if kind.labels == ("",) else dict(zip(kind.labels, slopes, strict=True))
            )
        return Explained(share, by, coefficients)

    # --- state ---------------------------------------------------------------------------------

    def specs(self) -> dict[str, Any]:
        """The kind of each name as plain JSON values."""
        return specs_of(self.kinds)

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, as plain JSON values."""
        return {
            "kinds": self.specs(),
            "places": self._places,
            "regression": serialization.encode(self.regression.state()),
        }

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        """The covariates that gave the state, with the same future."""
        covariates = cls({})
        for name, spec in state["kinds"].items():
            covariates.kinds[name] = Category(()) if spec == [] else _declared_kind(name, spec)
            covariates._places[name] = list(map(int, state["places"][name]))
        places = list(chain.from_iterable(covariates._places.values()))
        covariates._size = len(places)
        covariates.regression = Regression.restore(serialization.decode(state["regression"]))
        wide = [len(kind.labels) for kind in covariates.kinds.values()]
        if [len(each) for each in covariates._places.values()] != wide or sorted(places) != list(
            range(len(covariates.regression.fit.mean))
        ):
            raise StateError("the covariates of a state are not the features of its regression")
        return covariates


@dataclass(frozen=True)
class Explained:
    """How much of the variance of the values covariates explain, and by what; `print` it.

    Parameters
    ----------
    share : float
        The share of the variance around the mean of recent values that was foreseen by the
        covariates, before each value was learnt; from 0 to 1, NaN before any.
    by : dict
        What of it each covariate explains, by name; where two say the same, one of them may have
        all of it.
    coefficients : dict
        By how much the value is larger, in its own units, where a number is larger by 1. For a
        category a dictionary with a number for each word, for a cycle one with the coefficients of
        two harmonics.
    """

    share: float = nan
    by: dict[str, float] = field(default_factory=dict)
    coefficients: dict[str, float | dict[str, float]] = field(default_factory=dict)

    def lines(self) -> Iterator[tuple[str, str]]:
        """The record as (label, text) pairs.

        Yields
        ------
        tuple of str
            A label and its text.
        """
        yield "explained", explained_text(self.share, self.by)
        for name, slopes in self.coefficients.items():
            if isinstance(slopes, dict):
                yield name, ", ".join(f"{label} {slope:+.4g}" for label, slope in slopes.items())
            else:
                yield name, f"{slopes:+.4g} for each 1"

    def __str__(self) -> str:
        return "\n".join(f"{label:<16}{text}" for label, text in self.lines())

    def _repr_html_(self) -> str:
        return pairs_table(self.lines())
