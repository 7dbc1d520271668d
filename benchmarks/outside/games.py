"""Games of a part, each a row of its CSV: what is there already is not played again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from time import monotonic, process_time
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dikin.experiments.tables import fields, read_csv, write_csv

SAVE_EVERY = 5.0
"""Seconds after which finished games are written."""


class Task(NamedTuple):
    """One game."""

    problem: str
    rounds: int
    player: str
    game: int


class Outcome(NamedTuple):
    """What came of it, in the unit of the part; small is good."""

    cost: float
    """The mean of all rounds: what tuning cost."""
    final: float
    """What the final setting costs, or the last tenth of the rounds: a part says which."""


class Row(NamedTuple):
    """A line of the CSV."""

    problem: str
    rounds: int
    player: str
    game: int
    cost: str
    final: str
    seconds: str
    """Processor time of the game; where players share one, it stands with the first of them."""

    @property
    def task(self) -> Task:
        return Task(*self[:4])


def read_rows(file: Path) -> list[Row]:
    """The games of a CSV; none where there is no file."""
    if not file.exists():
        return []
    return [
        Row(r["problem"], int(r["rounds"]), r["player"], int(r["game"]), *[*r.values()][4:])
        for r in read_csv(file)
    ]


def forget(file: Path, players: Collection[str] | None) -> None:
    """Remove the games of some players from a CSV, or all of them: they are played again."""
    rows = read_rows(file)
    if rows:
        _save([row for row in rows if players is not None and row.player not in players], file)


def play_missing(play: Callable[[Task], Outcome], tasks: Iterable[Task], file: Path) -> list[Row]:
    """Play what the CSV lacks, in order, and keep what is finished even if interrupted."""
    rows = {row.task: row for row in read_rows(file)}
    missing = [task for task in tasks if task not in rows]
    saved = monotonic()
    try:
        with _progress(len(missing)) as bar:
            for task in missing:
                bar.update(bar.task_ids[0], description=f"{task.player}, {task.problem}")
                begun = process_time()
                outcome = play(task)
                digits = (f"{number:.6g}" for number in (*outcome, process_time() - begun))
                rows[task] = Row(*task, *digits)
                bar.advance(bar.task_ids[0])
                if monotonic() - saved > SAVE_EVERY:
                    _save(rows.values(), file)
                    saved = monotonic()
    finally:
        _save(rows.values(), file)
    return list(rows.values())


def _save(rows: Iterable[Row], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    write_csv(file, fields(*Row._fields), sorted(rows))


def _progress(count: int) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), disable=not count)
    bar.add_task("playing", total=count)
    return bar


def take_turns(
    player: Any, rounds: int, answer: Callable[[Any, int], tuple[float, float]]
) -> list[float]:
    """Ask and tell so many rounds; `answer` gives what is told and what the round costs."""
    costs = []
    for round in range(rounds):
        trial = player.ask()
        told, cost = answer(trial, round)
        player.tell(trial, told)
        costs.append(cost)
    return costs
