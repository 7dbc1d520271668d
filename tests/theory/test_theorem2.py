"""Theorem 2 of docs/mathematics.md: as printed, and above what its proof adds up on real runs.

The first derivation is the display term by term, with lambda_t found by bisection. The second plays
the shipped learners and adds up the terms of section 5.3 round by round, from dense matrices: what
the theorem replaces by OPT_T. Wrong theorems, each with a term left out, must fail.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
import pytest

import dikin
from dikin.errors import ParameterError
from dikin.theory import schedules
from dikin.theory.theorems import sharp_regret
from paper.charts import holds
from paper.runs import Record

Bound = Callable[..., float]


def made(kind: str, dim: int, constant: float) -> schedules.Setting:
    order = schedules.SMOOTH if kind == "smooth" else schedules.LIPSCHITZ
    return schedules.Setting(order, dim, constant)


BOUNDS: dict[str, Bound] = {
    "smooth": lambda s, d, nu, c: sharp_regret(schedules.Setting(schedules.SMOOTH, d, c), s, nu),
    "lipschitz": lambda s, d, nu, c: sharp_regret(
        schedules.Setting(schedules.LIPSCHITZ, d, c), s, nu
    ),
}


# --- as printed ----------------------------------------------------------------------------------


def bisected(total: float, target: float, order: int) -> float:
    """The root of lambda^k (total + lambda) = target, which lies in (0, 1) for total >= target."""
    low, high = 0.0, 1.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if middle**order * (total + middle) < target else (low, middle)
    return low


def order_and_target(kind: str, dim: int, constant: float) -> tuple[int, float]:
    order = 2 if kind == "smooth" else 3
    return order, dim**2 * (constant + 1) ** (order - 1)


def printed(kind: str, sigmas: Any, dim: int, nu: float, constant: float, best: float) -> float:
    """The display with this OPT_T, index by index."""
    rounds = len(sigmas)
    order, q = order_and_target(kind, dim, constant)
    if kind == "smooth":
        barrier = 3.2 * dim * sqrt(nu * rounds * log(rounds)) + 3 * dim * nu * log(rounds)
        return 8 + q / 2 + 6.2 * best + barrier
    total = q
    for sigma in sigmas:
        total += sigma
        total += bisected(total, q, order)
    rate = 3 * dim + dim ** (4 / 3) * (constant + 1) ** (-2 / 3) * total ** (1 / 3)
    return 8 + q / 2 + 6.3 * best + nu * log(rounds) * rate


def problems() -> list[tuple[Any, int, float, float]]:
    """Curvatures, dimension, nu and constant."""
    t = np.arange(1, 14)
    patterns = [np.zeros(3), np.full(13, 0.5), np.where(t <= 5, 0.0, 2.0), t**-0.5]
    return [(s, d, nu, c) for s in patterns for d, nu, c in ((1, 2.0, 0.0), (3, 3.0, 1.5))]


@pytest.mark.parametrize("kind", BOUNDS)
def test_it_is_the_display_as_printed(kind: str) -> None:
    """To 1e-9: lambda_t by bisection adds up in the rate. Its OPT_T is tested in test_schedules."""
    references = []
    for sigmas, dim, nu, constant in problems():
        setting = made(kind, dim, constant)
        best = setting.minimum(sigmas, setting.target)[0]
        references.append(printed(kind, sigmas, dim, nu, constant, best))

    def check(bound: Bound) -> None:
        for problem, reference in zip(problems(), references, strict=True):
            assert bound(*problem) == pytest.approx(reference, rel=1e-9)

    f = BOUNDS[kind]
    holds(
        check,
        f,
        lambda s, d, nu, c: f(s, d, nu, c) - 1,
        lambda s, d, nu, c: f(np.r_[s[1:], 0], d, nu, c),  # sigma_{2:t} for sigma_{1:t}
        lambda s, d, nu, c: f(s, d, nu**2, c),
        lambda s, d, nu, c: f(s, d, nu, c + 1),
        BOUNDS["lipschitz" if kind == "smooth" else "smooth"],
    )


@pytest.mark.parametrize("bound", BOUNDS.values())
def test_refusals(bound: Bound) -> None:
    for sigmas in ([], [0.0, 1.0], [[0.0, 1.0, 1.0]], 0.5):
        with pytest.raises(ParameterError, match="three or more rounds"):
            bound(sigmas, 2, 1.0, 1.0)
    with pytest.raises(ParameterError, match="round 2"):
        bound([0.0, -1.0, 0.0], 2, 1.0, 1.0)


# --- on real runs --------------------------------------------------------------------------------


class Game(NamedTuple):
    """What is played: the domain, beta or L, the rounds, and how much curvature is told."""

    domain: dikin.Domain
    constant: float
    rounds: int
    share: float


LINE = dikin.Box([-1], [1])
MANY_ROWS = dikin.Polytope([[1], [-1]] * 10, [1] * 20)  # an interval with nu = 20
WIDE = dikin.Box([0] * 10, [1] * 10)
GAMES = {
    "short, many dimensions": Game(WIDE, 1.5, 3, 0.0),
    "short, many rows": Game(dikin.Polytope([[1], [-1]] * 40, [1] * 80), 0.0, 3, 0.0),
    "long, without curvature": Game(LINE, 50.0, 2000, 0.0),
    "long, many rows": Game(MANY_ROWS, 4.0, 2000, 1.0),
}


def extremes(share: float) -> Any:
    """The two extreme losses in turn, with a share of the largest curvature."""
    return lambda t, y, x: ((1.0 if t % 2 else -1.0), share)


class Played(NamedTuple):
    """A run, as the theorem and as its proof see it."""

    arguments: tuple[Any, ...]
    added_up: float
    certificate: float


def played(kind: str, game: Game) -> Played:
    """The sum of section 5.3: 2 + lambda_0/2 + barrier + prices, lambda_t/2 and stability."""
    cls = {"smooth": dikin.AdaptiveSmooth, "lipschitz": dikin.AdaptiveLipschitz}[kind]
    learner = cls(game.domain, game.constant, horizon=game.rounds, seed=5)
    run = Record(learner).play(extremes(game.share), game.rounds)
    d, units = run.dim, learner.units
    constant = units.curvature(game.constant) if kind == "smooth" else units.slope(game.constant)
    total = 2 + run.first / 2 + sum(run.lam) / 2 + run.nu * log(game.rounds) / run.eta[-1]
    for t, sigma in enumerate(run.sigma):
        trace = float(np.trace(np.linalg.inv(run.H[t])))
        if kind == "smooth":
            price = constant / 2 * trace / d + (constant - sigma) / 2 * trace / (d + 2)
        else:
            price = constant * sqrt(trace / d) - sigma / 2 * trace / (d + 2)
        total += price + run.round_bound(t)
    arguments = (np.array(run.sigma), d, run.nu, constant)
    return Played(arguments, total, learner.certificate / units.loss_scale)


def without(kind: str) -> list[Bound]:
    """The theorem with one of its terms left out."""
    f, make = BOUNDS[kind], partial(made, kind)

    def first(d: int, c: float) -> float:
        return d**2 * (c + 1) if kind == "smooth" else d**2 * (c + 1) ** 2

    def barrier(s: Any, d: int, nu: float, c: float) -> float:
        if kind == "smooth":
            return 3.2 * d * sqrt(nu * len(s) * log(len(s)))
        opt = make(d, c).minimum(s, first(d, c))[0]
        return f(s, d, nu, c) - 8 - first(d, c) / 2 - 6.3 * opt - 3 * d * nu * log(len(s))

    best = 6.2 if kind == "smooth" else 6.3
    return [
        lambda s, d, nu, c: f(s, d, nu, c) - first(d, c) / 2,
        lambda s, d, nu, c: f(s, d, nu, c) - best * make(d, c).minimum(s, first(d, c))[0],
        lambda s, d, nu, c: f(s, d, nu, c) - barrier(s, d, nu, c),
        lambda s, d, nu, c: f(s, d, nu, c) - 3 * d * nu * log(len(s)),
    ]


@pytest.mark.parametrize("kind", BOUNDS)
def test_it_bounds_what_its_proof_adds_up_on_real_runs(kind: str) -> None:
    games = [played(kind, game) for game in GAMES.values()]

    def check(bound: Bound) -> None:
        for game in games:
            assert max(game.added_up, game.certificate) <= bound(*game.arguments)

    holds(check, BOUNDS[kind], *without(kind))
