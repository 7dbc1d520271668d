"""The page "The rate of every learner", from the CSVs of `evidence.rates --full`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pages import Row, fill_template, markdown

from dikin.experiments.tables import Columns, difference, exponent, interval, read_csv, whole
from evidence.rates.cases import HORIZONS, RATE_CASES
from evidence.rates.results import BAND


def render(folder: Path) -> str:
    """The template of a folder, with the numbers of its CSVs."""
    rows = read_csv(folder / "rates.csv")
    longest = {row["case"]: row["horizon"] for row in read_csv(folder / "regrets.csv")}
    return fill_template(
        folder,
        count=HORIZONS,
        band=BAND,
        table=markdown(_columns(longest), rows),
        misses=_misses(rows),
        newton=newton_slope(),
    )


def _columns(longest: dict[str, str]) -> Columns[Row]:
    """Return those of the table; `longest` has the largest horizon of each case."""
    return {
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


def _misses(rows: list[Row]) -> str:
    """A sentence on the rows that lie outside the band."""
    missed = [r for r in rows if abs(float(r["gap"])) > BAND]
    widest = max((r for r in rows if r not in missed), key=lambda r: abs(float(r["gap"])))
    within = f"the widest gap is {float(widest['gap']):+.3f}, of `{widest['learner']}`"
    if not missed:
        return f"Every row lies within {BAND} of the proved exponent; {within}."
    named = ", ".join(
        f"`{r['learner']}` on {r['losses']} by {float(r['gap']):+.3f}" for r in missed
    )
    return f"Outside {BAND} of the proved exponent: {named}. For the others, {within}."


def newton_slope() -> float:
    """The slope of what exploring costs BanditNewton: (2/eta) ln(1 + eta q T/4), q the curvature.

    On a parabola A grows by eta q/4 a round from A = 1, and a round costs q/(2 A).
    """
    case = RATE_CASES["bandit-newton"]
    game, horizons = case.losses.start(0), np.array(case.horizons(1), dtype=float)
    low, high = game.loss_range
    q = game.curvature(1) * game.domain.radius**2 / (high - low)
    steep = game.lipschitz * game.domain.radius / (high - low)
    eta = 1 / np.sqrt(horizons) / (1 + steep)
    costs = 2 / eta * np.log(1 + eta * q * horizons / 4)
    return float(np.polyfit(np.log(horizons), np.log(costs), 1)[0])
