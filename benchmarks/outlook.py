"""What a tuner says of the cost of exploring and of the next rounds, beside what they did cost.

Bowls, kinks and moving minima of benchmarks/memory.py; and a cone, which is no sum over its
parameters, whose noise depends on the setting. Once nothing is declared and once the true constant.
Every game is read after 250 and after 1,000 rounds.

    python benchmarks/outlook.py [--games N] [--out FOLDER] [--page PAGE]
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Iterator
from itertools import product
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

from comparison import play_parallel
from loops import excess, six_digits
from memory import FIRST_SEED, KINDS, Task, chance_of, moving, of_kind
from report import Block, publish_blocks
from rivals import Array

import dikin
from dikin.experiments import source
from dikin.experiments.tables import fields, write_csv

GAMES, FIRST_GAME, WORKERS = 3, 20_000, 1
"""The seeds are those of benchmarks/memory.py from game 20,000 on: from 930000."""
READ, AHEAD = (250, 1000), 1000
DRAWS = 200
"""Queries around one centre, with which the cost of the next round is computed."""
LEAST = 1e-6
"""Of its bound: a cost below this is none, as between two kinks, and has no ratio."""
CLOSE = 1.5
MOVING = ("still", "circling 10000", "jumping 1000")


class Row(NamedTuple):
    """A line of the CSV: one reading of one game."""

    loop: str
    d: int
    noise: float
    declared: str
    game: int
    rounds: int
    cost: float
    """The mean cost of exploring in the rounds that were measured."""
    measured: float
    """The upper end that is printed for it."""
    curvature: float
    """What it is for a bowl of the curvature that the learner has measured over all rounds."""
    error: float
    """The least standard error of any comparison of these rounds with the centre: played in half
    of them."""
    next_cost: float
    bound: float
    next_regret: float
    outlook: float


class Play(NamedTuple):
    """A game to be played."""

    task: Task
    declared: bool


class Loop(NamedTuple):
    """What is tuned."""

    excess: Callable[[int, Array], float]
    """Of a setting over the best one, in a round."""
    noise: Callable[[int, Array], float]
    constants: dict[str, float]


# --- loops -------------------------------------------------------------------------------------


def cone(task: Task, rounds: int) -> Loop:
    """A distance from the best setting; the noise is three times as large on one side."""
    chance = chance_of(task)
    minimum, draws = chance.uniform(0.25, 0.75, task.d), chance.standard_normal(rounds)
    weights = np.linspace(1.0, 3.0, task.d)

    def noise(round: int, x: Array) -> float:
        return float(draws[round - 1]) * task.noise * (1.0 if x[0] < minimum[0] else 3.0)

    def above(round: int, x: Array) -> float:
        return float(np.linalg.norm(weights * (x - minimum)))

    return Loop(above, noise, {"lipschitz": 3.0})


def loop_of(task: Task, rounds: int) -> Loop:
    """The losses of a task, and the constant that is true for them."""
    if task.world == "cone":
        return cone(task, rounds)
    losses = (of_kind if task.table == "belief" else moving)(task, rounds).losses
    if losses.squared:
        steepest = float(np.linalg.norm(losses.matrix, 2))
        constants = {"smoothness": 2.0 * losses.scale * steepest**2}
    else:
        constants = {"lipschitz": losses.scale * float(np.linalg.norm(losses.matrix))}
    return Loop(
        lambda t, x: excess(losses, t, x),
        lambda t, x: float(losses.noise[t - 1]),
        constants,
    )


def tasks(games: int) -> Iterator[Play]:
    """Every game."""
    worlds = [("belief", str(i), kind.d, kind.noise) for i, kind in enumerate(KINDS)]
    worlds += [("drift", world, d, s) for world, d, s in product(MOVING, (2, 5), (0.05, 0.3))]
    worlds += [("drift", "cone", d, s) for d, s in product((2, 5), (0.05, 0.3))]
    for world, game, declared in product(worlds, range(games), (False, True)):
        yield Play(Task(*world, "auto", FIRST_GAME + game), declared)


def name_of(task: Task) -> str:
    """The loop in a word."""
    if task.table == "belief":
        return "bowl" if KINDS[int(task.world)].squared else "kinks"
    return {"still": "round bowl"}.get(task.world, task.world)


# --- games -------------------------------------------------------------------------------------


class Costs(NamedTuple):
    """What the rounds of a game did cost."""

    exploring: Array
    center: Array

    def note(self, loop: Loop, round: int, center: Array, point: Array) -> None:
        """Of a round; -z would have been as likely as z."""
        self.center[round - 1] = loop.excess(round, center)
        pair = loop.excess(round, point) + loop.excess(round, 2.0 * center - point)
        self.exploring[round - 1] = 0.5 * pair - self.center[round - 1]


def play(game: Play) -> list[Row]:
    """One game and its readings."""
    logging.getLogger("dikin").setLevel(logging.ERROR)
    task, rounds = game.task, READ[-1] + AHEAD
    loop = loop_of(task, rounds)
    parameters = {f"x{i}": dikin.Real(0, 1) for i in range(task.d)}
    constants: dict[str, Any] = loop.constants if game.declared else {}
    tuner = dikin.Tuner(parameters, seed=FIRST_SEED + task.game, **constants)
    costs, rows = Costs(np.zeros(rounds), np.zeros(rounds)), []
    for round in range(1, rounds + 1):
        center, trial = tuner.center, tuner.ask()
        costs.note(loop, round, center, trial.point)
        tuner.tell(trial, loop.excess(round, trial.point) + loop.noise(round, trial.point))
        if round in READ:
            rows.append(reading(game, loop, tuner, costs))
    total = costs.exploring + costs.center
    return [
        row._replace(next_regret=six_digits(total[row.rounds : row.rounds + AHEAD].sum()))
        for row in rows
    ]


def reading(game: Play, loop: Loop, tuner: dikin.Tuner, costs: Costs) -> Row:
    """What the tuner says now, and what is true."""
    task, status, rounds = game.task, tuner.summary(), tuner.rounds
    seen = status.exploring_rounds
    figures = (
        costs.exploring[rounds - seen : rounds].mean(),
        status.exploring_measured,
        as_a_bowl(tuner.learner),
        2.0 * status.surprise / sqrt(seen),
        next_cost(loop, tuner),
        status.exploring_cost,
        0.0,
        status.outlook,
    )
    declared = next(iter(loop.constants)) if game.declared else "nothing"
    place = name_of(task), task.d, task.noise, declared, task.game, rounds
    return Row(*place, *map(six_digits, figures))


def as_a_bowl(learner: dikin.Predictive) -> float:
    """Half the measured curvature times the mean square of what is added to the centre."""
    n, d = learner._n, learner.domain.dim
    rise, spread = n.centres.rise[0], n.centres.spread[0]
    return learner.units.regret(float(0.5 * rise / spread * learner._trace(n.shift) / d))


def next_cost(loop: Loop, tuner: dikin.Tuner) -> float:
    """What exploring costs in the next round, by many queries of a copy around the same centre."""
    copy, round = dikin.Tuner.restore(tuner.state()), tuner.rounds
    costs = Costs(np.zeros(1), np.zeros(1))
    found = []
    for trial in copy.ask(n=DRAWS):
        costs.note(
            loop._replace(excess=lambda _, x: loop.excess(round, x)), 1, copy.center, trial.point
        )
        found.append(costs.exploring[0])
    return float(np.mean(found))


# --- what is seen ------------------------------------------------------------------------------


def share(flags: NDArray[Any]) -> str:
    return f"{100 * flags.mean():.0f} %"


def close(figures: Array, truth: Array) -> Array:
    return np.asarray((figures > truth / CLOSE) & (figures < truth * CLOSE))


def groups(rows: list[Row], declared: bool) -> Iterator[tuple[str, list[Row]]]:
    """The readings of each kind of loop, noise and number of rounds."""
    chosen = [row for row in rows if (row.declared != "nothing") == declared]
    for key in dict.fromkeys((row.loop, row.noise, row.rounds) for row in chosen):
        loop, noise, rounds = key
        title = f"{loop}, noise {noise:g}, {rounds:,} rounds"
        yield title, [row for row in chosen if (row.loop, row.noise, row.rounds) == key]


def column(rows: list[Row], name: str) -> Array:
    return np.array([getattr(row, name) for row in rows])


def spread_text(ratios: Array) -> str:
    return f"{np.median(ratios):.2g} ({ratios.min():.2g} to {ratios.max():.2g})"


def measured_block(rows: list[Row]) -> Block:
    """Nothing declared: the upper end, and estimates that are not printed by a tuner."""
    texts, held, nearby, sure = [], list[bool](), list[bool](), list[bool]()
    for title, group in groups(rows, False):
        cost = column(group, "cost")
        upper, error = column(group, "measured") / cost, column(group, "error") / cost
        near = close(column(group, "curvature"), column(group, "next_cost"))
        held, nearby, sure = [*held, *(upper >= 1)], [*nearby, *near], [*sure, *(error < 0.25)]
        texts.append(
            [title, spread_text(upper), share(upper < 1), share(near), f"{np.median(error):.2g}"]
        )
    notes = [
        f"The cost lay in the interval in {share(np.array(held))} of {len(held)} readings.",
        "Half the measured curvature times the square of what is explored was within a factor of "
        f"{CLOSE} of the cost in {share(np.array(nearby))}.",
        "A comparison with the centre, played in half of the rounds, would have a standard error "
        f"below a quarter of the cost in {share(np.array(sure))}.",
    ]
    head = [
        "measured: nothing declared",
        "upper end / cost",
        "cost above it",
        f"as a bowl, within {CLOSE}",
        "standard error / cost",
    ]
    return Block("measured", head, texts, notes)


def declared_block(rows: list[Row]) -> Block:
    """The true constant declared: the bound of the next round, and the outlook."""
    texts, above, beyond = [], list[bool](), list[bool]()
    for title, group in groups(rows, True):
        bound, cost = column(group, "bound"), column(group, "next_cost")
        costs = cost > LEAST * bound
        outlook = column(group, "outlook") / column(group, "next_regret")
        if not title.startswith("jumping"):
            beyond = [*beyond, *(outlook < 1)]
        above = [*above, *(bound < cost)]
        close_to = share((outlook > 1 / CLOSE) & (outlook < CLOSE))
        ratios = bound[costs] / cost[costs]
        texts.append([title, spread_text(ratios), spread_text(outlook), close_to])
    notes = [
        f"The cost of the next round was above its bound in {share(np.array(above))} of "
        f"{len(above)} readings.",
        f"The regret of the next {AHEAD:,} rounds was above the outlook in "
        f"{share(np.array(beyond))} of {len(beyond)} readings of loops that do not jump.",
    ]
    head = [
        "declared: the true constant declared",
        "bound / cost of the next round",
        f"outlook / regret of the next {AHEAD:,}",
        f"outlook within {CLOSE}",
    ]
    return Block("declared", head, texts, notes)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", type=int, default=GAMES, help="of each kind (%(default)s)")
    parser.add_argument("--out", type=Path, help="a folder for the CSV")
    parser.add_argument("--page", type=Path, help="a page whose tables are written anew")
    chosen = parser.parse_args()
    played = play_parallel(play, list(tasks(chosen.games)), WORKERS)
    rows = [row for game in played for row in game]
    if chosen.out is not None:
        chosen.out.mkdir(parents=True, exist_ok=True)
        write_csv(chosen.out / "outlook.csv", fields(*Row._fields), rows)
        source.record(chosen.out / "outlook.csv", {"games": chosen.games}, source.TUNERS)
    publish_blocks([measured_block(rows), declared_block(rows)], chosen.page)


if __name__ == "__main__":
    main()
