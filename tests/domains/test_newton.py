"""The linear algebra that sets are built on, against SciPy's."""

import numpy as np
import pytest
from scipy import linalg

from dikin.domains.newton import BLOCK, factor, minimise, upper_inverse
from dikin.rng import stream


@pytest.mark.parametrize("n", [1, 2, BLOCK, BLOCK + 1, 3 * BLOCK + 4])
def test_an_upper_triangular_matrix_is_inverted_to_its_last_digits(n: int) -> None:
    """Its rows and columns may differ by many orders of magnitude: no pivot is ever sought."""
    rng = stream(n, "upper")
    square = rng.standard_normal((n, 2 * n + 1))
    scales = 10.0 ** rng.uniform(-6, 6, n)
    upper = linalg.cholesky(square @ square.T) * scales
    inverse = upper_inverse(upper)
    exact = linalg.solve_triangular(upper, np.eye(n))
    assert not np.tril(inverse, -1).any()
    off = np.abs(inverse - exact) / np.abs(exact).max(axis=1, keepdims=True)
    assert off.max() < 1e-12


def test_a_factor_solves() -> None:
    rng = stream(0, "factor")
    square = rng.standard_normal((50, 60))
    matrix, right = square @ square.T, rng.standard_normal(50)
    found = factor(matrix)
    np.testing.assert_allclose(found.lower @ found.lower.T, matrix, rtol=0, atol=1e-12 * 60)
    np.testing.assert_allclose(found.solve(right), linalg.solve(matrix, right), rtol=1e-9)
    np.testing.assert_allclose(found.inverse.T @ found.lower, np.eye(50), rtol=0, atol=1e-12)


def test_a_half_line_has_no_analytic_centre() -> None:
    _, decrement = minimise(
        lambda x: -np.log(x[0]), lambda x: -1 / x, lambda x: np.diag(x**-2.0), np.ones(1)
    )
    assert not decrement <= 1e-4
