"""The page "Which learner?", from the CSVs of `make matrix`: every number and name is computed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import median

import numpy as np
from matrix_file import read_matrix
from pages import fill_template, table

from dikin.feedback import Feedback
from evidence.compare.competitors import BASES
from evidence.compare.matrix import FLOOR, WITH_MEMORY, Matrix, Outcome
from evidence.compare.plan import FAR
from evidence.compare.scenarios import GROUPS, SCENARIOS
from evidence.orderings import BEST, ERROR_RATE, LEVEL, LEVEL_RATIO, OPEN, Rank, ranks_of

LEADS = ("Predictive", "AdaptiveSmooth", "AdaptiveLipschitz")
"""Learners with a paragraph of their own; the page begins with the first that took part."""
NEAR = 1.5
"""Times the best regret that the fixed point has where little has been learnt."""
WITHIN = (1.1, 2.0, 5.0)
"""Factors of the least regret of all."""
NAMED = 3
"""Learners that are named beside the one to take."""


def render(folder: Path) -> str:
    """Return the template of a folder, with what its CSVs say."""
    matrix = read_matrix(folder)
    games = sorted({len(outcome.seeds) for outcome in matrix.outcomes if outcome.played})
    leads = [name for name in LEADS if name in matrix.learners()]
    more = [one for one in matrix.outcomes if len(one.seeds) > one.first_look > 0]
    slow = min(
        one.first_look or len(one.seeds)
        for one in matrix.outcomes
        if one.played and not one.sees_more
    )
    return fill_template(
        folder,
        rounds=matrix.rounds,
        seeds=games[-1],
        slow_seeds=slow,
        most=f" --most-seeds {len(more[0].seeds)}" if more else "",
        looks=_looks(more),
        games=f"{games[0]} to {games[-1]}",
        comparisons=len(matrix.p_values),
        level=ERROR_RATE,
        precision=f"{LEVEL_RATIO:g}",
        floor=FLOOR,
        lead=_lead(matrix, leads[0]),
        short="\n\n".join(
            f"### {GROUPS[group]}\n\n{_short(matrix, matrix.of_group(group))}"
            for group in matrix.groups
        ),
        external=_external(matrix),
        profiles=_profiles(matrix),
        baseline=_baseline(matrix),
        records="\n".join(f"- {_record(matrix, name)}" for name in leads),
        memories=_memories(matrix),
        certificates=_certificates(matrix),
        more=_more(matrix),
        bases=_all(f"`{base.__name__}`" for base in BASES),
    )


def _looks(more: list[Outcome]) -> str:
    """Return why some cells have more games, and what that does to the tests."""
    if not more:
        return ""
    return (
        f" The {len(more)} cells that were open after the first games, with at most {FAR:g} times "
        f"the regret of the best, and the best of these scenarios have {len(more[0].seeds)} games. "
        "All p-values are doubled for this second look."
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


def _short(matrix: Matrix, scenarios: list[str]) -> str:
    rows = []
    for scenario in scenarios:
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


def _record(matrix: Matrix, name: str) -> str:
    farthest = _all(_behind(matrix, name)[:NAMED])
    text = f"**{name}**: {_standings(matrix, name)}."
    return f"{text} It is farthest behind in {farthest}." if farthest else text


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


def _memories(matrix: Matrix) -> str:
    """Return what a memory is worth where the best point moves."""
    lines = []
    for outcome in matrix.outcomes:
        without = matrix.at(outcome.learner.removesuffix(WITH_MEMORY), outcome.scenario)
        if outcome.played and without is not None and without.played and without is not outcome:
            apart = "" if matrix.distinguished(outcome, without) else ", which may be chance"
            lines.append(
                f"In `{outcome.scenario}` the regret of {_name(outcome)} is "
                f"{_times(outcome, without):.2f} times that of {_name(without)}{apart}."
            )
    return " ".join(lines)


def _baseline(matrix: Matrix) -> str:
    """Return what the fixed point costs: near the best, nobody has learnt anything."""
    outcomes = [c for c in matrix.outcomes if c.section == "baseline" and c.played]
    ratios = sorted((matrix.ratio(outcome), outcome.scenario) for outcome in outcomes)
    if not ratios:
        return ""
    (least, there), (most, where) = ratios[0], ratios[-1]
    near = [f"`{name}`" for ratio, name in ratios if ratio < NEAR]
    text = (
        "`FixedPoint`, the baseline, stays at the centre. Its regret is between "
        f"{least:.1f} (`{there}`) and {most:.1f} times (`{where}`) that of the library's best."
    )
    if near:
        text += f" Below {NEAR:g} times, in {_all(near)}, hardly anything can be learnt so early."
    return text


def _certificates(matrix: Matrix) -> str:
    """Return the mean certificate over the mean regret, where it applies to what was measured."""
    rows = []
    for learner in matrix.learners():
        found = [c for c in matrix.outcomes if c.learner == learner and c.played and c.bounded]
        ratios = sorted((c.certificate / c.mean, c.scenario) for c in found if c.mean > 0)
        if ratios:
            (least, there), (most, where) = ratios[0], ratios[-1]
            ends = f"{least:.1f} (`{there}`)", f"{most:.1f} (`{where}`)"
            rows.append([learner, str(len(found)), *ends])
    return table("learner | scenarios | least ratio | largest ratio", rows)


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


def _more(matrix: Matrix) -> str:
    """Return by what factor those that see more are below the best of one value."""
    lines = []
    for learner in matrix.learners():
        outcomes = [c for c in matrix.outcomes if c.learner == learner and c.played and c.sees_more]
        if outcomes:
            least, most = (choose(outcomes, key=matrix.ratio) for choose in (min, max))
            lines.append(
                f"- `{learner}` ({Feedback[outcomes[0].feedback].value}): from "
                f"{matrix.ratio(least):.2f} (`{least.scenario}`) to {matrix.ratio(most):.2f} times "
                f"(`{most.scenario}`)."
            )
    return "\n".join(lines)


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
