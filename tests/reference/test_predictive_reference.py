"""The transcription of `Predictive` tests itself: centres, pathwise bound, certificate, means.

Nothing here imports the package: the reference has to stand before it may judge.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from math import log, sqrt

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
from reference.ledger import Ledger, inside, on_ellipsoid, replay
from reference.predictive import Answer, OffTheEllipsoidError, PredictiveReference
from reference.predictive_checks import every_game, games, interval, normalised, somewhere

SETS = examples()
every_set = pytest.mark.parametrize("barrier", list(SETS.values()), ids=list(SETS))
every_run = pytest.mark.parametrize(
    ("memory", "late"), [(None, 0), (None, 5), (4.0, 0), (4.0, 5)], ids=str
)


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


def ascent(psi: Normalised, here: Array, at: Array) -> float:
    """|v - here| is convex: the extreme point along its slope is never nearer."""
    for _ in range(30):
        at = extreme_point(psi, at - here)
    return float(np.linalg.norm(at - here))


def extreme_point(psi: Normalised, slope: Array) -> Array:
    """The gradient of the support function, by differences."""
    width = 1e-6 * float(np.linalg.norm(slope))
    rise = [psi.support(slope + h) - psi.support(slope - h) for h in width * np.eye(slope.size)]
    return np.array(rise) / (2 * width)


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


@every_set
def test_the_farthest_distance_is_reached_and_not_exceeded(barrier: UserBarrier) -> None:
    psi = normalised(barrier)
    rng = np.random.default_rng(2)
    assert psi.farthest(np.zeros(psi.dim)) == pytest.approx(1.0, rel=1e-9)
    for _ in range(3):
        here = inside(psi, rng)
        found = max(ascent(psi, here, somewhere(psi, rng)) for _ in range(30))
        assert psi.farthest(here) == pytest.approx(found, rel=1e-6)  # as good as the differences


def test_the_farthest_point_when_the_long_axis_is_not_pulled() -> None:
    """Semi-axes 1 and 2, from (0.3, 0): (c - 0.3)^2 + 4 (1 - c^2) is at most 4.12, at c = -0.1."""
    ellipse = EllipsoidBarrier(np.zeros(2), np.diag([1.0, 4.0]))
    assert ellipse.farthest(np.array([0.3, 0.0])) == pytest.approx(sqrt(4.12), rel=1e-12)


# The centres


@every_set
@every_run
@pytest.mark.parametrize("check", ["center", "pathwise", "telescope"])
def test_it_is_right_on_every_path(
    check: str, barrier: UserBarrier, memory: float | None, late: int
) -> None:
    of_run = getattr(checks, f"check_{check}")
    of_run(PredictiveReference, normalised(barrier), memory, late)


@pytest.mark.parametrize("check", ["start", "pull", "memory", "unbiased", "mean_round"])
def test_it_is_right_by_hand_and_in_the_mean(check: str) -> None:
    getattr(checks, f"check_{check}")(PredictiveReference)


def solved_elsewhere(psi: Normalised, ledger: Ledger) -> Array:
    """argmin Phi, term by term, by an interior-point method on exponential cones."""
    u = cp.Variable(psi.dim)
    terms = []
    for weight, move in ledger.weighted():
        own = move.g @ u + move.sigma / 2 * cp.sum_squares(u - move.asked_at)
        terms.append(weight * (own + move.lam / 2 * cp.sum_squares(u)))
    logs = sum(cp.sum(cp.log(slack)) for slack in slacks(psi.barrier, user_point(psi, u)))
    divergence = -logs - psi.gradient(ledger.start) @ u
    problem = cp.Problem(cp.Minimize(sum(terms) + divergence / ledger.rate))
    least_value(problem, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return np.asarray(u.value, dtype=np.float64)


@every_set
@pytest.mark.parametrize(("memory", "late"), [(None, 0), (4.0, 5)], ids=str)
def test_another_solver_finds_the_same_center(
    barrier: UserBarrier, memory: float | None, late: int
) -> None:
    """1e-5: a gap of 1e-11 in a strongly convex objective is 1e-5 to 1e-6 in its argument.

    Our objective is at most as large at our point as at the other one, but for rounding. Where the
    two are so near that rounding decides, the slopes tell which point is better.
    """
    psi = normalised(barrier)
    rng = np.random.default_rng(3)
    reference, ledger = replay(PredictiveReference, psi, rng, answers=8, memory=memory, late=late)
    other = solved_elsewhere(psi, ledger)
    assert np.abs(reference.center - other).max() < 1e-5
    ours, theirs = reference.objective(reference.center), reference.objective(other)
    assert ours <= theirs + 1e-12 * max(1.0, abs(ours))
    slopes = [reference.objective_gradient(x) for x in (reference.center, other)]
    assert np.linalg.norm(slopes[0]) <= np.linalg.norm(slopes[1])


def test_it_begins_in_the_middle() -> None:
    assert PredictiveReference(interval(), 1, None, None, 0.1).center == [0.0]


# On every path


@every_set
@pytest.mark.parametrize("memory", [None, 6.0])
def test_the_stability_of_an_answer_on_time_is_below_its_bound(
    barrier: UserBarrier, memory: float | None
) -> None:
    """(gamma/eta) omega*(eta d |rbar|/gamma), finite because eta d c <= 0.8 < gamma = 5/6 or 1."""
    psi = normalised(barrier)
    rng = np.random.default_rng(7)
    _, ledger = replay(PredictiveReference, psi, rng, answers=40, memory=memory)
    for move in ledger.moves:
        assert move.on_time
        assert ledger.stability(move) <= ledger.stability_bound(move) + 1e-12


@every_set
@every_run
def test_another_solver_finds_the_same_least_of_the_models(
    barrier: UserBarrier, memory: float | None, late: int
) -> None:
    """1e-7 of the largest slope: the solver's own tolerance is 1e-9."""
    psi = normalised(barrier)
    rng = np.random.default_rng(13)
    run, _ = replay(PredictiveReference, psi, rng, answers=12, memory=memory, late=late)
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


@every_set
@every_run
def test_the_certificate_is_below_the_bound_by_the_regularised_objective(
    barrier: UserBarrier, memory: float | None, late: int
) -> None:
    """At every v that the latter admits: what the rates are proved with."""
    psi = normalised(barrier)
    rng = np.random.default_rng(14)
    run, ledger = replay(PredictiveReference, psi, rng, answers=25, memory=memory, late=late)
    own = [run.full_model(a, a.query.center) for a in run.answers]
    total = sum(weight * move.lam for weight, move in ledger.weighted())
    for _ in range(40):
        v = 0.9 * somewhere(psi, rng)
        models = run.discounted([run.full_model(a, v) for a in run.answers])
        rest = total / 2 * float(v @ v) + run.start_divergence(v) / run.rate
        gain = run.discounted(own) - models
        assert gain <= run.full_surplus() + rest + 1e-9
        assert gain <= run.discounted(own) - run.least_of_models() + 1e-9


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


def test_a_clipped_round_worked_out_by_hand() -> None:
    """[-1, 1] from 0, one round, a surprise of 1 of which nothing is learnt, eta = 1, no lambda.

    The centre stays. Psi(x) = sqrt 2 x - ln(1 - x^2) is least where 2x/(1 - x^2) = -sqrt 2, at
    x = (1 - sqrt 3)/sqrt 2.
    """
    run = PredictiveReference(interval(), 1, None, None, 1.0)
    run.tell(run.ask(0.0, 0.0, np.array([sqrt(0.5)])), 1.0, 0.0, 0.0, 1.0)
    assert run.center == [0.0]
    assert run.surplus() == 0
    least = (1 - sqrt(3)) / sqrt(2)
    assert run.full_surplus() == pytest.approx(-sqrt(2) * least + log(1 - least**2), abs=1e-14)


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


class UnsignedBarrierSum(PredictiveReference):
    """Charges a falling rate where it should be credited."""

    def surplus(self) -> float:
        pairs = zip(self.rates[:-1], self.rates[1:], strict=True)
        changes = [self.gamma / old - 1 / new for old, new in pairs]
        extra = [
            (abs(change) - change) * self.start_divergence(y)
            for change, y in zip(changes, self.centers[1:], strict=True)
        ]
        return super().surplus() + self.discounted(extra)


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


class LateAnswerAtThePresentCenter(PredictiveReference):
    def anchor(self, answer: Answer) -> Array:
        return answer.arrived_at


Check = Callable[[type[PredictiveReference]], None]
BOX = normalised(SETS["box"])
CHECKS: dict[str, Check] = {
    "center": lambda kind: checks.check_center(kind, BOX, 4.0, 5),
    "start": checks.check_start,
    "pull": checks.check_pull,
    "memory": checks.check_memory,
    "pathwise": lambda kind: checks.check_pathwise(kind, BOX, 4.0, 5),
    "telescope": lambda kind: checks.check_telescope(kind, BOX, 4.0, 5),
    "unbiased": checks.check_unbiased,
    "mean round": checks.check_mean_round,
    "every game": lambda kind: checks.check_every_game(kind, games()["linear"], None, False),
}
MUTANTS: list[tuple[type[PredictiveReference], str]] = [
    (ForecastAfterTheDirection, "unbiased"),
    (ForecastAfterTheDirection, "mean round"),
    (UnsignedBarrierSum, "telescope"),
    (UnsignedBarrierSum, "pathwise"),
    (CertifiesWhatWasLearnt, "mean round"),
    (CertifiesWhatWasLearnt, "every game"),
    (BarrierLeastAtTheCenter, "start"),
    (PulledToTheStart, "pull"),
    (PulledToTheStart, "center"),
    (PulledToTheStart, "telescope"),
    (OldTermsNotDiscounted, "memory"),
    (OldTermsNotDiscounted, "center"),
    (LateAnswerAtThePresentCenter, "center"),
    (LateAnswerAtThePresentCenter, "pathwise"),
    (LateAnswerAtThePresentCenter, "telescope"),
]


@pytest.mark.parametrize(
    ("mutant", "check"), MUTANTS, ids=[f"{kind.__name__}-{check}" for kind, check in MUTANTS]
)
def test_a_mutant_is_caught(mutant: type[PredictiveReference], check: str) -> None:
    with pytest.raises(AssertionError):
        CHECKS[check](mutant)
