"""What fresh games say of the orderings of all pages: games of other seeds, which chose nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fresh_orderings import KEPT, OTHER, REVERSED, SAME, orderings, verdicts, verdicts_of
from matrix_file import read_matrix
from pages import table

from dikin.experiments.compare.orderings import Orderings
from dikin.experiments.tables import read_csv

FRESH = "fresh"
"""The folder of fresh games, beside the CSVs of the others."""
WORDS = (KEPT, SAME, OTHER, REVERSED)
HEAD = (
    "page | figures | orderings | kept | same order, not distinguished | "
    "other order, not distinguished | reversed"
)


class Source(NamedTuple):
    """A CSV with a row for each game, and which of its columns make a table of costs."""

    page: str
    name: str
    file: str
    """Below docs."""
    problem: tuple[str, ...]
    measures: tuple[str, ...]
    least: float
    """Smaller costs count as this much."""
    player: str = "player"
    arithmetic: bool = False

    def read(self, file: Path, measure: str) -> Orderings:
        """One table of costs."""
        costs: dict[str, dict[str, dict[int, float]]] = {}
        for row in read_csv(file):
            problem = ", ".join(row[column] for column in self.problem)
            players = costs.setdefault(problem, {})
            players.setdefault(row[self.player], {})[int(row["game"])] = float(row[measure])
        return Orderings(costs, self.least, self.arithmetic)


OUTSIDE, BOTH = ("problem", "rounds"), ("cost", "final")
EXAMPLE, VALUE = ("table", "setting"), ("value",)
"""Those of the tables of `examples/report.py`, which compare arithmetic means."""
SOURCES = (
    Source("outside.md", "bbob-noisy", "outside/bbob.csv", OUTSIDE, BOTH, 1e-3),
    Source("outside.md", "CATS", "outside/cats.csv", OUTSIDE, BOTH, 1e-6),
    Source("outside.md", "AutoScope", "outside/autoscope.csv", OUTSIDE, BOTH, 1e-3),
    Source("outside.md", "pendulum", "outside/pendulum.csv", OUTSIDE, BOTH, 1e-2),
    Source(
        "beginning.md",
        "first rounds",
        "beginning/beginning.csv",
        ("start", "d", "squared", "condition", "noise", "rounds"),
        BOTH,
        1e-4,
    ),
    Source(
        "memory.md",
        "memory",
        "memory/memory.csv",
        ("table", "world", "d", "noise"),
        ("regret",),
        1.0,
        player="memory",
    ),
    Source(
        "memory.md",
        "contexts",
        "memory/contexts.csv",
        ("contexts", "difference", "rounds"),
        ("regret",),
        1e-3,
        arithmetic=True,
    ),
    *(
        Source(page, name, file, EXAMPLE, VALUE, 1e-9, arithmetic=True)
        for page, name, file in (
            ("examples.md", "price", "examples/price.csv"),
            ("examples.md", "OPPerTune", "examples/oppertune.csv"),
            ("adapters.md", "Optuna", "adapters/optuna.csv"),
        )
    ),
)


class Checked(NamedTuple):
    """The orderings of some figures, looked at again."""

    page: str
    name: str
    words: list[str]
    changed: list[str]
    """In words, those whose order is another one in the fresh games."""


def all_checked(docs: Path) -> Iterator[Checked]:
    """Of every page whose games were played again."""
    matrix = docs / "compare"
    if (matrix / FRESH / "games.csv").exists():
        yield of_matrix(matrix)
    for source in SOURCES:
        file = docs / source.file
        if (file.parent / FRESH / file.name).exists():
            yield of_source(source, docs)


def of_source(source: Source, docs: Path) -> Checked:
    """The tables of a CSV."""
    file = docs / source.file
    words: list[str] = []
    changed: list[str] = []
    for measure in source.measures:
        found = source.read(file, measure), source.read(file.parent / FRESH / file.name, measure)
        for each in verdicts_of(*found):
            words.append(each.word)
            if each.word in (OTHER, REVERSED):
                changed.append(
                    f"{source.name}, {each.problem} ({measure}): {each.less} before {each.more}, "
                    f"{each.word} order, ratio {each.ratio.value:.2g} "
                    f"({each.ratio.low:.2g} to {each.ratio.high:.2g})"
                )
    return Checked(source.page, source.name, words, changed)


def of_matrix(folder: Path) -> Checked:
    """The matrix of `dikin compare`; its own page names what has changed."""
    pairs = orderings(read_matrix(folder), read_matrix(folder / FRESH))
    return Checked("which_learner.md", "the matrix", verdicts(pairs), [])


def render(docs: Path) -> str:
    """A line for each of them, and what has changed."""
    checked = [*all_checked(docs)]
    if not checked:
        return "Not played yet."
    rows = []
    for each in checked:
        counts = Counter(each.words)
        numbers = [f"{counts[word]:,}" for word in WORDS]
        rows.append([f"[{each.page}]({each.page})", each.name, f"{len(each.words):,}", *numbers])
    total = Counter(word for each in checked for word in each.words)
    numbers = [f"**{total[word]:,}**" for word in WORDS]
    rows.append(["**all**", "", f"**{total.total():,}**", *numbers])
    changed = [f"- {line}" for each in checked for line in each.changed]
    return "\n".join([table(HEAD, rows), *(["", *changed] if changed else [])])
