"""A learner from a JSON object: {"learner": kind, "domain": {"kind": ...}, argument: value}."""

from __future__ import annotations

import inspect
import json
from typing import Any

from dikin.errors import DikinError, ParameterError, did_you_mean
from dikin.learners.base import LEARNERS, Learner
from dikin.loading import domain_from_spec

EXAMPLE = (
    '{"learner": "adaptivesmooth", "domain": {"kind": "box", "lower": [0, 0], "upper": [10, 2]}, '
    '"smoothness": 0.5, "loss_range": [0, 40], "seed": 7}'
)


def learner_from_text(text: str) -> Learner:
    """The learner that a JSON text describes, or an error that says how to describe one.

    >>> learner_from_text(EXAMPLE).domain
    Box(dim=2)
    """
    try:
        spec = json.loads(text)
    except (ValueError, RecursionError) as reason:
        raise ParameterError(
            f"a learner is described by a JSON object such as {EXAMPLE}, got {text!r} ({reason})"
        ) from reason
    if not isinstance(spec, dict) or not {"learner", "domain"} <= set(spec):
        raise ParameterError(
            f"a learner is described by a JSON object with learner and domain such as {EXAMPLE}, "
            f"got {text}"
        )
    cls = LEARNERS.find(_text(spec.pop("learner")))
    domain = domain_from_spec(spec.pop("domain"))
    _refuse_arguments(cls, spec)
    try:
        return cls(domain, **spec)
    except DikinError:
        raise
    except (TypeError, ValueError) as reason:
        raise ParameterError(f"no {cls.__name__} can be made of {spec}: {reason}") from reason


def _text(value: Any) -> str:
    return value.lower() if isinstance(value, str) else repr(value)


def _refuse_arguments(cls: type[Learner], given: dict[str, Any]) -> None:
    known = dict(list(inspect.signature(cls).parameters.items())[1:])  # after the domain
    for name in given:
        if name not in known:
            near = did_you_mean(name, known)
            raise ParameterError(f"{cls.__name__} has no argument {name!r}.{near}")
    for name, argument in known.items():
        if argument.default is argument.empty and name not in given:
            raise ParameterError(
                f"{cls.__name__} needs the argument {name!r}; it has: {', '.join(known)}"
            )
