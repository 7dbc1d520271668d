"""The tuner: `Predictive` with names, a start and nothing that must be known.

It works on the cube of the parameters, where units do not matter, and speaks in the user's values.
"""

from __future__ import annotations

import logging
import os
import secrets
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from math import nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dikin import serialization
from dikin.arguments import LARGEST, real_number, true_or_false
from dikin.errors import (
    ContextError,
    CurvatureError,
    FeedbackError,
    LossError,
    StateError,
    shown,
)
from dikin.learners.predictive import AUTO, Predictive
from dikin.learners.threads import locked
from dikin.open_queries import Query
from dikin.players import Player
from dikin.plotting.contexts import ContextPanel
from dikin.plotting.history import draw_history
from dikin.plotting.style import save_figure
from dikin.rng import lot
from dikin.status import OpenQueries, Status
from dikin.tuning.comparison import Comparison, checked_holdback, guess_in
from dikin.tuning.contexts import Contexts
from dikin.tuning.covariate_learning import CovariateLearning
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
from dikin.tuning.recent_values import RecentValues
from dikin.tuning.several_values import value_and_error
from dikin.tuning.space import Params, Space
from dikin.tuning.trial import Trial
from dikin.units import checked_range
from dikin.vectors import Array, Table
from dikin.worth.uplift import Uplift

if TYPE_CHECKING:
    from matplotlib.figure import Figure

logger = logging.getLogger("dikin")

HISTORY = 10_000
"""Rounds that a tuner keeps for tables and figures: some megabytes."""
MOST_SHOWN = 16
"""Contexts whose best setting is part of the summary."""
NO_HOLDBACK = (
    "without a holdback nothing is compared: Tuner(..., holdback=0.05) uses the control in 5 % of "
    "the rounds and measures the gain of tuning over it"
)


class Tuner(Player[Trial]):
    """Tune named parameters from one number per round, without constants to be known beforehand.

    Ask for a setting, use it, and tell the result: in any order, late or never. The tuner explores
    around its best guess, a little less every round, and never leaves the ranges. It runs
    `Predictive` on the cube of the ranges, with the guarantee of that learner for values that are
    convex (concave, with `maximize`) in the parameters.

    Parameters
    ----------
    parameters : mapping
        From names to `Real`, `Integer`, `Levels` or `Shares`: the ranges and, if there is one, the
        current value as the start. A start closer to a bound than 15 % of the range is moved
        inside, because exploring needs room.
    maximize : bool, default False
        Whether large values are good: a revenue, a throughput. Otherwise small ones are: a cost, a
        time.
    constraints : sequence of str, optional
        Linear constraints between `Real` parameters, such as "ads + 3 * staff <= 100". Every
        setting that is played satisfies them.
    memory : float or "auto" or None, default "auto"
        The number of rounds to remember, for a best setting that drifts: about as many as it stays
        in place. "auto" finds this out itself, and how sharply the values curve. None remembers all
        rounds.
    smoothness, lipschitz : float, optional
        Constants of the values on the cube, where every range has length 1, for a certificate.
        Neither is required.
    value_range : tuple of float, optional
        The smallest and the largest possible value. Without it the tuner measures the range while
        it runs. A value outside counts as the nearer end.
    seed : int, optional
        The whole number from which all randomness is derived; a fresh one by default.
    separable : bool, default False
        Whether the values are a sum with one convex (concave, with `maximize`) term for each
        parameter; if all parameters are whole numbers, also convex terms of the difference
        of two of them. A certificate needs it where an `Integer` or `Levels` stands beside another
        parameter.
    by_lot : bool, default False
        Whether you draw what you play at random, such as one of two servers with the `Shares` as
        probabilities. Always true if there is an `Integer` or `Levels`.
    covariates : mapping, optional
        The kinds of covariates, by name: a `Cycle` such as `Cycle(24)` for the hour, a list of
        words for a category, `float` for a number. A covariate explains values besides the setting.
        One that is not declared is a number or a category, according to its first value.
    context : mapping, optional
        What the setting depends on, by name: a list of words (["eu", "us"]), a `Cycle` such as
        `Cycle(24)` for the hour, or the two ends of a range of numbers. `ask(context={...})` then
        requires a value for each name. A setting is learnt for every combination, at most 64.
    holdback : float, default 0.0
        The share of rounds, drawn by a coin, that use the control instead, so that `uplift` can
        measure the gain of tuning. 0.05 is usual; at most 0.5.
    control : mapping, optional
        The setting to compare with, by name; the start by default.
    guard : float, optional
        The share of the control's value by which tuned rounds may be worse, such as 0.02. As soon
        as they are worse with confidence, the control is used until someone calls `resume`.

    Attributes
    ----------
    space : Space
        The parameters and their set.
    maximize : bool
        As given.
    learner : Predictive
        The learner, on the cube.
    contexts : Contexts or None
        What the setting depends on.
    separable : bool
        As given.
    rounds : int
        Values told so far.
    clipped : int
        How many of them were not learnt in full, because they look like faults: too far from the
        expected value, or outside `value_range`.
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
    ) -> None:
        self.contexts = None if context is None else Contexts(context)
        if self.contexts is not None:
            covariates = self.contexts.with_covariates(covariates)
        self._declared = declared_kinds(covariates)
        self.space = Space(parameters, constraints)
        self.separable = true_or_false(separable, "separable")
        self.space.refuse_smoothness(smoothness)
        self.maximize = true_or_false(maximize, "maximize")
        self._sign = -1.0 if maximize else 1.0
        self.learner = Predictive(
            self.space.domain,
            smoothness=smoothness,
            lipschitz=lipschitz,
            loss_range=self._losses_of(value_range),
            start=self.space.start,
            memory=memory,
            seed=seed,
            by_lot=true_or_false(by_lot, "by_lot") or self.space.by_lot,
            contexts=self.contexts.size if self.contexts else 0,
        )
        share, comparison = checked_holdback(holdback, control, guard), None
        if share > 0.0:
            values = self.space.control_values(control)
            comparison = Comparison(share, values, guard, self.maximize, value_range)
        key = secrets.token_hex(8) if seed is None else str(seed)
        learning = CovariateLearning(self.learner, Covariates(self._declared))
        self._begin(key, self.learner.center, learning, comparison)

    def _losses_of(self, value_range: Any) -> tuple[float, float] | None:
        """A range of values as one of losses."""
        if value_range is None:
            return None
        low, high = checked_range(value_range, "value")
        return (-high, -low) if self.maximize else (low, high)

    def _begin(
        self,
        key: str,
        first: Array,
        learning: CovariateLearning,
        comparison: Comparison | None,
    ) -> None:
        self._open = self.learner._open
        self._open.noun = "trial"
        self._key = key
        """With a trial's id, decides how whole numbers are rounded and whether it is held back."""
        self._first = first
        """The learner's centre before it learns."""
        self._learning, self._comparison = learning, comparison
        self.learner._user_sense = "value", self._sign
        self._recent = RecentValues()
        self._history: deque[Row] = deque(maxlen=HISTORY)
        """The centres in it are iterates of the learner: most of them nobody asks for."""
        self.rounds, self.clipped, self.sem_rounds, self.held = 0, 0, 0, False

    # --- the game ------------------------------------------------------------------------------

    def _ask(self, context: Any, forecast: Any, covariates: Any) -> Any:
        covariates, context = checked_values(covariates), self._checked_context(context)
        if self.contexts is not None:  # what chooses the setting explains noise too
            covariates = merged(self.contexts.explaining(context), covariates)
            covariates = dict(sorted(covariates.items()))
        self._open.acquire("Tuner")
        try:
            self._learning.covariates.refuse(covariates)
            if forecast is not None:
                forecast = self._sign * real_number(forecast, "forecast", FeedbackError)
            loss = self.learner._forecast_with(self._learning.forecast(covariates), forecast)
            make = partial(self._trial, self._sign * loss, covariates, context)
            trial = self.learner._ask(self._weights(context), forecast, None, make)
            self._learning.ask(trial.id, covariates)
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

    def _weights(self, context: Values) -> list[float] | None:
        """The weights of a context that was checked."""
        return self.contexts.weights(context) if self.contexts is not None else None

    def _trial(
        self, expected: float, covariates: Values, context: Values, id: int, point: Array
    ) -> Trial:
        """The trial at a point of the learner's."""
        compared, held_back, values = self._comparison, False, None
        if compared is not None:
            draw = compared.draw(self._key, id, expected, self.held)
            if draw is not None and draw.held_back:
                held_back, values = True, compared.control.copy()
        if values is None:
            held, chance = self.held, lot(self._key, id)
            values = self._center_in(context) if held else self.space.played(point, chance)
        values.setflags(write=False)
        params = self.space.params(values)
        return Trial(id, params, values, expected, self.held, covariates, context, held_back)

    def _center_in(self, context: Values) -> Array:
        """The current best guess in a context, as a row of numbers."""
        weights = self._weights(context)
        return self.center if weights is None else self._best_at(self.learner.center_for(weights))

    def _again(self, id: int) -> Trial:
        trial: Any = self._open[id][0]
        params, covariates = self.space.params(trial.point), dict(trial.covariates)
        before = trial.expected, trial.held, covariates, dict(trial.context), trial.held_back
        return Trial(id, params, trial.point, *before)

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
        """Tell the value of a trial: in any order, late, by its id. A refusal changes nothing.

        On hold nothing is learnt, whenever the trial was asked; the value counts in the summary.
        From a trial that was held back the tuner learns only what covariates explain.

        Parameters
        ----------
        trial : Trial or int
            What `ask` gave, or its id.
        value : float
            The measured number, in your own sense: a revenue with `maximize`, else a cost.
        curvature : float, default 0.0
            How strongly convex the loss of this round was on the cube; 0 where that is not known.
        covariates : mapping, optional
            Covariates that are known only now, by name: the number of visitors, the mix of
            requests. They count as if they had been passed to `ask`. The setting must not influence
            them: that would void the guarantee.
        values : iterable of float, optional
            Several values of the trial instead of one: their mean counts, with its standard error.
        sem : float, optional
            The standard error of the value. A value that is noisier than usual counts less.
        smoothness, lipschitz : None
            Refused: a tuner is given no such constant to be smaller than.

        Raises
        ------
        QueryError
            If the trial is not an open one of this tuner.
        LossError
            If the value is not a finite number, or the standard error not one of at least 0; if
            there are both a value and several, or neither.
        CurvatureError
            If there is a smoothness or a Lipschitz constant.
        CurvatureError
            If the curvature is negative, not finite, or too large.
        CovariateError
            If a covariate is not a finite number or a word, is of another kind than before, or was
            another one when the trial was asked.
        """
        asked: Any = self._open.find(trial, self._again)[0]
        if smoothness is not None or lipschitz is not None:
            raise CurvatureError(
                "a tuner knows no smoothness and no Lipschitz constant of its losses; tell them to "
                "a Predictive learner that was given one. Nothing was changed."
            )
        value, error = value_and_error(value, values, sem)
        number = self._checked_value(asked.id, value)
        covariates = asked.covariates if covariates is None else self._late(asked, covariates)
        held = self.held or asked.held
        if held or asked.held_back:
            self.learner._scaled_curvature(curvature)  # refused all the same
            memo = self._open.pop(asked.id)[1]
            if covariates and not held:
                self._learn_from_control(asked, memo, number, covariates, error)
        else:
            loss = self._sign * number
            self.clipped += self._learning.tell(asked, loss, curvature, covariates, error)
        self._learning.fits.pop(asked.id, None)
        expected_control = self._compare(asked, number)
        self.rounds += 1
        self.sem_rounds += error is not None
        if held or not asked.held_back:
            self._recent.add(number, asked.expected)
        self._history.append(
            Row(
                round=self.rounds,
                point=asked.point,
                value=number,
                expected=asked.expected,
                held=held,
                center=self.learner._state.iterate,
                certificate=self.certificate,
                covariates=covariates,
                sem=nan if error is None else error,
                context=asked.context,
                held_back=asked.held_back,
                expected_control=expected_control,
            )
        )

    def _checked_value(self, id: int, value: Any) -> float:
        number = value if type(value) is float else real_number(value, "value", LossError)
        if not abs(number) < LARGEST:
            raise LossError(
                f"the value of trial {id} must be a finite number below {LARGEST:g}, got "
                f"{number}. Tell a number, or forget the trial if its value was lost. Nothing was "
                "changed."
            )
        return number

    def _late(self, trial: Trial, covariates: Any) -> Values:
        """The covariates of a round of which some came with its value."""
        late = checked_values(covariates)
        both = merged(trial.covariates, late)
        self._learning.covariates.refuse(late)
        return both

    def _learn_from_control(
        self, trial: Trial, memo: Any, value: float, covariates: Values, error: float | None
    ) -> None:
        """Learn what covariates explain of a value, as if its round had been tuned."""
        tuned = value + (trial.expected - self._compared().draws[trial.id].control)
        self._learning.tell_control(trial, memo, self._sign * tuned, covariates, error)

    def _compare(self, trial: Trial, value: float) -> float:
        """Count a value in the comparison; the guard may put the tuner on hold.

        Return the value that was expected of the control, NaN where no coin decided the round.
        """
        comparison = self._comparison
        draw = None if comparison is None else comparison.draws.get(trial.id)
        if comparison is not None and comparison.add(trial.id, value, trial.expected):
            self.held = True
            logger.warning("the guard holds. %s", comparison.reason)
        return guess_in(draw)

    def forget(self, query: Query | int) -> None:
        with self._open.lock:
            super().forget(query)
            self._learning.keep_open(self._open)
            if self._comparison is not None:
                self._comparison.forget(self._open)

    @locked
    def hold(self) -> None:
        """Use the best setting and learn nothing until `resume`."""
        self.held = True

    @locked
    def resume(self) -> None:
        """Explore and learn again; a guard that holds forgets what it has seen."""
        self.held = False
        if self._comparison is not None:
            self._comparison.resume()

    # --- what it knows -------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        """A name for each number of `trial.point` and `center`."""
        return self.space.columns

    @property
    @locked
    def center(self) -> Array:
        """The current best guess as a row of numbers; before anything was learnt, the start."""
        return self._best_at(self.learner.center)

    def _best_at(self, center: Array) -> Array:
        """The values to settle on at a centre of the learner."""
        if np.array_equal(center, self._first):
            return self.space.start_values
        return self.space.best(center)

    @property
    def best(self) -> Params:
        """The current best guess by name; before anything was learnt, the start.

        For a tuner with contexts, the guess for the mean of the contexts so far: see `best_for`.
        """
        return self.space.params(self.center)

    @locked
    def best_for(self, context: Mapping[str, Any] | None = None) -> Params:
        """The current best guess in a context.

        Parameters
        ----------
        context : mapping, optional
            A value for each name of the tuner's `context`; None if the tuner has no contexts.

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

    @property
    def expected(self) -> float:
        """The expected next value; NaN before the first one."""
        return self._sign * self.learner.forecast

    @property
    @locked
    def explained(self) -> Explained:
        """How much of the variance of the values covariates explain, and by what."""
        return self._learning.covariates.explained(self._sign * self.learner.units.loss_scale)

    @property
    def control(self) -> Params | None:
        """The setting of rounds that are held back, by name; None without a holdback."""
        return None if self._comparison is None else self.space.params(self._comparison.control)

    @property
    @locked
    def uplift(self) -> Uplift:
        """The gain of a tuned round over the control, with an interval that is valid at any time.

        Raises
        ------
        StateError
            If the tuner was made without a holdback.
        """
        return self._compared().estimate.uplift()

    @property
    def _value_range(self) -> list[float] | None:
        """The declared range of values."""
        losses = self.learner.loss_range
        return losses and sorted(self._sign * end for end in losses)

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
        memory: float | None = None,
        nonconvexity: float = 0.0,
    ) -> float:
        """Bound the regret for a constant of your choice: `Predictive.certificate_for`.

        Parameters
        ----------
        smoothness, lipschitz : float, optional
            The constant of the values on the cube: one of the two.
        memory : float, optional
            With `memory="auto"`, 4000, 1000 or 250: bounds the regret of about that many rounds.
        nonconvexity : float, default 0.0
            How far the mean value may be from a convex one (concave, to maximise) at any setting.

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
        self.space.refuse_smoothness(smoothness)
        bound = self.learner.certificate_for(
            smoothness=smoothness,
            lipschitz=lipschitz,
            memory=memory,
            nonconvexity=nonconvexity,
        )
        return nan if self._lots_interact else bound

    @locked
    def summary(self) -> Status:
        """The status: rounds, best setting, recent mean, gain over the control.

        Returns
        -------
        Status
            A record that prints itself, in a notebook as a table.
        """
        recent = self._recent.without(self.learner._is_fault)
        space, axes = self.space, self.space.axes
        explained, compared = self.explained, self._comparison
        return Status(
            learner=self.learner.kind,
            space=space.spec(),
            columns=space.columns,
            ranges=[[axis.low, axis.high] for axis in axes],
            log=[axis.log for axis in axes],
            labels=[list(axis.labels) for axis in axes],
            maximize=self.maximize,
            value_range=self._value_range,
            held=self.held,
            rounds=self.rounds,
            asked=self.asked,
            open=OpenQueries(len(self._open), next(iter(self._open), None)),
            start=space.params(space.start_values),
            best=self.best,
            center=self.center,
            recent_rounds=len(recent),
            recent_mean=recent.mean,
            recent_sem=recent.sem,
            expected=self.expected,
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

    def _context_specs(self) -> dict[str, Any]:
        return self.contexts.spec() if self.contexts else {}

    def _covariate_specs(self) -> dict[str, Any]:
        """The covariates that are not contexts as well."""
        contexts = self._context_specs()
        specs = self._learning.covariates.specs().items()
        return {name: kind for name, kind in specs if name not in contexts}

    def _by_context(self) -> dict[str, Params] | None:
        if self.contexts is None:
            return None
        first = islice(self.contexts.grid(), MOST_SHOWN)
        return {label: self.space.params(self._center_in(context)) for label, context in first}

    def _warnings(self) -> Iterator[str]:
        if self.guard_reason is not None:
            yield f"The guard holds. {self.guard_reason}"
        lost = None if self._comparison is None else self._comparison.lost_answers
        if lost is not None:
            yield lost

    def notes(self, id: int) -> dict[str, Any]:
        """Return the notes of a journal on an open trial, as JSON values.

        Parameters
        ----------
        id : int
            The trial.

        Returns
        -------
        dict
            By name.
        """
        trial: Any = self._open[id][0]
        expected = serialization.finite_or_none(trial.expected)
        notes = {"expected": expected, "held": trial.held or self.held}
        return notes if self._comparison is None else notes | self._comparison.notes(id)

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
        centers = (self.learner._center_at(np.asarray(row.center)) for row in self._history)
        rows = [
            row._replace(center=self._best_at(center))
            for row, center in zip(self._history, centers, strict=True)
        ]
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
        """Draw the history: each parameter and the value.

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
            If no value was told yet.
        """
        rounds = self.history()
        if not len(rounds):
            raise StateError(
                "there is nothing to draw: no value was told since the tuner was created or loaded"
            )
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
            "learner": self.learner.state(),
            "key": self._key,
            "first": self._first.tolist(),
            "rounds": self.rounds,
            "clipped": self.clipped,
            "sem_rounds": self.sem_rounds,
            "held": self.held,
            "open": [
                [id, trial.point.tolist(), serialization.finite_or_none(trial.expected), trial.held]
                for id, (trial, _) in queries.items()
            ],
            "known": [[id, trial.covariates, trial.context] for id, (trial, _) in queries.items()],
            "comparison": self._comparison and self._comparison.state(),
            **self._learning.state(),
            **self._recent.state(),
        }

    def identity(self) -> dict[str, Any]:
        """Return the arguments on which all clients of a study must agree."""
        arguments = self.learner.state()["arguments"]
        del arguments["loss_range"]
        del arguments["start"]  # it follows from the parameters
        parameters = self.space.parameters
        return {
            "kind": "tuner",
            "parameters": list(parameters),
            # Without the start: the current value changes from day to day.
            **{f"parameter {name!r},": p.without_start() for name, p in parameters.items()},
            "constraints": self.space.constraints,
            "sense": "maximize" if self.maximize else "minimize",
            "arguments": arguments
            | {
                "value_range": self._value_range,
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
        learning = CovariateLearning.restore(tuner.learner, state)
        compared = state["comparison"] and Comparison.restore(state["comparison"])
        first = np.array(state["first"], dtype=float)
        tuner._begin(str(state["key"]), first, learning, compared)
        tuner.rounds, tuner.clipped = int(state["rounds"]), int(state["clipped"])
        tuner.sem_rounds, tuner.held = int(state["sem_rounds"]), bool(state["held"])
        tuner._recent = RecentValues(state["recent"], state["surprises"])
        if [row[0] for row in state["open"]] != list(tuner._open):
            raise StateError("the open trials of a state are not the open queries of its learner")
        known = {
            int(id): (checked_values(covariates), tuner._checked_context(context or None))
            for id, covariates, context in state["known"]
        }
        for id, values, expected, held in state["open"]:
            point = np.array(values, dtype=float)
            if point.shape != tuner._first.shape or not np.isfinite(point).all():
                raise StateError(f"the values of trial {id} of a state cannot be {shown(values)}")
            point.setflags(write=False)
            before = serialization.number_or_nan(expected), bool(held), *known[id]
            held_back = compared is not None and id in compared.draws and compared.draws[id][0]
            trial = Trial(id, tuner.space.params(point), point, *before, held_back)
            tuner._open[id] = trial, tuner._open[id][1]
        return tuner
