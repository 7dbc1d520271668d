"""Ellipsoids: what the constructor refuses, and near misses that are good.

What every set obeys is in tests/checks: `-k ellipsoid` there.
"""

from __future__ import annotations

import numpy as np
import pytest

from dikin import Ellipsoid, errors
from domains.constructors import NAN, Accepted, Case, check_accepted, check_refused

REFUSED: dict[str, Case] = {
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
    "3 x 3": (lambda: Ellipsoid([0, 0], np.eye(3)), errors.ShapeError, ["2 x 2", "got 3 x 3"]),
    "shape vector": (lambda: Ellipsoid([0, 0], [1, 1]), errors.ShapeError, ["matrix", "(2,)"]),
    "shape nan": (lambda: Ellipsoid([0], [[NAN]]), errors.DomainError, ["shape[0, 0] is nan"]),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_refused(case: Case) -> None:
    check_refused(case)


ACCEPTED: dict[str, Accepted] = {
    "symmetric up to rounding": (lambda: Ellipsoid([1, 2], [[1, 1e-17], [0, 1]]), [1, 2]),
    "long and short axes": (lambda: Ellipsoid([0, 0], np.diag([1e6, 1e-6])), [0, 0]),
}


@pytest.mark.parametrize("case", ACCEPTED.values(), ids=ACCEPTED)
def test_accepted(case: Accepted) -> None:
    check_accepted(case)
