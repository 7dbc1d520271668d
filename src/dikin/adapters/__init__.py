"""Interfaces of other systems, through which programs that know them use a tuner.

One module and one extra each: `openfeature` (feature flags), `gest_api` (generators for Xopt and
others), `optuna` (a sampler). Nothing else in the library imports them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from dikin.studies.study import Study
from dikin.tuning.limits import FAILED, read_limits
from dikin.tuning.tuner import Tuner

LINES, SECONDS = 10, 60.0
"""Number of warnings in a time: a request has at most one, and no disk is filled."""

logger = logging.getLogger("dikin")


class LogLimit:
    """Write some warnings, and count the others."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._since, self._written, self._left_out = clock, clock(), 0, 0

    def warn(self, text: str) -> None:
        """Write a warning, with the number of those left out before, or leave it out."""
        if self._clock() - self._since >= SECONDS:
            self._since, self._written = self._clock(), 0
        if self._written >= LINES:
            self._left_out += 1
            return
        passed = f" ({self._left_out} such lines before it were not written)"
        logger.warning("%s%s", text, passed if self._left_out else "")
        self._written, self._left_out = self._written + 1, 0


class AttributeNames:
    """The attributes that a tuner or study was declared with. Others are not looked at."""

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
