"""Balls: what the constructor refuses, and near misses that are good.

What every set obeys is in tests/checks: `-k ball` there.
"""

from __future__ import annotations

import pytest

from dikin import Ball, errors
from domains.constructors import HUGE, INF, NAN, Accepted, Case, check_accepted, check_refused

REFUSED: dict[str, Case] = {
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
        errors.ShapeError,
        ["Ball(dim=2)", "2 entries", "got 3"],
    ),
    "center nan": (lambda: Ball(2, 1, [0, NAN]), errors.DomainError, ["center[1] is nan"]),
    "center matrix": (lambda: Ball(2, 1, [[0, 0]]), errors.ShapeError, ["center", "(1, 2)"]),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_refused(case: Case) -> None:
    check_refused(case)


ACCEPTED: dict[str, Accepted] = {
    "far and small": (lambda: Ball(2, 1e-6, [1e6, 0]), [1e6, 0]),
}


@pytest.mark.parametrize("case", ACCEPTED.values(), ids=ACCEPTED)
def test_accepted(case: Accepted) -> None:
    check_accepted(case)
