"""A bound on the regret of one run of `Predictive`, at all times together.

A round's regret and its estimate differ by more than their means do by

    D_t(u) = X_t(u) - E X_t(u),    X_t(u) = r_t - ghat_t.(y_t - u),

a martingale for every u. X_t is affine in u, so its square is a quadratic, and the sum of squares
is kept as one matrix. docs/mathematics.md, section 16, has the theorem and its proof.
"""

from __future__ import annotations

from math import inf, log, log1p, nan, sqrt
from typing import Any, NamedTuple

import numpy as np

from dikin.domains.base import Array
from dikin.kernel import compilable
from dikin.learners.predictive_certificate import least_of_models
from dikin.learners.predictive_state import Plan, Run
from dikin.vectors import add_square, dot

LARGEST_SIZE = 64
"""Entries of a vector up to which the matrix is kept: a round costs as many squared."""
SPREAD = 0.5
"""epsilon: the deviation at u is averaged over a ball of this radius around u. It costs
d ln(1 + 1/epsilon) for the ball, and more variance the larger it is."""
RATES = tuple(2.0 ** (-1.5 - 0.5 * k) for k in range(1, 25))
"""lambda: no larger one is below 1/c in two dimensions; the last is right for a sum of squares of
10^9."""


class Model(NamedTuple):
    """The mean certificate as a function of u: constant - linear.u - curvature/2 |u|^2."""

    constant: float
    linear: Array
    curvature: float


def first_moments(plan: Plan, size: int) -> Array:
    """Room for the matrix where there is a bound for one run, else nothing."""
    sized = size <= LARGEST_SIZE and plan.cells == 1
    return np.zeros((size + 1) ** 2 if sized and plan.widest < inf and plan.keep == 1.0 else 0)


@compilable
def add_answer(
    plan: Plan,
    run: Run,
    values: tuple[float, float],
    where: tuple[float, float, float],
    gradient: Array,
    moments: Array,
) -> None:
    """What an answer adds.

    `values` are its forecast b and its surprise r; `where` is g.y, |y| and the root of the largest
    eigenvalue of H; `gradient` is g, the estimate for a surprise of 1.
    """
    if moments.size == 0:
        return
    (forecast, surprise), (g_y, distance, stiffness) = values, where
    possible = plan.dim * stiffness * (distance + 1.0 + SPREAD)
    run.largest = max(run.largest, (1.0 + abs(forecast)) * (1.0 + possible))
    length = (1.0 + SPREAD) * sqrt(dot(gradient, gradient))
    run.deepest = max(run.deepest, abs(surprise) * length - surprise * (1.0 - g_y))
    run.losses += forecast + surprise + 1.0
    add_square(surprise * surprise, 1.0 - g_y, gradient, moments)


def quadratic_price(rate: float, deepest: float) -> float:
    """psi_h(lambda)/lambda: what a unit of the sum of squares costs."""
    x = rate * deepest
    if x < 1e-4:
        return rate * (0.5 + x / 3.0 + x * x / 4.0 + x**3)  # the series, rounded up
    return rate * (-log1p(-x) - x) / (x * x)


def bound(
    geometry: Any, plan: Plan, run: Run, moments: Array, centre: Array, model: Model, failure: float
) -> float:
    """The bound that fails at some time with that probability at most.

    `centre` may be any point: the quadratic is expanded there.
    """
    if moments.size == 0:
        return nan
    size = centre.size
    matrix = moments.reshape(size + 1, size + 1)
    steepest = float(np.linalg.eigvalsh(matrix[1:, 1:])[-1])
    spread = SPREAD**2 / (plan.dim + 2.0) * float(np.trace(matrix[1:, 1:]))
    odds = plan.dim * log1p(1.0 / SPREAD) + log(len(RATES) / failure)
    possible = [rate for rate in RATES if rate * run.largest < 1.0]
    prices = {rate: quadratic_price(rate, run.deepest) for rate in possible}
    about = (sqrt(float(matrix[0, 0])) + sqrt(max(steepest, 0.0))) ** 2 + spread
    likely = sorted(possible, key=lambda rate: prices[rate] * about + odds / rate)
    bounds = [
        worst(geometry, plan, matrix, steepest, centre, model, prices[rate])
        + prices[rate] * spread
        + odds / rate
        for rate in likely[:3]
    ]
    return float(min([run.losses, *bounds]))


def worst(
    geometry: Any,
    plan: Plan,
    matrix: Array,
    steepest: float,
    centre: Array,
    model: Model,
    price: float,
) -> float:
    """At least the model and the price of the squares, at any u.

    With A the moments of the estimates and mu their largest eigenvalue, around the centre z

        V(u) <= V(z) + 2 (A_0 + A z).(u - z) + mu |u - z|^2,

    and where that curves more than the model does, |u|^2 is replaced by 1.
    """
    pulled = matrix[1:, 1:] @ centre
    linear = model.linear - 2.0 * price * (matrix[0, 1:] + pulled - steepest * centre)
    square = steepest * float(centre @ centre) - float(pulled @ centre)
    constant = model.constant + price * (float(matrix[0, 0]) + square)
    concavity = 0.5 * model.curvature - price * steepest
    constant += max(-concavity, 0.0)
    return constant - least_of_models(geometry, plan.nu, linear, 2.0 * max(concavity, 0.0))
