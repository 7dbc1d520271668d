"""Games for tuners, beside today's tuner and pycma: what tuning costs, and where it ends.

    python evidence/rows.py --rounds 1000 --games 4 --seed 1 --kinds still --rivals tuner,cma

The cost of a game is the mean of f(x_t) - f* over its rounds, in units of the standing at the
start, each round capped at 10. One row of the CSV is one game at one number of rounds.
"""

from __future__ import annotations

import argparse
import csv
import logging
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
CAP, CHECKPOINTS = 10.0, (200, 1000, 4000, 16000)
SHAPES = ("bowl1", "bowl30", "abs1", "abs30", "huber", "norm30")
NOISES = ("none", "normal.05", "normal.5", "student.1")
WORLDS = ("drift", "circle", "walk", "jump", "season", "level_walk", "level_jumps")


class Kind(NamedTuple):
    """A kind of game: dimension, shape, noise, what moves."""

    d: int
    shape: str
    noise: str
    world: str = "still"

    def __str__(self) -> str:
        return f"{self.d}-{self.shape}-{self.noise}-{self.world}"


def kinds_named(names: str) -> list[Kind]:
    """The kinds of one or more groups, or of kinds written as in the CSV."""
    groups = {
        "still": [Kind(*each) for each in product((2, 5), SHAPES, NOISES)],
        "still2": [Kind(*each) for each in product((2,), SHAPES, NOISES)],
        "still5": [Kind(*each) for each in product((5,), SHAPES, NOISES)],
        "other": [
            Kind(*each)
            for each in product((1, 12, 20), ("bowl1", "bowl30", "abs1"), ("normal.05", "normal.3"))
        ],
        "moving": [
            Kind(2, "bowl1", noise, world)
            for world, noise in product(WORLDS, ("normal.05", "normal.3"))
        ],
    }
    kinds: list[Kind] = []
    for name in names.split(","):
        if name in groups:
            kinds += groups[name]
        else:
            d, shape, noise, world = name.split("-")
            kinds.append(Kind(int(d), shape, noise, world))
    return kinds


class Game:
    """A function on [0, 1]^d, what is measured of it, and how it moves."""

    def __init__(self, kind: Kind, seed: tuple[int, ...]) -> None:
        self.kind, d = kind, kind.d
        rng = np.random.default_rng([*seed, *str(kind).encode()])
        self.start, self.at = rng.uniform(0.15, 0.85, (2, d))
        while np.linalg.norm(self.start - self.at) < 0.25 * np.sqrt(d):
            self.start, self.at = rng.uniform(0.15, 0.85, (2, d))
        condition = 30.0 if kind.shape.endswith("30") else 1.0
        turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
        powers = np.linspace(0.0, 1.0, d) if d > 1 else np.zeros(1)
        self.root = np.sqrt(condition) ** powers[:, None] * turn
        if kind.shape.startswith("abs"):
            self.root = condition ** powers[:, None] * turn
        self.scale, self.offset = 10.0 ** rng.uniform(-2.0, 2.0), rng.normal()
        self.standing, self.center, self.noises = 1.0, self.at.copy(), rng
        self.standing = self.regret(0, self.start)
        angle = rng.uniform(0.0, 2.0 * np.pi)
        self.way = np.concatenate([[np.cos(angle), np.sin(angle)], np.zeros(max(d - 2, 0))])[:d]
        self.level, self.phase, self.moves = 0.0, angle, np.random.default_rng(rng.integers(2**32))

    def move(self, t: int) -> None:
        """What changes before round t."""
        world, rng = self.kind.world, self.moves
        if world == "drift":
            self.at = self.center + 0.3 * self.way * np.sin(t / 2000.0 + self.phase)
        elif world == "circle":
            turn = 2.0 * np.pi * t / 1000.0 + self.phase
            self.at = 0.5 + 0.25 * np.array([np.cos(turn), np.sin(turn)])
        elif world == "walk":
            self.at = np.clip(self.at + 0.004 * rng.normal(size=self.kind.d), 0.1, 0.9)
        elif world == "jump" and t % 500 == 499:
            self.at = rng.uniform(0.15, 0.85, self.kind.d)
        elif world == "season":
            self.level = np.sin(2.0 * np.pi * t / 200.0 + self.phase)
        elif world == "level_walk":
            self.level += 0.05 * rng.normal()
        elif world == "level_jumps" and t % 100 == 99:
            self.level = 2.0 * rng.normal()

    def regret(self, t: int, x: Array) -> float:
        """f(x) - f*, in units of the standing at the start."""
        shape, u = self.kind.shape, self.root @ (x - self.at)
        if shape.startswith("bowl"):
            value = 0.5 * float(u @ u)
        elif shape.startswith("abs"):
            value = float(np.abs(u).sum())
        elif shape == "huber":
            size = np.abs(u)
            value = float(np.where(size < 0.1, 5.0 * size**2, size - 0.05).sum())
        else:
            value = float(np.linalg.norm(u))
        return value / self.standing

    def measured(self, regret: float) -> float:
        """What is told: in other units, with noise."""
        name, _, size = self.kind.noise.partition(".")
        if name == "normal":
            regret += float("0." + size) * self.noises.normal()
        elif name == "student":
            regret += float("0." + size) * self.noises.standard_t(2.2)
        return float(self.scale * (regret + self.level + self.offset))


Player = Iterator[tuple[Array, Callable[[float], None], Callable[[], Array]]]


def play_tuner(game: Game, seed: int) -> Player:
    """The tuner of the package."""
    import dikin

    logging.disable(logging.WARNING)
    names = [f"x{i:02d}" for i in range(game.kind.d)]
    starts = zip(names, game.start, strict=True)
    tuner = dikin.Tuner({n: dikin.Real(0, 1, start=float(s)) for n, s in starts}, seed=seed)
    while True:
        trial = tuner.ask()
        x = np.array([trial.params[n] for n in names])
        yield (
            x,
            partial(tuner.tell, trial),
            lambda: np.array([tuner.best[n] for n in names]),
        )


def play_cma(game: Game, seed: int) -> Player:
    """CMA-ES, one setting after the other."""
    import cma

    if game.kind.d == 1:
        return
    options = {"bounds": [0, 1], "seed": seed + 1, "verbose": -9, "tolfun": 0, "tolx": 0,
               "tolfunhist": 0, "tolflatfitness": 10**9, "tolstagnation": 10**9,
               "tolfacupx": 1e99, "maxiter": 10**9, "tolconditioncov": 1e99}  # fmt: skip
    es = cma.CMAEvolutionStrategy(game.start, 0.2, options)
    while True:
        xs = es.ask()
        values: list[float] = []
        for x in xs:
            yield (
                np.asarray(x),
                values.append,
                lambda: np.clip(np.asarray(es.result.xfavorite), 0.0, 1.0),
            )
        es.tell(xs, values)


RIVALS = {"tuner": play_tuner, "cma": play_cma}


def play(task: tuple[Kind, int, int, str, int]) -> list[dict[str, Any]]:
    """One game of one rival."""
    kind, number, seed, rival, rounds = task
    game, rows, total, began = Game(kind, (seed, number)), [], 0.0, time.process_time()
    for t, (x, tell, best) in enumerate(RIVALS[rival](game, 1000 * seed + number)):
        if t in CHECKPOINTS or t == rounds:
            rows.append(
                {
                    "kind": str(kind),
                    "game": number,
                    "seed": seed,
                    "rival": rival,
                    "rounds": t,
                    "cost": total / t,
                    "final": game.regret(t, best()),
                    "ms": 1e3 * (time.process_time() - began) / t,
                }
            )
        if t == rounds:
            break
        game.move(t)
        regret = game.regret(t, x)
        total += min(regret, CAP)
        tell(game.measured(regret))
    return rows


def report(rows: list[dict[str, Any]], versus: str) -> None:
    """Geometric means, and the ratio to a rival for each kind with an interval."""
    by: dict[tuple[int, str, str], dict[tuple[int, int], dict[str, Any]]] = defaultdict(dict)
    for row in rows:
        place = row["rounds"], row["rival"], row["kind"]
        by[place][row["seed"], row["game"]] = row
    lengths, rivals = sorted({key[0] for key in by}), sorted({key[1] for key in by})
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    for t in lengths:
        print(f"\n{t} rounds: geometric mean of the kinds' mean cost (final, median), ms a round")
        for rival in rivals:
            games = {kind: [*by[t, rival, kind].values()] for kind in kinds if by[t, rival, kind]}
            costs = [np.log(np.mean([g["cost"] for g in each])) for each in games.values()]
            finals = [
                np.log(max(np.median([g["final"] for g in each]), 1e-12)) for each in games.values()
            ]
            ms = np.mean([g["ms"] for each in games.values() for g in each])
            text = f"{np.exp(np.mean(costs)):.4f} ({np.exp(np.mean(finals)):.2e})  {ms:.3f}"
            print(f"  {rival:8s} {text}")
    for t in lengths:
        print(f"\n{t} rounds: cost of {versus}, and its ratio to a rival's (95 % interval)")
        for kind in kinds:
            own, line = by[t, versus, kind], f"  {kind:30s}"
            if not own:
                continue
            line += f" {np.mean([row['cost'] for row in own.values()]):8.4f}"
            for rival in rivals:
                other = by[t, rival, kind]
                both = [key for key in own if key in other]
                if rival == versus or not both:
                    continue
                ratio = np.array([np.log(own[k]["cost"] / other[k]["cost"]) for k in both])
                mean, error = ratio.mean(), 2.0 * ratio.std() / max(len(both) - 1, 1) ** 0.5
                low, high = np.exp([mean - error, mean + error])
                line += f"   {rival} {np.exp(mean):.2f} ({low:.2f}-{high:.2f})"
            print(line)


def main() -> None:
    """Play what is not in the CSV yet, and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--games", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default="still")
    parser.add_argument("--rivals", default="tuner,cma")
    parser.add_argument("--versus", default="tuner")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("rows.csv"))
    parser.add_argument("--add", type=Path, nargs="*", default=[], help="more CSVs to compare with")
    options = parser.parse_args()
    kinds = kinds_named(options.kinds)
    tasks = [
        (kind, game, options.seed, rival, options.rounds)
        for rival in options.rivals.split(",")
        for kind in kinds
        for game in range(options.games)
        if rival
    ]
    rows: list[dict[str, Any]] = []
    with ProcessPoolExecutor(options.workers) as pool:
        for result in pool.map(play, tasks, chunksize=4):
            rows += result
    if rows:
        with options.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    for path in options.add:
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                whole = {key: int(row[key]) for key in ("game", "seed", "rounds")}
                real = {key: float(row[key]) for key in ("cost", "final", "ms")}
                rows.append({**row, **whole, **real})
    wanted = {str(kind) for kind in kinds}
    report([row for row in rows if row["kind"] in wanted], options.versus)


if __name__ == "__main__":
    main()
