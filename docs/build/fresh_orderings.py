"""The orderings of a table, looked at again in games of other seeds, which chose nothing.

For the matrix of `dikin compare` (`orderings`, `verdicts`), and for any table of costs, by the rule
of `dikin.experiments.compare.orderings` (`verdicts_of`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from matrix_file import read_matrix

from dikin.experiments.compare.holm import ERROR_RATE, rejected
from dikin.experiments.compare.matrix import Matrix, Outcome, p_value
from dikin.experiments.compare.orderings import BEHIND, Orderings, Ratio

KEPT, SAME, OTHER, REVERSED = "kept", "the same", "the other", "reversed"


class Ordering(NamedTuple):
    """Two competitors of a scenario, the better one first, as the new games have them."""

    less: Outcome
    more: Outcome


def orderings(matrix: Matrix, again: Matrix) -> list[Ordering]:
    """Who is distinguished from the best of all, or of this library, and was played again."""
    found: dict[tuple[str, str, str], Ordering] = {}
    for scenario in matrix.scenarios:
        for ranked in (matrix.ranked(scenario), matrix.of_library(scenario)):
            for other in matrix.ranked(scenario):
                if not ranked or not matrix.distinguished(other, ranked[0]):
                    continue
                less, more = sorted((ranked[0], other), key=lambda outcome: outcome.mean)
                pair = again.at(less.learner, scenario), again.at(more.learner, scenario)
                if pair[0] and pair[1] and pair[0].played and pair[1].played:
                    found[scenario, less.learner, more.learner] = Ordering(pair[0], pair[1])
    return list(found.values())


def verdicts(pairs: list[Ordering]) -> list[str]:
    """Of each ordering: kept or reversed if the new games distinguish the two, else their order."""
    orders = [less.mean < more.mean for less, more in pairs]
    return _words(orders, [p_value(*pair) for pair in pairs])


class Verdict(NamedTuple):
    """What new games say of an ordering of a table."""

    problem: str
    less: str
    more: str
    ratio: Ratio
    """Of the second player's cost to the first's, in the new games."""
    word: str
    """`KEPT`, `SAME`, `OTHER` or `REVERSED`."""


def verdicts_of(table: Orderings, again: Orderings) -> list[Verdict]:
    """Of everyone who is behind the best of a problem, if both played again."""
    pairs = [
        (problem, table.best(problem), player)
        for problem, players in table.costs.items()
        for player in players
        if table.standing(problem, player) == BEHIND
        and {table.best(problem), player} <= again.costs.get(problem, {}).keys()
    ]
    ratios = [again.ratio(problem, more, to=less) for problem, less, more in pairs]
    orders = [ratio.value > 1.0 for ratio in ratios]
    words = _words(orders, [again.p_value(*pair) for pair in pairs])
    return [
        Verdict(*pair, ratio, word) for pair, ratio, word in zip(pairs, ratios, words, strict=True)
    ]


def _words(same_order: Sequence[bool], p_values: Sequence[float]) -> list[str]:
    """Holm's correction is over the orderings that are looked at again."""
    words = {
        (True, True): KEPT,
        (True, False): SAME,
        (False, False): OTHER,
        (False, True): REVERSED,
    }
    decided = rejected(p_values)
    return [words[same, sure] for same, sure in zip(same_order, decided, strict=True)]


def told(matrix: Matrix, folder: Path) -> str:
    """What came of it, in words."""
    if not (folder / "games.csv").exists():
        return "They were not played again yet."
    again = read_matrix(folder)
    pairs = orderings(matrix, again)
    found = verdicts(pairs)
    seeds = sorted({seed for outcome in again.outcomes for seed in outcome.seeds})
    text = (
        f"{len(pairs):,} orderings of this page, of {len(again.learners())} competitors, were "
        f"played again with seeds from {seeds[0]:,} on. {counted(found)}"
    )
    changed = [_line(pair, word) for pair, word in zip(pairs, found, strict=True) if _lost(word)]
    return "\n".join([text, "", *changed]).rstrip()


def counted(words: Sequence[str]) -> str:
    """How many orderings are kept, not distinguished and reversed."""
    kept, same, other, lost = map(words.count, (KEPT, SAME, OTHER, REVERSED))
    return (
        f"{kept:,} are kept: distinguished again, at {ERROR_RATE:.0%} of all of them together. The "
        f"new games, which are fewer, do not distinguish the two in {same + other:,}: the means "
        f"have the same order in {same:,} and the other one in {other:,}. {lost:,} are reversed."
    )


def _lost(word: str) -> bool:
    return word in (OTHER, REVERSED)


def _line(pair: Ordering, word: str) -> str:
    less, more = pair
    how = "reversed" if word == REVERSED else "the other order, not distinguished"
    return (
        f"- `{less.scenario}`, `{less.learner}` before `{more.learner}`: {how}, {less.mean:,.0f} ± "
        f"{less.half:,.0f} and {more.mean:,.0f} ± {more.half:,.0f}"
    )
