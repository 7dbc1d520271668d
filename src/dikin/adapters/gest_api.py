from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, nan
from typing import Any

import numpy as np

from dikin import extras
from dikin.arguments import LARGEST, number
from dikin.errors import ParameterError, few_of, shown
from dikin.tuning.parameters import Integer, Levels, Real
from dikin.tuning.parameters.base import ParameterKind
from dikin.tuning.tuner import Tuner

extras.require("gest_api", "gest", "dikin.adapters.gest_api")

from gest_api import vocs as kinds
from gest_api.generator import Generator

ID = "_id"
"""The key under which gest-api keeps the id of a point."""
FAILED = "xopt_error"
"""The key that Xopt sets in a result whose evaluation failed."""


class TunerGenerator(Generator):  # type: ignore[misc]
    """Suggest points by a tuner: for an objective that is noisy, and drifts while it is improved.

    A continuous variable is a `Real`, or an `Integer` if its `dtype` is an integer type. A discrete
    variable is `Levels` in increasing order. Its `default_value` is where tuning begins. A
    contextual variable is a covariate, observed with the result. Results may come late and in any
    order, and those without "_id" are ignored. A failed evaluation is a failed trial. A result
    whose objective or constraint is not finite is forgotten.

    Parameters
    ----------
    vocs : gest_api.vocs.VOCS
        With one objective to minimise or maximise. Its constraints become `limits`.
    **options
        Other arguments of `Tuner`, such as `seed`, `constraints` between variables, or `covariates`
        where a contextual variable is a `Cycle`.

    Attributes
    ----------
    tuner : Tuner
        Its `best` is the setting to keep.
    """

    returns_id = True

    def __init__(self, vocs: kinds.VOCS, **options: Any) -> None:
        super().__init__(vocs)
        self.vocs = vocs
        ((self._objective, kind),) = vocs.objectives.items()
        asked = dict(vocs.variables)
        seen = [name for name, each in asked.items() if isinstance(each, kinds.ContextualVariable)]
        self._observed = {name: asked.pop(name) for name in seen}
        self.tuner = Tuner(
            {name: _parameter(name, each) for name, each in asked.items()},
            maximize=isinstance(kind, kinds.MaximizeObjective),
            limits=[text for item in vocs.constraints.items() for text in _limits(*item)],
            covariates=dict.fromkeys(self._observed, float) | options.pop("covariates", {}),
            **options,
        )

    def _validate_vocs(self, vocs: kinds.VOCS) -> None:
        found = [type(each) for each in vocs.objectives.values()]
        if found not in ([kinds.MinimizeObjective], [kinds.MaximizeObjective]):
            wanted = "a tuner needs one objective, MINIMIZE or MAXIMIZE"
            raise ParameterError(f"{wanted}, got {shown(dict(vocs.objectives))}")

    def suggest(self, num_points: int | None = None) -> list[dict[str, Any]]:
        constants = {name: each.value for name, each in self.vocs.constants.items()}
        trials = self.tuner.ask(n=1 if num_points is None else num_points)
        return [{**trial.params, **constants, ID: trial.id} for trial in trials]

    def ingest(self, results: Sequence[dict[str, Any]]) -> None:
        waiting = {trial.id for trial in self.tuner.open_queries}
        answers = {}
        for result in results:
            id = result.get(ID)
            if id is None or id != id:  # a table writes NaN, which differs from itself
                continue
            if id not in waiting:
                raise ParameterError(
                    f"every {ID} must be that of a point that waits for its result, and come once; "
                    f"got {shown(id)}, waiting are {few_of(waiting)}. Nothing was changed."
                )
            waiting.remove(id)
            answers[int(id)] = self._answer(result)
        for id, answer in answers.items():
            if answer is None:
                self.tuner.forget(id)
            else:
                self.tuner.tell(id, **answer)

    def _answer(self, result: dict[str, Any]) -> dict[str, Any] | None:
        """Return the arguments of `tell` for a result, or None if a number is not finite."""
        seen = {name: _number(result, name) for name in self._observed if name in result}
        covariates = {name: value for name, value in seen.items() if abs(value) < LARGEST}
        if result.get(FAILED):
            return {"failed": True, "covariates": covariates}
        metrics = {
            name: _number(result, name) for name in (self._objective, *self.vocs.constraints)
        }
        if not all(abs(each) < LARGEST for each in metrics.values()):  # NaN included
            return None
        value = metrics.pop(self._objective)
        return {"value": value, "metrics": metrics, "covariates": covariates}


def _number(result: dict[str, Any], name: str) -> float:
    if name not in result:
        raise ParameterError(
            f"a result must have the output {name!r}, got {shown(result)}. Nothing was changed."
        )
    return nan if result[name] is None else number(result[name], f"the output {name!r}")


def _limits(name: str, constraint: Any) -> list[str]:
    if isinstance(constraint, kinds.BoundsConstraint):
        low, high = constraint.range
        return [f"{name} >= {low!r}", f"{name} <= {high!r}"]
    sign = "<=" if isinstance(constraint, kinds.LessThanConstraint) else ">="
    return [f"{name} {sign} {constraint.value!r}"]


def _parameter(name: str, variable: Any) -> ParameterKind:
    start = variable.default_value
    try:
        if isinstance(variable, kinds.DiscreteVariable):
            levels = sorted(variable.values, key=lambda level: number(level, "a level"))
            return Levels(levels, start)
        if type(variable) is not kinds.ContinuousVariable:
            raise ParameterError(f"a tuner cannot choose a {type(variable).__name__}")
        (low, high), kind = variable.domain, np.dtype(variable.dtype or float).kind
        if kind == "f":
            return Real(low, high, start)
        if kind not in "iu":
            raise ParameterError(f"a tuner chooses single numbers, got dtype={variable.dtype!r}")
        is_whole = start is not None and start == int(start)
        return Integer(ceil(low), floor(high), int(start) if is_whole else start)
    except ParameterError as reason:
        raise ParameterError(f"the variable {name!r}: {reason}") from reason
