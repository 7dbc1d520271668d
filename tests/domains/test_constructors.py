"""Sets on which no bandit problem can be played, and near misses that are perfectly good."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import Affine, Ball, Box, Ellipsoid, Polytope, Product, Simplex, Spectrahedron, errors
from dikin.domains.base import Domain

HUGE = 10**400  # a whole number that no float can hold
NAN, INF = float("nan"), float("inf")
SQUARE = [[1, 0], [-1, 0], [0, 1], [0, -1]]

Accepted = tuple[Callable[[], Domain], list[float]]
"""A constructor, and the analytic centre of the set."""

REFUSED: list[tuple[Any, ...]] = [
    (lambda: Affine(5, [[1]], [0]), "is 5", "wanted a domain"),
    (lambda: Affine(Ball(2), [[1, 0], [0, 0]], [0, 0]), "flattens", "[1. 0.]"),
    (lambda: Affine(Simplex(3), [[1, 1, 1], [0, 1, 0]], [0, 0]), "flattens"),
    (lambda: Affine(Ball(2), np.ones((2, 3)), [0, 0]), "2 entries", "2 x 2", "got 2 x 3"),
    (lambda: Ball(0), "dim", "at least 1", "got 0"),
    (lambda: Ball(2.0), "dim", "whole number", "got 2.0"),
    (lambda: Ball(True), "dim", "whole number", "got True"),
    (lambda: Ball(2, -1), "radius", "positive", "got -1"),
    (lambda: Ball(2, NAN), "radius", "finite", "got nan"),
    (lambda: Ball(2, "x"), "radius", "number", "got 'x'"),
    (lambda: Ball(2, HUGE), "radius", "finite"),
    (lambda: Ball(2, center=[0, 0, 0]), "Ball(dim=2)", "2 entries", "got 3"),
    (lambda: Ball(2, 1, [0, NAN]), "center[1] is nan"),
    (lambda: Box([0, 2], [1, 1.5]), "lower[1] = 2", "upper[1] = 1.5"),
    (lambda: Box([0, 4], [1, 4]), "lower[1]", "= 4"),
    (lambda: Box([NAN, 0], [1, 1]), "lower[0] is nan"),
    (lambda: Box([0, 0], [1, INF]), "upper[1] is inf"),
    (lambda: Box([0, 0], [1, 1, 1]), "lower has 2", "upper 3"),
    (lambda: Box([], []), "lower", "non-empty", "(0,)"),
    (lambda: Box(0, 1), "lower", "vector", "write [0.0]"),
    (lambda: Box("ab", [1]), "lower must be numbers", "'ab'"),
    (lambda: Box([[0], [1, 2]], [1]), "lower", "[[0], [1, 2]]"),
    (
        lambda: Ellipsoid([0, 0], [[1, 0.5], [0.25, 1]]),
        "symmetric",
        "(0, 1) is 0.5",
        "(1, 0) is 0.25",
    ),
    (lambda: Ellipsoid([0, 0], [[1, 0], [0, -2]]), "positive definite", "-2", "1"),
    (lambda: Ellipsoid([0, 0], [[1, 1], [1, 1]]), "positive definite", "0", "2"),
    (lambda: Ellipsoid([0, 0], np.eye(3)), "2 x 2", "got 3 x 3"),
    (lambda: Ellipsoid([0, 0], [1, 1]), "matrix", "(2,)"),
    (lambda: Polytope([[1], [0]], [1, 1]), "row 1 of A is zero"),
    (lambda: Polytope([[0, 1], *SQUARE], [9, 0, -1, 1, 1]), "no point", "rows [1, 2]"),
    (lambda: Polytope(SQUARE, [1, 1, 3, -3]), "rows [2, 3]", "no interior"),
    (lambda: Polytope([[1, 0], [-1, 0], [0, -1]], [1, 1, 1]), "coordinate 1", "grow without limit"),
    (lambda: Polytope([[1, 1]], [1]), "coordinate 0", "without limit"),
    (lambda: Polytope([[1]], [1, 2]), "A has 1", "b 2"),
    (lambda: Polytope([1], [1]), "A must be", "(1,)"),
    (lambda: Product(), "at least one", "got 0"),
    (lambda: Product(3), "part 0 is 3", "wanted a domain"),
    (lambda: Simplex(1), "at least 2", "choose", "got 1"),
    (lambda: Spectrahedron(1), "at least 2", "got 1"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: "-".join(case[1:]))
def test_refused(case: tuple[Any, ...]) -> None:
    build, *words = case
    with pytest.raises(errors.DomainError) as caught:
        build()
    assert type(caught.value) is errors.DomainError
    assert isinstance(caught.value, ValueError)
    assert [word for word in words if word not in str(caught.value)] == [], str(caught.value)


ACCEPTED: dict[str, Accepted] = {
    "ball: far and small": (lambda: Ball(2, 1e-6, [1e6, 0]), [1e6, 0]),
    "ellipsoid: long, short, symmetric but for 1e-17": (
        lambda: Ellipsoid([0, 0], [[1e6, 1e-17], [0, 1e-6]]),
        [0, 0],
    ),
    "polytope: far interval": (lambda: Polytope([[1], [-1]], [1e9 + 1, -1e9]), [1e9 + 0.5]),
    "polytope: long strip": (lambda: Polytope(SQUARE, [1e10, 0, 1, 0]), [5e9, 0.5]),
    "polytope: small interval": (lambda: Polytope([[1], [-1]], [1e-9, 0]), [5e-10]),
}


@pytest.mark.parametrize("case", ACCEPTED.values(), ids=ACCEPTED)
def test_accepted(case: Accepted) -> None:
    build, center = case
    domain = build()
    np.testing.assert_allclose(domain.center, center, rtol=1e-6, atol=1e-6 * domain.inradius)
    query = dikin.AdaptiveSmooth(domain, 0.0, seed=0).ask()
    assert domain.margin(query.point) >= 0
