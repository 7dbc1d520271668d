"""The command line of studies: `dikin study ...`, with options from the signatures of methods."""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from dikin.errors import ParameterError, StateError
from dikin.files import replacing
from dikin.status import text_of
from dikin.studies.history import write_csv
from dikin.studies.operations import TUNER_CALL, Act, Operation, Schema, summary
from dikin.studies.study import Study
from dikin.tuning.circumstances import Cycle
from dikin.tuning.parameters.base import ParameterKind
from dikin.tuning.parameters.description import (
    parameter_from_spec,
    parameter_from_text,
    refusals_about,
)
from dikin.tuning.tuner import Tuner

SHOWN: dict[str, Callable[[Any], str]] = {
    "ask": lambda trial: json.dumps({"id": trial.id, "params": trial.params}),
    "tell": lambda _: "recorded",
    "forget": "{:,} forgotten".format,
    "add_trial": lambda _: "added",
    "best_for": json.dumps,
    "recommend": str,
    "pause": lambda _: "paused: trials are at the best setting",
    "resume": lambda _: "exploring and learning",
    "trim": "{} rows removed".format,
    "skip_ids": "the next trial has the id {:,}".format,
    "verify": str,
}
"""The commands that call a study, and what each prints of the answer."""
HIDDEN = ("n", "progress")  # arguments without an option
POSITIONS = {"trial": int, "value": float}  # arguments that are no options

CALLS = "\"NAME=Choice(['lz4', 'zstd'])\" or \"NAME=Shares(['old', 'new'])\""
RANGE = "NAME=LOW:HIGH[:START][:int][:log]"
COVARIATE = "NAME[=cycle:PERIOD|=WORD,WORD]"
CONTEXT = "NAME=WORD,WORD|cycle:PERIOD|LOW..HIGH"
VALUE = "NAME=VALUE"

Reader = Callable[[str, str], Any]

url_option = click.option(
    "--url",
    metavar="FILE_OR_URL",
    default="studies.db",
    show_default=True,
    envvar="DIKIN_URL",
    show_envvar=True,
    help="An SQLite file, postgresql://user@host/database, or, for studies, a service's https://...",
)
name_argument = click.argument("name")


def out_option(words: str, **more: Any) -> Callable[[Act], Act]:
    """Return the option for a file to write."""
    kind = click.Path(path_type=Path, dir_okay=False)
    return click.option("--out", type=kind, help=words, **more)


class _Unreadable(Exception):  # noqa: N818 - never leaves this module
    """A text is not of the form that its option wants."""


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
    with suppress(ParameterError):
        return _number(name, text)
    return text


def _number(what: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ParameterError(f"{what} must be a number, got {text!r}") from None
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


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


@click.group()
def study() -> None:
    """Tuners stored in a database.

    \b
    Examples:
      dikin study create shop --param price=1:14:4 --param ads=0:60:40 --maximize
      dikin study ask shop
      dikin study tell shop 0 512
      dikin study show shop --out shop.png
    """  # noqa: D301 - click reads the backspace character


def command(title: str | None = None, of: Any = None) -> Callable[[Act], click.Command]:
    """Enter a command for one study, with the words of a function or of a method of `Study`."""
    words = None if of is None else summary(of)
    return lambda act: study.command(title, help=words)(name_argument(url_option(act)))


@command()
def create(name: str, url: str, **options: Any) -> None:
    """Create a study of a tuner.

    It needs the range of each parameter, with its current value if there is one:

    \b
      dikin study create shop --param price=1:14:4 --param ads=0:60:40 --maximize
      dikin study create search --param rate=0.001:1:0.01:log --param level=1:9:6:int
      dikin study create split --param "traffic=Shares(['old', 'new'])"
      dikin study create plan --param ads=0:60 --constraint "ads <= 40" --limit "p99_ms <= 200"
      dikin study create fleet --param price=1:14:4 --context region=eu,us --context load=0..1

    If the study already exists with the same tuner, nothing changes.
    """  # noqa: D301 - click reads the backspace character
    if options["parameters"] is None:
        raise ParameterError(f"a tuner needs its parameters, each as --param {RANGE}")
    given = {n: x for n, x in options.items() if not any(x is each for each in (None, False, ()))}
    with Study(url, name, Tuner(**given)) as study:
        if study.created:
            click.echo(f"created study {study.name!r} in {url}")
        else:
            state = f"with this tuner and {study.rounds:,} rounds"
            click.echo(f"study {study.name!r} in {url} existed {state}: nothing was changed")


for _name, _schema in TUNER_CALL.arguments.items():
    create.params.append(option(_name, _schema, *FORMS.get(_name, (VALUE, number_or_word))))


def _command(call: Operation) -> click.Command:
    more = {"progress": True} if "progress" in call.arguments else {}
    params: list[click.Parameter] = [click.Argument(["name"])]
    for each, schema in call.arguments.items():
        required = each in call.required
        if each in POSITIONS:
            params.append(click.Argument([each], type=POSITIONS[each], required=required))
        elif each not in HIDDEN:
            params.append(option(each, schema, VALUE, number_or_word))
            params[-1].required = required

    def run(name: str, url: str, **sent: Any) -> None:
        with Study(url, name) as study:
            answer = call.act(study, **{n: x for n, x in sent.items() if x is not None} | more)
        click.echo(SHOWN[call.name](answer))

    title = call.name.removesuffix("_for").replace("_", "-")
    settings = {"ignore_unknown_options": "value" in call.arguments}  # it may be negative
    return click.Command(title, settings, run, params, call.words)


for _name in SHOWN:
    _words = Study.ask if _name in ("best_for", "recommend") else None
    study.add_command(url_option(_command(Operation(getattr(Study, _name), _words))))


@study.command("list")
@url_option
def list_(url: str) -> None:
    """List the studies in a database."""
    names = Study.names(url)
    if not names:
        click.echo(f"{url} has no studies", err=True)
    for name in names:
        try:
            with Study(url, name) as study:
                status = study.status()
                click.echo(f"{name}\t{status.rounds} rounds\t{status.open.count} open")
        except StateError as damage:
            click.echo(f"{name}\tnot readable: {damage}")


@command()
@out_option("Draw the curves to this file.")
def show(name: str, url: str, out: Path | None) -> None:
    """Print a summary.

    With --out the rounds are drawn to a file: .png, .svg or .pdf.
    """
    with Study(url, name) as study:
        click.echo(text_of([("study", name), *study.status().lines()]))
        if out is not None:
            study.plot(out)
            click.echo(f"drawn into {out}")


@command()
def uplift(name: str, url: str) -> None:
    """Print the gain of a tuned round over the control, with an interval to read at any time."""
    with Study(url, name) as study:
        click.echo(study.uplift)


@command("open")
def open_(name: str, url: str) -> None:
    """List the open trials: id, client, time, and the parameters by name."""
    with Study(url, name) as study:
        for trial in study.open_queries:
            click.echo(
                f"{trial.id}\t{trial.client}\t{trial.asked.isoformat(timespec='seconds')}\t"
                f"{json.dumps(trial.params)}"
            )


@command()
@click.option("--first", type=click.IntRange(1), default=1, help="The first round.")
@click.option("--last", type=click.IntRange(1), help="The last round. Default: the newest.")
def history(name: str, url: str, first: int, last: int | None) -> None:
    """Print the rounds, each as one line of JSON.

    A study whose tuner this version cannot continue has them too.
    """
    for record in Study.rows(url, name, first, last):
        click.echo(json.dumps(record))


@command()
@out_option("Write to this file instead of standard output.")
def export(name: str, url: str, out: Path | None) -> None:
    """Write the history as CSV.

    The columns are round, the parameters, value, expected, paused, failed, the best setting
    (best.NAME), the metrics (metric.NAME), contexts (context.NAME) and covariates (covariate.NAME).
    A study with a holdback also has held_back and expected_control.
    """
    with Study(url, name) as study:
        rounds = study.history()
    if out is None and sys.stdout is None:
        raise ParameterError("standard output is closed; name a file with --out")
    if out is None:
        write_csv(rounds, sys.stdout)
    else:
        with replacing(out) as file:
            write_csv(rounds, codecs.getwriter("utf-8")(file))


@command(of=Study.rewind)
def rewind(name: str, url: str) -> None:
    removed = Study.rewind(url, name)
    click.echo(f"{removed} rows removed" if removed else "all rows are intact: nothing was changed")


@study.command()
@url_option
def convert(url: str) -> None:
    """Convert the studies of an earlier version.

    Opening a study does the same. The tuners learn anew from all rows. The old tables stay as they
    are, and the earlier version refuses to open them.
    """
    click.echo(f"{len(Study.names(url))} studies in {url} are of this version")


@command(of=Study.delete)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def delete(name: str, url: str, yes: bool) -> None:
    if not yes:
        click.confirm("Remove the study and its whole history?", abort=True)
    Study.delete(url, name)
