"""The tables of the page "The paper's tables", from the CSVs of a full run of `dikin reproduce`."""

from __future__ import annotations

from pathlib import Path

from pages import Row, markdown

from dikin.experiments.fit import Result
from dikin.experiments.reproduce.plan import FULL, Request
from dikin.experiments.reproduce.results import all_cells, count_verdicts
from dikin.experiments.runner import Results
from dikin.experiments.tables import Columns, exponent, interval, read_csv, whole


def parts(docs: Path) -> dict[str, str]:
    """Return the parts of the page."""
    folder = docs / "evidence"
    tables = {n: read_csv(folder / f"table{n}.csv") for n in (1, 2)}
    predictive = [row for row in read_csv(folder / "predictive.csv") if row["losses"] == "plain"]
    others = {(str(n), row["pattern"]): row["regret"] for n in tables for row in tables[n]}
    return {
        "table 1": markdown(TABLE, tables[1]),
        "table 2": markdown(TABLE, tables[2]),
        "verdicts": count_verdicts(r["verdict"].split(",")[0] for n in tables for r in tables[n]),
        "predictive": markdown(
            PREDICTIVE,
            (row | {"other": others[row["table"], row["pattern"]]} for row in predictive),
        ),
        "paper constants": markdown(PAPER, read_csv(folder / "paper" / "paper.csv")),
    }


PATTERN: Columns[Row] = {"pattern": lambda row: row["pattern"]}
PROVED: Columns[Row] = {"proved": lambda row: exponent(float(row["theory"]))}
MEASURED: Columns[Row] = {
    "measured": lambda row: exponent(float(row["measured"])),
    "95% interval": lambda row: interval(float(row["low"]), float(row["high"])),
}
REGRET: Columns[Row] = {"regret": lambda row: whole(float(row["regret"]))}
CERTIFICATE: Columns[Row] = {"certificate": lambda row: whole(float(row["certificate"]))}
OF_TABLE: Columns[Row] = {"table": lambda row: row["table"]}

TABLE: Columns[Row] = {
    **PATTERN, **PROVED, **MEASURED,
    "verdict": lambda row: row["verdict"],
    **REGRET, **CERTIFICATE,
    "statement": lambda row: f"`{row['statement']}`",
}  # fmt: skip
PREDICTIVE: Columns[Row] = {
    **OF_TABLE, **PATTERN, **PROVED, **MEASURED, **REGRET, **CERTIFICATE,
    "paper's learner": lambda row: whole(float(row["other"])),
}  # fmt: skip
PAPER: Columns[Row] = {**OF_TABLE, **PATTERN, **PROVED, **MEASURED, **REGRET}


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
