"""`Predictive` with one thing wrong, and a setting in which it shows."""

from typing import Any

import numpy as np

import dikin
from dikin.learners.kernel_learner import Memo
from dikin.learners.predictive import Besides, expectation
from dikin.learners.predictive_certificate import objective_at, start_barrier
from dikin.learners.predictive_levels import clip, measuring
from dikin.learners.predictive_state import MEASURED
from predictive.replay import Setting


class ForecastsAfterwards(dikin.Predictive):
    """The forecast looks at the loss."""

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        numbers, expected = memo.state.numbers.copy(), expectation(self._plan, memo.state.numbers)
        numbers.forecasters.mixture += 0.1 * (loss - expected)
        memo = memo._replace(state=memo.state._replace(numbers=numbers))
        super()._learn(memo, loss, curvature)


class LeavesTheBarrierOut(dikin.Predictive):
    """Of the certificate: psi_0 at the centre."""

    def _objective(self) -> float:
        return (
            super()._objective()
            - start_barrier(self.geometry, self._plan, self._state.iterate) / self._n.rate
        )


class CountsTheBarrierUnsigned(dikin.Predictive):
    """|gamma/eta_t - 1/eta_{t+1}| psi_0(y_{t+1}): no gain where the rate falls."""

    gains = 0.0

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        before = self._plan.keep / self._n.rate
        super()._learn(memo, loss, curvature)
        gain = min(before - 1 / self._n.rate, 0.0) * start_barrier(
            self.geometry, self._plan, self._state.iterate
        )
        self.gains = self._plan.keep * self.gains - 2 * gain

    def _objective(self) -> float:
        return super()._objective() - self.gains


class CertifiesWhatWasLearnt(dikin.Predictive):
    """Of the certificate: what clipping kept out of the estimates."""

    def _objective(self) -> float:
        return objective_at(self.geometry, self._plan, self._state)


class MeasuresForFree(dikin.Predictive):
    """Nothing is booked of the answers that only measure."""

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        unknown = measuring(self._n.levels)
        super()._learn(memo, loss, curvature)
        if unknown:
            self._n.sums.tau = self._n.sums.root_tau = self._n.sums.exploring = 0.0


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
        before = self._plan.keep * self._n.sums.lam
        super()._learn(memo, loss, curvature)
        if self.start is not None:
            n, linear, iterate, _ = self._state
            linear -= (n.sums.lam - before) * self._start_vector()
            self.geometry.solve(linear, n.sums.curvature, 1 / n.rate, iterate)


class NeverForgets(dikin.Predictive):
    """Old terms keep their weight."""

    def _planned(self) -> Any:
        return super()._planned()._replace(keep=1.0)


class AnswersHereAndNow(dikin.Predictive):
    """A late answer is learnt as if it had been asked at the present centre."""

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        state = memo.state._replace(iterate=self._state.iterate)
        super()._learn(self._propose_from(state, memo.noise)[2], loss, curvature)


class PaysTheLarger(dikin.Predictive):
    """The larger of the prices of smooth and of Lipschitz losses."""

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        plan, before = self._plan, self._n.sums.exploring
        super()._learn(memo, loss, curvature)
        if memo.state.numbers.levels.current > 0:
            trace = memo.asked[1]
            smooth = plan.smoothness * plan.square_price * trace
            steep = plan.lipschitz * plan.length_price * np.sqrt(trace)
            self._n.sums.exploring = plan.keep * before + max(smooth, steep)


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
            sums = self._n.sums
            for name in sums.__slots__:
                setattr(sums, name, getattr(sums, name) / self._plan.keep)
        super()._learn(memo, loss, curvature)


LATE = Setting("smooth", True, False, None, 6)
START = Setting("smooth", True, True, None, 0)
MEMORY = Setting("smooth", True, False, 12.0, 0)
FOUND = Setting("smooth", False, False, None, 0)
BOTH = Setting("both", True, True, 12.0, 6)
PLAIN = Setting("smooth", True, False, None, 0)

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
    "leaves the barrier out": (LeavesTheBarrierOut, START),
    "counts the barrier unsigned": (CountsTheBarrierUnsigned, START),
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

HARMLESS = {
    name: (MUTANTS[name][0], PLAIN)
    for name in (
        "measures for free",
        "learns from faults",
        "learns by a provisional level",
        "weighs by losses",
        "pulls to the start",
        "never forgets",
        "answers here and now",
    )
}
