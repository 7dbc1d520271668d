"""The page "What the paper says and what we measured", from the CSVs of a full run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pages import Row, fill_template, markdown

from dikin.domains.ball import Ball
from dikin.environments.patterns import Constant
from dikin.experiments.reproduce import exploring
from dikin.experiments.reproduce.plan import FULL, TABLES
from dikin.experiments.reproduce.results import count_verdicts
from dikin.experiments.tables import (
    Columns,
    difference,
    exponent,
    interval,
    read_csv,
    whole,
)
from dikin.learners import adaptive
from dikin.theory import schedules, theorems
from dikin.vectors import Array
from evidence.paper_constants import PAPER

DISC = Ball(2)
FITTED = np.array(FULL.horizons[-FULL.tail :], dtype=float)


def render(folder: Path) -> str:
    """The template of a folder, with the numbers of its CSVs."""
    tables = {n: read_csv(folder / f"table{n}.csv") for n in (1, 2)}
    return fill_template(
        folder,
        seeds=tables[1][0]["seeds"],
        tail=FULL.tail,
        horizon=FULL.horizons[-1],
        dim_horizon=FULL.dim_horizon,
        table1=markdown(TABLE, tables[1]),
        table2=markdown(TABLE, tables[2]),
        dims=markdown(DIMENSIONS, read_csv(folder / "dimensions.csv")),
        fifth=FULL.dims[-1] ** 5,
        refit=float(exponent(float(tables[1][0]["measured"]))),
        verdicts=count_verdicts(row["verdict"].split(",")[0] for n in tables for row in tables[n]),
        **_gaps(tables),
        **_predictive(read_csv(folder / "predictive.csv"), tables),
        **_paper(read_csv(folder / "paper" / "paper.csv")),
    )


# --- the gaps ------------------------------------------------------------------------------------


def _gaps(tables: dict[int, list[Row]]) -> dict[str, object]:
    by_gap = sorted([*tables[1], *tables[2]], key=lambda row: float(row["gap"]))
    slow = next(row for row in tables[2] if "8/9" in row["pattern"])
    found: dict[str, object] = {
        "worst": float(by_gap[-1]["gap"]),
        "worst_row": by_gap[-1]["pattern"],
        "least": float(by_gap[0]["gap"]),
        "least_row": by_gap[0]["pattern"],
        "share": FITTED[-1] ** (8 / 9 - 1),
        "bound": _bound_slope(),
        "first_theory": float(slow["theory"]),
        "first_low": float(slow["low"]),
        "first_high": float(slow["high"]),
        "hessian": exploring.hessian(),
        "certificate1": exponent(float(tables[1][0]["certificate_slope"])),
    }
    for number, lines in tables.items():
        (price,) = exploring.whole_prices(number, "zero", FULL.horizons[-1:])
        found[f"explore{number}"] = float(lines[0]["exploring_slope"])
        found[f"share{number}"] = price / float(lines[0]["regret"])
        found[f"zero{number}"] = exponent(float(lines[0]["measured"]))
    return found


def _slope(values: Array) -> float:
    """Fitted as the exponents of the tables are."""
    return float(np.polyfit(np.log(FITTED), np.log(values), 1)[0])


def _bound_slope() -> float:
    """The slope of Theorem 12's expression itself, for the first T^(8/9) rounds flat."""
    table, values = TABLES[2], []
    for horizon in FITTED.astype(int).tolist():
        pattern = table.rows["first"].pattern(horizon)
        scale = table.environment(DISC, pattern, 0).loss_range[1]
        sigmas = np.where(np.arange(horizon) < pattern.first, 0.0, table.sigma / scale)
        setting = schedules.lipschitz(2, table.constant / scale)
        values.append(theorems.regret(setting, sigmas, DISC.nu))
    return _slope(np.array(values))


# --- the other parts -----------------------------------------------------------------------------


def _predictive(lines: list[Row], tables: dict[int, list[Row]]) -> dict[str, object]:
    others = {(str(n), row["pattern"]): row["regret"] for n in tables for row in tables[n]}
    rows = [line | {"other": others[line["table"], line["pattern"]]} for line in lines]
    plain = [row for row in rows if row["losses"] == "plain"]
    factors = [float(row["other"]) / float(row["regret"]) for row in plain]
    return {
        "predictive_games": lines[0]["seeds"],
        "predictive1": markdown(PREDICTIVE, (row for row in rows if row["table"] == "1")),
        "predictive2": markdown(PREDICTIVE, (row for row in rows if row["table"] == "2")),
        "wins": sum(factor > 1 for factor in factors),
        "rows": len(plain),
        "least_factor": min(factors),
        "most_factor": max(factors),
    }


def _paper(lines: list[Row]) -> dict[str, object]:
    constants = {
        number: table.constant / table.environment(DISC, Constant(0.0), 0).loss_range[1]
        for number, table in TABLES.items()
    }
    begins = {
        1: adaptive.smooth_rho(DISC.nu),
        2: adaptive.lipschitz_rho(DISC.dim, DISC.nu, constants[2]),
    }
    targets = {
        n: schedules.Setting(TABLES[n].order, DISC.dim, constant).target
        for n, constant in constants.items()
    }
    # Algorithm 1 asks for (beta + 1) rho, Algorithm 2 for rho itself.
    first = {1: max((constants[1] + 1) * begins[1], targets[1]), 2: max(begins[2], targets[2])}
    far = PAPER.horizons[-1]
    totals = {n: schedules.uncurved(first[n], targets[n], far, TABLES[n].order) for n in TABLES}
    return {
        "paper": markdown(PAPER_TABLE, lines),
        "first": first[1],
        "first_lipschitz": first[2],
        "begins1": begins[1],
        "begins2": begins[2],
        "grown1": totals[1] / first[1],
        "grown2": totals[2] / first[2],
        "needed": _rounds_to_outgrow(first[1], targets[1]),
        "far_horizon": far,
        "far_games": PAPER.seeds,
        "far_tail": PAPER.tail,
    }


def _rounds_to_outgrow(first: float, target: float) -> float:
    """The power of ten of the rounds after which S_t is ten times lambda_0, without curvature."""
    powers = np.linspace(6, 20, 1401)
    totals = [schedules.uncurved(first, target, int(10**p), TABLES[1].order) for p in powers]
    return float(np.interp(10 * first, totals, powers))


# --- columns -------------------------------------------------------------------------------------


def _measured(row: Row) -> str:
    return exponent(float(row["measured"]))


def _interval(row: Row) -> str:
    return interval(float(row["low"]), float(row["high"]))


TABLE: Columns[Row] = {
    "pattern": lambda row: row["pattern"],
    "proved": lambda row: exponent(float(row["theory"])),
    "measured": _measured,
    "95% interval": _interval,
    "verdict": lambda row: row["verdict"],
    "gap": lambda row: difference(float(row["gap"])),
    "exploring": lambda row: exponent(float(row["exploring_slope"])),
    "regret": lambda row: whole(float(row["regret"])),
    "certificate": lambda row: whole(float(row["certificate"])),
    "its slope": lambda row: exponent(float(row["certificate_slope"])),
    "statement": lambda row: f"`{row['statement']}`",
}
PREDICTIVE: Columns[Row] = {
    "pattern": lambda row: row["pattern"],
    "losses": lambda row: row["losses"],
    "the paper's": lambda row: exponent(float(row["theory"])),
    "measured": _measured,
    "95% interval": _interval,
    "regret": lambda row: whole(float(row["regret"])),
    "certificate": lambda row: whole(float(row["certificate"])),
    "paper's learner": lambda row: whole(float(row["other"])) if row["losses"] == "plain" else "",
}
DIMENSIONS: Columns[Row] = {
    "table": lambda row: row["table"],
    "pattern": lambda row: row["pattern"],
    "set": lambda row: row["set"],
    "in the table": lambda row: f"{float(row['theory']):.2f}",
    "measured": lambda row: f"{float(row['measured']):.2f}",
    "95% interval": lambda row: interval(float(row["low"]), float(row["high"]), 2),
}
PAPER_TABLE: Columns[Row] = {
    "table": lambda row: row["table"],
    "pattern": lambda row: row["pattern"],
    "proved": lambda row: exponent(float(row["theory"])),
    "measured": _measured,
    "95% interval": _interval,
    "regret": lambda row: whole(float(row["regret"])),
}
