"""Six magnets of an accelerator, tuned by the beam loss of every shot while the machine drifts.

Played in Xopt: `dikin.adapters.gest_api.TunerGenerator` beside Xopt's own generator for machines
that drift, `ExtremumSeekingGenerator`, with its default constants and with the best ones of a grid.
Prints the mean excess of the beam loss over that of the best currents *of each shot*, and draws it.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from comparison import COLOURS, THIN, WIDE, label_ends, new_figure, play_parallel, save
from gest_api.generator import Generator
from gest_api.vocs import VOCS, ContinuousVariable
from report import Results, publish

from dikin.adapters.gest_api import TunerGenerator

Array = np.typing.NDArray[np.float64]

MAGNETS = 6
NAMES = [f"magnet {i + 1}" for i in range(MAGNETS)]
TODAY = dict.fromkeys(NAMES, 0.0)
FLATTEST, STEEPEST = 0.3, 3.0
"""The loss of a deviation of 1, in the direction that matters least and in the one that matters
most."""
SWING, CYCLES = 0.4, (1.0, 3.0)
"""How far the best current of a magnet swings, and how often from the first shot to the last."""
NOISES = (0.1, 0.3)
"""Standard deviations of a measurement."""
WORKERS = 2


class Machine:
    """The beam loss of each shot: a bowl around currents that move, and noise."""

    def __init__(self, shots: int, noise: float, seed: int) -> None:
        draws = np.random.default_rng(seed)
        axes = np.linalg.qr(draws.standard_normal((MAGNETS, MAGNETS)))[0]
        self._bowl = (axes * np.geomspace(FLATTEST, STEEPEST, MAGNETS)) @ axes.T
        self._phases = draws.uniform(0.0, 2 * np.pi, MAGNETS)
        self._cycles = draws.uniform(*CYCLES, MAGNETS)
        self._noise = noise * draws.standard_normal(shots)
        self.shots, self.played = shots, np.empty((0, MAGNETS))

    def best(self, shot: Any) -> Array:
        """The best currents of a shot, or of many."""
        turns = np.multiply.outer(shot, self._cycles) / self.shots
        return np.asarray(SWING * np.sin(self._phases + 2 * np.pi * turns))

    def excess(self, shot: int, currents: Array) -> float:
        """By how much the beam loss is above that of the best currents."""
        away = currents - self.best(shot)
        return float(away @ self._bowl @ away)

    def __call__(self, inputs: dict[str, float]) -> dict[str, float]:
        """Play a shot: what Xopt evaluates."""
        shot, currents = len(self.played), np.array([inputs[name] for name in NAMES])
        self.played = np.vstack([self.played, currents])
        return {"loss": self.excess(shot, currents) + float(self._noise[shot])}


def vocs() -> VOCS:
    """The magnets, at 0 today, and the loss."""
    variables = {
        name: ContinuousVariable(domain=[-1, 1], default_value=current)
        for name, current in TODAY.items()
    }
    return VOCS(variables=variables, objectives={"loss": "MINIMIZE"})


# --- the players ---------------------------------------------------------------------------------


def seeking(gain: float, oscillation: float) -> Callable[[int, int], Generator]:
    """Xopt's extremum seeking."""

    def make(shots: int, seed: int) -> Generator:
        from xopt.generators.sequential.extremumseeking import ExtremumSeekingGenerator

        return ExtremumSeekingGenerator(vocs=vocs(), k=gain, oscillation_size=oscillation)

    return make


def tuner(shots: int, seed: int) -> Generator:
    """Return the tuner."""
    return TunerGenerator(vocs(), seed=seed)


class KeepGenerator(Generator):  # type: ignore[misc]
    """Keeps today's currents."""

    def __init__(self, vocs: VOCS) -> None:
        self.vocs = vocs

    def _validate_vocs(self, vocs: VOCS) -> None: ...

    def suggest(self, num_points: int | None) -> list[dict[str, float]]:
        return [TODAY]


TUNER, SEEKING, TUNED, KEEP = (
    "dikin.Tuner",
    "extremum seeking, defaults",
    "extremum seeking, best constants",
    "keep today's",
)
DEFAULTS = 2.0, 0.1
"""Xopt's: the gain, and the size of the oscillation."""
BEST = {0.1: (5.0, 0.1), 0.3: (1.0, 0.2)}
"""For each noise what `--search` found."""
PLAYERS: dict[str, Callable[[float], Callable[[int, int], Generator]]] = {
    TUNER: lambda _: tuner,
    SEEKING: lambda _: seeking(*DEFAULTS),
    TUNED: lambda noise: seeking(*BEST[noise]),
    KEEP: lambda _: lambda shots, seed: KeepGenerator(vocs()),
}


# --- the games -----------------------------------------------------------------------------------


class Task(NamedTuple):
    """One game."""

    player: str
    noise: float
    shots: int
    seed: int


class Game(NamedTuple):
    """What came of it: for each shot the excess and the currents."""

    task: Task
    excess: Array
    played: Array


def play(task: Task) -> Game:
    """One game; in Xopt, where there is something to choose."""
    machine = Machine(task.shots, task.noise, task.seed)
    generator = PLAYERS[task.player](task.noise)(task.shots, task.seed)
    if task.player == KEEP:
        drive(generator, machine)
    else:
        play_in_xopt(generator, machine)
    shots = enumerate(machine.played)
    return Game(task, np.array([machine.excess(*shot) for shot in shots]), machine.played)


def play_in_xopt(generator: Generator, machine: Machine) -> None:
    """Let Xopt ask, evaluate and tell."""
    from xopt import Evaluator, Xopt

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Xopt's and those of its packages
        loop = Xopt(generator=generator, evaluator=Evaluator(function=machine))
        if not isinstance(generator, TunerGenerator):
            loop.evaluate_data([TODAY])  # extremum seeking begins where it finds the machine
        while len(machine.played) < machine.shots:
            loop.step()


def drive(generator: Generator, machine: Machine) -> None:
    """Play without Xopt: the same points, sooner."""
    point = TODAY
    while True:
        generator.ingest([point | machine(point)])
        if len(machine.played) == machine.shots:
            return
        (point,) = generator.suggest(1)


def results_of(games: list[Game]) -> Results:
    """The mean excess by player and noise."""
    values: dict[str, dict[str, Array]] = {}
    for player in PLAYERS:
        for noise in NOISES:
            mine = [g.excess.mean() for g in games if g.task[:2] == (player, noise)]
            values.setdefault(player, {})[f"noise {noise:g}"] = np.array(mine)
    shots = games[0].task.shots
    about = f"mean excess of the beam loss over {shots:,} shots"
    return Results("accelerator", about, values, min(game.task.seed for game in games))


def search(shots: int, noise: float, seeds: range) -> None:
    """Print what extremum seeking reaches with each pair of constants, in games of their own."""
    for gain in (0.5, 1.0, 2.0, 5.0, 10.0):
        for oscillation in (0.05, 0.1, 0.2, 0.4):
            means = []
            for seed in seeds:
                machine = Machine(shots, noise, seed)
                drive(seeking(gain, oscillation)(shots, seed), machine)
                means.append(np.mean([machine.excess(*shot) for shot in enumerate(machine.played)]))
            print(f"noise {noise:g}  {gain:4g}  {oscillation:4g}  {np.mean(means):.3f}", flush=True)


# --- the picture ---------------------------------------------------------------------------------

DRAWN = {
    KEEP: ("grey", "-"),
    SEEKING: ("orange", "-"),
    TUNED: ("purple", "-"),
    TUNER: ("blue", "-"),
}
"""Colour and style of line; the last one is drawn on top."""


def draw(games: list[Game], file: Path) -> None:
    """One magnet in one game, and the excess of all players, with the lesser noise."""
    shown = [game for game in games if game.task.noise == NOISES[0]]
    task = shown[0].task
    figure, (left, right) = new_figure(1, 2, height=2.9)
    truth = Machine(task.shots, 0.0, task.seed)
    shots = np.arange(task.shots)
    left.plot(shots, truth.best(shots)[:, 0], ":", color="black", linewidth=1.2)
    ends = {"best of each shot": (float(truth.best(task.shots)[0]), "black")}
    right_ends, window = {}, max(1, task.shots // 20)
    for player, (colour, style) in DRAWN.items():
        mine = [game for game in shown if game.task.player == player]
        look = {"color": COLOURS[colour], "lw": WIDE if player == TUNER else THIN}
        if player in (TUNER, TUNED):
            line = smooth(mine[0].played[:, 0], window)
            left.plot(shots[window - 1 :], line, style, **look)
            ends[player] = float(line[-1]), COLOURS[colour]
        line = smooth(np.mean([game.excess for game in mine], axis=0), window)
        right.plot(shots[window - 1 :], line, style, **look)
        right_ends[player] = float(line[-1]), COLOURS[colour]
    left.set(xlim=(0, task.shots), ylim=(-1, 1), xlabel="shot", ylabel="current")
    left.set_title(f"A magnet in one game, means of {window} shots", loc="left")
    label_ends(left, task.shots, ends)
    right.set(xlim=(0, task.shots), ylim=(0, None), xlabel="shot")
    right.set_title(f"Excess of the beam loss, means of {window} shots", loc="left")
    label_ends(right, task.shots, right_ends)
    save(figure, file)


def smooth(values: Array, window: int) -> Array:
    """Means over `window` neighbours."""
    return np.convolve(values, np.full(window, 1.0 / window), "valid")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shots", type=int, default=600, help="of each game (%(default)s)")
    parser.add_argument("--games", type=int, default=2, help="of each player (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first game (%(default)s)")
    parser.add_argument("--out", type=Path, default=Path("."), help="folder to write to")
    parser.add_argument("--page", type=Path, help="a page whose table is written anew")
    parser.add_argument(
        "--search", action="store_true", help="print the grid of constants of extremum seeking"
    )
    chosen = parser.parse_args()
    if chosen.search:
        for noise in NOISES:
            search(chosen.shots, noise, range(101, 101 + chosen.games))
        return
    tasks = [
        Task(player, noise, chosen.shots, chosen.seed + game)
        for player in PLAYERS
        for noise in NOISES
        for game in range(chosen.games)
    ]
    games = play_parallel(play, tasks, WORKERS)
    publish([results_of(games)], chosen.out / "accelerator.csv", chosen.page)
    draw(games, chosen.out / "accelerator.png")


if __name__ == "__main__":
    main()
