"""Lemma 6 (lemma:H-function-main) and Lemma 22 (lemma:H-function-lip-app), and lambda_t itself.

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
from dikin.learners import adaptive
from dikin.theory import rates
from paper.charts import holds
from theory import lemmas

NUMERATOR = {
    2: lambda d, beta: d * math.sqrt(beta + 1),
    3: lambda d, lip: d ** (2 / 3) * (lip + 1) ** (2 / 3),
}
"""As the paper writes (target)^(1/k)."""
both = pytest.mark.parametrize("k", [rates.SMOOTH, rates.LIPSCHITZ])


@both
def test_target_is_the_numerator_to_the_power_k(k: int) -> None:
    def check(target) -> None:
        for dim, constant in ((1, 0.0), (3, 0.7), (40, 25.0)):
            assert target(dim, constant) == pytest.approx(NUMERATOR[k](dim, constant) ** k)

    holds(check, partial(rates.target, k), partial(rates.target, 5 - k))


def patterns(rounds: int) -> list[np.ndarray]:
    """Some of the paper's patterns and a random one, then what an adversary might think of."""
    t = np.arange(1, rounds + 1)
    rng = np.random.default_rng(rounds)
    return [
        np.zeros(rounds),
        np.where(t <= rounds**0.75, 0.0, 0.5),
        t**-0.5,
        rng.exponential(size=rounds) ** 3,
        *(np.where(t == spike, 1e6, 0.0) for spike in (1, rounds // 2, rounds)),
        2.0 ** np.minimum(t, 40),
    ]


@both
def test_the_minimum_is_that_of_a_convex_solver_over_the_whole_sequence(k: int) -> None:
    for rounds, first, target in [(1, 8.0, 8.0), (7, 0.01, 1.0), (40, 14.0, 30.0)]:
        for sigmas in patterns(rounds)[:4]:  # spikes cost the solver its digits
            lambdas = cp.Variable(rounds, nonneg=True)
            total = first + np.cumsum(sigmas) + cp.cumsum(lambdas)
            paid = cp.sum(lambdas) + target ** (1 / k) * cp.sum(cp.power(total, -1 / k))
            least = least_value(cp.Problem(cp.Minimize(paid)))
            value, mass = lemmas.minimum(k, target, sigmas, first)
            assert value == pytest.approx(least, rel=1e-6)
            on_round_one = mass * np.eye(1, rounds)[0]
            assert value == pytest.approx(lemmas.price(k, target, on_round_one, sigmas, first))


def check_root(k: int, root: Callable[[float, float], float], total, target) -> None:
    """The true root is within two units in the last place: a proof by signs, in exact numbers."""
    ulps = 2 * Fraction(sys.float_info.epsilon)
    low, high = (Fraction(root(total, target)) * (1 + side) for side in (-ulps, ulps))
    assert low**k * (Fraction(total) + low) < target < high**k * (Fraction(total) + high)


@both
@settings(max_examples=200, deadline=None, derandomize=True)
@given(total=st.floats(-3, 15), target=st.floats(-2, 12))
def test_eqn_oracle_tuning_root_is_within_two_ulps(k: int, total, target) -> None:
    root = partial(adaptive.regularisation, order=k)
    check_root(k, root, 10.0**total, 10.0**target)
    assert 0 < root(10.0**target + 10.0**total, 10.0**target) < 1


@both
def test_eqn_oracle_tuning_root_check_bites(k: int) -> None:
    def check(root) -> None:
        for total in np.geomspace(1e-3, 1e15, 40).tolist():
            for target in (0.03, 1.0, 8.0, 5e4):
                check_root(k, root, total, target)

    root = partial(adaptive.regularisation, order=k)
    holds(
        check,
        root,
        lambda total, target: min(1.0, root(total, target)),  # right only for total >= target
        lambda total, target: (target / total) ** (1 / k),  # the start, and no step
        lambda total, target: root(total, target) * (1 + 1e-15),
        partial(adaptive.regularisation, order=5 - k),
    )


@both
def test_lemma_H_function_adaptive_is_at_most_twice_the_minimum(k: int) -> None:  # noqa: N802
    # After a huge sigma_1 nothing need be added, and adding lambda_t doubles the price: 2 is sharp.
    sequences = [*patterns(60), np.zeros(300), 1e12 * np.eye(1, 12)[0]]

    def check(adaptive) -> None:
        for sigmas in sequences:
            for target, ratio in ((1.0, 1.0), (8.0, 1.0), (8.0, 1e4)):
                first = ratio * target
                lambdas = adaptive(k, target, sigmas, first)
                assert 0 < lambdas.min() <= lambdas.max() < 1
                for t in range(1, len(sigmas) + 1):
                    paid = lemmas.price(k, target, lambdas[:t], sigmas[:t], first)
                    least, _ = lemmas.minimum(k, target, sigmas[:t], first)
                    assert paid <= 2 * least * (1 + 1e-12)

    def wrong(believed: Callable[..., float], order: int):
        def adaptive(k, target, sigmas, first):
            lam = np.zeros(len(sigmas))
            for t, curvature in enumerate(np.cumsum(sigmas)):
                total = believed(first, curvature, lam.sum())
                lam[t] = min(0.999, (target / total) ** (1 / order))
            return lam

        return adaptive

    holds(
        check,
        lemmas.adaptive,
        wrong(lambda first, sigma, lam: first + sigma + lam, k + 1),  # exponent
        wrong(lambda first, sigma, lam: 1e-9 + sigma + lam, k),  # lambda_0 dropped
        wrong(lambda first, sigma, lam: first + lam, k),  # sigma ignored
        lambda *a: lemmas.adaptive(*a) * (1 + 1e-6),  # caught because 2 is sharp
        lambda k, target, sigmas, first: np.full(len(sigmas), 1e-9),  # no regularisation
    )


@both
def test_the_sum_without_curvature_is_that_of_its_steps(k: int) -> None:
    """The solution of the differential equation is near the sum of lambda_t, step by step."""
    first, target, rounds = 3.0, 7.0, 20_000
    total = first
    for _ in range(rounds):
        total += (target / total) ** (1 / k)
    assert rates.uncurved(first, target, rounds, k) == pytest.approx(total, rel=1e-3)
