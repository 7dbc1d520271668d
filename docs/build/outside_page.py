"""The page of benchmarks from outside, from the CSVs of `make outside`: no number is typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from pages import table

from dikin.experiments.tables import read_csv
from evidence.orderings import BEST, MARKED, Orderings, Ratio

TUNERS = ("dikin.Tuner", "dikin.Tuner, contexts")
TUNER = TUNERS[0]
COST, FINAL = "cost", "final"
SLOW = ("NGOpt (nevergrad)", "TPE (Optuna)")
"""They play a part of bbob-noisy."""
TIE = 1.0001
"""Costs within this factor of each other are the same."""
KEEP = "keep today's"
CATS = "CATS "
CATS_BEST = "CATS, best of 24 settings in hindsight"
WIDEST = 1000.0
"""An interval whose ends are farther apart says that nothing is known, and is written so."""
SHORT, LONG = "1000", "10000"
"""Rounds of a game of bbob-noisy."""
TIMES = {COST: "while tuning", FINAL: "in the end"}
Row = dict[str, str]


class Part(NamedTuple):
    """A benchmark: its name in headings, and the cost below which no difference matters."""

    title: str
    least: float


PARTS = {
    "bbob": Part("bbob-noisy", 1e-3),
    "cats": Part("CATS", 1e-6),
    "pendulum": Part("Pendulum", 1e-2),
    "postgres": Part("PostgreSQL", 0.1),
}


def orderings(rows: Iterable[Row], measure: str, least: float) -> Orderings:
    """The costs of some rows, by problem and player."""
    costs: dict[str, dict[str, dict[int, float]]] = {}
    for row in rows:
        players = costs.setdefault(row["problem"], {})
        players.setdefault(row["player"], {})[int(row["game"])] = float(row[measure])
    return Orderings(costs, least)


def read_part(folder: Path, name: str) -> list[Row]:
    """The games of a part; none where it was not played."""
    file = folder / f"{name}.csv"
    return read_csv(file) if file.exists() else []


def parts(docs: Path) -> dict[str, str]:
    """Return the parts of the page."""
    rows = {name: _hindsight(read_part(docs / "outside", name)) for name in PARTS}
    bbob = rows["bbob"]
    return {
        "wins": _wins(rows),
        "keep": _keep(bbob),
        "tuning": _groups(bbob, COST),
        "final": _groups(bbob, FINAL),
        **{
            name: f"{_table(rows[name], PARTS[name].least)}\n\n{_games(rows[name])}."
            for name in PARTS
            if name != "bbob"
        },
    }


def _hindsight(rows: list[Row]) -> list[Row]:
    """Of the settings of CATS the one whose games cost least, problem by problem."""
    mine = [row for row in rows if row["player"].startswith(CATS)]
    if not mine:
        return rows
    kept = [row for row in rows if row not in mine]
    found = orderings(mine, COST, PARTS["cats"].least)
    for problem in found.problems:
        best = found.best(problem)
        chosen = [row for row in mine if (row["problem"], row["player"]) == (problem, best)]
        kept += [row | {"player": CATS_BEST} for row in chosen]
    return kept


def _games(rows: list[Row]) -> str:
    """How many games a player has in a problem."""
    counts: dict[tuple[str, ...], int] = {}
    for row in rows:
        key = row["problem"], row["rounds"], row["player"]
        counts[key] = counts.get(key, 0) + 1
    if not counts:
        return "no games yet"
    least, most = min(counts.values()), max(counts.values())
    numbers = str(most) if least == most else f"{least} to {most}"
    return f"{numbers} games of each player in each problem, {len(rows):,} in all"


# --- where rivals win -----------------------------------------------------------------------------


def _wins(parts: dict[str, list[Row]]) -> str:
    """In which problems a rival has the least mean, nominally; the largest ratios first."""
    lines = []
    for name, rows in parts.items():
        for rounds in sorted({row["rounds"] for row in rows}, key=int):
            mine = [row for row in rows if row["rounds"] == rounds]
            for measure, when in TIMES.items():
                found = orderings(mine, measure, PARTS[name].least)
                label = f"**{PARTS[name].title}**, {int(rounds):,} rounds, {when}"
                lines.append(f"- {label}: {_winners(found)}")
    return "\n".join(lines)


def _winners(found: Orderings) -> str:
    lost: dict[str, list[tuple[float, str]]] = {}
    for problem, players in found.costs.items():
        best = found.best(problem)
        if best not in TUNERS:
            ours = min(found.mean(problem, tuner) for tuner in TUNERS if tuner in players)
            factor = ours / found.mean(problem, best)
            if factor > 1.0:
                lost.setdefault(best, []).append((factor, problem))
    total = len(found.problems)
    if not lost:
        return f"no rival, in {total} problem{'s' if total > 1 else ''}."
    counts = sorted(lost.items(), key=lambda one: -len(one[1]))
    names = ", ".join(f"{player} in {len(factors)}" for player, factors in counts[:3])
    worst, where, who = max((*each, player) for player, found in counts for each in found)
    text = f"a rival costs less in {sum(len(each) for _, each in counts)} of {total}: {names}."
    return f"{text} The largest ratio is {worst:.3g} ({who}, {where.removesuffix(', value told')})."


def least_of_all(found: Orderings) -> int:
    """The problems in which nobody costs less than a tuner."""
    return sum(
        min(found.mean(one, tuner) for tuner in TUNERS if tuner in players)
        <= TIE * found.mean(one, found.best(one))
        for one, players in found.costs.items()
    )


def _keep(rows: list[Row]) -> str:
    """In how many problems it is better not to tune, and under which noise."""
    found = complete(rows, COST, SHORT)
    worse = [one for one in found.problems if found.mean(one, KEEP) < found.mean(one, TUNER)]
    uniform = sum("uniform" in one for one in worse)
    total = sum("uniform" in one for one in found.problems)
    return (
        f"Keeping the start costs less than tuning it with `{TUNER}` in {len(worse)} of "
        f"{len(found.problems)} problems of 1,000 rounds. {uniform} of these are among the "
        f"{total} with uniform noise, where a value says next to nothing about its setting."
    )


# --- tables ---------------------------------------------------------------------------------------


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 999.5 else f"{value:.3g}"


def _interval(ratio: Ratio) -> str:
    if not ratio.high <= WIDEST * ratio.low:  # NaN for a single game
        return f"{_number(ratio.value)} (unknown)"
    return f"{_number(ratio.value)} ({_number(ratio.low)} to {_number(ratio.high)})"


def _table(rows: list[Row], least: float) -> str:
    """Every player in every problem: the mean cost, and its ratio to the best."""
    if not rows:
        return "Not played yet."
    found = {measure: orderings(rows, measure, least) for measure in TIMES}
    problems = found[COST].problems
    columns = [f"{problem}, {TIMES[measure]}" for problem in problems for measure in TIMES]
    lines = [
        [player, *(_cell(found[m], problem, player) for problem in problems for m in TIMES)]
        for player in _ordered(found[COST].players)
    ]
    return table(" | ".join(["player", *columns]), lines)


def _ordered(players: Iterable[str]) -> list[str]:
    return sorted(players, key=lambda name: (name not in TUNERS, name))


def _cell(found: Orderings, problem: str, player: str) -> str:
    if player not in found.costs[problem]:
        return ""
    ratio = found.ratio(problem, player)
    standing = found.standing(problem, player)
    text = _number(found.mean(problem, player))
    if standing != BEST:
        text += f"; {_interval(ratio)}"
    return MARKED[standing].format(text)


Group = tuple[str, Callable[[Row], bool]]
GROUPS: list[Group] = [
    *(
        (
            f"{int(rounds):,} rounds, d = {d}",
            lambda row, rounds=rounds, d=d: _is(row, rounds, f"d = {d}, value"),
        )
        for rounds in (SHORT, LONG)
        for d in (2, 5, 20)
    ),
    ("1,000 rounds, d = 5, logarithm told", lambda row: _is(row, SHORT, "d = 5, logarithm")),
]


def _is(row: Row, rounds: str, words: str) -> bool:
    return row["rounds"] == rounds and words in row["problem"]


def _groups(rows: list[Row], measure: str) -> str:
    """For groups of problems, how many times what the tuner costs: a geometric mean."""
    groups = {name: [row for row in rows if of(row)] for name, of in GROUPS}
    found = {
        name: orderings(mine, measure, PARTS["bbob"].least) for name, mine in groups.items() if mine
    }
    players = _ordered({player for each in found.values() for player in each.players})
    columns = [f"{name} ({len(each.problems)} problems)" for name, each in found.items()]
    lines = [
        [player, *(_overall(each, player) for each in found.values())]
        for player in players
        if player != TUNER
    ]
    return table(" | ".join(["player", *columns]), lines)


def _overall(found: Orderings, player: str) -> str:
    count = len(found.among((player, TUNER)).problems)
    if not count:
        return ""
    part = "" if count == len(found.problems) else f", {count} problems"
    return _interval(found.overall(player, TUNER)) + part


def complete(rows: list[Row], measure: str, rounds: str) -> Orderings:
    """The problems of so many rounds with values told as they are, of the players that met all."""
    mine = [row for row in rows if _is(row, rounds, "value told") and row["player"] not in SLOW]
    found = orderings(mine, measure, PARTS["bbob"].least)
    return found.among(found.players)
