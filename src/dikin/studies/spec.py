"""A learner or tuner from a JSON object.

A learner is {"learner": kind, "domain": {"kind": ...}, argument: value}, a tuner is
{"tuner": {name: {"low": ..., "high": ...}}, argument: value}.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from dikin.errors import DikinError, ParameterError, did_you_mean, shown
from dikin.learners.base import LEARNERS, Learner
from dikin.loading import domain_from_spec
from dikin.serialization import strict_json
from dikin.tuning.parameters.description import parameter_from_spec
from dikin.tuning.tuner import Tuner

T = TypeVar("T")

EXAMPLE = (
    '{"learner": "adaptivesmooth", "domain": {"kind": "box", "lower": [0, 0], "upper": [10, 2]}, '
    '"smoothness": 0.5, "loss_range": [0, 40], "seed": 7}'
)
TUNER_EXAMPLE = (
    '{"tuner": {"price": {"low": 1, "high": 14, "start": 4}}, "maximize": true, "seed": 7}'
)


def learner_from_text(text: str) -> Any:
    """The learner or tuner that a JSON text describes, or an error that says how to describe one.

    >>> learner_from_text(EXAMPLE).domain
    Box(dim=2)
    >>> learner_from_text(TUNER_EXAMPLE)
    <Tuner maximize price, 0 rounds>
    """
    try:
        spec = strict_json(text)
    except ValueError as reason:
        raise ParameterError(
            f"a learner is described by a JSON object such as {EXAMPLE}, a tuner by one such as "
            f"{TUNER_EXAMPLE}, got {shown(text)} ({reason})"
        ) from reason
    return learner_from_spec(spec)


def learner_from_spec(spec: Any) -> Any:
    """The learner or tuner that a JSON object describes."""
    if isinstance(spec, dict) and "tuner" in spec:
        return _tuner(dict(spec))
    if not isinstance(spec, dict) or not {"learner", "domain"} <= set(spec):
        raise ParameterError(
            f"a learner is described by a JSON object with learner and domain such as {EXAMPLE}, "
            f"a tuner by one with tuner such as {TUNER_EXAMPLE}, got {shown(spec)}"
        )
    spec = dict(spec)
    cls = LEARNERS.find(_text(spec.pop("learner")))
    domain = domain_from_spec(spec.pop("domain"))
    _refuse_arguments(cls, spec)
    return _build(cls, domain, spec)


def _tuner(spec: dict[str, Any]) -> Tuner:
    entries = spec.pop("tuner")
    if not isinstance(entries, dict):
        raise ParameterError(
            f"tuner must be an object of parameters by name, as in {TUNER_EXAMPLE}, got "
            f"{shown(entries)}"
        )
    parameters = {name: parameter_from_spec(name, each) for name, each in entries.items()}
    _refuse_arguments(Tuner, spec)
    return _build(Tuner, parameters, spec)


def _build(cls: Callable[..., T], first: Any, arguments: dict[str, Any]) -> T:
    try:
        return cls(first, **arguments)
    except DikinError:
        raise
    except (TypeError, ValueError) as reason:
        raise ParameterError(
            f"no {cls.__name__} can be built from {shown(arguments)}: {reason}"
        ) from reason


def _text(value: Any) -> str:
    return value.lower() if isinstance(value, str) else shown(value)


def _refuse_arguments(cls: type[Learner] | type[Tuner], arguments: dict[str, Any]) -> None:
    signature = dict(
        list(inspect.signature(cls).parameters.items())[1:]
    )  # without the domain or the parameters, which come first
    for name in arguments:
        if name not in signature:
            near = did_you_mean(name, signature)
            raise ParameterError(f"{cls.__name__} has no argument {shown(name)}.{near}")
    for name, argument in signature.items():
        if argument.default is argument.empty and name not in arguments:
            raise ParameterError(
                f"{cls.__name__} needs the argument {name!r}; it has: {', '.join(signature)}"
            )
