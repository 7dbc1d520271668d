"""The tables with the paper's own constants, far out."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from dikin.experiments.tables import read_csv
from evidence.paper_constants import PAPER, reproduce_paper
from experiments.reproduce import small


@pytest.mark.usefixtures("unencoded")
def test_they_are_played_far_and_a_run_goes_on(tmp_path: Path) -> None:
    def run() -> str:
        console = Console(record=True, width=120, file=io.StringIO())
        reproduce_paper(small.request(), tmp_path, console)
        return console.export_text()

    assert "sigma_t = sigma" in run()
    kept = {name: (tmp_path / name).read_bytes() for name in ("paper.csv", "games.csv")}
    assert re.search(r"(\d+) of \1 cells are there already", run())
    assert {name: (tmp_path / name).read_bytes() for name in kept} == kept
    # Inert at these horizons: the regret grows like T.
    assert all(float(row["measured"]) > 0.9 for row in read_csv(tmp_path / "paper.csv"))
    assert PAPER.horizons[-1] == 10**9
