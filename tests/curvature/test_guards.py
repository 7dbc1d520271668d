"""Every allowance for rounding is needed: without it a bound is wrong in exact arithmetic."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from curvature.exact import exact, is_semidefinite, shifted
from dikin import Affine, Ball
from dikin.curvature import Curvature, contexts, of_contexts, spectrum
from dikin.curvature.contexts import Gram
from dikin.errors import CheckFailedError

UNIT = 2.0**-53


def require_between(found: Curvature, least: Fraction, most: Fraction) -> None:
    """sigma is at most the least second derivative and beta at least the largest."""
    if not Fraction(found.strong_convexity) <= least:
        raise CheckFailedError(f"sigma = {found.strong_convexity!r}, the true one is lower")
    if not Fraction(found.smoothness) >= most:
        raise CheckFailedError(f"beta = {found.smoothness!r}, the true one is higher")


def gram_error() -> None:
    """One row after another, so that no library chooses the order: 1 + c^2 + c^2 + ...

    c^2 is a little more (less) than half the distance from 1 to the next float. Each addition
    rounds up to that float (back to the old sum): n of them are wrong by n u, or almost.
    """
    for share in (1.01, 0.99):
        small = float(np.sqrt(share * UNIT))
        added = Gram(1)
        for entry in (1.0, *[small] * 200):
            row = np.array([[entry]])
            added.add(row, np.ones(1), row[0] ** 2)
        total = 1 + 200 * Fraction(small) ** 2
        require_between(Curvature(added.least(), added.greatest()), total, total)


def projection_error() -> None:
    """B'c = 1 + e + e + ..., where again each e is about half of what 1 can be moved by.

    A library may add in up to 64 separate sums: the one that begins with 1 still has 4096/64 terms.
    """
    for share in (1.1, 0.9):
        column = np.full((4096, 1), np.sqrt(share * UNIT))
        column[0] = 1.0
        line = Affine(Ball(1), column, np.zeros(4096))
        context = np.copysign(column[:, 0], line.basis[:, 0])
        context[0] *= 1 + 2.0**-30  # so that the first product, and every sum, is above 1
        terms = zip(context, line.basis[:, 0], strict=True)
        along = sum((Fraction(c) * Fraction(b) for c, b in terms), Fraction(0))
        require_between(of_contexts(line, [context]), along**2, along**2)


def grams(seed: int, count: int) -> Iterator[Any]:
    """Small matrices of whole numbers, exact as they stand."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        rows = rng.integers(-9, 10, (3, 3)).astype(float)
        yield rows.T @ rows


def require_bound(matrix: Any, side: int, bound: float) -> None:
    """That the matrix is at least the bound, or for the side -1 at most."""
    if not is_semidefinite(shifted(exact(matrix), side, -side * bound)):
        raise CheckFailedError(f"{bound!r} is on the wrong side of an eigenvalue")


SIDES = ((1, 0, spectrum.proven_below), (-1, -1, spectrum.proven_above))


def aimed(prove: Callable[[Any, float], float], matrix: Any, value: float) -> Iterator[float]:
    """Bounds proven from guesses so wrong that the first number tried is the eigenvalue itself.

    Or is next to it, on either side.
    """
    miss = prove(matrix, value) - value
    for off in (-1, 0, 1):
        yield prove(matrix, value - miss + off * UNIT * abs(value))


def cholesky_rounding(side: int, which: int, prove: Callable[[Any, float], float]) -> None:
    """A factorisation that runs to completion proves s only up to its own rounding.

    With that left out, about one matrix of 25 gets a wrong bound. Which ones depends on how LAPACK
    rounds.
    """
    for matrix in grams(0, 400):
        for bound in aimed(prove, matrix, float(np.linalg.eigvalsh(matrix)[which])):
            require_bound(matrix, side, bound)


def cholesky_decides() -> None:
    """The guess may be as wrong as it likes."""
    for matrix in grams(1, 50):
        values = np.linalg.eigvalsh(matrix)
        require_bound(matrix, 1, spectrum.proven_below(matrix, 1.5 * float(values[0])))
        require_bound(matrix, -1, spectrum.proven_above(matrix, 0.5 * float(values[-1])))


Patch = tuple[Any, str, Any]


def negligible(_: int) -> float:
    """Zero itself would make the search for a bound endless."""
    return 1e-9 * UNIT


GUARDS: list[tuple[Callable[[], None], Patch]] = [
    (gram_error, (Gram, "_error", lambda self: 0.0)),
    (projection_error, (contexts, "row_error", lambda domain: 1e-300)),
    *((partial(cholesky_rounding, *side), (spectrum, "gamma", negligible)) for side in SIDES),
    (cholesky_decides, (spectrum, "is_positive_definite", lambda matrix: True)),
]


@pytest.mark.parametrize(("check", "patch"), GUARDS)
def test_the_bound_is_true_and_would_not_be_without_its_guard(
    check: Callable[[], None], patch: Patch, monkeypatch: pytest.MonkeyPatch
) -> None:
    check()
    monkeypatch.setattr(*patch)
    with pytest.raises(CheckFailedError):
        check()
