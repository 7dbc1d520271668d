"""Simplices: their chart, and how symmetric they are.

What every set obeys is in tests/checks: `-k simplex` there.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

from dikin import Simplex
from dikin.domains.simplex import helmert


@pytest.mark.parametrize("n", [2, 3, 17])
def test_helmert_is_that_of_scipy(n: int) -> None:
    np.testing.assert_allclose(helmert(n), linalg.helmert(n), rtol=1e-15, atol=0)


@pytest.mark.parametrize("n", [2, 3, 17])
def test_the_symmetry_is_that_of_the_corners(n: int) -> None:
    """The largest s for which c - s (x - c) is inside for every corner x, and so for all points."""
    simplex = Simplex(n)
    corners = np.eye(n)
    mirrored = simplex.center - simplex.symmetry * (corners - simplex.center)
    np.testing.assert_allclose(mirrored.min(), 0.0, atol=1e-15)
