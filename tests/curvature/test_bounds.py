"""Bounds on eigenvalues hold in exact arithmetic, and flat batches give exactly 0."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curvature.exact import exact, gram, is_semidefinite, shifted, times
from dikin import Affine, Ball, Box, Simplex
from dikin.curvature import of_contexts, spectrum
from dikin.curvature.contexts import Gram
from dikin.errors import CheckFailedError, DikinError, DomainError, ParameterError

DOMAINS = {2: [Ball(2), Simplex(3)], 3: [Box([0, 0, 0], [1, 2, 3]), Simplex(4)]}
CAP = Affine(Ball(2), [[1.0, 0.3], [0.2, 1.0], [0.5, -0.7]], [0.0, 1.0, 0.0])
ALL = [*DOMAINS[2], *DOMAINS[3], CAP]


def require_true(domain: Any, contexts: Any, weights: Any) -> None:
    """sigma I <= G <= beta I for the exact Gram matrix of squared losses."""
    found = of_contexts(domain, contexts, weights=weights)
    matrix = gram(
        times(exact(contexts), exact(domain.basis)), [Fraction(float(w)) for w in weights]
    )
    if not is_semidefinite(shifted(matrix, 1, -found.strong_convexity)):
        raise CheckFailedError(f"{found.strong_convexity} is above an eigenvalue")
    if not is_semidefinite(shifted(matrix, -1, found.smoothness)):
        raise CheckFailedError(f"{found.smoothness} is below an eigenvalue")


entries = st.floats(-4, 4, allow_subnormal=False) | st.sampled_from([0.0, 1.0, 0.1, 1e-8, 1e8])


@st.composite
def batches(draw: Any) -> tuple[Any, Any, Any]:
    domain = draw(st.sampled_from(ALL))
    count, width = draw(st.integers(1, 6)), domain.center.size
    rows = [[draw(entries) for _ in range(width)] for _ in range(count)]
    weights = [draw(st.floats(0, 3, allow_subnormal=False)) for _ in range(count)]
    return domain, np.array(rows), np.array(weights)


@given(batches())
@settings(max_examples=120, deadline=None, derandomize=True)
def test_bounds_enclose_the_exact_eigenvalues(batch: Any) -> None:
    require_true(*batch)


def test_flat_batches_have_exactly_no_curvature() -> None:
    """Contexts in a common plane as they stand, whatever rounding makes of their products."""
    rng, flat = np.random.default_rng(0), list[tuple[Any, Any]]()
    for _ in range(40):
        column = rng.standard_normal((9, 1)) * 10.0 ** rng.integers(-6, 6)
        flat.append((Ball(2), np.hstack([column, column])))  # a column twice
        flat.append((Ball(3), np.hstack([column, rng.standard_normal((9, 1)), 2 * column])))
        flat.append((Ball(4), rng.standard_normal((3, 4))))  # fewer rows than dimensions
        flat.append((Ball(3), np.repeat(rng.standard_normal((2, 3)), 20, axis=0)))  # two rows
    for entry in (0.0, 1e-160, 1e200):  # products underflow or overflow
        flat.append((Ball(2), np.full((5, 2), entry)))
    for domain, contexts in flat:
        assert of_contexts(domain, contexts).strong_convexity == 0.0


@pytest.mark.parametrize("dim", [1, 3, 30])
def test_bounds_are_close(dim: int) -> None:
    """Within the stated error, some n + 10 d unit roundoffs of the trace."""
    contexts = np.random.default_rng(dim).standard_normal((4 * dim + 5, dim))
    values = np.linalg.eigvalsh(contexts.T @ contexts)
    found, trace = of_contexts(Ball(dim), contexts), float(np.sum(contexts**2))
    assert 0 < values[0] - found.strong_convexity < 2e-15 * (len(contexts) + 10 * dim) * trace
    assert 0 < found.smoothness - values[-1] < 2e-15 * (len(contexts) + 10 * dim) * dim * trace


def test_a_row_that_was_moved_is_allowed_for() -> None:
    """A row 1 that was 1 + t or 1 - t before its rounding: (1 + t)^2 = 1 + 2t + t^2."""
    for t in (1e-3, 0.3, 1.0):
        moved = Gram(1, row_error=t)
        moved.add(np.ones((1, 1)), np.ones(1), np.ones(1))
        assert moved.least() <= (1 - t) ** 2
        assert moved.greatest() >= (1 + t) ** 2


def test_products_that_underflow_are_allowed_for() -> None:
    """Sixteen numbers whose products are half of the least float above 0: the Gram matrix is 0."""
    row = np.full((1, 16), 2.0**-538 * 1.4)
    lost = Gram(16)
    lost.add(row, np.ones(1), np.sum(row**2, axis=1))
    assert not (row.T @ row).any()
    assert Fraction(lost.greatest()) >= 16 * Fraction(row[0, 0]) ** 2


def test_the_last_rounding_of_a_bound_is_allowed_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 + 2^-54 and 1 - 2^-54 are rounded to 1, on the wrong side of both."""
    for prove in ("proven_below", "proven_above"):
        monkeypatch.setattr(spectrum, prove, lambda matrix, guess: 1.0)
    error = 2.0**-54
    assert Fraction(spectrum.least_eigenvalue(np.eye(1), error)) <= 1 - Fraction(error)
    assert Fraction(spectrum.greatest_eigenvalue(np.eye(1), error)) >= 1 + Fraction(error)


def test_a_simplex_counts_curvature_along_it_alone() -> None:
    """Contexts e_1 and e_2 are flat in R^3 and curved along the probability vectors."""
    contexts = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert of_contexts(Ball(3), contexts).strong_convexity == 0
    # B'(e1 e1' + e2 e2')B = I - b b' with |b|^2 = 2/3.
    assert of_contexts(Simplex(3), contexts).strong_convexity == pytest.approx(1 / 3)
    # All-equal contexts do not change along the plane.
    assert of_contexts(Simplex(3), np.ones((7, 3))).strong_convexity == 0


def test_bounds_of_another_loss_scale_the_eigenvalues() -> None:
    found = of_contexts(Ball(2), np.eye(2), second_derivative=([2.0, 3.0], [4.0, 5.0]))
    assert found == pytest.approx((2, 5))
    unknown = of_contexts(Ball(2), np.eye(2), second_derivative=(2.0, np.inf))
    assert unknown == (pytest.approx(2), np.inf)


PAIR: Any = np.eye(2)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: of_contexts(Ball(2), [[1.0, 2.0, 3.0]]), DomainError, "2 numbers.*rows of 3"),
        (lambda: of_contexts(Ball(2), [[0.0, 0.0], [1.0, np.nan]]), ParameterError, "row 1"),
        (lambda: of_contexts(Ball(2), [["a", "b"]]), DomainError, "rows of numbers"),
        (lambda: of_contexts(Ball(2), np.zeros((0, 2))), DomainError, "rows of numbers"),
        (lambda: of_contexts(Ball(2), PAIR, weights=[1, 2, 3]), DomainError, "2 rows"),
        (lambda: of_contexts(Ball(2), PAIR, weights=-1.0), ParameterError, "negative"),
        (lambda: of_contexts(Ball(2), PAIR, weights=np.inf), ParameterError, "finite"),
        (lambda: of_contexts("disc", PAIR), ParameterError, "dikin domain"),  # type: ignore[arg-type]
        *(
            (lambda b=bad: of_contexts(Ball(2), PAIR, second_derivative=b), ParameterError, "mu")
            for bad in ((-1.0, 1.0), (2.0, 1.0), (np.inf, np.inf), ([1, 2, 3], 4.0), "ab", (1.0,))
        ),
    ],
)
def test_refusals(call: Callable[[], Any], error: type[DikinError], words: str) -> None:
    with pytest.raises(error, match=words):
        call()
