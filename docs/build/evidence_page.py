"""The six tables of the page "Evidence", and the numbers of the README, from CSVs."""

from __future__ import annotations

import re
from pathlib import Path

import games_page
import revenue
from pages import table

from evidence.games import read_table
from evidence.rivals import KEEP, TUNER

LOOPS = (
    ("price", "shop", 5000, "shop while demand changes, 5,000 hours"),
    ("traffic", "servers stay", 500, "web servers, ms"),
    ("traffic", "servers change", 500, "web servers that change, ms"),
    ("oppertune", "5 settings", 1000, "OPPerTune, 5 settings, % of the start"),
    ("oppertune", "2 settings", 1000, "OPPerTune, 2 settings, % of the start"),
)
"""A part, its problem and rounds, and the words of the page."""


def parts(docs: Path) -> dict[str, str]:
    """Return the tables of the page."""
    return {
        "loops": _loops(docs),
        "outside": _outside(docs),
        "rows": games_page.rows_table(docs),
        "faults": games_page.faults_table(docs),
        "worth": _worth(docs / "worth"),
        "durable": _durable(docs),
    }


def numbers(docs: Path) -> dict[str, str]:
    """Return the four numbers of the README, each with its command."""
    worst = max(float(row["missed"]) for row in read_table(docs / "worth" / "coverage.csv"))
    kinds = len(read_table(docs / "worth" / "coverage.csv"))
    rows = read_table(docs / "kills.csv")
    killed = sum(int(row["tried"]) for row in rows if row["what"].startswith("kill"))
    load = read_table(docs / "service_load.csv")[0]
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


def _loops(docs: Path) -> str:
    lines = []
    for name, problem, rounds, words in LOOPS:
        part = games_page.Part.read(name, docs)
        found = part.long(rounds, problem).orderings()
        players = found.costs[problem]
        best = min(set(players) - {TUNER, KEEP}, key=lambda one: found.mean(problem, one))
        shown = [found.mean(problem, player) for player in (TUNER, best, KEEP)]
        cells = [f"{value:.3g}" for value in shown]
        least = shown.index(min(shown))
        cells[least] = f"**{cells[least]}**"
        lines.append([words, cells[0], f"{cells[1]} ({best})", cells[2]])
    return table("cost of a round | dikin.Tuner | best rival | keep today's", lines)


def _outside(docs: Path) -> str:
    lines = []
    for name in games_page.OUTSIDE:
        part = games_page.Part.read(name, docs)
        for rounds in part.lengths:
            mine, cells = part.long(rounds), []
            for measure in games_page.WHEN:
                found = mine.orderings(measure)
                cells.append(f"{games_page.least_of_all(found)} of {len(found.problems)}")
            lines.append([f"{part.title}, {rounds:,} rounds", *cells])
    return table("problems in which dikin costs least | while tuning | setting in the end", lines)


def _worth(folder: Path) -> str:
    covered, guard = read_table(folder / "coverage.csv"), read_table(folder / "guard.csv")
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
    rows = read_table(docs / "kills.csv")
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
