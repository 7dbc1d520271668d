"""How often one run has more regret than its bound, and how wide that bound is.

Ten games on the disc, smooth, Lipschitz, noisy and hostile, each played many times. After each of a
few numbers of rounds the regret of the run is compared with `certificate_for(confidence=0.95)`:
*exceeded* is the share of the runs in which it was larger even once. Then a game that hides its
slope by losses that are not convex. About ten minutes on one core for 2 000 runs of each game.

    python benchmarks/one_run.py [--runs N] [--out FOLDER] [--page PAGE]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from math import sqrt
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

RUNS, SEED = 2000, 29_000
"""Seeds, games, rounds and numbers of runs were fixed before the first run."""
READINGS = (20, 50, 100, 200, 350, 500, 750, 1000)
"""Rounds after which the bound is read."""
CONFIDENCE = 0.95
DISC = dikin.Ball(2)
TARGET = np.array([0.4, 0.2])
WAY = np.array([0.6, 0.8])

Array = np.typing.NDArray[np.float64]


# --- the games -----------------------------------------------------------------------------------


class LossKernel(NamedTuple):
    """o_t + g_t.x + q_t/2 |x|^2 + k |x - target|, with noise or as one of two values by lot."""

    offsets: Array
    slopes: Array
    bends: Array
    kink: float
    told: float
    """How much of q_t is told as curvature."""
    noise: float
    low: float
    """With a lot: what is told is this or 1, in the mean the loss. Above 1: no lot."""

    def value(self, round: int, chance: float, x: Array) -> float:
        t, square, apart = round - 1, 0.0, 0.0
        mean: float = self.offsets[t]
        for i in range(x.size):
            mean += self.slopes[t, i] * x[i]
            square += x[i] * x[i]
            apart += (x[i] - 0.4 + 0.2 * i) ** 2
        mean += 0.5 * self.bends[t] * square + self.kink * sqrt(apart)
        if self.low > 1.0:
            return mean + self.noise * (2.0 * chance - 1.0)
        return 1.0 if chance * (1.0 - self.low) < mean - self.low else self.low

    def strong_convexity(self, round: int) -> float:
        return self.told * float(self.bends[round - 1])

    def accumulate(self, round: int, chance: float, sums: Array) -> None:
        return


class Losses(Environment):
    """The game of such losses, all of them in [-1, 1]."""

    comparator_sums = 1
    loss_range = (-1.0, 1.0)

    def __init__(self, kernel: LossKernel, seed: int) -> None:
        super().__init__(DISC, seed)
        self.kernel: LossKernel = kernel

    def best(self) -> tuple[Array, float]:
        return least_total(self.kernel, self.rounds)

    @classmethod
    def examples(cls, domain: object, seed: int) -> Iterator[Self]:
        yield from ()


def least_total(kernel: LossKernel, rounds: int) -> tuple[Array, float]:
    """The best fixed point of the first rounds, and its mean losses.

    Where there is a kink, it is the only part of the loss that depends on the point.
    """
    offset = float(kernel.offsets[:rounds].sum())
    if kernel.kink > 0.0:
        return TARGET, offset
    slope, bend = kernel.slopes[:rounds].sum(axis=0), float(kernel.bends[:rounds].sum())
    point = -slope / max(bend, float(np.linalg.norm(slope)), 1e-300)
    return point, offset + float(slope @ point) + 0.5 * bend * float(point @ point)


class Game(NamedTuple):
    """Losses, and what the learner is told of them."""

    about: str
    kernel: LossKernel
    constant: dict[str, Any]


def game(
    about: str,
    constant: dict[str, float],
    targets: Array | None = None,
    slopes: Array | None = None,
    **noise: float,
) -> Game:
    """Bowls of curvature 0.5 around the targets, or linear losses."""
    rounds, none = READINGS[-1], np.zeros(READINGS[-1])
    chosen = {"kink": 0.0, "told": 0.0, "noise": 0.0, "low": 2.0} | noise
    if targets is not None:
        offsets = 0.25 * (targets**2).sum(axis=1) - 0.2
        kernel = LossKernel(offsets, -0.5 * targets, np.full(rounds, 0.5), **chosen)
    else:
        flat = np.zeros((rounds, 2)) if slopes is None else slopes
        kernel = LossKernel(none - (0.2 if slopes is None else 0.0), flat, none, **chosen)
    return Game(about, kernel, constant)


def all_games() -> dict[str, Game]:
    rounds = READINGS[-1]
    t, rng = np.arange(rounds), np.random.default_rng(SEED)
    still, signs = np.tile(TARGET, (rounds, 1)), rng.choice([-1.0, 1.0], size=rounds)
    switched = np.where((t // 150 % 2)[:, None] == 0, TARGET, -TARGET)
    smooth, lipschitz, linear = {"smoothness": 0.5}, {"lipschitz": 0.5}, {"smoothness": 0.0}
    return {
        "still": game("a bowl, no noise", smooth, still),
        "noisy": game("noise of up to 0.6", smooth, still, noise=0.6),
        "curved": game("the same, its curvature told", smooth, still, noise=0.6, told=1.0),
        "by lot": game("1 or -1 in the mean of a bowl", smooth, still, low=-1.0),
        "rare": game("1 or -0.3 in the mean of a bowl", smooth, still, low=-0.3),
        "kink": game("a cone, noise of up to 0.5", lipschitz, kink=0.5, noise=0.5),
        "kink by lot": game("1 or -1 in the mean of a cone", lipschitz, kink=0.5, low=-1.0),
        "switches": game("the minimum jumps", smooth, switched, noise=0.4),
        "signs": game("slopes of random sign", linear, slopes=0.9 * signs[:, None] * WAY),
        "late": game(
            "nothing for 900 rounds, then a slope",
            linear,
            slopes=np.where(t < 900, 0.0, 0.9)[:, None] * WAY,
            noise=0.1,
        ),
    }


# --- how often the bound fails -------------------------------------------------------------------


class Row(NamedTuple):
    """A line of the CSV."""

    game: str
    runs: int
    exceeded: int
    """Runs in which the regret was above the bound after one of the readings."""
    mean_exceeded: int
    """The same for the certificate of the mean, which does not promise it."""
    bound: float
    """Medians of bound, certificate and regret after the last round."""
    certificate: float
    regret: float
    informative: float
    """The share of runs in which the bound is less than losses can be above the least possible."""


def one_run(chosen: Game, seed: int) -> Array:
    """Regret, bound and certificate at every reading, and the sum of losses above -1."""
    world = Losses(chosen.kernel, seed)
    learner = dikin.Predictive(DISC, **chosen.constant, loss_range=(-1, 1), seed=seed)
    advance = compiled_rounds(learner, world) or plain_rounds(learner, world)
    found, before = [], 0
    for rounds in READINGS:
        advance(rounds - before)
        before = rounds
        bound = learner.certificate_for(**chosen.constant, confidence=CONFIDENCE)
        mean = learner.certificate_for(**chosen.constant)
        regret = world.total_loss - world.best()[1]
        found.append((regret, bound, mean, world.total_loss + rounds))
    return np.array(found)


def measure(name: str, runs: int, progress: Callable[[int], None]) -> Row:
    chosen, found = all_games()[name], []
    for seed in range(SEED, SEED + runs):
        found.append(one_run(chosen, seed))
        progress(1)
    regret, bound, mean, losses = np.moveaxis(np.array(found), 2, 0)
    last = [round(float(np.median(each[:, -1])), 2) for each in (bound, mean, regret)]
    return Row(
        name,
        runs,
        exceeded=int((regret > bound).any(axis=1).sum()),
        mean_exceeded=int((regret > mean).any(axis=1).sum()),
        bound=last[0],
        certificate=last[1],
        regret=last[2],
        informative=round(float((bound[:, -1] < losses[:, -1] - 1e-9).mean()), 4),
    )


def run_block(rows: list[Row]) -> Block:
    head = [
        f"run: regret above the bound of {100 * CONFIDENCE:g} % at some time",
        *("runs", "exceeded", "mean certificate exceeded", "bound / regret"),
        *("mean certificate / regret", "says more than the range"),
    ]
    about = all_games()
    lines = [
        [
            f"{row.game}: {about[row.game].about}",
            f"{row.runs:,}",
            f"{100 * row.exceeded / row.runs:.1f} %",
            f"{100 * row.mean_exceeded / row.runs:.1f} %",
            f"{row.bound / row.regret:.1f}",
            f"{row.certificate / row.regret:.1f}",
            f"{100 * row.informative:.0f} %",
        ]
        for row in rows
    ]
    rounds = f"{READINGS[-1]:,}"
    note = f"Ratios of medians after {rounds} rounds; read after {', '.join(map(str, READINGS))}."
    return Block("run", head, lines, [note])


# --- losses that are not convex ------------------------------------------------------------------

SLOPE, HIDDEN_ROUNDS, HIDDEN_RUNS = 0.3, 400, 20
DEVIATIONS = (0.0, 0.05, 0.1, 0.25)


class Hidden(NamedTuple):
    """A line of the CSV."""

    deviation: float
    runs: int
    regret: float
    certificate: float
    with_nonconvexity: float


def hidden_slope(deviation: float, seed: int) -> tuple[float, float, float]:
    """Regret, certificate and certificate with `nonconvexity`, where the slope is hidden.

    The loss is 0.3 x on [-1, 1], made level around the centre by at most the deviation, and less by
    as much at the far end.
    """

    def told(x: float, centre: float) -> float:
        hidden = float(np.clip(SLOPE * (x - centre), -deviation, deviation))
        return SLOPE * x - (deviation if x < -0.95 else hidden)

    learner = dikin.Predictive(dikin.Ball(1), 0.0, loss_range=(-1, 1), seed=seed)
    total = below = 0.0
    for _ in range(HIDDEN_ROUNDS):
        centre, query = float(learner.center[0]), learner.ask()
        loss = told(float(query.point[0]), centre)
        below += told(-1.0, centre)
        total += loss
        learner.tell(query, loss)
    plain = learner.certificate_for(smoothness=0.0)
    return total - below, plain, learner.certificate_for(smoothness=0.0, nonconvexity=deviation)


def hidden_rows(progress: Callable[[int], None]) -> list[Hidden]:
    rows = []
    for deviation in DEVIATIONS:
        found = []
        for seed in range(SEED, SEED + HIDDEN_RUNS):
            found.append(hidden_slope(deviation, seed))
            progress(1)
        means = (round(float(x), 2) for x in np.mean(found, axis=0))
        rows.append(Hidden(deviation, HIDDEN_RUNS, *means))
    return rows


def hidden_block(rows: list[Hidden]) -> Block:
    head = [
        f"hidden: a slope that is made level, {HIDDEN_ROUNDS} rounds, means of {HIDDEN_RUNS} runs",
        *("regret", "certificate", "with nonconvexity"),
    ]
    lines = [
        [
            f"by at most {row.deviation:g}",
            *(f"{x:.1f}" for x in (row.regret, row.certificate, row.with_nonconvexity)),
        ]
        for row in rows
    ]
    return Block("hidden", head, lines, [])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of each game ({RUNS})")
    parser.add_argument("--out", type=Path, help="a folder for the CSVs")
    parser.add_argument("--page", type=Path, help="a page whose tables are written anew")
    chosen: Any = parser.parse_args()
    games = all_games()
    with Progress(len(games) * chosen.runs + len(DEVIATIONS) * HIDDEN_RUNS, True) as progress:
        hidden = hidden_rows(progress.move)
        rows = [measure(name, chosen.runs, progress.move) for name in games]
    if chosen.out is not None:
        chosen.out.mkdir(parents=True, exist_ok=True)
        write_csv(chosen.out / "runs.csv", fields(*Row._fields), rows)
        write_csv(chosen.out / "hidden.csv", fields(*Hidden._fields), hidden)
    publish_blocks([run_block(rows), hidden_block(hidden)], chosen.page)


if __name__ == "__main__":
    main()
