"""The page "Every learner on its home ground", from the CSVs of `dikin rates --full`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from dikin.experiments.grounds import COUNT, GROUNDS
from dikin.experiments.home import BAND
from dikin.experiments.page import Row, markdown, read_rows
from dikin.serialization import replace_file


def render(folder: Path) -> str:
    """The template of a folder, with the numbers of its CSVs."""
    rows = read_rows(folder / "rates.csv")
    last = {row["ground"]: row for row in read_rows(folder / "regrets.csv")}
    return (
        (folder / "template.md")
        .read_text(encoding="utf-8")
        .format(
            count=COUNT,
            band=BAND,
            table=_table(rows, last),
            misses=_misses(rows),
            newton=newton_slope(),
            logarithms=_logarithms(read_rows(folder / "logarithms.csv"), rows),
        )
    )


def _table(rows: list[Row], last: dict[str, Row]) -> str:
    head = "learner, told | losses | bound | measured | 95% interval | gap | bound's slope"
    cells = [
        [
            f"`{r['learner']}`",
            f"`{r['losses']}`",
            r["bound"],
            f"{float(r['measured']):.3f}",
            f"{float(r['low']):.3f} to {float(r['high']):.3f}",
            f"{float(r['gap']):+.3f}",
            f"{float(r['bound_slope']):.3f}",
            f"{int(last[r['ground']]['horizon']):,}",
            r["games"],
            _three_digits(float(last[r["ground"]]["regret"])),
        ]
        for r in rows
    ]
    return markdown(f"{head} | largest T | games | regret", cells)


def _three_digits(value: float) -> str:
    return f"{float(f'{value:.3g}'):,.10g}"


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
    ground = GROUNDS["bandit-newton"]
    world, horizons = ground.losses.start(0), np.array(ground.horizons(1), dtype=float)
    low, high = world.loss_range
    q = world.curvature(1) * world.domain.radius**2 / (high - low)
    steep = world.lipschitz * world.domain.radius / (high - low)
    eta = 1 / np.sqrt(horizons) / (1 + steep)
    costs = 2 / eta * np.log(1 + eta * q * horizons / 4)
    return float(np.polyfit(np.log(horizons), np.log(costs), 1)[0])


def _logarithms(fits: list[Row], rows: list[Row]) -> str:
    names = {r["ground"]: r["learner"] for r in rows}
    cells = [
        [
            f"`{names[f['ground']]}`",
            f"{float(f['start']):.3g} + {float(f['step']):.3g} ln T",
            f"{float(f['misfit']):.2%}",
            f"{float(f['power_misfit']):.2%}",
        ]
        for f in fits
    ]
    return markdown("learner, told | fit | misses a mean by at most | power law does by", cells)


if __name__ == "__main__":
    replace_file(Path(sys.argv[2]), render(Path(sys.argv[1])).encode())
