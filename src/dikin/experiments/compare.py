"""`dikin compare`: every learner in every environment, and which one to take."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

from dikin.engine.play import play
from dikin.errors import MissingPackageError, NumericalError
from dikin.experiments import matrix_figure
from dikin.experiments.arenas import ARENAS, Arena
from dikin.experiments.entrants import LeftOutError, enter, find_arenas, find_learners, quietly
from dikin.experiments.matrix import OURS, Cell, Matrix, write
from dikin.experiments.playing import prepare_folder, progress
from dikin.learners.base import Learner

ROUNDS = 3_000
SEEDS, SLOW_SEEDS = 8, 4
"""Games of a cell that the compiled loop plays, and of one that it cannot."""
SLOW = 8e-5
"""Seconds that a round takes where it cannot, about: for the remaining time only."""
NOTES = {
    "*": "least mean regret",
    "=": "not told apart from it by these games, at 95%",
    "†": "an assumption of the learner, or a constant that it must be told, does not hold here",
}


@dataclass(frozen=True)
class Request:
    """What was asked for."""

    learners: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    rounds: int = ROUNDS
    seeds: int | None = None
    """Of every cell; without it, those above."""
    seed: int = 0
    workers: int = 2
    outsiders: bool = False


@dataclass(frozen=True)
class Task:
    """Cells of one learner that one compiled loop can play."""

    learner: str
    environments: tuple[str, ...]
    cost: float
    """Seconds, about."""


def compare(request: Request, out: Path, console: Console) -> Matrix:
    """Play the matrix and write compare.csv, games.csv and compare.png into a folder."""
    from joblib import Parallel, delayed

    tasks = list(plan(request))
    prepare_folder(out)
    cells: list[Cell] = []
    with progress(console) as bar, warnings.catch_warnings():
        # The compiler keeps what it made: a worker that has grown is replaced, and nothing is lost.
        warnings.filterwarnings("ignore", "A worker stopped", UserWarning)
        bar_task = bar.add_task("playing", total=sum(task.cost for task in tasks))
        jobs = (delayed(play_task)(task, request) for task in tasks)
        for task, played in Parallel(n_jobs=request.workers, return_as="generator_unordered")(jobs):
            cells += played
            bar.update(bar_task, advance=task.cost)
    order = {name: i for i, name in enumerate(ARENAS)}
    matrix = Matrix(tuple(sorted(cells, key=lambda c: (order[c.environment], c.learner))))
    write(matrix, out)
    show(matrix, console)
    if any(cell.played for cell in matrix.cells):
        matrix_figure.draw(matrix, out / "compare.png")
        console.print(f"{out / 'compare.csv'}, {out / 'games.csv'}, {out / 'compare.png'}")
    return matrix


# --- playing ------------------------------------------------------------------------------------


def plan(request: Request) -> Iterator[Task]:
    """What is to be played, in pieces that never compile the same loop at the same time."""
    arenas = find_arenas(request.environments)
    groups: dict[Any, list[str]] = {}
    for name, arena in arenas.items():
        world = arena.game(request.rounds, 0)
        kernel = type(world.domain), _types(world.world)
        groups.setdefault(kernel, []).append(name)
    learners = find_learners(request.learners, request.outsiders)
    # What takes longest comes first, so that no worker is left with it at the end.
    for name in sorted(learners, key=lambda name: not slow(learners[name])):
        is_slow = slow(learners[name])
        seeds = request.seeds or (SLOW_SEEDS if is_slow else SEEDS)
        each = SLOW * request.rounds * seeds if is_slow else 1.0
        for group in groups.values():
            yield Task(name, tuple(group), each * len(group))


def slow(cls: type[Learner]) -> bool:
    """Whether the compiled loop can never play a learner."""
    return cls.machine is Learner.machine


def _types(kernel: Any) -> Any:
    """What the compiler tells kernels apart by."""
    fields = kernel if isinstance(kernel, tuple) else ()
    return type(kernel).__name__, tuple(map(_types, fields))


def play_task(task: Task, request: Request) -> tuple[Task, list[Cell]]:
    """The cells of a task: a pure function of the two, but for the seconds."""
    (cls,) = find_learners([task.learner], outsiders=False).values()
    return task, [play_cell(cls, ARENAS[name], request) for name in task.environments]


def play_cell(cls: type[Learner], arena: Arena, request: Request) -> Cell:
    """A learner in an environment, one game a seed."""
    seeds: list[int] = []
    regrets: list[float] = []
    seconds: list[float] = []
    cell = (cls.__name__, arena.name, cls.feedback.name, request.rounds)
    package = getattr(cls, "package", OURS)
    wanted = request.seeds or SEEDS
    try:
        while len(seeds) < wanted:
            seed = request.seed * 1_000_003 + len(seeds)
            entry = enter(cls, arena, request.rounds, seed)
            # The progress bar says that it takes a while; the loop need not when it compiles.
            with quietly(), redirect_stderr(io.StringIO()):
                run = play(
                    entry.learner, entry.world, request.rounds, checkpoints=1, progress=False
                )
            seeds.append(seed)
            regrets.append(float(run.regret[-1]) / entry.learner.units.loss_scale)
            seconds.append(run.seconds)
            wanted = request.seeds or (SEEDS if run.fused else SLOW_SEEDS)
    except (LeftOutError, NumericalError) as reason:
        return Cell(*cell, left_out=str(reason), package=package)
    except MissingPackageError:
        raise
    return Cell(
        *cell,
        tuple(seeds),
        tuple(regrets),
        min(seconds),
        run.fused,
        entry.broken,
        package=package,
    )


# --- the screen ---------------------------------------------------------------------------------


def show(matrix: Matrix, console: Console) -> None:
    """The matrix in the terminal, as many environments side by side as fit."""
    width, column = console.width - 26, 15
    names = matrix.environments
    fit = max(1, width // column)
    for first in range(0, len(names), fit):
        console.print(screen_table(matrix, names[first : first + fit]))
    for sign, words in NOTES.items():
        console.print(f"{sign} {words}")
    console.print(
        "Mean regret of a game, in units of half the range of its losses, ± half the 95% interval; "
        "[i]italics[/i]: sees more than one value a round."
    )
    for reason, cells in matrix.absent().items():
        everywhere = len(cells) == len(matrix.environments)
        where = "all" if everywhere else ", ".join(cell.environment for cell in cells)
        console.print(f"Left out of {where}: {reason}", style="dim", highlight=False)


def screen_table(matrix: Matrix, environments: list[str]) -> RichTable:
    """Some of the environments."""
    rounds = matrix.cells[0].rounds
    shown = RichTable(title=f"Regret after {rounds:,} rounds")
    shown.add_column("learner")
    shown.add_column("µs/round", justify="right")
    for name in environments:
        shown.add_column(name, justify="right", no_wrap=True)
    for learner in matrix.learners():
        cells = [matrix.at(learner, name) for name in environments]
        played = [cell for cell in cells if cell is not None and cell.played]
        if not played:
            continue
        fastest = min(cell.seconds for cell in played) / rounds * 1e6
        speed = f"{fastest:.1f}" if fastest < 10 else f"{fastest:.0f}"
        style = "italic" if played[0].sees_more else None
        shown.add_row(learner, speed, *(_shown(matrix, cell) for cell in cells), style=style)
    games = [
        {len(c.seeds) for c in matrix.cells if c.environment == e and c.played}
        for e in environments
    ]
    shown.add_section()
    shown.add_row("games a cell", "", *(" or ".join(map(str, sorted(each))) for each in games))
    return shown


def _shown(matrix: Matrix, cell: Cell | None) -> str:
    if cell is None or not cell.played:
        return "-"
    mark = {"best": "*", "tie": "="}.get(matrix.mark(cell), "") + ("†" if cell.broken else "")
    text = f"{cell.mean:,.0f} ±{cell.half:,.0f}{mark:<2}"
    return f"[bold]{text}[/bold]" if matrix.mark(cell) == "best" else text
