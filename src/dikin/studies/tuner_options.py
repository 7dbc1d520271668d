"""Options of commands, and tuners from options: `--param price=1:14:4`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import click

from dikin.errors import ParameterError
from dikin.studies.operations import Operation, Schema
from dikin.tuning.circumstances import Cycle
from dikin.tuning.parameters.base import ParameterKind
from dikin.tuning.parameters.description import (
    parameter_from_spec,
    parameter_from_text,
    refusals_about,
)
from dikin.tuning.tuner import Tuner

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


def tuner_from_options(parameters: dict[str, ParameterKind] | None, **more: Any) -> Tuner:
    """Return the tuner that options describe."""
    if parameters is None:
        raise ParameterError(f"a tuner needs its parameters, each as --param {RANGE}")
    given = {n: x for n, x in more.items() if not any(x is each for each in (None, False, ()))}
    return Tuner(parameters, **given)
