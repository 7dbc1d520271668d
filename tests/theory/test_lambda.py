"""Lemma 6 (lemma:H-function-main) and Lemma 22 (lemma:H-function-lip-app), and lambda_t itself."""

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

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
def test_the_minimum_is_a_price_and_no_sequence_has_a_lower_one(k: int) -> None:
    rng = np.random.default_rng(1)
    for rounds, first, target in [(1, 8.0, 8.0), (7, 0.01, 1.0), (40, 14.0, 30.0)]:
        for sigmas in patterns(rounds):
            value, mass = lemmas.minimum(k, target, sigmas, first)
            best = mass * np.eye(1, rounds)[0]
            assert value == pytest.approx(lemmas.price(k, target, best, sigmas, first))
            for size in 10.0 ** rng.uniform(-6, 1, 50):
                near = np.abs(best + size * mass * rng.normal(size=rounds))
                spread = size * rng.exponential(size=rounds)
                for lambdas in (near, spread, (1 + size) * best, best / (1 + size)):
                    price = lemmas.price(k, target, lambdas, sigmas, first)
                    assert value <= price * (1 + 1e-12)


def check_root(k: int, root: Callable[[float, float], float], total, target) -> None:
    """The true root is within two units in the last place: a proof by signs, in exact numbers."""
    ulps = 2 * Fraction(sys.float_info.epsilon)
    low, high = (Fraction(root(total, target)) * (1 + side) for side in (-ulps, ulps))
    assert low**k * (Fraction(total) + low) < target < high**k * (Fraction(total) + high)


@both
def test_eqn_oracle_tuning_root_is_within_two_ulps(k: int) -> None:
    def check(root) -> None:
        for total in np.geomspace(1e-3, 1e15, 40).tolist():
            for target in (0.03, 1.0, 8.0, 5e4):
                check_root(k, root, total, target)
                assert 0 < adaptive.regularisation(total + target, target, k) < 1

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

    holds(
        check,
        lemmas.adaptive,
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
