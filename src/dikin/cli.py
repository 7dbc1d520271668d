"""The command line: `dikin study`, `dikin serve`, and what research needs."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from dikin import extras
from dikin.errors import CheckFailedError, DikinError
from dikin.service.commands import serve, token
from dikin.studies.commands import study

F = TypeVar("F", bound=Callable[..., Any])

SECTIONS = {"Tune": ("study",), "Serve": ("serve", "token"), "Research": None}
"""The headings of `dikin --help`, and the commands below each; None for all others."""


class Commands(click.Group):
    """Ends the program with a message and an exit status where a mistake was made."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, a section for each purpose."""
        sectioned = {name for names in SECTIONS.values() for name in names or ()}
        for heading, names in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl(
                    (name, self.commands[name].get_short_help_str(formatter.width - 14))
                    for name in names or sorted(self.commands.keys() - sectioned)
                )

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command."""
        if sys.stdin is None:  # closed by who started this
            sys.stdin = open(os.devnull)  # noqa: SIM115 - for as long as the program runs
        try:
            return super().main(*args, **kwargs)
        except CheckFailedError as broken:
            _end(f"A BOUND IS BROKEN: {broken}", 1)
        except DikinError as mistake:
            _end(f"dikin: {mistake}", 2)
        except OSError as trouble:
            if trouble.filename is None and trouble.errno in (errno.ENOSPC, errno.EIO, errno.EBADF):
                _give_up_output()
                _end(f"dikin: standard input or output: {trouble.strerror}", 2)
            where = f"{trouble.filename}: " if trouble.filename else ""
            _end(f"dikin: {where}{trouble.strerror or trouble}", 2)

    def invoke(self, ctx: click.Context) -> Any:
        """Run what was parsed."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            sys.exit(130)


def _give_up_output() -> None:
    """Let what is still to be written vanish, as Python writes it in its last moments."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _end(message: str, status: int) -> NoReturn:
    click.echo(message, err=True)
    sys.exit(status)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dikin")
def main() -> None:
    """Tune what runs: one number back per decision, and nothing to set but names and ranges.

    A study is a tuner in a database. Create one, ask for a setting, use it, and tell the number
    that you measured:

    \b
      dikin study create shop --param price=1:14:4 --maximize
      dikin study ask shop             prints {"id": 0, "params": {"price": 5.4}}
      dikin study tell shop 0 512.0
      dikin study best shop

    `dikin serve` offers studies over HTTP, with a page to watch them. `dikin COMMAND --help` has
    examples and options.
    """  # noqa: D301 - click reads the backspace character


main.add_command(study)
main.add_command(serve)
main.add_command(token)


def out_option(folder: str, files: str) -> Callable[[F], F]:
    """Where a command writes."""
    return click.option(
        "--out",
        type=click.Path(path_type=Path),
        default=Path(folder),
        show_default=True,
        help=f"Folder for {files} and finished cells.",
    )


workers_option = click.option(
    "--workers", type=click.IntRange(1), default=2, show_default=True, help="Processes."
)
seed_option = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of all games."
)
quick_option = partial(click.option, "--quick", "effort", flag_value="quick", default="quick")
full_option = partial(click.option, "--full", "effort", flag_value="full")


@main.command()
@quick_option(help="Minutes. The default.")
@full_option(help="Up to 10^7 rounds, more games: about an hour on two cores.")
@click.option(
    "--paper",
    "effort",
    flag_value="paper",
    help="The paper's own constants instead, up to 10^9 rounds, where they begin to learn.",
)
@out_option("reproduction", "tables, figures, report")
@workers_option
@click.option("--dask", metavar="ADDRESS", help="Play on the Dask cluster at this address instead.")
@click.option(
    "--store",
    metavar="URL",
    help="Keep finished cells in this database (such as postgresql://...) instead of in --out.",
)
@click.option(
    "--table",
    "table",
    type=click.Choice(["1", "2"]),
    help="One table only: 1 (smooth) or 2 (Lipschitz).",
)
@seed_option
def reproduce(
    effort: str,
    out: Path,
    workers: int,
    dask: str | None,
    store: str | None,
    table: str | None,
    seed: int,
) -> None:
    """Measure both tables of the paper.

    Plays every row of Tables 1 and 2 of "Adaptive Bandit Convex Optimization with Heterogeneous
    Curvature" over a grid of horizons, with the paper's learners and with Predictive, and fits the
    exponents of T; then varies the dimension, the number of flat rounds, and what is told of the
    curvature. Writes CSVs (games.csv has every game), figures and report.html into --out.

    With --paper it plays two rows of each table with the constants of the paper as they are, and
    writes paper.csv, games.csv and paper.png.

    An interrupted run goes on where it was: run the same command again.

    \b
    Examples:
      dikin reproduce                       both tables, a few minutes
      dikin reproduce --full --out full     the long version
      dikin reproduce --paper --out paper   half an hour on two cores
    """  # noqa: D301 - click reads the backspace character
    console = extras.require("rich.console", "lab", "dikin reproduce").Console()
    from dikin.experiments.reproduce import FULL, PAPER, QUICK, Request, reproduce_paper
    from dikin.experiments.reproduce import reproduce as reproduce_tables

    request = Request(
        effort={"quick": QUICK, "full": FULL, "paper": PAPER}[effort],
        tables=(1, 2) if table is None else (int(table),),
        seed=seed,
        workers=workers,
        dask=dask,
        store=store,
    )
    run = reproduce_paper if effort == "paper" else reproduce_tables
    run(request, out, console)


@main.command()
@quick_option(help="A few minutes. The default.")
@full_option(help="Ten times as far, twice the games: half an hour.")
@out_option("rates", "tables, figure")
@workers_option
@click.option(
    "--learner", "learners", multiple=True, metavar="NAME", help="Only this one; may be repeated."
)
@seed_option
def rates(effort: str, out: Path, workers: int, learners: tuple[str, ...], seed: int) -> None:
    """Measure the rate of every learner, on losses where it pays its own bound.

    For each learner there are losses on which it pays the leading term of its own bound. It is
    built anew for a grid of horizons T and plays several games at each; the exponent of T in its
    mean regret is fitted and set against the proved one. Writes rates.csv, regrets.csv, games.csv,
    logarithms.csv and rates.png into --out.

    An interrupted run goes on where it was: run the same command again.

    \b
    Examples:
      dikin rates                           all learners
      dikin rates --learner FKM --learner Scrible
      dikin rates --full --out docs/rates   the numbers of docs/rates.md
    """  # noqa: D301 - click reads the backspace character
    console = extras.require("rich.console", "lab", "dikin rates").Console()
    from dikin.experiments.rates import FULL, QUICK, Request
    from dikin.experiments.rates import rates as run

    request = Request(
        effort=QUICK if effort == "quick" else FULL, learners=learners, seed=seed, workers=workers
    )
    run(request, out, console)


@main.command()
@click.option(
    "--learner",
    "learners",
    multiple=True,
    metavar="NAME",
    help="Only this learner; may be given several times. Default: all, registered ones included.",
)
@click.option(
    "--scenario",
    "scenarios",
    multiple=True,
    metavar="NAME",
    help="Only this scenario or environment of yours, or group: smooth, lipschitz, noise, drift, "
    "hostile, own. May be repeated.",
)
@click.option("--rounds", type=click.IntRange(10), default=2_000, show_default=True)
@click.option(
    "--seeds",
    type=click.IntRange(1),
    help="Games a cell. Default: 8 where the compiled loop plays, 4 elsewhere.",
)
@click.option(
    "--slow-seeds",
    type=click.IntRange(1),
    help="Games a cell where the compiled loop cannot play. Default: --seeds.",
)
@click.option(
    "--most-seeds",
    type=click.IntRange(1),
    help="Games, in the end, of every cell near the best that is neither known to be behind it nor "
    "to be as good. Default: no cell plays more than the above.",
)
@click.option(
    "--external",
    is_flag=True,
    help="With pycma, also with noise handling, and nevergrad's SPSA and TBPSA: dikin[compare].",
)
@out_option("comparison", "compare.csv, games.csv, compare.png")
@workers_option
@seed_option
def compare(
    learners: tuple[str, ...],
    scenarios: tuple[str, ...],
    rounds: int,
    seeds: int | None,
    slow_seeds: int | None,
    most_seeds: int | None,
    external: bool,
    out: Path,
    workers: int,
    seed: int,
) -> None:
    """Measure which learner to take: every learner in every scenario.

    Each learner is tuned by what the scenario declares (smoothness, Lipschitz constant, range, the
    horizon where the learner must know it, and a curvature where it must know one). The best in
    each scenario is marked, with all that are not distinguished from it; so is every cell in which
    an assumption of the learner does not hold, and every learner that sees more than one value.
    Learners and environments of your own take part once they are registered (dikin.register).

    An interrupted run goes on where it was: run the same command again.

    \b
    Examples:
      dikin compare
      dikin compare --learner adaptivesmooth --learner fkm --rounds 100000
      dikin compare --scenario linear --scenario drift --external
    """  # noqa: D301 - click reads the backspace character
    console = extras.require("rich.console", "lab", "dikin compare").Console()
    from dikin.experiments.compare import Request
    from dikin.experiments.compare import compare as run

    request = Request(
        learners=learners,
        scenarios=scenarios,
        rounds=rounds,
        seeds=seeds,
        slow_seeds=slow_seeds,
        most_seeds=most_seeds,
        external=external,
        seed=seed,
        workers=workers,
    )
    run(request, out, console)
