"""The certificate of the transcription of `Predictive` bounds the regret, without any chance.

Nothing here imports the package: the reference has to stand before it may judge.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from reference import predictive_checks as checks
from reference.barriers import (
    Array,
)
from reference.predictive import Answer, PredictiveReference
from reference.predictive_checks import every_game, games


def test_it_is_right_in_the_mean() -> None:
    checks.check_mean_round(PredictiveReference)


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


Check = Callable[[type[PredictiveReference]], None]
CHECKS: dict[str, Check] = {
    "mean round": checks.check_mean_round,
    "every game": lambda kind: checks.check_every_game(kind, games()["linear"], None, False),
}
MUTANTS: list[tuple[type[PredictiveReference], str]] = [
    (ForecastAfterTheDirection, "mean round"),
    (CertifiesWhatWasLearnt, "mean round"),
    (CertifiesWhatWasLearnt, "every game"),
]


@pytest.mark.parametrize(
    ("mutant", "check"), MUTANTS, ids=[f"{kind.__name__}-{check}" for kind, check in MUTANTS]
)
def test_a_mutant_is_caught(mutant: type[PredictiveReference], check: str) -> None:
    with pytest.raises(AssertionError):
        CHECKS[check](mutant)
