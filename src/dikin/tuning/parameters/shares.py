"""Shares of a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dikin.arguments import number, plain_tuple
from dikin.errors import ParameterError, did_you_mean, shown
from dikin.plotting.axes import Axis
from dikin.tuning.parameters.base import ParameterKind
from dikin.vectors import Array

SLACK = 1e-6
"""By how much shares may miss a sum of 1: people write 0.333333."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Shares(ParameterKind):
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
        object.__setattr__(self, "names", plain_tuple(names))
        self._check_names()
        object.__setattr__(self, "start", None if start is None else self._shares(start))

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
        values = self._by_order(start) if isinstance(start, Mapping) else plain_tuple(start)
        if not isinstance(values, tuple) or len(values) != len(self.names):
            raise ParameterError(
                f"start must have a share for each of {', '.join(self.names)}, got {shown(values)}"
            )
        named = dict(zip(self.names, values, strict=True))
        shares = tuple(number(share, f"the share of {part}") for part, share in named.items())
        if not (all(share >= 0 for share in shares) and abs(sum(shares) - 1) <= SLACK):
            raise ParameterError(
                f"the shares of start must not be negative and add up to 1, got {named} with the "
                f"sum {sum(shares):g}"
            )
        return shares

    def _by_order(self, start: Mapping[Any, Any]) -> tuple[Any, ...]:
        names = set(self.names)
        for part in start:
            if part not in names:
                near = did_you_mean(str(part), self.names)
                raise ParameterError(f"start has a share of {shown(part)}.{near}")
        lacking = [part for part in self.names if part not in start]
        if lacking:
            raise ParameterError(f"start has no share of {', '.join(lacking)}")
        return tuple(start[name] for name in self.names)

    def columns(self, name: str) -> tuple[str, ...]:
        return tuple(f"{name}.{part}" for part in self.names)

    def values_at(self, coordinates: Sequence[float]) -> Sequence[float]:
        return coordinates

    def coordinates(self, values: Sequence[float]) -> Sequence[float]:
        return values

    def start_values(self) -> list[float]:
        shares: list[float] = self.start_point().tolist()
        return shares

    def start_point(self) -> Array:
        """The shares of the start, which add up to 1 exactly, or equal ones."""
        if self.start is None:
            return np.full(len(self.names), 1.0 / len(self.names))
        shares = np.array(self.start, dtype=float)
        exact: Array = shares / shares.sum()
        return exact

    def setting(self, values: Sequence[float]) -> dict[str, float]:
        return dict(zip(self.names, values, strict=True))

    @property
    def axis(self) -> Axis:
        return Axis(0.0, 1.0, percent=True)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(["old", "new"], start={"old": 0.9, "new": 0.1})
        yield cls(("a", "b", "c"))
