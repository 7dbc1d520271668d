"""The studies of live loops play and write; the guide's tables say what the committed CSV says."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dikin
from csv_rows import rows
from dikin.engine import play

ROOT = Path(__file__).resolve().parent.parent
GUIDE = (ROOT / "docs" / "learners.md").read_text(encoding="utf-8")
COMMITTED = ROOT / "docs" / "loops" / "loops.csv"


@pytest.fixture
def loops(scripts: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    # A few rounds are played faster than a loop is compiled.
    monkeypatch.setattr(play, "compiled_rounds", lambda *_: None)
    return scripts("live_loops")


class Standing(dikin.Predictive):
    """Stands at the centre, whatever it is told, and remembers that."""

    def __init__(self, domain: dikin.Domain) -> None:
        super().__init__(domain)
        self.told: list[tuple[float, float]] = []

    def ask(self, *_: Any, **__: Any) -> dikin.Query:
        return dikin.Query(0, self.domain.center)

    def tell(self, query: Any, loss: Any, curvature: float = 0.0, **_: Any) -> None:
        self.told.append((loss, curvature))


def stand(loops: Any, study: Any, setting: str, **how: float) -> tuple[Any, list[Any]]:
    """A game of who stands at the centre, and what it was told."""
    made: list[Standing] = []

    def make(loop: Any, seed: int) -> Standing:
        made.append(Standing(loop.domain))
        return made[-1]

    study = study._replace(players={"standing": loops.Player(make, **how)})
    game = loops.play(study, loops.Task(0, setting, "standing", 3))
    return game, made[0].told


# --- the commands --------------------------------------------------------------------------------


def test_a_small_run(
    loops: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = [study._replace(rounds=40, games=2) for study in loops.STUDIES]
    monkeypatch.setattr(loops, "STUDIES", small)
    monkeypatch.setattr(loops, "WORKERS", 1)
    monkeypatch.setattr(loops, "MARKS", 4)
    (tmp_path / "page.md").write_text(GUIDE, encoding="utf-8")
    options = ["--out", str(tmp_path / "new"), "--page", str(tmp_path / "page.md")]
    monkeypatch.setattr(sys, "argv", ["live_loops.py", *options])
    loops.main()
    text = capsys.readouterr().out
    for study in small:
        assert f"{study.name}: {study.measure}, 40 rounds" in text
    assert (tmp_path / "new" / "drift.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert said(page) == measured(small, tmp_path / "new" / "loops.csv")
    assert len(page.split("\n")) == len(GUIDE.split("\n"))
    written = rows(tmp_path / "new" / "loops.csv")
    assert [*map(game, written)] == [*planned(loops, small)]


def test_the_committed_games_are_of_the_studies_as_they_stand(loops: Any) -> None:
    assert [*map(game, rows(COMMITTED))] == [*planned(loops, loops.STUDIES)]


def game(row: dict[str, str]) -> tuple[str, ...]:
    return row["table"], row["setting"], row["player"], row["game"]


def planned(loops: Any, studies: list[Any]) -> Iterator[tuple[str, ...]]:
    """The games of some studies, as a CSV has them."""
    for study in studies:
        for player in study.players:
            for setting in study.settings:
                yield from ((study.name, setting, player, str(i)) for i in range(study.games))


# --- its parts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", ["circles", "jumps", "stands still"])
def test_the_minimum_of_the_drift_is_half_way_out(loops: Any, setting: str) -> None:
    """From the centre it is 1/2 away wherever it is: 1/2 (1/2)^2 a round."""
    game, _ = stand(loops, loops.DRIFT._replace(rounds=300), setting)
    assert game.regret[-1] == pytest.approx(300 / 8)
    assert np.isnan(game.share)


@pytest.mark.parametrize(("setting", "faults"), [("none", 0), ("one of 1e6", 1), ("two of 1e6", 2)])
def test_faults_are_told_and_are_no_regret(loops: Any, setting: str, faults: int) -> None:
    """(5, 1) is (2, 0.5) from the minimum (7, 0.5), in half sides (0.4, 0.5): 0.205 a round."""
    study = next(study for study in loops.STUDIES if study.name == "outliers")
    game, told = stand(loops, study, setting)
    assert [loss for loss, _ in told].count(pytest.approx(1e6)) == faults
    assert game.regret[-1] == pytest.approx(study.rounds * 0.205)
    _, cut = stand(loops, study, setting, most=4.0)
    assert [loss for loss, _ in cut].count(4.0) == faults


def test_the_curvature_that_is_told(loops: Any) -> None:
    told = [player for name, player in loops.DRIFT.players.items() if name.endswith(loops.TOLD)]
    assert [player.curvature for player in told] == [1.0, 1.0, 1.0]
    _, answers = stand(loops, loops.DRIFT._replace(rounds=20), "circles", curvature=1.0)
    assert {curvature for _, curvature in answers} == {1.0}


def test_every_loss_is_least_at_the_best_point(loops: Any) -> None:
    """And 0 there: the descent of each coordinate by thirds ends at 0."""
    for study in loops.STUDIES:
        for make in study.settings.values():
            loop = make(0, 10)
            low, high = sides(loop.domain)
            point = loop.domain.center.copy()
            for i in range(point.size):
                a, b = low[i], high[i]
                for _ in range(200):
                    one, two = (2 * a + b) / 3, (a + 2 * b) / 3
                    point[i] = one
                    first = loop.loss(0, point)
                    point[i] = two
                    a, b = (a, two) if first < loop.loss(0, point) else (one, b)
            assert loop.loss(0, point) == pytest.approx(0, abs=1e-9)


def sides(domain: Any) -> tuple[Any, Any]:
    """The least box around a box or a ball."""
    if isinstance(domain, dikin.Box):
        return domain.lower, domain.upper
    return domain.center - domain.radius, domain.center + domain.radius


# --- the guide -----------------------------------------------------------------------------------


def said(page: str) -> list[tuple[str, ...]]:
    """Every measured number of the page's tables: about, player, setting, number."""
    found = []
    for table in re.findall(r"(?:^\|.*\|\n)+", page, flags=re.M):
        if re.search(r"\d ± \d", table):
            head, _, *lines = ([cell.strip(" `") for cell in _cells(line)] for line in _of(table))
            for name, *numbers in lines:
                found += [
                    (head[0], name, setting, number)
                    for setting, number in zip(head[1:], numbers, strict=True)
                ]
    return sorted(found)


def _of(table: str) -> list[str]:
    return table.strip().split("\n")


def _cells(line: str) -> list[str]:
    return line.strip("|").split("|")


def measured(studies: list[Any], file: Path = COMMITTED) -> list[tuple[str, ...]]:
    """The same from the games of the CSV."""
    about = {study.name: f"{study.measure}, {study.rounds:,} rounds" for study in studies}
    tables = [
        replace(table, about=about[table.name])
        for table in importlib.import_module("report").read_results(file)
    ]
    return sorted(
        (table.head[0], player, setting, number)
        for table in tables
        for player, *numbers in table.rows()
        for setting, number in zip(table.head[1:], numbers, strict=True)
    )


def test_the_tables_of_the_guide_are_the_committed_ones(loops: Any) -> None:
    again = "run examples/live_loops.py --out docs/loops --page docs/learners.md"
    assert said(GUIDE) == measured(loops.STUDIES), again
