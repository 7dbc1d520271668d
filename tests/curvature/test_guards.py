"""Every allowance for rounding is needed: without it a bound is wrong in exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from curvature.exact import exact, is_semidefinite, shifted
from dikin import Affine, Ball
from dikin.curvature import (
    Curvature,
    CurvatureSum,
    Huber,
    bounds,
    losses,
    of_contexts,
    projection,
    quadratic,
    spectrum,
)
from dikin.curvature.gram import Gram
from dikin.curvature.projection import Projection
from dikin.errors import CheckFailedError

UNIT = 2.0**-53


def require_between(found: Curvature, least: Fraction, most: Fraction) -> None:
    """sigma is at most the least second derivative and beta at least the largest."""
    if not Fraction(found.strong_convexity) <= least:
        raise CheckFailedError(f"sigma = {found.strong_convexity!r}, the true one is lower")
    if not Fraction(found.smoothness) >= most:
        raise CheckFailedError(f"beta = {found.smoothness!r}, the true one is higher")


# --- the sum of the Gram matrix ------------------------------------------------------------------


def gram_error() -> None:
    """One row after another, so that no library chooses the order: 1 + c^2 + c^2 + ...

    c^2 is a little more (less) than half the distance from 1 to the next float. Each addition
    rounds up to that float (back to the old sum): n of them are wrong by n u, or almost.
    """
    for share in (1.01, 0.99):
        small = float(np.sqrt(share * UNIT))
        added = CurvatureSum(Ball(1))
        for row in (1.0, *[small] * 200):
            added.add([[row]])
        total = 1 + 200 * Fraction(small) ** 2
        require_between(added.curvature(), total, total)


# --- contexts that are projected onto a plane ----------------------------------------------------


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


# --- quadratics along a plane --------------------------------------------------------------------


def quadratic_error() -> None:
    """b'Ab is 1 or little more, and the entries of A are 10^11: they cancel but for rounding.

    A = 2^30 (v.v - v v') + 1 for the direction v of a line, all in whole numbers.
    """
    rng = np.random.default_rng(0)
    for _ in range(40):
        v = rng.integers(1, 10, 4).astype(float)
        line = Affine(Ball(1), v[:, None], np.zeros(4))
        matrix = 2.0**30 * (v @ v * np.eye(4) - np.outer(v, v)) + np.eye(4)
        b = [Fraction(entry) for entry in line.basis[:, 0].tolist()]
        along = sum(
            (b[i] * Fraction(matrix[i, j]) * b[j] for i, j in product(range(4), repeat=2)),
            Fraction(0),
        )
        require_between(quadratic(line, matrix), along, along)


# --- Cholesky's factorisation as a proof ---------------------------------------------------------


def grams(seed: int, count: int) -> Iterator[Any]:
    """Small matrices of whole numbers, exact as they stand."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        rows = rng.integers(-9, 10, (3, 3)).astype(float)
        yield rows.T @ rows


def require_below(matrix: Any, bound: float) -> None:
    if not is_semidefinite(shifted(exact(matrix), 1, -bound)):
        raise CheckFailedError(f"{bound!r} is above an eigenvalue")


def require_above(matrix: Any, bound: float) -> None:
    if not is_semidefinite(shifted(exact(matrix), -1, bound)):
        raise CheckFailedError(f"{bound!r} is below an eigenvalue")


def aimed(prove: Callable[[Any, float], float], matrix: Any, value: float) -> Iterator[float]:
    """Bounds proven from guesses so wrong that the first number tried is the eigenvalue itself.

    Or is next to it, on either side.
    """
    miss = prove(matrix, value) - value
    for off in (-1, 0, 1):
        yield prove(matrix, value - miss + off * UNIT * abs(value))


def cholesky_rounding_below() -> None:
    """A factorisation that runs to completion proves s only up to its own rounding.

    With that left out, about one matrix of 25 gets a wrong bound, here and in the next check. Which
    ones depends on how LAPACK rounds.
    """
    for matrix in grams(0, 400):
        value = float(np.linalg.eigvalsh(matrix)[0])
        for bound in aimed(spectrum.proven_below, matrix, value):
            require_below(matrix, bound)


def cholesky_rounding_above() -> None:
    for matrix in grams(0, 400):
        value = float(np.linalg.eigvalsh(matrix)[-1])
        for bound in aimed(spectrum.proven_above, matrix, value):
            require_above(matrix, bound)


def cholesky_decides() -> None:
    """The guess may be as wrong as it likes."""
    for matrix in grams(1, 50):
        values = np.linalg.eigvalsh(matrix)
        require_below(matrix, spectrum.proven_below(matrix, 1.5 * float(values[0])))
        require_above(matrix, spectrum.proven_above(matrix, 0.5 * float(values[-1])))


# --- residuals -----------------------------------------------------------------------------------


def huber_residual() -> None:
    """The largest residual is 1 + 2^-60, beyond the threshold 1, and rounds to 1."""
    for low, high, target in ((0.0, 1.0, -(2.0**-60)), (-1.0, 0.0, 2.0**-60)):
        far = max(abs(Fraction(end) - Fraction(target)) for end in (low, high))
        assert far > 1
        least, _ = Huber(1.0).second_derivative_bounds(
            np.array([low]), np.array([high]), np.array([target])
        )
        if least[0] > 0:
            raise CheckFailedError("a residual beyond the threshold has no curvature")


CENTER = 2.0**30 + 1


def span_margin() -> None:
    """Far from the origin c.center is rounded by more than what decides about a residual.

    On the interval CENTER +- 1 the residual is c (CENTER + v) - y for |v| <= 1. With c a multiple
    of 2^-24 and y the product c CENTER as it is rounded, to a multiple of 2^-22, that is near
    [-1, 1]; y - 3 makes it [2, 4]. Thresholds 2^-24 apart lie on both sides of its ends.
    """
    domain = Ball(1, 1.0, [CENTER])
    for step, more in product(range(-3, 4), range(-6, 7)):
        c, change = 1 + step * 2.0**-24, more * 2.0**-24
        y, exact = c * CENTER, Fraction(c) ** 2
        low, high = (Fraction(c) * (Fraction(CENTER) + v) - Fraction(y) for v in (-1, 1))
        within = max(abs(low), abs(high)) <= 1 + Fraction(change)
        found = of_contexts(domain, [[c]], Huber(1 + change), targets=[y])
        require_between(found, exact * within, exact)
        reached = low + 3 <= 2 + Fraction(change)
        found = of_contexts(domain, [[c]], Huber(2 + change), targets=[y - 3])
        require_between(found, Fraction(0), exact * reached)


# --- each one, without its allowance -------------------------------------------------------------

Patch = tuple[Any, str, Any]


def negligible(_: int) -> float:
    """Zero itself would make the search for a bound endless."""
    return 1e-9 * UNIT


GUARDS: list[tuple[Callable[[], None], Patch]] = [
    (gram_error, (Gram, "_error", lambda self: 0.0)),
    (projection_error, (Projection, "relative_error", 0.0)),
    (quadratic_error, (bounds, "SLACK", 0.0)),
    (cholesky_rounding_below, (spectrum, "gamma", negligible)),
    (cholesky_rounding_above, (spectrum, "gamma", negligible)),
    (cholesky_decides, (spectrum, "is_positive_definite", lambda matrix: True)),
    (huber_residual, (losses, "ULPS", 0.0)),
    (span_margin, (projection, "gamma", lambda count: 0.0)),
]
CASES = pytest.mark.parametrize(
    ("check", "patch"), GUARDS, ids=[check.__name__ for check, _ in GUARDS]
)


@CASES
def test_the_bound_is_true_and_would_not_be_without_its_guard(
    check: Callable[[], None], patch: Patch, monkeypatch: pytest.MonkeyPatch
) -> None:
    check()
    monkeypatch.setattr(*patch)
    with pytest.raises(CheckFailedError):
        check()


@CASES
def test_without_any_guard_every_bound_is_wrong(
    check: Callable[[], None], patch: Patch, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _, each in GUARDS:
        monkeypatch.setattr(*each)
    with pytest.raises(CheckFailedError):
        check()
