"""Interfaces of other systems, each with an extra of its own, to a tuner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dikin.studies.study import Study
from dikin.tuning.limits import FAILED, read_limits
from dikin.tuning.tuner import Tuner


class Attributes:
    """The attributes of another system that a tuner or study was declared with."""

    def __init__(self, tuner: Tuner | Study) -> None:
        about = tuner.summary()
        contexts = set(about.contexts or ())
        covariates = set(about.covariates or ()) - contexts
        metrics = {limit.metric for limit in read_limits(about.limits or ())} - {FAILED}
        self._names = {
            "ask": {"context": contexts, "covariates": covariates},
            "tell": {"metrics": metrics, "covariates": covariates},
        }

    def of(self, verb: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of `ask` or `tell` among the given attributes."""
        return {
            argument: {name: given[name] for name in known & given.keys()} or None
            for argument, known in self._names[verb].items()
        }
