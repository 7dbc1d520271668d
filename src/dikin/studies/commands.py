"""The command line of studies: `dikin study ...`."""

from __future__ import annotations

import codecs
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from dikin.engine.progress import Progress
from dikin.errors import DikinError, ParameterError, StateError
from dikin.files import replacing
from dikin.studies import display
from dikin.studies.history import write_csv
from dikin.studies.jsonl import LONGEST_LINE, answer_lines, error_reply, write_line
from dikin.studies.spec import learner_from_text
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
learner_option = click.option(
    "--learner",
    metavar="JSON",
    help="Create the study with this learner or tuner if it does not exist; as for create.",
)


def _open(url: str, name: str, learner: str | None = None, **options: Any) -> Study:
    return Study(url, name, None if learner is None else learner_from_text(learner), **options)


@click.group()
def study() -> None:
    """Learners and tuners stored in a database.

    \b
    Examples:
      dikin study create shop --param price=1:14:4 --param ads=0:60:40 --maximize
      echo '{"ask": {}}' | dikin study run shop
      dikin study show shop
    \b
      dikin study create prices '{"learner": "adaptivesmooth", "smoothness": 0.5,
          "domain": {"kind": "box", "lower": [0, 0], "upper": [10, 2]},
          "loss_range": [0, 40], "seed": 7}'
      echo '{"ask": {}}' | dikin study run prices
      dikin study show prices --out prices.png
    """  # noqa: D301 - click reads the backspace character


@study.command()
@name_argument
@url_option
@learner_option
@click.option("--client", help="This client's name in the list of open queries.")
@click.option(
    "--commit-within",
    type=float,
    default=0.0,
    show_default=True,
    help="Seconds that an answer may wait to be written; with 0 it is durable when acknowledged.",
)
@click.option(
    "--longest-line",
    type=click.IntRange(100),
    default=LONGEST_LINE,
    show_default=True,
    help="The most bytes in a request; a longer line is answered with an error.",
)
def run(
    name: str,
    url: str,
    learner: str | None,
    client: str | None,
    commit_within: float,
    longest_line: int,
) -> None:
    """Play a study over standard input and output.

    One JSON object per line in, one per line out, for programs in any language. A reply is printed
    once its event is durable. If anything is wrong with a line, the reply is {"error": {"code":
    ..., "message": ...}}, and the next line is read.

    \b
      {"ask": {}}                               {"id": 0, "point": [4.81, 1.05]}
      {"ask": {"forecast": 3.5}}                {"id": 1, "point": [4.52, 0.93]}
      {"tell": {"id": 0, "loss": 12.3,          {"told": 0, "rounds": 1,
                "curvature": 0.1}}               "center": [...], "certificate": 22.2}
      {"forget": {"id": 1}}                     {"forgotten": 1}
      {"open": {}}                              {"open": [{"id": 2, "point": [...],
                                                 "client": "host:71", "asked": "2031-..."}]}
      {"show": {}}                              {"study": "prices", "rounds": 1, ...}

    The study of a tuner uses names, and has four more verbs:

    \b
      {"ask": {}}                               {"id": 0, "params": {"price": ..., "ads": ...}}
      {"tell": {"id": 0, "value": 512}}         {"told": 0, "rounds": 1,
                                                 "best": {...}, "certificate": null}
      {"hold": {}}                              {"held": true}
      {"resume": {}}                            {"held": false}
      {"summary": {}}                           {"rounds": 1, "best": {...}, ...}
      {"best": {"context": {"region": "eu"}}}   {"best": {"price": ..., "ads": ...}}
      {"ask": {"covariates": {"load": 0.7}}}    {"id": 1, "params": {"price": ..., "ads": ...}}
      {"tell": {"id": 1, "values": [498, 507],  {"told": 1, "rounds": 2, ...}
                "covariates": {"users": 1830}}}

    Covariates explain the value besides the setting, which must not influence them; of several
    values the mean counts, and a value with a standard error ("sem") that is larger than usual
    teaches less. A forecast is the loss or value that you expect, for a tuner or a learner that
    makes use of it (predictive). An answer told twice counts once. A number that is not there (the
    certificate of a learner that has none) is null.
    """  # noqa: D301 - click reads the backspace character
    if sys.stdout is None:  # closed by the parent process
        raise ParameterError("answers go to standard output, which is closed; nothing was played")
    try:
        study = _open(url, name, learner, client=client, commit_within=commit_within)
    except DikinError as mistake:
        write_line(sys.stdout.buffer, error_reply(mistake))
        sys.exit(2)
    with study:
        answer_lines(study, sys.stdin.buffer, sys.stdout.buffer, longest_line)


@study.command()
@name_argument
@click.argument("learner", required=False)
@url_option
@tuner_options
def create(name: str, learner: str | None, url: str, **tuner: Any) -> None:
    """Create a study: with a tuner of named parameters, or with any LEARNER.

    A tuner needs the range of each parameter, with its current value if there is one:

    \b
      dikin study create shop --param price=1:14:4 --param ads=0:60:40 --maximize
      dikin study create search --param rate=0.001:1:0.01:log --param level=1:9:6:int
      dikin study create train --param "batch=Levels([16, 32, 64, 128], start=32)"
      dikin study create split --shares traffic=old:0.9,new:0.1
      dikin study create plan --param ads=0:60 --param staff=0:30 --memory 4000 \\
          --constraint "ads + 3*staff <= 100"
      dikin study create crew --param day=0:9:int --param night=0:9:int --separable
      dikin study create canary --shares server=a,b --by-lot
      dikin study create queue --param workers=1:64:8:int --covariate hour=cycle:24
      dikin study create fleet --param price=1:14:4 --context region=eu,us --context load=0..1

    A LEARNER, or a tuner too, is described by a JSON object:

    \b
      dikin study create prices '{"learner": "adaptivesmooth", "smoothness": 0.5,
          "domain": {"kind": "box", "lower": [0, 0], "upper": [10, 2]},
          "loss_range": [0, 40], "seed": 7}'
      dikin study create shop '{"tuner": {"price": {"low": 1, "high": 14, "start": 4}},
          "maximize": true}'

    All keys other than learner and domain are arguments of the learner's class, and those of the
    domain other than kind are arguments of the domain's: dikin.AdaptiveSmooth(dikin.Box(lower,
    upper), smoothness=0.5, ...). With tuner, the other keys are arguments of dikin.Tuner; a
    parameter may have "kind": "integer", "levels" or "shares". If the study already exists with the
    same learner or tuner, nothing changes.
    """  # noqa: D301 - click reads the backspace character
    parameters = tuner_from_options(**tuner)
    if (learner is None) == (parameters is None):
        raise ParameterError(
            "a study is created with a tuner, by one or more --param NAME=LOW:HIGH[:START] or "
            "--shares NAME=PART,PART, or with a LEARNER, a JSON object: got "
            + ("neither" if learner is None else "both")
        )
    player = parameters if learner is None else learner_from_text(learner)
    with Study(url, name, player) as study:
        if study.created:
            click.echo(f"created study {study.name!r} in {url}")
        else:
            state = f"with this learner or tuner and {study.rounds:,} rounds"
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
    help="What the setting may depend on, for a tuner that was created with a context. May be "
    "repeated.",
)


@study.command()
@name_argument
@url_option
@covariate_option
@context_option
@click.option("--forecast", type=float, help="The loss or value that you expect.")
@click.option("--key", help="A name of this request: asked again under it, the answer is the same.")
def ask(
    name: str,
    url: str,
    covariates: tuple[str, ...],
    contexts: tuple[str, ...],
    forecast: float | None,
    key: str | None,
) -> None:
    """Ask for what to play next, as one line of JSON.

    \b
      dikin study ask shop
      dikin study ask shop --covariate load=0.7 --covariate hour=14
      dikin study ask shop --context region=eu

    A covariate is what explains the value besides the setting: the load, the hour, the kind of
    request. The tuner takes off what it explains, and learns faster from what is left. The setting
    must not influence it. What is known only afterwards is given to tell.
    """  # noqa: D301 - click reads the backspace character
    context, beside = _values("--context", contexts), _values("--covariate", covariates)
    with _open(url, name) as study:
        query = study.ask(context, forecast=forecast, covariates=beside, key=key)
        setting = {"point": query.point.tolist()}
        if study.space is not None:
            setting = {"params": query.setting}
        click.echo(json.dumps({"id": query.id} | setting))


@study.command(context_settings={"ignore_unknown_options": True})
@name_argument
@click.argument("id", type=int)
@click.argument("values", type=float, nargs=-1, required=True)
@url_option
@covariate_option
@click.option("--sem", type=float, help="The standard error of the value.")
@click.option("--curvature", type=float, default=0.0, help="How strongly convex the loss was.")
@click.option("--smoothness", type=float, help="How smooth this loss was, if more than declared.")
@click.option("--lipschitz", type=float, help="How steep this loss was, if less than declared.")
def tell(
    name: str,
    id: int,
    values: tuple[float, ...],
    url: str,
    covariates: tuple[str, ...],
    sem: float | None,
    curvature: float,
    smoothness: float | None,
    lipschitz: float | None,
) -> None:
    """Tell what came of query or trial ID: a value, or several VALUES of a trial.

    \b
      dikin study tell shop 17 512
      dikin study tell shop 17 512 --covariate visitors=1830
      dikin study tell shop 17 498 507 520
      dikin study tell shop 17 508 --sem 6.4

    Of several values the mean counts. One that is noisier than usual, by its standard error,
    teaches less. The same answer told again counts once.
    """  # noqa: D301 - click reads the backspace character
    beside: dict[str, Any] = {
        "covariates": _values("--covariate", covariates),
        "sem": sem,
        "smoothness": smoothness,
        "lipschitz": lipschitz,
    }
    with _open(url, name) as study:
        if len(values) == 1:
            study.tell(id, values[0], curvature, **beside)
        else:
            study.tell(id, None, curvature, **beside, values=values)
        click.echo(f"told {id}: {study.rounds:,} rounds")


@study.command()
@name_argument
@url_option
@context_option
def best(name: str, url: str, contexts: tuple[str, ...]) -> None:
    """Print the best setting of a tuner, or that in a context, as one line of JSON.

    \b
      dikin study best shop
      dikin study best fleet --context region=eu --context load=0.7
    """  # noqa: D301 - click reads the backspace character
    context: Any = _values("--context", contexts)
    with _open(url, name) as study:
        click.echo(json.dumps(study.best_for(context)))


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
    """Print a summary and curves over the rounds.

    For a learner: loss, running mean, curvature and certificate. For a tuner: each parameter and
    the value. With --out they are drawn to a file: .png, .svg or .pdf.
    """
    with _open(url, name) as study:
        for line in display.text(study):
            click.echo(line)
        if out is not None:
            study.plot(out)
            click.echo(f"drawn into {out}")


@study.command()
@name_argument
@url_option
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The HTML file to write.",
)
def report(name: str, url: str, out: Path) -> None:
    """Write a report on a tuner as one HTML page: what it gains, and how to read that."""
    with _open(url, name) as study:
        click.echo(f"written to {study.report(out)}")


@study.command("open")
@name_argument
@url_option
def open_(name: str, url: str) -> None:
    """List the open queries: id, client, time, and the point or the parameters by name."""
    with _open(url, name) as study:
        for query in study.open_queries:
            setting = query.point.tolist() if query.params is None else query.params
            click.echo(
                f"{query.id}\t{query.client}\t{query.asked.isoformat(timespec='seconds')}\t"
                f"{json.dumps(setting)}"
            )


@study.command()
@name_argument
@click.argument("ids", type=int, nargs=-1)
@url_option
@click.option(
    "--older-than",
    type=float,
    metavar="SECONDS",
    help="Close all queries that were asked longer ago than that.",
)
def forget(name: str, ids: tuple[int, ...], url: str, older_than: float | None) -> None:
    """Close the queries IDS, which will never be answered, or all that are too old.

    \b
      dikin study forget shop 17 18
      dikin study forget shop --older-than 86400
    """  # noqa: D301 - click reads the backspace character
    if bool(ids) == (older_than is not None):
        raise ParameterError(
            "name the queries to forget by their ids (dikin study open lists them), or give "
            f"--older-than SECONDS: got {'both' if ids else 'neither'}"
        )
    with _open(url, name) as study:
        if older_than is not None:
            click.echo(f"{study.forget(older_than=older_than):,} forgotten")
        for query in ids:
            study.forget(query)


@study.command()
@name_argument
@url_option
def hold(name: str, url: str) -> None:
    """Make a tuner play its best setting and learn nothing until resume."""
    with _open(url, name) as study:
        study.hold()
        click.echo(f"on hold: plays {json.dumps(study.best)}")


@study.command()
@name_argument
@url_option
def resume(name: str, url: str) -> None:
    """Make a tuner that is on hold, or held by its guard, explore and learn again."""
    with _open(url, name) as study:
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

    Of a learner: round, point, loss, curvature, center, certificate. Of a tuner: round, a column
    for each name, value, expected, held, the best guess by name, certificate, and the contexts
    (context.NAME), covariates (covariate.NAME) and standard errors (sem) that were given; with a
    holdback also held_back and expected_control.
    """
    with _open(url, name) as study:
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
    """Remove the history of the rounds before one; the learner does not change."""
    with _open(url, name) as study:
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
    """Leave out ids of queries, once, after a study was restored from a backup.

    Clients may still have queries that were asked after the backup was taken: no other query gets
    their ids. What is played does not change.
    """
    with _open(url, name) as restored:
        click.echo(f"the next query has the id {restored.skip_ids(count):,}")


@study.command()
@name_argument
@url_option
@click.option(
    "--workers",
    type=click.IntRange(1),
    default=os.cpu_count(),
    help="Processes that share a long journal. Default: one per processor.",
)
def verify(name: str, url: str, workers: int) -> None:
    """Replay the whole journal, check every seal, and compare the result with the learner."""
    with _open(url, name) as study:
        rows = study.verify(workers=workers, progress=True)
        click.echo(f"{rows} rows replayed: they reproduce the learner, bit for bit")


@study.command()
@name_argument
@url_option
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def delete(name: str, url: str, yes: bool) -> None:
    """Remove a study."""
    if name not in Study.names(url):
        _open(url, name).close()  # refuses an unknown study; a damaged one can be removed
    if not yes:
        click.confirm("Remove the study and its whole history?", abort=True)
    Study.delete(url, name)
