"""The lines of `evidence.rates`, back from its file of games."""

from __future__ import annotations

from pathlib import Path

from dikin.experiments.cell import Result
from dikin.experiments.fit import Curve
from dikin.experiments.tables import read_csv
from evidence.rates.cases import RATE_CASES
from evidence.rates.results import Line


def read_lines(folder: Path) -> list[Line]:
    """Return what `evidence.rates` measured into a folder."""
    games: dict[str, list[tuple[int, list[Result]]]] = {}
    for row in read_csv(folder / "games.csv"):
        game = int(row["horizon"]), [{"regret": float(row["regret"])}]
        games.setdefault(row["case"], []).append(game)
    return [_line(case, played) for case, played in games.items()]


def _line(key: str, games: list[tuple[int, list[Result]]]) -> Line:
    case, curve = RATE_CASES[key], Curve.of(games)
    proved = case.bound.exponent(curve.sizes)
    return Line(case, Curve.of(games, proved=proved))
