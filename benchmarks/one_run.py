"""How often one run has more regret than its bound, and how wide that bound is.

Ten games, half of them on the disc and half on other domains: smooth, Lipschitz, noisy, drifting
and hostile, each played many times. After each of a few numbers of rounds the regret of the run is
compared with `certificate_for(confidence=0.95)`: *exceeded* is the share of the runs in which it
was larger even once. Then a game that hides its slope by losses that are not convex. About ten
minutes on one core for 2 000 runs of each game.

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
from dikin.domains.base import Domain
from dikin.domains.newton import minimise
from dikin.engine.play import compiled_rounds, plain_rounds
from dikin.engine.progress import Progress
from dikin.environments.base import Environment
from dikin.experiments.tables import fields, write_csv

RUNS, SEED = 2000, 29_000
"""Seeds, games, rounds and numbers of runs were fixed before the first run."""
READINGS = (20, 50, 100, 200, 350, 500, 750, 1000)
"""Rounds after which the bound is read."""
CONFIDENCE = 0.95
TIP = 0.02
"""How far from its lowest point a cone is rounded."""
EXACT = 1e-9
"""How far, relative to the number of rounds, the least total may be below the true one."""

Array = np.typing.NDArray[np.float64]


# --- the games -----------------------------------------------------------------------------------


class LossKernel(NamedTuple):
    """o + s_t.x + q/2 |z|^2 + k sqrt(|z|^2 + tip^2) with z = M (x - w_t), noisy or by lot."""

    offset: float
    slopes: Array
    targets: Array
    matrix: Array
    bend: float
    cone: float
    told: float
    """The curvature that is told."""
    noise: float
    low: float
    """With a lot: what is told is this or 1, in the mean the loss. Above 1: no lot."""

    def value(self, round: int, chance: float, x: Array) -> float:
        t, square = round - 1, 0.0
        mean: float = self.offset
        for i in range(x.size):
            mean += self.slopes[t, i] * x[i]
        for i in range(self.matrix.shape[0]):
            entry = 0.0
            for j in range(x.size):
                entry += self.matrix[i, j] * (x[j] - self.targets[t, j])
            square += entry * entry
        mean += 0.5 * self.bend * square + self.cone * sqrt(square + TIP * TIP)
        if self.low > 1.0:
            return mean + self.noise * (2.0 * chance - 1.0)
        return 1.0 if chance * (1.0 - self.low) < mean - self.low else self.low

    def strong_convexity(self, round: int) -> float:
        return self.told

    def accumulate(self, round: int, chance: float, sums: Array) -> None:
        return


class Losses(Environment):
    """The game of such losses, all of them in [-1, 1]."""

    comparator_sums = 1
    loss_range = (-1.0, 1.0)

    def __init__(self, domain: Domain, kernel: LossKernel, seed: int) -> None:
        super().__init__(domain, seed)
        self.kernel: LossKernel = kernel

    def best(self) -> tuple[Array, float]:
        return least_total(self.domain, self.kernel, self.rounds)

    @classmethod
    def examples(cls, domain: object, seed: int) -> Iterator[Self]:
        yield from ()


def least_total(domain: Domain, kernel: LossKernel, rounds: int) -> tuple[Array, float]:
    """The best fixed point of the first rounds, and a number just below its mean losses.

    At the minimiser of F/T + w psi, F is within nu w T of its minimum: that much is taken off.
    """
    basis = np.array([domain.outward(row).ravel() for row in np.eye(domain.dim)])
    slope = kernel.slopes[:rounds].mean(axis=0)
    targets, counts = np.unique(kernel.targets[:rounds], axis=0, return_counts=True)
    shares, rows = counts / rounds, kernel.matrix
    v, weight = np.zeros(domain.dim), 1.0

    def away(v: Array) -> tuple[Array, Array]:
        z = (domain.point(v).ravel() - targets) @ rows.T
        return z, np.sqrt((z * z).sum(axis=1) + TIP**2)

    while weight * domain.nu > EXACT:
        weight /= 4

        def gradient(v: Array, w: float = weight) -> Array:
            z, root = away(v)
            pull = (shares * (kernel.bend + kernel.cone / root)) @ z @ rows + slope
            found: Array = domain.gradient(v) + basis @ pull / w
            return found

        def hessian(v: Array, w: float = weight) -> Array:
            z, root = away(v)
            inner = (shares * (kernel.bend + kernel.cone / root)).sum() * np.eye(len(rows))
            inner -= (z.T * (shares * kernel.cone / root**3)) @ z
            within = basis @ rows.T
            found: Array = domain.hessian(v) + within @ inner @ within.T / w
            return found

        v, decrement = minimise(domain.barrier, gradient, hessian, v)
        if not decrement < 0.1:
            raise SystemExit(f"the best fixed point was not found: decrement {decrement:.1e}")
    z, root = away(v)
    mean = shares @ (0.5 * kernel.bend * (z * z).sum(axis=1) + kernel.cone * root)
    mean += kernel.offset + slope @ domain.point(v).ravel()
    return domain.point(v), rounds * (float(mean) - EXACT)


class Game(NamedTuple):
    """Losses on a domain, and what the learner is told of them."""

    about: str
    domain: Domain
    kernel: LossKernel
    constant: dict[str, Any]
    bests: tuple[float, ...]
    """The least total loss after each reading."""


def game(
    about: str,
    domain: Domain,
    constant: str,
    *,
    targets: Array | None = None,
    slopes: Array | None = None,
    matrix: Array | None = None,
    **numbers: float,
) -> Game:
    """A game whose constant of that name is computed from its losses."""
    size, none = domain.center.size, np.zeros((READINGS[-1], domain.center.size))
    chosen = {"offset": 0.0, "bend": 0.0, "cone": 0.0, "told": 0.0, "noise": 0.0, "low": 2.0}
    kernel = LossKernel(
        slopes=none if slopes is None else slopes,
        targets=none if targets is None else targets,
        matrix=np.eye(size) if matrix is None else matrix,
        **(chosen | numbers),
    )
    stretch = float(np.linalg.norm(kernel.matrix, 2))
    known = kernel.bend * stretch**2
    if constant == "lipschitz":
        steepest = float(np.linalg.norm(kernel.slopes, axis=1).max())
        known = known * domain.diameter + kernel.cone * stretch + steepest
    bests = tuple(least_total(domain, kernel, rounds)[1] for rounds in READINGS)
    return Game(about, domain, kernel, {constant: known}, bests)


def all_games() -> dict[str, Game]:
    rounds = READINGS[-1]
    t, rng = np.arange(rounds), np.random.default_rng(SEED)
    disc, way = dikin.Ball(2), np.array([0.6, 0.8])
    still = np.tile([0.4, 0.2], (rounds, 1))
    signs = rng.choice([-1.0, 1.0], size=rounds)
    square = dikin.Box([-1, -1], [1, 1])
    jumps = np.where((t // 150 % 2)[:, None] == 0, [0.5, -0.3], [-0.5, 0.1])
    four, three = dikin.Simplex(4), np.array([[7, 1, 1, 1], [1, 6, 2, 1], [1, 2, 1, 6]]) / 10
    ball, circle = dikin.Ball(5), 2 * np.pi * t / 400
    drift = 0.5 * np.stack([np.cos(circle), np.sin(circle), *(3 * [0.5 + 0 * t])], axis=1)
    slab, turns = dikin.Box([0, 0, 0], [2, 1, 1]), np.where(t // 100 % 3 == 0, -1.0, 1.0)
    return {
        "noisy": game(
            "a bowl on the disc, noise of up to 0.6",
            disc,
            "smoothness",
            targets=still,
            bend=0.5,
            offset=-0.2,
            noise=0.6,
        ),
        "curved": game(
            "the same, its curvature told",
            disc,
            "smoothness",
            targets=still,
            bend=0.5,
            offset=-0.2,
            noise=0.6,
            told=0.5,
        ),
        "cone": game(
            "1 or -1 on the disc, in the mean a cone",
            disc,
            "lipschitz",
            targets=still,
            cone=0.5,
            offset=-0.2,
            low=-1.0,
        ),
        "signs": game(
            "slopes of random sign on the disc",
            disc,
            "smoothness",
            slopes=0.9 * signs[:, None] * way,
        ),
        "late": game(
            "nothing on the disc for 900 rounds, then a slope",
            disc,
            "smoothness",
            slopes=np.where(t < 900, 0.0, 0.9)[:, None] * way,
            noise=0.1,
        ),
        "valley": game(
            "a valley askew in a square, which jumps",
            square,
            "smoothness",
            targets=jumps,
            matrix=np.array([[1.0, 1.0], [0.3, -0.3]]),
            bend=0.25,
            offset=-0.3,
            noise=0.3,
        ),
        "shares": game(
            "1 or -1 on the simplex, in the mean a ridge",
            dikin.Simplex(3),
            "smoothness",
            targets=np.tile([0.5, 0.2, 0.3], (rounds, 1)),
            matrix=np.array([[1.0, -1.5, 0.5], [0.4, 0.4, -0.8]]),
            bend=0.7,
            offset=-0.5,
            low=-1.0,
        ),
        "cones": game(
            "cones askew on a simplex, at one of three places by chance",
            four,
            "lipschitz",
            targets=three[rng.choice(3, size=rounds, p=[0.5, 0.3, 0.2])],
            matrix=np.array([[1.0, -0.6, 0.3, 0.0], [0.2, 0.5, -1.0, 0.3], [0.0, 0.4, 0.4, -0.8]]),
            cone=0.5,
            offset=-0.4,
            noise=0.3,
        ),
        "drift": game(
            "1 or -0.4 in a ball of five dimensions, the minimum goes round",
            ball,
            "smoothness",
            targets=drift,
            matrix=np.eye(5) + np.eye(5, k=1) - 0.5 * np.eye(5, k=2),
            bend=0.12,
            offset=-0.35,
            low=-0.4,
        ),
        "turns": game(
            "a ridge across a long box, and a slope that turns round",
            slab,
            "lipschitz",
            targets=np.tile([1.2, 0.3, 0.6], (rounds, 1)),
            slopes=turns[:, None] * np.array([0.05, 0.1, -0.1]),
            matrix=np.array([[0.5, 1.0, -1.0]]),
            bend=0.2,
            offset=-0.2,
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
    world = Losses(chosen.domain, chosen.kernel, seed)
    learner = dikin.Predictive(chosen.domain, **chosen.constant, loss_range=(-1, 1), seed=seed)
    advance = compiled_rounds(learner, world) or plain_rounds(learner, world)
    found, before = [], 0
    for rounds, best in zip(READINGS, chosen.bests, strict=True):
        advance(rounds - before)
        before = rounds
        bound = learner.certificate_for(**chosen.constant, confidence=CONFIDENCE)
        mean = learner.certificate_for(**chosen.constant)
        regret = world.total_loss - best
        found.append((regret, bound, mean, world.total_loss + rounds))
    return np.array(found)


def measure(name: str, chosen: Game, runs: int, progress: Callable[[int], None]) -> Row:
    found = []
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


def run_block(rows: list[Row], games: dict[str, Game]) -> Block:
    head = [
        f"run: regret above the bound of {100 * CONFIDENCE:g} % at some time",
        *("runs", "exceeded", "mean certificate exceeded", "bound / regret"),
        *("mean certificate / regret", "says more than the range"),
    ]
    lines = [
        [
            f"{row.game}: {games[row.game].about}",
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
        rows = [measure(*each, chosen.runs, progress.move) for each in games.items()]
    if chosen.out is not None:
        chosen.out.mkdir(parents=True, exist_ok=True)
        write_csv(chosen.out / "runs.csv", fields(*Row._fields), rows)
        write_csv(chosen.out / "hidden.csv", fields(*Hidden._fields), hidden)
    publish_blocks([run_block(rows, games), hidden_block(hidden)], chosen.page)


if __name__ == "__main__":
    main()
