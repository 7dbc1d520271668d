"""lem: upper bound sigma: an L-Lipschitz, sigma-strongly convex f on diameter D: sigma <= 4L/D."""

from math import hypot, sqrt
from typing import Any

import pytest

import dikin

DIAMETERS: list[tuple[Any, float]] = [
    (dikin.Ball(3, 2.5, [3, -1, 0]), 5.0),
    (dikin.Box([0, -1], [10, 1]), hypot(10, 2)),
    (dikin.Simplex(4), sqrt(2)),
    (dikin.Ellipsoid([1, 1], [[9.0, 0], [0, 0.25]]), 6.0),
    (dikin.Spectrahedron(2), sqrt(2)),
    (dikin.Product(dikin.Box([2], [5]), dikin.Simplex(3)), hypot(3, sqrt(2))),
    (dikin.Polytope([[-1, 0], [0, -1], [1, 1]], [0, 0, 1]), sqrt(2)),
    (dikin.Affine(dikin.Box([-1, -1], [1, 1]), [[2, 0], [1, 1]], [0, 5]), hypot(4, 4)),
]


@pytest.mark.parametrize(("domain", "true"), DIAMETERS, ids=str)
def test_diameter_is_at_most_the_largest_distance(domain: Any, true: float) -> None:
    """So that 4L/D refuses no loss: D may be too small, never too large."""
    assert 0 < domain.diameter <= true * (1 + 1e-9)
    if not isinstance(domain, dikin.Polytope | dikin.Affine):
        assert domain.diameter == pytest.approx(true, rel=1e-12)
