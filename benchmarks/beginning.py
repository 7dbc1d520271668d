"""The first rounds: what tuning costs beside pycma's CMA-ES, over 16 kinds of losses.

Bowls and absolute distances in 2 and 5 dimensions, round and stretched, every second game rotated,
with little noise and much. All players know the ranges and the start, and nothing else. One game is
read after 200, 1 000 and 5 000 rounds. Prints, for each, geometric means over the kinds of the mean
cost of a round while tuning and of the cost of the setting that would be kept, in units of the cost
of the start.

    python benchmarks/beginning.py [--games N] [--out FOLDER] [--page PAGE]
"""

from __future__ import annotations

import argparse
import sys
from itertools import product
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

from loops import PLAYERS, TUNER, Generator, Kind, Loop, in_cube, loop_of, outcomes, rotation
from report import Block, interval, play_parallel, publish_blocks
from rivals import CMA_ES, Array

from dikin.experiments.tables import fields, write_csv

HORIZONS = (200, 1000, 5000)
GAMES, FIRST_SEED, WORKERS = 16, 50_000, 2
KINDS = [Kind(*kind) for kind in product((2, 5), (True, False), (1, 30), (0.05, 0.5))]
FAR = 0.25
"""A start is far from the minimum at this times sqrt(d)."""
LEAST_DISTANCE = {"anywhere": 0.0, "far": FAR}
"""Where starts may lie."""
ABOUT = {
    "anywhere": "start and minimum anywhere",
    "far": f"starts at least {FAR:g} √d from the minimum",
}


class Task(NamedTuple):
    """One game."""

    start: str
    kind: Kind
    player: str
    game: int


class Row(NamedTuple):
    """A line of the CSV: one game, read after so many rounds."""

    start: str
    d: int
    squared: bool
    condition: float
    noise: float
    player: str
    game: int
    rounds: int
    cost: float
    """The mean excess of what was played, in units of that of the start."""
    final: float
    """The excess of the setting that would be kept."""

    @property
    def kind(self) -> Kind:
        return Kind(self.d, self.squared, self.condition, self.noise)


# --- games -------------------------------------------------------------------------------------


def start_and_minimum(chance: Generator, d: int, least_distance: float) -> tuple[Array, Array]:
    """Two random points at least that far from each other."""
    while True:
        start, minimum = in_cube(chance, 2, d)
        if np.linalg.norm(start - minimum) >= least_distance:
            return start, minimum


def loop_for(task: Task, rounds: int) -> Loop:
    """What is tuned in a game, the same for all players."""
    kind, seed = task.kind, FIRST_SEED + task.game
    chance = np.random.default_rng([seed, [*ABOUT].index(task.start), KINDS.index(kind)])
    far = LEAST_DISTANCE[task.start] * sqrt(kind.d)
    start, minimum = start_and_minimum(chance, kind.d, far)
    turn = rotation(chance, kind.d) if task.game % 2 else np.eye(kind.d)
    return loop_of(kind, start, minimum, turn, chance, rounds)


def play(task: Task, horizons: tuple[int, ...]) -> list[Row]:
    """One game."""
    loop, seed = loop_for(task, horizons[-1]), FIRST_SEED + task.game
    found = outcomes(PLAYERS[task.player], loop, seed, horizons)
    return [Row(task.start, *task.kind, task.player, task.game, *outcome) for outcome in found]


def play_all(games: range, horizons: tuple[int, ...]) -> list[Row]:
    """Every game, with a progress bar."""
    tasks = [Task(*task) for task in product(ABOUT, KINDS, PLAYERS, games)]
    played = play_parallel(lambda task: play(task, horizons), tasks, WORKERS)
    return [row for rows in played for row in rows]


# --- what is seen ------------------------------------------------------------------------------


class Means(NamedTuple):
    """Means over games, one for each kind."""

    costs: Array
    finals: Array


def means(rows: list[Row], start: str, player: str, rounds: int) -> Means:
    mine = [row for row in rows if row[:1] + row[5:6] + row[7:8] == (start, player, rounds)]
    by_kind = [[row for row in mine if row.kind == kind] for kind in KINDS]
    costs = [np.mean([row.cost for row in games]) for games in by_kind]
    finals = [np.mean([row.final for row in games]) for games in by_kind]
    return Means(np.array(costs), np.array(finals))


def ratio(ours: Array, theirs: Array) -> str:
    """The geometric mean of a ratio over the kinds, with its 95 % interval."""
    middle, half = interval(np.log(ours / theirs))
    low, high = np.exp(middle - half), np.exp(middle + half)
    return f"{np.exp(middle):.2f} ({low:.2f} to {high:.2f})"


def cells(ours: Array, theirs: Array) -> list[str]:
    """Both geometric means, and their ratio."""
    both = [f"{np.exp(np.log(values).mean()):.3f}" for values in (ours, theirs)]
    return [*both, ratio(ours, theirs)]


def ahead(rounds: int, ours: Array, theirs: Array) -> str:
    """The kinds in which tuning costs pycma less."""
    lost = [(ours[i] / theirs[i], str(kind)) for i, kind in enumerate(KINDS) if theirs[i] < ours[i]]
    worst = f", by a factor of at most {max(lost)[0]:.2f} ({max(lost)[1]})" if lost else ""
    return (
        f"{rounds:,} rounds: tuning costs pycma less in {len(lost)} of {len(KINDS)} kinds{worst}."
    )


def blocks(rows: list[Row]) -> list[Block]:
    """A table for each way to start."""
    games = len({row.game for row in rows})
    found = []
    for start, about in ABOUT.items():
        lines, notes = [], []
        for rounds in sorted({row.rounds for row in rows}):
            ours, theirs = (means(rows, start, player, rounds) for player in (TUNER, CMA_ES))
            both = cells(ours.costs, theirs.costs) + cells(ours.finals, theirs.finals)
            lines.append([f"{rounds:,} rounds", *both])
            notes.append(ahead(rounds, ours.costs, theirs.costs))
        columns = [TUNER, CMA_ES, "ratio"]
        head = [f"{start}: {about}, {len(KINDS)} kinds, {games} games each", *columns]
        found.append(Block(start, [*head, *(f"kept: {name}" for name in columns)], lines, notes))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", type=int, default=GAMES, help="of each kind (%(default)s)")
    parser.add_argument("--out", type=Path, help="a folder for beginning.csv")
    parser.add_argument("--page", type=Path, help="a page whose tables are written anew")
    chosen = parser.parse_args()
    rows = play_all(range(chosen.games), HORIZONS)
    if chosen.out is not None:
        chosen.out.mkdir(parents=True, exist_ok=True)
        write_csv(chosen.out / "beginning.csv", fields(*Row._fields), rows)
    publish_blocks(blocks(rows), chosen.page)


if __name__ == "__main__":
    main()
