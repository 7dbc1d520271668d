"""A trial: a setting that a tuner asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import nan
from typing import Any

import numpy as np

from dikin.errors import ParameterError, StateError, did_you_mean, shown
from dikin.open_queries import Query
from dikin.serialization import count_of, number_or_nan
from dikin.tuning.circumstances import Values
from dikin.tuning.guarantee import Play
from dikin.tuning.space import Params, Space


@dataclass(frozen=True, slots=True, eq=False)
class Trial(Query):
    """A setting to use. Its value is then reported to the tuner.

    Parameters
    ----------
    id : int
        The number by which it is answered, unique within a tuner.
    point : Array
        The setting as a row of numbers, in the order of the tuner's `columns`.
    params : dict
        The setting by name: a float, an int for an `Integer`, one of the values of `Levels` or a
        `Choice`, a dictionary for `Shares`.
    expected : float
        The value that the tuner expected of it when it was asked, NaN before the first value.
    paused : bool
        True if it was asked during a pause. Nothing is learnt from it.
    covariates : dict
        The covariates that were known when it was asked, by name.
    context : dict
        The context that it was asked for, by name.
    held_back : bool
        True if it uses the control, for the comparison with it.
    expected_control : float
        The value that was expected of the control, NaN where nothing is compared.
    play : Play or None
        The draw, for the certificate.
    number : int
        Number of trials that were asked before it.
    """

    params: Params
    expected: float = nan
    paused: bool = False
    covariates: Values = field(default_factory=dict)
    context: Values = field(default_factory=dict)
    held_back: bool = False
    expected_control: float = field(default=nan, repr=False)
    play: Play | None = field(default=None, repr=False)
    number: int = field(default=0, repr=False)

    def __iter__(self) -> Iterator[str]:
        return iter(self.params)

    def __getitem__(self, name: str) -> Any:
        if name not in self.params:
            raise ParameterError(
                f"there is no parameter {name!r}.{did_you_mean(str(name), self.params)}"
            )
        return self.params[name]


def trial_of(space: Space, id: int, fact: Mapping[str, Any], number: int = 0) -> Trial:
    """Return the trial of its plain JSON values."""
    point, play = np.array(fact["point"], dtype=float), fact.get("play")
    if point.shape != (len(space.columns),) or not np.isfinite(point).all():
        raise StateError(f"the values of trial {id} cannot be {shown(fact['point'])}")
    point.setflags(write=False)
    return Trial(
        id,
        point,
        space.params(point),
        number_or_nan(fact["expected"]),
        bool(fact["paused"]),
        dict(fact["covariates"] or {}),
        dict(fact["context"] or {}),
        bool(fact["held_back"]),
        number_or_nan(fact.get("control")),
        play and Play.from_json(play),
        count_of(fact.get("number", number)),
    )
