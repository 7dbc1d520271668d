"""A reproduction small enough for a test."""

import io
from pathlib import Path
from typing import Any

from rich.console import Console

from dikin.experiments import runner
from dikin.experiments.reproduce.plan import Effort, Request
from dikin.experiments.reproduce.results import Measured, all_cells, write_files


def effort(name: str, horizons: tuple[int, ...], games: int) -> Effort:
    players = ("seeds", "predictive_seeds", "steady_seeds", "other_seeds")
    return Effort(
        name=name,
        horizons=horizons,
        predictive_horizons=horizons,
        tail=len(horizons),
        dims=(2, 4),
        dim_horizon=horizons[0],
        **dict.fromkeys(players, games),
    )


TINY = effort("tiny", (20, 40, 80), 3)
LEAST = effort("least", (8, 16), 2)
"""For tests that play the same games in several ways: what the games are does not matter there."""


def request(**changes: Any) -> Request:
    return Request(**({"effort": TINY, "workers": 1} | changes))


def run(out: Path, **changes: Any) -> str:
    """Play and write the tables into a folder, without figures; gives what the terminal showed."""
    console, asked = Console(record=True, width=120, file=io.StringIO()), request(**changes)
    results = runner.run(all_cells(asked), asked, out, console)
    write_files(Measured.of(asked, results), asked, results, out)
    return console.export_text()


def run_least(out: Path, **changes: Any) -> str:
    """Play one table: the second asks nothing more of processes and databases."""
    return run(out, **{"effort": LEAST, "tables": (1,)} | changes)
