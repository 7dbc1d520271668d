"""The command line of studies: `dikin study ...`."""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from dikin.engine.progress import Progress
from dikin.errors import ParameterError, StateError
from dikin.files import replacing
from dikin.studies import display
from dikin.studies.history import write_csv
from dikin.studies.operation_commands import commands
from dikin.studies.spec import tuner_from_text
from dikin.studies.study import Study
from dikin.studies.tuner_options import tuner_from_options, tuner_options
from dikin.vectors import Table

EXPORTED_AT_ONCE = 20_000
"""Rounds."""


url_option = click.option(
    "--url",
    metavar="FILE_OR_URL",
    default="studies.db",
    show_default=True,
    envvar="DIKIN_URL",
    show_envvar=True,
    help="An SQLite file, or postgresql://user@host/database.",
)
name_argument = click.argument("name")


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


@study.command()
@name_argument
@click.argument("tuner", required=False)
@url_option
@tuner_options
def create(name: str, tuner: str | None, url: str, **options: Any) -> None:
    """Create a study of a tuner.

    It needs the range of each parameter, with its current value if there is one:

    \b
      dikin study create shop --param price=1:14:4 --param ads=0:60:40 --maximize
      dikin study create search --param rate=0.001:1:0.01:log --param level=1:9:6:int
      dikin study create train --param "batch=Levels([16, 32, 64, 128], start=32)"
      dikin study create split --param "traffic=Shares(['old', 'new'])"
      dikin study create plan --param ads=0:60 --param staff=0:30 \\
          --constraint "ads + 3*staff <= 100"
      dikin study create store --param "codec=Choice(['lz4', 'zstd'])" --param n=1:512:32:int:log \\
          --limit "p99_ms <= 200" --limit "failed <= 0.01"
      dikin study create queue --param workers=1:64:8:int --covariate hour=cycle:24
      dikin study create fleet --param price=1:14:4 --context region=eu,us --context load=0..1

    A TUNER may be described by a JSON object in place of options:

    \b
      dikin study create shop '{"tuner": {"price": {"low": 1, "high": 14, "start": 4}},
          "maximize": true}'

    The other keys are arguments of dikin.Tuner; a parameter may have "kind": "integer", "levels",
    "choice" or "shares". If the study already exists with the same tuner, nothing changes.
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


for _command in commands(url_option):
    study.add_command(_command)


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


@study.command()
@name_argument
@url_option
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw the curves to this file.",
)
def show(name: str, url: str, out: Path | None) -> None:
    """Print a summary and, over the rounds, each parameter and the value.

    With --out they are drawn to a file: .png, .svg or .pdf.
    """
    with Study(url, name) as study:
        for line in display.text(study):
            click.echo(line)
        if out is not None:
            study.plot(out)
            click.echo(f"drawn into {out}")


@study.command("open")
@name_argument
@url_option
def open_(name: str, url: str) -> None:
    """List the open trials: id, client, time, and the parameters by name."""
    with Study(url, name) as study:
        for trial in study.open_queries:
            click.echo(
                f"{trial.id}\t{trial.client}\t{trial.asked.isoformat(timespec='seconds')}\t"
                f"{json.dumps(trial.params)}"
            )


@study.command()
@name_argument
@click.argument("ids", type=int, nargs=-1)
@url_option
@click.option(
    "--older-than",
    type=float,
    metavar="SECONDS",
    help="Close all trials that were asked longer ago than that.",
)
def forget(name: str, ids: tuple[int, ...], url: str, older_than: float | None) -> None:
    """Close the trials IDS, which will never be answered, or all that are too old.

    \b
      dikin study forget shop 17 18
      dikin study forget shop --older-than 86400
    """  # noqa: D301 - click reads the backspace character
    if bool(ids) == (older_than is not None):
        raise ParameterError(
            "name the trials to forget by their ids (dikin study open lists them), or give "
            f"--older-than SECONDS: got {'both' if ids else 'neither'}"
        )
    with Study(url, name) as study:
        if older_than is not None:
            click.echo(f"{study.forget(older_than=older_than):,} forgotten")
        for id in ids:
            study.forget(id)


@study.command()
@name_argument
@url_option
@click.option("--first", type=click.IntRange(1), default=1, help="The first round.")
@click.option("--last", type=click.IntRange(1), help="The last round. Default: the newest.")
def history(name: str, url: str, first: int, last: int | None) -> None:
    """Print the rounds, each as one line of JSON.

    Also of a study whose tuner this version cannot continue.
    """
    for record in Study.rows(url, name, first, last):
        click.echo(json.dumps(record))


@study.command()
@name_argument
@url_option
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to this file instead of standard output.",
)
def export(name: str, url: str, out: Path | None) -> None:
    """Write the history as CSV.

    The columns are round, one for each name, value, expected, paused, failed, the best setting by
    name (best.NAME), and the metrics (metric.NAME), contexts (context.NAME) and covariates
    (covariate.NAME); with a holdback also held_back and expected_control.
    """
    with Study(url, name) as study:
        if out is None and sys.stdout is None:
            raise ParameterError("standard output is closed; name a file with --out")
        if out is None:
            write_csv(_parts(study), sys.stdout)
        else:
            with replacing(out) as file:
                write_csv(_parts(study), codecs.getwriter("utf-8")(file))


def _parts(study: Study) -> Iterator[Table]:
    """The history in parts, with a progress bar."""
    rounds, expected = study.rounds, 0
    with Progress(rounds, True) as bar:
        for first in range(1, max(rounds, 1) + 1, EXPORTED_AT_ONCE):
            part = study.history(first, min(rounds, first + EXPORTED_AT_ONCE - 1))
            if expected and not (len(part) and part["round"][0] == expected):
                raise StateError(f"study {study.name!r} was trimmed meanwhile; export it again")
            expected = part["round"][-1] + 1 if len(part) else 0
            yield part
            bar.move(EXPORTED_AT_ONCE)


@study.command()
@name_argument
@click.option("--before", type=click.IntRange(1), required=True, help="The first round to keep.")
@url_option
def trim(name: str, before: int, url: str) -> None:
    """Remove the history of the rounds before one; the tuner does not change."""
    with Study(url, name) as study:
        click.echo(f"{study.trim(before, progress=True)} rows removed")


@study.command("skip-ids")
@name_argument
@url_option
@click.option(
    "--count",
    type=click.IntRange(1),
    default=1_000_000,
    show_default=True,
    help="How many ids to leave out: more than were asked since the backup.",
)
def skip_ids(name: str, url: str, count: int) -> None:
    """Leave out ids of trials, once, after a study was restored from a backup.

    Clients may still have trials that were asked after the backup was taken: no other trial gets
    their ids. What the tuner asks for does not change.
    """
    with Study(url, name) as restored:
        click.echo(f"the next trial has the id {restored.skip_ids(count):,}")


@study.command()
@name_argument
@url_option
def verify(name: str, url: str) -> None:
    """Check every seal, compute the trials again, and print how far they are from the recorded."""
    with Study(url, name) as study:
        click.echo(str(study.verify(progress=True)))


@study.command()
@name_argument
@url_option
def rewind(name: str, url: str) -> None:
    """Remove the rows of a damaged study from the first one on that is not intact.

    A damaged study can be read up to its last intact row. Afterwards it can be written again, and
    no trial gets an id that was given before. Restore a copy instead if there is one.
    """
    removed = Study.rewind(url, name)
    click.echo(f"{removed} rows removed" if removed else "all rows are intact: nothing was changed")


@study.command()
@url_option
def convert(url: str) -> None:
    """Convert the studies of an earlier version in a database, as opening one does.

    Their tuners learn anew from all rows. The old tables stay as they are; the earlier version
    refuses to open them.
    """
    click.echo(f"{len(Study.names(url))} studies in {url} are of this version")


@study.command()
@name_argument
@url_option
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def delete(name: str, url: str, yes: bool) -> None:
    """Remove a study."""
    if name not in Study.names(url):
        Study(url, name).close()  # refuses an unknown study; a damaged one can be removed
    if not yes:
        click.confirm("Remove the study and its whole history?", abort=True)
    Study.delete(url, name)
