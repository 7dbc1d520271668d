"""Each term of the certificate, in expectation over one round's direction, without any sampling.

Both signs of an orthonormal basis integrate quadratics exactly over the sphere of directions, and
scaled by sqrt(d/(d+2)) over the ball inside it; see `test_unbiased`. tau = tr(H^-1) is the one that
the shipped ellipsoids report.
"""

from collections.abc import Callable, Iterator
from functools import partial
from math import exp, log, log1p, sqrt
from typing import Any

import numpy as np
import pytest

from dikin.learners.adaptive import Adaptive
from paper.averages import (
    Loss,
    estimate,
    on_the_way,
    plane,
    played,
    regularisation,
    sphere,
    standing,
    trace_of,
)
from paper.charts import Array, Chart, holds, interior
from paper.runs import SETS

both = pytest.mark.parametrize("kind", ["smooth", "lipschitz"])
flat_or_line = pytest.mark.parametrize("name", [n for n in SETS if SETS[n].dim <= 2])


def bend(y: Array, a: Array, sigma: float, size: float) -> tuple[Loss, float, float]:
    """sigma/2 |u|^2 + 0.3 ln cosh(m a.(u - o))/m, its smoothness and its slope.

    The bend is sharp and lies half the way to the surface of an ellipsoid of that size.
    """
    o, m = y - 0.5 * size * a, 8 / size

    def loss(u: Array) -> float:
        x = abs(m * float(a @ (u - o)))
        return sigma / 2 * float(u @ u) + 0.3 * (x + log1p(exp(-2 * x)) - log(2)) / m

    return loss, sigma + 0.3 * m, sigma + 0.3


def rounds(learner: Adaptive) -> Iterator[tuple[Loss, float, float, Array, float]]:
    """Losses that bend near y in some direction, their constants, E[g] and E f(x)."""
    told, dim, basis = half_of_the_largest(learner), learner.domain.dim, plane(learner)
    size = sqrt(trace_of(learner) / dim)
    for way in sphere(dim, 4):
        loss, beta, slope = bend(standing(learner), way, learner.units.curvature(told), size)
        noises = [basis @ s for s in sphere(dim, 120)]
        estimates = [estimate(learner, noise, loss, told) for noise in noises]
        seen = float(np.mean([loss(played(learner, noise)[2]) for noise in noises]))
        yield loss, beta, slope, np.mean(estimates, axis=0), seen


def half_of_the_largest(learner: Adaptive) -> float:
    return 0.5 * learner.curvature_limit[0]


def check_round(price: Callable[..., float], learner: Adaptive, played_out: list[Any]) -> None:
    """E f(x) - f(u) <= E[g].(y-u) - (sigma+lambda)/2 |y-u|^2 + lambda/2 (|u|^2-|y|^2) + price."""
    y, dim, told = standing(learner), learner.domain.dim, half_of_the_largest(learner)
    sigma, lam = learner.units.curvature(told), regularisation(learner, told)
    tau = trace_of(learner)
    for loss, beta, slope, mean, seen in played_out:
        for u in [y, *interior(Chart(learner.domain), 8)]:
            away = y - u
            bound = float(mean @ away) - (sigma + lam) / 2 * float(away @ away)
            bound += lam / 2 * float(u @ u - y @ y) + price(beta, slope, sigma, tau, dim)
            assert seen - loss(u) <= bound + 1e-9


def smooth_price(beta: float, slope: float, sigma: float, tau: float, dim: int) -> float:
    return beta / 2 * tau / dim + (beta - sigma) / 2 * tau / (dim + 2)


def lipschitz_price(beta: float, slope: float, sigma: float, tau: float, dim: int) -> float:
    return slope * sqrt(tau / dim) - sigma / 2 * tau / (dim + 2)


@both
@flat_or_line
def test_certificate_price_of_a_round_without_leaving_the_set(kind: str, name: str) -> None:
    """By quadrature, for every u of the set; the loss is asked for inside the set alone.

    The losses bend sharply: without a price the bound is false.
    """
    learner = on_the_way(kind, SETS[name])
    check = partial(check_round, learner=learner, played_out=list(rounds(learner)))
    right = smooth_price if kind == "smooth" else lipschitz_price
    holds(check, right, lambda *_: 0.0)
