"""From which code the figures of all pages are, and which of them are older than the code.

A command that measures writes a record beside its CSVs (`dikin.experiments.source`). `stale.csv`
lists the CSVs that are known to be older than the code, each with what has changed since; a test
compares the list with the records. `same_games.csv` lists changes of the code by which no game
changes, as `benchmarks/same_games.py` showed: figures from before such a change are not older.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pages import table

from dikin.experiments.source import ENDING, digest
from dikin.experiments.tables import read_csv

DOCS = Path(__file__).resolve().parent.parent
PAGES = {
    "adapters": "adapters.md",
    "adapters/fresh": "outside.md",
    "beginning": "beginning.md",
    "beginning/fresh": "outside.md",
    "compare": "which_learner.md",
    "compare/fresh": "which_learner.md",
    "evidence": "evidence.md",
    "evidence/paper": "evidence.md",
    "examples": "examples.md",
    "examples/fresh": "outside.md",
    "loops": "learners.md",
    "memory": "memory.md",
    "memory/fresh": "outside.md",
    "outside": "outside.md",
    "outside/fresh": "outside.md",
    "rates": "rates.md",
    "real_data": "real_data.md",
    "worth": "worth.md",
}
"""The page that shows the CSVs of a folder."""


def records(docs: Path = DOCS) -> dict[str, dict[str, Any]]:
    """Every record, by the CSV that it stands beside."""
    files = sorted(docs.rglob(f"*{ENDING}"))
    return {
        f"{file.relative_to(docs).as_posix().removesuffix(ENDING)}.csv": json.loads(
            file.read_text(encoding="utf-8")
        )
        for file in files
    }


def older(docs: Path = DOCS) -> set[str]:
    """The CSVs that code wrote which plays other games than today's."""
    found = {csv: (tuple(made["parts"]), made["code"]) for csv, made in records(docs).items()}
    today = {parts: digest(parts) for parts in {parts for parts, _ in found.values()}}
    newest = {
        code: [code, *(row["after"] for row in changes(code, docs))][-1]
        for _, code in found.values()
    }
    return {csv for csv, (parts, code) in found.items() if newest[code] != today[parts]}


def changes(code: str, docs: Path = DOCS) -> list[dict[str, str]]:
    """The changes since some code by which no game changed, oldest first."""
    file = docs / "same_games.csv"
    after = {row["before"]: row for row in read_csv(file)} if file.exists() else {}
    found = []
    while code in after:
        found.append(after[code])
        code = after[code]["after"]
    return found


def listed(docs: Path = DOCS) -> dict[str, str]:
    """The CSVs that are known to be older than the code, and what has changed since."""
    return {row["csv"]: row["reason"] for row in read_csv(docs / "stale.csv")}


def line(csv: str) -> str:
    """What a page says of its figures."""
    made, reason = records()[csv], listed().get(csv)
    text = f"dikin {made['version']}, code `{made['code']}`, {_settings(made['settings'])}"
    age = f"older than the code: {reason}" if reason else _age(made["code"])
    return f"*Figures: {text}; {age}. [All pages](evidence.md#from-which-code-the-figures-are).*"


def all_pages() -> str:
    """A table of all records."""
    rows = [
        [
            f"[{PAGES[csv.rpartition('/')[0]]}]({PAGES[csv.rpartition('/')[0]]})",
            f"`{csv}`",
            f"{made['version']}, `{made['code']}`",
            listed().get(csv) or _age(made["code"]),
        ]
        for csv, made in records().items()
    ]
    return table("page | figures | version, code | age", rows)


def _age(code: str) -> str:
    """Of figures that are not older than the code."""
    reasons = [row["reason"] for row in changes(code)]
    return f"before {'; '.join(reasons)}: the same games" if reasons else "as the code is now"


def _settings(settings: dict[str, Any]) -> str:
    """In a few words; an effort is known by its name."""
    words = {
        name: value["name"] if isinstance(value, dict) and "name" in value else value
        for name, value in settings.items()
    }
    return ", ".join(f"{name} {value}" for name, value in words.items()) or "default settings"
