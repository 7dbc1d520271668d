"""Simplices: their chart, and how symmetric they are."""

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


def test_noise_along_the_normal_of_the_plane_leaves_no_part_of_it() -> None:
    """One projection of noise that is a billionth off the normal leaves rounding of 1e-7."""
    geometry = Simplex(3).geometry(1.0)
    metric, s = np.zeros((geometry.metric_size, 3)), np.array([1.0, 1.0 + 3e-9, 1.0 - 1e-9])
    geometry.explore(geometry.start(), 1.0, 0.5, s, metric)
    assert abs(float(metric[0].sum())) <= 1e-14 * float(np.abs(metric[0]).max())
