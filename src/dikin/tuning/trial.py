"""A trial: a setting that a tuner asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan
from typing import Any

from dikin.errors import ParameterError, did_you_mean
from dikin.open_queries import Query
from dikin.tuning.circumstances import Values
from dikin.tuning.space import Params


@dataclass(frozen=True, slots=True, eq=False)
class Trial(Query):
    """A setting to use; its value is then reported to the tuner.

    Parameters
    ----------
    id : int
        The number by which it is answered, unique within a tuner.
    point : Array
        The setting as a row of numbers, one for each of the tuner's `columns`.
    params : dict
        The setting by name: a float, an int for an `Integer`, one of the values of `Levels` or a
        `Choice`, a dictionary for `Shares`.
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
    expected: float = nan
    paused: bool = False
    covariates: Values = field(default_factory=dict)
    context: Values = field(default_factory=dict)
    held_back: bool = False

    @property
    def setting(self) -> Params:
        """The values by name."""
        return self.params

    def __getitem__(self, name: str) -> Any:
        if name not in self.params:
            raise ParameterError(
                f"there is no parameter {name!r}.{did_you_mean(str(name), self.params)}"
            )
        return self.params[name]
