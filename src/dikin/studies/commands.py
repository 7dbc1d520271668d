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
from dikin.studies.spec import tuner_from_text
from dikin.studies.study import Study
from dikin.studies.tuner_options import by_name, tuner_from_options, tuner_options
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


covariate_option = click.option(
    "--covariate",
    "covariates",
    multiple=True,
    metavar="NAME=VALUE",
    help="A number or word that explains the value besides the setting. May be repeated.",
)


def _values(option: str, texts: tuple[str, ...]) -> dict[str, float | str] | None:
    """`load=0.7`, `kind=batch`: numbers and words by name; None for none."""

    def read(text: str) -> tuple[str, float | str]:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise ParameterError(f"{option} wants NAME=VALUE, such as load=0.7, got {text!r}")
        return name.strip(), _number_or_word(value.strip())

    return by_name(option, texts, read)


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


context_option = click.option(
    "--context",
    "contexts",
    multiple=True,
    metavar="NAME=VALUE",
    help="The context of the round, for a tuner that was created with one. May be repeated.",
)


@study.command()
@name_argument
@url_option
@covariate_option
@context_option
@click.option("--key", help="A name of this request: asked again under it, the answer is the same.")
def ask(
    name: str,
    url: str,
    covariates: tuple[str, ...],
    contexts: tuple[str, ...],
    key: str | None,
) -> None:
    """Ask for the next trial, as one line of JSON.

    \b
      dikin study ask shop
      dikin study ask shop --covariate load=0.7 --covariate hour=14
      dikin study ask shop --context region=eu

    A covariate is a quantity that explains the value besides the setting: the load, the hour, the
    kind of request. The tuner learns faster with it. The setting must not influence it. Pass to
    tell the ones that are known only afterwards.
    """  # noqa: D301 - click reads the backspace character
    context, known = _values("--context", contexts), _values("--covariate", covariates)
    with Study(url, name) as study:
        trial = study.ask(context, covariates=known, key=key)
        click.echo(json.dumps({"id": trial.id, "params": trial.params}))


@study.command(context_settings={"ignore_unknown_options": True})
@name_argument
@click.argument("id", type=int)
@click.argument("value", type=float, required=False)
@url_option
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME=VALUE",
    help="Another measurement of the trial, such as one with a limit. May be repeated.",
)
@covariate_option
@click.option("--failed", is_flag=True, help="The trial failed: a timeout, a crash.")
def tell(
    name: str,
    id: int,
    value: float | None,
    url: str,
    metrics: tuple[str, ...],
    covariates: tuple[str, ...],
    failed: bool,
) -> None:
    """Report the VALUE of trial ID, or that it failed.

    \b
      dikin study tell shop 17 512
      dikin study tell shop 17 512 --covariate visitors=1830
      dikin study tell store 17 512 --metric p99_ms=187
      dikin study tell store 17 --failed

    The same answer told again counts once.
    """  # noqa: D301 - click reads the backspace character
    if failed == (value is not None):
        raise ParameterError(
            f"tell a value or --failed, got {'both' if failed else 'neither'}: a failed trial has "
            "no value"
        )
    measured, known = _values("--metric", metrics), _values("--covariate", covariates)
    with Study(url, name) as study:
        study.tell(id, value, metrics=measured, covariates=known, failed=failed)
        click.echo(f"told {id}: {study.rounds:,} rounds")


@study.command()
@name_argument
@url_option
@context_option
def best(name: str, url: str, contexts: tuple[str, ...]) -> None:
    """Print the best setting, or that in a context, as one line of JSON.

    \b
      dikin study best shop
      dikin study best fleet --context region=eu --context load=0.7
    """  # noqa: D301 - click reads the backspace character
    context: Any = _values("--context", contexts)
    with Study(url, name) as study:
        click.echo(json.dumps(study.best_for(context)))


@study.command()
@name_argument
@url_option
@context_option
def recommend(name: str, url: str, contexts: tuple[str, ...]) -> None:
    """Print the best setting with its expected value, intervals and what matters.

    \b
      dikin study recommend shop
      dikin study recommend fleet --context region=eu --context load=0.7
    """  # noqa: D301 - click reads the backspace character
    context = _values("--context", contexts)
    with Study(url, name) as study:
        click.echo(str(study.recommend(context)))


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
                click.echo(f"{name}\t{study.rounds} rounds\t{len(study.open_queries)} open")
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
def pause(name: str, url: str) -> None:
    """Use the best setting and learn nothing until resume."""
    with Study(url, name) as study:
        study.pause()
        click.echo("paused: trials are at the best setting")


@study.command()
@name_argument
@url_option
def resume(name: str, url: str) -> None:
    """Explore and learn again after a pause, or after the guard has stopped tuning."""
    with Study(url, name) as study:
        study.resume()
        click.echo("exploring and learning")


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
    """Replay the whole journal, check every seal, and compare the result with the tuner."""
    with Study(url, name) as study:
        rows = study.verify(progress=True)
        click.echo(f"{rows} rows replayed: they reproduce the tuner")


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
