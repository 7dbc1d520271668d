"""Covariates: what they save where they explain the noise, and what they cost where they do not.

OPPerTune's problem with five settings and a bowl with ten, with noise of 0.2 and of 1 times what
the start costs, 2,000 rounds. A covariate explains none, 0.9 or 0.99 of the noise's variance; or
four useless ones are told (two numbers, an hour, a word). Prints the mean regret a round in per
cent of that of the start, and its ratio to that without covariates, for the same noise.

    python benchmarks/covariates.py [--games N] [--useless N]
"""

from __future__ import annotations

import argparse
import logging
import sys
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

from comparison import play_parallel
from oppertune import PROBLEMS, Problem, squares

import dikin

ROUNDS, GAMES, USELESS_GAMES, FIRST_SEED, WORKERS = 2000, 8, 48, 70_000, 2
BOWL = Problem(0, 100, 10 * (50,), 5 * (20, 80), squares)
KINDS = {
    "OPPerTune d = 5": PROBLEMS["5 settings"],
    "bowl d = 10": BOWL,
}
NOISES = (0.2, 1.0)
SHARES = {"none": 0.0, "R² = 0.9": 0.9, "R² = 0.99": 0.99}
USELESS = "useless"


class Task(NamedTuple):
    """One game."""

    kind: str
    noise: float
    told: str
    game: int


def covariates(task: Task, round: int, load: float, others: Any) -> dict[str, Any] | None:
    """What is told of a round."""
    if task.told == USELESS:
        hour, word = round % 24, "abc"[int(others[2] * 3)]
        return {"u": others[0], "v": others[1], "hour": hour, "word": word}
    return None if task.told == "none" else {"load": load}


def tuner(kind: str, seed: int) -> dikin.Tuner:
    return dikin.Tuner(KINDS[kind].parameters(), covariates={"hour": dikin.Cycle(24)}, seed=seed)


def play(task: Task, rounds: int = ROUNDS) -> float:
    """The mean regret a round, in per cent of that of the start."""
    logging.getLogger("dikin").setLevel(logging.ERROR)
    problem, seed = KINDS[task.kind], FIRST_SEED + task.game
    share = 0.9 if task.told in ("none", USELESS) else SHARES[task.told]
    chance, player = np.random.default_rng([seed, 1]), tuner(task.kind, seed)
    begin, total = problem.loss(np.array(problem.start)), 0.0
    normal, others = chance.normal(size=(rounds, 2)), chance.random(size=(rounds, 3))
    for round, (load, rest) in enumerate(normal.tolist()):
        trial = player.ask(covariates=covariates(task, round, load, others[round].tolist()))
        loss = problem.loss(trial.point)
        total += loss
        noise = sqrt(share) * load + sqrt(1.0 - share) * rest
        player.tell(trial, loss + task.noise * begin * noise)
    return 100.0 * total / begin / rounds


def compared(tolds: list[str], games: int) -> None:
    """Play and print: a line for each problem and noise."""
    tasks = [
        Task(kind, noise, told, game)
        for kind in KINDS
        for noise in NOISES
        for told in tolds
        for game in range(games)
    ]
    played = dict(zip(tasks, play_parallel(play, tasks, WORKERS), strict=True))
    for kind in KINDS:
        for noise in NOISES:
            found = {
                told: np.array([played[Task(kind, noise, told, game)] for game in range(games)])
                for told in tolds
            }
            print(f"{kind}, noise {noise:g}: {line(found, tolds[0])}", flush=True)


def line(found: dict[str, Any], base: str) -> str:
    """Means, ratios of means, and the standard error of the ratio by the paired games."""
    parts = []
    for told, costs in found.items():
        ratio = costs.mean() / found[base].mean()
        paired = costs - ratio * found[base]
        error = paired.std(ddof=1) / sqrt(len(costs)) / found[base].mean()
        tail = "" if told == base else f" ({ratio:.3f} ± {error:.3f})"
        parts.append(f"{told} {costs.mean():.2f}{tail}")
    return ", ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", type=int, default=GAMES, help="of each kind (%(default)s)")
    parser.add_argument(
        "--useless", type=int, default=0, help=f"games with useless ones (such as {USELESS_GAMES})"
    )
    chosen = parser.parse_args()
    if chosen.useless:
        compared(["none", USELESS], chosen.useless)
    else:
        compared([*SHARES], chosen.games)


if __name__ == "__main__":
    main()
