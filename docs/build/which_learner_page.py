"""The page "Which learner?", from the CSVs of `make matrix`: every number and name is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import fresh_orderings
import known_curvature
import numpy as np
import sources
from matrix_file import read_matrix
from pages import fill_template, table

from dikin.experiments.compare.competitors import BASES
from dikin.experiments.compare.holm import ERROR_RATE
from dikin.experiments.compare.matrix import FLOOR, WITH_MEMORY, Matrix, Outcome
from dikin.experiments.compare.orderings import (
    BEST,
    LEVEL,
    LEVEL_RATIO,
    MARKED,
    OPEN,
    Rank,
    ranks_of,
)
from dikin.experiments.compare.plan import FAR
from dikin.experiments.compare.scenarios import GROUPS, SCENARIOS
from dikin.experiments.fit import Curve
from dikin.feedback import Feedback

LEADS = ("Predictive", "AdaptiveSmooth", "AdaptiveLipschitz")
"""The learners whose record is told; the page begins with the first that took part."""
NEAR = 1.5
"""Times the best regret that the fixed-point baseline has, below which little has been learnt."""
GroupTable = Callable[[Matrix, list[str]], str]
"""A table of some scenarios."""
SAID = ("smooth", "lipschitz")
"""The groups of scenarios that differ in what a learner knows."""
WITHIN = (1.1, 2.0, 5.0)
"""Factors of the least regret of all: in how many scenarios a learner is so near."""
NAMED = 3
"""Learners that are named beside the one to take."""


def render(folder: Path) -> str:
    """The template of a folder, with what its CSVs say."""
    matrix = read_matrix(folder)
    curves = known_curvature.read(folder / "known_curvature.csv")
    games = sorted({len(outcome.seeds) for outcome in matrix.outcomes if outcome.played})
    leads = [name for name in LEADS if name in matrix.learners()]
    return fill_template(
        folder,
        source=sources.line("compare/games.csv"),
        rounds=matrix.rounds,
        seeds=games[-1],
        slow_seeds=_slow_seeds(matrix),
        most=_most_seeds(matrix),
        looks=_looks(matrix, _slow_seeds(matrix)),
        games=" or ".join(map(str, games)),
        count=len(matrix.scenarios),
        comparisons=len(matrix.p_values),
        level=ERROR_RATE,
        lead=_lead(matrix, leads[0]),
        short=_grouped(matrix, _short),
        matrix=_grouped(matrix, _table),
        baseline=_baseline(matrix),
        records="\n".join(f"- {_record(matrix, name)}" for name in leads),
        drift=_drift(matrix),
        hostile=_hostile(matrix),
        known="\n".join(f"- {_sentence(matrix, n)}" for g in SAID for n in matrix.of_group(g)),
        certificates=_certificates(matrix),
        wrong=_wrong(curves),
        more=_more(matrix),
        profiles=_profiles(matrix),
        precision=f"{LEVEL_RATIO:g}",
        external=_external(matrix),
        external_settings=_external_settings(matrix),
        absent=_absent(matrix),
        bases=_all(f"`{base.__name__}`" for base in BASES),
        speeds=_speeds(matrix),
        floor=FLOOR,
        fresh=fresh_orderings.told(matrix, folder / "fresh"),
    )


def _grouped(matrix: Matrix, text: GroupTable) -> str:
    parts = [f"### {GROUPS[g]}\n\n{text(matrix, matrix.of_group(g))}" for g in matrix.groups]
    return "\n\n".join(parts)


def _continued(matrix: Matrix) -> list[Outcome]:
    """Those that played more games after a first look."""
    return [one for one in matrix.outcomes if len(one.seeds) > one.first_look > 0]


def _slow_seeds(matrix: Matrix) -> int:
    """The least number of games of those that are compared, at the first look."""
    return min(
        one.first_look or len(one.seeds)
        for one in matrix.outcomes
        if one.played and not one.sees_more
    )


def _most_seeds(matrix: Matrix) -> str:
    more = _continued(matrix)
    return f" --most-seeds {len(more[0].seeds)}" if more else ""


def _looks(matrix: Matrix, first: int) -> str:
    """Why some cells have more games, and what that does to the tests."""
    more = _continued(matrix)
    if not more:
        return ""
    return (
        f" So {len(more)} cells played {len(more[0].seeds)} games in place of {first}: those that "
        f"were open and had at most {FAR:g} times the regret of the best, and the best beside "
        "them. As the games were looked at twice, all p-values are doubled."
    )


# --- who is best --------------------------------------------------------------------------------


def level(matrix: Matrix, outcomes: list[Outcome]) -> list[Outcome]:
    """The first of some ranked outcomes, and those not distinguished from it."""
    first = outcomes[0]
    return [c for c in outcomes if c is first or not matrix.distinguished(c, first)]


def _is_behind(matrix: Matrix, outcome: Outcome) -> bool:
    """Whether the best of this library is distinguished from an outcome by less regret."""
    best = matrix.of_library(outcome.scenario)[0]
    return best.mean < outcome.mean and matrix.distinguished(outcome, best)


def recommended(matrix: Matrix, scenario: str) -> list[Outcome]:
    """The best of those whose assumptions hold, and those near it and not distinguished from it."""
    first, *rest = level(matrix, matrix.sound(scenario))
    return [first, *(outcome for outcome in rest if outcome.mean - first.mean <= abs(first.mean))]


def _short(matrix: Matrix, scenarios: list[str]) -> str:
    rows = []
    for scenario in scenarios:
        take = recommended(matrix, scenario)
        rows.append(
            [
                SCENARIOS[scenario].losses,
                _choice(take),
                f"{take[0].mean:,.0f}",
                f"{take[0].certificate:,.0f}" if take[0].bounded else "",
                _less(matrix, take[0]),
                f"`{scenario}`",
            ]
        )
    head = "your losses | use | regret | certificate | less regret | measured in"
    return table(head, rows)


def _choice(take: list[Outcome]) -> str:
    """The learner to take, and some of those that are not distinguished from it."""
    first, *rest = map(_name, take)
    return first + (f", or {_some(rest)}" if rest else "")


def _less(matrix: Matrix, outcome: Outcome) -> str:
    """Who has less regret than a outcome, if anybody is distinguished from it."""
    best = matrix.ranked(outcome.scenario)[0]
    if best is outcome or not matrix.distinguished(best, outcome):
        return ""
    return f"{_name(best)}{_dagger(best)}, {best.mean:,.0f}"


def _won_and_lost(matrix: Matrix, name: str) -> tuple[list[str], list[str]]:
    """Where a learner is best among the library's, and where and by how much it is not."""
    won, lost = [], []
    for scenario in matrix.scenarios:
        outcome, (best, *_) = matrix.at(name, scenario), matrix.of_library(scenario)
        if outcome is None or not outcome.played:
            continue
        if not _is_behind(matrix, outcome):
            won.append(f"`{scenario}`")
        else:
            compared = _compared(outcome, best, f" {_name(best)}{_dagger(best)}")
            lost.append((_times(outcome, best), f"`{scenario}` ({compared})"))
    return won, [text for _, text in sorted(lost, reverse=True)]


def _lead(matrix: Matrix, name: str) -> str:
    """What to know of the first learner, and where another package's optimizer wins."""
    won, behind = _won_and_lost(matrix, name)
    text = (
        f"Begin with `{name}`: of {len(won) + len(behind)} scenarios {_standings(matrix, name)}, "
        f"and it is behind in {len(behind)}, compared with the learners of this library."
    )
    if behind:
        text += f" It is farthest behind in {_all(behind[:NAMED])}."
    wins = [
        f"`{scenario}` ({_name(best)})"
        for scenario in matrix.scenarios
        if (best := matrix.ranked(scenario)[0]).section == "other packages"
        and matrix.distinguished(best, matrix.of_library(scenario)[0])
    ]
    if wins:
        text += (
            f" An optimizer of another package has less regret than all of them in {_all(wins)}."
        )
    if leaders := matrix.led_by_others():
        text += f" Distinguished or not, one of these has the least mean in {len(leaders)}."
    return text


def _record(matrix: Matrix, name: str) -> str:
    won, behind = _won_and_lost(matrix, name)
    return (
        f"**{name}** is best of the library's learners, or not distinguished from the best, in "
        f"{len(won)} of {len(won) + len(behind)} scenarios{_listed(won)}: "
        f"{_standings(matrix, name)}. It is behind in {_all(behind) or 'none'}."
    )


def _standings(matrix: Matrix, name: str) -> str:
    """How many of them are known to be the best, or nearly so."""
    found = [
        matrix.standing(outcome, matrix.of_library(outcome.scenario)[0])
        for outcome in matrix.outcomes
        if outcome.learner == name and outcome.played
    ]
    best, near, unknown = (found.count(standing) for standing in (BEST, LEVEL, OPEN))
    return f"it has the least mean in {best}, is level with the best in {near}, {unknown} are open"


def _profiles(matrix: Matrix) -> str:
    """For every learner of one value, in how many scenarios it is within a factor of the best."""
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
        rows.append([learner, str(len(factors)), *map(str, shares), worst, shown])
    within = " | ".join(f"within {limit:g}" for limit in WITHIN)
    return table(f"learner | scenarios | {within} | largest ratio | mean rank", rows)


def _ranks(matrix: Matrix) -> dict[str, Rank]:
    """Of those that see one value and played every scenario, compared with the first of `LEADS`."""
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


def _sentence(matrix: Matrix, scenario: str) -> str:
    """Who is best in a scenario, who is not distinguished, and how the leading learners do."""
    first, *rest = matrix.of_library(scenario)
    same = level(matrix, [first, *rest])[1:]
    text = (
        f"`{scenario}` ({SCENARIOS[scenario].description}): {_name(first)}{_dagger(first)} has the "
    )
    text += f"least regret, {first.mean:,.0f} ± {first.half:,.0f}"
    if same:
        text += f"; not distinguished from it: {_some(list(map(_name, same)))}"
    others = [outcome for outcome in rest if outcome not in same and outcome.learner in LEADS]
    if others:
        text += "; " + _all(f"{_name(c)} has {_times(c, first):.1f} times as much" for c in others)
    return text + "."


# --- the groups ---------------------------------------------------------------------------------


def _drift(matrix: Matrix) -> str:
    """Who is best where something moves, and what a memory is worth."""
    names = matrix.of_group("drift")
    lines = [f"- {_sentence(matrix, name)}" for name in names]
    for outcome in matrix.outcomes:
        without = matrix.at(outcome.learner.removesuffix(WITH_MEMORY), outcome.scenario)
        if outcome.played and without is not None and without.played and without is not outcome:
            apart = "" if matrix.distinguished(outcome, without) else ", which is not distinguished"
            lines.append(
                f"- A memory in `{outcome.scenario}`: {_name(outcome)} has "
                f"{_times(outcome, without):.2f} times the regret of {_name(without)}{apart}."
            )
    return "\n".join(lines) or "None was played."


def _hostile(matrix: Matrix) -> str:
    """Every learner's worst hostile game, in units of the best of this library there."""
    names, rows = matrix.of_group("hostile"), []
    for learner in matrix.learners():
        found = (matrix.at(learner, name) for name in names)
        outcomes = [c for c in found if c is not None and c.played and not c.sees_more]
        if outcomes:
            worst = max(outcomes, key=matrix.ratio)
            not_behind = sum(not _is_behind(matrix, c) for c in outcomes)
            ratio = f"{matrix.ratio(worst):.1f} (`{worst.scenario}`)"
            rows.append([learner, f"{not_behind} of {len(outcomes)}", ratio])
    return table("learner | not behind the library's best | largest ratio", rows)


def _baseline(matrix: Matrix) -> str:
    """What the fixed point costs, over the best learner: near one, nobody has learnt anything."""
    outcomes = [c for c in matrix.outcomes if c.section == "baseline" and c.played]
    ratios = sorted((matrix.ratio(outcome), outcome.scenario) for outcome in outcomes)
    if not ratios:
        return "The fixed-point baseline did not take part."
    (least, there), (most, where) = ratios[0], ratios[-1]
    near = [f"`{name}`" for ratio, name in ratios if ratio < NEAR]
    text = (
        "`FixedPoint`, the baseline, plays the centre in every round. Its regret is between "
        f"{least:.1f} (`{there}`) and {most:.1f} times (`{where}`) that of this library's best."
    )
    if near:
        text += (
            f" In {_all(near)} it is below {NEAR:g} times: there are too many dimensions, or too "
            "little to be learnt, for so few rounds, and what is compared is what exploring costs."
        )
    return text


def _certificates(matrix: Matrix) -> str:
    """The mean certificate over the mean regret, where it speaks about what was measured."""
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
    """In which scenarios another package's optimizer has less regret than this library's best."""
    lines = []
    for learner in matrix.learners():
        if matrix.section(learner) != "other packages":
            continue
        less: list[str] = []
        more: list[str] = []
        near: dict[str, list[str]] = {BEST: [], LEVEL: [], OPEN: []}
        for outcome in (c for c in matrix.outcomes if c.learner == learner and c.played):
            best, name = matrix.of_library(outcome.scenario)[0], f"`{outcome.scenario}`"
            if not matrix.distinguished(outcome, best):
                near[matrix.standing(outcome, best)].append(name)
            else:
                side = less if outcome.mean < best.mean else more
                side.append(f"{name} ({_compared(outcome, best)})")
        lines.append(
            f"- `{learner}` wins in {_all(less) or 'none'}; loses in {_all(more) or 'none'}; is "
            f"level in {_all(near[LEVEL]) or 'none'}; open: {_all(near[OPEN]) or 'none'}."
        )
    return "\n".join([*lines, *_leaders(matrix)]) or "None took part."


def _leaders(matrix: Matrix) -> list[str]:
    """Where they have the least mean of all, whether or not the games distinguish it."""
    leaders = [f"`{one.scenario}` (`{one.learner}`)" for one in matrix.led_by_others()]
    if not leaders:
        return []
    count = f"{len(leaders)} of {len(matrix.scenarios)}"
    least = "One of them has the least mean of all, distinguished or not, in"
    return [f"- {least} {count}: {_all(leaders)}."]


def _external_settings(matrix: Matrix) -> str:
    """What was set for them; the matrix of an earlier version has TBPSA with its own first step."""
    steps = (
        " The first step of CMA-ES and of TBPSA is 0.3 of the radius. `NoiseHandlingCMA` is CMA-ES "
        "with its noise handling and restarts."
    )
    return steps if "NoiseHandlingCMA" in matrix.learners() else ""


# --- the rest -----------------------------------------------------------------------------------


def _table(matrix: Matrix, scenarios: list[str]) -> str:
    head = " | ".join(["learner", *(f"`{name}`" for name in scenarios)])
    rows = []
    for learner in matrix.learners():
        outcomes = [_shown(matrix, learner, scenario) for scenario in scenarios]
        if any(outcomes):
            rows.append([_styled(matrix, learner), *outcomes])
    return table(head, rows)


def _styled(matrix: Matrix, learner: str) -> str:
    return f"*{learner}*" if matrix.section(learner) == "sees more" else learner


def _shown(matrix: Matrix, learner: str, scenario: str) -> str:
    outcome = matrix.at(learner, scenario)
    if outcome is None or not outcome.played:
        return ""
    text = f"{outcome.mean:,.0f} ± {outcome.half:,.0f}"
    marked = MARKED.get(matrix.mark(outcome), "{}").format(text)  # no mark: sees more
    return marked + ("†" if outcome.broken else "")


def _wrong(found: known_curvature.Curves) -> str:
    adaptive, known = (found["constant", name] for name in ("AdaptiveSmooth", "HazanLevy"))
    flat = [found["tenth-flat", n] for n in ("AdaptiveSmooth", "HazanLevy", "Discard")]
    last = int(adaptive.sizes[-1])
    ours, theirs, thrown = (float(curve.means[-1]) for curve in flat)
    return (
        "Left, every round has the curvature that `HazanLevy` is told: its regret grows like "
        f"T^{_power(known)}, that of `AdaptiveSmooth` like T^{_power(adaptive)}, "
        f"up to T = {last:,}. Right, the first tenth of the rounds says nothing, but `HazanLevy` "
        "assumes the same curvature in all of them, and stays near where it was at that "
        f"time. Its regret grows like T^{_power(flat[1])}, and at T = {last:,} is "
        f"{theirs / ours:.1f} times that of `AdaptiveSmooth` (T^{_power(flat[0])}), which "
        "was told that those rounds were flat. `Discard`, which throws them away, has "
        f"{thrown / ours:.2f} times the regret of `AdaptiveSmooth`: where flat rounds say nothing "
        f"at all, throwing them away is right. {adaptive.games} games a point, "
        "`Quadratic` on the disc."
    )


def _power(curve: Curve) -> str:
    return f"{curve.power.exponent:.2f}"


def _more(matrix: Matrix) -> str:
    """By what factor those that see more are below the best of one value."""
    lines = []
    for learner in matrix.learners():
        outcomes = [c for c in matrix.outcomes if c.learner == learner and c.played and c.sees_more]
        if outcomes:
            least, most = (choose(outcomes, key=matrix.ratio) for choose in (min, max))
            lines.append(
                f"- `{learner}` ({Feedback[outcomes[0].feedback].value}): from "
                f"{matrix.ratio(least):.2f} times the least regret of a learner of one value "
                f"(`{least.scenario}`) to {matrix.ratio(most):.2f} times (`{most.scenario}`)."
            )
    return "\n".join(lines) or "None took part."


def _absent(matrix: Matrix) -> str:
    lines = []
    for reason, outcomes in matrix.absent().items():
        out = {outcome.scenario for outcome in outcomes}
        there = [f"`{name}`" for name in matrix.scenarios if name not in out]
        where = _all(f"`{name}`" for name in matrix.scenarios if name in out)
        if len(there) < len(out):
            where = f"all but {_all(there)}" if there else "all"
        lines.append(f"- {where}: {reason}.")
    return "\n".join(["Not played, and the reason given:", "", *lines]) if lines else ""


def _speeds(matrix: Matrix) -> str:
    rows = []
    for learner in matrix.learners():
        outcomes = [c for c in matrix.outcomes if c.learner == learner and c.played]
        per = [c.seconds / c.rounds * 1e6 for c in outcomes]
        compiled = sum(c.compiled for c in outcomes)
        rows.append(
            [learner, f"{compiled} of {len(outcomes)}", f"{min(per):.1f}", f"{max(per):.1f}"]
        )
    return table("learner | compiled | µs a round, fastest scenario | slowest", rows)


# --- words --------------------------------------------------------------------------------------


def _times(one: Outcome, two: Outcome) -> float:
    """How many times the regret of another a learner has."""
    return max(one.mean, FLOOR) / max(two.mean, FLOOR)


def _compared(one: Outcome, two: Outcome, name: str = "") -> str:
    """The regret of one in units of another's, or both where that says nothing."""
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
    """The first few, and how many more there are."""
    more = len(parts) - NAMED
    return _all(parts if more <= 1 else [*parts[:NAMED], f"{more} others"])


def _listed(parts: list[str]) -> str:
    return f": {_all(parts)}" if parts else ""
