"""The runner of experiments: cells are values, and a finished one is never played again."""

import io
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

import dikin
from dikin.errors import StateError
from dikin.experiments import runner
from dikin.experiments.fit import Result
from dikin.experiments.reproduce import plan

PLAYED: list[str] = []


@dataclass(frozen=True)
class Plain:
    """A cell without games."""

    key: str
    work: float = 1.0

    def play(self) -> list[Result]:
        PLAYED.append(self.key)
        if self.key == "broken":
            raise KeyboardInterrupt
        return [{"seed": 0, "regret": 0.1 * self.work}]


def run(cells: list[Plain], out: Path) -> tuple[runner.Results, str]:
    console = Console(record=True, width=80, file=io.StringIO())
    request = plan.Request(effort=plan.QUICK, workers=1)
    return runner.run(cells, request, out, console), console.export_text()


def test_results_are_of_the_game_in_units_of_half_the_range() -> None:
    cell = plan.PaperCell(20, range(2), 1, "constant")
    games = cell.play()
    assert [game["seed"] for game in games] == [0, 1]
    assert [game["compiled"] for game in games] == [False, False]
    learner, game = cell.start(1)
    alone = dikin.play(learner, game, 20, progress=False)
    half = (game.loss_range[1] - game.loss_range[0]) / 2
    assert games[1]["regret"] == pytest.approx(alone.regret[-1] / half, rel=1e-15)


def test_finished_cells_are_kept_when_a_run_is_interrupted(tmp_path: Path) -> None:
    PLAYED.clear()
    cells = [Plain("c"), Plain("broken", 2.0), Plain("a", 3.0)]
    with pytest.raises(KeyboardInterrupt):
        run(cells, tmp_path)
    assert PLAYED == ["a", "broken"], "large ones first"
    results, shown = run([cells[0], cells[2]], tmp_path)
    assert PLAYED == ["a", "broken", "c"]
    assert "1 of 2 cells are there already" in shown
    again, shown = run([cells[2], cells[0]], tmp_path)
    assert "2 of 2 cells are there already" in shown
    assert again == results
    assert len(PLAYED) == 3


def test_a_store_belongs_to_a_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run([Plain("a")], tmp_path)
    PLAYED.clear()
    with sqlite3.connect(tmp_path / "cells.sqlite") as database:
        names = {name for (name,) in database.execute("select name from settings")}
    assert names == {"version", "effort", "seed"}
    monkeypatch.setattr(dikin, "__version__", "99")
    said = r'version was ".*", is "99"\); a store belongs to one version of dikin'
    with pytest.raises(StateError, match=said):
        run([Plain("a")], tmp_path)
    assert PLAYED == []


def test_a_run_of_another_seed_plays_other_games() -> None:
    first, second = plan.experiment_seeds(0, 10), plan.experiment_seeds(1, 10)
    assert not {*first} & {*second}
    assert [*plan.blocks(first)] == [range(4), range(4, 8), range(8, 10)]
