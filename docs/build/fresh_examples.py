"""The tables "fresh" of two pages: what games of other seeds say of the orderings of a table.

    python docs/build/fresh_examples.py   # after `make fresh-examples`, or a new run of a table

Loops that measure times or sockets are not among them: every run of theirs is a fresh one.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fresh_orderings import KEPT, OTHER, REVERSED, SAME, Verdict, verdicts_of

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))

from report import Block, read_results, times, write_page

DOCS = Path(__file__).resolve().parent.parent
TABLES = {"examples": ("price", "oppertune"), "adapters": ("optuna",)}
"""By page: the tables whose games are simulated."""
WORDS = {
    KEPT: "distinguished again",
    SAME: "same order, not distinguished",
    OTHER: "other order, not distinguished",
    REVERSED: "reversed",
}


def fresh(file: Path, again: Path) -> list[Verdict]:
    """What the new games of a table say of its orderings."""
    (table,), (new,) = read_results(file), read_results(again)
    return verdicts_of(table.orderings, new.orderings)


def block(folder: Path, names: tuple[str, ...]) -> Block:
    """How many orderings of each table are kept, and which are not."""
    rows, notes = [], []
    for name in names:
        found = fresh(folder / f"{name}.csv", folder / "fresh" / f"{name}.csv")
        words = [verdict.word for verdict in found]
        rows.append([name, str(len(found)), *(str(words.count(word)) for word in WORDS)])
        notes += [f"{name}, {_line(each)}" for each in found if each.word in (OTHER, REVERSED)]
    seed = min(read_results(folder / "fresh" / f"{name}.csv")[0].first for name in names)
    about = f"orderings that games with seeds from {seed:,} on looked at again"
    return Block("fresh", [f"fresh: {about}", "orderings", *WORDS.values()], rows, notes)


def _line(verdict: Verdict) -> str:
    pair = f"{verdict.less} before {verdict.more}"
    return f"{verdict.problem}, {pair}: {WORDS[verdict.word]}, {times(verdict.ratio)}."


def write() -> None:
    """Both pages."""
    for page, names in TABLES.items():
        write_page([block(DOCS / page, names)], DOCS / f"{page}.md")


if __name__ == "__main__":
    write()
