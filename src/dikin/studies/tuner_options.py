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
COVARIATE = "NAME[=cycle:PERIOD|=WORD,WORD]"
CONTEXT = "NAME=WORD,WORD|cycle:PERIOD|LOW..HIGH"

_OPTIONS = (
    click.option(
        "--param",
        "params",
        multiple=True,
        metavar=RANGE,
        help="A number to tune: its bounds, its current value, int for whole numbers, log for a "
        f"search in the logarithm. Any other kind as in Python: {CALLS}. May be repeated.",
    ),
    click.option(
        "--constraint",
        "constraints",
        multiple=True,
        metavar="TEXT",
        help='A linear constraint on numbers: "ads + 3*staff <= 100". May be repeated.',
    ),
    click.option(
        "--limit",
        "limits",
        multiple=True,
        metavar="TEXT",
        help='A limit on a metric that is reported with the value, "p99_ms <= 200", or on the '
        'share of trials that fail, "failed <= 0.01". May be repeated.',
    ),
    click.option("--maximize", is_flag=True, help="Larger values are better."),
    click.option(
        "--value-range",
        type=float,
        nargs=2,
        metavar="LOW HIGH",
        help="The least and the largest possible value. Default: found as values come.",
    ),
    click.option(
        "--covariate",
        "covariates",
        multiple=True,
        metavar=COVARIATE,
        help="The kind of something that explains values besides the setting: a cycle, such as "
        "hour=cycle:24, a category by its words, or a number. Needed for a cycle alone. May be "
        "repeated.",
    ),
    click.option(
        "--context",
        "contexts",
        multiple=True,
        metavar=CONTEXT,
        help="What the setting may depend on: one of some words, as region=eu,us, a cycle, as "
        "hour=cycle:24, or a number, as load=0..1. May be repeated.",
    ),
    click.option(
        "--holdback",
        type=float,
        help="The share of rounds at the control, to say what tuning gains; 0.05 is usual. "
        "Default: none.",
    ),
    click.option(
        "--control",
        "controls",
        multiple=True,
        metavar="NAME=VALUE",
        help="What the control sets a parameter to. Default: its current value. May be repeated.",
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
    parameters = by_name("--param", params, _parameter) or {}
    kinds = by_name("--covariate", covariates, _covariate)
    chosen_by = by_name("--context", contexts, _context)
    return Tuner(
        parameters,
        covariates=kinds,
        context=chosen_by,
        holdback=holdback or 0.0,
        control=dict(map(_control, controls)) or None,
        **more,
    )


def by_name(
    option: str, texts: tuple[str, ...], read: Callable[[str], tuple[str, Any]]
) -> dict[str, Any] | None:
    """What the texts of an option say, by name, as `read` reads each; None for no text."""
    values: dict[str, Any] = {}
    for text in texts:
        name, value = read(text)
        if name in values:
            raise ParameterError(f"{option} {text}: {name!r} is given twice")
        values[name] = value
    return values or None


def _control(text: str) -> tuple[str, Any]:
    """`price=4` or `level=auto`."""
    name, equals, rest = (part.strip() for part in text.partition("="))
    if not (name and equals and rest):
        raise ParameterError(f"--control wants NAME=VALUE, such as price=4, got {text!r}")
    try:
        return name, _number(name, rest)
    except ParameterError:  # a level may be a word
        return name, rest


def _covariate(text: str) -> tuple[str, Any]:
    """`hour=cycle:24`, `kind=batch,web` or `load`."""
    name, equals, rest = text.partition("=")
    words = [word.strip() for word in rest.split(",")]
    if not name.strip() or (equals and not all(words)):
        raise ParameterError(f"--covariate wants {COVARIATE}, got {text!r}")
    if not equals:
        return name.strip(), None
    return name.strip(), _cycle(name.strip(), rest) or words


def _cycle(name: str, text: str) -> Cycle | None:
    """`cycle:24`."""
    form, colon, period = text.partition(":")
    if not colon or form.strip() != "cycle":
        return None
    return Cycle(_number(f"the period of {name}", period))


def _context(text: str) -> tuple[str, Any]:
    """`region=eu,us`, `hour=cycle:24` or `load=0..1`."""
    name, _, rest = (part.strip() for part in text.partition("="))
    if not (name and rest):
        raise ParameterError(f"--context wants {CONTEXT}, got {text!r}")
    low, dots, high = rest.partition("..")
    if dots:
        return name, (
            _number(f"the low end of {name}", low),
            _number(f"the high end of {name}", high),
        )
    return name, _cycle(name, rest) or [word.strip() for word in rest.split(",")]


def _refuse_alone(more: dict[str, Any]) -> None:
    """Refuse further options of a tuner if no parameter is given."""
    absent = (None, False, ())
    names = [name for name, value in more.items() if not any(value is each for each in absent)]
    if names:
        options = ", ".join("--" + name.removesuffix("s").replace("_", "-") for name in names)
        raise ParameterError(f"{options} needs --param {RANGE}; in a JSON object it is a key")


def _parameter(text: str) -> tuple[str, ParameterKind]:
    """`price=1:14:4`, with `:int` or `:log` at the end, or a call as in `size=Levels([16, 32])`."""
    name, equals, rest = text.partition("=")
    name = name.strip()
    if not (name and equals and rest.strip()):
        raise ParameterError(f"--param wants {RANGE} or {CALLS}, got {text!r}")
    if rest.rstrip().endswith(")"):
        return name, parameter_from_text(name, rest)
    numbers, words = [part.strip() for part in rest.split(":")], set[str]()
    while numbers[-1] in {"log", "int"} - words:
        words.add(numbers.pop())
    if not 2 <= len(numbers) <= 3:
        raise ParameterError(f"--param wants {RANGE} or {CALLS}, got {text!r}")
    with refusals_about(name):
        spec = {
            what: _number(what, number)
            for what, number in zip(("low", "high", "start"), numbers, strict=False)
        }
    kind = "integer" if "int" in words else "real"
    return name, parameter_from_spec(name, spec | {"kind": kind, "log": "log" in words})


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
