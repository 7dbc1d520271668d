"""Four small studies of what a live loop meets: outliers, drift, a start, unequal sides.

Each round a learner is asked for a setting and told one measured loss. It is told nothing else but
the set of settings, unless its name says otherwise. Losses are least, and then 0, at the best
setting of the round, so that their sum without the noise is the regret. Prints tables, and writes
every game (CSV) and a picture of the drift.
"""

from __future__ import annotations

import argparse
import logging
import warnings
from collections.abc import Callable, Iterator
from math import inf, pi
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from comparison import COLOURS, band, legend_below, new_figure, play_parallel, save
from report import Results, publish_blocks, write_results

import dikin
from evidence.external import CMA

WORKERS, MARKS = 2, 100
NOISE = 0.05
"""The standard deviation of a measurement; the losses of a bowl are about 1 at the boundary."""
FAULT = 1e6

Array = np.typing.NDArray[np.float64]


class Loop(NamedTuple):
    """What is tuned."""

    domain: dikin.Domain
    loss: Callable[[int, Array], float]
    """Of a round and a point, without noise; 0 at the best point of the round."""
    noise: Array
    """What is added to the loss of each round when it is measured."""
    smoothness: float = inf
    """Of the losses, for a learner that must be told."""
    start: Array | None = None
    """Today's setting."""


class Player(NamedTuple):
    """Who tunes, and what it is told."""

    make: Callable[[Loop, int], dikin.Learner]
    curvature: float = 0.0
    """Told in every round."""
    most: float = inf
    """The largest loss that it can be told."""


class Study(NamedTuple):
    """Players, each in every setting."""

    name: str
    settings: dict[str, Callable[[int, int], Loop]]
    """Each made from a seed and a number of rounds."""
    players: dict[str, Player]
    rounds: int
    games: int
    measure: str = "regret"


# --- who plays --------------------------------------------------------------------------------


def predictive(memory: int | None = None) -> Callable[[Loop, int], dikin.Learner]:
    return lambda loop, seed: dikin.Predictive(loop.domain, memory=memory, seed=seed)


def from_start(loop: Loop, seed: int) -> dikin.Learner:
    return dikin.Predictive(loop.domain, start=loop.start, seed=seed)


def adaptive(loop: Loop, seed: int) -> dikin.Learner:
    # It may warn of sides as unequal as those of the last study, where this is measured.
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        return dikin.AdaptiveSmooth(loop.domain, loop.smoothness, loss_range=None, seed=seed)


WIDEST = 4.0
"""More than any loss of a bowl with its noise."""


def cma(loop: Loop, seed: int) -> dikin.Learner:
    return CMA(loop.domain, loss_range=(-1.0, WIDEST), seed=seed)


PREDICTIVE = {"Predictive": Player(predictive())}
ADAPTIVE = {"AdaptiveSmooth, told the smoothness": Player(adaptive)}
# It ranks losses: the largest that it can be told stands for everything above.
PYCMA = {"CMA of pycma, told the range": Player(cma, most=WIDEST)}
MEMORIES = {"Predictive": None, "memory 4000": 4000, "memory 1000": 1000}
TOLD = ", told the curvature"
DRIFTERS = {name: Player(predictive(memory)) for name, memory in MEMORIES.items()} | {
    name + TOLD: Player(predictive(memory), curvature=1.0) for name, memory in MEMORIES.items()
}


# --- what they tune ---------------------------------------------------------------------------


def measured(rounds: int, seed: int) -> Array:
    """The noise of the measurements."""
    return NOISE * np.random.default_rng(seed).standard_normal(rounds)


def bowl(sides: Array, depth: Array, noise: Array) -> Loop:
    """Half the squared distance to a point of a box, every half side being one unit of length."""
    half, best = sides / 2, sides * depth

    def loss(round: int, x: Array) -> float:
        v = (x - best) / half
        return 0.5 * float(v @ v)

    return Loop(dikin.Box(0 * sides, sides), loss, noise, smoothness=float(half.min()) ** -2)


def with_faults(faults: int) -> Callable[[int, int], Loop]:
    """A noisy bowl, with that many absurd measurements in a row in the middle."""

    def make(seed: int, rounds: int) -> Loop:
        noise = measured(rounds, seed)
        noise[rounds // 2 : rounds // 2 + faults] = FAULT
        return bowl(np.array([10.0, 2.0]), np.array([0.7, 0.25]), noise)

    return make


def moving(angle: Callable[[int], float]) -> Callable[[int, int], Loop]:
    """A noisy bowl on the disc whose minimum is half way out, in a direction that may change."""

    def make(seed: int, rounds: int) -> Loop:
        angles = np.array([angle(round) for round in range(rounds)])
        minima = 0.5 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

        def loss(round: int, x: Array) -> float:
            v = x - minima[round]
            return 0.5 * float(v @ v)

        return Loop(dikin.Ball(2), loss, measured(rounds, seed), smoothness=1.0)

    return make


def sided(sides: list[float]) -> Callable[[int, int], Loop]:
    """A noisy bowl on a box of these sides."""
    return lambda seed, rounds: bowl(
        np.array(sides), np.array([0.7, 0.4, 0.25]), measured(rounds, seed)
    )


def five_parameters(start: list[float]) -> Callable[[int, int], Loop]:
    """Squared distance to a point of [1, 100]^5, measured exactly."""
    best = np.array([10.0, 50.0, 70.0, 20.0, 80.0])
    return lambda seed, rounds: Loop(
        dikin.Box(5 * [1.0], 5 * [100.0]),
        lambda _, x: float((x - best) @ (x - best)) / 1e4,
        np.zeros(rounds),
        start=np.array(start, dtype=float),
    )


def two_parameters(seed: int, rounds: int) -> Loop:
    """Absolute distances to a point of [1, 1000]^2, measured exactly."""
    best = np.array([200.0, 800.0])
    return Loop(
        dikin.Box(2 * [1.0], 2 * [1000.0]),
        lambda _, x: float(np.abs(x - best).sum()) / 1e3,
        np.zeros(rounds),
        start=np.array([400.0, 400.0]),
    )


DRIFT = Study(
    "drift",
    {
        "circles": moving(lambda t: 2 * pi * t / 10_000),
        # Three eighths of a turn: every jump is a long one.
        "jumps": moving(lambda t: 2 * pi * 3 / 8 * (t // 4000)),
        "stands still": moving(lambda _: 0.0),
    },
    DRIFTERS | ADAPTIVE | PYCMA,
    rounds=20_000,
    games=8,
)
STUDIES = [
    Study(
        "outliers",
        {"none": with_faults(0), "one of 1e6": with_faults(1), "two of 1e6": with_faults(2)},
        PREDICTIVE | ADAPTIVE | PYCMA,
        rounds=4000,
        games=8,
    ),
    DRIFT,
    Study(
        "start",
        {
            "5 parameters, a bad start": five_parameters([50, 20, 30, 70, 10]),
            "5 parameters, a good start": five_parameters([20, 40, 60, 30, 70]),
            "2 parameters": two_parameters,
        },
        {"from the centre": Player(predictive()), "from the start": Player(from_start)},
        rounds=1000,
        games=16,
        measure="% of the loss at the start",
    ),
    Study(
        "scaling",
        {"sides 1, 1, 1": sided([1, 1, 1]), "sides 0.0001, 1, 10000": sided([1e-4, 1, 1e4])},
        PREDICTIVE | ADAPTIVE,
        rounds=4000,
        games=8,
    ),
]


# --- the games --------------------------------------------------------------------------------


class Task(NamedTuple):
    """One game: the index of a study, then names."""

    study: int
    setting: str
    player: str
    seed: int


class Game(NamedTuple):
    """What came of it."""

    task: Task
    marks: Any
    """The rounds at which the regret was read."""
    regret: Array
    share: float
    """The mean loss, in units of the loss at the start; NaN where there is none."""


def play(study: Study, task: Task) -> Game:
    """One game by ask and tell."""
    # An absurd measurement is a line in the log: here it would be one for every game.
    logging.getLogger("dikin").setLevel(logging.ERROR)
    loop, player = study.settings[task.setting](task.seed, study.rounds), study.players[task.player]
    learner, losses = player.make(loop, task.seed), np.empty(study.rounds)
    for round in range(study.rounds):
        query = learner.ask()
        losses[round] = loop.loss(round, query.point)
        told = min(losses[round] + loop.noise[round], player.most)
        learner.tell(query, told, player.curvature)
    marks = np.linspace(0, study.rounds, MARKS + 1).astype(int)[1:]
    unit = np.nan if loop.start is None else loop.loss(0, loop.start)
    return Game(task, marks, np.cumsum(losses)[marks - 1], float(losses.mean() / unit))


def tasks(studies: list[Study], seed: int) -> Iterator[Task]:
    for index, study in enumerate(studies):
        seeds = range(seed, seed + study.games)
        for setting in study.settings:
            for player in study.players:
                yield from (Task(index, setting, player, each) for each in seeds)


def play_all(studies: list[Study], workers: int, seed: int) -> list[Game]:
    """Every game, with a progress bar."""
    todo = [*tasks(studies, seed)]
    return play_parallel(lambda task: play(studies[task.study], task), todo, workers)


# --- what is seen -----------------------------------------------------------------------------


def results_of(studies: list[Study], games: list[Game]) -> list[Results]:
    """The table of each study: what every game came to at its last round."""
    return [table(index, study, games) for index, study in enumerate(studies)]


def table(index: int, study: Study, games: list[Game]) -> Results:
    """A row for each player, a column for each setting."""
    values: dict[str, dict[str, list[float]]] = {}
    for game in games:
        if game.task.study == index:
            shares = study.measure != "regret"
            value = 100 * game.share if shares else float(game.regret[-1])
            row = values.setdefault(game.task.player, {})
            row.setdefault(game.task.setting, []).append(value)
    about = f"{study.measure}, {study.rounds:,} rounds"
    arrays = {
        player: {setting: np.array(found) for setting, found in row.items()}
        for player, row in values.items()
    }
    return Results(study.name, about, arrays, min(game.task.seed for game in games))


DRAWN = {
    "Predictive": ("Predictive", "blue", "-"),
    "memory 4000": ("Predictive, memory 4000", "green", "-"),
    "memory 1000": ("Predictive, memory 1000", "grey", "-"),
    "Predictive" + TOLD: ("Predictive, told the curvature", "blue", "--"),
    "AdaptiveSmooth, told the smoothness": ("AdaptiveSmooth", "orange", "-"),
    "CMA of pycma, told the range": ("CMA of pycma", "purple", "-"),
}
"""The players of the picture: label, colour, style of line."""


def draw(studies: list[Study], games: list[Game], file: Path) -> None:
    """Regret over rounds where the minimum moves, one panel for each way of moving."""
    index = next(i for i, study in enumerate(studies) if study.name == DRIFT.name)
    study = studies[index]
    figure, panels = new_figure(1, len(study.settings), height=3.0, sharey=True)
    for axes, setting in zip(panels, study.settings, strict=True):
        for player, (_, colour, style) in DRAWN.items():
            mine = [game for game in games if game.task[:3] == (index, setting, player)]
            regrets = np.array([game.regret for game in mine])
            band(axes, mine[0].marks, regrets, COLOURS[colour], style)
        axes.set(yscale="log", xlim=(0, study.rounds), xlabel="rounds")
        axes.set_title(f"The minimum {setting}", loc="left")
        axes.grid(axis="y", alpha=0.25, linewidth=0.5)
    panels[0].set_ylabel("regret against the moving minimum")
    legend_below(figure, {name: (COLOURS[colour], style) for name, colour, style in DRAWN.values()})
    save(figure, file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("loops"), help="folder to write to")
    parser.add_argument("--page", type=Path, help="a page whose tables are written anew")
    parser.add_argument("--seed", type=int, default=0, help="of the first game (%(default)s)")
    options = parser.parse_args()
    games = play_all(STUDIES, WORKERS, options.seed)
    results, file = results_of(STUDIES, games), options.out / "loops.csv"
    write_results(results, file)
    # The guide shows the tables; who is how far ahead stands in their marks alone.
    publish_blocks([each.block()._replace(notes=[]) for each in results], options.page)
    draw(STUDIES, games, file.with_name("drift.png"))
    print(f"Wrote {file} and {file.with_name('drift.png')}")


if __name__ == "__main__":
    main()
