"""Theorem 2 of docs/mathematics.md: above what its proof adds up on real runs."""

from collections.abc import Callable
from math import log, sqrt
from typing import Any

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


LINE = dikin.Box([-1], [1])
MANY_ROWS = dikin.Polytope([[1], [-1]] * 10, [1] * 20)  # an interval with nu = 20
WIDE = dikin.Box([0] * 10, [1] * 10)
Game = tuple[dikin.Domain, float, int, float]
"""The domain, beta or L, the rounds, and the share of the largest curvature that is told."""
GAMES: list[Game] = [
    (WIDE, 1.5, 3, 0.0),
    (dikin.Polytope([[1], [-1]] * 40, [1] * 80), 0.0, 3, 0.0),
    (LINE, 50.0, 2000, 0.0),
    (MANY_ROWS, 4.0, 2000, 1.0),
]


def played(kind: str, game: Game) -> tuple[float, list[float]]:
    """The sum of section 5.3 or the certificate, and the terms of the theorem.

    The sum is 2 + lambda_0/2 + barrier + prices, lambda_t/2 and stability; losses are extreme.
    """
    domain, constant, rounds, share = game
    cls = {"smooth": dikin.AdaptiveSmooth, "lipschitz": dikin.AdaptiveLipschitz}[kind]
    learner = cls(domain, constant, horizon=rounds, seed=5)
    run = Record(learner).play(lambda t, y, x: ((1.0 if t % 2 else -1.0), share), rounds)
    d, units = run.dim, learner.units
    constant = units.curvature(constant) if kind == "smooth" else units.slope(constant)
    total = 2 + run.first / 2 + sum(run.lam) / 2 + run.nu * log(rounds) / run.eta[-1]
    for t, sigma in enumerate(run.sigma):
        trace = float(np.trace(np.linalg.inv(run.H[t])))
        if kind == "smooth":
            price = constant / 2 * trace / d + (constant - sigma) / 2 * trace / (d + 2)
        else:
            price = constant * sqrt(trace / d) - sigma / 2 * trace / (d + 2)
        total += price + run.round_bound(t)
    added_up = max(total, learner.certificate / units.loss_scale)
    return added_up, terms(kind, np.array(run.sigma), d, run.nu, constant)


@pytest.mark.parametrize("kind", ORDER)
def test_it_bounds_what_its_proof_adds_up_on_real_runs(kind: str) -> None:
    games = [played(kind, game) for game in GAMES]

    def check(bound: Callable[..., float]) -> None:
        for added_up, theirs in games:
            assert added_up <= bound(theirs)

    def without(i: int) -> Callable[..., float]:
        return lambda terms: 8 + sum(terms) - terms[i]

    holds(check, lambda terms: 8 + sum(terms), *map(without, range(4)))
