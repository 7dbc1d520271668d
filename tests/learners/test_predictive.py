"""The shipped `Predictive` is its theorem: against the transcription, on every kind of set.

Eight settings a set, a half of all combinations of range, start, memory and late answers in which
every two of them meet; what is declared goes around. A centre differs from the transcription's by
less than 1e-10 of the radius, a certificate by less than 1e-9 of itself. The mutants differ.
"""

from itertools import product
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.learners.kernel_learner import Asked
from dikin.learners.predictive_schedule import (
    CLIPPED,
    CURVATURE,
    G_Y,
    LEVEL,
    MEASURED,
    MIXTURE,
    PRICE,
    RATE,
    ROOT_TAU,
    SIGMA,
    SIGMA_TAU,
    TAU,
    clip,
    expectation,
    measuring,
)
from learners.predictive_replay import Replay, Setting
from learners.predictive_spaces import SPACES


class Mutant(dikin.Predictive):
    """What changes the memo, the loss and the numbers of an answer, before or after it."""

    @property
    def n(self) -> list[float]:
        numbers: list[float] = self._state.numbers
        return numbers

    def _learn(self, memo: Asked, loss: float, curvature: float) -> None:
        memo, loss = self.before(memo, loss)
        old, linear = self.n, self._state.linear.copy()
        super()._learn(memo, loss, curvature)
        self.after(memo, old, linear)

    def before(self, memo: Asked, loss: float) -> tuple[Asked, float]:
        return memo, loss

    def after(self, memo: Asked, old: list[float], linear: Any) -> None:
        pass


class ForecastsAfterwards(Mutant):
    """The forecast looks at the loss."""

    def before(self, memo: Asked, loss: float) -> tuple[Asked, float]:
        numbers = memo[0].numbers.copy()
        numbers[MIXTURE] += 0.1 * (loss - expectation(self._kernel, numbers))
        return (memo[0]._replace(numbers=numbers), *memo[1:]), loss


class LeavesTheBestPointOut(Mutant):
    """Of the certificate: the best fixed point, as if nobody could have done better."""

    def _bound(self, exploring: float) -> float:
        return self.units.regret(exploring + self.n[G_Y])


class CertifiesWhatWasLearnt(Mutant):
    """The certificate is made of estimates of which not all was learnt."""

    def after(self, memo: Asked, old: list[float], linear: Any) -> None:
        size = self.geometry.size
        if self.n[CLIPPED] > old[CLIPPED]:
            self._state.linear[size:] = linear[size:]


class CountsCurvatureTwice(Mutant):
    """What a curvature gives back counts twice."""

    def after(self, memo: Asked, old: list[float], linear: Any) -> None:
        self.n[SIGMA_TAU] += self.n[SIGMA_TAU] - old[SIGMA_TAU]


class MeasuresForFree(Mutant):
    """Nothing is booked of the answers that only measure."""

    def after(self, memo: Asked, old: list[float], linear: Any) -> None:
        if measuring(old):
            self.n[TAU] = self.n[ROOT_TAU] = self.n[PRICE] = 0.0


class LearnsFromFaults(Mutant):
    """A fault counts as much as the level admits."""

    def before(self, memo: Asked, loss: float) -> tuple[Asked, float]:
        then = memo[0].numbers
        expected = expectation(self._kernel, then)
        known = self._ranged or measuring(then)
        return memo, loss if known else expected + clip(loss - expected, then[LEVEL])


class PullsToTheStart(Mutant):
    """lambda/2 |u - u_0|^2."""

    def after(self, memo: Asked, old: list[float], linear: Any) -> None:
        assert self.start is not None
        n, y = self.n, self._state.linear[: self.geometry.size]
        lam = n[CURVATURE] - n[SIGMA] - (old[CURVATURE] - old[SIGMA])
        start = (np.array(self.start) - self.domain.center) / self.units.radius
        y -= lam * self.geometry.inward(start) / self.geometry.squares
        self.geometry.solve(y, n[CURVATURE], 1 / n[RATE], self._state.iterate)


class NeverForgets(Mutant):
    """Old terms keep their weight."""

    def _constants(self) -> Any:
        return super()._constants()._replace(keep=1.0)


class AnswersHereAndNow(Mutant):
    """A late answer is learnt as if it had been asked at the present centre."""

    def before(self, memo: Asked, loss: float) -> tuple[Asked, float]:
        return (memo[0]._replace(iterate=self._state.iterate), *memo[1:]), loss


class PaysTheLarger(Mutant):
    """The larger of the prices of smooth and of Lipschitz losses."""

    def after(self, memo: Asked, old: list[float], linear: Any) -> None:
        plan, tau, d = self._kernel, memo[2][2][1], self._kernel.dim
        smooth = plan.smoothness * (d + 1) / (d * (d + 2)) * tau
        self.n[PRICE] = plan.keep * old[PRICE] + max(smooth, plan.lipschitz * np.sqrt(tau / d))


class WeighsByLosses(Mutant):
    """All answers that only measure weigh the same, and how many there are the losses decide."""

    def after(self, memo: Asked, old: list[float], linear: Any) -> None:
        if measuring(old) and self.rounds >= MEASURED:
            self.n[G_Y] += (1 / self._kernel.keep - 1) * old[G_Y]


LATE = Setting("smooth", True, False, None, 6)
START = Setting("smooth", True, True, None, 0)
MEMORY = Setting("smooth", True, False, 12.0, 0)
FOUND = Setting("smooth", False, False, None, 0)
BOTH = Setting("both", True, True, 12.0, 6)
SAME = Setting("smooth", False, True, 12.0, 0, 36)

MUTANTS = {
    "forecasts afterwards": (ForecastsAfterwards, LATE),
    "leaves the best point out": (LeavesTheBestPointOut, START),
    "counts curvature twice": (CountsCurvatureTwice, LATE),
    "certifies what was learnt": (CertifiesWhatWasLearnt, FOUND),
    "learns from faults": (LearnsFromFaults, FOUND),
    "measures for free": (MeasuresForFree, FOUND),
    "weighs by losses": (WeighsByLosses, SAME),
    "pulls to the start": (PullsToTheStart, START),
    "never forgets": (NeverForgets, MEMORY),
    "answers here and now": (AnswersHereAndNow, LATE),
    "pays the larger": (PaysTheLarger, BOTH),
}


DECLARED = ("smooth", "Lipschitz", "both", "nothing")
ANSWERS = 32


def settings() -> list[Setting]:
    cases = []
    for number, (ranged, start, forgets) in enumerate(product((True, False), repeat=3)):
        late = 6 if ranged ^ start ^ forgets else 0
        cases.append(Setting(DECLARED[number % 4], ranged, start, 12.0 if forgets else None, late))
    return cases


def turned(setting: Setting, by: int) -> Setting:
    where = DECLARED.index(setting.constants) + by
    return Setting(DECLARED[where % 4], setting.ranged, setting.start, setting.memory, setting.late)


@pytest.mark.parametrize("setting", settings(), ids=str)
@pytest.mark.parametrize("name", SPACES)
def test_centers_and_certificates(name: str, setting: Setting) -> None:
    by = list(SPACES).index(name)
    replay = Replay(SPACES[name](), turned(setting, by)).play(ANSWERS)
    assert len(replay.learner._open) <= setting.late
    assert replay.learner.clipped > 0 or not setting.ranged


@pytest.mark.parametrize("same", [5, 20, 40])
@pytest.mark.parametrize("constants", ["smooth", "nothing"])
def test_losses_that_are_all_the_same_at_first(constants: str, same: int) -> None:
    """From a start, with a memory: they are measured until they differ."""
    setting = Setting(constants, False, True, 12.0, 0, same)
    Replay(SPACES["disc"](), setting).play(ANSWERS + same)


@pytest.mark.parametrize("name", MUTANTS)
def test_the_comparison_notices(name: str) -> None:
    """Each on the disc, in the setting in which the right learner has passed."""
    mutant, setting = MUTANTS[name]
    answers = ANSWERS + setting.same
    Replay(SPACES["disc"](), setting).play(answers)
    with pytest.raises(AssertionError):
        Replay(SPACES["disc"](), setting, mutant).play(answers)
