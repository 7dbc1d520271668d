"""The page of evidence is what its CSVs say, and they say what they should."""

from __future__ import annotations

from pathlib import Path

from evidence_page import render

from dikin.experiments.tables import read_csv

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_is_made_from_the_committed_run() -> None:
    assert (DOCS / "evidence.md").read_text(encoding="utf-8") == render(DOCS / "evidence")


def test_every_measured_exponent_is_near_the_proved_one_and_every_bound_holds() -> None:
    for number in (1, 2):
        for row in read_csv(DOCS / "evidence" / f"table{number}.csv"):
            assert float(row["gap"]) <= 0.08, row
            assert float(row["regret"]) <= float(row["certificate"]), row
