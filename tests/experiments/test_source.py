"""Figures that are older than the code they speak of are known to be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sources

from dikin.experiments import source


def test_figures_that_are_older_than_the_code_are_listed_and_no_others() -> None:
    older, listed = sources.older(), set(sources.listed())
    assert older - listed == set(), "older than the code: measure again, or say why in stale.csv"
    assert listed - older == set(), "as new as the code: take them out of stale.csv"


def test_every_csv_of_games_has_a_record_and_every_record_a_page() -> None:
    found = sources.records()
    assert len(found) >= 17
    for csv in found:
        assert (sources.DOCS / csv).exists()
        assert (sources.DOCS / sources.PAGES[csv.rpartition("/")[0]]).exists()
    games = {file.relative_to(sources.DOCS).as_posix() for file in sources.DOCS.rglob("games.csv")}
    assert games <= set(found)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "learners").mkdir()
    (tmp_path / "learners" / "one.py").write_text('"""One."""\n\ndef step(x):\n    return 2 * x\n')
    (tmp_path / "units.py").write_text("SCALE = 1.0\n")
    return tmp_path


def test_comments_docstrings_and_layout_do_not_count(package: Path) -> None:
    before, file = source.digest(("learners", "units.py"), package), package / "learners" / "one.py"
    file.write_text('"""Two."""\n# why\ndef step(x):\n    """Doubled."""\n    return (2*x)\n')
    (package / "units.py").write_text('SCALE = 1.0\n"""In volts."""\n')
    assert source.digest(("learners", "units.py"), package) == before


@pytest.mark.parametrize("changed", ["return 3 * x", "return x * 2", "return 2 * x + 0"])
def test_what_is_computed_counts(package: Path, changed: str) -> None:
    before, file = source.digest(("learners",), package), package / "learners" / "one.py"
    file.write_text(file.read_text().replace("return 2 * x", changed))
    assert source.digest(("learners",), package) != before


def test_a_record_is_written_beside_its_csv(tmp_path: Path) -> None:
    source.record(tmp_path / "price.csv", {"games": 8}, source.TUNERS)
    made = json.loads((tmp_path / "price.source.json").read_text())
    assert made["code"] == source.digest(source.TUNERS)
    assert (made["settings"], made["parts"]) == ({"games": 8}, [*source.TUNERS])
    (tmp_path / "stale.csv").write_text("csv,reason\n")
    assert sources.older(tmp_path) == set()
    (tmp_path / "price.source.json").write_text(json.dumps(made | {"code": "000000000000"}))
    assert sources.older(tmp_path) == {"price.csv"}


def test_whether_a_csv_is_from_the_code_as_it_is(tmp_path: Path) -> None:
    csv = tmp_path / "games.csv"
    assert not source.is_current(csv)  # nothing is known of it
    source.record(csv, {})
    assert source.is_current(csv)
    record = csv.with_suffix(source.ENDING)
    older = record.read_text(encoding="utf-8").replace(source.digest(source.LEARNERS), "0" * 12)
    record.write_text(older, encoding="utf-8")
    assert not source.is_current(csv)


def test_a_change_by_which_no_game_changed_makes_no_figure_older(tmp_path: Path) -> None:
    source.record(tmp_path / "price.csv", {}, source.TUNERS)
    record, now = tmp_path / "price.source.json", source.digest(source.TUNERS)
    record.write_text(record.read_text(encoding="utf-8").replace(now, "a" * 12))
    listed = tmp_path / "same_games.csv"
    for after, older in ((now, set()), ("b" * 12, {"price.csv"})):
        listed.write_text(f"before,after,reason\n{'a' * 12},{after},names\n", encoding="utf-8")
        assert sources.older(tmp_path) == older
