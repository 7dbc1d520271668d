"""The orderings of a matrix, looked at again in games of other seeds, which chose nothing."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from matrix_file import read_matrix

from dikin.experiments.compare.holm import ERROR_RATE, rejected
from dikin.experiments.compare.matrix import Matrix, Outcome, p_value

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
    decided = rejected([p_value(*pair) for pair in pairs])
    words = {
        (True, True): KEPT,
        (True, False): SAME,
        (False, False): OTHER,
        (False, True): REVERSED,
    }
    return [
        words[less.mean < more.mean, sure]
        for (less, more), sure in zip(pairs, decided, strict=True)
    ]


def told(matrix: Matrix, folder: Path) -> str:
    """What came of it, in words."""
    if not (folder / "games.csv").exists():
        return "They were not played again yet."
    again = read_matrix(folder)
    pairs = orderings(matrix, again)
    found = verdicts(pairs)
    seeds = sorted({seed for outcome in again.outcomes for seed in outcome.seeds})
    kept, same, other, lost = map(found.count, (KEPT, SAME, OTHER, REVERSED))
    text = (
        f"{len(pairs):,} orderings of this page, of {len(again.learners())} competitors, were "
        f"played again with seeds from {seeds[0]:,} on. {kept:,} are kept: distinguished again, at "
        f"{ERROR_RATE:.0%} of all of them together. The new games, which are fewer, do not "
        f"distinguish the two in {same + other:,}: the means have the same order in {same:,} and "
        f"the other one in {other:,}. {lost:,} are reversed."
    )
    changed = [_line(pair, word) for pair, word in zip(pairs, found, strict=True) if _lost(word)]
    return "\n".join([text, "", *changed]).rstrip()


def _lost(word: str) -> bool:
    return word in (OTHER, REVERSED)


def _line(pair: Ordering, word: str) -> str:
    less, more = pair
    how = "reversed" if word == REVERSED else "the other order, not distinguished"
    return (
        f"- `{less.scenario}`, `{less.learner}` before `{more.learner}`: {how}, {less.mean:,.0f} ± "
        f"{less.half:,.0f} and {more.mean:,.0f} ± {more.half:,.0f}"
    )
