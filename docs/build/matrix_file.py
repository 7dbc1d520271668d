"""The matrix of `evidence.compare`, back from its files."""

from __future__ import annotations

from math import nan
from pathlib import Path

from dikin.experiments.tables import read_csv
from evidence.compare.matrix import AGAINST, Matrix, Outcome

Games = dict[tuple[str, str], list[tuple[int, float, float]]]


def read_matrix(folder: Path) -> Matrix:
    """The matrix that `evidence.compare` wrote into a folder."""
    games: Games = {}
    for row in read_csv(folder / "games.csv"):
        game = int(row["seed"]), float(row["regret"]), float(row["certificate"])
        games.setdefault((row["scenario"], row["learner"]), []).append(game)
    return Matrix(tuple(_outcome(row, games) for row in read_csv(folder / "compare.csv")))


def _outcome(row: dict[str, str], games: Games) -> Outcome:
    played = games.get((row["scenario"], row["learner"]), [])
    seeds, regrets, bounds = zip(*played, strict=True) if played else ((), (), ())
    return Outcome(
        **{name: row[name] for name in ("learner", "scenario", "feedback", "left_out", "package")},
        group=row["group"],
        rounds=int(row["rounds"]),
        seeds=tuple(seeds),
        regrets=tuple(regrets),
        certificates=tuple(bounds),
        first_look=int(row["first_look"]),
        seconds=float(row["seconds"] or nan),
        compiled=row["compiled"] == "yes",
        broken=tuple(row["broken"].split()),
        moving=row["against"] == AGAINST[True],
    )
