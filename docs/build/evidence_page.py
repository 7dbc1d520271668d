"""The page "What the paper says and what we measured", from the CSVs of a full run."""

from __future__ import annotations

from math import log
from pathlib import Path

import numpy as np
from pages import Row, fill_template, markdown

from dikin.domains.ball import Ball
from dikin.environments.patterns import Constant, FlatFirst
from dikin.experiments.reproduce.plan import FULL, TABLES
from dikin.experiments.tables import Columns, difference, exponent, interval, read_csv, whole
from dikin.learners.adaptive_smooth import rho
from dikin.theory import theorems, tuning


def render(folder: Path) -> str:
    """The template of a folder, with the numbers of its CSVs."""
    tables = {n: read_csv(folder / f"table{n}.csv") for n in (1, 2)}
    by_gap = sorted([*tables[1], *tables[2]], key=lambda row: float(row["gap"]))
    first, last = FULL.horizons[-FULL.tail], FULL.horizons[-1]
    slow = next(row for row in tables[2] if "8/9" in row["pattern"])
    game = TABLES[1].environment(Ball(2), Constant(0.0), 0)
    smoothness = TABLES[1].constant / game.loss_range[1]
    return fill_template(
        folder,
        seeds=tables[1][0]["seeds"],
        tail=FULL.tail,
        horizon=int(tables[1][0]["horizon"]),
        table1=markdown(TABLE, tables[1]),
        table2=markdown(TABLE, tables[2]),
        dims=markdown(DIMENSIONS, read_csv(folder / "dimensions.csv")),
        worst=float(by_gap[-1]["gap"]),
        worst_row=by_gap[-1]["pattern"],
        least=float(by_gap[0]["gap"]),
        least_row=by_gap[0]["pattern"],
        log=0.5 * log(log(last) / log(first)) / log(last / first),
        share=last ** (8 / 9 - 1),
        bound=_bound_slope(),
        first_theory=float(slow["theory"]),
        first_low=float(slow["low"]),
        first_high=float(slow["high"]),
        first_over=float(slow["low"]) - float(slow["theory"]),
        first=(smoothness + 1.0) * rho(1.0),
        fifth=32**5,
        dim_horizon=FULL.dim_horizon,
    )


def _bound_slope() -> float:
    """The slope of Theorem 12's expression itself, for the first T^(8/9) rounds flat."""
    table, values = TABLES[2], []
    horizons = np.array(FULL.horizons[-FULL.tail :])
    for horizon in horizons.tolist():
        pattern = table.rows["first"].pattern(horizon)
        scale = table.environment(Ball(2), pattern, 0).loss_range[1]
        assert isinstance(pattern, FlatFirst)
        sigmas = np.where(np.arange(horizon) < pattern.rounds, 0.0, table.sigma / scale)
        setting = tuning.lipschitz(2, table.constant / scale)
        values.append(theorems.regret(setting, sigmas, 1.0))
    return float(np.polyfit(np.log(horizons), np.log(values), 1)[0])


TABLE: Columns[Row] = {
    "pattern": lambda row: row["pattern"],
    "proved": lambda row: exponent(float(row["theory"])),
    "measured": lambda row: exponent(float(row["measured"])),
    "95% interval": lambda row: interval(float(row["low"]), float(row["high"])),
    "gap": lambda row: difference(float(row["gap"])),
    "regret": lambda row: whole(float(row["regret"])),
    "certificate": lambda row: whole(float(row["certificate"])),
    "statement": lambda row: f"`{row['statement']}`",
}
DIMENSIONS: Columns[Row] = {
    "table": lambda row: row["table"],
    "pattern": lambda row: row["pattern"],
    "set": lambda row: row["set"],
    "in the table": lambda row: f"{float(row['theory']):.2f}",
    "measured": lambda row: f"{float(row['measured']):.2f}",
    "95% interval": lambda row: interval(float(row["low"]), float(row["high"]), 2),
}
