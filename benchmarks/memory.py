"""A memory that chooses itself: what `memory="auto"` costs beside fixed memories and beside none.

Bowls on the cube whose minimum stands still, circles or jumps; the sixteen kinds of losses of
benchmarks/beginning.py from the centre; and games that change from round to round. Nothing is
declared. Prints the regret, against the moving minimum (in hostile games against the best fixed
point), and its ratio to that of the best fixed memory or to that of no memory, with the standard
error by the paired games.

    python benchmarks/memory.py [--games N] [--out FOLDER] [--page PAGE]
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Iterator
from itertools import product
from math import pi, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

from comparison import play_parallel
from loops import Answers, Generator, Kind, Losses, excess, rotation, standing
from report import Block, publish_blocks
from rivals import Array

import dikin
from dikin.engine.play import compiled_rounds, plain_rounds
from dikin.experiments.tables import fields, write_csv

GAMES, FIRST_SEED, WORKERS = 8, 910_000, 1
"""One worker: compiling takes longer than the games."""
NONE, AUTO = "None", "auto"
FIXED = (NONE, "4000", "1000", "250")
NOISES = (0.05, 0.3)
KINDS = [Kind(*kind) for kind in product((2, 5), (True, False), (1, 30), (0.05, 0.5))]
TARGETS = {"memory": 1.15, "belief": 0.75, "drift": 1.15, "hostile": 1.15}
"""The ratios that were aimed at: of every line, and of the geometric mean for `belief`."""
ABOUT = {
    "memory": "regret in 12,000 rounds, noise 0.05, beside fixed memories",
    "belief": "regret in 4,000 rounds from the centre, beside no memory",
    "drift": "regret in 8,000 rounds, beside no memory",
    "hostile": "regret in 4,000 rounds against the best fixed point, beside no memory",
}


class Row(NamedTuple):
    """A line of the CSV: one game."""

    table: str
    world: str
    d: int
    noise: float
    memory: str
    game: int
    regret: float


class World(NamedTuple):
    """Losses, and what the best that is compared with suffers."""

    losses: Losses
    best: float


class Task(NamedTuple):
    """One game."""

    table: str
    world: str
    d: int
    noise: float
    memory: str
    game: int


# --- worlds ------------------------------------------------------------------------------------


def chance_of(task: Task) -> Generator:
    """The same for every memory."""
    place = [*ABOUT].index(task.table), *task.world.encode(), task.d, round(1000 * task.noise)
    return np.random.default_rng([FIRST_SEED + task.game, *place])


def moving(task: Task, rounds: int) -> World:
    """A bowl whose minimum is still, circles or jumps in a random plane."""
    chance, d, t = chance_of(task), task.d, np.arange(rounds)
    p, q = np.linalg.qr(chance.standard_normal((d, 2)))[0].T
    name, _, period = task.world.partition(" ")
    angles = 0.0 * t
    if name == "circling":
        angles = 2 * pi * t / int(period)
    elif name == "jumping":
        angles = 2 * pi * 3 / 8 * (t // int(period))
    path = np.cos(angles)[:, None] * p + np.sin(angles)[:, None] * q
    noise = task.noise * chance.standard_normal(rounds)
    minima = 0.5 + 0.25 * sqrt(d / 2) * path
    losses = standing(2 * np.eye(d), minima[0], True, noise)
    return World(losses._replace(minima=minima, rows=t, scale=0.5), 0.0)


def of_kind(task: Task, rounds: int) -> World:
    """A kind of losses, in units of the excess at the centre."""
    kind, chance = KINDS[int(task.world)], chance_of(task)
    minimum = np.full(kind.d, 0.5)
    while np.linalg.norm(minimum - 0.5) < 0.125 * sqrt(kind.d):
        minimum = chance.uniform(0.15, 0.85, kind.d)
    turn = rotation(chance, kind.d) if task.game % 2 else np.eye(kind.d)
    weights = kind.condition ** (0.5 * np.linspace(0.0, 1.0, kind.d))
    noise = kind.noise * chance.standard_normal(rounds)
    losses = standing(np.diag(weights) @ turn, minimum, kind.squared, noise)
    return World(losses._replace(scale=1.0 / excess(losses, 1, np.full(kind.d, 0.5))), 0.0)


SIDES: dict[str, Callable[[Any, Generator], Any]] = {
    "linear": lambda t, chance: 0 * t,
    "linear, one side or the other at random": lambda t, chance: chance.random(t.size) < 0.4,
    "linear, sides every 64 rounds": lambda t, chance: t // 64 % 2,
    "linear, the other side 40 rounds in 200": lambda t, chance: (t % 200 >= 160).astype(int),
    "linear, the other side at last": lambda t, chance: (t >= t.size - t.size // 3).astype(int),
    "two bowls at random": lambda t, chance: (chance.random(t.size) < 0.3).astype(int),
    "two bowls in turn": lambda t, chance: t % 2,
    "bowl and a constant in turn": lambda t, chance: 0 * t,
}
"""Which of two minima every round has."""


def hostile(task: Task, rounds: int) -> World:
    """Losses with one minimum or another: opposite corners (then they are linear), or bowls."""
    chance, d, t = chance_of(task), task.d, np.arange(rounds)
    squared = "bowl" in task.world
    way = chance.choice([-1.0, 1.0], d) if not squared else rotation(chance, d)[0]
    minima = 0.5 + np.outer([1.0, -1.0], 0.5 * way if not squared else 0.2 * sqrt(d) * way)
    rows = np.asarray(SIDES[task.world](t, chance), dtype=np.int64)
    noise = task.noise * chance.standard_normal(rounds)
    losses = standing(np.eye(d), minima[0], squared, noise)._replace(
        minima=minima, rows=rows, scale=(2.0 if squared else 1.0) / d
    )
    if "constant" in task.world:
        losses = losses._replace(added=np.where(t % 2, 0.8, -0.8))
    return World(losses, least_total(losses))


def least_total(losses: Losses) -> float:
    """Of the best fixed point: for bowls their mean, on the cube of corners one of the two."""
    counts = np.bincount(losses.rows, minlength=2)
    middle = counts @ losses.minima / counts.sum()
    points = [middle, *losses.minima] if losses.squared else losses.minima
    totals = [
        sum(
            float(count) * excess(losses._replace(rows=np.array([side])), 1, point)
            for side, count in enumerate(counts)
        )
        for point in points
    ]
    return min(totals)


MAKERS: dict[str, tuple[Callable[[Task, int], World], int]] = {
    "memory": (moving, 12_000),
    "belief": (of_kind, 4_000),
    "drift": (moving, 8_000),
    "hostile": (hostile, 4_000),
}


# --- games -------------------------------------------------------------------------------------


def lines() -> Iterator[tuple[str, str, int, float]]:
    """Table, world, dimension and noise of every line."""
    memory = ("still", "circling 10000", "jumping 4000", "jumping 1000")
    yield from (("memory", world, d, 0.05) for d, world in product((2, 5), memory))
    yield from (("belief", str(i), kind.d, kind.noise) for i, kind in enumerate(KINDS))
    drift = ("jumping 1000", "jumping 4000", "circling 10000")
    yield from (("drift", world, d, s) for d, world, s in product((2, 5), drift, NOISES))
    yield from (("hostile", world, d, 0.05) for d, world in product((2, 5), SIDES))


def play(task: Task) -> Row:
    """One game."""
    logging.getLogger("dikin").setLevel(logging.ERROR)
    make, rounds = MAKERS[task.table]
    world = make(task, rounds)
    box = dikin.Box([0] * task.d, [1] * task.d)
    memory: Any = None if task.memory == NONE else task.memory
    memory = int(memory) if task.memory.isdigit() else memory
    learner = dikin.Predictive(box, memory=memory, seed=FIRST_SEED + task.game)
    answers = Answers(box, world.losses)
    (compiled_rounds(learner, answers) or plain_rounds(learner, answers))(rounds)
    return Row(*task, float(f"{world.losses.costs.sum() - world.best:.6g}"))


def play_all(games: range) -> list[Row]:
    """Every game, with a progress bar."""
    tasks = [
        Task(*line, memory, game)
        for line in lines()
        for memory in ((*FIXED, AUTO) if line[0] == "memory" else (NONE, AUTO))
        for game in games
    ]
    return play_parallel(play, tasks, WORKERS)


# --- what is seen ------------------------------------------------------------------------------


class Ratio(NamedTuple):
    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ± {self.error:.2f}"


def ratio(ours: Array, theirs: Array) -> Ratio | None:
    """Of the means, with its standard error by the paired games; none of what is not positive."""
    if theirs.mean() <= 0.0:
        return None
    value = float(ours.mean() / theirs.mean())
    error = (ours - value * theirs).std(ddof=1) / sqrt(len(ours)) / theirs.mean()
    return Ratio(value, float(error))


def regrets(rows: list[Row], line: tuple[str, str, int, float], memory: str) -> Array:
    return np.array([row.regret for row in rows if row[:4] == line and row.memory == memory])


def title(line: tuple[str, str, int, float]) -> str:
    table, world, d, noise = line
    if table == "belief":
        return str(KINDS[int(world)])
    return f"d = {d}, {world}" + (f", noise {noise:g}" if table == "drift" else "")


def compared(rows: list[Row], table: str) -> dict[str, Ratio]:
    """Return the ratio of `auto` to no memory in every line of a table that has one."""
    mine = [line for line in lines() if line[0] == table]
    found = {
        title(line): ratio(*(regrets(rows, line, name) for name in (AUTO, NONE))) for line in mine
    }
    return {name: value for name, value in found.items() if value is not None}


def fixed_block(rows: list[Row]) -> Block:
    """The table beside fixed memories, one line for each kind of losses."""
    texts: list[list[str]] = []
    found: dict[str, Ratio] = {}
    for line in (line for line in lines() if line[0] == "memory"):
        games = {memory: regrets(rows, line, memory) for memory in (*FIXED, AUTO)}
        best = min(FIXED, key=lambda memory: float(games[memory].mean()))
        beside = ratio(games[AUTO], games[best])
        texts.append([title(line), *(f"{x.mean():.0f}" for x in games.values()), str(beside)])
        if beside is not None:
            found[title(line)] = beside
    head = [f"memory: {ABOUT['memory']}, {len(games[AUTO])} games each", *FIXED, AUTO, "ratio"]
    return Block("memory", head, texts, [f"The {text}" for text in notes("memory", found)])


def alone_block(rows: list[Row]) -> Block:
    """The table beside no memory, one line for each group of losses."""
    texts: list[list[str]] = []
    about: list[str] = []
    for table in (table for table in ABOUT if table != "memory"):
        found = compared(rows, table)
        values = [value.value for value in found.values()]
        mean = f"{np.exp(np.mean(np.log(values))):.2f}"
        largest = max(found, key=lambda name: found[name].value)
        name = f"{table} ({ABOUT[table].removesuffix(', beside no memory')})"
        texts.append([name, str(len(found)), mean, f"{min(values):.2f}", str(found[largest])])
        about += [f"{table}, {text}" for text in notes(table, found)]
    head = ["alone: regret with auto, divided by that with no memory"]
    return Block("alone", [*head, "lines", "geometric mean", "least", "largest"], texts, about)


def blocks(rows: list[Row]) -> list[Block]:
    """The two tables."""
    return [fixed_block(rows), alone_block(rows)]


def notes(table: str, found: dict[str, Ratio]) -> Iterator[str]:
    """Return the target, and the lines that miss it."""
    target = TARGETS[table]
    if table == "belief":
        mean = float(np.exp(np.log([value for value, _ in found.values()]).mean()))
        word = "met" if mean <= target else "missed"
        yield f"target of {target:g} for the geometric mean: {word}."
        return
    above = {name: value for name, value in found.items() if value.value > target}
    missed = "; ".join(f"{name} ({value})" for name, value in above.items())
    yield f"target of {target:g} for each line: missed in {len(above)} of {len(found)}" + (
        f": {missed}." if above else "."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", type=int, default=GAMES, help="of each kind (%(default)s)")
    parser.add_argument("--out", type=Path, help="a folder for the CSV")
    parser.add_argument("--page", type=Path, help="a page whose tables are written anew")
    chosen = parser.parse_args()
    rows = play_all(range(chosen.games))
    if chosen.out is not None:
        chosen.out.mkdir(parents=True, exist_ok=True)
        write_csv(chosen.out / "memory.csv", fields(*Row._fields), rows)
    publish_blocks(blocks(rows), chosen.page)


if __name__ == "__main__":
    main()
