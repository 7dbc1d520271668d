"""`python docs/build`: every page and every figure that is made from CSVs, made anew."""

from __future__ import annotations

from pathlib import Path

import evidence_page
import outside_page
import rates_page
import reproduction_page
import which_learner_page
from matrix_file import read_matrix
from pages import filled

from dikin.experiments.reproduce import figures
from dikin.experiments.reproduce.results import Measured, write_files
from dikin.files import replace_file
from evidence.compare import figure as compare_figure
from evidence.compare import matrix as compare_matrix
from evidence.rates import figure as rates_figure

DOCS = Path(__file__).resolve().parent.parent
PAGES = {
    "evidence.md": evidence_page.parts,
    "reproduction.md": reproduction_page.parts,
    "outside.md": outside_page.parts,
    "rates.md": rates_page.parts,
    "which_learner.md": which_learner_page.parts,
    "../README.md": evidence_page.numbers,
}
"""Each page, and the function that makes its parts from the CSVs."""


def draw_figures() -> None:
    """Draw the figures whose every number is in a CSV, and write what sums up the games."""
    compare = DOCS / "compare"
    matrix = read_matrix(compare)
    compare_matrix.write(matrix, compare)
    compare_figure.draw(matrix, compare / "compare.png")
    evidence = DOCS / "evidence"
    results = reproduction_page.read_games(evidence)
    measured_tables = Measured.of(reproduction_page.REQUEST, results)
    write_files(measured_tables, reproduction_page.REQUEST, results, evidence)
    figures.draw_all(measured_tables, evidence)
    rates_figure.draw(rates_page.read_lines(DOCS / "rates"), DOCS / "rates" / "rates.png")


def written(name: str) -> str:
    """Return a page with its parts made anew."""
    return filled((DOCS / name).read_text(encoding="utf-8"), PAGES[name](DOCS))


if __name__ == "__main__":
    draw_figures()
    for name in PAGES:
        replace_file(DOCS / name, written(name).encode())
