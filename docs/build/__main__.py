"""`python docs/build`: every page and every figure that is made from CSVs, made anew."""

from __future__ import annotations

from pathlib import Path

import evidence_page
import games_page
import promises_tables
import reproduction_page
from pages import filled

from dikin.experiments.reproduce import figures
from dikin.experiments.reproduce.results import Measured, write_files
from dikin.files import replace_file

DOCS = Path(__file__).resolve().parent.parent
PAGES = {
    "evidence.md": evidence_page.parts,
    "reproduction.md": reproduction_page.parts,
    "outside.md": games_page.outside_parts,
    "examples.md": games_page.live_parts,
    "promises.md": games_page.promises_parts,
    "worth.md": promises_tables.worth_parts,
    "attack.md": promises_tables.attack_parts,
    "mutants.md": promises_tables.mutants_parts,
    "../README.md": evidence_page.numbers,
}
"""Each page, and the function that makes its parts from the CSVs."""


def draw_figures() -> None:
    """Draw the figures whose every number is in a CSV, and write the summaries of the games."""
    evidence = DOCS / "evidence"
    results = reproduction_page.read_games(evidence)
    measured_tables = Measured.of(reproduction_page.REQUEST, results)
    write_files(measured_tables, reproduction_page.REQUEST, results, evidence)
    figures.draw_all(measured_tables, evidence)


def written(name: str) -> str:
    """Return a page with its parts made anew."""
    return filled((DOCS / name).read_text(encoding="utf-8"), PAGES[name](DOCS))


if __name__ == "__main__":
    draw_figures()
    for name in PAGES:
        replace_file(DOCS / name, written(name).encode())
