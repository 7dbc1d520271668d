"""The gauge of a set that is known by its barrier alone, against that of an ellipse."""

from math import inf, log

import numpy as np
import pytest

from dikin.domains.gauge import gauge_by_bisection
from dikin.vectors import Array

AXES = np.array([3.0, 0.5])


def barrier(v: Array) -> float:
    """That of the ellipse with these half-axes."""
    slack = 1.0 - float(np.square(v / AXES).sum())
    return -log(slack) if slack > 0.0 else inf


@pytest.mark.parametrize("angle", [0.0, 0.3, 1.0, np.pi / 2])
@pytest.mark.parametrize("length", [1e-6, 0.7, 40.0])
def test_it_is_one_on_the_boundary_and_grows_with_the_vector(angle: float, length: float) -> None:
    """Along the long axis it is |v| over the radius, along the short one |v| over the inradius.

    Bisection and the slack are exact to a few roundings each.
    """
    v = length * np.array([np.cos(angle), np.sin(angle)])
    wanted = float(np.linalg.norm(v / AXES))
    assert gauge_by_bisection(barrier, v, 3.0, 0.5) == pytest.approx(wanted, rel=1e-14)
