"""The page "Which learner?", from the CSVs of `make matrix`: every number and name is computed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import median

import numpy as np
from matrix_file import read_matrix
from pages import table

from evidence.compare.matrix import FLOOR, Matrix, Outcome
from evidence.compare.plan import FAR
from evidence.compare.scenarios import GROUPS, SCENARIOS
from evidence.orderings import BEST, LEVEL, OPEN, Rank, ranks_of

LEADS = ("Predictive", "AdaptiveSmooth", "AdaptiveLipschitz")
"""The page begins with the first of these that took part."""
WITHIN = (1.1, 2.0, 5.0)
"""Factors of the least regret of all."""
NAMED = 3
"""Learners that are named beside the one to take."""


def parts(docs: Path) -> dict[str, str]:
    """Return the parts of the page."""
    return parts_of(read_matrix(docs / "compare"))


def parts_of(matrix: Matrix) -> dict[str, str]:
    """Return the parts of a page on a matrix."""
    games = sorted({len(outcome.seeds) for outcome in matrix.outcomes if outcome.played})
    lead = next(name for name in LEADS if name in matrix.learners())
    return {
        "lead": _lead(matrix, lead),
        "short": _short(matrix),
        "size": f"{games[0]} to {games[-1]} games of {matrix.rounds:,} rounds a cell, "
        f"{len(matrix.p_values):,} comparisons.{_looks(matrix)}",
        "external": _external(matrix),
        "profiles": _profiles(matrix),
    }


def _looks(matrix: Matrix) -> str:
    """Return why some cells have more games, and the price in the tests."""
    more = [one for one in matrix.outcomes if len(one.seeds) > one.first_look > 0]
    if not more:
        return ""
    return (
        f" The {len(more)} cells that were open after the first games, with at most {FAR:g} times "
        f"the regret of the best, have {len(more[0].seeds)} games, and all p-values are doubled "
        "for this second look."
    )


# --- who is best --------------------------------------------------------------------------------


def level(matrix: Matrix, outcomes: list[Outcome]) -> list[Outcome]:
    """Return the first of some ranked outcomes, and those not distinguished from it."""
    first = outcomes[0]
    return [c for c in outcomes if c is first or not matrix.distinguished(c, first)]


def recommended(matrix: Matrix, scenario: str) -> list[Outcome]:
    """Return the best whose assumptions hold, and those near it and not distinguished from it."""
    first, *rest = level(matrix, matrix.sound(scenario))
    return [first, *(outcome for outcome in rest if outcome.mean - first.mean <= abs(first.mean))]


def _short(matrix: Matrix) -> str:
    rows = []
    for group in matrix.groups:
        rows.append([f"**{GROUPS[group]}**", "", "", "", ""])
        for scenario in matrix.of_group(group):
            take = recommended(matrix, scenario)
            first, *rest = map(_name, take)
            rows.append(
                [
                    f"{SCENARIOS[scenario].losses} (`{scenario}`)",
                    first + (f", or {_some(rest)}" if rest else ""),
                    f"{take[0].mean:,.0f}",
                    f"{take[0].certificate:,.0f}" if take[0].bounded else "",
                    _less(matrix, take[0]),
                ]
            )
    return table("your losses | use | regret | certificate | less regret", rows)


def _less(matrix: Matrix, outcome: Outcome) -> str:
    """Return who has less regret than an outcome, if the games show it."""
    best = matrix.ranked(outcome.scenario)[0]
    if best is outcome or not matrix.distinguished(best, outcome):
        return ""
    return f"{_name(best)}{_dagger(best)}, {best.mean:,.0f}"


def _is_behind(matrix: Matrix, outcome: Outcome) -> bool:
    best = matrix.of_library(outcome.scenario)[0]
    return best.mean < outcome.mean and matrix.distinguished(outcome, best)


def _behind(matrix: Matrix, name: str) -> list[str]:
    """Return where a learner is behind the library's best, and how far, the farthest first."""
    lost = []
    for outcome in matrix.outcomes:
        if outcome.learner == name and outcome.played and _is_behind(matrix, outcome):
            best = matrix.of_library(outcome.scenario)[0]
            compared = _compared(outcome, best, f" {_name(best)}{_dagger(best)}")
            lost.append((_times(outcome, best), f"`{outcome.scenario}` ({compared})"))
    return [text for _, text in sorted(lost, reverse=True)]


def _lead(matrix: Matrix, name: str) -> str:
    """Return what to know of the first learner, and where another package's optimizer wins."""
    behind = _behind(matrix, name)
    text = f"Begin with `{name}`. Among the learners of this library {_standings(matrix, name)}."
    if behind:
        text += f" It is farthest behind in {_all(behind[:NAMED])}."
    leaders = matrix.led_by_others()
    if leaders:
        clear = [
            f"`{best.scenario}` ({_name(best)})"
            for best in leaders
            if matrix.distinguished(best, matrix.of_library(best.scenario)[0])
        ]
        text += (
            f"\n\nIn {len(leaders)} of the {len(matrix.scenarios)} scenarios the least mean regret "
            "of all is that of an optimizer of another package. In "
            f"{len(clear)} of these the difference is more than chance explains"
            f"{': ' + _all(clear) if clear else ''}."
        )
    return text


def _standings(matrix: Matrix, name: str) -> str:
    """Return in how many scenarios a learner is best, level, open and behind."""
    found = [
        matrix.standing(outcome, matrix.of_library(outcome.scenario)[0])
        for outcome in matrix.outcomes
        if outcome.learner == name and outcome.played
    ]
    best, near, unknown = (found.count(standing) for standing in (BEST, LEVEL, OPEN))
    behind = len(found) - best - near - unknown
    return (
        f"it has the least mean regret in {best} of {len(found)} scenarios, is level with the best "
        f"in {near}, behind it in {behind}, and the games do not decide in {unknown}"
    )


def _profiles(matrix: Matrix) -> str:
    """Return for each learner of one value how often it is within a factor of the best."""
    ranks, rows = _ranks(matrix), []
    for learner in matrix.learners():
        outcomes = [c for c in matrix.outcomes if c.learner == learner and c.played]
        if outcomes[0].sees_more:
            continue
        factors = sorted((matrix.factor(outcome), outcome.scenario) for outcome in outcomes)
        shares = [sum(factor <= limit for factor, _ in factors) for limit in WITHIN]
        worst = f"{factors[-1][0]:,.1f} (`{factors[-1][1]}`)"
        rank = ranks.get(learner)
        shown = f"{rank.mean:.1f}{'*' if rank.differs else ''}" if rank else ""
        pace = f"{median(c.seconds / c.rounds for c in outcomes) * 1e6:.1f}"
        rows.append([learner, str(len(factors)), *map(str, shares), worst, shown, pace])
    within = " | ".join(f"within {limit:g}" for limit in WITHIN)
    return table(f"learner | scenarios | {within} | largest ratio | mean rank | µs a round", rows)


def _ranks(matrix: Matrix) -> dict[str, Rank]:
    """Return the ranks of those that played every scenario, compared with the first of `LEADS`."""
    means = {
        learner: [outcome.mean for outcome in outcomes]
        for learner in matrix.learners()
        if len(outcomes := [c for c in matrix.outcomes if c.learner == learner and c.played])
        == len(matrix.scenarios)
        and not outcomes[0].sees_more
    }
    if LEADS[0] not in means:
        return {}
    return ranks_of(np.array([*means.values()]).T, [*means], LEADS[0])


# --- the rest -----------------------------------------------------------------------------------


def _external(matrix: Matrix) -> str:
    """Return in which scenarios another package's optimizer has less regret than the library."""
    lines = []
    for learner in matrix.learners():
        if matrix.section(learner) != "other packages":
            continue
        less: list[str] = []
        more: list[str] = []
        near: dict[str, int] = {BEST: 0, LEVEL: 0, OPEN: 0}
        for outcome in (c for c in matrix.outcomes if c.learner == learner and c.played):
            best = matrix.of_library(outcome.scenario)[0]
            if not matrix.distinguished(outcome, best):
                near[matrix.standing(outcome, best)] += 1
            elif outcome.mean < best.mean:
                less.append(f"`{outcome.scenario}` ({_compared(outcome, best)})")
            else:
                more.append(f"`{outcome.scenario}`")
        lines.append(
            f"- `{learner}` has less regret in {_all(less) if less else 'none'}. It is level in "
            f"{near[LEVEL]} scenarios, behind in {len(more)}, and the games do not decide in "
            f"{near[OPEN]}."
        )
    leaders = [f"`{one.scenario}` (`{one.learner}`)" for one in matrix.led_by_others()]
    if leaders:
        lines.append(
            f"- One of them has the least mean of all in {len(leaders)} of {len(matrix.scenarios)} "
            f"scenarios, whether or not the games distinguish it from the others: {_all(leaders)}."
        )
    return "\n".join(lines) or "None took part."


# --- words --------------------------------------------------------------------------------------


def _times(one: Outcome, two: Outcome) -> float:
    """Return how many times the regret of another a learner has."""
    return max(one.mean, FLOOR) / max(two.mean, FLOOR)


def _compared(one: Outcome, two: Outcome, name: str = "") -> str:
    """Return the regret of one in units of another's, or both where that says nothing."""
    if min(one.mean, two.mean) < FLOOR:
        return f"{one.mean:,.0f} against {two.mean:,.0f}{' of' + name if name else ''}"
    return f"{_times(one, two):.1f} times{name}" if name else f"{_times(one, two):.2f}"


def _name(outcome: Outcome) -> str:
    return f"`{outcome.learner}`"


def _dagger(outcome: Outcome) -> str:
    return "†" if outcome.broken else ""


def _all(parts: Iterable[str]) -> str:
    *front, last = [*parts] or [""]
    return f"{', '.join(front)} and {last}" if front else last


def _some(parts: list[str]) -> str:
    """Return the first few, and how many more there are."""
    more = len(parts) - NAMED
    return _all(parts if more <= 1 else [*parts[:NAMED], f"{more} others"])
