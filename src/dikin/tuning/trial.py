"""A trial: a setting that a tuner asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import nan
from typing import Any

from dikin.errors import ParameterError, did_you_mean
from dikin.open_queries import Query
from dikin.tuning.circumstances import Values
from dikin.tuning.space import Params
from dikin.vectors import Array


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Trial(Query):
    """A setting to use; its value is then reported to the tuner.

    Parameters
    ----------
    id : int
        The number by which it is answered, unique within a tuner.
    params : dict
        The setting by name: a float, an int for an `Integer`, one of the values of `Levels` or a
        `Choice`, a dictionary for `Shares`.
    point : Array
        The same as a row of numbers, one for each of the tuner's `columns`.
    expected : float
        The value that the tuner expected of it when it was asked; NaN if it knew nothing.
    paused : bool
        True if it was asked during a pause. Nothing is learnt from it.
    covariates : dict
        The covariates that were known when it was asked, by name.
    context : dict
        The context that it was asked for, by name.
    held_back : bool
        True if it uses the control, for the comparison with it.
    """

    params: Params
    expected: float
    paused: bool
    covariates: Values
    context: Values
    held_back: bool

    def __init__(
        self,
        id: int,
        params: Params,
        point: Array,
        expected: float = nan,
        paused: bool = False,
        covariates: Values | None = None,
        context: Values | None = None,
        held_back: bool = False,
    ) -> None:
        Query.__init__(self, id, point)
        known = expected, paused, covariates or {}, context or {}, held_back
        for name, part in zip(Trial.__slots__, (params, *known), strict=True):
            object.__setattr__(self, name, part)

    @property
    def setting(self) -> Params:
        """The values by name."""
        return self.params

    def __contains__(self, name: object) -> bool:
        return name in self.params

    def __iter__(self) -> Iterator[str]:
        return iter(self.params)

    def __getitem__(self, name: str) -> Any:
        if name not in self.params:
            raise ParameterError(
                f"there is no parameter {name!r}.{did_you_mean(str(name), self.params)}"
            )
        return self.params[name]
