"""Attributes of a request in another system, as contexts and covariates of a tuner by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dikin.studies.study import Study
from dikin.tuning.tuner import Tuner


class AttributeNames:
    """Which attributes a tuner wants to know; others are not looked at.

    Parameters
    ----------
    tuner : Tuner or Study
        With the contexts and covariates that it was declared with.
    """

    def __init__(self, tuner: Tuner | Study) -> None:
        about = tuner.summary()
        self._contexts = set(about.contexts or ())
        self._covariates = set(about.covariates or ()) - self._contexts

    def asked_with(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of `ask` for a request.

        Parameters
        ----------
        attributes : mapping
            What is known of it, by name.

        Returns
        -------
        dict
            Context and covariates; None for none.
        """
        place = {name: attributes[name] for name in self._contexts & attributes.keys()}
        return {"context": place or None, **self.told_with(attributes)}

    def told_with(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of `tell` for a request.

        Parameters
        ----------
        attributes : mapping
            What has come to be known of it, by name.

        Returns
        -------
        dict
            The covariates; None for none.
        """
        known = {name: attributes[name] for name in self._covariates & attributes.keys()}
        return {"covariates": known or None}
