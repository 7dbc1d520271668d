"""A generator of gest-api, the interface between optimizers and Xopt, libEnsemble and optimas.

VOCS names variables and an objective; `suggest` asks a tuner, `ingest` tells it. Points carry the
id of their trial, so that results may come late and in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, isfinite, nan
from typing import Any

import numpy as np

from dikin import extras
from dikin.arguments import LARGEST, as_float, number
from dikin.errors import ParameterError, few_of, shown
from dikin.tuning.parameters import Integer, Levels, Real
from dikin.tuning.parameters.base import ParameterKind
from dikin.tuning.tuner import Tuner

extras.require("gest_api", "gest", "dikin.adapters.gest_api")

from gest_api.generator import Generator
from gest_api.vocs import (
    VOCS,
    BoundsConstraint,
    ContextualVariable,
    ContinuousVariable,
    DiscreteVariable,
    LessThanConstraint,
    MaximizeObjective,
    MinimizeObjective,
)

ID = "_id"
"""Where gest-api keeps the id of a point."""
FAILED = "xopt_error"
"""What Xopt sets in a result whose evaluation failed."""


class TunerGenerator(Generator):  # type: ignore[misc]
    """Suggest points by a tuner: for an objective that is noisy, and drifts while it is improved.

    A continuous variable is a `Real`, or an `Integer` if its `dtype` is one of whole numbers; a
    discrete one is `Levels` in increasing order. Its `default_value` is where tuning begins. A
    contextual variable is a covariate, observed with the result. Points from elsewhere, without
    "_id", teach nothing. A failed evaluation is a failed trial; one whose objective or constraint
    is not finite is forgotten.

    Parameters
    ----------
    vocs : gest_api.vocs.VOCS
        With one objective to minimise or maximise. Its constraints become `limits`.
    **options
        Other arguments of `Tuner`: `seed`, `constraints` between variables and so on; `covariates`
        where a contextual variable is a `Cycle`.

    Attributes
    ----------
    tuner : Tuner
        Its `best` is the setting to keep.

    Raises
    ------
    ParameterError
        If there is something in the VOCS that a tuner cannot handle.

    Examples
    --------
    >>> from gest_api.vocs import VOCS
    >>> vocs = VOCS(variables={"current": [-2.0, 2.0]}, objectives={"loss": "MINIMIZE"})
    >>> generator = TunerGenerator(vocs, seed=7)
    >>> points = generator.suggest(2)
    >>> generator.ingest([point | {"loss": point["current"] ** 2} for point in points])
    >>> generator.tuner.rounds
    2
    """

    returns_id = True

    def __init__(self, vocs: VOCS, **options: Any) -> None:
        super().__init__(vocs)
        self.vocs = vocs
        every = vocs.variables.items()
        self._observed = [name for name, each in every if isinstance(each, ContextualVariable)]
        parameters = {k: _parameter(k, each) for k, each in every if k not in self._observed}
        ((self._objective, kind),) = vocs.objectives.items()
        self.tuner = Tuner(
            parameters,
            maximize=isinstance(kind, MaximizeObjective),
            limits=[text for item in vocs.constraints.items() for text in _limits(*item)],
            covariates=dict.fromkeys(self._observed, float) | options.pop("covariates", {}),
            **options,
        )

    def _validate_vocs(self, vocs: VOCS) -> None:
        kinds = tuple(type(each) for each in vocs.objectives.values())
        if kinds not in ((MinimizeObjective,), (MaximizeObjective,)):
            wanted = "a tuner needs one objective, MINIMIZE or MAXIMIZE"
            raise ParameterError(f"{wanted}, got {shown(dict(vocs.objectives))}")

    def suggest(self, num_points: int | None = None) -> list[dict[str, Any]]:
        constants = {name: each.value for name, each in self.vocs.constants.items()}
        trials = self.tuner.ask(n=1 if num_points is None else num_points)
        return [{**trial.params, **constants, ID: trial.id} for trial in trials]

    def ingest(self, results: Sequence[dict[str, Any]]) -> None:
        # All of them are learnt, or none if one is refused.
        found = [(_id_of(result), self._answer_in(result)) for result in results]
        ids = [id for id, _ in found if id is not None]
        waiting = [trial.id for trial in self.tuner.open_queries]
        if {*ids} - {*waiting} or len({*ids}) < len(ids):
            raise ParameterError(
                f"every {ID} must be that of a point that waits for its result, and come once; got "
                f"{few_of(ids)}, waiting are {few_of(waiting)}. Nothing was changed."
            )
        for id, answer in found:
            if id is not None and answer is not None:
                self.tuner.tell(id, **answer)
            elif id is not None:
                self.tuner.forget(id)

    def _answer_in(self, result: dict[str, Any]) -> dict[str, Any] | None:
        """Return the arguments of `tell` for a result; None where a number is not finite."""
        seen = {k: number(result[k], k) for k in self._observed if result.get(k) is not None}
        # A table writes NaN where nothing was observed.
        covariates = {name: value for name, value in seen.items() if abs(value) < LARGEST}
        if result.get(FAILED):
            return {"failed": True, "covariates": covariates}
        numbers = {}
        for name in (self._objective, *self.vocs.constraints):
            if name not in result:
                raise ParameterError(
                    f"a result must have the output {name!r}, got {shown(result)}. Nothing was "
                    "changed."
                )
            empty = result[name] is None
            numbers[name] = nan if empty else number(result[name], f"the output {name!r}")
        if not all(abs(each) < LARGEST for each in numbers.values()):  # also for NaN
            return None
        value = numbers.pop(self._objective)
        return {"value": value, "metrics": numbers, "covariates": covariates}


def _id_of(result: dict[str, Any]) -> int | None:
    """The id of a result; a table writes NaN where a row has none, and floats beside it."""
    id = as_float(result.get(ID))
    return int(id) if id is not None and isfinite(id) else None


def _limits(name: str, constraint: Any) -> list[str]:
    """Return the limits that a constraint stands for."""
    if isinstance(constraint, BoundsConstraint):
        low, high = constraint.range
        return [f"{name} >= {low!r}", f"{name} <= {high!r}"]
    sign = "<=" if isinstance(constraint, LessThanConstraint) else ">="
    return [f"{name} {sign} {constraint.value!r}"]


def _parameter(name: str, variable: Any) -> ParameterKind:
    """The parameter that a variable stands for."""
    start = variable.default_value
    try:
        if isinstance(variable, DiscreteVariable):
            levels = sorted(variable.values, key=lambda level: number(level, "a level"))
            return Levels(levels, start)
        if type(variable) is not ContinuousVariable:
            raise ParameterError(f"a tuner cannot choose a {type(variable).__name__}")
        low, high = variable.domain
        dtype = np.dtype(float if variable.dtype is None else variable.dtype)
        if dtype.shape or dtype.kind not in "fiu":
            raise ParameterError(f"a tuner plays single numbers, got dtype={variable.dtype!r}")
        if dtype.kind == "f":
            return Real(low, high, start)
        whole_start = int(start) if start is not None and start == int(start) else start
        return Integer(ceil(low), floor(high), whole_start)
    except ParameterError as reason:
        raise ParameterError(f"the variable {name!r}: {reason}") from reason
