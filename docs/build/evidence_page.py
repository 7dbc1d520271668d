"""The six tables of the page "Evidence", and the numbers of the README, from CSVs."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import fmean, geometric_mean, median

import outside_page
import revenue
from pages import table

from dikin.experiments.tables import read_csv

TUNER, CMA = "dikin.Tuner", "CMA-ES (pycma)"
LOOPS = (
    ("price", "5,000 rounds", "shop while demand changes, 5,000 hours"),
    ("traffic", "servers stay, 500 rounds", "web servers, ms"),
    ("traffic", "servers change, 500 rounds", "web servers that change, ms"),
    ("program", "mean of 400 measurements", "six settings of zlib, % of the defaults"),
    ("oppertune", "5 settings", "OPPerTune, 5 settings, % of the start"),
    ("oppertune", "2 settings", "OPPerTune, 2 settings, % of the start"),
)
"""A file of docs/examples, its setting, and the words of the page."""


def parts(docs: Path) -> dict[str, str]:
    """Return the tables of the page."""
    return {
        "loops": _loops(docs / "examples"),
        "outside": _outside(docs / "outside"),
        "rows": _rows(docs / "rows"),
        "faults": _faults(docs / "beginning" / "faults.csv"),
        "worth": _worth(docs / "worth"),
        "durable": _durable(docs),
    }


def numbers(docs: Path) -> dict[str, str]:
    """Return the four numbers of the README, each with its command."""
    worst = max(float(row["missed"]) for row in read_csv(docs / "worth" / "coverage.csv"))
    kinds = len(read_csv(docs / "worth" / "coverage.csv"))
    rows = read_csv(docs / "kills.csv")
    killed = sum(int(row["tried"]) for row in rows if row["what"].startswith("kill"))
    load = read_csv(docs / "service_load.csv")[0]
    lines = [
        f"{revenue.numbers()} `make revenue`",
        f"The interval of the gain misses the truth *at any time* in at most {_share(worst, 1)} of "
        f"loops, in {kinds} kinds of loops. `make worth`",
        f"{killed:,} kills and {sum(int(row['tried']) for row in rows) - killed:,} interrupts of "
        f"clients lost {_lost(rows, 'lost')} of {_lost(rows, 'acknowledged'):,} acknowledged calls "
        f"and counted {_lost(rows, 'twice')} twice. `make kills`",
        f"The service answers {int(load['requests_a_second']):,} requests a second to "
        f"{load['clients']} clients on two processors. `make load`",
    ]
    return {"numbers": "\n".join(f"- {line}" for line in lines)}


def _loops(folder: Path) -> str:
    lines = []
    for file, setting, words in LOOPS:
        values: dict[str, list[float]] = {}
        for row in read_csv(folder / f"{file}.csv"):
            if row["setting"] == setting:
                values.setdefault(row["player"], []).append(float(row["value"]))
        means = {name: fmean(each) for name, each in values.items()}
        keep = next(name for name in means if name.startswith("keep"))
        rivals = [n for n in means if not n.startswith((TUNER, "keep", "told"))]
        best = min(rivals, key=means.__getitem__)
        shown = [means[TUNER], means[best], means[keep]]
        cells = [f"{value:.3g}" for value in shown]
        least = shown.index(min(shown))
        cells[least] = f"**{cells[least]}**"
        lines.append([words, cells[0], f"{cells[1]} ({best})", cells[2]])
    return table("cost of a round | dikin.Tuner | best rival | keep today's", lines)


def _outside(folder: Path) -> str:
    lines = []
    for name, part in outside_page.PARTS.items():
        rows = outside_page.read_part(folder, name)
        for rounds in sorted({row["rounds"] for row in rows}, key=int):
            mine = [row for row in rows if row["rounds"] == rounds]
            cells = []
            for measure in outside_page.TIMES:
                found = outside_page.orderings(mine, measure, part.least)
                cells.append(f"{outside_page.least_of_all(found)} of {len(found.problems)}")
            lines.append([f"{part.title}, {int(rounds):,} rounds", *cells])
    return table("problems in which dikin costs least | while tuning | setting in the end", lines)


def _rows(folder: Path) -> str:
    lines = []
    for file, words in (("still", "nothing changes"), ("moving", "optimum or level moves")):
        games: dict[tuple[str, str], dict[str, list[tuple[float, float]]]] = {}
        for row in read_csv(folder / f"{file}.csv"):
            kinds = games.setdefault((row["rounds"], row["rival"]), {})
            kinds.setdefault(row["kind"], []).append((float(row["cost"]), float(row["final"])))
        for rounds in dict.fromkeys(place[0] for place in games):
            ours, theirs = games[rounds, "rows"], games[rounds, "cma"]
            cost = [
                geometric_mean(fmean(g[0] for g in k) for k in p.values()) for p in (ours, theirs)
            ]
            final = [
                geometric_mean(max(median(g[1] for g in k), 1e-12) for k in p.values())
                for p in (ours, theirs)
            ]
            line = [f"{words}, {int(rounds):,} rounds"]
            for one, other in (cost, final):
                line += [f"{one:.2g}", f"{other:.2g}", f"{one / other:.2f}"]
            lines.append(line)
    head = "kinds and rounds | cost of a round: dikin.Tuner | CMA-ES | ratio"
    return table(f"{head} | last setting: dikin.Tuner | CMA-ES | ratio", lines)


def _faults(file: Path) -> str:
    costs: dict[tuple[str, str, str, str], list[float]] = {}
    for row in read_csv(file):
        costs.setdefault((row["loop"], row["player"], row["share"], row["fault"]), []).append(
            float(row["cost"])
        )
    lines = []
    for loop in dict.fromkeys(place[0] for place in costs):
        cells = []
        for player in (TUNER, CMA):
            plain = fmean(costs[loop, player, "0.0", "none"])
            for share in ("0.05", "0.1"):
                hit = [fmean(v) for p, v in costs.items() if p[:3] == (loop, player, share)]
                cells.append(f"{max(hit) / plain:.2f}")
        lines.append([loop, *cells])
    heads = [f"{name}, {share}" for name in (TUNER, CMA) for share in ("5 %", "10 %")]
    return table(" | ".join(["times the cost without faults", *heads]), lines)


def _worth(folder: Path) -> str:
    covered, guard = read_csv(folder / "coverage.csv"), read_csv(folder / "guard.csv")
    harm = {row["kind"]: row for row in guard if row["holdback"] == "0.05"}
    worst = max(covered, key=lambda row: float(row["missed"]))
    fixed = [float(row["missed_fixed"]) for row in covered]
    false = max(float(row["held"]) for row in guard if row["kind"].startswith("harmless"))
    lines = [
        [f"truth outside the interval at any time, worst of {len(covered)} kinds",
         f"{_share(worst['missed'], 1)} ({worst['kind']})"],
        ["the same for an interval of a single date",
         f"{100 * min(fixed):.0f} to {_share(max(fixed))}"],
        ["guard of 2 % holds where tuning is 10 % worse", f"{_share(harm['10 % worse']['held'])}, "
         f"after {float(harm['10 % worse']['median']):,.0f} rounds in the median"],
        ["guard holds although tuning does no harm", f"at most {_share(false, 1)}"],
    ]  # fmt: skip
    return table("promise | measured", lines)


def _durable(docs: Path) -> str:
    rows = read_csv(docs / "kills.csv")
    lines = []
    for where in dict.fromkeys(row["where"] for row in rows):
        mine = [row for row in rows if row["where"] == where]
        killed = sum(int(row["tried"]) for row in mine if row["what"].startswith("kill"))
        cut = sum(int(row["tried"]) for row in mine) - killed
        counts = [f"{_lost(mine, word):,}" for word in ("acknowledged", "lost", "twice")]
        lines.append([where, f"{killed:,}", f"{cut:,}", *counts])
    return table("store | kills | interrupts | acknowledged | lost | counted twice", lines)


def _share(value: float | str, digits: int = 0) -> str:
    return f"{100 * float(value):.{digits}f} %"


def _lost(rows: list[dict[str, str]], word: str) -> int:
    """Return the sum of a number in the notes, such as that of "0 lost"."""
    found = [re.search(rf"([\d,]+) {word}\b", row["note"]) for row in rows]
    return sum(int(each[1].replace(",", "")) for each in found if each)
