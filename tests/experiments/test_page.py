"""The page of evidence is what its CSVs say, and they say what they should."""

from __future__ import annotations

import csv
from pathlib import Path

from dikin.experiments.page import render

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_is_made_from_the_committed_run() -> None:
    assert (DOCS / "evidence.md").read_text(encoding="utf-8") == render(DOCS / "evidence")


def test_every_measured_exponent_is_near_the_proved_one_and_every_bound_holds() -> None:
    for number in (1, 2):
        with open(DOCS / "evidence" / f"table{number}.csv", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                assert float(row["gap"]) <= 0.08, row
                assert float(row["regret"]) <= float(row["certificate"]), row
