"""`Predictive` with one thing wrong, and a setting in which it shows."""

from math import nan
from typing import Any

import numpy as np

import dikin
from dikin.learners.kernel_learner import Memo
from dikin.learners.predictive import Besides, expectation
from dikin.learners.predictive_levels import clip, measuring
from dikin.learners.predictive_state import MEASURED
from learners.predictive_replay import Setting


class ForecastsAfterwards(dikin.Predictive):
    """The forecast looks at the loss."""

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        numbers, expected = memo.state.numbers.copy(), expectation(self._plan, memo.state.numbers)
        numbers.forecasters.mixture += 0.1 * (loss - expected)
        memo = memo._replace(state=memo.state._replace(numbers=numbers))
        super()._learn(memo, loss, curvature)


class LeavesTheBestPointOut(dikin.Predictive):
    """Of the certificate: the best fixed point, as if nobody could have done better."""

    def _certified(self, m: int, exploring: float) -> float:
        n = self._n
        if measuring(n.levels):
            return nan
        return self.units.regret(exploring + n.sums.g_y[m])


class CertifiesWhatWasLearnt(dikin.Predictive):
    """The certificate is made of estimates of which not all was learnt."""

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        before = self._state
        super()._learn(memo, loss, curvature)
        if self._n.sums.clipped[0] > before.numbers.sums.clipped[0]:
            self._state.estimates[:] = before.estimates


class CountsCurvatureTwice(dikin.Predictive):
    """What a curvature gives back counts twice."""

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        before = self._n.sums.sigma_tau[0]
        super()._learn(memo, loss, curvature)
        self._n.sums.sigma_tau[0] += self._n.sums.sigma_tau[0] - before


class MeasuresForFree(dikin.Predictive):
    """Nothing is booked of the answers that only measure."""

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        unknown = measuring(self._n.levels)
        super()._learn(memo, loss, curvature)
        if unknown:
            self._n.sums.tau = self._n.sums.root_tau = self._n.sums.exploring = [0.0]


class LearnsFromFaults(dikin.Predictive):
    """A fault counts as much as the level admits."""

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        then = memo.state.numbers
        expected, level = expectation(self._plan, then), then.levels.current
        if not measuring(then.levels) and not self._ranged:
            loss = expected + clip(loss - expected, level)
        super()._learn(memo, loss, curvature)


class PullsToTheStart(dikin.Predictive):
    """lambda/2 |u - u_0|^2."""

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        before = self._plan.keep * self._n.centres.lam[0]
        super()._learn(memo, loss, curvature)
        if self.start is not None:
            centres, state = self._n.centres, self._state
            state.linear[:] -= (centres.lam[0] - before) * self._start_vector()
            self.geometry.solve(
                state.linear, centres.curvature[0], 1 / centres.rate[0], state.iterate
            )


class NeverForgets(dikin.Predictive):
    """Old terms keep their weight."""

    def _planned(self) -> Any:
        return super()._planned()._replace(keep=1.0, certified=(1.0,))


class AnswersHereAndNow(dikin.Predictive):
    """A late answer is learnt as if it had been asked at the present centre."""

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        state = memo.state._replace(iterate=self._state.iterate)
        super()._learn(self._propose_from(state, memo.noise)[2], loss, curvature)


class PaysTheLarger(dikin.Predictive):
    """The larger of the prices of smooth and of Lipschitz losses."""

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        plan, before = self._plan, self._n.sums.exploring[0]
        super()._learn(memo, loss, curvature)
        if memo.state.numbers.levels.current > 0:
            trace = memo.asked[1]
            smooth = plan.smoothness * plan.square_price * trace
            steep = plan.lipschitz * plan.length_price * np.sqrt(trace)
            self._n.sums.exploring = [plan.keep * before + max(smooth, steep)]


class LearnsByAProvisionalLevel(dikin.Predictive):
    """A level that losses which are all the same have given counts like any other."""

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        if self._n.levels.current > 0 and self._n.levels.known_since == 0:
            self._n.levels.known_since = float(self._rounds_in_range)
        super()._learn(memo, loss, curvature)


class WeighsByLosses(dikin.Predictive):
    """All answers that only measure weigh the same, and how many there are the losses decide."""

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        longer = measuring(self._n.levels) and self._rounds_in_range >= MEASURED
        if longer:
            sums, keep = self._n.sums, self._plan.certified[0]
            for name in sums.__slots__:
                setattr(sums, name, [value / keep for value in getattr(sums, name)])
        super()._learn(memo, loss, curvature)


LATE = Setting("smooth", True, False, None, 6)
START = Setting("smooth", True, True, None, 0)
MEMORY = Setting("smooth", True, False, 12.0, 0)
FOUND = Setting("smooth", False, False, None, 0)
BOTH = Setting("both", True, True, 12.0, 6)

SAME = Setting("smooth", False, True, 12.0, 0, 36)
BESIDES = Setting("smooth", True, True, None, 0, besides=True)


class LearnsNoisyLossesInFull(dikin.Predictive):
    """Whatever their precision."""

    def _with_besides(self, memo: Memo, beside: Besides) -> Memo:
        return super()._with_besides(memo, Besides(beside.regression))


class SleepsThroughCovariates(dikin.Predictive):
    """The forecast of the regression is not heard."""

    def _with_besides(self, memo: Memo, beside: Besides) -> Memo:
        return super()._with_besides(memo, Besides(precision=beside.precision))


MUTANTS = {
    "forecasts afterwards": (ForecastsAfterwards, LATE),
    "leaves the best point out": (LeavesTheBestPointOut, START),
    "counts curvature twice": (CountsCurvatureTwice, LATE),
    "certifies what was learnt": (CertifiesWhatWasLearnt, FOUND),
    "learns from faults": (LearnsFromFaults, FOUND),
    "measures for free": (MeasuresForFree, FOUND),
    "learns by a provisional level": (LearnsByAProvisionalLevel, SAME),
    "weighs by losses": (WeighsByLosses, SAME),
    "pulls to the start": (PullsToTheStart, START),
    "never forgets": (NeverForgets, MEMORY),
    "answers here and now": (AnswersHereAndNow, LATE),
    "pays the larger": (PaysTheLarger, BOTH),
    "learns noisy losses in full": (LearnsNoisyLossesInFull, BESIDES),
    "sleeps through covariates": (SleepsThroughCovariates, BESIDES),
}
