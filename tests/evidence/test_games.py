"""The long table of games: kept, continued, run again; and the command."""

import sys
from pathlib import Path
from typing import Any

import pytest

from evidence import __main__ as command
from evidence import oppertune
from evidence.games import Outcome, Task, read_games, run_missing

TASKS = [Task("p", 10, "a", game) for game in range(3)]


def test_an_interrupted_run_continues(tmp_path: Path) -> None:
    played = []

    def run(task: Task) -> Outcome:
        if task.game == 2 and not (tmp_path / "again").exists():
            raise KeyboardInterrupt
        played.append(task.game)
        return Outcome(0.5, 1 / 3)

    with pytest.raises(KeyboardInterrupt):
        run_missing("part", run, TASKS, folder=tmp_path)
    (tmp_path / "again").touch()
    run_missing("part", run, TASKS, folder=tmp_path)
    assert played == [0, 1, 2]
    assert read_games("part", tmp_path) == dict.fromkeys(TASKS, Outcome(0.5, 0.333333))


def test_games_of_some_players_are_run_again(tmp_path: Path) -> None:
    tasks = [Task("p", 10, player, 0) for player in ("ours", "theirs")]
    run_missing("part", lambda _: Outcome(1, 1), tasks, folder=tmp_path)

    def broken(_: Task) -> Outcome:
        raise ModuleNotFoundError

    with pytest.raises(ModuleNotFoundError):
        run_missing("part", broken, tasks, folder=tmp_path, forget=["ours"])
    assert len(read_games("part", tmp_path)) == 2
    fewer = tasks[1:]  # the games of `ours` that are there are run again, asked for or not
    run_missing("part", lambda _: Outcome(2, 2), fewer, folder=tmp_path, forget=["ours"])
    costs = {task.player: found.cost for task, found in read_games("part", tmp_path).items()}
    assert costs == {"ours": 2, "theirs": 1}


def test_processes_give_what_one_gives(tmp_path: Path) -> None:
    kept = [task for task in oppertune.tasks(range(1)) if "keep" in task.player]
    tasks = [task._replace(rounds=20) for task in kept]
    one = run_missing("part", oppertune.run, tasks, 1, tmp_path / "1")
    assert one == run_missing("part", oppertune.run, tasks, 2, tmp_path / "2")
    assert [found.cost for found in one.values()] == pytest.approx([100.0, 100.0])


def test_the_command_adds_games_where_the_standing_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two games decide about the distant player alone; the others get two more."""
    costs = {"steady": (1.0, 1.0), "noisy": (0.8, 1.3), "far": (50.0, 50.0)}

    def tasks(games: range) -> list[Task]:
        return [Task("p", 10, player, game) for game in games for player in costs]

    def run(task: Task) -> Outcome:
        return Outcome(costs[task.player][task.game % 2], 1.0)

    part: Any = type("Part", (), {"GAMES": 2, "WORKERS": 1, "LEAST": 1e-9})
    part.tasks, part.run = tasks, run
    monkeypatch.setattr(command, "import_module", lambda _: part)
    monkeypatch.setattr(sys, "argv", ["evidence", "price", "--most", "4", "--out", str(tmp_path)])
    command.main()
    counts = [task.player for task in read_games("price", tmp_path)]
    assert {name: counts.count(name) for name in costs} == {"steady": 4, "noisy": 4, "far": 2}
