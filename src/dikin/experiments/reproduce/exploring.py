"""Cost of exploring for the paper's learners, computed before any run.

lambda_t and eta_t follow from the curvature alone, and with them how far a learner explores. Once
its centre is at the minimum, a round costs as much as exploring.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from math import pi

import numpy as np

from dikin.domains.ball import Ball
from dikin.environments.kink import SharpKernel
from dikin.environments.patterns import Pattern
from dikin.experiments.reproduce.plan import TABLES, RowPattern
from dikin.learners.adaptive import Schedule, sharp_schedule
from dikin.vectors import Array

DISC = Ball(2)
POINTS = 1500
"""Rounds at which a sum is evaluated, with equal ratios; between them it is integrated."""


def slope(number: int, row: str, horizons: tuple[int, ...]) -> float:
    """The slope of the whole price, fitted as the exponents of a table are."""
    prices = whole_prices(number, row, horizons)
    return float(np.polyfit(np.log(horizons), np.log(prices), 1)[0])


@cache
def whole_prices(number: int, row: str, horizons: tuple[int, ...]) -> Array:
    """Return the cost of exploring in runs of these lengths, in half ranges of losses."""
    found = []
    for horizon in horizons:
        rounds = np.unique(np.geomspace(1, horizon, POINTS).round())
        prices = _prices(number, TABLES[number].rows[row].pattern(horizon), rounds)
        found.append(float(np.sum((prices[1:] + prices[:-1]) / 2 * np.diff(rounds))))
    return np.array(found)


def _prices(number: int, pattern: Pattern, rounds: Array) -> Array:
    """Return the cost of exploring in these rounds.

    z = H^(-1/2) s with s uniform on the circle and H = h + eta S: the mean of beta/2 (a.z)^2 is
    beta/(4 H), that of l |a.z| is (2/pi) l/sqrt(H).
    """
    table = TABLES[number]
    game = table.environment_kind(DISC, table.constant, pattern, 0)
    scale = game.loss_range[1]
    schedule = sharp_schedule(table.order, DISC.dim, DISC.nu, table.constant / scale, None)
    totals = _totals(schedule, pattern, scale, rounds)
    pairs = zip(totals.tolist(), rounds.tolist(), strict=True)
    metric = hessian() + np.array([schedule.rate(total, int(t)) * total for total, t in pairs])
    if isinstance(game.kernel, SharpKernel):
        return np.asarray(2 / pi * game.kernel.slope / scale / np.sqrt(metric))
    return np.asarray(table.constant / scale / (4 * metric))


def _totals(schedule: Schedule, pattern: Pattern, scale: float, rounds: Array) -> Array:
    """S before each of these rounds: dS/dt = sigma + lambda(S), by the mid-point rule."""
    totals = np.empty(len(rounds))
    totals[0] = total = schedule.first
    for i, (start, end) in enumerate(pairwise(rounds.tolist()), start=1):
        sigma = pattern.at(int((start + end) / 2)) / scale
        middle = total + (end - start) / 2 * (sigma + schedule.regularisation(total + sigma))
        total += (end - start) * (sigma + schedule.regularisation(middle))
        totals[i] = total
    return totals


@cache
def hessian() -> float:
    """The mean eigenvalue of the barrier's, -ln(1 - r^2), where the losses are least."""
    table = TABLES[1]
    point, _ = table.environment_kind(DISC, table.constant, RowPattern(0.0), 0).best()
    square = float(point @ point)
    return 2 / (1 - square) + 2 * square / (1 - square) ** 2
