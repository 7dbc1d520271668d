"""Can a loop show that its loss is not convex? False alarms and power of a test, in whole loops.

For a convex loss that stays, the slope rises along any way: the regression of the estimated slopes
on the centres, which `Predictive(memory="auto")` keeps as its measured curvature, does not fall but
for chance. The test holds that the loss is not convex when

    rise < 0  and  rise^2 > (noise + first) ln((noise/first + 1)/(2 alpha)^2)

with `rise` the sum of the products of both deviations from their means, `noise` the sum of squares
of its terms and `first` that of the first reading: Theorem 17 of docs/mathematics.md, one-sided, so
that it may be looked at in every reading. Loops of 1 000 rounds on a box, read every 25 rounds.
Seeds, losses, noise and numbers of loops were fixed before the first run. A minute.

    python benchmarks/convexity.py [--out FOLDER] [--page PAGE]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from itertools import product
from math import exp, floor, log, sqrt
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

from report import Block, publish_blocks

import dikin
from dikin.engine.play import compiled_rounds, plain_rounds
from dikin.engine.progress import Progress
from dikin.environments.base import Environment
from dikin.experiments.tables import fields, write_csv

ROUNDS, STEP, SEED, ALPHA = 1000, 25, 92_000, 0.05
NOISE = (0.02, 0.1, 0.5)
"""Standard deviations; losses vary by about 1."""
DIMENSIONS = (1, 2, 4)
LOOPS = 200
"""Of each loss, its dimension and noise by turns."""
CONVEX = ("bowl", "cone", "linear", "hinge", "quartic", "flat", "valley", "drop", "corner", "elbow")
OTHERS = ("two valleys", "far valley", "saddle", "step", "stairs", "hill")

Array = np.typing.NDArray[np.float64]


class LossKernel(NamedTuple):
    """A loss of one coordinate, or of two, a small bowl of the others, and noise."""

    which: int
    noise: float

    def value(self, round: int, chance: float, x: Array) -> float:
        a, b = x[0], x[x.size - 1]
        rest = 0.0
        for i in range(1, x.size):
            rest += 0.3 * (x[i] - 0.2) ** 2
        loss, which = rest, self.which
        if which == 0:  # bowl
            loss = rest + 0.5 * (a - 0.3) ** 2
        elif which == 1:  # cone
            loss = 0.7 * sqrt((a - 0.2) ** 2 + rest)
        elif which == 2:  # linear
            loss = 0.4 * a + 0.1 * b
        elif which == 3:  # hinge
            loss = rest + max(a - 0.1, 0.0) + 0.5 * max(-a - 0.4, 0.0)
        elif which == 4:  # quartic
            loss = rest + 0.4 * (a + 0.3) ** 4
        elif which == 5:  # flat
            loss = 0.0
        elif which == 6:  # valley, askew
            loss = 0.3 * (a + b - 0.3) ** 2
        elif which == 7:  # drop: level, then steeply up
            loss = rest + exp(6.0 * (a - 0.9))
        elif which == 8:  # corner
            loss = max(0.8 * a, 0.2 * b - 0.3 * a, -b - 0.2)
        elif which == 9:  # elbow: steep far away, nearly level here
            loss = rest + max(0.02 * a, 0.8 * (a - 0.5), -0.8 * (a + 0.7))
        elif which == 10:  # two valleys, the start between them
            loss = rest + 2.0 * (a * a - 0.36) ** 2 + 0.05 * a
        elif which == 11:  # far valley: the start is in the shallow one
            loss = rest - 0.4 * exp(-16.0 * a * a) - 0.8 * exp(-16.0 * (a - 0.7) ** 2)
        elif which == 12:  # saddle
            loss = 0.5 * (a - 0.1) ** 2 - 0.5 * (b - 0.05) ** 2
        elif which == 13:  # step, at some distance
            loss = rest + 1.0 / (1.0 + exp(-20.0 * (a + 0.35)))
        elif which == 14:  # stairs
            loss = rest + 0.25 * floor(4.0 * a)
        else:  # hill: the start is near its top
            loss = rest - 0.6 * (a - 0.1) ** 2
        return loss + self.noise * sqrt(12.0) * (chance - 0.5)

    def strong_convexity(self, round: int) -> float:
        return 0.0

    def accumulate(self, round: int, chance: float, sums: Array) -> None:
        return


class Losses(Environment):
    """A loop with such a loss; nobody asks for the best point."""

    comparator_sums = 1

    def __init__(self, dim: int, name: str, noise: float, seed: int) -> None:
        super().__init__(dikin.Box(dim * [-1], dim * [1]), seed)
        self.kernel: LossKernel = LossKernel((*CONVEX, *OTHERS).index(name), noise)

    def best(self) -> tuple[Array, float]:
        raise NotImplementedError

    @classmethod
    def examples(cls, domain: object, seed: int) -> Iterator[Self]:
        yield from ()


def reading(learner: Any) -> tuple[float, float]:
    """The rise of the estimates along the centres, and its noise."""
    centres = learner._state.numbers.centres
    return centres.rise[0], centres.noise[0]


class Loop(NamedTuple):
    """What came of a loop: whether there was an alarm, and the least rise in standard errors."""

    alarm: bool
    least: float


def loop(dim: int, name: str, noise: float, seed: int) -> Loop:
    world = Losses(dim, name, noise, seed)
    learner = dikin.Predictive(world.domain, memory="auto", seed=seed)
    advance = compiled_rounds(learner, world) or plain_rounds(learner, world)
    first, alarm, least = 0.0, False, 0.0
    for _ in range(ROUNDS // STEP):
        advance(STEP)
        rise, noisy = reading(learner)
        if noisy <= 0.0:
            continue
        first = first or noisy
        limit = (noisy + first) * log((noisy / first + 1.0) / (2.0 * ALPHA) ** 2)
        alarm |= rise < 0.0 and rise * rise > limit
        least = min(least, rise / sqrt(noisy))
    return Loop(alarm, least)


class Row(NamedTuple):
    """A line of the CSV."""

    loss: str
    convex: bool
    loops: int
    alarms: int
    least: float
    """The median of the least rise, in standard errors."""


def measure(name: str, progress: Callable[[int], None]) -> Row:
    kinds = list(product(DIMENSIONS, NOISE))
    found = []
    for i in range(LOOPS):
        found.append(loop(*_kind(kinds, i, name), SEED + i))
        progress(1)
    alarms, least = sum(each.alarm for each in found), np.median([each.least for each in found])
    return Row(name, name in CONVEX, LOOPS, alarms, round(float(least), 2))


def _kind(kinds: list[tuple[int, float]], i: int, name: str) -> tuple[int, str, float]:
    dim, noise = kinds[i % len(kinds)]
    return dim, name, noise


def block(rows: list[Row]) -> Block:
    head = [
        f"convexity: loops in which a test of {100 * ALPHA:g} % finds the loss not convex",
        *("loops", "alarms", "least rise of the slope, in standard errors"),
    ]
    convex = [row for row in rows if row.convex]
    total = Row(
        f"convex: {', '.join(CONVEX)}",
        True,
        sum(row.loops for row in convex),
        sum(row.alarms for row in convex),
        float(np.median([row.least for row in convex])),
    )
    lines = [
        [row.loss, f"{row.loops:,}", f"{100 * row.alarms / row.loops:.1f} %", f"{row.least:.1f}"]
        for row in (total, *(row for row in rows if not row.convex))
    ]
    kinds = f"Boxes of {DIMENSIONS} dimensions, noise of {NOISE}".replace("(", "").replace(")", "")
    return Block("convexity", head, lines, [f"{kinds}, {ROUNDS:,} rounds; medians of the least."])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, help="a folder for the CSV")
    parser.add_argument("--page", type=Path, help="a page whose table is written anew")
    chosen: Any = parser.parse_args()
    names = (*CONVEX, *OTHERS)
    with Progress(len(names) * LOOPS, True) as progress:
        rows = [measure(name, progress.move) for name in names]
    if chosen.out is not None:
        chosen.out.mkdir(parents=True, exist_ok=True)
        write_csv(chosen.out / "convexity.csv", fields(*Row._fields), rows)
    publish_blocks([block(rows)], chosen.page)


if __name__ == "__main__":
    main()
