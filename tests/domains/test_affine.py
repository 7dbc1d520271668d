"""Affine images: what the constructor refuses.

What every set obeys is in tests/checks: `-k affine` there.
"""

from __future__ import annotations

import numpy as np
import pytest

from dikin import Affine, Ball, Simplex, errors
from domains.constructors import Case, check_refused

REFUSED: dict[str, Case] = {
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
        errors.ShapeError,
        ["2 entries", "2 x 2", "got 2 x 3"],
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_refused(case: Case) -> None:
    check_refused(case)
