"""Polytopes: what the constructor refuses, and near misses that are good.

What every set obeys is in tests/checks: `-k polytope` there.
"""

from __future__ import annotations

import numpy as np
import pytest

from dikin import Polytope, Spectrahedron, errors, extras
from domains.constructors import INF, SQUARE, Accepted, Case, check_accepted, check_refused

REFUSED: dict[str, Case] = {
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
    "b too long": (lambda: Polytope([[1]], [1, 2]), errors.ShapeError, ["A has 1", "b 2"]),
    "A vector": (lambda: Polytope([1], [1]), errors.ShapeError, ["A must be", "(1,)"]),
    "A inf": (lambda: Polytope([[INF]], [1]), errors.DomainError, ["A[0, 0] is inf"]),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_refused(case: Case) -> None:
    check_refused(case)


ACCEPTED: dict[str, Accepted] = {
    "far interval": (lambda: Polytope([[1], [-1]], [1e9 + 1, -1e9]), [1e9 + 0.5]),
    "long strip": (lambda: Polytope(SQUARE, [1e10, 0, 1, 0]), [5e9, 0.5]),
    "small rows": (lambda: Polytope([[1e-9], [-1e-9]], [1e-9, 0]), [0.5]),
    "small interval": (lambda: Polytope([[1], [-1]], [1e-9, 0]), [5e-10]),
}


@pytest.mark.parametrize("case", ACCEPTED.values(), ids=ACCEPTED)
def test_accepted(case: Accepted) -> None:
    check_accepted(case)


def test_a_polytope_names_the_extra_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(module: str) -> None:
        raise ModuleNotFoundError(name="scipy")

    monkeypatch.setattr(extras, "import_module", missing)
    with pytest.raises(errors.MissingExtraError, match=r"a polytope needs scipy.*dikin\[lab\]"):
        Polytope(SQUARE, [1, 1, 1, 1])
    assert Spectrahedron(3).basis.shape == (9, 5)  # without it


def test_nu_is_the_least_one_of_a_triangle() -> None:
    """The squared decrement g'H^-1 g is nu at most, and comes as near to it as a corner is.

    Two of three rows matter in a corner: nu = 2, by the fixed sum of the slacks.
    """
    triangle = Polytope([[-1, 0], [0, -1], [1, 1]], [0, 0, 1])
    v = np.array([1e-6, 1e-6]) - triangle.center
    gradient = triangle.gradient(v)
    square = float(gradient @ np.linalg.solve(triangle.hessian(v), gradient))
    assert square <= triangle.nu
    assert triangle.nu == pytest.approx(square, rel=1e-4)
