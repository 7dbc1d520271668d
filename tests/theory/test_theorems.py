"""Theorem 7 (thm:main-result-smooth) and Theorem 12 (thm:main-result-lipschitz).

The second derivation is each theorem as printed, sums and all, with the whole sequence lambda*_1,
..., lambda*_T given to a convex solver. `holds` gives each check the real function, then
deliberately wrong ones, which it must reject.
"""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np
import pytest

from another_solver import least_value
from dikin.errors import ParameterError
from dikin.theory import schedules, theorems
from paper.charts import holds
from theory.test_schedules import patterns


def smooth_regret(sigmas, dim, nu, beta, first=None) -> float:
    return theorems.regret(schedules.Setting(schedules.SMOOTH, dim, beta), sigmas, nu, first)


def lipschitz_regret(sigmas, dim, nu, lip, first=None) -> float:
    return theorems.regret(schedules.Setting(schedules.LIPSCHITZ, dim, lip), sigmas, nu, first)


both = pytest.mark.parametrize("regret", [smooth_regret, lipschitz_regret])


def printed(kind: str, sigmas, dim, nu, constant, first) -> float:
    """The theorem's display, index by index; lam[0] is lambda_0 and sigma_{1:0} is 0."""
    horizon = len(sigmas)
    star = cp.Variable(horizon, nonneg=True)
    lam = cp.hstack([first, star])

    def curvature(t: int) -> cp.Expression:
        return sum(sigmas[:t]) + cp.sum(lam[: t + 1])

    if kind == "smooth":
        bound = dim * np.sqrt(nu * horizon) + cp.sum(lam[1:horizon])
        for t in range(1, horizon):
            bound += dim * np.sqrt(constant + 1) * cp.power(curvature(t), -1 / 2)
    else:
        bound = dim ** (4 / 3) * nu * horizon ** (1 / 3) + cp.sum(lam)
        for t in range(1, horizon + 1):
            bound += (dim * (constant + 1)) ** (2 / 3) * cp.power(curvature(t - 1), -1 / 3)
    return least_value(cp.Problem(cp.Minimize(bound)))


def as_printed(kind: str) -> Callable[[Callable[..., float]], None]:
    problems = [
        (sigmas, dim, nu, constant, first)
        for (rounds, dim, nu, constant, first) in [(2, 1, 1.0, 0.0, 0.5), (13, 2, 3.0, 1.0, 8.0)]
        for sigmas in patterns(rounds)[:6]
    ]
    references = [printed(kind, *problem) for problem in problems]

    def check(regret) -> None:
        for problem, reference in zip(problems, references, strict=True):
            assert regret(*problem) == pytest.approx(reference, rel=1e-6)

    return check


def test_thm_main_result_smooth_is_the_display_as_printed() -> None:
    f = smooth_regret
    holds(
        as_printed("smooth"),
        f,
        lambda sig, *rest: f(np.r_[sig, 0], *rest),  # sum to T for T - 1
        lambda sig, *rest: f(np.r_[0, sig[:-1]], *rest),  # sigma_{1:t-1} for sigma_{1:t}
        lambda sig, d, nu, beta, first: f(sig, d, nu**2, beta, first),  # nu for sqrt(nu)
        lambda sig, d, nu, beta, first: f(sig, d, nu, beta, 1e-9),  # lambda_0 dropped
        lambda sig, d, nu, beta, first: f(sig, d, nu, beta, first) + first,  # lambda_0 paid
        lambda sig, d, nu, beta, first: f(sig, d, nu, beta),  # lambda_0 not the one given
        lipschitz_regret,
    )


def test_thm_main_result_lipschitz_is_the_display_as_printed() -> None:
    f = lipschitz_regret
    holds(
        as_printed("lipschitz"),
        f,
        lambda sig, *rest: f(np.r_[sig, 0], *rest),  # one round more
        lambda sig, *rest: f(np.r_[sig[1:], 0], *rest),  # sigma_{1:t} for sigma_{1:t-1}
        lambda sig, d, nu, lip, first: f(sig, d, nu**0.5, lip, first),  # sqrt(nu) for nu
        lambda sig, d, nu, lip, first: f(sig, d, nu, lip, first) - first,  # lambda_{1:T}
        lambda sig, d, nu, lip, first: f(sig, d, nu, lip),  # lambda_0 not the one given
        smooth_regret,
    )


@pytest.mark.parametrize(
    ("regret", "target"),
    [
        (smooth_regret, lambda dim, beta: dim**2 * (beta + 1)),
        (lipschitz_regret, lambda dim, lip: dim**2 * (lip + 1) ** 2),
    ],
)
def test_first_is_by_default_the_one_that_keeps_lambda_below_one(regret, target) -> None:
    def check(default) -> None:
        for sigmas in patterns(20)[:6]:
            assert default(sigmas, 3, 3.0, 0.5) == regret(sigmas, 3, 3.0, 0.5, target(3, 0.5))

    holds(check, regret, lambda *a: regret(*a, 1.0), lambda *a: regret(*a, 2 * target(3, 0.5)))


@both
def test_one_round_is_allowed_and_none_is_not(regret) -> None:
    assert regret([0.3], 2, 1.0, 1.0) == regret([0.0], 2, 1.0, 1.0)  # sigma_T comes too late
    for sigmas in ([], [[0.0, 1.0]], 0.5):
        with pytest.raises(ParameterError, match="wanted a vector"):
            regret(sigmas, 2, 1.0, 1.0)
