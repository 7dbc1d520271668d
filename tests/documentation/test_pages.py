"""The pages say what the CSVs say: every part between two marks is made anew and compared."""

from math import nan
from runpy import run_path
from typing import Any

import numpy as np
import pytest
from evidence_page import _loops, _lost
from games_page import KNOWS, Part, _section, _wins
from pages import filled
from repository_pages import DOCS

from evidence.games import Outcome, Task, read_table
from evidence.rivals import TUNER

MAIN = run_path(str(DOCS / "build" / "__main__.py"), run_name="build")


@pytest.mark.parametrize("name", [*MAIN["PAGES"]])
def test_a_page_has_the_numbers_of_its_csvs(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == MAIN["written"](name), "make page"


def test_a_changed_number_is_noticed() -> None:
    """A row that comes in, a number that is another: the tables of the evidence are other ones."""
    rows = read_table(DOCS / "kills.csv")
    assert _lost(rows, "lost") == 0
    assert _lost([*rows, {"note": "1,204 acknowledged, 3 lost, 0 twice"}], "lost") == 3
    assert "(Bluefin)" in _loops(DOCS)


def test_rivals_that_win_are_named_first() -> None:
    games = {}
    for game in range(3):
        noise = 1 + 0.01 * game
        games[Task("easy", 300, TUNER, game)] = Outcome(1 * noise, 4 * noise)
        games[Task("easy", 300, "TBPSA", game)] = Outcome(2 * noise, 2 * noise)
        games[Task("easy", 300, KNOWS, game)] = Outcome(0.5, 0.5)
    part = Part("Pendulum", 1e-3, False, games)
    assert _wins(part) == [
        "- **Pendulum**, 300 rounds: while tuning 0 of 1, in the end 1 of 1 (TBPSA 1), at most 2 "
        "(TBPSA, easy)."
    ]
    assert _section(part).splitlines()[2:] == [
        f"| {TUNER} | **1.01** | 4.04; 2 (2\N{EN DASH}2) |",
        "| TBPSA | 2.02; 2 (2\N{EN DASH}2) | **2.02** |",
        f"| {KNOWS} | 0.5 | 0.5 |",
        "",
        "3 games each, 9 in all.",
    ]


def test_the_correction_is_for_all_comparisons_of_a_table() -> None:
    """A player that is behind in a table of its own is open beside many that are level."""
    chance = np.random.default_rng(4)
    costs = {"a": np.full(6, 5.0), "b": np.array([5.1, 6.5, 5.2, 6.3, 5.3, 6.0])}
    more = {f"c{i}": 5.1 + 0.3 * chance.standard_normal(6) for i in range(8)}

    def cell(players: dict[str, Any]) -> str:
        games = {
            Task("p", 9, name, game): Outcome(cost, nan)
            for name, each in players.items()
            for game, cost in enumerate(each.tolist())
        }
        (line,) = (x for x in _section(Part("P", 1e-9, True, games)).split("\n") if "| b |" in x)
        return line

    assert not cell(costs).endswith("? |")
    assert cell(costs | more).endswith("? |")


def test_marks_are_there_once() -> None:
    page = "a\n<!-- x -->\nold\n<!-- end of x -->\nb"
    assert filled(page, {"x": r"\1"}) == "a\n<!-- x -->\n\n\\1\n\n<!-- end of x -->\nb"
    for parts in ({"y": ""}, {"x": "", "z": ""}):
        with pytest.raises(LookupError, match="marks"):
            filled(page, parts)
