"""Theorem 2 of docs/mathematics.md: above what its proof adds up on real runs.

The learners play, and the terms of section 5.3 are added up round by round, from dense matrices:
what the theorem replaces by OPT_T. Wrong theorems, each with a term left out, must fail.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
import pytest

import dikin
from dikin.theory import rates
from paper.charts import holds
from paper.runs import Record
from theory import lemmas

ORDER = {"smooth": rates.SMOOTH, "lipschitz": rates.LIPSCHITZ}


def terms(kind: str, sigmas: Any, dim: int, nu: float, constant: float) -> list[float]:
    """The terms of the display but its 8: lambda_0/2, OPT_T, the barrier's and the cap's."""
    q = rates.target(ORDER[kind], dim, constant)
    best, _ = lemmas.minimum(ORDER[kind], q, sigmas, q)
    rounds, cap = len(sigmas), 3 * dim * nu * log(len(sigmas))
    if kind == "smooth":
        return [q / 2, 6.2 * best, 3.2 * dim * sqrt(nu * rounds * log(rounds)), cap]
    last = q + float(lemmas.adaptive(ORDER[kind], q, sigmas, q).sum() + np.sum(sigmas))
    inverse_rate = dim ** (4 / 3) * (constant + 1) ** (-2 / 3) * last ** (1 / 3)
    return [q / 2, 6.3 * best, nu * log(rounds) * inverse_rate, cap]


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


@pytest.mark.parametrize("kind", ORDER)
def test_it_bounds_what_its_proof_adds_up_on_real_runs(kind: str) -> None:
    games = [played(kind, game) for game in GAMES.values()]

    def check(bound: Callable[..., float]) -> None:
        for game in games:
            assert max(game.added_up, game.certificate) <= bound(terms(kind, *game.arguments))

    def without(i: int) -> Callable[..., float]:
        return lambda terms: 8 + sum(terms) - terms[i]

    holds(check, lambda terms: 8 + sum(terms), *map(without, range(4)))
