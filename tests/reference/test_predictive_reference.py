"""The transcription of `Predictive` tests itself: centres, certificate, means.

Nothing here imports the package: the reference has to stand before it may judge.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from reference import predictive_checks as checks
from reference.barriers import (
    Array,
    examples,
)
from reference.predictive import Answer, OffTheEllipsoidError, PredictiveReference, on_ellipsoid
from reference.predictive_checks import every_game, games, interval

SETS = examples()
every_set = pytest.mark.parametrize("barrier", list(SETS.values()), ids=list(SETS))


@pytest.mark.parametrize("check", ["start", "pull", "memory", "unbiased", "mean_round"])
def test_it_is_right_by_hand_and_in_the_mean(check: str) -> None:
    getattr(checks, f"check_{check}")(PredictiveReference)


def test_it_begins_in_the_middle() -> None:
    assert PredictiveReference(interval(), 1, None, None, 0.1).center == [0.0]


# On every path


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
