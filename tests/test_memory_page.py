"""The benchmarks of memories and of contexts: their losses, and the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from csv_rows import read

ROOT = Path(__file__).resolve().parent.parent
FOLDER, PAGE = ROOT / "docs" / "memory", ROOT / "docs" / "memory.md"


@pytest.fixture
def memory(scripts: Callable[[str], Any]) -> Any:
    return scripts("memory")


@pytest.fixture
def contexts(scripts: Callable[[str], Any]) -> Any:
    return scripts("contexts")


def blocks(memory: Any, contexts: Any, rows: list[Any]) -> list[Any]:
    both = contexts.blocks(read(FOLDER / "contexts.csv", contexts.Row))
    return [*memory.blocks(rows), *both]


def test_the_page_says_what_the_files_say(memory: Any, contexts: Any) -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = read(FOLDER / "memory.csv", memory.Row)
    for block in blocks(memory, contexts, rows):
        assert block.markdown() in page, block.name
    other = [rows[0]._replace(regret=10 * rows[0].regret), *rows[1:]]
    assert memory.blocks(other)[0].markdown() not in page


def test_the_files_are_of_the_benchmarks_as_they_stand(memory: Any, contexts: Any) -> None:
    rows = read(FOLDER / "memory.csv", memory.Row)
    assert {row.game for row in rows} == {*range(memory.GAMES)}
    assert {row[:4] for row in rows} == {*memory.lines()}
    played = read(FOLDER / "contexts.csv", contexts.Row)
    assert [*dict.fromkeys(row[:4] for row in played)] == [*map(tuple, contexts.tasks(range(4)))]
    assert contexts.GAMES == 4


def test_the_best_fixed_point_of_hostile_games(memory: Any) -> None:
    """No point of a grid is better, and one is all but as good."""
    grid = np.stack(np.meshgrid(*2 * [np.linspace(0, 1, 21)]), -1).reshape(-1, 2)
    for name in memory.SIDES:
        losses, best = memory.hostile(memory.Task("hostile", name, 2, 0.05, "None", 1), 60)
        totals = [
            sum(memory.excess(losses, round, point) for round in range(1, 61)) for point in grid
        ]
        assert best - 1e-9 <= min(totals) <= best + 0.2


@pytest.mark.parametrize("table", ["memory", "belief", "drift", "hostile"])
def test_every_memory_meets_the_same_losses(memory: Any, table: str) -> None:
    line = next(line for line in memory.lines() if line[0] == table)
    make, _ = memory.MAKERS[table]
    one, two = (make(memory.Task(*line, name, 3), 40).losses for name in ("None", "auto"))
    assert (one.noise == two.noise).all()
    assert (one.minima == two.minima).all()
    other = make(memory.Task(*line, "auto", 4), 40).losses
    assert not (one.noise == other.noise).any()


def test_minima_of_contexts_differ_as_much_as_is_said(contexts: Any) -> None:
    for name, size in contexts.DIFFERENCES.items():
        task = contexts.Task(4, name, contexts.ONE, 0)
        best = contexts.minima(task, np.random.default_rng(1))
        apart = np.abs(best - best[0])
        assert set(np.round(apart.ravel(), 9)) <= {0.0, round(2 * contexts.APART * size, 9)}
        assert (np.abs(best) < 1).all()


def test_a_small_game_of_each(memory: Any, contexts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In plain Python: a few rounds are faster than to compile."""
    monkeypatch.setattr(memory, "compiled_rounds", lambda *_: None)
    monkeypatch.setitem(memory.MAKERS, "drift", (memory.moving, 30))
    task = memory.Task("drift", "jumping 1000", 2, 0.05, "auto", 0)
    assert memory.play(task)[:6] == task
    assert memory.play(task).regret > 0
    monkeypatch.setattr(contexts, "HORIZONS", (10, 20))
    rows = contexts.play(contexts.Task(4, contexts.JOBS, contexts.CONTEXTS, 0))
    assert [row.rounds for row in rows] == [10, 20]
    assert all(row.regret > 0 for row in rows)
