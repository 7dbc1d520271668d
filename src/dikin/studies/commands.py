"""The command line of studies: `dikin study ...`."""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from dikin.errors import ParameterError, StateError
from dikin.files import replacing
from dikin.studies.history import write_csv
from dikin.studies.operations import OPERATIONS, Act, Operation, Schema, summary
from dikin.studies.study import Study
from dikin.studies.tuner_options import (
    VALUE,
    number_or_word,
    option,
    tuner_from_options,
    tuner_from_text,
    tuner_options,
)

SHOWN: dict[str, Callable[[Any], str]] = {
    "ask": lambda trial: json.dumps({part: trial[part] for part in ("id", "params")}),
    "tell": lambda _: "recorded",
    "forget": lambda answer: f"{answer['forgotten']:,} forgotten",
    "add_trial": lambda _: "added",
    "best": lambda answer: json.dumps(answer["best"]),
    "recommend": str,
    "uplift": str,
    "pause": lambda _: "paused: trials are at the best setting",
    "resume": lambda _: "exploring and learning",
    "trim": "{} rows removed".format,
    "skip_ids": "the next trial has the id {:,}".format,
    "verify": str,
}
"""The commands that call a study, and what each prints of the answer."""
HIDDEN = ("n", "point", "progress")
"""Arguments without an option."""

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
@click.argument("tuner", required=False)
def create(name: str, tuner: str | None, url: str, **options: Any) -> None:
    """Create a study of a tuner.

    It needs the range of each parameter, with its current value if there is one:

    \b
      dikin study create shop --param price=1:14:4 --param ads=0:60:40 --maximize
      dikin study create search --param rate=0.001:1:0.01:log --param level=1:9:6:int
      dikin study create split --param "traffic=Shares(['old', 'new'])"
      dikin study create plan --param ads=0:60 --constraint "ads <= 40" --limit "p99_ms <= 200"
      dikin study create fleet --param price=1:14:4 --context region=eu,us --context load=0..1

    A TUNER may be described by a JSON object in place of options, whose other keys are arguments of
    dikin.Tuner. If the study already exists with the same tuner, nothing changes.

    \b
      dikin study create shop '{"tuner": {"price": {"low": 1, "high": 14, "start": 4}},
          "maximize": true}'
    """  # noqa: D301 - click reads the backspace character
    described = tuner_from_options(**options)
    if (tuner is None) == (described is None):
        raise ParameterError(
            "a tuner is described by one or more --param NAME=LOW:HIGH[:START], or by TUNER, a "
            f"JSON object: got {'neither' if tuner is None else 'both'}"
        )
    with Study(url, name, described if tuner is None else tuner_from_text(tuner)) as study:
        if study.created:
            click.echo(f"created study {study.name!r} in {url}")
        else:
            state = f"with this tuner and {study.rounds:,} rounds"
            click.echo(f"study {study.name!r} in {url} existed {state}: nothing was changed")


create.params += tuner_options()


# --- commands that call a study ------------------------------------------------------------------


def _command(call: Operation) -> click.Command:
    title = call.name.replace("_", "-")
    given = {name: each for name, each in call.arguments.items() if name not in HIDDEN}
    more = {"progress": True} if "progress" in call.arguments else {}

    def run(name: str, url: str, **sent: Any) -> None:
        sent = {n: x for n, x in sent.items() if x is not None}
        with Study(url, name) as study:
            answer = call.act(study, **sent | more)
        click.echo(SHOWN[call.name](answer))

    return click.Command(
        title,
        callback=run,
        params=[
            click.Argument(["name"]),
            *(_parameter(*each, each[0] in call.required) for each in given.items()),
        ],
        help=call.words,
        context_settings={"ignore_unknown_options": "value" in given},  # it may be negative
    )


def _parameter(name: str, schema: Schema, required: bool) -> click.Parameter:
    if name in ("id", "value"):
        return click.Argument([name], type=int if name == "id" else float, required=required)
    found = option(name, schema, VALUE, number_or_word)
    found.required = required
    return found


for _name in SHOWN:
    _call = OPERATIONS[_name] if _name in OPERATIONS else Operation(getattr(Study, _name))
    study.add_command(url_option(_command(_call)))


# --- other commands ------------------------------------------------------------------------------


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
        lines = [("study", name), *study.status().lines()]
        width = max(len(part) for part, _ in lines) + 2
        for part, fact in lines:
            click.echo(f"{part:<{width}}{fact}")
        if out is not None:
            study.plot(out)
            click.echo(f"drawn into {out}")


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
