"""Sets on which no bandit problem can be played, and near misses that are perfectly good."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import (
    Affine,
    Ball,
    Box,
    Ellipsoid,
    FromBarrier,
    Intersection,
    Polytope,
    Product,
    Simplex,
    Spectrahedron,
    errors,
)
from dikin.domains.base import Domain

HUGE = 10**400  # a whole number that no float can hold
NAN, INF = float("nan"), float("inf")
SQUARE = [[1, 0], [-1, 0], [0, 1], [0, -1]]

Case = tuple[Callable[[], Any], type[errors.DikinError], list[str]]
"""A constructor, the error that it must raise, and what the message must say."""

Accepted = tuple[Callable[[], Domain], list[float]]
"""A constructor, and the analytic centre of the set."""


AFFINE: dict[str, Case] = {
    "Affine of 5": (lambda: Affine(5, [[1]], [0]), errors.DomainError, ["is 5", "wanted a domain"]),
    "flattened": (
        lambda: Affine(Ball(2), [[1, 0], [0, 0]], [0, 0]),
        errors.DomainError,
        ["flattens", "[1. 0.]"],
    ),
    "projected": (lambda: Affine(Ball(2), [[1, 0]], [0]), errors.DomainError, ["flattens"]),
    "flat on the plane": (
        # Invertible as a matrix of rank 2, but constant along the plane of the simplex.
        lambda: Affine(Simplex(3), [[1, 1, 1], [0, 1, 0]], [0, 0]),
        errors.DomainError,
        ["flattens"],
    ),
    "wide matrix": (
        lambda: Affine(Ball(2), np.ones((2, 3)), [0, 0]),
        errors.DomainError,
        ["2 entries", "2 x 2", "got 2 x 3"],
    ),
}
BALL: dict[str, Case] = {
    "Ball(0)": (lambda: Ball(0), errors.DomainError, ["dim", "at least 1", "got 0"]),
    "Ball(-2)": (lambda: Ball(-2), errors.DomainError, ["dim", "at least 1", "got -2"]),
    "Ball(2.0)": (lambda: Ball(2.0), errors.DomainError, ["dim", "whole number", "got 2.0"]),
    "Ball(True)": (lambda: Ball(True), errors.DomainError, ["dim", "whole number", "got True"]),
    "Ball(2, -1)": (lambda: Ball(2, -1), errors.DomainError, ["radius", "positive", "got -1"]),
    "Ball(2, 0)": (lambda: Ball(2, 0), errors.DomainError, ["radius", "positive", "got 0"]),
    "Ball(2, nan)": (lambda: Ball(2, NAN), errors.DomainError, ["radius", "finite", "got nan"]),
    "Ball(2, inf)": (lambda: Ball(2, INF), errors.DomainError, ["radius", "finite", "got inf"]),
    "Ball(2, 'x')": (lambda: Ball(2, "x"), errors.DomainError, ["radius", "number", "got 'x'"]),
    "Ball(2, huge)": (lambda: Ball(2, HUGE), errors.DomainError, ["radius", "finite"]),
    "center of 3": (
        lambda: Ball(2, center=[0, 0, 0]),
        errors.DomainError,
        ["Ball(dim=2)", "2 entries", "got 3"],
    ),
    "center nan": (lambda: Ball(2, 1, [0, NAN]), errors.DomainError, ["center[1] is nan"]),
    "center matrix": (lambda: Ball(2, 1, [[0, 0]]), errors.DomainError, ["center", "(1, 2)"]),
}
BOX: dict[str, Case] = {
    "lower > upper": (
        lambda: Box([0, 2], [1, 1.5]),
        errors.DomainError,
        ["lower[1] = 2", "upper[1] = 1.5"],
    ),
    "lower = upper": (lambda: Box([0, 4], [1, 4]), errors.DomainError, ["lower[1]", "= 4"]),
    "lower nan": (lambda: Box([NAN, 0], [1, 1]), errors.DomainError, ["lower[0] is nan"]),
    "upper inf": (lambda: Box([0, 0], [1, INF]), errors.DomainError, ["upper[1] is inf"]),
    "upper huge": (lambda: Box([0], [HUGE]), errors.DomainError, ["upper"]),
    "2 and 3": (lambda: Box([0, 0], [1, 1, 1]), errors.DomainError, ["lower has 2", "upper 3"]),
    "no entries": (lambda: Box([], []), errors.DomainError, ["lower", "non-empty", "(0,)"]),
    "scalars": (lambda: Box(0, 1), errors.DomainError, ["lower", "vector", "write [0.0]"]),
    "words": (lambda: Box("ab", [1]), errors.DomainError, ["lower must be numbers", "'ab'"]),
    "ragged": (lambda: Box([[0], [1, 2]], [1]), errors.DomainError, ["lower", "[[0], [1, 2]]"]),
}
ELLIPSOID: dict[str, Case] = {
    "not symmetric": (
        lambda: Ellipsoid([0, 0], [[1, 0.5], [0.25, 1]]),
        errors.DomainError,
        ["symmetric", "(0, 1) is 0.5", "(1, 0) is 0.25"],
    ),
    "indefinite": (
        lambda: Ellipsoid([0, 0], [[1, 0], [0, -2]]),
        errors.DomainError,
        ["positive definite", "-2", "1"],
    ),
    "singular": (
        lambda: Ellipsoid([0, 0], [[1, 1], [1, 1]]),
        errors.DomainError,
        ["positive definite", "0", "2"],
    ),
    "3 x 3": (lambda: Ellipsoid([0, 0], np.eye(3)), errors.DomainError, ["2 x 2", "got 3 x 3"]),
    "shape vector": (lambda: Ellipsoid([0, 0], [1, 1]), errors.DomainError, ["matrix", "(2,)"]),
    "shape nan": (lambda: Ellipsoid([0], [[NAN]]), errors.DomainError, ["shape[0, 0] is nan"]),
}
FROMBARRIER: dict[str, Case] = {
    "outside": (
        lambda: FromBarrier(lambda x: INF, None, None, 1, [4.0]),
        errors.DomainError,
        ["barrier is inf", "[4.]"],
    ),
    "barrier nan": (
        lambda: FromBarrier(lambda x: NAN, None, None, 1, [4.0]),
        errors.DomainError,
        ["barrier is nan", "[4.]"],
    ),
    "nu = 0": (lambda: FromBarrier(None, None, None, 0, [0]), errors.DomainError, ["nu", "got 0"]),
    "interior nan": (
        lambda: FromBarrier(None, None, None, 1, [0, NAN]),
        errors.DomainError,
        ["interior[1] is nan"],
    ),
}
INTERSECTION: dict[str, Case] = {
    "Intersection()": (lambda: Intersection(), errors.DomainError, ["at least two", "got 0"]),
    "of one": (lambda: Intersection(Ball(2)), errors.DomainError, ["at least two", "got 1"]),
    "with 3": (lambda: Intersection(Ball(2), 3), errors.DomainError, ["part 1 is 3"]),
    "of 2 and 3": (
        lambda: Intersection(Ball(2), Ball(3)),
        errors.DomainError,
        ["part 1", "(3,)", "part 0 (2,)"],
    ),
    "far apart": (
        lambda: Intersection(Ball(2), Ball(2, 1, [3, 0])),
        errors.DomainError,
        ["no inner point in common", "grown 1.5"],
    ),
    "touching": (
        lambda: Intersection(Box([0], [1]), Box([1], [3])),
        errors.DomainError,
        ["no inner point in common"],
    ),
    "different planes": (
        lambda: Intersection(Simplex(3), Affine(Simplex(3), 2 * np.eye(3), np.zeros(3))),
        errors.DomainError,
        ["Simplex(3)", "Affine(dim=2)", "different planes"],
    ),
    "crossing planes": (  # one contains the other's centre, but not its plane
        lambda: Intersection(Simplex(3), Affine(Ball(2), np.eye(3)[:, :2], np.full(3, 1 / 3))),
        errors.DomainError,
        ["Simplex(3)", "Affine(dim=2)", "different planes"],
    ),
}
POLYTOPE: dict[str, Case] = {
    "zero row": (lambda: Polytope([[1], [0]], [1, 1]), errors.DomainError, ["row 1 of A is zero"]),
    "empty": (
        lambda: Polytope([[0, 1], *SQUARE], [9, 0, -1, 1, 1]),
        errors.DomainError,
        ["no point", "rows [1, 2]"],
    ),
    "flat": (
        lambda: Polytope(SQUARE, [1, 1, 3, -3]),
        errors.DomainError,
        ["rows [2, 3]", "no interior"],
    ),
    "unbounded above": (
        lambda: Polytope([[1, 0], [-1, 0], [0, -1]], [1, 1, 1]),
        errors.DomainError,
        ["coordinate 1", "grow without limit"],
    ),
    "unbounded below": (
        lambda: Polytope([[1, 0], [-1, 0], [0, 1]], [1, 1, 1]),
        errors.DomainError,
        ["coordinate 1", "fall without limit"],
    ),
    "one half-space": (
        lambda: Polytope([[1, 1]], [1]),
        errors.DomainError,
        ["coordinate 0", "without limit"],
    ),
    "b too long": (lambda: Polytope([[1]], [1, 2]), errors.DomainError, ["A has 1", "b 2"]),
    "A vector": (lambda: Polytope([1], [1]), errors.DomainError, ["A must be", "(1,)"]),
    "A inf": (lambda: Polytope([[INF]], [1]), errors.DomainError, ["A[0, 0] is inf"]),
}
PRODUCT: dict[str, Case] = {
    "Product()": (lambda: Product(), errors.DomainError, ["at least one", "got 0"]),
    "Product(3)": (lambda: Product(3), errors.DomainError, ["part 0 is 3", "wanted a domain"]),
    "Product(., None)": (lambda: Product(Ball(1), None), errors.DomainError, ["part 1 is None"]),
}
SIMPLEX: dict[str, Case] = {
    "Simplex(1)": (lambda: Simplex(1), errors.DomainError, ["at least 2", "choose", "got 1"]),
    "Simplex(2.5)": (lambda: Simplex(2.5), errors.DomainError, ["whole number", "got 2.5"]),
}
SPECTRAHEDRON: dict[str, Case] = {
    "Spectrahedron(1)": (lambda: Spectrahedron(1), errors.DomainError, ["at least 2", "got 1"]),
}

REFUSED = {
    "affine": AFFINE,
    "ball": BALL,
    "box": BOX,
    "ellipsoid": ELLIPSOID,
    "frombarrier": FROMBARRIER,
    "intersection": INTERSECTION,
    "polytope": POLYTOPE,
    "product": PRODUCT,
    "simplex": SIMPLEX,
    "spectrahedron": SPECTRAHEDRON,
}
CASES = {f"{kind}: {name}": case for kind, table in REFUSED.items() for name, case in table.items()}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_refused(case: Case) -> None:
    build, error, words = case
    with pytest.raises(error) as caught:
        build()
    assert type(caught.value) is error
    assert isinstance(caught.value, ValueError)
    assert [word for word in words if word not in str(caught.value)] == [], str(caught.value)


def test_a_half_line_has_no_analytic_centre() -> None:
    with pytest.raises(dikin.DikinError) as caught:
        FromBarrier(lambda x: -np.log(x[0]), lambda x: -1 / x, lambda x: np.diag(x**-2.0), 1, [1.0])
    assert isinstance(caught.value, errors.NumericalError | errors.DomainError)


ACCEPTED: dict[str, Accepted] = {
    "ball: far and small": (lambda: Ball(2, 1e-6, [1e6, 0]), [1e6, 0]),
    "ellipsoid: symmetric but for 1e-17": (
        lambda: Ellipsoid([1, 2], [[1, 1e-17], [0, 1]]),
        [1, 2],
    ),
    "ellipsoid: long and short axes": (lambda: Ellipsoid([0, 0], np.diag([1e6, 1e-6])), [0, 0]),
    "thin lens": (
        lambda: Intersection(Ball(2), Ball(2, 1, [1.9995, 0])),
        [0.99975, 0],
    ),
    "thin common interval": (
        lambda: Intersection(Box([0], [1]), Box([0.9999], [3])),
        [0.99995],
    ),
    "polytope: far interval": (lambda: Polytope([[1], [-1]], [1e9 + 1, -1e9]), [1e9 + 0.5]),
    "polytope: long strip": (lambda: Polytope(SQUARE, [1e10, 0, 1, 0]), [5e9, 0.5]),
    "polytope: small rows": (lambda: Polytope([[1e-9], [-1e-9]], [1e-9, 0]), [0.5]),
    "polytope: small interval": (lambda: Polytope([[1], [-1]], [1e-9, 0]), [5e-10]),
}


@pytest.mark.parametrize("case", ACCEPTED.values(), ids=ACCEPTED)
def test_accepted(case: Accepted) -> None:
    build, center = case
    domain = build()
    np.testing.assert_allclose(domain.center, center, rtol=1e-6, atol=1e-6 * domain.inradius)
    query = dikin.AdaptiveSmooth(domain, 0.0, seed=0).ask()
    assert domain.margin(query.point) >= 0
