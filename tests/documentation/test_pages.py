"""The pages say what the CSVs say: every part between two marks is made anew and compared."""

from __future__ import annotations

import csv
from runpy import run_path

import pytest
from pages import filled
from repository_pages import DOCS

MAIN = run_path(str(DOCS / "build" / "__main__.py"), run_name="build")


@pytest.mark.parametrize("name", [*MAIN["PAGES"]])
def test_a_page_has_the_numbers_of_its_csvs(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == MAIN["written"](name), "make page"


def test_a_changed_number_is_noticed() -> None:
    """A row that comes in, a number that is another: the tables of the evidence are other ones."""
    from evidence_page import _loops, _lost

    with (DOCS / "kills.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert _lost(rows, "lost") == 0
    assert _lost([*rows, {"note": "1,204 acknowledged, 3 lost, 0 twice"}], "lost") == 3
    assert "(Bluefin)" in _loops(DOCS / "examples")


def test_marks_are_there_once() -> None:
    page = "a\n<!-- x -->\nold\n<!-- end of x -->\nb"
    assert filled(page, {"x": r"\1"}) == "a\n<!-- x -->\n\n\\1\n\n<!-- end of x -->\nb"
    for parts in ({"y": ""}, {"x": "", "z": ""}):
        with pytest.raises(LookupError, match="marks"):
            filled(page, parts)
