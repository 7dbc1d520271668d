"""A game in the user's units is the normalised game, point for point.

u = (x - c)/R, f_norm = (f - m)/B, beta_norm = beta R^2/B, sigma_norm = sigma R^2/B, L_norm = L R/B,
regret = B regret_norm. The learner on a domain somewhere, with losses in some range, and the one on
the normalised domain with normalised losses play points that are each other's images; so are their
centres, and their certificates are B to one.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import dikin
from paper.charts import Array, holds

ROUNDS = 150
TURN = np.array([[0.8, -0.6], [0.6, 0.8]])


@dataclass(frozen=True)
class Pair:
    """A domain in the user's units and the same one, moved to the origin and divided by R."""

    user: Any
    normal: Any


def pairs() -> dict[str, Pair]:
    root = np.sqrt(26)
    rows, bounds = np.array([[-1.0, 0], [0, -1], [1, 1]]), np.array([0, 0, 1.0])
    triangle = dikin.Polytope(rows, bounds)
    shifted = (bounds - rows @ triangle.center) / triangle.radius
    inner = dikin.Product(dikin.Box([-0.6], [0.6]), dikin.Ball(2, 0.8))
    outer = dikin.Product(dikin.Box([7 - 1.8], [7 + 1.8]), dikin.Ball(2, 2.4, [1, -1]))
    return {
        "box": Pair(
            dikin.Box([0, 0], [10, 2]), dikin.Box([-5 / root, -1 / root], [5 / root, 1 / root])
        ),
        "polytope": Pair(triangle, dikin.Polytope(rows, shifted)),
        "product": Pair(outer, inner),
        "affine": Pair(
            dikin.Affine(dikin.Ball(2), 3 * TURN, [5, 5]), dikin.Affine(dikin.Ball(2), TURN, [0, 0])
        ),
    }


PAIRS = pairs()


@dataclass(frozen=True)
class Scaling:
    """The rules of conversion, as functions of R and B."""

    smoothness: Callable[[float, float], float] = lambda R, B: R * R / B
    slope: Callable[[float, float], float] = lambda R, B: R / B
    curvature: Callable[[float, float], float] = lambda R, B: R * R / B
    offset: Callable[[float, float], float] = lambda m, B: m
    certificate: Callable[[float], float] = lambda B: B


RIGHT = Scaling()


def bowl(u: Array) -> float:
    """A normalised loss."""
    return float(0.3 * np.sum((u - 0.2) ** 2) - 0.4)


def check_same_game(scaling: Scaling, kind: str, name: str, constants: str) -> None:
    user, normal = PAIRS[name].user, PAIRS[name].normal
    center, R, (low, high) = user.center, user.radius, (0.0, 40.0)
    B, m = (high - low) / 2, (high + low) / 2
    assert normal.radius == pytest.approx(1, rel=1e-12)
    np.testing.assert_allclose(normal.center, np.zeros(center.size), atol=1e-12)
    options: dict[str, Any] = {"seed": 7, "constants": constants, "horizon": None}
    if constants == "paper":
        options["horizon"] = 10**14
    bend = 0.5
    if kind == "smooth":
        one = dikin.AdaptiveSmooth(user, bend, loss_range=(low, high), **options)
        two = dikin.AdaptiveSmooth(normal, bend * scaling.smoothness(R, B), **options)
    else:
        one = dikin.AdaptiveLipschitz(user, bend, loss_range=(low, high), **options)
        two = dikin.AdaptiveLipschitz(normal, bend * scaling.slope(R, B), **options)
    steepest = min(one.curvature_limit[0], two.curvature_limit[0] / RIGHT.curvature(R, B))
    for t in range(ROUNDS):
        sigma = (0.0, 0.4, 0.7)[t % 3] * steepest
        x, u = one.ask(), two.ask()
        np.testing.assert_allclose(x.point, center + R * u.point, rtol=0, atol=1e-12 * R)
        one.tell(x, m + B * bowl(u.point), sigma)
        value = (m + B * bowl(u.point) - scaling.offset(m, B)) / B
        two.tell(u, value, sigma * scaling.curvature(R, B))
        np.testing.assert_allclose(one.center, center + R * two.center, rtol=0, atol=1e-12 * R)
        ratio = one.certificate / two.certificate
        assert ratio == pytest.approx(scaling.certificate(B), rel=1e-10)


@pytest.mark.parametrize("kind", ["smooth", "lipschitz"])
@pytest.mark.parametrize("name", PAIRS)
def test_units_the_user_game_is_the_normalised_game(kind: str, name: str) -> None:
    check = partial(check_same_game, kind=kind, name=name, constants="sharp")
    if name == "box":
        check_same_game(RIGHT, kind, name, "paper")
    bend = {"smoothness": lambda R, B: R / B, "slope": lambda R, B: R * R / B}
    holds(
        check,
        RIGHT,
        replace(RIGHT, **bend),
        replace(RIGHT, curvature=lambda R, B: 0.9 * R / B),
        replace(RIGHT, offset=lambda m, B: m - 0.01 * B),
        replace(RIGHT, certificate=lambda B: 1.0),
    )
