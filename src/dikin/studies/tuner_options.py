"""A tuner from text: options of the command line, `--param price=1:14:4`, or a JSON object."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import click

from dikin.errors import DikinError, ParameterError, did_you_mean, shown
from dikin.serialization import strict_json
from dikin.tuning.cycle import Cycle
from dikin.tuning.parameters.base import ParameterKind
from dikin.tuning.parameters.description import (
    parameter_from_spec,
    parameter_from_text,
    refusals_about,
)
from dikin.tuning.tuner import Tuner

F = TypeVar("F", bound=Callable[..., Any])

TUNER_EXAMPLE = (
    '{"tuner": {"price": {"low": 1, "high": 14, "start": 4}}, "maximize": true, "seed": 7}'
)
RANGE = "NAME=LOW:HIGH[:START][:int][:log]"
CALLS = "\"NAME=Choice(['lz4', 'zstd'])\" or \"NAME=Shares(['old', 'new'])\""
RANGE_OR_CALL = f"{RANGE} or {CALLS}"
VALUE = "NAME=VALUE, such as price=4"
COVARIATE = "NAME[=cycle:PERIOD|=WORD,WORD]"
CONTEXT = "NAME=WORD,WORD|cycle:PERIOD|LOW..HIGH"


def _many(flag: str, name: str, metavar: str, help: str) -> Any:
    """Return an option that may be repeated."""
    return click.option(flag, name, multiple=True, metavar=metavar, help=f"{help} May be repeated.")


_OPTIONS = (
    _many(
        "--param",
        "params",
        RANGE,
        "A number to tune: its bounds, its current value, int for whole numbers, log for a search "
        f"in the logarithm. Any other kind as in Python: {CALLS}.",
    ),
    _many(
        "--constraint",
        "constraints",
        "TEXT",
        'A linear constraint on numbers: "ads + 3*staff <= 100".',
    ),
    _many(
        "--limit",
        "limits",
        "TEXT",
        'A limit on a metric that is reported with the value, "p99_ms <= 200", or on the share of '
        'trials that fail, "failed <= 0.01".',
    ),
    click.option("--maximize", is_flag=True, help="Larger values are better."),
    click.option(
        "--value-range",
        type=float,
        nargs=2,
        metavar="LOW HIGH",
        help="The least and the largest possible value. Default: found as values come.",
    ),
    _many(
        "--covariate",
        "covariates",
        COVARIATE,
        "The kind of something that explains values besides the setting: a cycle, such as "
        "hour=cycle:24, a category by its words, or a number. Needed for a cycle alone.",
    ),
    _many(
        "--context",
        "contexts",
        CONTEXT,
        "What the setting may depend on: one of some words, as region=eu,us, a cycle, as "
        "hour=cycle:24, or a number, as load=0..1.",
    ),
    click.option(
        "--holdback",
        type=float,
        help="The share of rounds at the control, to say what tuning gains; 0.05 is usual. "
        "Default: none.",
    ),
    _many(
        "--control",
        "controls",
        "NAME=VALUE",
        "What the control sets a parameter to. Default: its current value.",
    ),
    click.option(
        "--guard",
        type=float,
        help="Use the control as soon as tuned rounds are surely worse by more than this share, "
        "such as 0.02, until somebody resumes. Needs --holdback.",
    ),
    click.option("--seed", type=click.IntRange(0), help="Of all randomness. Default: a fresh one."),
)


def tuner_options(command: F) -> F:
    """The options that describe a tuner."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def tuner_from_options(
    params: tuple[str, ...],
    covariates: tuple[str, ...] = (),
    contexts: tuple[str, ...] = (),
    controls: tuple[str, ...] = (),
    holdback: float | None = None,
    **more: Any,
) -> Tuner | None:
    """The tuner that options describe; None if there are none.

    >>> tuner_from_options(("price=1:14:4", "level=1:9:6:int"), maximize=True).best
    {'price': 4.0, 'level': 6}
    """
    if not params:
        named = {"covariates": covariates, "contexts": contexts, "controls": controls}
        _refuse_alone({"holdback": holdback} | more | named)
        return None
    return Tuner(
        by_name("--param", params, RANGE_OR_CALL, _parameter) or {},
        covariates=by_name("--covariate", covariates, COVARIATE, _covariate),
        context=by_name("--context", contexts, CONTEXT, _context),
        holdback=holdback or 0.0,
        control=by_name("--control", controls, VALUE, number_or_word),
        **more,
    )


def by_name(
    option: str, texts: tuple[str, ...], form: str, read: Callable[[str, str | None], Any]
) -> dict[str, Any] | None:
    """Return what the texts of an option say, by name, as `read` reads each; None for no text."""
    values: dict[str, Any] = {}
    for text in texts:
        name, equals, rest = (part.strip() for part in text.partition("="))
        if name in values:
            raise ParameterError(f"{option} {text}: {name!r} is given twice")
        try:
            if not name or (equals and not rest):
                raise _Unreadable
            values[name] = read(name, rest if equals else None)
        except _Unreadable:
            raise ParameterError(f"{option} wants {form}, got {text!r}") from None
    return values or None


class _Unreadable(Exception):  # noqa: N818 - never leaves this module
    """A text is not of the form that its option wants."""


def number_or_word(name: str, text: str | None) -> float | str:
    """`price=4` or `level=auto`."""
    if text is None:
        raise _Unreadable
    try:
        return _number(name, text)
    except ParameterError:
        return text


def _covariate(name: str, text: str | None) -> Cycle | list[str] | None:
    """`hour=cycle:24`, `kind=batch,web` or `load`."""
    return None if text is None else _cycle(name, text) or _words(text)


def _words(text: str) -> list[str]:
    words = [word.strip() for word in text.split(",")]
    if not all(words):
        raise _Unreadable
    return words


def _cycle(name: str, text: str) -> Cycle | None:
    """`cycle:24`."""
    form, colon, period = text.partition(":")
    if not colon or form.strip() != "cycle":
        return None
    return Cycle(_number(f"the period of {name}", period))


def _context(name: str, text: str | None) -> Any:
    """`region=eu,us`, `hour=cycle:24` or `load=0..1`."""
    if text is None:
        raise _Unreadable
    low, dots, high = text.partition("..")
    if dots:
        return _number(f"the low end of {name}", low), _number(f"the high end of {name}", high)
    return _cycle(name, text) or _words(text)


def _refuse_alone(more: dict[str, Any]) -> None:
    """Refuse further options of a tuner if no parameter is given."""
    absent = (None, False, ())
    names = [name for name, value in more.items() if not any(value is each for each in absent)]
    if names:
        options = ", ".join("--" + name.removesuffix("s").replace("_", "-") for name in names)
        raise ParameterError(f"{options} needs --param {RANGE}; in a JSON object it is a key")


def _parameter(name: str, text: str | None) -> ParameterKind:
    """`price=1:14:4`, with `:int` or `:log` at the end, or a call as in `size=Levels([16, 32])`."""
    if text is None:
        raise _Unreadable
    if text.endswith(")"):
        return parameter_from_text(name, text)
    numbers, words = [part.strip() for part in text.split(":")], set[str]()
    while numbers[-1] in {"log", "int"} - words:
        words.add(numbers.pop())
    if not 2 <= len(numbers) <= 3:
        raise _Unreadable
    with refusals_about(name):
        spec = {
            what: _number(what, number)
            for what, number in zip(("low", "high", "start"), numbers, strict=False)
        }
    kind = "integer" if "int" in words else "real"
    return parameter_from_spec(name, spec | {"kind": kind, "log": "log" in words})


def _number(what: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ParameterError(f"{what} must be a number, got {text!r}") from None
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


# --- JSON ----------------------------------------------------------------------------------------


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
