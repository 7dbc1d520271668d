"""Parameters as people write them: Python objects, JSON objects, constructors' calls as a text."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from dikin.errors import ParameterError, did_you_mean, shown
from dikin.tuning.circumstances import refuse_name
from dikin.tuning.parameters.base import PARAMETER_KINDS, ParameterKind, arguments_of

EXAMPLE = '{"kind": "real", "low": 1, "high": 14, "start": 4}'


def check_parameters(parameters: Any) -> dict[str, ParameterKind]:
    """Return the parameters by name, or raise an error that names the unusable one."""
    if not isinstance(parameters, Mapping) or not parameters:
        raise ParameterError(
            "parameters must be a dictionary of one or more names such as {'price': dikin.Real(1, "
            f"14, start=4)}}, got {shown(parameters)}"
        )
    for name, parameter in parameters.items():
        refuse_name("parameter", name, ParameterError)
        if not isinstance(parameter, ParameterKind):
            values = shown(parameter) if isinstance(parameter, tuple | list) else "[...]"
            advice = f"For one of several values use dikin.Choice({values})."
            if values != "[...]" and len(parameter) == 2 and not isinstance(parameter[0], str):
                advice = f"Did you mean dikin.Real({shown(parameter[0])}, {shown(parameter[1])})?"
            raise ParameterError(
                f"{name}: wanted dikin.Real(low, high) or another parameter ({_kinds()}), got "
                f"{shown(parameter)}. {advice}"
            )
    return dict(parameters)


def _kinds() -> str:
    return ", ".join(cls.__name__ for cls in PARAMETER_KINDS.every().values())


def parameter_from_spec(name: str, spec: Any) -> ParameterKind:
    """Return the parameter that a JSON object describes, as `ParameterKind.spec` gives it."""
    if not isinstance(spec, Mapping):
        raise ParameterError(
            f"{name}: a parameter is an object such as {EXAMPLE}, got {shown(spec)}. The kinds are "
            f"{_kinds().lower()}"
        )
    arguments = dict(spec)
    kind = arguments.pop("kind", "shares" if "names" in arguments else "real")
    with refusals_about(name):
        cls = PARAMETER_KINDS.find(kind if isinstance(kind, str) else shown(kind))
        known = arguments_of(cls)
        for word in arguments:
            if word not in known:
                near = did_you_mean(str(word), known)
                raise ParameterError(f"{shown(word)} is not known.{near}")
        required = [word for word, default in known.items() if default is inspect.Parameter.empty]
        missing = [word for word in required if word not in arguments]
        if missing:
            raise ParameterError(f"{' and '.join(missing)} missing, got {shown(arguments)}")
        return cls(**arguments)


def parameter_from_text(name: str, text: str) -> ParameterKind:
    """Return the parameter of a constructor's call with literals as arguments.

    >>> parameter_from_text("batch", "Levels([16, 32, 64], start=32)")
    Levels(values=(16, 32, 64), start=32)
    """
    with refusals_about(name):
        try:
            match ast.parse(text.strip().removeprefix("dikin."), mode="eval").body:
                case ast.Call(func=ast.Name(id=kind), args=first, keywords=named):
                    arguments = [ast.literal_eval(each) for each in first]
                    more: Any = {each.arg: ast.literal_eval(each.value) for each in named}
                    return PARAMETER_KINDS.find(kind.lower())(*arguments, **more)
        except (SyntaxError, RecursionError, MemoryError):
            pass
        raise ParameterError(
            f"wanted a call such as Levels([16, 32, 64], start=32), got {shown(text)}"
        )


@contextmanager
def refusals_about(name: str) -> Iterator[None]:
    """Prefix a refusal with the name of the parameter."""
    try:
        yield
    except (TypeError, ValueError) as refused:
        raise ParameterError(f"{name}: {refused}") from None
