"""From the games of docs/evidence back to what `dikin reproduce --full` measured."""

from __future__ import annotations

from pathlib import Path

from dikin.experiments.cell import Result
from dikin.experiments.reproduce.plan import FULL, Request
from dikin.experiments.reproduce.results import all_cells
from dikin.experiments.runner import Results
from dikin.experiments.tables import read_csv

REQUEST = Request(effort=FULL)


def read_games(folder: Path) -> Results:
    """Return the results of every cell of a full run."""
    games: dict[tuple[str, int, int], Result] = {
        (row["part"], int(row["horizon"]), int(row["seed"])): {
            "seed": int(row["seed"]),
            "regret": float(row["regret"]),
            "certificate": float(row["certificate"]),
        }
        for row in read_csv(folder / "games.csv")
    }
    return {
        cell.key: [games[cell.name, cell.horizon, seed] for seed in cell.seeds]
        for cell in all_cells(REQUEST)
    }
