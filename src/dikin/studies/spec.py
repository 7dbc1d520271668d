"""A tuner from a JSON object: {"tuner": {name: {"low": ..., "high": ...}}, argument: value}."""

from __future__ import annotations

import inspect
from typing import Any

from dikin.errors import DikinError, ParameterError, did_you_mean, shown
from dikin.serialization import strict_json
from dikin.tuning.parameters.description import parameter_from_spec
from dikin.tuning.tuner import Tuner

TUNER_EXAMPLE = (
    '{"tuner": {"price": {"low": 1, "high": 14, "start": 4}}, "maximize": true, "seed": 7}'
)


def tuner_from_text(text: str) -> Tuner:
    """The tuner that a JSON text describes, or an error that says how to describe one.

    >>> tuner_from_text(TUNER_EXAMPLE)
    <Tuner maximize price, 0 rounds>
    """
    try:
        spec = strict_json(text)
    except ValueError as reason:
        raise ParameterError(
            f"a tuner is described by a JSON object such as {TUNER_EXAMPLE}, got {shown(text)} "
            f"({reason})"
        ) from reason
    return tuner_from_spec(spec)


def tuner_from_spec(spec: Any) -> Tuner:
    """The tuner that a JSON object describes."""
    if not isinstance(spec, dict) or "tuner" not in spec:
        raise ParameterError(
            f"a tuner is described by a JSON object with the key 'tuner', such as {TUNER_EXAMPLE}, "
            f"got {shown(spec)}"
        )
    arguments = dict(spec)
    entries = arguments.pop("tuner")
    if not isinstance(entries, dict):
        raise ParameterError(
            f"tuner must be an object of parameters by name, as in {TUNER_EXAMPLE}, got "
            f"{shown(entries)}"
        )
    parameters = {name: parameter_from_spec(name, each) for name, each in entries.items()}
    known = list(inspect.signature(Tuner).parameters)[1:]  # without the parameters
    for name in arguments:
        if name not in known:
            near = did_you_mean(name, known)
            raise ParameterError(f"Tuner has no argument {shown(name)}.{near}")
    try:
        return Tuner(parameters, **arguments)
    except DikinError:
        raise
    except (TypeError, ValueError) as reason:
        raise ParameterError(f"no Tuner can be built from {shown(arguments)}: {reason}") from reason
