"""The page "Real data", from the CSV that `examples/real_data.py` wrote."""

from __future__ import annotations

from pathlib import Path

import sources
from pages import Row, fill_template, markdown, table

from dikin.experiments.tables import Columns, interval, read_csv, whole

TOLD, NOTHING, SMALLEST, TOO_MUCH = (
    "told sigma_t",
    "told nothing",
    "told the smallest",
    "told too much",
)


def render(folder: Path) -> str:
    """The template of a folder, with the numbers of its CSV."""
    rows = read_csv(folder / "real_data.csv")
    told = [row for row in rows if row["player"] == TOLD]
    over = [row for row in rows if row["player"] == TOO_MUCH]
    fkm = [float(row["ratio"]) for row in rows if row["player"] == "FKM"]
    least, most = (choose(told, key=_ratio) for choose in (max, min))
    middle = _of(rows, most["setting"], SMALLEST)
    broken = [row for row in over if float(row["regret"]) > float(row["certificate"])]
    worst = max(over, key=_ratio)
    flatter = _flatter(told)
    return fill_template(
        folder,
        source=sources.line("real_data/real_data.csv"),
        games=rows[0]["games"],
        rounds=int(rows[0]["rounds"]),
        settings=markdown(SETTINGS, told),
        regrets=_regrets(rows),
        most=1 - _ratio(most),
        most_setting=most["setting"],
        least=1 - _ratio(least),
        least_setting=least["setting"],
        gains=sum(float(row["ratio_high"]) < 1.0 for row in told),
        middle=1 - _ratio(middle),
        fkm_least=min(fkm),
        fkm_most=max(fkm),
        flatter_least=min(flatter),
        flatter_most=max(flatter),
        flat=max(float(row["flat"]) for row in rows),
        broken=len(broken),
        over=len(over),
        worst=_ratio(worst),
        worst_setting=worst["setting"],
        worst_regret=float(worst["regret"]),
        worst_certificate=float(worst["certificate"]),
    )


def _ratio(row: Row) -> float:
    return float(row["ratio"])


def _of(rows: list[Row], setting: str, player: str) -> Row:
    return next(row for row in rows if row["setting"] == setting and row["player"] == player)


def _flatter(told: list[Row]) -> list[float]:
    """How many times less sigma/beta the logistic losses have than the squared ones, by batches."""
    shares: dict[tuple[str, str], float] = {}
    for row in told:
        _, loss, batches = row["setting"].split(", ")
        shares[loss, batches] = float(row["mean_sigma"]) / float(row["smoothness"])
    return [
        shares["squared loss", batches] / share
        for (loss, batches), share in shares.items()
        if loss == "logistic loss"
    ]


SETTINGS: Columns[Row] = {
    "data, loss and batches": lambda row: row["setting"],
    "batches with sigma = 0": lambda row: f"{float(row['flat']):.0%}",
    "smallest sigma": lambda row: f"{float(row['least_sigma']):.3g}",
    "mean sigma": lambda row: f"{float(row['mean_sigma']):.3g}",
    "largest sigma": lambda row: f"{float(row['largest_sigma']):.3g}",
    "smoothness": lambda row: f"{float(row['smoothness']):.3g}",
    "best loss per round": lambda row: f"{float(row['best_loss']):.3g}",
}


def _regrets(rows: list[Row]) -> str:
    head = "game | player | regret | 95% interval | over told nothing | 95% interval | certificate"
    lines = []
    for row in rows:
        share = interval(float(row["ratio_low"]), float(row["ratio_high"]), 2)
        bound = float(row["certificate"])
        lines.append(
            [
                row["setting"],
                row["player"],
                whole(float(row["regret"])),
                f"{whole(float(row['low']))} to {whole(float(row['high']))}",
                f"{_ratio(row):.2f}",
                "" if row["player"] == NOTHING else share,
                whole(bound) if bound == bound else "none",
            ]
        )
    return table(head, lines)
