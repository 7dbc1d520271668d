"""The CSVs of the committed run of `dikin reproduce --full` agree with each other."""

from pathlib import Path

from reproduction_page import REQUEST, read_games

from dikin.experiments.reproduce.plan import FULL, Request
from dikin.experiments.reproduce.results import Measured, all_cells, write_files
from dikin.experiments.tables import read_csv
from evidence.paper_constants import PAPER

DOCS = Path(__file__).resolve().parents[3] / "docs"
EVIDENCE = DOCS / "evidence"


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
    cells = all_cells(Request(effort=FULL))
    assert played == {(cell.name, cell.horizon, seed) for cell in cells for seed in cell.seeds}
    assert len(played) == len(games)
    far = read_csv(EVIDENCE / "paper" / "games.csv")
    assert {int(game["horizon"]) for game in far} == {*PAPER.horizons}
    assert len(far) == 4 * PAPER.seeds * len(PAPER.horizons)
