"""Dense domains against linear algebra, the loop against slower ways, two workers against one."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.linalg import cho_factor
from timing import Row, best_of, pretty

import dikin
from dikin.engine.play import compiled_rounds

TESTS = Path(__file__).resolve().parent.parent / "tests"


def rows() -> Iterator[Row]:
    yield polytope_row()
    yield from literal_rows()
    yield workers_row()


def polytope_row() -> Row:
    d, m, rounds = 50, 200, 200
    rng = np.random.default_rng(0)
    A = np.vstack([rng.standard_normal((m - 2 * d, d)), np.eye(d), -np.eye(d)])
    domain = dikin.Polytope(A, np.ones(m))
    learner = dikin.AdaptiveSmooth(domain, 1.0, seed=1)
    weights = rng.random(m) + 1

    def play() -> None:
        for _ in range(rounds):
            query = learner.ask()
            learner.tell(query, 0.5 * float(np.tanh(query.point[0])), 0.1)

    def algebra() -> None:
        for _ in range(rounds):
            cho_factor(A.T @ (weights[:, None] * A))

    ours, theirs = best_of(8, play, algebra)
    return Row(
        f"ask + tell, polytope, d={d}, m={m}",
        f"{pretty(ours / rounds)} a round",
        f"one A'WA and Cholesky, {pretty(theirs / rounds)}",
        ours / theirs,
        "<= 5",
    )


def literal_rows() -> Iterator[Row]:
    """The compiled loop against the literal algorithm in R^{d+1}, and against a convex solver."""
    d, rounds = 10, 20_000
    world = dikin.Ridge(dikin.Ball(d), 1.0, 0.1, seed=1)
    learner = dikin.AdaptiveSmooth(dikin.Ball(d), 1.0, loss_range=world.loss_range, seed=1)
    advance = compiled_rounds(learner, world)
    assert advance is not None
    advance(100)
    (ours,) = best_of(8, lambda: advance(rounds))
    literal, replayed = literal_seconds(d)
    yield Row(
        f"literal algorithm in R^{d + 1}, ball",
        f"{pretty(literal)} a round (mean of {replayed})",
        f"compiled round, {pretty(ours / rounds)}",
        literal / (ours / rounds),
        ">= 1000",
    )
    solver = solver_seconds(d)
    yield Row(
        "the update by CVXPY and Clarabel",
        f"{pretty(solver)} a solve",
        f"compiled round, {pretty(ours / rounds)}",
        solver / (ours / rounds),
    )


def literal_seconds(d: int, rounds: int = 60) -> tuple[float, int]:
    sys.path.insert(0, str(TESTS))
    from reference import barriers, lifted

    world = dikin.Ridge(dikin.Ball(d), 1.0, 0.1, seed=1)
    learner = dikin.AdaptiveSmooth(dikin.Ball(d), 1.0, loss_range=world.loss_range, seed=1)
    units = learner.units
    barrier = barriers.Normalised(barriers.BallBarrier(np.zeros(d), 1.0), units.radius)
    schedule = lifted.SharpSmooth(d, 1.0, units.curvature(1.0), None)
    reference = lifted.Lifted(barrier, schedule)
    seconds = 0.0
    for _ in range(rounds):
        query = learner.ask()
        loss, curvature = world.answer(query.point)
        learner.tell(query, loss, curvature)
        start = time.perf_counter()
        reference.replay(query.point, units.loss(loss), units.curvature(curvature))
        seconds += time.perf_counter() - start
    return seconds / rounds, rounds


def solver_seconds(d: int) -> float:
    import cvxpy as cp

    rng = np.random.default_rng(0)
    x, slack, pull = cp.Variable(d), cp.Variable(), rng.standard_normal(d)
    objective = pull @ x + 2.0 * cp.sum_squares(x) - 3.0 * cp.log(slack)
    problem = cp.Problem(cp.Minimize(objective), [cp.sum_squares(x) + slack <= 1])
    (seconds,) = best_of(5, lambda: problem.solve(solver=cp.CLARABEL))
    return seconds


def workers_row() -> Row:
    def world(seed: int) -> dikin.Environment:
        return dikin.Ridge(dikin.Ball(2), 1.0, 0.1, seed=seed)

    def learner(seed: int) -> dikin.Learner:
        return dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, loss_range=world(0).loss_range, seed=seed)

    def sweep(workers: int) -> None:
        dikin.replicate(learner, world, 10_000_000, 8, workers)

    dikin.replicate(learner, world, 10, 2, 2)  # the workers' start-up is not the sweep's
    one, two = best_of(2, lambda: sweep(1), lambda: sweep(2))
    return Row(
        "8 games of 10^7 rounds, two workers",
        f"{pretty(two)}",
        f"one worker, {pretty(one)}",
        one / two,
        ">= 1.8",
    )
