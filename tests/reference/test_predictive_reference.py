"""The transcription of `Predictive` tests itself: centres, certificate, means.

Nothing here imports the package: the reference has to stand before it may judge.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from math import sqrt

import cvxpy as cp
import numpy as np
import pytest

from another_solver import least_value
from reference import predictive_checks as checks
from reference.barriers import (
    Array,
    BallBarrier,
    BoxBarrier,
    EllipsoidBarrier,
    Normalised,
    PolytopeBarrier,
    SimplexBarrier,
    UserBarrier,
    examples,
)
from reference.predictive import Answer, OffTheEllipsoidError, PredictiveReference, on_ellipsoid
from reference.predictive_checks import every_game, games, interval, normalised, replay

SETS = examples()
every_set = pytest.mark.parametrize("barrier", list(SETS.values()), ids=list(SETS))


# The sets as another solver sees them


def user_point(psi: Normalised, u: cp.Variable) -> cp.Expression:
    return psi.center + psi.radius * (psi.basis @ u)


def slacks(barrier: UserBarrier, x: cp.Expression) -> list[cp.Expression]:
    """Concave functions, positive inside; the barrier is minus the sum of their logarithms."""
    match barrier:
        case BallBarrier(center, radius):
            return [radius**2 - cp.square(cp.norm(x - center))]
        case BoxBarrier(lower, upper):
            return [x - lower, upper - x]
        case SimplexBarrier():
            return [x]
        case EllipsoidBarrier(center, shape):
            root = np.linalg.inv(np.linalg.cholesky(shape))
            return [1 - cp.square(cp.norm(root @ (x - center)))]
        case PolytopeBarrier(rows, bounds):
            return [bounds - rows @ x]
    raise TypeError(f"no slacks for {barrier}")


@every_set
def test_the_support_function_is_what_a_solver_finds(barrier: UserBarrier) -> None:
    """1e-6: the solver's own tolerance is 1e-8."""
    psi = normalised(barrier)
    rng = np.random.default_rng(1)
    u = cp.Variable(psi.dim)
    inside_set = [slack >= 0 for slack in slacks(barrier, user_point(psi, u))]
    for _ in range(3):
        slope = rng.normal(size=psi.dim)
        best = -least_value(cp.Problem(cp.Minimize(-slope @ u), inside_set))
        assert psi.support(slope) == pytest.approx(best, abs=1e-6)


# The centres


@pytest.mark.parametrize("check", ["start", "pull", "memory", "unbiased", "mean_round"])
def test_it_is_right_by_hand_and_in_the_mean(check: str) -> None:
    getattr(checks, f"check_{check}")(PredictiveReference)


def solved_elsewhere(run: PredictiveReference) -> Array:
    """argmin Phi, term by term, by an interior-point method on exponential cones."""
    psi, u = run.psi, cp.Variable(run.dim)
    assert isinstance(psi, Normalised)
    terms = []
    for weight, a in zip(run.weights, run.answers, strict=True):
        own = a.estimate @ u + a.sigma / 2 * cp.sum_squares(u - a.query.center)
        terms.append(weight * (own + a.lam / 2 * cp.sum_squares(u)))
    logs = sum(cp.sum(cp.log(slack)) for slack in slacks(psi.barrier, user_point(psi, u)))
    divergence = -logs - psi.gradient(run.start) @ u
    problem = cp.Problem(cp.Minimize(sum(terms) + divergence / run.rate))
    least_value(problem, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return np.asarray(u.value, dtype=np.float64)


@every_set
@pytest.mark.parametrize(("memory", "late"), [(None, 0), (4.0, 5)], ids=str)
def test_another_solver_finds_the_same_center(
    barrier: UserBarrier, memory: float | None, late: int
) -> None:
    """1e-5: a gap of 1e-11 in a strongly convex objective is 1e-5 to 1e-6 in its argument."""
    rng = np.random.default_rng(3)
    run = replay(PredictiveReference, normalised(barrier), rng, answers=8, memory=memory, late=late)
    other = solved_elsewhere(run)
    assert np.abs(run.center - other).max() < 1e-5
    ours, theirs = run.objective(run.center), run.objective(other)
    assert ours <= theirs + 1e-12 * max(1.0, abs(ours))


def test_it_begins_in_the_middle() -> None:
    assert PredictiveReference(interval(), 1, None, None, 0.1).center == [0.0]


# On every path


@every_set
@pytest.mark.parametrize(("memory", "late"), [(None, 5), (4.0, 0)], ids=str)
def test_another_solver_finds_the_same_least_of_the_models(
    barrier: UserBarrier, memory: float | None, late: int
) -> None:
    """1e-7 of the largest slope: the solver's own tolerance is 1e-9."""
    psi, rng = normalised(barrier), np.random.default_rng(13)
    run = replay(PredictiveReference, psi, rng, answers=12, memory=memory, late=late)
    u = cp.Variable(psi.dim)
    terms = [
        weight * (a.full_estimate @ u + a.sigma / 2 * cp.sum_squares(u - a.query.center))
        for weight, a in zip(run.weights, run.answers, strict=True)
    ]
    inside_set = [slack >= 0 for slack in slacks(barrier, user_point(psi, u))]
    problem = cp.Problem(cp.Minimize(sum(terms)), inside_set)
    wanted = least_value(problem, tol_gap_abs=1e-9, tol_gap_rel=1e-9)
    scale = sum(float(np.linalg.norm(a.full_estimate)) for a in run.answers)
    assert run.least_of_models() == pytest.approx(wanted, abs=1e-7 * scale)


def test_a_certificate_worked_out_by_hand() -> None:
    """[-1, 1], psi = -ln(1 - x^2), one round from 0: H = 2, z = 1/sqrt 2, tau = 1/2.

    The surprise 1/2 makes g = 1/sqrt 2: at -1 the model is lower by that much.
    """
    slope = sqrt(0.5)
    run = PredictiveReference(interval(), 1, None, None, 0.3)
    run.tell(run.ask(0.2, 1.0, np.array([slope])), 0.7, 0.0, 1.0, 0.4)
    assert run.S == 1.0
    # Exploration (beta/2)(1/2), smoothing (beta/2)(1/6); or L sqrt(1/2) and L sqrt(1/6).
    smooth, steep = 3 / 4 + 3 / 12, 0.4 * (sqrt(1 / 2) + sqrt(1 / 6))
    for beta, lipschitz, price in ((3.0, None, smooth), (None, 0.4, steep), (3.0, 0.4, steep)):
        assert run.certificate(beta, lipschitz) == pytest.approx(slope + price, abs=1e-11)


def test_a_certificate_with_curvature_worked_out_by_hand() -> None:
    """The same with sigma = 2: x/sqrt 2 + x^2 is least at -1/sqrt 8, where it is -1/8."""
    run = PredictiveReference(interval(), 1, None, None, 0.3)
    run.tell(run.ask(0.2, 1.0, np.array([sqrt(0.5)])), 0.7, 2.0, 1.0, 0.4)
    price = 3 / 4 + 3 / 12 - 2 / 2 * 0.5 / 3
    assert run.certificate(3.0, None) == pytest.approx(1 / 8 + price, abs=1e-11)


def test_a_curvature_gives_back_a_part_of_the_price() -> None:
    run = PredictiveReference(interval(), 1, None, 2.0, 0.3)
    for loss in (0.9, 0.8):
        run.tell(run.ask(0.0, 1.0, on_ellipsoid(run.metric, np.ones(1))), loss, 0.5, 0.0, 0.3)
    assert run.round_price(run.answers[0], 3.0, None) == pytest.approx(1 - 1 / 24, abs=1e-15)
    assert run.S == 0.75  # 1/2 * 1/2 + 1/2


def test_a_query_half_way_out_worked_out_by_hand() -> None:
    """Played at z/2 the slope says twice as much, and a quarter of the price is paid."""
    run = PredictiveReference(interval(), 1, None, None, 0.3)
    run.tell(run.ask(0.2, 1.0, np.array([sqrt(0.5)]), 0.5), 0.7, 0.0, 0.0, 0.3)
    (answer,) = run.answers
    assert answer.estimate == pytest.approx([sqrt(2)], abs=1e-15)
    assert run.round_price(answer, 3.0, None) == pytest.approx((3 / 4 + 3 / 12) / 4, abs=1e-15)


# In the mean


@pytest.mark.parametrize("name", list(games()))
@pytest.mark.parametrize(("memory", "late"), [(None, False), (4.0, True)], ids=str)
def test_over_all_directions_the_regret_is_below_the_certificate(
    name: str, memory: float | None, late: bool
) -> None:
    checks.check_every_game(PredictiveReference, games()[name], memory, late)


def test_the_certificate_says_something_in_six_rounds() -> None:
    """To stay at -0.3 would cost 6 * 1.3; the losses vary by 2 each, so 12 is what anybody pays."""
    regret, bound = every_game(PredictiveReference, games()["linear"], None, False, 2.0)
    assert 0 < regret < bound < 6 * 1.3


# Refusals


def test_a_displacement_off_the_ellipsoid_is_refused() -> None:
    run = PredictiveReference(interval(), 1, None, None, 0.3)
    with pytest.raises(OffTheEllipsoidError, match="wanted 1"):
        run.ask(0.0, 1.0, np.array([0.7]))
    assert run.queries == []


def test_a_key_is_answered_once() -> None:
    run = PredictiveReference(interval(), 1, None, None, 0.3)
    key = run.ask(0.0, 1.0, np.array([sqrt(0.5)]))
    run.tell(key, 0.5, 0.0, 0.0, 0.3)
    for wrong in (key, key + 1, -1):
        with pytest.raises(ValueError, match="asked and not answered"):
            run.tell(wrong, 0.5, 0.0, 0.0, 0.3)
    assert len(run.answers) == 1


def test_a_certificate_needs_a_constant() -> None:
    run = PredictiveReference(interval(), 1, None, None, 0.3)
    run.tell(run.ask(0.0, 1.0, np.array([sqrt(0.5)])), 0.5, 0.0, 0.0, 0.3)
    with pytest.raises(ValueError, match="declare at least one"):
        run.certificate(None, None)


# Mutants: one thing wrong in each


class ForecastAfterTheDirection(PredictiveReference):
    def ask(self, forecast: float, level: float, z: Array) -> int:
        return super().ask(forecast + 0.5 * float(np.sign(z[0])), level, z)


class CertifiesWhatWasLearnt(PredictiveReference):
    """The clipped estimates in the place of those that are unbiased."""

    def full_model(self, answer: Answer, x: Array) -> float:
        return self.model(answer, x)

    def least_of_models(self) -> float:
        learnt = [replace(a, loss=a.forecast + a.learnt) for a in self.answers]
        twin = copy(self)
        twin.answers = learnt
        return PredictiveReference.least_of_models(twin)


class PulledToTheStart(PredictiveReference):
    def pole(self) -> Array:
        return self.start


class BarrierLeastAtTheCenter(PredictiveReference):
    """psi in place of psi_0."""

    def objective_gradient(self, x: Array) -> Array:
        return super().objective_gradient(x) + self.psi.gradient(self.start) / self.rate


class OldTermsNotDiscounted(PredictiveReference):
    @property
    def weights(self) -> Array:
        return np.ones(len(self.answers))


Check = Callable[[type[PredictiveReference]], None]
CHECKS: dict[str, Check] = {
    "start": checks.check_start,
    "pull": checks.check_pull,
    "memory": checks.check_memory,
    "unbiased": checks.check_unbiased,
    "mean round": checks.check_mean_round,
    "every game": lambda kind: checks.check_every_game(kind, games()["linear"], None, False),
}
MUTANTS: list[tuple[type[PredictiveReference], str]] = [
    (ForecastAfterTheDirection, "unbiased"),
    (ForecastAfterTheDirection, "mean round"),
    (CertifiesWhatWasLearnt, "mean round"),
    (CertifiesWhatWasLearnt, "every game"),
    (BarrierLeastAtTheCenter, "start"),
    (PulledToTheStart, "pull"),
    (OldTermsNotDiscounted, "memory"),
]


@pytest.mark.parametrize(
    ("mutant", "check"), MUTANTS, ids=[f"{kind.__name__}-{check}" for kind, check in MUTANTS]
)
def test_a_mutant_is_caught(mutant: type[PredictiveReference], check: str) -> None:
    with pytest.raises(AssertionError):
        CHECKS[check](mutant)
