"""The table of the page "The rate of every learner", from the CSVs of `evidence.rates --full`."""

from __future__ import annotations

from pathlib import Path

from pages import Row, markdown

from dikin.experiments.cell import Result
from dikin.experiments.fit import Curve
from dikin.experiments.tables import Columns, difference, exponent, interval, read_csv, whole
from evidence.rates.cases import RATE_CASES
from evidence.rates.results import BAND, Line


def parts(docs: Path) -> dict[str, str]:
    """Return the parts of the page."""
    rows = read_csv(docs / "rates" / "rates.csv")
    longest = {row["case"]: row["horizon"] for row in read_csv(docs / "rates" / "regrets.csv")}
    columns: Columns[Row] = {
        "learner": lambda row: f"`{row['learner']}`",
        "losses": lambda row: f"`{row['losses']}`",
        "bound": lambda row: row["bound"],
        "measured": lambda row: exponent(float(row["measured"])),
        "95% interval": lambda row: interval(float(row["low"]), float(row["high"])),
        "gap": lambda row: difference(float(row["gap"])),
        "bound's slope": lambda row: exponent(float(row["bound_slope"])),
        "largest T": lambda row: whole(int(longest[row["case"]])),
        "games": lambda row: row["games"],
    }
    return {"rates": markdown(columns, rows), "misses": misses(rows)}


def misses(rows: list[Row]) -> str:
    """Return a sentence on the rows that lie outside the band."""
    missed = [r for r in rows if abs(float(r["gap"])) > BAND]
    widest = max((r for r in rows if r not in missed), key=lambda r: abs(float(r["gap"])))
    within = f"he widest gap is {float(widest['gap']):+.3f}, of `{widest['learner']}`"
    if not missed:
        return f"Every row lies within {BAND} of the proved exponent. T{within}."
    named = ", ".join(
        f"`{r['learner']}` on {r['losses']} by {float(r['gap']):+.3f}" for r in missed
    )
    return f"Outside {BAND} of the proved exponent: {named}. For the others, t{within}."


def read_lines(folder: Path) -> list[Line]:
    """Return the lines of `evidence.rates`, back from its file of games."""
    games: dict[str, list[tuple[int, list[Result]]]] = {}
    for row in read_csv(folder / "games.csv"):
        game = int(row["horizon"]), [{"regret": float(row["regret"])}]
        games.setdefault(row["case"], []).append(game)
    return [_line(case, played) for case, played in games.items()]


def _line(key: str, games: list[tuple[int, list[Result]]]) -> Line:
    case, curve = RATE_CASES[key], Curve.of(games)
    proved = case.bound.exponent(curve.sizes)
    return Line(case, Curve.of(games, proved=proved))
