"""The runner of all experiments: cells are values, and a finished one is never played again."""

from __future__ import annotations

import io
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import dikin
from dikin.errors import StateError
from dikin.experiments import runner
from dikin.experiments.cell import Cell, Result, blocks, experiment_seeds
from dikin.experiments.runner import Request

PLAYED: list[str] = []


@dataclass(frozen=True)
class Plain(Cell):
    """A learner on a segment, without a compiled loop."""

    label: str
    round_cost: float = 1.0
    together: str = ""

    @property
    def name(self) -> str:
        return self.label

    @property
    def batch(self) -> str:
        return self.together or super().batch

    def start(self, seed: int) -> tuple[dikin.Learner, dikin.Environment]:
        game = dikin.FromFunction(
            dikin.Box([0.0], [1.0]), lambda t, x: x[0], loss_range=(0, 1), comparator=[0.0]
        )
        return dikin.FKM(game.domain, self.horizon, loss_range=(0, 1), seed=seed), game

    def play(self) -> list[Result]:
        PLAYED.append(self.label)
        if self.label == "broken":
            raise KeyboardInterrupt
        return super().play()


@pytest.fixture(autouse=True)
def nothing_played() -> None:
    PLAYED.clear()


def cell(label: str, **changes: Any) -> Plain:
    return Plain(**({"horizon": 20, "seeds": range(2), "label": label} | changes))


def run(cells: list[Plain], out: Path, **changes: Any) -> tuple[runner.Results, str]:
    console = Console(record=True, width=80, file=io.StringIO())
    return runner.run(cells, Request(workers=1, **changes), out, console), console.export_text()


def test_results_are_of_the_game_in_units_of_half_the_range(tmp_path: Path) -> None:
    (games, *_) = run([cell("a")], tmp_path)[0].values()
    assert [game["seed"] for game in games] == [0, 1]
    assert [game["compiled"] for game in games] == [False, False]
    learner, game = cell("a").start(1)
    alone = dikin.play(learner, game, 20, progress=False)
    assert games[1]["regret"] == pytest.approx(alone.regret[-1] / 0.5, rel=1e-15)


def test_the_key_is_the_content_and_nothing_else() -> None:
    assert cell("a").key == cell("a", round_cost=7.0, together="x").key
    others = [cell("b"), cell("a", horizon=21), cell("a", seeds=range(1, 3))]
    assert len({cell("a").key, *(other.key for other in others)}) == 4


def test_finished_cells_are_kept_when_a_run_is_interrupted(tmp_path: Path) -> None:
    cells = [cell("a", round_cost=3.0), cell("broken", round_cost=2.0), cell("c")]
    with pytest.raises(KeyboardInterrupt):
        run(cells, tmp_path)
    assert PLAYED == ["a", "broken"], "large ones first"
    results, shown = run([cells[0], cells[2]], tmp_path)
    assert PLAYED == ["a", "broken", "c"]
    assert "1 of 2 cells are there already" in shown
    again, shown = run([cells[2], cells[0]], tmp_path)
    assert "2 of 2 cells are there already" in shown
    assert repr(sorted(again.items())) == repr(sorted(results.items()))  # NaN is no NaN
    assert len(PLAYED) == 3


def test_a_batch_is_played_in_one_piece(tmp_path: Path) -> None:
    cells = [cell("a", together="x"), cell("b", round_cost=1.5), cell("c", together="x")]
    run(cells, tmp_path)
    assert PLAYED == ["a", "c", "b"]


def test_a_store_belongs_to_a_version_and_to_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not to the source: what is claimed in a store is the version, and what was asked for."""
    run([cell("a")], tmp_path)
    with sqlite3.connect(tmp_path / "cells.sqlite") as database:
        assert database.execute("select name from settings").fetchall() == [("version",)]
    monkeypatch.setattr(dikin, "__version__", "99")
    said = r'version was ".*", is "99"\); a store belongs to one version of dikin'
    with pytest.raises(StateError, match=said):
        run([cell("a")], tmp_path)
    assert PLAYED == ["a"]


def test_every_experiment_of_another_seed_plays_other_games() -> None:
    first, second = experiment_seeds(0, 10), experiment_seeds(1, 10)
    assert not {*first} & {*second}
    assert [*blocks(first)] == [range(4), range(4, 8), range(8, 10)]
