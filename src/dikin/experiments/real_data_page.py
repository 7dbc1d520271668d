"""The page "Real data", from the CSV that `examples/real_data.py` wrote."""

from __future__ import annotations

import sys
from pathlib import Path

from dikin.experiments.page import Row, markdown, read_rows
from dikin.serialization import replace_file

TOLD, NOTHING, SMALLEST, TOO_MUCH = (
    "told sigma_t",
    "told nothing",
    "told the smallest",
    "told too much",
)


def render(folder: Path) -> str:
    """The template of a folder, with the numbers of its CSV."""
    rows = read_rows(folder / "real_data.csv")
    told = [row for row in rows if row["player"] == TOLD]
    over = [row for row in rows if row["player"] == TOO_MUCH]
    fkm = [float(row["ratio"]) for row in rows if row["player"] == "FKM"]
    least, most = (choose(told, key=_ratio) for choose in (max, min))
    middle = _of(rows, most["setting"], SMALLEST)
    broken = [row for row in over if float(row["regret"]) > float(row["certificate"])]
    worst = max(over, key=_ratio)
    flatter = _flatter(told)
    return (
        (folder / "template.md")
        .read_text(encoding="utf-8")
        .format(
            games=rows[0]["games"],
            rounds=int(rows[0]["rounds"]),
            settings=_settings(told),
            regrets=_regrets(rows),
            most=1 - _ratio(most),
            most_setting=most["setting"],
            least=1 - _ratio(least),
            least_setting=least["setting"],
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


def _settings(told: list[Row]) -> str:
    head = (
        "data, loss and batches | batches with sigma = 0 | smallest sigma | mean sigma | "
        "largest sigma | smoothness | best loss a round"
    )
    keys = ("least_sigma", "mean_sigma", "largest_sigma", "smoothness", "best_loss")
    cells = [
        [row["setting"], f"{float(row['flat']):.0%}", *(f"{float(row[key]):.3g}" for key in keys)]
        for row in told
    ]
    return markdown(head, cells)


def _regrets(rows: list[Row]) -> str:
    head = "game | player | regret | 95% interval | of told nothing | 95% interval | certificate"
    cells = []
    for row in rows:
        low, high = float(row["low"]), float(row["high"])
        share = f"{float(row['ratio_low']):.2f} to {float(row['ratio_high']):.2f}"
        bound = float(row["certificate"])
        cells.append(
            [
                row["setting"],
                row["player"],
                f"{float(row['regret']):,.0f}",
                f"{low:,.0f} to {high:,.0f}",
                f"{_ratio(row):.2f}",
                "" if row["player"] == NOTHING else share,
                f"{bound:,.0f}" if bound == bound else "none",
            ]
        )
    return markdown(head, cells)


if __name__ == "__main__":
    replace_file(Path(sys.argv[2]), render(Path(sys.argv[1])).encode())
