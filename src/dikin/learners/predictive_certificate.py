"""The certificate of `Predictive`: its sums, and the bound.

The estimates are known, and so is by how much the points around which one explored did worse, in
their sum, than the best fixed point. That is the certificate, together with what exploring costs:
nothing else enters, whatever the schedule, the levels and the centres were: docs/mathematics.md,
Theorem 13.
"""

from __future__ import annotations

from math import isfinite, nan, sqrt
from typing import Any

import numpy as np

from dikin.domains.base import Array
from dikin.kernel import compilable
from dikin.learners.predictive_state import Levels, Numbers, Plan, Sums, smoothness_of
from dikin.vectors import add_combination, multiply

ACCURACY = 1e-11
"""The least of the models is known to this, in units of the largest that it may be."""
WEIGHT_FACTOR = 1e-2
"""The weight of the barrier falls by this factor a step on the way there."""
SMALLEST = 1e-250
"""Models below this are bounded by their size: the weights on the way would underflow."""


@compilable
def exploring_price(
    plan: Plan, levels: Levels, trace: float, share: float, lipschitz_share: float
) -> tuple[float, bool]:
    """What exploring a round costs at most, and whether that is the price of a smooth loss.

    `trace` is tr(H^-1); the round has these shares of the declared constants.
    """
    smooth = share * smoothness_of(plan, levels) * plan.square_price * trace
    lipschitz = lipschitz_share * plan.lipschitz * plan.length_price * sqrt(trace)
    return (smooth, True) if smooth <= lipschitz else (lipschitz, False)


@compilable
def add_answer(
    plan: Plan,
    sums: Sums,
    g_y: float,
    y_square: float,
    tau: float,
    swing: float,
    cost: float,
    sigma: float,
) -> None:
    """What an answer adds to the sums.

    `g_y` is g.y, not clipped, and `y_square` |y|^2 at the centre of the query; `tau` is tr(H^-1)
    there, times the square of how far out it was played; `swing` is how much a loss counts that is
    not convex; `cost` is the price of exploring.
    """
    for m in range(len(plan.certified)):
        sums.rounds[m] += 1.0
        sums.g_y[m] += g_y
        sums.sigma_y_square[m] += sigma * y_square
        sums.tau[m] += tau
        sums.root_tau[m] += sqrt(tau)
        sums.swing[m] += swing
        sums.exploring[m] += cost
        sums.sigma_tau[m] += sigma * tau


@compilable
def discount(plan: Plan, n: Numbers, estimates: Array) -> None:
    """What a round leaves of the sums before it."""
    sums, size = n.sums, estimates.size // len(plan.certified)
    for m in range(len(plan.certified)):
        keep = plan.certified[m]
        if keep < 1.0:
            sums.rounds[m] *= keep
            sums.clipped[m] *= keep
            sums.g_y[m] *= keep
            sums.sigma_y_square[m] *= keep
            sums.tau[m] *= keep
            sums.root_tau[m] *= keep
            sums.swing[m] *= keep
            sums.exploring[m] *= keep
            sums.sigma_tau[m] *= keep
            part = estimates[m * size : (m + 1) * size]
            multiply(keep, part, part)
            for c in range(plan.cells):
                n.sigma[m * plan.cells + c] *= keep


@compilable
def add_estimate(
    plan: Plan,
    n: Numbers,
    features: list[float],
    surprise: float,
    gradient: Array,
    sigma: float,
    centre: Array,
    estimates: Array,
) -> None:
    """What an answer adds to the models that the best fixed point is found with.

    `gradient` is the estimate for a surprise of 1. In a context every feature has its share.
    """
    size, first = gradient.size, first_cell(plan)
    for m in range(len(plan.certified)):
        for c in range(first, plan.cells):
            share, i = features[c], m * plan.cells + c
            if share > 0.0:
                part = estimates[i * size : (i + 1) * size]
                add_combination(share * surprise, gradient, -share * sigma, centre, part)
                n.sigma[i] += share * sigma


@compilable
def rescale_estimates(n: Numbers, factor: float, estimates: Array) -> None:
    """Multiply all estimates so far: the surprise of the first answer is known with the second."""
    multiply(factor, estimates, estimates)
    for m in range(len(n.sums.g_y)):
        n.sums.g_y[m] *= factor


@compilable
def first_cell(plan: Plan) -> int:
    """The first of the cells that a policy is made of: the one that contexts share is not."""
    return 0 if plan.cells == 1 else 1


@compilable
def certified_curvature(plan: Plan, features: list[float], sigma: float) -> float:
    """How much of a curvature counts: nothing where a context lies between features."""
    for c in range(first_cell(plan), plan.cells):
        if 0.0 < features[c] < 1.0:
            return 0.0
    return sigma


def least_of_models(geometry: Any, nu: float, linear: Array, sigma: float) -> float:
    """At most min linear.u + sigma/2 |u|^2 over the set, and less by ACCURACY only.

    The minimum with a weight w of the barrier is off by nu w at most. Closed forms give it for the
    smallest weight at once; other sets come there from the centre, with smaller and smaller ones.
    """
    with np.errstate(over="ignore"):
        most = float(np.linalg.norm(linear)) + sigma  # the set lies in the unit ball
    if not isfinite(most):
        return nan  # of sums that have overflowed nothing is known
    if most < SMALLEST:
        return -most
    last = 0.5 * ACCURACY * most / nu
    weight = last if geometry.compilable else most
    iterate, linear = geometry.start(), linear.copy()
    while True:
        geometry.solve(linear, sigma, weight, iterate)
        if weight == last:
            break
        weight = max(weight * WEIGHT_FACTOR, last)
    u = geometry.vector(iterate)
    return float(linear @ u) + 0.5 * sigma * float(u @ u) - nu * weight


def constant_term(plan: Plan, sums: Sums, m: int, cost: float) -> float:
    """What of the bound does not depend on the point to compare with."""
    total = cost - 0.5 * sums.sigma_tau[m] / (plan.dim + 2.0)
    return total + sums.g_y[m] - 0.5 * sums.sigma_y_square[m]


@compilable
def swing_of(plan: Plan, reach: float) -> float:
    """At least the mean of |1 - d s.h| over the sphere, for |h| = reach."""
    return sqrt(1.0 + plan.dim * reach * reach)


def nonconvex_price(sums: Sums, m: int, deviation: float) -> float:
    """What losses may add that are so far from convex ones: docs/mathematics.md, section 16."""
    return deviation * (sums.rounds[m] + sums.swing[m])


def bound(geometry: Any, plan: Plan, n: Numbers, estimates: Array, m: int, cost: float) -> float:
    """Theorem 13 for one of the memories, where exploring cost that much."""
    size, total = geometry.size, constant_term(plan, n.sums, m, cost)
    for c in range(first_cell(plan), plan.cells):
        i = m * plan.cells + c
        linear = estimates[i * size : (i + 1) * size]
        total -= least_of_models(geometry, plan.nu, linear, n.sigma[i])
    return total
