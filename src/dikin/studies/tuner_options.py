"""Options of commands, and tuners: from options, `--param price=1:14:4`, or from a JSON object."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import click

from dikin.errors import DikinError, ParameterError, did_you_mean, shown
from dikin.serialization import read_json
from dikin.studies.operations import Operation, Schema
from dikin.tuning.circumstances import Cycle
from dikin.tuning.parameters.base import ParameterKind
from dikin.tuning.parameters.description import (
    parameter_from_spec,
    parameter_from_text,
    refusals_about,
)
from dikin.tuning.tuner import Tuner

TUNER_EXAMPLE = (
    '{"tuner": {"price": {"low": 1, "high": 14, "start": 4}}, "maximize": true, "seed": 7}'
)
WANTED = f"a tuner is described by a JSON object of parameters by name, such as {TUNER_EXAMPLE}"
CALLS = "\"NAME=Choice(['lz4', 'zstd'])\" or \"NAME=Shares(['old', 'new'])\""
RANGE = "NAME=LOW:HIGH[:START][:int][:log]"
COVARIATE = "NAME[=cycle:PERIOD|=WORD,WORD]"
CONTEXT = "NAME=WORD,WORD|cycle:PERIOD|LOW..HIGH"
VALUE = "NAME=VALUE"
TUNER_CALL = Operation(Tuner)

Reader = Callable[[str, str], Any]


class _Unreadable(Exception):  # noqa: N818 - never leaves this module
    """A text is not of the form that its option wants."""


# --- options from arguments ----------------------------------------------------------------------


def option(name: str, schema: Schema, form: str, read: Reader) -> click.Option:
    """Return the option for an argument. Values by name have a form and a reader."""
    given = next(each for each in (schema, *schema.get("anyOf", ())) if "type" in each)
    given = next((each for each in schema.get("anyOf", ()) if each["type"] == "array"), given)
    flag, words, kind = f"--{name}".replace("_", "-"), schema.get("description", ""), given["type"]
    several = flag.replace("parameters", "params").removesuffix("s")
    if kind == "boolean":
        return click.Option([flag, name], is_flag=True, help=words)
    if kind == "array" and given["items"]["type"] == "number":
        return click.Option([flag, name], type=float, nargs=2, help=words, metavar="LOW HIGH")
    if kind == "array":
        return click.Option([several, name], multiple=True, help=f"{words} May be repeated.")
    if kind == "object":
        return click.Option(
            [several, name],
            multiple=True,
            metavar=form,
            help=f"{words} May be repeated.",
            callback=lambda _, __, texts: by_name(several, texts, form, read),
        )
    types = {"integer": int, "number": float, "string": str}
    return click.Option([flag, name], type=types[kind], help=words)


def by_name(flag: str, texts: tuple[str, ...], form: str, read: Reader) -> dict[str, Any] | None:
    """Return the values of an option by name, as `read` reads each, or None for no text."""
    values: dict[str, Any] = {}
    for text in texts:
        name, equals, rest = (part.strip() for part in text.partition("="))
        if name in values:
            raise ParameterError(f"{flag} {text}: {name!r} is given twice")
        try:
            if not name or (not rest if equals else form != COVARIATE):
                raise _Unreadable
            values[name] = read(name, rest) if equals else None
        except _Unreadable:
            more = f" or {CALLS}" if form == RANGE else ""
            raise ParameterError(f"{flag} wants {form}{more}, got {text!r}") from None
    return values or None


def number_or_word(name: str, text: str) -> float | str:
    """Read `price=4` or `level=auto`."""
    try:
        return _number(name, text)
    except ParameterError:
        return text


def _number(what: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ParameterError(f"{what} must be a number, got {text!r}") from None
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


# --- the options of a tuner ----------------------------------------------------------------------


def parameter(name: str, text: str) -> ParameterKind:
    """Read `price=1:14:4`, with `:int` or `:log` at the end, or `size=Levels([16, 32])`."""
    if text.endswith(")"):
        return parameter_from_text(name, text)
    numbers, words = [part.strip() for part in text.split(":")], set[str]()
    while numbers[-1] in {"log", "int"} - words:
        words.add(numbers.pop())
    if not 2 <= len(numbers) <= 3:
        raise _Unreadable
    with refusals_about(name):
        ends = zip(("low", "high", "start"), numbers, strict=False)
        spec = {what: _number(what, number) for what, number in ends}
    kind = "integer" if "int" in words else "real"
    return parameter_from_spec(name, spec | {"kind": kind, "log": "log" in words})


def _kind(name: str, text: str) -> Cycle | list[str] | tuple[float, float]:
    """Read `region=eu,us`, `hour=cycle:24` or `load=0..1`."""
    low, dots, high = text.partition("..")
    if dots:
        return _number(f"the low end of {name}", low), _number(f"the high end of {name}", high)
    form, colon, period = text.partition(":")
    if colon and form.strip() == "cycle":
        return Cycle(_number(f"the period of {name}", period))
    words = [word.strip() for word in text.split(",")]
    if not all(words):
        raise _Unreadable
    return words


FORMS: dict[str, tuple[str, Reader]] = {
    "parameters": (RANGE, parameter),
    "context": (CONTEXT, _kind),
    "covariates": (COVARIATE, _kind),
}
"""Forms of arguments, and their readers; of all others `VALUE` and `number_or_word`."""


def tuner_options() -> Iterator[click.Option]:
    """Yield the options that describe a tuner."""
    for name, schema in TUNER_CALL.arguments.items():
        yield option(name, schema, *FORMS.get(name, (VALUE, number_or_word)))


def tuner_from_options(parameters: dict[str, ParameterKind] | None, **more: Any) -> Tuner | None:
    """Return the tuner that options describe, or None without options."""
    more = {n: x for n, x in more.items() if not any(x is each for each in (None, False, ()))}
    if parameters is not None:
        return Tuner(parameters, **more)
    if more:
        flags = ", ".join("--" + name.removesuffix("s").replace("_", "-") for name in more)
        raise ParameterError(f"{flags} needs --param {RANGE}; in a JSON object it is a key")
    return None


# --- JSON ----------------------------------------------------------------------------------------


def tuner_from_text(text: str) -> Tuner:
    """Return the tuner that a JSON text describes, or an error that says how to describe one.

    >>> tuner_from_text(TUNER_EXAMPLE)
    <Tuner maximize price, 0 rounds>
    """
    try:
        spec = read_json(text)
    except ValueError as reason:
        raise ParameterError(f"{WANTED}, got {shown(text)} ({reason})") from reason
    return tuner_from_spec(spec)


def tuner_from_spec(spec: Any) -> Tuner:
    """Return the tuner that a JSON object describes."""
    arguments = dict(spec) if isinstance(spec, dict) else {}
    entries = arguments.pop("tuner", None)
    if not isinstance(entries, dict):
        raise ParameterError(f"{WANTED}, got {shown(spec)}")
    parameters = {name: parameter_from_spec(name, each) for name, each in entries.items()}
    known = TUNER_CALL.arguments.keys() - {"parameters"}
    for name in arguments.keys() - known:
        raise ParameterError(f"Tuner has no argument {shown(name)}.{did_you_mean(name, known)}")
    try:
        return Tuner(parameters, **arguments)
    except DikinError:
        raise
    except (TypeError, ValueError) as reason:
        raise ParameterError(f"no Tuner can be built from {shown(arguments)}: {reason}") from reason
