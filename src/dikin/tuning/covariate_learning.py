"""Learning from a value together with what came with it: covariates and a standard error.

The regression on covariates forecasts a loss before the learner looks at it, with what was known
when its trial was asked: what was learnt since may depend on its setting. The learner then learns
what the forecast leaves open, and the regression learns the loss.
"""

from __future__ import annotations

from collections.abc import Container
from math import isfinite
from typing import Any

from dikin import serialization
from dikin.forecasts import NONE
from dikin.forecasts.regression import SEEN, Fit
from dikin.learners.predictive import Besides, Predictive
from dikin.tuning.covariates import Covariates, Values
from dikin.tuning.several_values import Precision
from dikin.tuning.trial import Trial


class CovariateLearning:
    """A learner of losses that come with covariates and standard errors.

    `fits` has what the loss of each open trial is forecast with, by id.
    """

    def __init__(self, learner: Predictive, covariates: Covariates) -> None:
        self._learner, self.covariates = learner, covariates
        self.precision = Precision()
        self.fits: dict[int, Fit] = {}

    def forecast(self, values: Values) -> float:
        """What the regression expects of the next loss; NONE if nothing follows."""
        if not values:
            return NONE
        fit = self.covariates.regression.fit
        return _forecast(fit, fit.deviations(self.covariates.features(values)))

    def ask(self, id: int, values: Values) -> None:
        """Note with what the loss of a trial will be forecast."""
        if values:
            self.covariates.include(values)
        if self.covariates.regression.begun:
            self.fits[id] = self.covariates.regression.fit

    def tell(
        self, trial: Trial, loss: float, curvature: float, values: Values, error: float | None
    ) -> bool:
        """Learn a loss, and return whether not all of it was learnt, as it looks like a fault.

        `values` are the covariates of the round. A refusal changes nothing.
        """
        learner = self._learner
        if not values and not self.covariates.kinds and error is None:
            learner.tell(trial, loss, curvature)
            return learner._last_clipped
        fit, deviations, beside = self.fits.get(trial.id), list[float](), Besides()
        features = self.covariates.features(values)
        if fit is not None and values:
            deviations = fit.deviations(features)
            beside.regression = _forecast(fit, deviations)
        variance, square = learner._n.levels.mean_square, 0.0
        if error is not None:
            square = self._square(error)
            beside.precision = self.precision.weight(square, variance)
        learner._beside = beside
        try:
            learner.tell(trial, loss, curvature)
        finally:
            learner._beside = None
        if error is not None:
            self.precision.learn(square, variance)
        features = self._with_new(values, features)
        if self.covariates.regression.begun:
            self._regress(fit, deviations, features, beside)
        elif values and beside.believed is not None:
            self._gather(features, beside.believed)
        return learner._last_clipped

    def _regress(
        self, fit: Fit | None, deviations: list[float], features: list[float], beside: Besides
    ) -> None:
        """Let the regression learn a loss that the learner has learnt."""
        regression, level = self.covariates.regression, self._learner._n.levels.current
        if beside.believed is not None:
            then = regression.fit if fit is None else fit
            regression.learn(then, deviations, beside.believed, level, beside.precision)
        regression.observe(features)

    def _gather(self, features: list[float], believed: float) -> None:
        """Keep the first losses; with enough of them the regression begins."""
        learner, regression = self._learner, self.covariates.regression
        regression.gather(features, believed)
        level = learner._n.levels.current
        if level > 0.0 and regression.gathered >= SEEN:
            regression.begin(learner._n.forecasters, learner.rounds, level)

    def _with_new(self, values: Values, features: list[float]) -> list[float]:
        """Take in names and words that are new; the features with them."""
        return self.covariates.features(values) if self.covariates.include(values) else features

    def tell_control(
        self, trial: Trial, memo: Any, loss: float, values: Values, error: float | None
    ) -> None:
        """Learn from a round of the control what covariates explain, and nothing else.

        `loss` is what a tuned round would have had, because covariates do not explain by how much
        the control differs; not finite if that is not known.
        """
        learner, covariates = self._learner, self.covariates
        fit, features = self.fits.get(trial.id), covariates.features(values)
        deviations = [] if fit is None else fit.deviations(features)
        features = self._with_new(values, features)
        if fit is None or not isfinite(loss):
            return
        believed = learner._believed(memo.state.numbers, learner._scaled_loss(loss))
        if any(deviations) and believed is not None:
            weight = 1.0
            if error is not None:
                variance = learner._n.levels.mean_square
                weight = self.precision.weight(self._square(error), variance)
            covariates.regression.learn_slopes(deviations, believed - fit.middle, weight)
        covariates.regression.observe(features)

    def _square(self, error: float) -> float:
        """The square of a standard error in the learner's units."""
        return (error / self._learner.units.loss_scale) ** 2

    def keep_open(self, ids: Container[int]) -> None:
        """Give up the trials that are not open any more."""
        self.fits = {id: fit for id, fit in self.fits.items() if id in ids}

    # --- state ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, as plain JSON values."""
        return {
            "covariates": self.covariates.state(),
            "precision": [self.precision.mean, self.precision.count],
            "fits": [[id, serialization.encode(fit.state())] for id, fit in self.fits.items()],
        }

    @classmethod
    def restore(cls, learner: Predictive, state: dict[str, Any]) -> CovariateLearning:
        """What gave the state, with the same future."""
        learning = cls(learner, Covariates.restore(state["covariates"]))
        learning.precision = Precision(*map(float, state["precision"]))
        fits = {int(id): serialization.decode(fit) for id, fit in state["fits"]}
        learning.fits = {id: Fit.restore(fit) for id, fit in fits.items()}
        return learning


def _forecast(fit: Fit, deviations: list[float]) -> float:
    return fit.forecast(deviations) if any(deviations) else NONE
