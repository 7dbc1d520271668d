"""The command line of the paper's tables: `dikin reproduce`."""

from __future__ import annotations

from pathlib import Path

import click

from dikin import extras


@click.command()
@click.option(
    "--quick", "effort", flag_value="quick", default="quick", help="A few minutes, the default."
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
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed.")
def reproduce(effort: str, out: Path, workers: int, table: str | None, seed: int) -> None:
    """Measure both tables of the paper.

    Runs every row of Tables 1 and 2 of "Adaptive Bandit Convex Optimization with Heterogeneous
    Curvature" over a grid of horizons, with the paper's learners and with Predictive, and fits the
    exponents of T and of the dimension. Writes CSVs (games.csv has every run), figures and
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
