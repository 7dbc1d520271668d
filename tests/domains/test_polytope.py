"""Polytopes: the extra that they need, and the nu of a triangle."""

import numpy as np
import pytest

from dikin import Polytope, Spectrahedron, errors, extras
from domains.test_constructors import SQUARE


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
