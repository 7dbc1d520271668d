from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any

from dikin import extras
from dikin.adapters import Attributes
from dikin.errors import LossError, QueryError
from dikin.studies.study import Study
from dikin.tuning.parameters import Choice, Integer, Real
from dikin.tuning.parameters.base import ParameterKind
from dikin.tuning.parameters.levels import MOST
from dikin.tuning.trial import Trial
from dikin.tuning.tuner import Tuner

extras.require("optuna", "optuna", "dikin.adapters.optuna")

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.samplers import RandomSampler
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

logger = logging.getLogger("dikin")


class TunerSampler(RandomSampler):  # type: ignore[misc]
    """Sample by a tuner, which explores little and follows drift.

    Floats and whole numbers are tuned, with `log` and `step`, and categories of at most 16 values.
    The first trial that completes fixes the search space, and its setting is where tuning begins:
    enqueue today's setting with `study.enqueue_trial`. Parameters that come later are drawn at
    random. A trial that is pruned, or used another setting than the suggested one, is forgotten.

    Parameters
    ----------
    store : callable, optional
        From the tuner to the study that keeps it, such as
        `lambda tuner: dikin.Study("studies.db", "shop", tuner)`: then the tuner survives the
        process, and processes share it.
    known : callable, optional
        Returns the contexts and covariates of the next round by name, as far as they are known.
    seed : int, optional
        Whole number from which all randomness comes. By default it differs every time.
    **options
        Other arguments of `Tuner`, such as `limits`, `context` and `covariates`. Metrics with a
        limit, and covariates that are known only later, are user attributes of the trial:
        `trial.set_user_attr("load", 0.7)`.

    Attributes
    ----------
    tuner : Tuner or Study or None
        The tuner, or the study that keeps it. None until the search space is known.
    """

    def __init__(
        self,
        *,
        store: Callable[[Tuner], Study] | None = None,
        known: Callable[[], Mapping[str, Any]] = dict,
        seed: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(seed)
        self.tuner: Tuner | Study | None = None
        self._store, self._known, self._options = store, known, {"seed": seed, **options}
        self._space: dict[str, Any] = {}
        self._asked: dict[int, Trial] = {}
        """By the number of Optuna's trial."""
        self._lock = Lock()

    @property
    def best(self) -> dict[str, Any]:
        """Today's best setting by name, in Optuna's values. Empty until a trial has completed."""
        return {} if self.tuner is None else self._values(self.tuner.best)

    def infer_relative_search_space(
        self, study: optuna.Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        self._raise_error_if_multi_objective(study)
        with self._lock:
            if self.tuner is None:
                self._begin(study)
        return dict(self._space)

    def _begin(self, study: optuna.Study) -> None:
        """Make the tuner, once a trial with a parameter to tune has completed."""
        for first in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
            self._space = {k: each for k, each in first.distributions.items() if _is_tunable(each)}
            if self._space:
                tuner = Tuner(
                    {k: _parameter(each, first.params[k]) for k, each in self._space.items()},
                    maximize=study.direction == StudyDirection.MAXIMIZE,
                    **self._options,
                )
                self._attributes = Attributes(tuner)
                self.tuner = self._store(tuner) if self._store else tuner
                return

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        self.infer_relative_search_space(study, trial)
        if self.tuner is None:
            return {}
        known = trial.user_attrs | {**self._known()}
        asked: Trial = self.tuner.ask(**self._attributes.of("ask", known))
        self._asked[trial.number] = asked
        return {k: value for k, value in self._values(asked.params).items() if k in search_space}

    def _values(self, setting: dict[str, Any]) -> dict[str, Any]:
        return {name: _value(self._space[name], value) for name, value in setting.items()}

    def after_trial(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        asked = self._asked.pop(trial.number, None)
        if asked is None or self.tuner is None:
            return
        as_asked = self._values(asked.params).items() <= trial.params.items()
        try:
            if as_asked and state == TrialState.FAIL:
                self.tuner.tell(asked, failed=True)
            elif as_asked and state == TrialState.COMPLETE and values:
                self.tuner.tell(asked, values[0], **self._attributes.of("tell", trial.user_attrs))
            else:
                self.tuner.forget(asked)
        except LossError as reason:  # infinite, or not of its kind
            self.tuner.forget(asked)
            logger.warning("trial %d is forgotten: %s", trial.number, reason)
        except QueryError as reason:  # another client of the study has closed it
            logger.warning("trial %d is not learnt from: %s", trial.number, reason)


def _is_tunable(distribution: BaseDistribution) -> bool:
    return not distribution.single() and len(getattr(distribution, "choices", ())) <= MOST


def _value(distribution: Any, found: Any) -> Any:
    """Return the value of Optuna for a value of the tuner."""
    if isinstance(distribution, CategoricalDistribution):
        return distribution.choices[found]
    if distribution.step is None or distribution.log:
        return found
    return min(distribution.low + found * distribution.step, distribution.high)


def _parameter(distribution: Any, start: Any) -> ParameterKind:
    """Return the parameter of a distribution. One with steps is tuned by their number."""
    if isinstance(distribution, CategoricalDistribution):
        places = list(range(len(distribution.choices)))
        return Choice(places, distribution.choices.index(start))
    low, high, step = distribution.low, distribution.high, distribution.step
    if distribution.log and isinstance(distribution, IntDistribution):
        return Integer(low, high, start, log=True)
    if step is None or distribution.log:
        return Real(low, high, start, log=distribution.log)
    return Integer(0, round((high - low) / step), round((start - low) / step))
