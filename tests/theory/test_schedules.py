"""Lemma 6 (lemma:H-function-main) and Lemma 22 (lemma:H-function-lip-app), each derived twice.

`holds` gives each check the real function, then deliberately wrong ones, which it must reject.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from another_solver import least_value
from dikin.errors import ParameterError
from dikin.theory import schedules
from paper.charts import holds


class Setting:
    """A setting of the library, and its formulas as the paper writes them."""

    def __init__(self, name: str, order: int, numerator: Callable[[int, float], float]) -> None:
        self.order = order  # lambda^order S = target
        self.numerator = numerator  # as the paper writes it
        self.target = lambda dim, constant: numerator(dim, constant) ** order
        self.name = name
        self.made = partial(schedules.Setting, order)
        self.root = partial(schedules.regularisation, order=order)

    def objective(self, lambdas, sigmas, first, dim, constant) -> float:
        return self.made(dim, constant).objective(lambdas, sigmas, first)

    def minimum(self, sigmas, first, dim, constant) -> tuple[float, float]:
        return self.made(dim, constant).minimum(sigmas, first)

    def adaptive(self, sigmas, first, dim, constant) -> np.ndarray:
        return self.made(dim, constant).adaptive_lambdas(sigmas, first)

    def on_round(self, index: int, mass: float, sigmas, *rest) -> float:
        return self.objective(mass * np.eye(len(sigmas))[index], sigmas, *rest)


SMOOTH = Setting("smooth", 2, lambda d, beta: d * math.sqrt(beta + 1))
LIPSCHITZ = Setting("lipschitz", 3, lambda d, lip: d ** (2 / 3) * (lip + 1) ** (2 / 3))
OTHER = {SMOOTH: LIPSCHITZ, LIPSCHITZ: SMOOTH}
both = pytest.mark.parametrize("s", OTHER, ids=["smooth", "lipschitz"])
law = settings(max_examples=200, deadline=None, derandomize=True)


@both
def test_target_is_the_numerator_to_the_power_k(s: Setting) -> None:
    def check(target) -> None:
        for dim, constant in ((1, 0.0), (3, 0.7), (40, 25.0)):
            assert target(dim, constant) == pytest.approx(s.target(dim, constant), rel=1e-14)

    holds(check, lambda d, c: s.made(d, c).target, lambda d, c: OTHER[s].made(d, c).target)


def patterns(rounds: int) -> list[np.ndarray]:
    """The paper's five patterns and two random ones, then what an adversary might think of."""
    t = np.arange(1, rounds + 1)
    rng = np.random.default_rng(rounds)
    return [
        *(np.full(rounds, level) for level in (0.0, 0.5)),
        np.where(t <= rounds**0.75, 0.0, 0.5),
        np.where(t <= rounds / 2, 0.5, 0.0),
        t**-0.5,
        rng.exponential(size=rounds) ** 3,
        np.where(rng.random(rounds) < 0.1, rng.exponential(30.0, rounds), 0.0),
        *(np.where(t == spike, 1e6, 0.0) for spike in (1, rounds // 2, rounds)),
        np.where(t % 2 == 0, 1e3, 0.0),
        2.0 ** np.minimum(t, 40),
    ]


@both
def test_objective_is_the_paper_s_sum_written_out(s: Setting) -> None:
    def check(objective) -> None:
        for sigmas in patterns(17):
            lambdas = np.random.default_rng(1).random(17)
            price, total = 0.0, 5.0
            for lam, sigma in zip(lambdas, sigmas, strict=True):
                total += sigma + lam
                price += lam + s.numerator(3, 0.7) / total ** (1 / s.order)
            assert objective(lambdas, sigmas, 5.0, 3, 0.7) == pytest.approx(price, rel=1e-12)

    f = s.objective
    holds(
        check,
        f,
        lambda lam, sig, first, d, c: f(lam, sig, 1e-9, d, c),  # lambda_0 dropped
        lambda lam, sig, first, d, c: f(lam, sig, first, d, c - 1),  # beta for beta + 1
        lambda lam, sig, first, d, c: f(lam, sig, first, d, c) + first,  # lambda_{0:t} for _{1:t}
        lambda lam, sig, first, d, c: f(lam, np.r_[0, sig[:-1]], first, d, c),  # t - 1 for t
    )


@both
def test_minimum_over_the_whole_sequence_is_the_one_dimensional_one(s: Setting) -> None:
    def solve(sigmas, first, dim, constant) -> float:
        lambdas = cp.Variable(len(sigmas), nonneg=True)
        terms = cp.power(first + np.cumsum(sigmas) + cp.cumsum(lambdas), -1 / s.order)
        price = cp.sum(lambdas) + s.numerator(dim, constant) * cp.sum(terms)
        return least_value(cp.Problem(cp.Minimize(price)))

    rows = []
    for rounds, first, dim, constant in [(1, 8, 2, 1.0), (7, 0.01, 1, 0.0), (40, 14, 3, 0.5)]:
        for sigmas in patterns(rounds)[:7]:  # spikes cost the solver its digits
            rows.append(((sigmas, first, dim, constant), solve(sigmas, first, dim, constant)))

    def check(minimum) -> None:
        for problem, reference in rows:
            assert minimum(*problem)[0] == pytest.approx(reference, rel=1e-6)

    f = s.minimum
    holds(
        check,
        f,
        lambda *a: (min(s.on_round(-1, m, *a) for m in np.linspace(0, 99, 999)), 0),  # last round
        lambda sig, first, d, c: f(sig, 1e-9, d, c),  # lambda_0 dropped
        lambda sig, first, d, c: f(sig[:-1], first, d, c),  # one round short
        OTHER[s].minimum,  # exponent off
    )


@both
def test_mass_of_the_minimiser_attains_the_minimum_on_round_one(s: Setting) -> None:
    def check(minimum) -> None:
        for sigmas in patterns(200):
            for first in (0.1, 8.0, 1e3):
                value, mass = minimum(sigmas, first, 2, 1.0)
                assert mass >= 0
                assert value == pytest.approx(s.on_round(0, mass, sigmas, first, 2, 1.0), rel=1e-14)
                for other in (0.0, *np.geomspace(1e-3, 1e4, 40), mass * 0.99, mass * 1.01):
                    assert value <= s.on_round(0, other, sigmas, first, 2, 1.0) * (1 + 1e-14)

    def off(*factors):
        return lambda *a: tuple(np.multiply(s.minimum(*a), factors))

    holds(check, s.minimum, off(1, 0.98), off(1, 1.02), off(1 + 1e-12, 1), off(1 - 1e-12, 1))


@both
def test_minimum_of_a_million_flat_rounds_has_a_closed_form(s: Setting) -> None:
    def check(minimum) -> None:
        p, target, rounds = 1 / s.order, s.target(2, 1.0), 10**6
        total = (p * target**p * rounds) ** (1 / (p + 1))  # lambda_0 + m
        closed_form = (total - target + rounds * (target / total) ** p, total - target)
        assert minimum(np.zeros(rounds), target, 2, 1.0) == pytest.approx(closed_form, rel=1e-12)

    holds(check, s.minimum, lambda sig, *rest: s.minimum(sig[1:], *rest))
    assert s.minimum([], 1.0, 2, 1.0) == (0.0, 0.0)


def check_root(order: int, root: Callable[[float, float], float], total, target) -> None:
    """The true root is within two units in the last place: a proof by signs, in exact numbers."""
    ulps = 2 * Fraction(sys.float_info.epsilon)
    low, high = (Fraction(root(total, target)) * (1 + side) for side in (-ulps, ulps))
    assert low**order * (Fraction(total) + low) < target < high**order * (Fraction(total) + high)


@both
@law
@given(total=st.floats(-3, 15), target=st.floats(-2, 12))
def test_eqn_oracle_tuning_root_is_within_two_ulps(s: Setting, total, target) -> None:
    check_root(s.order, s.root, 10.0**total, 10.0**target)
    assert 0 < s.root(10.0**target + 10.0**total, 10.0**target) < 1


@both
def test_eqn_oracle_tuning_root_check_bites(s: Setting) -> None:
    def check(root) -> None:
        for total in np.geomspace(1e-3, 1e15, 40).tolist():
            for target in (0.03, 1.0, 8.0, 5e4):
                check_root(s.order, root, total, target)

    holds(
        check,
        s.root,
        lambda total, target: min(1.0, s.root(total, target)),  # right only for total >= target
        lambda total, target: (target / total) ** (1 / s.order),  # the start, and no step
        lambda total, target: s.root(total, target) * (1 + 1e-15),
        OTHER[s].root,
    )


@both
def test_eqn_oracle_tuning_balances_the_two_terms_in_every_round(s: Setting) -> None:
    def check(adaptive) -> None:
        for sigmas in patterns(50):
            lambdas = adaptive(sigmas, s.target(3, 0.5), 3, 0.5)
            curvature = s.target(3, 0.5) + np.cumsum(sigmas) + np.cumsum(lambdas)
            balanced = s.numerator(3, 0.5) / curvature ** (1 / s.order)
            np.testing.assert_allclose(lambdas, balanced, rtol=1e-13)

    holds(check, s.adaptive, lambda sig, *rest: s.adaptive(np.r_[0, sig[:-1]], *rest))


def check_at_most_twice(s: Setting, sequences, adaptive) -> None:
    for sigmas in sequences:
        for dim, constant, ratio in ((1, 0.0, 1.0), (2, 1.0, 1.0), (2, 1.0, 1e4)):
            rest = (ratio * s.target(dim, constant), dim, constant)
            lambdas = adaptive(sigmas, *rest)
            assert 0 < lambdas.min() <= lambdas.max() < 1
            for t in range(1, len(sigmas) + 1):
                paid = s.objective(lambdas[:t], sigmas[:t], *rest)
                assert paid <= 2 * s.minimum(sigmas[:t], *rest)[0] * (1 + 1e-12)


@both
def test_lemma_H_function_adaptive_is_at_most_twice_the_minimum(s: Setting) -> None:  # noqa: N802
    def wrong(believed: Callable[..., float], order: int):
        def adaptive(sigmas, first, dim, constant):
            lam = np.zeros(len(sigmas))
            for t, curvature in enumerate(np.cumsum(sigmas)):
                total = believed(first, curvature, lam.sum())
                lam[t] = min(0.999, (s.target(dim, constant) / total) ** (1 / order))
            return lam

        return adaptive

    # After a huge sigma_1 nothing need be added, and adding lambda_t doubles the price: 2 is sharp.
    sequences = [*patterns(60), np.zeros(300), 1e12 * np.eye(1, 12)[0]]
    holds(
        lambda adaptive: check_at_most_twice(s, sequences, adaptive),
        s.adaptive,
        wrong(lambda first, sigma, lam: first + sigma + lam, s.order + 1),  # exponent
        wrong(lambda first, sigma, lam: 1e-9 + sigma + lam, s.order),  # lambda_0 dropped
        wrong(lambda first, sigma, lam: first + lam, s.order),  # sigma ignored
        lambda *a: s.adaptive(*a) * (1 + 1e-6),  # caught because 2 is sharp
        lambda sigmas, *_: np.full(len(sigmas), 1e-9),  # no regularisation
    )


@both
def test_bad_input_is_named(s: Setting) -> None:
    for first in (0.0, -1.0, math.nan):
        with pytest.raises(ParameterError, match=f"lambda_0 is {first}"):
            s.minimum([0.0], first, 2, 1.0)
    for sigma in (-0.5, math.nan, math.inf):
        with pytest.raises(ParameterError, match=f"round 2 is {sigma}"):
            s.adaptive([0.0, sigma], 1.0, 2, 1.0)


@pytest.mark.parametrize("order", [schedules.SMOOTH, schedules.LIPSCHITZ])
def test_the_sum_without_curvature_is_that_of_its_steps(order: int) -> None:
    """The solution of the differential equation is near the sum of lambda_t, step by step."""
    first, target, rounds = 3.0, 7.0, 20_000
    total = first
    for _ in range(rounds):
        total += (target / total) ** (1 / order)
    assert schedules.uncurved(first, target, rounds, order) == pytest.approx(total, rel=1e-3)
