"""A sampler of Optuna: for a live loop that is an Optuna study already.

Every trial of Optuna is a trial of a tuner, to which its value is reported when it completes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any

from dikin import extras
from dikin.adapters import AttributeNames, LogLimit
from dikin.errors import LossError, ParameterError, QueryError, did_you_mean, shown
from dikin.studies.study import Study
from dikin.tuning.parameters import Choice, Integer, Real
from dikin.tuning.parameters.base import ParameterKind
from dikin.tuning.parameters.choice import MOST
from dikin.tuning.trial import Trial
from dikin.tuning.tuner import Tuner

extras.require("optuna", "optuna", "dikin.adapters.optuna")

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

TUNABLE = (FloatDistribution, IntDistribution, CategoricalDistribution)
Distributions = Mapping[str, BaseDistribution]


class TunerSampler(BaseSampler):  # type: ignore[misc]
    """Sample by a tuner, which explores little and follows what drifts.

    Floats and whole numbers are tuned, with `log` and `step`, and categories of at most 16 values.
    The search space names them, or else the first trial that completes: until then the start is
    used, or the middle of a range. Parameters that come later are drawn by `RandomSampler`. A trial
    that is pruned, or has another setting than was asked, is forgotten.

    Parameters
    ----------
    search_space : mapping, optional
        From names to Optuna's distributions.
    start : mapping, optional
        Today's values by name, where tuning begins.
    store : callable, optional
        From the tuner to the study that keeps it, such as
        `lambda tuner: dikin.Study("studies.db", "shop", tuner)`: then the tuner survives the
        process, and processes share it.
    known : callable, optional
        Returns what is known of the next round, by name: the contexts and covariates that the
        tuner is declared with among the options.
    seed : int, optional
        Whole number that all randomness comes from; a fresh one by default.
    **options
        Other arguments of `Tuner`, such as `limits`, `context` and `covariates`. Metrics with a
        limit, and covariates that are known only later, are user attributes of the trial:
        `trial.set_user_attr("load", 0.7)`.

    Attributes
    ----------
    tuner : Tuner or Study or None
        The tuner, or the study that keeps it; None until the search space is known.

    Raises
    ------
    ParameterError
        If nothing in the search space can be tuned, or the start has another name.

    Examples
    --------
    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(sampler=TunerSampler(seed=7))
    >>> study.optimize(lambda trial: (trial.suggest_float("x", -4, 4) - 1) ** 2, n_trials=60)
    >>> abs(study.sampler.best["x"] - 1) < 0.5
    True
    """

    def __init__(
        self,
        search_space: Distributions | None = None,
        *,
        start: Mapping[str, Any] | None = None,
        store: Callable[[Tuner], Study] | None = None,
        known: Callable[[], Mapping[str, Any]] = dict,
        seed: int | None = None,
        **options: Any,
    ) -> None:
        if search_space is not None and not _tunable(search_space):
            raise ParameterError(
                "the search space needs a FloatDistribution, an IntDistribution, or a "
                f"CategoricalDistribution of 2 to {MOST} values, got {shown(dict(search_space))}"
            )
        for name in start or {}:
            if search_space is not None and name not in search_space:
                raise ParameterError(f"start has {name!r}.{did_you_mean(name, search_space)}")
        self.tuner: Tuner | Study | None = None
        self._given, self._start, self._store = search_space, dict(start or {}), store
        self._known, self._options = known, {"seed": seed, **options}
        self._space: dict[str, BaseDistribution] = {}
        self._others = RandomSampler(seed)
        self._asked: dict[int, tuple[Trial, dict[str, Any]]] = {}
        """The tuner's trial and the values of Optuna, by the number of Optuna's trial."""
        self._drawn: set[str] = set()
        self._lock, self._log_limit = Lock(), LogLimit()

    @property
    def best(self) -> dict[str, Any]:
        """Today's best setting by name, in Optuna's values; empty until there is a tuner."""
        if self.tuner is None:
            return {}
        return {name: _value(self._space[name], best) for name, best in self.tuner.best.items()}

    # --- as Optuna calls them --------------------------------------------------------------------

    def infer_relative_search_space(
        self, study: optuna.Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        self._prepare(study)
        return dict(self._space)

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        tuner = self._prepare(study)
        if tuner is None:
            return {}
        known = trial.user_attrs | {**self._known()}
        asked: Trial = tuner.ask(**self._names.for_ask(known))
        params = {name: _value(self._space[name], value) for name, value in asked.params.items()}
        self._asked[trial.number] = asked, params
        return {name: params[name] for name in search_space if name in params}

    def sample_independent(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        if self._prepare(study) is None and _tunable({param_name: param_distribution}):
            parameter = _parameter(param_distribution, self._start.get(param_name))
            return _value(param_distribution, Tuner({param_name: parameter}).best[param_name])
        if param_name not in self._drawn:
            self._drawn.add(param_name)
            self._log_limit.warn(
                f"the parameter {param_name!r} is drawn at random, as it is not in the search "
                f"space of the tuner, {sorted(self._space)}, or lies outside"
            )
        return self._others.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        asked, params = self._asked.pop(trial.number, (None, {}))
        if asked is None or self.tuner is None:
            return
        used = {name: trial.params.get(name) for name in params}
        try:
            if used == params and state == TrialState.FAIL:
                self.tuner.tell(asked, failed=True)
            elif used == params and state == TrialState.COMPLETE and values:
                self.tuner.tell(asked, values[0], **self._names.for_tell(trial.user_attrs))
            else:
                self.tuner.forget(asked)
        except LossError as reason:  # infinite, or not of its kind
            self.tuner.forget(asked)
            self._log_limit.warn(f"trial {trial.number} is forgotten: {reason}")
        except QueryError as reason:  # another client of the study has closed it
            self._log_limit.warn(f"trial {trial.number} teaches nothing: {reason}")

    def reseed_rng(self) -> None:
        self._others.reseed_rng()  # threads share the tuner

    def _prepare(self, study: optuna.Study) -> Tuner | Study | None:
        """Return the tuner, as soon as the search space was given or a trial has completed."""
        self._raise_error_if_multi_objective(study)
        with self._lock:
            if self.tuner is None:
                self._find_space(study)
            return self.tuner

    def _find_space(self, study: optuna.Study) -> None:
        space, start = self._given, self._start
        if space is None:
            done = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
            first = next((each for each in done if _tunable(each.distributions)), None)
            if first is None:
                return
            space, start = first.distributions, first.params
        found = _tunable(space)
        parameters = {name: _parameter(each, start.get(name)) for name, each in found.items()}
        maximize = study.direction == StudyDirection.MAXIMIZE
        tuner = Tuner(parameters, maximize=maximize, **self._options)
        self._names, self._space = AttributeNames(tuner), found
        self.tuner = self._store(tuner) if self._store else tuner


def _tunable(space: Distributions) -> dict[str, Any]:
    """Return the parameters that a tuner can choose."""
    return {
        name: each
        for name, each in space.items()
        if isinstance(each, TUNABLE)
        and not each.single()
        and len(getattr(each, "choices", ())) <= MOST
    }


def _value(distribution: Any, found: Any) -> Any:
    """Return the value of Optuna for a value of the tuner."""
    if isinstance(distribution, CategoricalDistribution):
        return distribution.choices[found]
    if distribution.step is None or distribution.log:
        return found
    return min(distribution.low + found * distribution.step, distribution.high)


def _parameter(distribution: Any, start: Any) -> ParameterKind:
    """Return the parameter of a distribution; one with steps is tuned by their number."""
    if isinstance(distribution, CategoricalDistribution):
        places = list(range(len(distribution.choices)))
        return Choice(places, None if start is None else distribution.choices.index(start))
    low, high, step = distribution.low, distribution.high, distribution.step
    if distribution.log and isinstance(distribution, IntDistribution):
        return Integer(low, high, start, log=True)
    if step is None or distribution.log:
        return Real(low, high, start, log=distribution.log)
    steps = None if start is None else round((start - low) / step)
    return Integer(0, round((high - low) / step), steps)
