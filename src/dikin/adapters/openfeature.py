"""A provider of OpenFeature: flags whose values a tuner chooses, and tracking that reports.

A flag is a parameter, and a targeting key a trial: all flags that are evaluated under one key come
from one trial, until that is tracked. No call raises an error, as the host must go on.
"""

from __future__ import annotations

from asyncio import to_thread
from copy import deepcopy
from threading import Lock
from typing import Any

from dikin import extras
from dikin.adapters import AttributeNames, LogLimit
from dikin.arguments import number, whole
from dikin.errors import (
    ContextError,
    ParameterError,
    QueryError,
    UnknownQueryError,
    did_you_mean,
    shown,
)
from dikin.studies.study import Study
from dikin.tuning.limits import FAILED
from dikin.tuning.parameters.base import ParameterKind
from dikin.tuning.trial import Trial
from dikin.tuning.tuner import Tuner

extras.require("openfeature", "openfeature", "dikin.adapters.openfeature")

from openfeature import exception
from openfeature.evaluation_context import EvaluationContext
from openfeature.flag_evaluation import FlagResolutionDetails, Reason
from openfeature.provider import AbstractProvider, Metadata
from openfeature.track import TrackingEventDetails

SETTING = "setting"
"""The key of the object flag with all parameters."""
TRIAL = "trial"
"""The name of a trial's id in the metadata of a flag and in the attributes of an event."""
TYPES: dict[type, set[type]] = {
    float: {float, int}, int: {int}, str: {str}, dict: {dict}, bool: {int},
}  # fmt: skip
"""The values that a flag of each type can have; a boolean flag has 0 and 1."""


def _resolvers(kind: type) -> tuple[Any, Any]:
    """Return what the SDK calls for flags of one type, and its form for `async` hosts."""

    def resolve(self: TunerProvider, *given: Any, **named: Any) -> FlagResolutionDetails[Any]:
        return self._resolve(kind, *given, **named)

    async def resolve_async(*given: Any, **named: Any) -> FlagResolutionDetails[Any]:
        # In a thread: a study waits for a disk or for a service, and the event loop must not.
        return await to_thread(resolve, *given, **named)

    return resolve, resolve_async


class TunerProvider(AbstractProvider):
    """Give OpenFeature flags the values of a tuner, and report what is tracked.

    Evaluate flags as usual, with a targeting key that identifies the request. Later `track` the
    event under the same key, with the value. An event that was tracked before, was never evaluated
    or has no finite value changes nothing, and is logged. Threads may share a provider.

    Contexts and covariates are attributes of the evaluation context. Later covariates and metrics
    with a limit are attributes of the event, and so is "failed", which is True where there is no
    value. Other attributes are not looked at.

    Parameters
    ----------
    tuner : Tuner or Study
        A tuner, or the study of one in a database or behind an address.
    event : str
        The name of the tracking event whose value is reported; other events are ignored.
    untracked : float, optional
        The value of a request that is never tracked, such as 0 where only sales are tracked.
        Without it such a request is forgotten.
    most_open : int, default 10000
        Number of keys that may wait for their event. Beyond it the oldest one counts as never
        tracked.

    Raises
    ------
    ParameterError
        If an argument is unusable.

    Examples
    --------
    >>> from dikin import Real, Tuner
    >>> from openfeature import api
    >>> from openfeature.evaluation_context import EvaluationContext
    >>> from openfeature.track import TrackingEventDetails
    >>> tuner = Tuner({"price": Real(1, 14, start=4)}, maximize=True, seed=7)
    >>> api.set_provider_and_wait(TunerProvider(tuner, "revenue"))
    >>> client, visit = api.get_client(), EvaluationContext("visit 1")
    >>> 1 <= client.get_float_value("price", 4.0, visit) <= 14
    True
    >>> client.track("revenue", visit, TrackingEventDetails(512.0))
    >>> tuner.rounds
    1
    >>> api.shutdown()
    """

    def __init__(
        self,
        tuner: Tuner | Study,
        event: str,
        *,
        untracked: float | None = None,
        most_open: int = 10_000,
    ) -> None:
        space = getattr(tuner, "space", None)
        if space is None:
            raise ParameterError(f"flags need a dikin.Tuner or a study of one, got {shown(tuner)}")
        self.tuner, self.event = tuner, event
        self.untracked = None if untracked is None else number(untracked, "untracked")
        self._names, self._log_limit = AttributeNames(tuner), LogLimit()
        self._flags = {SETTING: {dict}} | {k: _flag_types(p) for k, p in space.parameters.items()}
        self._most = whole(most_open, "most_open", 1, "the number of keys that may wait")
        self._open: dict[str, Trial] = {}
        """The open trial of each key, oldest first."""
        self._locks = [Lock() for _ in range(64)]
        """Those of keys by their hash: threads of one key share a trial, others need not wait."""

    def get_metadata(self) -> Metadata:
        return Metadata(name="dikin")

    resolve_boolean_details, resolve_boolean_details_async = _resolvers(bool)
    resolve_string_details, resolve_string_details_async = _resolvers(str)
    resolve_integer_details, resolve_integer_details_async = _resolvers(int)
    resolve_float_details, resolve_float_details_async = _resolvers(float)
    resolve_object_details, resolve_object_details_async = _resolvers(dict)

    def _resolve(
        self,
        kind: type,
        flag_key: str,
        default_value: Any,
        evaluation_context: EvaluationContext | None = None,
    ) -> FlagResolutionDetails[Any]:
        """Return the value of a parameter in the trial of the key; the default after an error."""
        try:
            types = self._flags.get(flag_key)
            if types is None:
                near = did_you_mean(flag_key, self._flags)
                raise exception.FlagNotFoundError(f"no parameter {flag_key!r}.{near}")
            if kind not in types:
                known = " or ".join(sorted(each.__name__ for each in types))
                raise exception.TypeMismatchError(
                    f"{flag_key!r} is a flag of type {known}, not {kind.__name__}"
                )
            trial = self._trial_of(_key_of(evaluation_context), evaluation_context)
            params = deepcopy(trial.params)  # the host may write into an object
            value = kind(params.get(flag_key, params))
        except Exception as error:  # a database that is down must not take the host with it
            code = getattr(error, "error_code", exception.ErrorCode.GENERAL)
            if isinstance(error, ContextError):
                code = exception.ErrorCode.INVALID_CONTEXT
            return FlagResolutionDetails(default_value, code, str(error), Reason.ERROR)
        metadata = {TRIAL: trial.id, "paused": trial.paused}
        return FlagResolutionDetails(value, reason=Reason.SPLIT, flag_metadata=metadata)

    def _lock_of(self, key: str) -> Lock:
        return self._locks[hash(key) % len(self._locks)]

    def _trial_of(self, key: str, context: Any) -> Trial:
        with self._lock_of(key):
            trial = self._open.get(key)
            if trial is not None:
                return trial
            asked: Trial = self.tuner.ask(**self._names.for_ask(context.attributes))
            self._open[key] = asked
        while len(self._open) > self._most:
            oldest = self._open.pop(next(iter(self._open)), None)
            try:
                if oldest is not None and self.untracked is None:
                    self.tuner.forget(oldest)
                elif oldest is not None:
                    self.tuner.tell(oldest, self.untracked)
            except Exception as error:
                self._log_limit.warn(f"a trial that was never tracked is still open: {error}")
        return asked

    def track(
        self,
        tracking_event_name: str,
        evaluation_context: EvaluationContext | None = None,
        tracking_event_details: TrackingEventDetails | None = None,
    ) -> None:
        """Report the value of an event for the trial of its targeting key; others are ignored.

        The attribute "trial", the id from a flag's metadata, answers that trial alone, with a study
        also one of another process.
        """
        if tracking_event_name == self.event:
            try:
                key = _key_of(evaluation_context)
                with self._lock_of(key):
                    self._tell(key, tracking_event_details or TrackingEventDetails())
            except Exception as error:  # the SDK catches nothing here
                self._log_limit.warn(f"the event {self.event!r} was not told: {error}")

    def _tell(self, key: str, details: TrackingEventDetails) -> None:
        trial: Any = self._open.get(key)
        id: Any = details.attributes.get(TRIAL)
        if id is None and trial is not None:
            id = trial.id
        elif id is None:
            raise UnknownQueryError(
                f"no trial is open under the key {shown(key)}: it was never evaluated, was already "
                "tracked, or has waited for too long"
            )
        failed = details.attributes.get(FAILED) is True
        value, known = None if failed else details.value, self._names.for_tell(details.attributes)
        is_closed = True
        try:
            self.tuner.tell(id, value, failed=failed, **known)
        except Exception as error:  # the right value may still come, unless it was told elsewhere
            is_closed = isinstance(error, QueryError)
            raise
        finally:
            if is_closed and trial is not None and id == trial.id:
                self._open.pop(key, None)


def _key_of(context: EvaluationContext | None) -> str:
    if context is None or not context.targeting_key:
        raise exception.TargetingKeyMissingError(
            "the evaluation context needs a targeting key that identifies the request"
        )
    return context.targeting_key


def _flag_types(parameter: ParameterKind) -> set[type]:
    """Return the types of flags that can have every value of a parameter."""
    axis, columns = parameter.axis, max(len(parameter.parts), 1)
    places = range(len(axis.labels)) if axis.labels else (axis.low, axis.high)
    values = [parameter.setting(columns * [float(place)]) for place in places]
    found = {type(value) for value in values}
    fitting = {kind for kind, known in TYPES.items() if found <= known}
    return fitting if values == [0, 1] else fitting - {bool}
