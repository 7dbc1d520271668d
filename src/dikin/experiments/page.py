"""The page "What the paper says and what we measured", from the CSVs of a full run."""

from __future__ import annotations

import csv
import sys
from math import log
from pathlib import Path

import numpy as np

from dikin.domains.ball import Ball
from dikin.experiments.plan import FULL, TABLES
from dikin.learners.adaptive_smooth import PaperSmooth
from dikin.serialization import replace_file
from dikin.theory import theorems

Row = dict[str, str]


def render(folder: Path) -> str:
    """The template of a folder, with the numbers of its CSVs."""
    tables = {n: read_rows(folder / f"table{n}.csv") for n in (1, 2)}
    by_gap = sorted([*tables[1], *tables[2]], key=lambda row: float(row["gap"]))
    first, last = FULL.horizons[-FULL.tail], FULL.horizons[-1]
    slow = next(row for row in tables[2] if "8/9" in row["pattern"])
    world = TABLES[1].environment(Ball(2), "zero", last, 0)
    bend = TABLES[1].bend / world.loss_range[1]
    return (
        (folder / "template.md")
        .read_text(encoding="utf-8")
        .format(
            seeds=tables[1][0]["seeds"],
            tail=FULL.tail,
            horizon=int(tables[1][0]["horizon"]),
            table1=_table(tables[1]),
            table2=_table(tables[2]),
            dims=_dims(read_rows(folder / "dimensions.csv")),
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
            first=PaperSmooth.of(2, 1.0, bend, last).first,
            fifth=32**5,
            dim_horizon=FULL.dim_horizon,
        )
    )


def _bound_slope() -> float:
    """The slope of Theorem 12's expression itself, for the first T^(8/9) rounds flat."""
    table, values = TABLES[2], []
    horizons = np.array(FULL.horizons[-FULL.tail :])
    for horizon in horizons.tolist():
        scale = table.environment(Ball(2), "first", horizon, 0).loss_range[1]
        flat = table.pattern("first", horizon).rounds
        sigmas = np.where(np.arange(horizon) < flat, 0.0, table.sigma / scale)
        values.append(theorems.lipschitz_regret(sigmas, 2, 1.0, table.bend / scale))
    return float(np.polyfit(np.log(horizons), np.log(values), 1)[0])


def read_rows(file: Path) -> list[Row]:
    """The lines of a CSV."""
    with open(file, encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


def _table(rows: list[Row]) -> str:
    head = "pattern | proved | measured | 95% interval | gap | regret | certificate | statement"
    cells = [
        [
            r["pattern"],
            f"{float(r['theory']):.3f}",
            f"{float(r['measured']):.3f}",
            f"{float(r['low']):.3f} to {float(r['high']):.3f}",
            f"{float(r['gap']):+.3f}",
            f"{float(r['regret']):,.0f}",
            f"{float(r['certificate']):,.0f}",
            f"`{r['statement']}`",
        ]
        for r in rows
    ]
    return markdown(head, cells)


def _dims(rows: list[Row]) -> str:
    cells = [
        [
            r["table"],
            r["pattern"],
            r["set"],
            f"{float(r['theory']):.2f}",
            f"{float(r['measured']):.2f}",
            f"{float(r['low']):.2f} to {float(r['high']):.2f}",
        ]
        for r in rows
    ]
    return markdown("table | pattern | set | in the table | measured | 95% interval", cells)


def markdown(head: str, rows: list[list[str]]) -> str:
    """A table; `head` has its columns with bars between."""
    rule = " | ".join("---" for _ in head.split("|"))
    return "\n".join(f"| {line} |" for line in (head, rule, *(" | ".join(row) for row in rows)))


if __name__ == "__main__":
    replace_file(Path(sys.argv[2]), render(Path(sys.argv[1])).encode())
