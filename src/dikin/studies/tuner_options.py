"""A tuner from the options of the command line: `--param price=1:14:4 --maximize`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from dikin.errors import ParameterError
from dikin.learners.predictive import AUTO
from dikin.tuning.cycle import Cycle
from dikin.tuning.parameters.base import ParameterKind
from dikin.tuning.parameters.description import (
    parameter_from_spec,
    parameter_from_text,
    refusals_about,
)
from dikin.tuning.tuner import Tuner

F = TypeVar("F", bound=Callable[..., Any])

RANGE = "NAME=LOW:HIGH[:START][:log|:int]"
CALLS = "\"NAME=Levels([16, 32, 64])\" or \"NAME=Shares(['old', 'new'])\""
COVARIATE = "NAME[=cycle:PERIOD|=WORD,WORD]"
CONTEXT = "NAME=WORD,WORD|cycle:PERIOD|LOW..HIGH"

_OPTIONS = (
    click.option(
        "--param",
        "params",
        multiple=True,
        metavar=RANGE,
        help="A number to tune: its bounds, its current value, log to search in the logarithm, int "
        f"for whole numbers. Any other kind as in Python: {CALLS}. May be repeated.",
    ),
    click.option(
        "--constraint",
        "constraints",
        multiple=True,
        metavar="TEXT",
        help='A linear constraint on numbers: "ads + 3*staff <= 100". May be repeated.',
    ),
    click.option("--maximize", is_flag=True, help="Larger values are better."),
    click.option(
        "--memory",
        metavar="auto|none|ROUNDS",
        help="Rounds to remember, for a best setting that drifts: auto finds out itself, none is "
        "for all rounds. Default: auto.",
    ),
    click.option(
        "--value-range",
        type=float,
        nargs=2,
        metavar="LOW HIGH",
        help="The least and the largest possible value. Default: found as values come.",
    ),
    click.option(
        "--separable",
        is_flag=True,
        help="Values are a sum with one term for each parameter. A certificate needs this if a "
        "whole number (:int) or a level is tuned beside another parameter.",
    ),
    click.option(
        "--by-lot",
        is_flag=True,
        help="You draw from trials at random, such as from Shares as probabilities. Always so with "
        ":int and Levels.",
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
    memory: str | None = None,
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
        _refuse_alone({"memory": memory, "holdback": holdback} | more | named)
        return None
    parameters = by_name("--param", params, _parameter) or {}
    kinds = by_name("--covariate", covariates, _covariate)
    chosen_by = by_name("--context", contexts, _context)
    remembered = {} if memory is None else {"memory": _memory(memory)}
    return Tuner(
        parameters,
        covariates=kinds,
        context=chosen_by,
        holdback=holdback or 0.0,
        control=dict(map(_control, controls)) or None,
        **remembered,
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


def _memory(text: str) -> Any:
    """`auto`, `none` or a number of rounds."""
    word = text.strip().lower()
    if word in (AUTO, "none"):
        return AUTO if word == AUTO else None
    try:
        return _number("--memory", text)
    except ParameterError:
        raise ParameterError(
            f"--memory wants a number of rounds, auto or none, got {text!r}"
        ) from None


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
    """`price=1:14:4`, with `:log` or `:int` at the end, or a call as in `size=Levels([16, 32])`."""
    name, equals, rest = text.partition("=")
    name = name.strip()
    if not (name and equals and rest.strip()):
        raise ParameterError(f"--param wants {RANGE} or {CALLS}, got {text!r}")
    if rest.rstrip().endswith(")"):
        return name, parameter_from_text(name, rest)
    *numbers, last = rest.split(":")
    form = last.strip() if last.strip() in ("log", "int") else ""
    if not form:
        numbers.append(last)
    if not 2 <= len(numbers) <= 3:
        raise ParameterError(f"--param wants {RANGE} or {CALLS}, got {text!r}")
    with refusals_about(name):
        spec = {
            what: _number(what, number)
            for what, number in zip(("low", "high", "start"), numbers, strict=False)
        }
    more = {"kind": "integer"} if form == "int" else {"kind": "real", "log": form == "log"}
    return name, parameter_from_spec(name, spec | more)


def _number(what: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ParameterError(f"{what} must be a number, got {text!r}") from None
    return int(value) if value.is_integer() and abs(value) < 2**53 else value
