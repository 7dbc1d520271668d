"""Scalar losses: their derivatives, bounds on g'' in 50 digits, and the curvature of sums."""

from __future__ import annotations

import sys
from collections.abc import Callable
from decimal import Decimal, localcontext
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dikin import Ball, Box, Simplex
from dikin.curvature import (
    Between,
    Curvature,
    CurvatureSum,
    Huber,
    Logistic,
    Squared,
    of_contexts,
    of_eigenvalues,
)
from dikin.errors import CheckFailedError, CurvatureError, DikinError, ParameterError, ShapeError

LOSSES = [Squared(), Logistic(), Huber(1.5)]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_slope_and_bend_are_derivatives(loss: Any) -> None:
    z = np.linspace(-4, 4, 41) + 0.0137  # no point where Huber's second derivative jumps
    for y in (-1.0, 1.0):
        targets, h = np.full_like(z, y), 1e-5
        slope = (loss.value(z + h, targets) - loss.value(z - h, targets)) / (2 * h)
        second = (loss.derivative(z + h, targets) - loss.derivative(z - h, targets)) / (2 * h)
        np.testing.assert_allclose(loss.derivative(z, targets), slope, atol=1e-9)
        np.testing.assert_allclose(loss.second_derivative(z, targets), second, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_bends_enclose_every_bend(loss: Any) -> None:
    rng = np.random.default_rng(0)
    low = rng.uniform(-5, 5, 200)
    high, targets = low + rng.exponential(1.0, 200), rng.choice([-1.0, 1.0], 200)
    least, most = loss.second_derivative_bounds(low, high, targets)
    for share in np.linspace(0, 1, 21):
        second = loss.second_derivative(low + share * (high - low), targets)
        assert (least <= second).all()
        assert (second <= most).all()


@given(st.floats(-800, 800), st.floats(0, 800))
@settings(deadline=None, derandomize=True)
def test_logistic_bends_in_fifty_digits(low: float, width: float) -> None:
    high = low + width
    least, most = Logistic().second_derivative_bounds(np.array([low]), np.array([high]), None)
    with localcontext() as context:
        context.prec = 50

        def second_derivative(z: float) -> Decimal:
            fall = (-abs(Decimal(z))).exp()
            return fall / (1 + fall) ** 2

        far = second_derivative(max(abs(low), abs(high)))
        near = second_derivative(0.0 if low <= 0 <= high else min(abs(low), abs(high)))
        digits = Decimal("1e-45")  # of this arithmetic itself
        assert Decimal(float(least[0])) <= far * (1 + digits)
        assert Decimal(float(most[0])) >= near * (1 - digits)
        if far > Decimal("1e-290"):
            assert Decimal(float(least[0])) >= far * (1 - Decimal("1e-14"))


def test_huber_counts_rows_that_surely_stay_within() -> None:
    contexts, targets = np.eye(2), np.array([0.0, 0.0])
    inside = of_contexts(Ball(2), contexts, Huber(1.001), targets=targets)
    assert inside.strong_convexity == pytest.approx(1)
    assert of_contexts(Ball(2), contexts, Huber(0.999), targets=targets).strong_convexity == 0
    far = of_contexts(Ball(2), contexts, Huber(1.0), targets=[9.0, 9.0])
    assert far.strong_convexity == 0
    assert far.smoothness < 1e-300


# --- the loss itself, at points of the domain ------------------------------------------------


def require_curved(compute: Callable[..., Curvature], loss: Any, domain: Any, rng: Any) -> None:
    """(f(x) + f(y))/2 - f((x+y)/2) is between sigma/8 and beta/8 times |x-y|^2."""
    contexts = rng.standard_normal((3 * domain.dim, domain.center.size))
    targets = rng.choice([-1.0, 1.0], len(contexts))
    found = compute(domain, contexts, loss, targets=targets, weights=1 / len(contexts))

    def f(x: Any) -> float:
        return float(loss.value(contexts @ x, targets).mean())

    for _ in range(300):
        x, y = (_point(domain, rng) for _ in range(2))
        drop, square = (f(x) + f(y)) / 2 - f((x + y) / 2), float((x - y) @ (x - y))
        if not found.strong_convexity / 8 * square <= drop + 1e-14:
            raise CheckFailedError(f"sigma = {found.strong_convexity} is too much")
        if not found.smoothness / 8 * square >= drop - 1e-14:
            raise CheckFailedError(f"beta = {found.smoothness} is too little")


def _point(domain: Any, rng: Any) -> Any:
    """A point somewhere between the centre and the boundary, often near the latter."""
    step = domain.outward(rng.standard_normal(domain.dim))
    high = 10 * domain.radius / float(np.linalg.norm(step))
    low = 0.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if domain.contains(domain.center + middle * step) else (low, middle)
        )
    return domain.center + low * step * rng.choice([0.3, 0.9, 1.0])


DOMAINS = [Ball(2, 3.0), Ball(3, 0.5, [1.0, -1.0, 2.0]), Box([-2, 0], [1, 5]), Simplex(4)]


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_losses_are_as_curved_as_computed(loss: Any, domain: Any) -> None:
    require_curved(of_contexts, loss, domain, np.random.default_rng(3))


def at_the_centre(domain: Any, contexts: Any, loss: Any, **rest: Any) -> Curvature:
    """Takes the curvature at the centre for that of the domain."""
    at_center = loss.second_derivative(contexts @ domain.center.ravel(), rest["targets"])
    return of_contexts(domain, contexts, Between(at_center, 1.0), **rest)


def as_if_squared(domain: Any, contexts: Any, loss: Any, **rest: Any) -> Curvature:
    return of_contexts(domain, contexts, Squared(), **rest)


def half_as_round(domain: Any, contexts: Any, loss: Any, **rest: Any) -> Curvature:
    found = of_contexts(domain, contexts, loss, **rest)
    return Curvature(found.strong_convexity / 3, found.smoothness / 3)


@pytest.mark.parametrize("mutant", [at_the_centre, as_if_squared, half_as_round])
def test_the_check_notices(mutant: Callable[..., Curvature]) -> None:
    with pytest.raises(CheckFailedError):
        require_curved(mutant, Logistic(), Ball(2, 3.0), np.random.default_rng(3))


def test_the_logistic_bound_is_reached_on_a_line() -> None:
    """In one dimension with contexts of one sign the least curvature is at one end."""
    contexts = np.array([[0.5], [1.0], [2.0]])
    found = of_contexts(Ball(1, 2.0), contexts, Logistic())
    true = float(
        (
            contexts[:, 0] ** 2 * Logistic().second_derivative(2 * contexts[:, 0], contexts[:, 0])
        ).sum()
    )
    assert found.strong_convexity == pytest.approx(true, rel=1e-12)
    assert found.strong_convexity <= true


def test_a_larger_domain_and_longer_contexts_say_less() -> None:
    contexts = np.random.default_rng(0).standard_normal((9, 2))
    found = [
        of_contexts(Ball(2, radius), contexts, Logistic()).strong_convexity
        for radius in (0.1, 1, 9)
    ]
    assert found[0] > found[1] > found[2] > 0
    reach = float(np.linalg.norm(contexts, axis=1).max())
    least = np.linalg.eigvalsh(contexts.T @ contexts)[0]
    assert of_eigenvalues(float(least), Logistic(), reach=reach).strong_convexity < found[1]
    assert of_eigenvalues(1.0, Logistic()).strong_convexity == 0


# --- refusals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: of_contexts(Ball(2), [[1.0, 2.0, 3.0]]), ShapeError, "2 numbers.*rows of 3"),
        (lambda: of_contexts(Ball(2), [[1.0, np.nan]]), ParameterError, "row 0"),
        (lambda: of_contexts(Ball(2), [["a", "b"]]), ShapeError, "rows of numbers"),
        (lambda: of_contexts(Ball(2), np.zeros((0, 2))), ShapeError, "rows of numbers"),
        (lambda: of_contexts(Ball(2), np.eye(2), weights=[1.0]), None, ""),
        (lambda: of_contexts(Ball(2), np.eye(2), weights=[1, 2, 3]), ShapeError, "2 rows"),
        (lambda: of_contexts(Ball(2), np.eye(2), weights=-1.0), ParameterError, "negative"),
        (lambda: of_contexts(Ball(2), np.eye(2), weights=np.inf), ParameterError, "finite"),
        (lambda: of_contexts(Ball(2), np.eye(2), Huber(1.0)), ParameterError, "pass targets"),
        (lambda: of_contexts("disc", np.eye(2)), ParameterError, "dikin domain"),
        (lambda: of_contexts(Ball(2), np.eye(2), "logistic"), ParameterError, "Logistic()"),
        (lambda: of_contexts(Ball(2), np.eye(2), Logistic), ParameterError, "Logistic()"),
        (lambda: of_eigenvalues(1.0, Logistic), ParameterError, "Logistic()"),
        (lambda: of_contexts(Ball(2), np.eye(2), Between([1, 2, 3])), CurvatureError, "2 rows"),
        (lambda: Between(-1.0), CurvatureError, "not negative"),
        (lambda: Between(2.0, 1.0), CurvatureError, "at least mu"),
        (lambda: Huber(0.0), ParameterError, "threshold"),
        (lambda: Curvature(-1.0), CurvatureError, "not negative"),
        (lambda: Curvature(2.0, 1.0), CurvatureError, "smoother"),
        (lambda: -1 * Curvature(2.0), CurvatureError, "not negative"),
        (lambda: of_eigenvalues(-0.1), ParameterError, "smallest"),
        (lambda: of_eigenvalues(2.0, largest=1.0), CurvatureError, "at least smallest"),
        (lambda: of_eigenvalues(2.0, reach=-1.0), ParameterError, "reach"),
    ],
)
def test_refusals(call: Callable[[], Any], error: type[DikinError] | None, words: str) -> None:
    if error is None:
        call()
        return
    with pytest.raises(error, match=words):
        call()


def test_a_sum_beyond_all_floats_is_still_bounded() -> None:
    huge = Curvature(1e308, 1e308)
    for found in (huge + huge, 10 * huge):
        assert (found.strong_convexity, found.smoothness) == (sys.float_info.max, inf)


def test_a_refused_portion_adds_nothing() -> None:
    total = CurvatureSum(Ball(2), Huber(9.0))
    total.add(np.eye(2), targets=0.0)
    before = total.curvature()
    with pytest.raises(ParameterError):
        total.add(np.eye(2))
    assert (total.rows, total.curvature()) == (2, before)
