"""Shares of a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dikin.arguments import number, plain_tuple
from dikin.errors import ParameterError, shown
from dikin.plotting.axes import Axis
from dikin.tuning.parameters.base import ParameterKind

SLACK = 1e-6
"""The sum of shares may miss 1 by so much: people write 0.333333."""


@dataclass(frozen=True, eq=False, repr=False)
class Shares(ParameterKind):
    """Shares of a whole: traffic to several servers, a budget over several channels.

    They are not negative and add up to 1: a simplex. A certificate is for values that are convex
    (concave, if large values are good) in the shares. A mean over the parts, each weighted with its
    share, is linear and so both.

    Parameters
    ----------
    names : sequence of str
        The names of the parts, at least two.
    start : mapping or sequence, optional
        The shares in use today, by name or in the order of the names. Equal shares by default.

    Examples
    --------
    >>> Shares(["old", "new"], start={"old": 0.9, "new": 0.1})
    Shares(names=('old', 'new'), start=(0.9, 0.1))
    """

    names: Sequence[str]
    start: Mapping[str, float] | Sequence[float] | None = None

    def __post_init__(self) -> None:
        names = plain_tuple(self.names)
        named = isinstance(names, tuple) and all(isinstance(each, str) and each for each in names)
        if not named or len(names) < 2:
            raise ParameterError(
                "Shares need the names of two parts or more, such as Shares(['old', 'new']), got "
                f"{shown(names)}"
            )
        for name, count in Counter(names).items():
            if count > 1:
                raise ParameterError(f"the part {shown(name)} is named twice")
        object.__setattr__(self, "names", names)
        if self.start is not None:
            object.__setattr__(self, "start", self._shares(self.start))

    def _shares(self, start: Any) -> tuple[float, ...]:
        """Return the shares of a start in the order of the names, if they are shares."""
        if isinstance(start, Mapping) and start.keys() == set(self.names):
            start = tuple(start[name] for name in self.names)
        values = plain_tuple(start)
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

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.names)

    def numbers(self, value: Sequence[float]) -> Sequence[float]:
        shares: list[float] = (np.array(value) / np.sum(value)).tolist()
        return shares

    def setting(self, numbers: Sequence[float]) -> dict[str, float]:
        return dict(zip(self.parts, numbers, strict=True))

    @cached_property
    def axis(self) -> Axis:
        """The ends of the numbers, and their scale."""
        return Axis(0.0, 1.0, percent=True)
