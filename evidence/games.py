"""One long table of games: a line for each, written while they run and never run twice.

A part is a module of this folder with

    TITLE       its name on pages
    GAMES       how many games of each problem it has unless another number is asked for
    WORKERS     processes; one where a game measures this machine
    LEAST       the cost below which no difference matters
    tasks(n)    the games to run, where n is a range of numbers
    run(task)   the outcome of one game, or of all that are run together with it

Game i of all players meets the same problem with the same noise.
"""

from __future__ import annotations

import csv
import io
import subprocess
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import date
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from dikin.files import replace_file

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "games"
SAVE_EVERY = 5.0
"""Seconds after which finished games are written."""


class Task(NamedTuple):
    """One game."""

    problem: str
    rounds: int
    player: str
    game: int


class Outcome(NamedTuple):
    """Costs in the unit of the part. Small is good."""

    cost: float
    """The mean over all rounds."""
    final: float
    """The cost of the final setting, or of the last tenth of the rounds: a part says which."""


Found = Outcome | Mapping[Task, Outcome]
COLUMNS = (*Task._fields, *Outcome._fields)


# --- files ---------------------------------------------------------------------------------------


def origin(command: str) -> str:
    """Return the first line of a CSV: its command, the date, and the commit checked out."""
    asked = ["git", "rev-parse", "--short=8", "HEAD"]
    commit = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    return f"# {command}, {date.today()}, commit {commit.strip() or 'unknown'}"


def write_table(file: Path, command: str, head: Sequence[str], rows: Iterable[Any]) -> None:
    """Write a CSV below a line that says where it is from. The file is replaced as a whole."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file, f"{origin(command)}\n{text.getvalue()}".encode())


def read_table(file: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV by the names of its columns, or an empty list without a file."""
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def read_games(part: str, folder: Path = FOLDER) -> dict[Task, Outcome]:
    """Return the games of a part."""
    return {
        Task(row["problem"], int(row["rounds"]), row["player"], int(row["game"])): Outcome(
            float(row["cost"]), float(row["final"])
        )
        for row in read_table(folder / f"{part}.csv")
    }


def save(part: str, games: Mapping[Task, Outcome], folder: Path = FOLDER) -> None:
    """Write the games of a part, six digits of each cost."""
    rows = ((*task, *(f"{cost:.6g}" for cost in found)) for task, found in games.items())
    write_table(folder / f"{part}.csv", f"make evidence PART={part}", COLUMNS, rows)


# --- running -------------------------------------------------------------------------------------


def run_missing(
    part: str,
    run: Callable[[Task], Found],
    tasks: Iterable[Task],
    workers: int = 1,
    folder: Path = FOLDER,
    forget: Collection[str] = (),
) -> dict[Task, Outcome]:
    """Run the games that the CSV lacks, and keep finished ones even if interrupted.

    Games of the players in `forget` are run again.
    """
    known = read_games(part, folder)
    before = {task: found for task, found in known.items() if task.player not in forget}
    games, saved = dict(before), monotonic()
    missing = [task for task in dict.fromkeys([*tasks, *known]) if task not in games]
    try:
        for task, found in _finished(run, missing, games, workers):
            games |= {task: found} if isinstance(found, Outcome) else found
            if monotonic() - saved > SAVE_EVERY:
                save(part, games, folder)
                saved = monotonic()
    finally:
        if games != before:
            save(part, games, folder)
    return games


def _finished(
    run: Callable[[Task], Found], tasks: list[Task], games: dict[Task, Outcome], workers: int
) -> Iterator[tuple[Task, Found]]:
    """Yield games as they end, with a progress bar. `games` grows meanwhile."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task(f"{len(tasks):,} games", total=len(tasks))
        if workers == 1:
            for task in tasks:
                if task not in games:
                    yield task, run(task)
                progress.advance(bar)
            return
        with ProcessPoolExecutor(workers) as pool:
            running = {pool.submit(run, task): task for task in tasks}
            try:
                for done in as_completed(running):
                    yield running[done], done.result()
                    progress.advance(bar)
            finally:
                pool.shutdown(cancel_futures=True)


def take_turns(
    player: Any, rounds: int, answer: Callable[[Any, int], tuple[float, float]]
) -> list[float]:
    """Ask and tell. `answer` has a trial's value and its cost. Return the costs of the rounds."""
    costs = []
    for round in range(rounds):
        trial = player.ask()
        value, cost = answer(trial, round)
        player.tell(trial, value)
        costs.append(cost)
    return costs
