"""Intersections: what the constructor refuses, and near misses that are good.

What every set obeys is in tests/checks: `-k intersection` there.
"""

from __future__ import annotations

import numpy as np
import pytest

from dikin import Affine, Ball, Box, Intersection, Simplex, errors
from domains.constructors import Accepted, Case, check_accepted, check_refused

REFUSED: dict[str, Case] = {
    "Intersection()": (lambda: Intersection(), errors.DomainError, ["at least two", "got 0"]),
    "of one": (lambda: Intersection(Ball(2)), errors.DomainError, ["at least two", "got 1"]),
    "with 3": (lambda: Intersection(Ball(2), 3), errors.DomainError, ["part 1 is 3"]),
    "of 2 and 3": (
        lambda: Intersection(Ball(2), Ball(3)),
        errors.ShapeError,
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


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_refused(case: Case) -> None:
    check_refused(case)


ACCEPTED: dict[str, Accepted] = {
    "thin lens": (lambda: Intersection(Ball(2), Ball(2, 1, [1.9995, 0])), [0.99975, 0]),
    "thin interval": (lambda: Intersection(Box([0], [1]), Box([0.9999], [3])), [0.99995]),
}


@pytest.mark.parametrize("case", ACCEPTED.values(), ids=ACCEPTED)
def test_accepted(case: Accepted) -> None:
    check_accepted(case)
