from __future__ import annotations

import logging
from copy import deepcopy
from functools import partialmethod
from threading import Lock
from typing import Any

from dikin import extras
from dikin.adapters import Attributes
from dikin.arguments import number
from dikin.errors import ContextError, DikinError, ParameterError, QueryError, did_you_mean, shown
from dikin.studies.study import Study
from dikin.tuning.limits import FAILED
from dikin.tuning.trial import Trial
from dikin.tuning.tuner import Tuner

extras.require("openfeature", "openfeature", "dikin.adapters.openfeature")

from openfeature import exception
from openfeature.evaluation_context import EvaluationContext
from openfeature.flag_evaluation import FlagResolutionDetails, Reason
from openfeature.provider import AbstractProvider, Metadata
from openfeature.track import TrackingEventDetails

SETTING = "setting"
"""Key of the object flag with all parameters."""
TRIAL = "trial"
"""Name of a trial's id in the metadata of a flag and in the attributes of an event."""
MOST_OPEN = 10_000
"""Keys that may wait for their event. Beyond it the oldest one counts as never tracked."""
logger = logging.getLogger("dikin")


class TunerProvider(AbstractProvider):
    """Give OpenFeature flags the values of a tuner, and report the values that are tracked.

    A flag is a parameter. All flags that are evaluated under a targeting key come from one trial,
    until the event is tracked under this key, with its value. An event that was tracked before, was
    never evaluated or lacks a finite value changes nothing, and is logged. Threads may share a
    provider.

    Contexts and covariates are attributes of the evaluation context. Later covariates and metrics
    with a limit are attributes of the event, and so is "failed", which replaces the value. Other
    attributes are not read.

    Parameters
    ----------
    tuner : Tuner or Study
        A tuner, or the study of one in a database or behind an address.
    event : str
        The name of the tracking event whose value is reported. Other events are ignored.
    untracked : float, optional
        The value of a request that is never tracked, such as 0 where only sales are tracked.
        Without it such a request is forgotten. At most 10,000 keys wait for their event. Beyond
        it the oldest one counts as never tracked.
    """

    def __init__(self, tuner: Tuner | Study, event: str, *, untracked: float | None = None) -> None:
        space = getattr(tuner, "space", None)
        if space is None:
            raise ParameterError(f"flags need a dikin.Tuner or a study of one, got {shown(tuner)}")
        self.tuner, self.event = tuner, event
        self.untracked = None if untracked is None else number(untracked, "untracked")
        self._attributes, self._flags = Attributes(tuner), {SETTING, *space.parameters}
        self._open: dict[str, Trial] = {}
        """The open trial of each key, oldest first."""
        self._lock = Lock()
        """For the trials by key. It is not held while the tuner asks or learns."""

    def get_metadata(self) -> Metadata:
        return Metadata(name="dikin")

    def _resolve(
        self,
        kind: type,
        flag_key: str,
        default_value: Any,
        evaluation_context: EvaluationContext | None = None,
    ) -> FlagResolutionDetails[Any]:
        if flag_key not in self._flags:
            near = did_you_mean(flag_key, self._flags)
            raise exception.FlagNotFoundError(f"no parameter {flag_key!r}.{near}")
        try:  # the SDK answers these with the default, and others with a traceback in the log
            trial = self._trial_of(_key_of(evaluation_context), evaluation_context)
        except ContextError as error:
            raise exception.InvalidContextError(str(error)) from error
        except DikinError as error:
            raise exception.GeneralError(str(error)) from error
        value = deepcopy(trial.params.get(flag_key, trial.params))  # the host may write into it
        if (kind is float and isinstance(value, int)) or (kind is bool and value in (0, 1)):
            value = kind(value)
        if not isinstance(value, kind):
            raise exception.TypeMismatchError(
                f"{shown(value)} is no value of a {kind.__name__} flag"
            )
        metadata = {TRIAL: trial.id, "paused": trial.paused}
        return FlagResolutionDetails(value, reason=Reason.SPLIT, flag_metadata=metadata)

    resolve_boolean_details = partialmethod(_resolve, bool)
    resolve_string_details = partialmethod(_resolve, str)
    resolve_integer_details = partialmethod(_resolve, int)
    resolve_float_details = partialmethod(_resolve, float)
    resolve_object_details = partialmethod(_resolve, dict)

    def _trial_of(self, key: str, context: Any) -> Trial:
        trial = self._open.get(key)
        if trial is not None:
            return trial
        asked: Trial = self.tuner.ask(**self._attributes.of("ask", context.attributes))
        with self._lock:
            trial = self._open.setdefault(key, asked)
            crowded = len(self._open) > MOST_OPEN
            expired = self._open.pop(next(iter(self._open))) if crowded else None
        if trial is not asked:  # another thread of this key was faster
            self.tuner.forget(asked)
        try:
            if expired is not None and self.untracked is None:
                self.tuner.forget(expired)
            elif expired is not None:
                self.tuner.tell(expired, self.untracked)
        except DikinError as error:
            logger.warning("a trial that was never tracked is still open: %s", error)
        return trial

    def track(
        self,
        tracking_event_name: str,
        evaluation_context: EvaluationContext | None = None,
        tracking_event_details: TrackingEventDetails | None = None,
    ) -> None:
        """Report the value of an event for the trial of its targeting key. Others are ignored.

        The attribute "trial", the id from a flag's metadata, answers that trial alone. With a study
        it may be a trial of another process.
        """
        if tracking_event_name != self.event:
            return
        details = tracking_event_details or TrackingEventDetails()
        known: Any = details.attributes
        key = id = None
        try:  # the SDK catches nothing here
            key = _key_of(evaluation_context)
            id = known.get(TRIAL, getattr(self._open.get(key), "id", None))
            if id is None:
                raise ParameterError(
                    f"no trial is open under the key {shown(key)}: it was never evaluated, was "
                    "already tracked, or has waited for too long"
                )
            failed = known.get(FAILED) is True
            value = None if failed else details.value
            self.tuner.tell(id, value, failed=failed, **self._attributes.of("tell", known))
        except Exception as error:
            logger.warning("the event %r was not reported: %s", self.event, error)
            if not isinstance(error, QueryError):  # another client has answered
                return
        with self._lock:
            if key in self._open and self._open[key].id == id:
                del self._open[key]


def _key_of(context: EvaluationContext | None) -> str:
    if context is None or not context.targeting_key:
        raise exception.TargetingKeyMissingError(
            "the evaluation context needs a targeting key that identifies the request"
        )
    return context.targeting_key
