"""The page "What the paper says and what we measured", from the CSVs of a full run."""

from __future__ import annotations

import csv
import sys
from math import log
from pathlib import Path

from dikin.experiments.plan import FULL
from dikin.storage import replace_file

Row = dict[str, str]


def render(folder: Path) -> str:
    """The template of a folder, with the numbers of its CSVs."""
    tables = {n: _read(folder / f"table{n}.csv") for n in (1, 2)}
    by_gap = sorted([*tables[1], *tables[2]], key=lambda row: float(row["gap"]))
    first, last = FULL.horizons[-FULL.tail], FULL.horizons[-1]
    return (
        (folder / "template.md")
        .read_text(encoding="utf-8")
        .format(
            seeds=tables[1][0]["seeds"],
            tail=FULL.tail,
            horizon=int(tables[1][0]["horizon"]),
            table1=_table(tables[1]),
            table2=_table(tables[2]),
            dims=_dims(_read(folder / "dimensions.csv")),
            worst=float(by_gap[-1]["gap"]),
            worst_row=by_gap[-1]["pattern"],
            least=float(by_gap[0]["gap"]),
            least_row=by_gap[0]["pattern"],
            log=0.5 * log(log(last) / log(first)) / log(last / first),
            fifth=32**5,
            dim_horizon=FULL.dim_horizon,
        )
    )


def _read(file: Path) -> list[Row]:
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
    return _markdown(head, cells)


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
    return _markdown("table | pattern | set | in the table | measured | 95% interval", cells)


def _markdown(head: str, rows: list[list[str]]) -> str:
    rule = " | ".join("---" for _ in head.split("|"))
    return "\n".join(f"| {line} |" for line in (head, rule, *(" | ".join(row) for row in rows)))


if __name__ == "__main__":
    replace_file(Path(sys.argv[2]), render(Path(sys.argv[1])).encode())
