"""The command line: `dikin study`, `dikin serve`, `dikin reproduce`."""

from __future__ import annotations

import errno
import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from dikin import extras
from dikin.errors import CheckFailedError, DikinError
from dikin.service.commands import report, serve, token
from dikin.studies.commands import study


class Commands(click.Group):
    """Ends the program with a message and an exit status where a mistake was made."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the parsed command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            sys.exit(130)
        except CheckFailedError as broken:
            _end(f"A BOUND IS BROKEN: {broken}", 1)
        except DikinError as mistake:
            _end(f"dikin: {mistake}", 2)
        except OSError as trouble:
            if trouble.errno == errno.EPIPE:  # click ends quietly
                raise
            where = f"{trouble.filename}: " if trouble.filename else ""
            _end(f"dikin: {where}{trouble.strerror or trouble}", 2)


def _end(message: str, status: int) -> NoReturn:
    click.echo(message, err=True)
    sys.exit(status)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dikin")
def main() -> None:
    """Tune what runs: one number back per decision, and nothing to set but names and ranges.

    A study is a tuner in a database. Create one, ask for a setting, use it, and report the number
    that you measured:

    \b
      dikin study create shop --param price=1:14:4 --maximize
      dikin study ask shop             prints {"id": 0, "params": {"price": 5.4}}
      dikin study tell shop 0 512.0
      dikin study best shop

    `dikin serve` offers studies over HTTP, with a page to watch them. `dikin COMMAND --help` has
    examples and options.
    """  # noqa: D301 - click reads the backspace character


study.add_command(report)
for _command in (study, serve, token):
    main.add_command(_command)


@main.command()
@click.option(
    "--quick", "effort", flag_value="quick", default="quick", help="The default: minutes."
)
@click.option(
    "--full", "effort", flag_value="full", help="Up to 10^7 rounds: an hour on two cores."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("reproduction"),
    show_default=True,
    help="Folder for tables, figures, report and finished cells.",
)
@click.option("--workers", type=click.IntRange(1), default=2, show_default=True, help="Processes.")
@click.option("--table", type=click.Choice(["1", "2"]), help="Table 1 (smooth) or 2 (Lipschitz).")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of all games.")
def reproduce(effort: str, out: Path, workers: int, table: str | None, seed: int) -> None:
    """Measure both tables of the paper.

    Plays every row of Tables 1 and 2 of "Adaptive Bandit Convex Optimization with Heterogeneous
    Curvature" over a grid of horizons, with the paper's learners and with Predictive, and fits the
    exponents of T and of the dimension. Writes CSVs (games.csv has every game), figures and
    report.html into --out. Run the same command again to continue an interrupted run.

    \b
    Examples:
      dikin reproduce                       both tables, a few minutes
      dikin reproduce --full --out full     the long version
    """  # noqa: D301 - click reads the backspace character
    console = extras.require("rich.console", "lab", "dikin reproduce").Console()
    from dikin.experiments.reproduce import FULL, QUICK, Request
    from dikin.experiments.reproduce import reproduce as reproduce_tables

    tables = (1, 2) if table is None else (int(table),)
    chosen = {"quick": QUICK, "full": FULL}[effort]
    reproduce_tables(
        Request(effort=chosen, tables=tables, seed=seed, workers=workers), out, console
    )
