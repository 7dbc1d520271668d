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
from dikin.studies.tuner_options import tuner_from_options, tuner_options
from dikin.vectors import Table

EXPORTED_AT_ONCE = 20_000
"""Rounds."""


class RenamedOption(click.Option):
    """An option that can still be given by a former name, which the help does not show."""

    def __init__(self, *declarations: Any, former: str, **attributes: Any) -> None:
        super().__init__(*declarations, **attributes)
        self.former = former

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Let the parser know both names."""
        super().add_to_parser(parser, ctx)
        parser.add_option(self, [self.former], dest=self.former)

    def handle_parse_result(self, ctx: click.Context, opts: Any, args: list[str]) -> Any:
        """Take what was given by the former name, with a line on standard error."""
        if self.former in opts:
            click.echo(f"DeprecationWarning: {self.former} is now {self.opts[0]}", err=True)
            opts = {self.name: opts[self.former]} | opts
        return super().handle_parse_result(ctx, opts, args)


url_option = click.option(
    "--url",
    cls=RenamedOption,
    former="--store",
    metavar="FILE_OR_URL",
    default="studies.db",
    show_default=True,
    envvar=["DIKIN_URL", "DIKIN_STORE"],
    show_envvar=True,
    help="An SQLite file, or postgresql://user@host/database.",
)
name_argument = click.argument("name")
learner_option = click.option(
    "--learner",
    metavar="JSON",
    help="Create the study with this learner or tuner if there is none; as for create.",
)


def _open(url: str, name: str, learner: str | None = None, **options: Any) -> Study:
    return Study(url, name, None if learner is None else learner_from_text(learner), **options)


@click.group()
def study() -> None:
    """Learners and tuners that live in a database.

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
    help="Seconds that an answer may wait to be written; 0: it is durable when it is acknowledged.",
)
@click.option(
    "--longest-line",
    type=click.IntRange(100),
    default=LONGEST_LINE,
    show_default=True,
    help="Bytes of a request; a longer line is answered with an error.",
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

    One JSON object a line in, one a line out, for a program in any language. An answer is written
    when it is durable. Whatever is wrong with a line, the answer is
    {"error": {"code": ..., "message": ...}}, and the next line is read.

    \b
      {"ask": {}}                               {"id": 0, "point": [4.81, 1.05]}
      {"ask": {"forecast": 3.5}}                {"id": 1, "point": [4.52, 0.93]}
      {"tell": {"id": 0, "loss": 12.3,          {"told": 0, "rounds": 1,
                "curvature": 0.1}}               "center": [...], "certificate": 22.2}
      {"forget": {"id": 1}}                     {"forgotten": 1}
      {"open": {}}                              {"open": [{"id": 2, "point": [...],
                                                 "client": "host:71", "asked": "2031-..."}]}
      {"show": {}}                              {"study": "prices", "rounds": 1, ...}

    The study of a tuner speaks in names, and has three verbs more:

    \b
      {"ask": {}}                               {"id": 0, "params": {"price": ..., "ads": ...}}
      {"tell": {"id": 0, "value": 512}}         {"told": 0, "rounds": 1,
                                                 "best": {...}, "certificate": null}
      {"hold": {}}                              {"held": true}
      {"resume": {}}                            {"held": false}
      {"summary": {}}                           {"rounds": 1, "best": {...}, ...}
      {"ask": {"covariates": {"load": 0.7}}}    {"id": 1, "params": {"price": ..., "ads": ...}}
      {"tell": {"id": 1, "values": [498, 507],  {"told": 1, "rounds": 2, ...}
                "covariates": {"users": 1830}}}

    Covariates explain the value besides the setting, which must not influence them; of several
    values the mean counts, and a value with a standard error ("sem") that is larger than usual
    teaches less. A forecast is the loss or value that you expect, for a tuner or a learner that
    makes use of it (predictive). An answer told twice counts once. A number that is not there (the
    certificate of a learner that has none) is null.
    """  # noqa: D301 - click reads the backspace character
    if sys.stdout is None:  # closed by who started this
        raise ParameterError("answers go to standard output, which is closed; nothing was played")
    try:
        played = _open(url, name, learner, client=client, commit_within=commit_within)
    except DikinError as mistake:
        write_line(sys.stdout.buffer, error_reply(mistake))
        sys.exit(2)
    with played:
        answer_lines(played, sys.stdin.buffer, sys.stdout.buffer, longest_line)


@study.command()
@name_argument
@click.argument("learner", required=False)
@url_option
@tuner_options
def create(name: str, learner: str | None, url: str, **tuner: Any) -> None:
    """Create a study: with a tuner of named parameters, or with any LEARNER.

    A tuner needs the ranges of its parameters, each with today's value if there is one:

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

    A LEARNER, or a tuner too, is described by a JSON object:

    \b
      dikin study create prices '{"learner": "adaptivesmooth", "smoothness": 0.5,
          "domain": {"kind": "box", "lower": [0, 0], "upper": [10, 2]},
          "loss_range": [0, 40], "seed": 7}'
      dikin study create shop '{"tuner": {"price": {"low": 1, "high": 14, "start": 4}},
          "maximize": true}'

    The keys besides learner and domain are the arguments of the class, those of the domain besides
    kind likewise: dikin.AdaptiveSmooth(dikin.Box(lower, upper), smoothness=0.5, ...). Besides tuner
    they are those of dikin.Tuner; a parameter may have "kind": "integer", "levels" or "shares". A
    study that exists with the same learner or tuner is left as it is.
    """  # noqa: D301 - click reads the backspace character
    given = tuner_from_options(**tuner)
    if (learner is None) == (given is None):
        raise ParameterError(
            "a study is created with a tuner, by one or more --param NAME=LOW:HIGH[:START] or "
            "--shares NAME=PART,PART, or with a LEARNER, a JSON object: got "
            + ("neither" if learner is None else "both")
        )
    kept = given if learner is None else learner_from_text(learner)
    with Study(url, name, kept) as made:
        if made.created:
            click.echo(f"created study {made.name!r} in {url}")
        else:
            was = f"with this learner or tuner and {made.rounds:,} rounds"
            click.echo(f"study {made.name!r} in {url} existed {was}: nothing was changed")


covariate_option = click.option(
    "--covariate",
    "covariates",
    multiple=True,
    metavar="NAME=VALUE",
    help="A number or word that explains the value besides the setting. May be repeated.",
)


def _by_name(option: str, texts: tuple[str, ...]) -> dict[str, float | str] | None:
    """`load=0.7`, `kind=batch`: numbers and words by name; None for none."""
    found: dict[str, float | str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise ParameterError(f"{option} wants NAME=VALUE, such as load=0.7, got {text!r}")
        if name.strip() in found:
            raise ParameterError(f"{option} {text}: {name.strip()!r} is given twice")
        found[name.strip()] = _number_or_word(value.strip())
    return found or None


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


@study.command()
@name_argument
@url_option
@covariate_option
@click.option(
    "--context",
    "contexts",
    multiple=True,
    metavar="NAME=VALUE",
    help="What the setting may depend on, for a tuner that was created with a context. May be "
    "repeated.",
)
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
    given = _by_name("--covariate", covariates), _by_name("--context", contexts)
    with _open(url, name) as played:
        query = played.ask(given[1], forecast=forecast, covariates=given[0], key=key)
        setting = {"point": query.point.tolist()}
        if played.space is not None:
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
def tell(
    name: str,
    id: int,
    values: tuple[float, ...],
    url: str,
    covariates: tuple[str, ...],
    sem: float | None,
    curvature: float,
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
    beside = _by_name("--covariate", covariates)
    with _open(url, name) as played:
        if len(values) == 1:
            played.tell(id, values[0], curvature, covariates=beside, sem=sem)
        else:
            played.tell(id, None, curvature, covariates=beside, sem=sem, values=values)
        click.echo(f"told {id}: {played.rounds:,} rounds")


@study.command("list")
@url_option
def list_(url: str) -> None:
    """The studies in a database."""
    names = Study.names(url)
    if not names:
        click.echo(f"{url} has no studies", err=True)
    for name in names:
        try:
            with Study(url, name) as found:
                click.echo(f"{name}\t{found.rounds} rounds\t{len(found.open_queries)} open")
        except StateError as damage:
            click.echo(f"{name}\tnot readable: {damage}")


@study.command()
@name_argument
@url_option
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Draw into this file.")
def show(name: str, url: str, out: Path | None) -> None:
    """Print a summary and curves over the rounds.

    Of a learner loss, running mean, curvature and certificate, of a tuner each parameter and the
    value. With --out they are drawn into a file: .png, .svg or .pdf.
    """
    with _open(url, name) as shown:
        for line in display.text(shown):
            click.echo(line)
        if out is not None:
            shown.plot(out)
            click.echo(f"drawn into {out}")


@study.command("open")
@name_argument
@url_option
def open_(name: str, url: str) -> None:
    """What waits for an answer: id, client, time and point, or the parameters by name."""
    with _open(url, name) as listed:
        for query in listed.open_queries:
            setting = query.point.tolist() if query.params is None else query.params
            click.echo(
                f"{query.id}\t{query.client}\t{query.asked.isoformat(timespec='seconds')}\t"
                f"{json.dumps(setting)}"
            )


@study.command()
@name_argument
@click.argument("ids", type=int, nargs=-1, required=True)
@url_option
def forget(name: str, ids: tuple[int, ...], url: str) -> None:
    """Close the queries IDS, which nobody will answer."""
    with _open(url, name) as kept:
        for query in ids:
            kept.forget(query)


@study.command()
@name_argument
@url_option
def hold(name: str, url: str) -> None:
    """Let a tuner play its best setting, and learn nothing until resume."""
    with _open(url, name) as held:
        held.hold()
        click.echo(f"on hold: plays {json.dumps(held.best)}")


@study.command()
@name_argument
@url_option
def resume(name: str, url: str) -> None:
    """Let a tuner on hold explore and learn again."""
    with _open(url, name) as held:
        held.resume()
        click.echo("explores and learns")


@study.command()
@name_argument
@url_option
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Instead of stdout.")
def export(name: str, url: str, out: Path | None) -> None:
    """Write the history as CSV.

    Of a learner: round, point, loss, curvature, center, certificate. Of a tuner: round, a column
    for each name, value, expected, held, the best guess by name, certificate, and the covariates
    (covariate.NAME) and standard errors (sem) that were given.
    """
    with _open(url, name) as written:
        if out is None and sys.stdout is None:
            raise ParameterError("standard output is closed; name a file with --out")
        if out is None:
            write_csv(_parts(written), sys.stdout)
        else:
            with replacing(out) as file:
                write_csv(_parts(written), codecs.getwriter("utf-8")(file))


def _parts(written: Study) -> Iterator[Table]:
    """The history, some rounds at a time, with a progress bar."""
    rounds, expected = written.rounds, 0
    with Progress(rounds, True) as bar:
        for first in range(1, max(rounds, 1) + 1, EXPORTED_AT_ONCE):
            part = written.history(first, min(rounds, first + EXPORTED_AT_ONCE - 1))
            if expected and not (len(part) and part["round"][0] == expected):
                raise StateError(f"study {written.name!r} was trimmed meanwhile; export it again")
            expected = part["round"][-1] + 1 if len(part) else 0
            yield part
            bar.move(EXPORTED_AT_ONCE)


@study.command()
@name_argument
@click.option("--before", type=click.IntRange(1), required=True, help="The first round to keep.")
@url_option
def trim(name: str, before: int, url: str) -> None:
    """Remove the history of the rounds before one; the learner stays as it is."""
    with _open(url, name) as trimmed:
        click.echo(f"{trimmed.trim(before, progress=True)} rows removed")


@study.command()
@name_argument
@url_option
@click.option(
    "--workers",
    cls=RenamedOption,
    former="--jobs",
    type=click.IntRange(1),
    default=os.cpu_count(),
    help="Processes among which a long journal is divided; as many as there are processors.",
)
def verify(name: str, url: str, workers: int) -> None:
    """Replay the whole journal, check every seal, and compare with the learner."""
    with _open(url, name) as checked:
        rows = checked.verify(workers=workers, progress=True)
        click.echo(f"{rows} rows replayed: the learner is what they make, bit for bit")


@study.command()
@name_argument
@url_option
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(name: str, url: str, yes: bool) -> None:
    """Remove a study."""
    if name not in Study.names(url):
        _open(url, name).close()  # says what is there; a damaged one can be removed
    if not yes:
        click.confirm("Remove the study and its whole history?", abort=True)
    Study.delete(url, name)
