"""Attributes of a request in another system, as contexts, covariates and metrics of a tuner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dikin.studies.study import Study
from dikin.tuning.limits import FAILED, read_limits
from dikin.tuning.tuner import Tuner


class AttributeNames:
    """The attributes that a tuner or study was declared with; others are not looked at."""

    def __init__(self, tuner: Tuner | Study) -> None:
        about = tuner.summary()
        self._contexts = set(about.contexts or ())
        self._covariates = set(about.covariates or ()) - self._contexts
        self._metrics = {limit.metric for limit in read_limits(about.limits or ())} - {FAILED}

    def asked_with(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of `ask` for the attributes of a request: context and covariates."""
        place = {name: attributes[name] for name in self._contexts & attributes.keys()}
        return {"context": place or None, **self._known(attributes)}

    def told_with(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of `tell` that came with a value: covariates and limited metrics."""
        metrics = {name: attributes[name] for name in self._metrics & attributes.keys()}
        return {"metrics": metrics or None, **self._known(attributes)}

    def _known(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        known = {name: attributes[name] for name in self._covariates & attributes.keys()}
        return {"covariates": known or None}
