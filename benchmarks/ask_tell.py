"""Ask and tell in plain Python against a textbook loop."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from timing import Row, best_of, pretty

import dikin
from dikin.engine.jit import COMPILE_FROM

DIM = 10
THETA = np.full(DIM, 0.1)


def loss(x: Any) -> float:
    v = x - THETA
    return 0.2 * float(v.dot(v))


def flaxman_kalai_mcmahan(rounds: int) -> None:
    """The twelve lines that everybody writes first."""
    rng = np.random.default_rng(0)
    y, delta, step = np.zeros(DIM), rounds**-0.25, 1 / math.sqrt(rounds)
    for _ in range(rounds):
        u = rng.standard_normal(DIM)
        u /= np.linalg.norm(u)
        value = loss(y + delta * u)
        y = y - step * value * u
        length = np.linalg.norm(y)
        if length > 1 - delta:
            y *= (1 - delta) / length


def ask_and_tell(rounds: int) -> None:
    learner = dikin.AdaptiveSmooth(dikin.Ball(DIM), 1.0, seed=1)
    for _ in range(rounds):
        query = learner.ask()
        learner.tell(query, loss(query.point), 0.1)


def rows() -> Iterator[Row]:
    rounds = 5000
    theirs, ours = best_of(12, lambda: flaxman_kalai_mcmahan(rounds), lambda: ask_and_tell(rounds))
    yield Row(
        f"ask + tell, ball, d={DIM}",
        f"{pretty(ours / rounds)} a round, {rounds / ours:,.0f}/s",
        f"12-line FKM loop, {pretty(theirs / rounds)}",
        ours / theirs,
        "<= 2",
    )
    yield from start_rows()


def start_rows() -> Iterator[Row]:
    """Fresh processes: importing, and the first answer."""
    first = "import dikin; dikin.AdaptiveSmooth(dikin.Ball(10), 1.0, seed=1).ask()"
    game = (
        "import dikin; w = dikin.Ridge(dikin.Ball(2), 1.0, seed=1);"
        "l = dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, loss_range=w.loss_range, seed=1);"
        f"assert dikin.play(l, w, {COMPILE_FROM}).compiled"
    )
    jobs = {
        "import dikin": ("import dikin", "<= 0.4"),
        "first ask of a process": (first, "<= 1"),
        "first compiled game of a second process": (game, "<= 2.5"),
    }
    subprocess.run([sys.executable, "-c", game], check=True)
    for name, (code, limit) in jobs.items():
        (seconds,) = best_of(5, partial(subprocess.run, [sys.executable, "-c", code], check=True))
        yield Row(name, pretty(seconds), "one second", seconds, limit)
