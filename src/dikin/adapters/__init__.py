"""Interfaces of other systems, each with an extra of its own, to a tuner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dikin.studies.study import Study
from dikin.tuning.limits import FAILED, read_limits
from dikin.tuning.tuner import Tuner


class AttributeNames:
    """The attributes that a tuner or study was declared with. Others are not read."""

    def __init__(self, tuner: Tuner | Study) -> None:
        about = tuner.summary()
        self._contexts = set(about.contexts or ())
        self._covariates = set(about.covariates or ()) - self._contexts
        self._metrics = {limit.metric for limit in read_limits(about.limits or ())} - {FAILED}

    def for_ask(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of `ask` among the attributes: context and covariates."""
        return _chosen(attributes, context=self._contexts, covariates=self._covariates)

    def for_tell(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of `tell` among the attributes: covariates and limited metrics."""
        return _chosen(attributes, metrics=self._metrics, covariates=self._covariates)


def _chosen(attributes: Mapping[str, Any], **names: set[str]) -> dict[str, Any]:
    return {
        argument: {name: attributes[name] for name in known & attributes.keys()} or None
        for argument, known in names.items()
    }
