"""`dikin compare`: every learner in every scenario, and which one to take."""

from __future__ import annotations

import hashlib
import io
import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from rich.console import Console

import dikin
from dikin.engine.jit import reproducible
from dikin.engine.play import play
from dikin.environments.base import Environment
from dikin.errors import CheckFailedError, NumericalError
from dikin.experiments import matrix_figure
from dikin.experiments.competitors import (
    Competitor,
    Entry,
    LeftOutError,
    enter,
    find_competitors,
    find_scenarios,
    quietly,
)
from dikin.experiments.matrix import OURS, Cell, Matrix, write
from dikin.experiments.matrix_screen import show
from dikin.experiments.playing import play_missing, prepare_folder
from dikin.experiments.scenarios import SCENARIOS, Scenario
from dikin.experiments.store import Store
from dikin.learners.base import Learner

ROUNDS = 2_000
SEEDS, SLOW_SEEDS = 8, 4
"""Games of a cell that the compiled loop plays, and of one that it cannot."""
COMPILING, FUSED, SLOW, DENSE = 1.5, 2e-6, 1e-4, 4e-4
"""Seconds, about, that a loop takes to compile, and a round: compiled, not compiled, and on a
domain without closed forms. For the remaining time only."""


@dataclass(frozen=True)
class Request:
    """What was asked for."""

    learners: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    rounds: int = ROUNDS
    seeds: int | None = None
    """Of every cell; without it, those above."""
    slow_seeds: int | None = None
    """Of every cell that the compiled loop cannot play; without it, as many as of the others."""
    seed: int = 0
    workers: int = 2
    external: bool = False
    dask: None = None
    """Cells are played on this machine."""

    def games(self, fused: bool) -> int:
        """How many games a cell has."""
        if fused:
            return self.seeds or SEEDS
        return self.slow_seeds or self.seeds or SLOW_SEEDS


@dataclass(frozen=True)
class Task:
    """Cells of one competitor that are played together: what one compiled loop can play."""

    competitor: Competitor
    """With its class: a worker imports the module of a user's own learner with it."""
    scenarios: tuple[str, ...]
    work: float
    """Seconds, about."""
    key: str
    """Names all that the results depend on."""


def compare(request: Request, out: Path, console: Console) -> Matrix:
    """Play the matrix and write compare.csv, games.csv and compare.png into a folder.

    Finished cells are kept in the folder: an interrupted run goes on where it was.
    """
    tasks = list(plan(request))
    prepare_folder(out)
    store = Store(f"sqlite:///{out / 'cells.sqlite'}", {"kind": "compare"})
    with warnings.catch_warnings():
        # The compiler keeps what it made: a worker that has grown is replaced, and nothing is lost.
        warnings.filterwarnings("ignore", "A worker stopped", UserWarning)
        play_missing(tasks, partial(play_task, request=request), store, request, console)
    kept = store.finished()
    cells = [_revived(row) for task in tasks for row in kept[task.key]]
    order = {name: i for i, name in enumerate(SCENARIOS)}
    matrix = Matrix(tuple(sorted(cells, key=lambda c: (order[c.scenario], c.learner))))
    write(matrix, out)
    show(matrix, console)
    if any(cell.played for cell in matrix.cells):
        matrix_figure.draw(matrix, out / "compare.png")
        console.print(f"{out / 'compare.csv'}, {out / 'games.csv'}, {out / 'compare.png'}")
    refuse_broken_certificates(matrix)
    return matrix


def refuse_broken_certificates(matrix: Matrix) -> None:
    """A certificate below the regret that it bounds would be an error of ours: say so loudly."""
    broken = [
        f"{c.learner} in {c.scenario}: mean regret {c.mean:.6g}, mean certificate "
        f"{c.certificate:.6g}, {len(c.seeds)} games"
        for c in matrix.exceeding()
    ]
    if broken:
        raise CheckFailedError("regret exceeds its certificate. " + "; ".join(broken))


# --- what is played together --------------------------------------------------------------------


def plan(request: Request) -> Iterator[Task]:
    """What is to be played, in pieces that never compile the same loop at the same time."""
    scenarios = find_scenarios(request.scenarios).values()
    worlds = {s.name: s.game(request.rounds, 0) for s in scenarios}
    for competitor in find_competitors(request.learners, request.external).values():
        loops: dict[Any, list[str]] = {}
        for scenario in filter(competitor.plays, scenarios):
            loop = _loop(competitor.cls, worlds[scenario.name]) or scenario.name
            loops.setdefault(loop, []).append(scenario.name)
        for names in loops.values():
            fused = _loop(competitor.cls, worlds[names[0]]) is not None
            slow = FUSED if fused else SLOW if _closed(worlds[names[0]]) else DENSE
            work = len(names) * slow * request.rounds * request.games(fused)
            work += COMPILING if fused else 0.0
            yield Task(competitor, tuple(names), work, _key(competitor, names, request))


def _loop(cls: type[Learner], world: Environment) -> Any:
    """What the compiler tells loops of a learner apart by; None where it has nothing to do."""
    if cls.machine is Learner.machine or not _closed(world):
        return None
    return type(world.domain), _types(world.kernel)


def _closed(world: Environment) -> bool:
    """Whether the domain has closed forms."""
    return world.domain.geometry(world.domain.radius).compilable


def _types(kernel: Any) -> Any:
    fields = kernel if isinstance(kernel, tuple) else ()
    return type(kernel).__name__, tuple(map(_types, fields))


def _key(competitor: Competitor, names: list[str], request: Request) -> str:
    games = [request.rounds, request.seed, request.games(True), request.games(False)]
    facts = [dikin.__version__, own_source(competitor.cls), names, *games]
    return f"{competitor.name}/{hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]}"


def own_source(cls: type[Learner]) -> str:
    """A digest of the file of a user's own learner, so that one that was changed plays anew.

    What that file imports is not looked at. A class without a file is never taken for another.
    """
    if cls.__module__.split(".")[0] == dikin.__name__:
        return ""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else uuid4().hex


# --- playing ------------------------------------------------------------------------------------


def play_task(task: Task, request: Request) -> list[dict[str, Any]]:
    """The cells of a task: a pure function of the two, but for the seconds."""
    cells = (play_cell(task.competitor, SCENARIOS[name], request) for name in task.scenarios)
    return [asdict(cell) for cell in cells]


def _revived(row: dict[str, Any]) -> Cell:
    """A cell from the store, whose lists were tuples."""
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in row.items()}
    return Cell(**values)


def play_cell(competitor: Competitor, scenario: Scenario, request: Request) -> Cell:
    """A competitor in a scenario, one game a seed."""
    cls = competitor.cls
    cell = Cell(
        learner=competitor.name,
        scenario=scenario.name,
        feedback=cls.feedback.name,
        rounds=request.rounds,
        package=getattr(cls, "package", OURS),
        group=scenario.group,
        moving=scenario.moving,
    )
    seeds: list[int] = []
    games: list[Game] = []
    wanted = request.games(fused=True)
    try:
        while len(games) < wanted:
            seed = request.seed * 1_000_003 + len(games)
            entry = enter(competitor, scenario, request.rounds, seed)
            games.append(play_game(entry, scenario, request.rounds))
            seeds.append(seed)
            wanted = request.games(games[-1].fused or getattr(cls, "quick", False))
    except (LeftOutError, NumericalError) as reason:
        return replace(cell, left_out=str(reason))
    return replace(
        cell,
        seeds=tuple(seeds),
        regrets=tuple(game.regret for game in games),
        certificates=tuple(game.certificate for game in games),
        seconds=min(game.seconds for game in games),
        fused=games[-1].fused,
        broken=entry.broken,
    )


class Game(NamedTuple):
    """What one game gave, in units of half the range of the losses."""

    regret: float
    certificate: float
    seconds: float
    fused: bool


def play_game(entry: Entry, scenario: Scenario, rounds: int) -> Game:
    """One game, against the best fixed point or, where that says little, the moving one."""
    # The progress bar says that it takes a while; the loop need not when it compiles.
    with quietly(), redirect_stderr(io.StringIO()), reproducible(inf):
        run = play(entry.learner, entry.world, rounds, checkpoints=1, progress=False)
    regret = float(run.regret[-1])
    if scenario.moving:
        regret = run.total_loss - entry.world.dynamic_total()
    scale = entry.learner.units.loss_scale
    return Game(regret / scale, float(run.certificate[-1]) / scale, run.seconds, run.fused)
