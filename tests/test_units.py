"""A game in the user's units is the normalised game, point for point.

u = (x - c)/R, f_norm = (f - m)/B, beta_norm = beta R^2/B, sigma_norm = sigma R^2/B, L_norm = L R/B,
regret = B regret_norm. Points and centres are each other's images, and certificates are B to one.
"""

from functools import partial
from typing import Any

import numpy as np
import pytest

import dikin
from paper.charts import Array, holds

ROUNDS = 150
TURN = np.array([[0.8, -0.6], [0.6, 0.8]])
ROOT = np.sqrt(26)
ROWS, BOUNDS = np.array([[-1.0, 0], [0, -1], [1, 1]]), np.array([0, 0, 1.0])
TRIANGLE = dikin.Polytope(ROWS, BOUNDS)
PAIRS: dict[str, tuple[dikin.Domain, dikin.Domain]] = {
    "box": (
        dikin.Box([0, 0], [10, 2]),
        dikin.Box([-5 / ROOT, -1 / ROOT], [5 / ROOT, 1 / ROOT]),
    ),
    "polytope": (
        TRIANGLE,
        dikin.Polytope(ROWS, (BOUNDS - ROWS @ TRIANGLE.center) / TRIANGLE.radius),
    ),
    "product": (
        dikin.Product(dikin.Box([7 - 1.8], [7 + 1.8]), dikin.Ball(2, 2.4, [1, -1])),
        dikin.Product(dikin.Box([-0.6], [0.6]), dikin.Ball(2, 0.8)),
    ),
    "affine": (
        dikin.Affine(dikin.Ball(2), 3 * TURN, [5, 5]),
        dikin.Affine(dikin.Ball(2), TURN, [0, 0]),
    ),
}
"""A domain in the user's units, and the same one, moved to the origin and divided by R."""
RIGHT: dict[str, Any] = {
    "smoothness": lambda R, B: R * R / B,
    "slope": lambda R, B: R / B,
    "curvature": lambda R, B: R * R / B,
    "offset": lambda m, B: m,
    "certificate": lambda B: B,
}
"""The rules of conversion."""


def bowl(u: Array) -> float:
    """A normalised loss."""
    return float(0.3 * np.sum((u - 0.2) ** 2) - 0.4)


def check_same_game(scaling: dict[str, Any], kind: str, name: str, constants: str) -> None:
    (user, normal), (low, high) = PAIRS[name], (0.0, 40.0)
    center, R = user.center, user.radius
    B, m = (high - low) / 2, (high + low) / 2
    assert normal.radius == pytest.approx(1, rel=1e-12)
    np.testing.assert_allclose(normal.center, np.zeros(center.size), atol=1e-12)
    options: dict[str, Any] = {"seed": 7, "constants": constants, "horizon": None}
    if constants == "paper":
        options["horizon"] = 10**14
    bend = 0.5
    cls = dikin.AdaptiveSmooth if kind == "smoothness" else dikin.AdaptiveLipschitz
    one = cls(user, bend, loss_range=(low, high), **options)
    two = cls(normal, bend * scaling[kind](R, B), **options)
    steepest = min(one.curvature_limit[0], two.curvature_limit[0] / RIGHT["curvature"](R, B))
    for t in range(ROUNDS):
        sigma = (0.0, 0.4, 0.7)[t % 3] * steepest
        x, u = one.ask(), two.ask()
        np.testing.assert_allclose(x.point, center + R * u.point, rtol=0, atol=1e-12 * R)
        one.tell(x, m + B * bowl(u.point), sigma)
        value = (m + B * bowl(u.point) - scaling["offset"](m, B)) / B
        two.tell(u, value, sigma * scaling["curvature"](R, B))
        np.testing.assert_allclose(one.center, center + R * two.center, rtol=0, atol=1e-12 * R)
        ratio = one.certificate / two.certificate
        assert ratio == pytest.approx(scaling["certificate"](B), rel=1e-10)


@pytest.mark.parametrize("kind", ["smoothness", "slope"])
@pytest.mark.parametrize("name", PAIRS)
def test_units_the_user_game_is_the_normalised_game(kind: str, name: str) -> None:
    if name == "box":
        check_same_game(RIGHT, kind, name, "paper")
    holds(
        partial(check_same_game, kind=kind, name=name, constants="sharp"),
        RIGHT,
        RIGHT | {"smoothness": RIGHT["slope"], "slope": RIGHT["smoothness"]},
        RIGHT | {"curvature": lambda R, B: 0.9 * R / B},
        RIGHT | {"offset": lambda m, B: m - 0.01 * B},
        RIGHT | {"certificate": lambda B: 1.0},
    )
