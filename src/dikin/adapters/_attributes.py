"""Attributes of a request in another system, as contexts and covariates of a tuner by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dikin.studies.study import Study
from dikin.tuning.tuner import Tuner


class AttributeNames:
    """The attributes that a tuner or study was declared with; others are not looked at."""

    def __init__(self, tuner: Tuner | Study) -> None:
        about = tuner.summary()
        self._contexts = set(about.contexts or ())
        self._covariates = set(about.covariates or ()) - self._contexts

    def asked_with(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of `ask` for the attributes of a request: context and covariates."""
        place = {name: attributes[name] for name in self._contexts & attributes.keys()}
        return {"context": place or None, **self.told_with(attributes)}

    def told_with(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of `tell` for what has come to be known of a request."""
        known = {name: attributes[name] for name in self._covariates & attributes.keys()}
        return {"covariates": known or None}
