"""Tables of the interval of the gain and the guard, of the attack on certificates, of mutants."""

from __future__ import annotations

from math import inf
from pathlib import Path

from pages import table

from evidence.attack import GAMES, ROUNDS
from evidence.games import read_table
from evidence.worth import KINDS, LIMIT


def worth_parts(docs: Path) -> dict[str, str]:
    """Return the tables of the page "Does it pay?"."""
    covered, held, power = (
        read_table(docs / "worth" / f"{name}.csv") for name in ("coverage", "guard", "power")
    )
    return {"coverage": _coverage(covered), "guard": _guard(held), "power": _power(power)}


def _percent(share: str | float) -> str:
    return f"{100 * float(share):.1f} %"


def _coverage(rows: list[dict[str, str]]) -> str:
    lines = [
        [
            f"{row['kind']}: {KINDS[row['kind']].about}",
            f"{float(row['begins']):,.0f}" if float(row["begins"]) < inf else "never",
            *(_percent(row[each]) for each in ("missed", "missed_percent", "missed_fixed")),
            _percent(row["printed"]),
            *(
                f"{half:.{1 if half < 10 else 0}f} %"
                for half in map(float, (row["half"], row["oracle"]))
            ),
        ]
        for row in rows
    ]
    above = [row["kind"] for row in rows if float(row["missed"]) > 0.05]
    where = f"more in {', '.join(above)}" if above else "held in all kinds"
    head = f"outside at any time, {int(rows[0]['loops']):,} loops each | begins | outside"
    head += " | in per cent | fixed time | printed at the end | half width | the oracle's"
    return f"{table(head, lines)}\n\nAt most 5 % of the loops are wanted: {where}."


def _guard(rows: list[dict[str, str]]) -> str:
    def count(rounds: str) -> str:
        return f"{float(rounds):,.0f}" if float(rounds) < inf else "not within these rounds"

    lines = [
        [
            row["kind"],
            f"{100 * float(row['holdback']):g} %",
            f"{int(row['loops']):,}",
            _percent(row["held"]),
            *("" if "harmless" in row["kind"] else count(row[each]) for each in ("median", "most")),
        ]
        for row in rows
    ]
    worst = max(float(row["held"]) for row in rows if "harmless" in row["kind"])
    head = f"limit {100 * LIMIT:g} % | held back | loops | held | rounds until held, median"
    note = f"Held without reason in at most {_percent(worst)} of the loops. 5 % are allowed."
    return f"{table(f'{head} | 95 % of the loops', lines)}\n\n{note}"


def _power(rows: list[dict[str, str]]) -> str:
    cells: dict[tuple[float, ...], dict[float, str]] = {}
    for row in rows:
        place = tuple(float(row[name]) for name in ("holdback", "noise", "explained"))
        cells.setdefault(place, {})[float(row["gain"])] = f"{int(row['rounds']):,}"
    gains = [*next(iter(cells.values()))]
    lines = [
        [f"{100 * q:g} % held back, noise {noise:g} %, R² = {share:g}", *found.values()]
        for (q, noise, share), found in cells.items()
    ]
    head = "rounds to see a gain in four of five loops"
    return table(" | ".join([head, *(f"{gain:g} %" for gain in gains)]), lines)


def attack_parts(docs: Path) -> dict[str, str]:
    """Return the table of the page on the attack."""
    lines = [
        [
            row["learner"],
            f"{int(row['cells']):,}",
            row["again"],
            row["broken"],
            f"{float(row['ratio']):.2f}",
            f"{float(row['caught']):g}" if float(row["caught"]) else "none",
            row["where"],
        ]
        for row in read_table(docs / "attack" / "learners.csv")
    ]
    cells, broken = (sum(int(row[i].replace(",", "")) for row in lines) for i in (1, 3))
    head = "learner | cells | run again | broken | certificate / regret | caught"
    note = f"{cells:,} cells, {GAMES} games of {ROUNDS} rounds each: {broken} broken."
    return {"attack": f"{table(f'{head} | where it is tightest', lines)}\n\n{note}"}


def mutants_parts(docs: Path) -> dict[str, str]:
    """Return the tables of the page on mutants."""
    return {
        name: _mutants(read_table(docs / "mutants" / f"{name}_outcomes.csv"))
        for name in ("drawn", "known")
    }


def _mutants(rows: list[dict[str, str]]) -> str:
    if not rows:
        return "Not run for this version yet."
    packages: dict[str, list[bool]] = {}
    for row in rows:
        for package in (f"`{row['module'].partition('/')[0]}`", "**all**"):
            packages.setdefault(package, []).append(row["outcome"] == "killed")
    order = sorted(packages, key=lambda name: name == "**all**")
    lines = [[name, str(len(packages[name])), str(sum(packages[name]))] for name in order]
    return table("package | mutants | killed", lines)
