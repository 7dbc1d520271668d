"""Benchmarks from outside: rivals that win come first, games are kept, problems are right."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import outside_page
import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def outside() -> Iterator[Any]:
    """Modules of benchmarks/outside, by name; what they compile is compiled once."""
    with pytest.MonkeyPatch.context() as patch:
        for folder in ("benchmarks", "examples"):
            patch.syspath_prepend(ROOT / folder)
        yield lambda name: import_module(f"outside.{name}")
    for name in [n for n in sys.modules if n.split(".")[0] in ("outside", "rivals")]:
        sys.modules.pop(name)


HEAD = "problem,rounds,player,game,cost,final,seconds"


def test_rivals_that_win_are_named_first(tmp_path: Path) -> None:
    lines = [HEAD]
    for game in range(3):
        noise = 1 + 0.01 * game
        lines.append(f"easy,300,dikin.Tuner,{game},{1 * noise},{4 * noise},1")
        lines.append(f"easy,300,TBPSA,{game},{2 * noise},{2 * noise},1")
    (tmp_path / "pendulum.csv").write_text("\n".join(lines), encoding="utf-8")
    rows = {name: outside_page.read_part(tmp_path, name) for name in outside_page.PARTS}
    wins = outside_page._wins(rows).splitlines()
    where = "- **Pendulum**, 300 rounds,"
    assert wins == [
        f"{where} while tuning: no rival, in 1 problem.",
        f"{where} in the end: a rival costs less in 1 of 1: TBPSA in 1. The largest ratio is 2 "
        "(TBPSA, easy).",
    ]
    table = outside_page._table(rows["pendulum"], 1e-3).splitlines()
    assert table[2] == "| dikin.Tuner | **1.01** | 4.04; 2 (2 to 2) |"
    assert table[3] == "| TBPSA | 2.02; 2 (2 to 2) | **2.02** |"


def test_a_game_that_is_there_is_not_played_again(outside: Any, tmp_path: Path) -> None:
    games = outside("games")
    tasks = [games.Task("p", 10, "a", game) for game in range(3)]
    played = []

    def play(task: Any) -> Any:
        if task.game == 2 and not (tmp_path / "again").exists():
            raise KeyboardInterrupt
        played.append(task.game)
        return games.Outcome(0.5, 1 / 3)

    with pytest.raises(KeyboardInterrupt):
        games.play_missing(play, tasks, tmp_path / "part.csv")
    (tmp_path / "again").touch()
    rows = games.play_missing(play, tasks, tmp_path / "part.csv")
    assert played == [0, 1, 2]
    assert [row.task for row in games.read_rows(tmp_path / "part.csv")] == tasks
    assert {(row.cost, row.final) for row in rows} == {("0.5", "0.333333")}


def test_games_are_played_again_by_some_or_by_all(outside: Any, tmp_path: Path) -> None:
    games, file = outside("games"), tmp_path / "part.csv"
    games.forget(file, None)  # nothing was played yet
    tasks = [games.Task("p", 10, player, 0) for player in ("ours", "theirs")]
    for players, left in ((["ours"], ["theirs"]), (None, [])):
        games.play_missing(lambda _: games.Outcome(0.5, 0.5), tasks, file)
        games.forget(file, players)
        assert [row.player for row in games.read_rows(file)] == left


def test_the_gains_of_riccatis_equation_are_the_best_ones(outside: Any) -> None:
    """Every neighbour costs more, before and after the friction has changed.

    The equation is about infinitely many steps: 20 seconds are nearly that.
    """
    pendulum = outside("pendulum")
    quiet = np.zeros((pendulum.STEPS, 4))
    for round in (0, 150):
        best = np.array(pendulum.best_gains(round))
        for away in 0.05 * np.vstack([np.eye(4), -np.eye(4)]):
            assert pendulum.charge(best * (1 + away), round, quiet) > pendulum.least_charge(round)
    assert pendulum.friction(100) == pytest.approx(4 * pendulum.FRICTION)
    assert pendulum.charge(pendulum.LOW * [0, 0, 0, 1], 0, quiet) == pendulum.FALL


@pytest.mark.parametrize("name", ["cats", "pendulum", "bbob"])
def test_parts_play(name: str, outside: Any) -> None:
    """Some rounds of the tuner and of a rival in every kind of problem; costs are at least 0."""
    pytest.importorskip("cocoex" if name == "bbob" else "numpy")
    part = outside(name)
    problems = dict.fromkeys(task.problem for task in part.tasks(range(1)))
    for problem in [*problems][:: max(len(problems) // 3, 1)]:
        for player in ("dikin.Tuner", "CMA-ES (pycma)"):
            outcome = part.play(outside("games").Task(problem, 25, player, 0))
            assert 0 <= outcome.cost < 1e6
            assert 0 <= outcome.final < 1e6


def test_values_without_noise_are_those_of_bbob(outside: Any) -> None:
    """The sphere of the suite is |x - best|^2, and the noise of the Cauchy model is taken off."""
    pytest.importorskip("cocoex")
    bbob = outside("bbob")
    measured = bbob.Measured(bbob.Function("sphere", bbob.SEVERE, "Cauchy", 5), 3)
    best = bbob.best_point(measured.noisy)
    for x in np.random.default_rng(1).uniform(-5, 5, (20, 5)):
        assert measured.excess(x) == pytest.approx(float(((x - best) ** 2).sum()), rel=1e-6)
    gauss = bbob.Measured(bbob.Function("ellipsoid", bbob.SEVERE, "Gaussian", 5), 3)
    x = np.full(5, 0.5)
    # A log-normal factor of median 1: the median of 2001 is within six standard errors, 17 %.
    seen = np.median([gauss.noisy(x) - gauss.least for _ in range(2001)])
    assert seen == pytest.approx(gauss.excess(x), rel=0.17)
