"""The best fixed point of a game in hindsight against a convex solver."""

from __future__ import annotations

from typing import Any

import cvxpy
import numpy as np
import pytest

import dikin
from another_solver import least_value
from environments.playing import DISC, PLATE, play
from evidence.compare.bowl import Bowl, Circling, Jumping
from evidence.compare.hostile import KINDS, Hostile

TENT = dikin.Polytope([[-1, 0, 0], [0, -1, 0], [0, 0, -1], [1, 2, 3]], [0, 0, 0, 1])


def constraints(domain: Any, x: Any) -> list[Any]:
    """A domain in the words of a convex solver."""
    match domain:
        case dikin.Ball():
            return [cvxpy.norm(x) <= 1.0]
        case dikin.Box():
            return [x >= domain.lower, x <= domain.upper]
        case dikin.Simplex():
            return [x >= 0.0, cvxpy.sum(x) == 1.0]
        case dikin.Polytope():
            return [domain.A @ x <= domain.b]
    raise AssertionError(domain)


def total(environment: dikin.Environment, played: list[tuple[int, float]], x: Any) -> float:
    return sum(float(environment.kernel.value(t, chance, np.asarray(x))) for t, chance in played)


GAMES = {
    "bowl, thin box": lambda: Bowl(PLATE, 3, scales=[0.5, 500.0]),
    "bowl, simplex": lambda: Bowl(dikin.Simplex(5), 3),
    "bowl, polytope": lambda: Bowl(TENT, 3),
    "circling": lambda: Circling(DISC, 300, 3),
    "jumping": lambda: Jumping(DISC, 40, 3),
    "jumping, line": lambda: Jumping(dikin.Box([-1.0], [1.0]), 40, 3),
    **{f"hostile, {k}": lambda k=k: Hostile(DISC, k, 130, 3) for k in KINDS},
    "hostile, simplex": lambda: Hostile(dikin.Simplex(4), "period", 130, 3),
}


def coefficients(environment: dikin.Environment, played: list[Any]) -> tuple[Any, Any, float]:
    """The sum of the losses as sum_i w_i x_i^2/2 + g.x + r, from finite differences.

    The losses are quadratics without products of entries: differences are exact but for rounding.
    Steps are taken in the user's unit vectors; the formulas of the losses do not mind a point
    outside.
    """
    center = environment.domain.center.ravel()
    size = environment.domain.inradius
    middle = total(environment, played, center)
    weights, slopes = [], []
    for unit in np.eye(center.size):
        above, below = (total(environment, played, center + s * size * unit) for s in (1, -1))
        weights.append((above + below - 2 * middle) / size**2)
        slopes.append((above - below) / (2 * size))
    w, g = np.array(weights), np.array(slopes)
    g = g - w * center
    return w, g, middle - float(w @ center**2) / 2 - float(g @ center)


@pytest.mark.parametrize("name", GAMES)
def test_the_best_fixed_point_is_a_convex_solvers(name: str) -> None:
    """To 1e-6 of the losses' range a round: the solver's own accuracy."""
    environment = GAMES[name]()
    played = play(environment, 130)
    w, g, rest = coefficients(environment, played)
    x = cvxpy.Variable(environment.domain.center.size)
    bowls = cvxpy.sum(cvxpy.multiply(np.maximum(w, 0.0), cvxpy.square(x)))
    problem = cvxpy.Problem(cvxpy.Minimize(bowls / 2 + g @ x), constraints(environment.domain, x))
    least = least_value(problem) + rest
    low, high = environment.loss_range
    point, suffered = environment.best()
    assert suffered == pytest.approx(least, abs=1e-6 * (high - low) * 130)
    assert total(environment, played, point) == pytest.approx(
        suffered, abs=1e-9 * (high - low) * 130
    )
