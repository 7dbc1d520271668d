"""Bounds on eigenvalues hold in exact arithmetic, and flat batches give exactly 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curvature.exact import exact, gram, is_semidefinite, shifted, times
from dikin import Affine, Ball, Box, Simplex
from dikin.curvature import (
    Between,
    Curvature,
    CurvatureSum,
    eigenvalues,
    of_contexts,
    of_eigenvalues,
    quadratic,
    ridge,
    spectrum,
)
from dikin.curvature.gram import Gram
from dikin.errors import CheckFailedError

DOMAINS = {2: [Ball(2), Simplex(3)], 3: [Box([0, 0, 0], [1, 2, 3]), Simplex(4)]}
CAP = Affine(Ball(2), [[1.0, 0.3], [0.2, 1.0], [0.5, -0.7]], [0.0, 1.0, 0.0])
ALL = [*DOMAINS[2], *DOMAINS[3], CAP]
Compute = Callable[..., Curvature]


def in_plane(domain: Any, contexts: Any) -> Any:
    """The rows B'c_i of the domain's stored basis, without rounding."""
    return times(exact(contexts), exact(domain.basis))


def require_true(compute: Compute, domain: Any, contexts: Any, weights: Any) -> None:
    """sigma I <= G <= beta I for the exact Gram matrix of squared losses."""
    found = compute(domain, contexts, weights=weights)
    matrix = gram(in_plane(domain, contexts), [Fraction(float(w)) for w in weights])
    if not is_semidefinite(shifted(matrix, 1, -found.strong_convexity)):
        raise CheckFailedError(f"{found.strong_convexity} is above an eigenvalue")
    if not is_semidefinite(shifted(matrix, -1, found.smoothness)):
        raise CheckFailedError(f"{found.smoothness} is below an eigenvalue")


def require_flat(compute: Compute, domain: Any, contexts: Any) -> None:
    found = compute(domain, contexts, weights=np.ones(len(contexts)))
    if found.strong_convexity != 0.0:
        raise CheckFailedError(f"a flat batch has the curvature {found.strong_convexity}")


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
    require_true(of_contexts, *batch)


def flat_batches() -> Iterator[tuple[Any, Any]]:
    """Contexts in a common plane as they stand, whatever rounding makes of their products."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        column = rng.standard_normal((9, 1)) * 10.0 ** rng.integers(-6, 6)
        yield Ball(2), np.hstack([column, column])  # a column twice
        yield Ball(3), np.hstack([column, rng.standard_normal((9, 1)), 2 * column])
        yield Ball(4), rng.standard_normal((3, 4))  # fewer rows than dimensions
        yield Ball(3), np.repeat(rng.standard_normal((2, 3)), 20, axis=0)  # two rows many times
    yield Ball(2), np.zeros((5, 2))
    yield Ball(2), np.full((5, 2), 1e-160)  # products underflow
    yield Ball(2), np.full((5, 2), 1e200)  # products overflow


@pytest.mark.parametrize("compute", [of_contexts])
def test_flat_batches_have_exactly_no_curvature(compute: Compute) -> None:
    for domain, contexts in flat_batches():
        require_flat(compute, domain, contexts)


def bare(domain: Any, contexts: Any, *, weights: Any) -> Curvature:
    rows = np.asarray(contexts) @ domain.basis
    values = np.linalg.eigvalsh((rows.T * weights) @ rows)
    return Curvature(max(float(values[0]), 0.0), max(float(values[-1]), 0.0))


def without_rounding_of_the_sum(domain: Any, contexts: Any, *, weights: Any) -> Curvature:
    found = of_contexts(domain, contexts, weights=weights)
    return Curvature(found.strong_convexity * (1 + 1e-12), found.smoothness)


def across_the_plane(domain: Any, contexts: Any, *, weights: Any) -> Curvature:
    """The largest eigenvalue of the whole space is none of the plane's smallest."""
    found = of_contexts(domain, contexts, weights=weights)
    return Curvature(found.smoothness, found.smoothness)


def test_the_checks_notice() -> None:
    with pytest.raises(CheckFailedError):
        test_flat_batches_have_exactly_no_curvature(bare)
    rng = np.random.default_rng(1)
    for mutant in (without_rounding_of_the_sum, across_the_plane):
        with pytest.raises(CheckFailedError):
            require_true(mutant, Simplex(3), rng.standard_normal((5, 3)), np.ones(5))
    with pytest.raises(CheckFailedError):
        require_true_often(bare, rng)


def require_true_often(compute: Compute, rng: np.random.Generator) -> None:
    for _ in range(50):
        require_true(compute, Ball(3), rng.standard_normal((8, 3)), np.ones(8))


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


@pytest.mark.parametrize("portion", [1, 7, 100])
def test_rows_may_come_in_any_portions(portion: int) -> None:
    rng = np.random.default_rng(5)
    contexts, weights = rng.standard_normal((100, 4)), rng.random(100)
    total = CurvatureSum(Simplex(4))
    for first in range(0, 100, portion):
        some = slice(first, first + portion)
        total.add(contexts[some], weights=weights[some])
    whole = of_contexts(Simplex(4), contexts, weights=weights)
    found = total.curvature()
    assert total.rows == 100
    assert found.strong_convexity == pytest.approx(whole.strong_convexity, rel=1e-10)
    assert found.smoothness == pytest.approx(whole.smoothness, rel=1e-10)
    require_true(lambda *_, **__: found, Simplex(4), contexts, weights)


def test_many_rows_take_little_memory() -> None:
    total = CurvatureSum(Ball(3))
    rng = np.random.default_rng(0)
    for _ in range(20):
        total.add(rng.standard_normal((5000, 3)))
    assert total.curvature().strong_convexity == pytest.approx(1e5, rel=0.02)


@given(batches())
@settings(max_examples=40, deadline=None, derandomize=True)
def test_a_revealed_eigenvalue_says_no_more_than_the_contexts(batch: Any) -> None:
    domain, contexts, weights = batch
    low, high = eigenvalues(contexts, weights)
    from_value = of_eigenvalues(low, largest=high)
    matrix = gram(in_plane(domain, contexts), [Fraction(float(w)) for w in weights])
    # The stored basis of a plane is orthonormal to a few roundings only.
    slack = 0 if domain.dim == domain.center.size else 1e-15 * (high + 1)
    assert is_semidefinite(shifted(matrix, 1, slack - from_value.strong_convexity))
    assert is_semidefinite(shifted(matrix, -1, slack + from_value.smoothness))


def test_own_bounds_scale_the_eigenvalues() -> None:
    contexts = np.eye(2)
    found = of_contexts(Ball(2), contexts, Between([2.0, 3.0], [4.0, 5.0]))
    assert found.strong_convexity == pytest.approx(2)
    assert found.smoothness == pytest.approx(5)
    assert of_contexts(Ball(2), contexts, Between(2.0)).smoothness == np.inf
    assert of_eigenvalues(1.5, Between(2.0)) == Curvature(3.0)


numbers = st.floats(0, 1e12, allow_subnormal=False)


@given(numbers, numbers, numbers)
@settings(deadline=None, derandomize=True)
def test_sums_and_multiples_are_rounded_towards_less(one: float, two: float, factor: float) -> None:
    a, b = Curvature(min(one, two), max(one, two)), ridge(factor)
    total, multiple = a + b, factor * a
    for found, low, high in (
        (
            total,
            Fraction(min(one, two)) + Fraction(factor),
            Fraction(max(one, two)) + Fraction(factor),
        ),
        (
            multiple,
            Fraction(factor) * Fraction(min(one, two)),
            Fraction(factor) * Fraction(max(one, two)),
        ),
    ):
        assert Fraction(found.strong_convexity) <= low
        assert Fraction(found.smoothness) >= high
        assert found.strong_convexity == pytest.approx(float(low), rel=3e-16, abs=1e-300)


@pytest.mark.parametrize("domain", ALL, ids=repr)
def test_quadratics(domain: Any) -> None:
    rng, size = np.random.default_rng(2), domain.center.size
    root = rng.standard_normal((size, size))
    matrix = root @ root.T
    found = quadratic(domain, matrix + np.triu(root, 1) - np.triu(root, 1).T)  # b'Ab is the same
    half = shifted(exact(matrix), 1, 0.0)
    basis = exact(domain.basis)
    along = times([list(column) for column in zip(*basis, strict=True)], times(half, basis))
    assert is_semidefinite(shifted(along, 1, -found.strong_convexity))
    assert is_semidefinite(shifted(along, -1, found.smoothness))
    values = np.linalg.eigvalsh(domain.basis.T @ matrix @ domain.basis)
    assert found.strong_convexity == pytest.approx(values[0], rel=1e-9)
    assert quadratic(domain, np.ones((size, size))).strong_convexity == 0 or size == 1
