"""The table of what fresh games say of the orderings of all pages."""

from __future__ import annotations

from pathlib import Path

from checked_orderings import FRESH, SOURCES, all_checked, render
from fresh_orderings import KEPT, REVERSED

from dikin.experiments.compare import matrix
from dikin.experiments.compare.matrix import Matrix, Outcome
from dikin.experiments.tables import read_csv

DOCS = Path(__file__).resolve().parents[3] / "docs"
HEAD = "problem,rounds,player,game,cost,final,seconds"


def write(file: Path, first: float, second: float) -> None:
    """Four games of two players: the cost is about what is given, the final setting the reverse."""
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [HEAD]
    for game in range(4):
        noise = 1 + 0.01 * game
        lines.append(f"p,300,a,{game},{first * noise},{second},1")
        lines.append(f"p,300,b,{game},{second / noise},{first * noise},1")
    file.write_text("\n".join(lines), encoding="utf-8")


def test_each_measure_is_looked_at_and_what_changed_is_named(tmp_path: Path) -> None:
    write(tmp_path / "outside" / "pendulum.csv", 1.0, 2.0)
    write(tmp_path / "outside" / FRESH / "pendulum.csv", 2.0, 1.0)
    (found,) = all_checked(tmp_path)
    assert (found.page, found.name) == ("outside.md", "pendulum")
    assert found.words == [REVERSED, REVERSED]
    assert found.changed[0].startswith(
        "pendulum, p, 300 (cost): a before b, reversed order, ratio 0.4"
    )
    assert "| [outside.md](outside.md) | pendulum | 2 | 0 | 0 | 0 | 2 |" in render(tmp_path)
    write(tmp_path / "outside" / FRESH / "pendulum.csv", 1.0, 2.0)
    (found,) = all_checked(tmp_path)
    assert (found.words, found.changed) == ([KEPT, KEPT], [])
    assert "- pendulum" not in render(tmp_path)


def test_the_matrix_counts_too(tmp_path: Path) -> None:
    games = {"A": (10.0, 11.0, 10.5, 10.2), "B": (20.0, 21.5, 20.5, 20.2)}
    outcomes = [
        Outcome(name, "zero", "VALUE", 100, tuple(range(4)), regrets, (float("nan"),) * 4)
        for name, regrets in games.items()
    ]
    for folder in (tmp_path / "compare", tmp_path / "compare" / FRESH):
        folder.mkdir()
        matrix.write(Matrix(tuple(outcomes)), folder)
    (found,) = all_checked(tmp_path)
    assert (found.page, found.words) == ("which_learner.md", [KEPT])
    last = render(tmp_path).splitlines()[-1]
    assert last == "| **all** |  | **1** | **1** | **0** | **0** | **0** |"


def test_nothing_was_played_again(tmp_path: Path) -> None:
    assert render(tmp_path) == "Not played yet."


def test_every_source_can_be_read_and_is_there_once() -> None:
    files = [source.file for source in SOURCES]
    assert len(files) == len({*files})
    for source in SOURCES:
        file = DOCS / source.file
        columns = {*source.problem, source.player, "game", *source.measures}
        assert columns <= read_csv(file)[0].keys()
        for measure in source.measures:
            table = source.read(file, measure)
            counts = {len(games) for players in table.costs.values() for games in players.values()}
            assert min(counts) > 0
