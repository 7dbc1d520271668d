"""The page of evidence is what its CSVs say, and they say what they should."""

from __future__ import annotations

from math import sqrt
from pathlib import Path

import evidence_page
import numpy as np
import pytest
from evidence_file import REQUEST, read_games

import dikin
from dikin.experiments.reproduce import exploring
from dikin.experiments.reproduce.paper_constants import PAPER
from dikin.experiments.reproduce.plan import FULL, TABLES, Request
from dikin.experiments.reproduce.results import Measured, all_cells, write_files
from dikin.experiments.tables import read_csv
from dikin.learners.adaptive import sharp_schedule

DOCS = Path(__file__).resolve().parents[3] / "docs"
EVIDENCE = DOCS / "evidence"


def test_the_page_is_made_from_the_committed_run() -> None:
    page = (DOCS / "evidence.md").read_text(encoding="utf-8")
    assert page == evidence_page.render(EVIDENCE)


def test_the_tables_are_made_from_the_committed_games(tmp_path: Path) -> None:
    results = read_games(EVIDENCE)
    write_files(Measured.of(REQUEST, results), REQUEST, results, tmp_path)
    for file in sorted(tmp_path.glob("*.csv")):
        assert file.read_bytes() == (EVIDENCE / file.name).read_bytes(), file.name


def test_every_measured_exponent_is_near_the_proved_one_and_every_bound_holds() -> None:
    for number in (1, 2):
        for row in read_csv(EVIDENCE / f"table{number}.csv"):
            assert float(row["gap"]) <= 0.08, row
            assert float(row["regret"]) <= float(row["certificate"]), row
    for row in read_csv(EVIDENCE / "predictive.csv"):
        assert float(row["regret"]) <= float(row["certificate"]), row


def test_the_committed_games_are_those_of_a_full_run() -> None:
    games = read_csv(EVIDENCE / "games.csv")
    played = {(game["part"], int(game["horizon"]), int(game["seed"])) for game in games}
    cells = [cell for cell in all_cells(Request(effort=FULL)) if "course" not in cell.name]
    assert played == {(cell.name, cell.horizon, seed) for cell in cells for seed in cell.seeds}
    assert len(played) == len(games)
    far = read_csv(EVIDENCE / "paper" / "games.csv")
    assert {int(game["horizon"]) for game in far} == {*PAPER.horizons}
    assert len(far) == 4 * PAPER.seeds * len(PAPER.horizons)


@pytest.mark.parametrize("row", ["zero", "constant", "first", "last"])
@pytest.mark.parametrize("number", [1, 2])
def test_the_price_of_exploring_round_by_round(number: int, row: str) -> None:
    """The integral against a loop with the exact sequence, at a horizon where it is short."""
    table, horizon = TABLES[number], 20_000
    pattern = table.rows[row].pattern(horizon)
    game = table.environment(dikin.Ball(2), pattern, 0)
    scale, (theta, _) = game.loss_range[1], game.best()
    barrier = np.mean(np.linalg.eigvalsh(dikin.Ball(2).hessian(theta)))
    schedule = sharp_schedule(table.order, 2, 1.0, table.constant / scale, None)
    total, paid = schedule.first, 0.0
    for t in range(1, horizon + 1):
        metric = barrier + schedule.rate(total, t) * total
        if number == 1:
            paid += 0.5 * table.constant / scale * 0.5 / metric
        else:
            paid += game.kernel.slope / scale * (2 / np.pi) / sqrt(metric)
        sigma = pattern.at(t) / scale
        total += sigma + schedule.regularisation(total + sigma)
    (found,) = exploring.whole_prices(number, row, (horizon,))
    assert found == pytest.approx(paid, rel=0.01)
