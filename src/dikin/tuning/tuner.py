"""The tuner: `Predictive` with names, a start and nothing that must be known.

It works on the cube of the parameters, where units do not matter, and speaks in the user's values.
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import isfinite, nan, sqrt
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from dikin import serialization
from dikin.arguments import LARGEST, is_whole, true_or_false
from dikin.deprecation import renamed
from dikin.errors import (
    ConstantError,
    ContextError,
    ForecastError,
    LossError,
    ParameterError,
    StateError,
    UnknownParameterError,
    did_you_mean,
    shown,
)
from dikin.forecasts import NONE
from dikin.forecasts.regression import SEEN, Fit
from dikin.learners.base import real_number
from dikin.learners.predictive import AUTO, Besides, Predictive
from dikin.learners.threads import locked
from dikin.open_queries import Query
from dikin.players import Player
from dikin.plotting.contexts import ContextPanel
from dikin.plotting.history import draw_history
from dikin.plotting.style import save_figure
from dikin.status import OpenQueries, Status
from dikin.tuning.clipping import tell_clipped
from dikin.tuning.comparison import Comparison, Draw, checked_holdback, guess_in
from dikin.tuning.contexts import Contexts
from dikin.tuning.covariates import (
    Covariates,
    Explained,
    Values,
    checked_values,
    declared_kinds,
    merged,
    specs_of,
)
from dikin.tuning.history import (
    Row,
    context_panels,
    history_table,
    panels_of,
    to_frame,
    uplift_course,
)
from dikin.tuning.parameters.base import ParameterKind
from dikin.tuning.several_values import Precision, value_and_error
from dikin.tuning.space import Params, Space
from dikin.units import checked_range
from dikin.vectors import Array, Table
from dikin.worth.pipeline import PipelineWatch
from dikin.worth.uplift import Uplift

if TYPE_CHECKING:
    from matplotlib.figure import Figure

logger = logging.getLogger("dikin")

HISTORY = 10_000
"""Rounds that a tuner remembers for tables and pictures: some megabytes."""
RECENT = 100
"""Values of which `summary` tells the mean."""
MOST_SHOWN = 16
"""Contexts of which `summary` tells the best setting."""
AHEAD = 1000
"""Rounds for which it looks ahead."""
NO_HOLDBACK = (
    "without a holdback nothing is compared: Tuner(..., holdback=0.05) plays the control in 5 % of "
    "the rounds, and says what tuning gains over it"
)


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Trial(Query):
    """A setting to play, whose value is to be told.

    Parameters
    ----------
    id : int
        The number by which it is answered; no two trials of a tuner have the same.
    params : dict
        The setting by name: a float, an int for an `Integer`, one of the values for `Levels`, a
        dictionary for `Shares`.
    point : Array
        The same as a row of numbers, one for each of the tuner's `columns`.
    expected : float
        What the tuner expected of the value when it was asked, of a tuned round; NaN if it knew
        nothing.
    held : bool
        Whether it was asked while the tuner was on hold, so that nothing is learnt from it.
    covariates : dict
        The covariates that were known when it was asked, by name.
    context : dict
        The context that it was asked for, by name.
    held_back : bool
        Whether it plays the control, for the comparison with it.
    """

    params: Params
    expected: float
    held: bool
    covariates: Values
    context: Values
    held_back: bool

    def __init__(
        self,
        id: int,
        params: Params,
        point: Array,
        expected: float = nan,
        held: bool = False,
        covariates: Values | None = None,
        context: Values | None = None,
        held_back: bool = False,
    ) -> None:
        Query.__init__(self, id, point)
        object.__setattr__(self, "params", params)
        object.__setattr__(self, "expected", expected)
        object.__setattr__(self, "held", held)
        object.__setattr__(self, "covariates", {} if covariates is None else covariates)
        object.__setattr__(self, "context", {} if context is None else context)
        object.__setattr__(self, "held_back", held_back)

    @property
    def setting(self) -> Params:
        """The values by name."""
        return self.params

    def __contains__(self, name: object) -> bool:
        return name in self.params

    def __iter__(self) -> Iterator[str]:
        return iter(self.params)

    def __getitem__(self, name: str) -> Any:
        if name not in self.params:
            raise UnknownParameterError(
                f"there is no parameter {name!r}.{did_you_mean(str(name), self.params)}"
            )
        return self.params[name]


class Tuner(Player[Trial]):
    """Tune named parameters by one number a round, with no constant that must be known.

    Ask for a setting, play it, tell what came of it, in any order, late or never. The tuner
    explores around its best guess, a little less every round, and never leaves the ranges. What it
    learns from is `Predictive` on the cube of the ranges, with its guarantee for values that are
    convex (concave, with `maximize`) in the parameters.

    Parameters
    ----------
    parameters : mapping
        From names to `Real`, `Integer`, `Levels` or `Shares`: ranges and, where there is one,
        today's value.
        A start closer to a bound than 15 % of the range is moved inside: exploring needs room.
    maximize : bool, default False
        Whether large values are good: a revenue, a throughput. Otherwise small ones are: a cost, a
        time.
    constraints : sequence of str, optional
        Linear constraints between `Real` parameters, such as "ads + 3 * staff <= 100". Every
        setting that is played satisfies them.
    memory : float or "auto" or None, default "auto"
        Rounds that are remembered, for a best setting that drifts; about as many rounds as it stays
        put. "auto" finds out itself, and how sharply the values curve; None for all.
    smoothness, lipschitz : float, optional
        Constants of the values on the cube, where every range has length 1, for a certificate. None
        must be known.
    value_range : tuple of float, optional
        The least and the largest value that can be told. Found while playing without it.
    seed : int, optional
        Whole number that all randomness comes from; a fresh one by default.
    separable : bool, default False
        Whether the values are a sum with one term for each parameter, convex (concave, with
        `maximize`) each; if all parameters are whole numbers, also convex terms of the difference
        of two of them. A certificate needs it where an `Integer` or `Levels` stands beside another
        parameter.
    by_lot : bool, default False
        Whether you play what is asked by lot, such as one of two servers with their `Shares` as
        odds. True without saying so where there is an `Integer` or `Levels`.
    covariates : mapping, optional
        What explains values besides the setting, by name, where its kind is to be declared: a
        `Cycle` such as `Cycle(24)` for the hour, a list of words for a category, `float` for a
        number. What is not declared is known by its first value, as a number or a word.
    context : mapping, optional
        What chooses the setting, by name: a list of words (["eu", "us"]), a `Cycle` such as
        `Cycle(24)` for the hour, or the two ends of a range of numbers. `ask(context={...})` then
        wants a value for each name. Settings are learnt for every combination, at most 64.
    holdback : float, default 0.0
        The share of rounds, drawn by a coin, that play the control instead: with them `uplift`
        says what tuning gains. 0.05 is usual; at most 0.5.
    control : mapping, optional
        The setting to compare with, by name; the start by default.
    guard : float, optional
        The share of the control's value by which tuned rounds may be worse, such as 0.02. As soon
        as they surely are, the control is played until somebody calls `resume`.
    budget : float, optional
        The share of what the control earns or costs that tuning may cost, such as 0.05. Tuned
        rounds are played only while it is not used up. Values must not be negative.
    loss_range : tuple of float, optional
        The former name of `value_range`.

    Attributes
    ----------
    space : Space
        The parameters and their set.
    maximize : bool
        As given.
    learner : Predictive
        What learns, on the cube.
    contexts : Contexts or None
        What chooses the setting.
    separable : bool
        As given.
    rounds : int
        Values told so far.
    clipped : int
        How many of them were not learnt in full: they were too far off what was expected, or
        outside `value_range`, and look like faults.
    sem_rounds : int
        How many values were told with a standard error.
    held : bool
        Whether it is on hold, by `hold` or by its guard.

    Raises
    ------
    ParameterError
        If a parameter or another argument is unusable; the message names it.

    Examples
    --------
    >>> from dikin import Real
    >>> tuner = Tuner({"price": Real(1, 14, start=4), "ads": Real(0, 60, start=40)}, maximize=True,
    ...               seed=7)
    >>> trial = tuner.ask()
    >>> sorted(trial.params)
    ['ads', 'price']
    >>> tuner.tell(trial, 512.0)
    >>> tuner.rounds
    1
    """

    kind = Predictive.kind
    noun, told_as = "trial", "value"
    space: Space

    def __init__(
        self,
        parameters: Mapping[str, ParameterKind],
        *,
        maximize: bool = False,
        constraints: str | Sequence[str] = (),
        memory: float | Literal["auto"] | None = AUTO,
        smoothness: float | None = None,
        lipschitz: float | None = None,
        value_range: tuple[float, float] | None = None,
        seed: int | None = None,
        separable: bool = False,
        by_lot: bool = False,
        covariates: Mapping[str, Any] | None = None,
        context: Mapping[str, Any] | None = None,
        holdback: float = 0.0,
        control: Mapping[str, Any] | None = None,
        guard: float | None = None,
        budget: float | None = None,
        loss_range: tuple[float, float] | None = None,
    ) -> None:
        self.contexts = None if context is None else Contexts(context)
        self._declared = declared_kinds(with_contexts(covariates, self.contexts))
        self.space = Space(parameters, constraints)
        self.separable = true_or_false(separable, "separable")
        self._refuse_smooth_corners(smoothness)
        self.maximize = true_or_false(maximize, "maximize")
        self._sign = -1.0 if maximize else 1.0
        self.learner = Predictive(
            self.space.domain,
            smoothness=smoothness,
            lipschitz=lipschitz,
            loss_range=range_of_losses(either_range(value_range, loss_range), maximize),
            start=self.space.start,
            memory=memory,
            seed=seed,
            by_lot=true_or_false(by_lot, "by_lot") or self.space.by_lot,
            contexts=self.contexts.size if self.contexts else 0,
        )
        share, comparison = checked_holdback(holdback, control, guard, budget), None
        if share > 0.0:
            values = self.space.control_values(control)
            comparison = Comparison(share, values, guard, budget, self.maximize)
        key = secrets.token_hex(8) if seed is None else str(seed)
        self._begin(key, self.learner.center, Covariates(self._declared), comparison)

    def _refuse_smooth_corners(self, smoothness: Any) -> None:
        """Refuse a constant that cannot hold: between whole numbers values have corners."""
        for name, parameter in self.space.parameters.items():
            if parameter.has_corners and smoothness is not None:
                raise ParameterError(
                    f"smoothness={shown(smoothness)} cannot hold with {name}, {parameter!r}: mean "
                    "values have corners there, as between whole numbers. Give lipschitz instead, "
                    "or neither"
                )

    def _begin(
        self, key: str, first: Array, covariates: Covariates, comparison: Comparison | None
    ) -> None:
        self._open = self.learner._open
        self._open.noun = self.noun
        self._key = key
        """Decides how whole numbers are rounded and who is held back, with the trial's id."""
        self._first = first
        """The learner's centre before it learns."""
        self._covariates, self._precision = covariates, Precision()
        self._comparison = comparison
        self._watch = PipelineWatch(0.0 if comparison is None else comparison.holdback)
        self._reported: set[str] = set()
        """The faults of the pipeline that were logged and are not over."""
        self._fits: dict[int, Fit] = {}
        """What each open trial's value is forecast with: nothing that was learnt since it was
        asked, as that may depend on its setting."""
        self.learner._user_sense = "value", self._sign
        self._recent: deque[float] = deque(maxlen=RECENT)
        self._surprises: deque[float] = deque(maxlen=RECENT)
        """By how much each of them differed from what was expected; NaN where nothing was."""
        self._history: deque[Row] = deque(maxlen=HISTORY)
        """The centres in it are the learner's."""
        self.rounds, self.clipped, self.sem_rounds, self.held = 0, 0, 0, False

    # --- the game ------------------------------------------------------------------------------

    if not TYPE_CHECKING:  # where a whole number is no context

        def ask(self, context=None, *, n=None, forecast=None, covariates=None):
            context, n = count_instead_of_context(context, n)
            return super().ask(context, n=n, forecast=forecast, covariates=covariates)

    def _ask(self, context: Any, forecast: Any, covariates: Any) -> Any:
        known, place = checked_values(covariates), self._checked_context(context)
        known = self._with_place(known, place)
        self._open.acquire("Tuner")
        try:
            if known:
                self._covariates.refuse(known)
            if forecast is not None:
                forecast = self._sign * real_number(forecast, "forecast", ForecastError)
            expected = self._expected_with(known, forecast)
            make = partial(self._trial, expected, known, place)
            trial = self.learner._ask(self._weights(place), forecast, None, make)
            if known:
                self._covariates.include(known)
            if self._covariates.regression.begun:
                self._fits[trial.id] = self._covariates.regression.fit
            self._watch.asked()
            self._report_faults()
            return trial
        finally:
            self._open.lock.release()

    def _checked_context(self, context: Any) -> Values:
        """A context as it is kept; empty where the tuner was declared without."""
        if self.contexts is not None:
            return self.contexts.checked(context)
        if context is not None:
            raise ContextError(
                "this tuner was declared without contexts: Tuner(..., context={...}) chooses a "
                "setting by them, and ask(covariates={...}) explains noise with them; got "
                f"{shown(context)}. Nothing was changed."
            )
        return {}

    def _with_place(self, known: Values, place: Values) -> Values:
        """The covariates of a round, contexts included, in the order of the names."""
        if self.contexts is None:
            return known
        return dict(sorted(merged(self.contexts.explaining(place), known).items()))

    def _weights(self, place: Values) -> list[float] | None:
        """The weights of a context that was checked."""
        return self.contexts.weights(place) if self.contexts is not None else None

    def _expected_with(self, known: Values, forecast: float | None) -> float:
        """What is expected of the next value, if this is known of the round."""
        regression = NONE
        if known:
            fit = self._covariates.regression.fit
            deviations = fit.deviations(self._covariates.features(known))
            regression = fit.forecast(deviations) if any(deviations) else NONE
        return self._sign * self.learner._forecast_with(regression, forecast)

    def _trial(self, expected: float, known: Values, place: Values, id: int, point: Array) -> Trial:
        """The trial at a point of the learner's."""
        held, draw = self.held, self._drawn(id, expected)
        held_back = draw is not None and draw.held_back
        if self._comparison is not None and held_back:
            values = self._comparison.control.copy()
        else:
            values = self._center_in(place) if held else self.space.played(point, self._lot(id))
        values.setflags(write=False)
        params = self.space.params(values)
        return Trial(id, params, values, expected, held, known, place, held_back)

    def _drawn(self, id: int, expected: float) -> Draw | None:
        if self._comparison is None:
            return None
        return self._comparison.draw(self._key, id, expected, self.held)

    def _report_faults(self) -> None:
        """A line in the log for each fault of the pipeline, when it is first seen."""
        seen = {notice.rpartition(":")[2]: notice for notice in self._watch.notices()}
        for fault in seen.keys() - self._reported:
            logger.warning("trial %d: %s", self.asked - 1, seen[fault])
        self._reported = set(seen)

    def _lot(self, id: int) -> float:
        """The lot of a trial, a number in [0, 1)."""
        return _uniform(self._key, id)

    def _center_in(self, place: Values) -> Array:
        """Today's best guess in a context, as a row of numbers."""
        weights = self._weights(place)
        return self.center if weights is None else self._best_at(self.learner.center_for(weights))

    def _again(self, id: int) -> Trial:
        asked: Any = self._open[id][0]
        params, known = self.space.params(asked.point), dict(asked.covariates)
        before = asked.expected, asked.held, known, dict(asked.context), asked.held_back
        return Trial(id, params, asked.point, *before)

    @locked
    def tell(
        self,
        trial: Trial | int,
        value: Any = None,
        curvature: float = 0.0,
        *,
        covariates: Mapping[str, Any] | None = None,
        values: Iterable[float] | None = None,
        sem: float | None = None,
        smoothness: None = None,
        lipschitz: None = None,
    ) -> None:
        """Tell what came of a trial: in any order, late, by its id. A refusal changes nothing.

        On hold nothing is learnt, whenever the trial was asked; the value counts for the summary.
        Of a trial that was held back only what covariates explain is learnt.

        Parameters
        ----------
        trial : Trial or int
            What `ask` gave, or its id.
        value : float
            The measured number, in your own sense: a revenue with `maximize`, else a cost.
        curvature : float, default 0.0
            How strongly convex the loss of this round was on the cube; 0 where that is not known.
        covariates : mapping, optional
            What explains the value besides the setting and is known only now, by name: the number
            of visitors, the mix of requests. It counts as if it had been given to `ask`. The
            setting must not influence it: that would void the guarantee.
        values : iterable of float, optional
            Several values of the trial in place of one: their mean is told, with the standard error
            that they have.
        sem : float, optional
            The standard error of the value. One that is noisier than usual teaches less.
        smoothness, lipschitz : None
            Refused: a tuner is given no such constant to be smaller than.

        Raises
        ------
        UnknownQueryError, ClosedQueryError, ForeignQueryError
            If the trial is not an open one of this tuner.
        LossError
            If the value is not a finite number, or the standard error not one of at least 0; if
            there are both a value and several, or neither; if it is negative and there is a budget.
        CurvatureError
            If the curvature is negative, not finite, or too large.
        CovariateError
            If a covariate is not a finite number or a word, is of another kind than before, or was
            another one when the trial was asked.
        """
        asked: Any = self._open.find(trial, self._again)[0]
        if smoothness is not None or lipschitz is not None:
            raise ConstantError(
                "a tuner knows no smoothness and no Lipschitz constant of its losses; tell them to "
                "a Predictive learner that was given one. Nothing was changed."
            )
        value, error = value_and_error(value, values, sem)
        told = real_number(value, "value", LossError)
        if not abs(told) < LARGEST:
            raise LossError(
                f"the value of trial {asked.id} must be a finite number below {LARGEST:g}, got "
                f"{told}. Tell a number, or forget the trial if its value was lost. Nothing was "
                "changed."
            )
        if self._comparison is not None:
            self._comparison.refuse(told)
        beside = checked_values(covariates)
        known = merged(asked.covariates, beside)
        if beside:
            self._covariates.refuse(beside)
        held = self.held or asked.held
        if held or asked.held_back:
            self.learner._scaled_curvature(curvature)  # refused all the same
            memo = self._open.pop(asked.id)[1]
            if asked.held_back and not held and known:
                self._learn_slopes(asked, memo, self._sign * told, known, error)
        elif known or self._covariates or error is not None:
            self._learn_with(asked, self._sign * told, curvature, known, error)
        else:
            self._learn(asked, self._sign * told, curvature)
        self._fits.pop(asked.id, None)
        draw = self._compare(asked, told)
        self.rounds += 1
        self.sem_rounds += error is not None
        self._recent.append(told)
        self._surprises.append(told - asked.expected)
        center, certificate = self.learner.center, self.certificate
        self._history.append(
            Row(
                self.rounds,
                asked.point,
                told,
                asked.expected,
                held,
                center,
                certificate,
                known,
                nan if error is None else error,
                asked.context,
                asked.held_back,
                guess_in(draw),
            )
        )

    def _compare(self, asked: Trial, value: float) -> Draw | None:
        """Count a value in the comparison with the control; the guard may put the tuner on hold."""
        comparison = self._comparison
        draw = None if comparison is None else comparison.draws.get(asked.id)
        by_coin = draw is not None and draw.by_coin
        self._watch.told(value, asked.held_back if by_coin else None)
        if comparison is not None and comparison.add(asked.id, value, asked.expected):
            self.held = True
            logger.warning("the guard holds. %s", comparison.reason)
        return draw

    def _learn_slopes(
        self, asked: Trial, memo: Any, loss: float, known: Values, error: float | None
    ) -> None:
        """Learn from a round of the control what covariates explain, and nothing else."""
        learner, covariates = self.learner, self._covariates
        fit, draw = self._fits.get(asked.id), cast(Comparison, self._comparison).draws[asked.id]
        features = covariates.features(known)
        # As if it had been tuned: by how much the control differs is no matter of covariates.
        loss += self._sign * (asked.expected - draw.control)
        deviations = [] if fit is None else fit.deviations(features)
        if covariates.include(known):
            features = covariates.features(known)
        if fit is None or not isfinite(loss):
            return
        believed = learner._believed(memo.state.numbers, learner._scaled_loss(loss))
        if any(deviations) and believed is not None:
            variance = learner._n.levels.mean_square
            square = 0.0 if error is None else (error / learner.units.loss_scale) ** 2
            weight = 1.0 if error is None else self._precision.weight(square, variance)
            covariates.regression.learn_slopes(deviations, believed - fit.middle, weight)
        covariates.regression.observe(features)

    def _learn(self, asked: Trial, loss: float, curvature: float) -> None:
        learner = self.learner
        self.clipped += tell_clipped(learner, learner.tell, asked, loss, curvature)

    def _learn_with(
        self, asked: Trial, loss: float, curvature: float, known: Values, error: float | None
    ) -> None:
        """Learn a loss with what came with it; it is forecast before it is looked at."""
        learner, covariates, regression = (
            self.learner,
            self._covariates,
            self._covariates.regression,
        )
        fit, deviations, beside = self._fits.get(asked.id), list[float](), Besides()
        features = covariates.features(known)
        if fit is not None and known:
            deviations = fit.deviations(features)
            beside.regression = fit.forecast(deviations) if any(deviations) else NONE
        variance, square = learner._n.levels.mean_square, 0.0
        if error is not None:
            square = (error / learner.units.loss_scale) ** 2
            beside.precision = self._precision.weight(square, variance)
        learner._beside = beside
        try:
            self._learn(asked, loss, curvature)
        finally:
            learner._beside = None
        if error is not None:
            self._precision.learn(square, variance)
        if covariates.include(known):
            features = covariates.features(known)
        level = learner._n.levels.current
        if not regression.begun:
            if known and beside.believed is not None:
                regression.gather(features, beside.believed)
                if level > 0.0 and regression.gathered >= SEEN:
                    regression.begin(learner._n.forecasters, learner.rounds, level)
            return
        if beside.believed is not None:
            then = regression.fit if fit is None else fit
            regression.learn(then, deviations, beside.believed, level, beside.precision)
        regression.observe(features)

    def forget(self, query: Query | int) -> None:
        with self._open.lock:
            super().forget(query)
            self._fits = {id: fit for id, fit in self._fits.items() if id in self._open}
            if self._comparison is not None:
                self._comparison.forget(self._open)

    @locked
    def hold(self) -> None:
        """Play the best setting from now on, and learn nothing until `resume`."""
        self.held = True

    @locked
    def resume(self) -> None:
        """Explore and learn again; a guard that holds forgets what it has seen."""
        self.held = False
        if self._comparison is not None:
            self._comparison.resume()

    # --- what it knows -------------------------------------------------------------------------

    def _restored_context(self, place: Any) -> Values:
        return self.contexts.checked(place) if self.contexts is not None else {}

    @property
    def columns(self) -> tuple[str, ...]:
        """A name for each number of `trial.point` and `center`."""
        return self.space.columns

    @property
    @locked
    def center(self) -> Array:
        """Today's best guess as a row of numbers; the start as it was given before any learning."""
        return self._best_at(self.learner.center)

    def _best_at(self, center: Array) -> Array:
        """The values to settle on at a centre of the learner."""
        if np.array_equal(center, self._first):
            return self.space.start_values
        return self.space.best(center)

    @property
    def best(self) -> Params:
        """Today's best guess by name; before anything was learnt, the start.

        Of a tuner with contexts that of their mean so far: see `best_for`.
        """
        return self.space.params(self.center)

    @locked
    def best_for(self, context: Mapping[str, Any] | None = None) -> Params:
        """Today's best guess in a context.

        Parameters
        ----------
        context : mapping, optional
            A value for each name of the tuner's `context`; none for a tuner without.

        Returns
        -------
        dict
            The setting by name.

        Raises
        ------
        ContextError
            If a name is missing or was not declared, or a value cannot be one.
        """
        return self.space.params(self._center_in(self._checked_context(context)))

    open_trials = renamed("open_trials", "open_queries")

    def open_trial(self, id: int) -> Trial | None:
        """Deprecated: look in `open_queries`.

        Parameters
        ----------
        id : int
            The number of a trial.

        Returns
        -------
        Trial or None
            None where it was never asked, or is closed.
        """
        warnings.warn("open_trial(id): see open_queries", DeprecationWarning, stacklevel=2)
        return next((trial for trial in self.open_queries if trial.id == id), None)

    @property
    def expected(self) -> float:
        """What it expects of the next value; NaN before the first one."""
        return self._sign * self.learner.forecast

    @property
    def surprise(self) -> float:
        """How far off its expectations were recently; NaN before it knows."""
        return self.learner.surprise

    @property
    @locked
    def explained(self) -> Explained:
        """How much of the variance of the values covariates explain, and by what."""
        return self._covariates.explained(self._sign * self.learner.units.loss_scale)

    @property
    def control(self) -> Params | None:
        """What rounds that are held back play, by name; None without a holdback."""
        return None if self._comparison is None else self.space.params(self._comparison.control)

    @property
    @locked
    def uplift(self) -> Uplift:
        """What a tuned round gains over the control, with an interval that is valid at any time.

        Raises
        ------
        StateError
            If the tuner was made without a holdback.
        """
        return self._compared().uplift

    @property
    @locked
    def recent_uplift(self) -> Uplift:
        """The same over the recent rounds: the last 50/holdback of them, up to twice as many.

        Raises
        ------
        StateError
            If the tuner was made without a holdback.
        """
        return self._compared().recent_uplift

    def _compared(self) -> Comparison:
        if self._comparison is None:
            raise StateError(NO_HOLDBACK)
        return self._comparison

    @property
    def guard_reason(self) -> str | None:
        """Why the guard holds, as a sentence; None if it does not, or there is none."""
        return None if self._comparison is None else self._comparison.reason

    @property
    def certificate(self) -> float:
        """The bound on the regret of the rounds learnt so far.

        NaN where no constant was given, and where a whole number stands beside other parameters and
        the values were not declared `separable`.
        """
        return nan if self._lots_interact else self.learner.certificate

    @property
    def _lots_interact(self) -> bool:
        """Whether the mean over lots need not be convex although the values are."""
        alone = len(self.space.columns) == 1
        return self.space.by_lot and not (alone or self.separable)

    @property
    def restarts(self) -> int:
        """How often a range of values that was not known had to be widened."""
        return self.learner.restarts

    def certificate_for(
        self,
        *,
        smoothness: float | None = None,
        lipschitz: float | None = None,
        varies: float | None = None,
        memory: float | None = None,
    ) -> float:
        """Bound the regret for a constant that one believes in: `Predictive.certificate_for`.

        Parameters
        ----------
        smoothness, lipschitz : float, optional
            The constant of the values on the cube: one of the two.
        varies : float, optional
            By how much the values of a round vary at most.
        memory : float, optional
            With `memory="auto"`, 4000, 1000 or 250: to bound the regret of about so many rounds.

        Returns
        -------
        float
            The bound for the rounds so far; NaN where a whole number stands beside other parameters
            and the values were not declared `separable`.

        Raises
        ------
        ParameterError
            If not exactly one of the two is given, or `smoothness` where a parameter has
            corners, as an `Integer` does; or there is no bound for that memory.
        """
        self._refuse_smooth_corners(smoothness)
        bound = self.learner.certificate_for(
            smoothness=smoothness, lipschitz=lipschitz, varies=varies, memory=memory
        )
        return nan if self._lots_interact else bound

    @locked
    def summary(self) -> Status:
        """The status: rounds, best setting, recent mean, cost of exploring, outlook.

        Returns
        -------
        Status
            A record that prints itself, in a notebook as a table.
        """
        recent, space, axes = list(self._recent), self.space, self.space.axes
        explained, compared = self.explained, self._comparison
        return Status(
            kind="tuner",
            learner=self.learner.kind,
            space=space.spec(),
            columns=space.columns,
            ranges=[[axis.low, axis.high] for axis in axes],
            log=[axis.log for axis in axes],
            labels=[list(axis.labels) for axis in axes],
            maximize=self.maximize,
            held=self.held,
            rounds=self.rounds,
            asked=self.asked,
            open=OpenQueries(len(self._open), next(iter(self._open), None)),
            start=space.params(space.start_values),
            best=self.best,
            center=self.center,
            recent_rounds=len(recent),
            recent_mean=sum(recent) / len(recent) if recent else nan,
            recent_sem=self._recent_sem(),
            expected=self.expected,
            surprise=self.surprise,
            exploring_cost=self.learner.exploring_cost,
            ahead=AHEAD,
            outlook=self.learner.outlook(AHEAD),
            certificate=self.certificate,
            contexts=self._context_specs() or None,
            context_count=self.contexts.size if self.contexts else 0,
            by_context=self._by_context(),
            covariates=self._covariate_specs() or None,
            explained=explained.share,
            explained_by=explained.by or None,
            sem_rounds=self.sem_rounds,
            clipped=self.clipped,
            restarts=self.learner.restarts,
            control=self.control,
            warnings=tuple(self._warnings()),
            **({} if compared is None else compared.standing()),
        )

    def _recent_sem(self) -> float:
        """The standard error of the mean of recent values."""
        known = [surprise for surprise in self._surprises if isfinite(surprise)]
        if len(known) < 2:
            return nan
        return float(np.std(known, ddof=1)) / sqrt(len(self._recent))

    def _context_specs(self) -> dict[str, Any]:
        return self.contexts.spec() if self.contexts else {}

    def _covariate_specs(self) -> dict[str, Any]:
        """The covariates that are not contexts as well."""
        contexts = self._context_specs()
        specs = self._covariates.specs().items()
        return {name: kind for name, kind in specs if name not in contexts}

    def _by_context(self) -> dict[str, Params] | None:
        if self.contexts is None:
            return None
        first = islice(self.contexts.grid(), MOST_SHOWN)
        return {label: self.space.params(self._center_in(place)) for label, place in first}

    def _warnings(self) -> Iterator[str]:
        if self.guard_reason is not None:
            yield f"The guard holds. {self.guard_reason}"
        yield from self._watch.notices()

    def status(self) -> Status:
        return self.summary()

    def notes(self, id: int) -> dict[str, Any]:
        trial: Any = self._open[id][0]
        expected = serialization.finite_or_none(trial.expected)
        notes = {"expected": expected, "held": trial.held or self.held}
        return notes if self._comparison is None else notes | self._comparison.notes(id)

    def is_current(self, query: Query) -> bool:
        return isinstance(query, Trial) and query.held == self.held

    @locked
    def history(self) -> Table:
        """The last 10,000 rounds since it was made or loaded; a `Study` keeps all of them.

        Returns
        -------
        numpy.ndarray
            A structured array with the columns round, the name of each value (`columns`), value,
            expected, held, the best guess after the round (`best.` before each name) and
            certificate; then the contexts (`context.` before each name), the covariates
            (`covariate.` before each name; NaN or an empty text where one was missing) and, where
            any was told, the standard error sem; with a holdback held_back and expected_control,
            NaN where no coin decided the round.
        """
        rows = [row._replace(center=self._best_at(np.asarray(row.center))) for row in self._history]
        return history_table(
            self.space,
            rows,
            self._covariate_specs(),
            contexts=self._context_specs(),
            sem=self.sem_rounds > 0,
            compared=self._comparison is not None,
        )

    def to_frame(self) -> Any:
        """The history as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            With one row a round.
        """
        return to_frame(self.history())

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw the history: each parameter, the value, and how large surprises were.

        With contexts also the best setting over them, and with a holdback what tuning gains over
        the control, and its interval.

        Parameters
        ----------
        path : str or os.PathLike, optional
            A file to write, ending in .png, .svg or .pdf. None is written without one.

        Returns
        -------
        matplotlib.figure.Figure
            The drawing.

        Raises
        ------
        StateError
            If no round was told yet.
        """
        rounds = self.history()
        if not len(rounds):
            raise StateError("no round was told since the tuner was made or loaded: draw later")
        figure = draw_history(
            rounds,
            panels_of(self.space),
            maximize=self.maximize,
            contexts=self._context_panels(),
            uplift=None if self._comparison is None else uplift_course(rounds, self.summary()),
        )
        if path is not None:
            save_figure(figure, path)
        return figure

    @locked
    def _context_panels(self) -> list[ContextPanel]:
        """What is drawn of the contexts."""
        return context_panels(self.space, self.contexts, self._center_in)

    def __repr__(self) -> str:
        sense = "maximize" if self.maximize else "minimize"
        return f"<Tuner {sense} {', '.join(self.space.parameters)}, {self.rounds} rounds>"

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    # --- state ---------------------------------------------------------------------------------

    @locked
    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, as plain JSON values, open trials included.

        Returns
        -------
        dict
            What `dikin.restore` makes the same tuner from.
        """
        queries: dict[int, Any] = self._open
        return {
            "tuner": self.space.spec() | {"maximize": self.maximize, "separable": self.separable},
            "contexts": self.contexts and self.contexts.spec(),
            "declared": specs_of(self._declared),
            "covariates": self._covariates.state(),
            "precision": [self._precision.mean, self._precision.count],
            "learner": self.learner.state(),
            "key": self._key,
            "first": self._first.tolist(),
            "rounds": self.rounds,
            "clipped": self.clipped,
            "sem_rounds": self.sem_rounds,
            "held": self.held,
            "recent": list(self._recent),
            "surprises": [serialization.finite_or_none(each) for each in self._surprises],
            "open": [
                [id, trial.point.tolist(), serialization.finite_or_none(trial.expected), trial.held]
                for id, (trial, _) in queries.items()
            ],
            "known": [[id, trial.covariates, trial.context] for id, (trial, _) in queries.items()],
            "fits": [[id, serialization.encode(fit.state())] for id, fit in self._fits.items()],
            "comparison": self._comparison and self._comparison.state(),
            "watch": self._watch.state(),
        }

    def identity(self) -> dict[str, Any]:
        arguments = self.learner.state()["arguments"]
        losses = arguments.pop("loss_range")
        del arguments["start"]  # it follows from the parameters
        parameters = self.space.parameters
        return {
            "kind": "tuner",
            "parameters": list(parameters),
            # Where it began is of no matter afterwards: today's value is another one tomorrow.
            **{f"parameter {name!r},": p.without_start() for name, p in parameters.items()},
            "constraints": self.space.constraints,
            "sense": "maximize" if self.maximize else "minimize",
            "arguments": arguments
            | {
                "value_range": losses and sorted(self._sign * end for end in losses),
                "separable": self.separable,
                "covariates": specs_of(self._declared),
                "context": self.contexts and self.contexts.spec(),
            },
            "comparison": self._comparison and self._comparison.arguments(self.columns),
        }

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Tuner:
        """A tuner that continues exactly as the one that gave the state would have.

        Parameters
        ----------
        state : dict
            What `state` gave.

        Returns
        -------
        Tuner
            With the same future.

        Raises
        ------
        StateError
            If the state was altered.
        """
        tuner = cls.__new__(cls)
        tuner.space = Space.from_spec(state["tuner"])
        tuner.maximize = bool(state["tuner"]["maximize"])
        tuner.separable = bool(state["tuner"]["separable"])
        tuner._sign = -1.0 if tuner.maximize else 1.0
        tuner.learner = Predictive.restore(tuner.space.domain, state["learner"])
        tuner.contexts = Contexts(state["contexts"]) if state["contexts"] else None
        tuner._declared = declared_kinds(state["declared"])
        covariates = Covariates.restore(state["covariates"])
        compared = state["comparison"] and Comparison.restore(state["comparison"])
        first = np.array(state["first"], dtype=float)
        tuner._begin(str(state["key"]), first, covariates, compared)
        tuner._watch = PipelineWatch.restore(state["watch"])
        tuner._precision = Precision(*map(float, state["precision"]))
        fits = {int(id): serialization.decode(fit) for id, fit in state["fits"]}
        tuner._fits = {id: Fit.restore(fit) for id, fit in fits.items()}
        tuner.rounds, tuner.clipped = int(state["rounds"]), int(state["clipped"])
        tuner.sem_rounds, tuner.held = int(state["sem_rounds"]), bool(state["held"])
        tuner._recent.extend(map(float, state["recent"]))
        tuner._surprises.extend(map(serialization.number_or_nan, state["surprises"]))
        if [row[0] for row in state["open"]] != list(tuner._open):
            raise StateError("the open trials of a state are not the open queries of its learner")
        known = {int(id): checked_values(values) for id, values, _ in state["known"]}
        places = {int(id): tuner._restored_context(place) for id, _, place in state["known"]}
        for id, values, expected, held in state["open"]:
            point = np.array(values, dtype=float)
            if point.shape != tuner._first.shape or not np.isfinite(point).all():
                raise StateError(f"the values of trial {id} of a state cannot be {shown(values)}")
            point.setflags(write=False)
            before = serialization.number_or_nan(expected), bool(held), known[id], places[id]
            held_back = compared is not None and id in compared.draws and compared.draws[id][0]
            trial = Trial(id, tuner.space.params(point), point, *before, held_back)
            tuner._open[id] = trial, tuner._open[id][1]
        return tuner


def with_contexts(covariates: Any, contexts: Contexts | None) -> Any:
    """Declared covariates and contexts: what chooses a setting explains noise too.

    Parameters
    ----------
    covariates : mapping or None
        As they were declared.
    contexts : Contexts or None
        Those of the tuner.

    Returns
    -------
    mapping or None
        Both.

    Raises
    ------
    ParameterError
        If a name is declared as both.
    """
    if contexts is None:
        return covariates
    both = set(contexts.parts) & set(covariates if isinstance(covariates, Mapping) else ())
    if both:
        raise ParameterError(
            f"{shown(min(both))} is declared as a context and as a covariate: a context is a "
            "covariate as well, leave it out there"
        )
    return contexts.covariates() | (covariates or {})


def either_range(value_range: Any, loss_range: Any) -> Any:
    """The range of values, by its name or by its former one.

    Parameters
    ----------
    value_range, loss_range : tuple of float or None
        The least and the largest value: one of the two at most.

    Returns
    -------
    tuple of float or None
        The one that is not None.

    Raises
    ------
    ParameterError
        If both are given.
    """
    if value_range is not None and loss_range is not None:
        raise ParameterError(
            f"value_range={shown(value_range)} and loss_range={shown(loss_range)} are the same "
            "argument: leave out loss_range, its former name"
        )
    return loss_range if value_range is None else value_range


def range_of_losses(value_range: Any, maximize: bool) -> tuple[float, float] | None:
    """A range of values as one of losses.

    Parameters
    ----------
    value_range : tuple of float or None
        The least and the largest value.
    maximize : bool
        Whether large values are good.

    Returns
    -------
    tuple of float or None
        The least and the largest loss.

    Raises
    ------
    ParameterError
        If the values are not two finite numbers in increasing order.
    """
    if value_range is None:
        return None
    low, high = checked_range(value_range, "value")
    return (-high, -low) if maximize else (low, high)


def count_instead_of_context(context: Any, n: Any) -> tuple[Any, Any]:
    """Take a whole number in the place of the context for `n`; deprecated.

    Parameters
    ----------
    context, n
        As `ask` was given them.

    Returns
    -------
    tuple
        Context and `n` as they are meant.
    """
    if n is not None or not is_whole(context):
        return context, n
    warnings.warn(f"ask({context}) is now ask(n={context})", DeprecationWarning, stacklevel=3)
    return None, context


def _uniform(key: str, id: int) -> float:
    """The lot of a trial, a number in [0, 1): the same in every process and for ever."""
    digest = hashlib.blake2b(f"{key}/{id}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest) >> 11) / 2.0**53
