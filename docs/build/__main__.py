"""`python docs/build`: every page and every figure that is made from CSVs, made anew."""

from __future__ import annotations

from pathlib import Path

import evidence_page
import known_curvature
import outside_page
import rates_page
import real_data_page
import which_learner_page
from evidence_file import REQUEST, read_games
from matrix_file import read_matrix
from rates_file import read_lines

from dikin.experiments.compare import figure as compare_figure
from dikin.experiments.rates import figure as rates_figure
from dikin.experiments.reproduce import figures
from dikin.experiments.reproduce.results import Measured, write_files
from dikin.files import replace_file

DOCS = Path(__file__).resolve().parent.parent
PAGES = {
    "evidence.md": (evidence_page.render, "evidence"),
    "outside.md": (outside_page.render, "outside"),
    "rates.md": (rates_page.render, "rates"),
    "real_data.md": (real_data_page.render, "real_data"),
    "which_learner.md": (which_learner_page.render, "compare"),
}
"""Each page, what makes it, and the folder of its CSVs and its template."""


def draw_figures() -> None:
    """The figures whose every number is in a CSV; no game is played."""
    compare = DOCS / "compare"
    compare_figure.draw(read_matrix(compare), compare / "compare.png")
    measured = known_curvature.read(compare / "known_curvature.csv")
    known_curvature.draw(measured, compare / "known_curvature.png")
    evidence = DOCS / "evidence"
    results = read_games(evidence)
    measured_tables = Measured.of(REQUEST, results)
    write_files(measured_tables, REQUEST, results, evidence)
    figures.draw_all(measured_tables, 1, evidence)
    outside_page.draw(DOCS / "outside")
    rates_figure.draw(read_lines(DOCS / "rates"), DOCS / "rates" / "rates.png")


if __name__ == "__main__":
    draw_figures()
    for name, (render, folder) in PAGES.items():
        replace_file(DOCS / name, render(DOCS / folder).encode())
