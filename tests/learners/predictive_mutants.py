"""`Predictive` with one thing wrong, and a setting in which it shows."""

from typing import Any

import numpy as np

import dikin
from dikin.learners.kernel_learner import Memo
from dikin.learners.predictive import expectation
from dikin.learners.predictive_schedule import MEASURED, Numbers, clip, measuring
from learners.predictive_replay import Setting


class Mutant(dikin.Predictive):
    """What changes the memo, the loss and the numbers of an answer, before or after it."""

    @property
    def n(self) -> Numbers:
        numbers: Numbers = self._state.numbers
        return numbers

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        memo, loss = self.before(memo, loss)
        old, linear = self.n, self._state.linear.copy()
        super()._learn(memo, loss, curvature)
        self.after(memo, old, linear)

    def before(self, memo: Memo, loss: float) -> tuple[Memo, float]:
        return memo, loss

    def after(self, memo: Memo, old: Numbers, linear: Any) -> None:
        pass


class ForecastsAfterwards(Mutant):
    """The forecast looks at the loss."""

    def before(self, memo: Memo, loss: float) -> tuple[Memo, float]:
        numbers = memo.numbers.copy()
        numbers.mixture += 0.1 * (loss - expectation(self._plan, numbers))
        return memo._replace(numbers=numbers), loss


class LeavesTheBestPointOut(Mutant):
    """Of the certificate: the best fixed point, as if nobody could have done better."""

    def _bound(self, exploring: float) -> float:
        return self.units.regret(exploring + self.n.g_y)


class CertifiesWhatWasLearnt(Mutant):
    """The certificate is made of estimates of which not all was learnt."""

    def after(self, memo: Memo, old: Numbers, linear: Any) -> None:
        size = self.geometry.size
        if self.n.clipped > old.clipped:
            self._state.linear[size:] = linear[size:]


class CountsCurvatureTwice(Mutant):
    """What a curvature gives back counts twice."""

    def after(self, memo: Memo, old: Numbers, linear: Any) -> None:
        self.n.sigma_tau += self.n.sigma_tau - old.sigma_tau


class MeasuresForFree(Mutant):
    """Nothing is booked of the answers that only measure."""

    def after(self, memo: Memo, old: Numbers, linear: Any) -> None:
        if measuring(old):
            self.n.tau = self.n.root_tau = self.n.price = 0.0


class LearnsFromFaults(Mutant):
    """A fault counts as much as the level admits."""

    def before(self, memo: Memo, loss: float) -> tuple[Memo, float]:
        then = memo.numbers
        expected = expectation(self._plan, then)
        known = self._ranged or measuring(then)
        return memo, loss if known else expected + clip(loss - expected, then.level)


class PullsToTheStart(Mutant):
    """lambda/2 |u - u_0|^2."""

    def after(self, memo: Memo, old: Numbers, linear: Any) -> None:
        assert self.start is not None
        n, y = self.n, self._state.linear[: self.geometry.size]
        lam = n.curvature - n.sigma - (old.curvature - old.sigma)
        start = (np.array(self.start) - self.domain.center) / self.units.radius
        y -= lam * self.geometry.inward(start) / self.geometry.squares
        self.geometry.solve(y, n.curvature, 1 / n.rate, self._state.iterate)


class NeverForgets(Mutant):
    """Old terms keep their weight."""

    def _planned(self) -> Any:
        return super()._planned()._replace(keep=1.0)


class AnswersHereAndNow(Mutant):
    """A late answer is learnt as if it had been asked at the present centre."""

    def before(self, memo: Memo, loss: float) -> tuple[Memo, float]:
        return memo._replace(iterate=self._state.iterate), loss


class PaysTheLarger(Mutant):
    """The larger of the prices of smooth and of Lipschitz losses."""

    def after(self, memo: Memo, old: Numbers, linear: Any) -> None:
        plan, tau, d = self._plan, memo.asked[2][1], self._plan.dim
        smooth = plan.smoothness * (d + 1) / (d * (d + 2)) * tau
        self.n.price = plan.keep * old.price + max(smooth, plan.lipschitz * np.sqrt(tau / d))


class WeighsByLosses(Mutant):
    """All answers that only measure weigh the same, and how many there are the losses decide."""

    def after(self, memo: Memo, old: Numbers, linear: Any) -> None:
        if measuring(old) and self.rounds >= MEASURED:
            self.n.g_y += (1 / self._plan.keep - 1) * old.g_y


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
