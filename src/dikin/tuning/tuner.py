"""The tuner: named parameters, one number back per trial, one regression on all of them."""

from __future__ import annotations

import json
import logging
import os
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from dikin.arguments import (
    LARGEST,
    as_float,
    checked_range,
    nonnegative,
    positive,
    true_or_false,
    whole,
)
from dikin.errors import LossError, ParameterError, StateError, shown
from dikin.learners.base import CANNOT_COMPUTE
from dikin.open_queries import OpenQueries as Ledger
from dikin.open_queries import Query
from dikin.players import Player, locked
from dikin.rng import counted, named_key, stream_key
from dikin.serialization import VERSION, count_of, plain
from dikin.status import OpenQueries, Status
from dikin.tuning.circumstances import Contexts, Covariates, Values
from dikin.tuning.guarantee import Certificate, Floor, Play
from dikin.tuning.history import Row, figure_of, history_table, rows_of, to_frame
from dikin.tuning.limits import FAILED, checked_metrics, read_limits
from dikin.tuning.parameters.base import ParameterKind
from dikin.tuning.recommendation import UNKNOWN, Interval, Recommendation
from dikin.tuning.search import LATELY, Search
from dikin.tuning.space import Params, Space
from dikin.tuning.trial import Trial, trial_of
from dikin.vectors import Array, Table
from dikin.worth.estimate import UpliftEstimate
from dikin.worth.holdback import holdback_share, is_held_back
from dikin.worth.uplift import Uplift

if TYPE_CHECKING:
    from matplotlib.figure import Figure

logger = logging.getLogger("dikin")

HISTORY = 10_000
"""Rounds that a tuner keeps for tables and figures, and to learn from after a change."""
KEPT = 1000
"""Rounds of them that are saved."""
NUMBERS = 100_000
"""Numbers of settings that are saved at most, and ten times as many are kept."""
RECENT = 100
"""Values of which the summary has the mean."""
MOST_SHOWN = 16
"""Contexts whose best setting is part of the summary."""
MOST_LEFT_OUT = 0.05
"""Share of the last values that may be left out or bounded without a warning."""
LATE = 50
"""An open trial counts as one without a value once so many later ones were asked and answered."""
SAME = ("point", "expected", "context", "held_back", "expected_control")
"""Parts of a trial that its row has."""
NO_HOLDBACK = (
    "without a holdback nothing is compared: Tuner(..., holdback=0.05) uses the control in 5 % of "
    "the trials and measures the gain over it"
)
ONE_FOR_EACH_CONTEXT = (
    "the best setting depends on the context: best_for({...}) returns that for a context of "
)


class Tuner(Player[Trial]):
    """Tune named parameters from one number per trial.

    Ask for a setting, use it, and report its value: in any order, late or never. The tuner learns
    from every value with one regression, explores around the best setting that it believes in, a
    little less every round, and never leaves the ranges.

    In every method `context` has a value for each name of the tuner's `context`, and `rounds` is a
    number of the last rounds.

    Parameters
    ----------
    parameters : mapping
        A `Real`, `Integer`, `Levels`, `Choice` or `Shares` for each name: its range, and the value
        in use today, if there is one, as the start.
    maximize : bool, default False
        True if large values are good, as for a revenue or a throughput. By default small ones are,
        as for a cost or a time.
    constraints : sequence of str, optional
        Linear constraints between `Real` parameters, such as "ads + 3 * staff <= 100". Every
        setting satisfies them.
    limits : sequence of str, optional
        Limits on metrics that are reported with the value, such as "p99_ms <= 200", and on the
        share of trials that fail, "failed <= 0.01". Settings keep them as far as they are known.
    context : mapping, optional
        Quantities that choose the setting, by name: a list of words (["eu", "us"]), a `Cycle` such
        as `Cycle(24)` for the hour, or the two ends of a range of numbers. `ask(context={...})`
        then requires a value for each name.
    covariates : mapping, optional
        Kinds of covariates by name: a `Cycle` such as `Cycle(24)` for the hour, a list of
        words for a category, `float` for a number. A covariate explains values besides the setting.
        One that is not declared is a number or a category, according to its first value.
    holdback : float, default 0.0
        The share of trials, drawn by a coin, that use the control instead, so that `uplift` can
        measure the gain of tuning. 0.05 is usual, and 0.5 the maximum.
    control : mapping, optional
        The setting to compare with, by name. The start by default.
    guard : float, optional
        The share of the control's value by which tuned trials may be worse, such as 0.02. As soon
        as they are worse with confidence, the control is used until someone calls `resume`.
    value_range : tuple of float, optional
        The smallest and the largest possible value. No value inside is taken for a fault then, and
        a value outside counts as the nearer end.
    smoothness, lipschitz : float, optional
        Bounds on how fast gradients (smoothness) or values (lipschitz) change, where every range
        has length 1. Only a certificate needs one of them.
    seed : int, optional
        The whole number from which all randomness is derived, together with the parameters and the
        name of the study. A fresh seed by default.

    Attributes
    ----------
    space : Space
        The parameters and their set.
    maximize : bool
        As given.
    rounds, asked, added : int
        Number of trials that were answered, asked and added so far.
    paused : bool
        True during a pause, by `pause` or by the guard.

    Raises
    ------
    ParameterError
        If a parameter or another argument is unusable. The message names it.

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

    space: Space
    asked: int = 0
    _restored = False

    def __init__(
        self,
        parameters: Mapping[str, ParameterKind],
        *,
        maximize: bool = False,
        constraints: str | Sequence[str] = (),
        limits: str | Sequence[str] = (),
        context: Mapping[str, Any] | None = None,
        covariates: Mapping[str, Any] | None = None,
        holdback: float = 0.0,
        control: Mapping[str, Any] | None = None,
        guard: float | None = None,
        value_range: tuple[float, float] | None = None,
        smoothness: float | None = None,
        lipschitz: float | None = None,
        seed: int | None = None,
    ) -> None:
        self.space = Space(parameters, constraints)
        self.maximize = true_or_false(maximize, "maximize")
        self.contexts, self.covariates = Contexts(context), Covariates(covariates)
        self.limits = read_limits(limits)
        for limit in self.limits:
            if limit.metric in self.space.parameters:
                raise ParameterError(
                    f"the limit {limit.text!r} names a parameter, which belongs in constraints"
                )
        self.value_range = None if value_range is None else checked_range(value_range, "value")
        self.smoothness = None if smoothness is None else nonnegative(smoothness, "smoothness")
        self.lipschitz = None if lipschitz is None else nonnegative(lipschitz, "lipschitz")
        # A working point counts twice the coordinate of a range.
        low, high = self.value_range or (-inf, inf)
        smooth, steep = (inf if c is None else c for c in (self.smoothness, self.lipschitz))
        self._constants = smooth / 4.0, steep / 2.0, high - low
        share = holdback_share(holdback)
        for name, given in (("control", control), ("guard", guard)):
            if given is not None and not share:
                raise ParameterError(
                    f"{name}={shown(given)} needs a holdback above 0: without rounds that use the "
                    "control there is nothing to compare with. Choose a share such as holdback=0.05"
                )
        self._worth: UpliftEstimate | None = None
        if share:
            self._worth = UpliftEstimate(
                share, maximize=self.maximize, value_range=self.value_range, guard=guard
            )
        self._set_control(self.space.checked({} if control is None else control, "control", False))
        self._waited = 0
        """Trials that were asked before this one and are still open count as without a value."""
        self._young: deque[tuple[int, int]] = deque()
        """Number and id of the later ones, oldest first."""
        # Numbers are alike whether they are written as 1 or as 1.0.
        named = {name: [p.kind, p.arguments()] for name, p in self.space.parameters.items()}
        spec = json.loads(json.dumps([named, self.space.constraints], default=str), parse_int=float)
        self._key = stream_key(seed, json.dumps(spec, sort_keys=True))
        self._sign = -1.0 if self.maximize else 1.0
        self._open = Ledger()
        self._open.noun = "trial"
        self._search = self._new_search()
        self._certificate = self._new_certificate()
        self._unexpected: list[tuple[Play, float | None, Array | None]] = []
        """The first rounds, of which nothing was expected, until another value comes."""
        self._history: deque[Row] = deque(maxlen=self._rows(HISTORY))
        self.rounds, self.asked, self.added, self.paused = 0, 0, 0, False
        self._warned: set[str] = set()

    def _set_control(self, control: Array) -> None:
        self._control, self._control_place = control, self.space.locate(control)

    def _rows(self, most: int) -> int:
        """Return the rows of a history, fewer where settings are long."""
        return min(most, max(1, NUMBERS * most // (2 * KEPT * len(self.space.columns))))

    def _new_certificate(self) -> Certificate:
        return Certificate(self.space.set, *self._constants, max(self.contexts.size, 1))

    def _new_search(self, history: bool = False) -> Search:
        space = self.space
        certified = space.set.d > 0 and min(self._constants[:2]) < inf
        return Search(
            space.set,
            *space.start(),
            grids=space.grids,
            options=space.options,
            contexts=self.contexts.size,
            covariates=len(self.covariates.means),
            limits=[limit.sign * limit.bound for limit in self.limits],
            history=history,
            faults=self.value_range is None,
            floor=Floor(space.set, *self._constants) if certified else None,
        )

    # --- trials --------------------------------------------------------------------------------

    @overload
    def ask(self, context: Any = None, *, covariates: Any = None) -> Trial: ...

    @overload
    def ask(self, context: Any = None, *, n: int, covariates: Any = None) -> list[Trial]: ...

    def ask(
        self, context: Any = None, *, n: int | None = None, covariates: Any = None
    ) -> Trial | list[Trial]:
        """Ask for the next setting, or for several.

        Parameters
        ----------
        context : mapping, optional
            A value for each name of the tuner's `context`.
        n : int, optional
            Number of trials, for several machines that run at the same time.
        covariates : mapping, optional
            Quantities that explain the value besides the setting, by name: {"load": 0.7}. The
            setting must not influence them. Quantities that are known only afterwards go to `tell`.

        Returns
        -------
        Trial, or list of Trial
            The setting by name, and the id by which it is answered. A list with `n`.
        """
        values, known = self.contexts.checked(context), self.covariates.checked(covariates)
        count = 1 if n is None else whole(n, "n", 1, "how many to ask for")
        trials = []
        if self._open.made_after != self._open.forks:
            self._open.continue_in_child("Tuner")
        with self._open.lock:
            for _ in range(count):
                trials.append(self._drawn(self._open.next_id, values, known))
                self._enter(trials[-1])
        return trials[0] if n is None else trials

    def _drawn(
        self, id: int, context: Values, covariates: Values, draw: int | None = None
    ) -> Trial:
        """Return the next trial, which is not open yet. `draw` is the number of its draw."""
        draw = id if draw is None else draw
        weights, z = self.contexts.weights(context), self.covariates.features(covariates)
        search, worth, control = self._search, self._worth, nan
        try:
            if self.paused:
                (x, picks), play = search.best(weights), None
            else:
                x, picks, play = search.ask(counted(self._key, draw), weights)
            expected = self._sign * search.expected(x, picks, weights, z)
            if not np.isfinite(x).all():
                raise FloatingPointError("the setting is not finite")
            values = self.space.values(x, picks)
            held_back = worth is not None and worth.reason is not None
            if worth is not None and not self.paused:
                held_back = is_held_back(self._key, draw, worth.holdback)
                control = self._sign * search.expected(*self._control_place, weights, z)
        except CANNOT_COMPUTE as reason:
            self._refuse_altered(reason)
            raise
        if held_back:
            values, play = self._control, None
        values.setflags(write=False)
        known = expected, self.paused, covariates, context, held_back, control, play, self.asked
        return Trial(id, values, self.space.params(values), *known)

    def _refuse_altered(self, reason: Exception) -> None:
        """Raise a `StateError` if the tuner was restored: its state was altered."""
        if self._restored:
            raise StateError(f"the state was altered: {reason!r}. Load another one.") from reason

    def _enter(self, trial: Trial) -> None:
        self._open[trial.id] = trial, None
        self._open.next_id = max(self._open.next_id, trial.id + 1)
        self.asked += 1
        if self._worth is not None and trial.number >= self._waited:
            self._young.append((trial.number, trial.id))

    @locked
    def tell(
        self,
        trial: Trial | int,
        value: Any = None,
        *,
        metrics: Mapping[str, Any] | None = None,
        covariates: Mapping[str, Any] | None = None,
        failed: bool = False,
    ) -> None:
        """Report the value of a trial: in any order, late, by its id. A refusal changes nothing.

        During a pause nothing is learnt.

        Parameters
        ----------
        trial : Trial or int
            A trial that was asked for, or its id.
        value : float
            The measured number, in your own sense: a revenue with `maximize`, else a cost.
        metrics : mapping, optional
            Other measurements of the trial, by name. Those with a limit are required.
        covariates : mapping, optional
            Covariates that are known only now, by name: the number of visitors, the mix of
            requests. They count as if they had been passed to `ask`. The setting must not influence
            them.
        failed : bool, default False
            True if the trial failed, as by a timeout or a crash. Such a trial has no value.

        Raises
        ------
        QueryError
            If the trial is not open in this tuner.
        LossError
            If the value or a metric is not a finite number, or a metric with a limit is missing.
        ContextError
            If a covariate is not a finite number or a word, is of another kind than before, or was
            another one when the trial was asked.
        """
        answer = {"value": value, "metrics": metrics, "covariates": covariates, "failed": failed}
        row = self.checked_answer(trial, answer)
        asked: Any = self._open.pop(trial.id if isinstance(trial, Query) else int(trial))[0]
        weights, worth = self.contexts.weights(row.context), self._worth
        try:
            self._add(row, weights)
            if not row.paused and not row.held_back:
                self._certify(row, asked.play, weights)
        except CANNOT_COMPUTE as reason:
            self._refuse_altered(reason)
            raise
        self._close(asked, failed)
        if worth is not None and not failed and not asked.paused:
            before = worth.reason
            worth.add(row.value, row.held_back, row.expected, row.expected_control)
            if worth.reason is not before:
                self.paused = True
                logger.warning("the guard holds. %s", worth.reason)
        self._warn()

    def _close(self, asked: Trial, missed: bool) -> None:
        """Count a trial that gets no value, and the trials that it has overtaken."""
        worth = self._worth
        if worth is None:
            return
        if missed and not asked.paused and asked.number >= self._waited:
            worth.miss(asked.held_back)
        self._waited = max(self._waited, asked.number - LATE)
        while self._young and self._young[0][0] < self._waited:
            other: Any = self._open.get(self._young.popleft()[1], [None])[0]
            if other is not None and not other.paused:
                worth.miss(other.held_back)

    def _row(self, name: str, answer: Mapping[str, Any], **known: Any) -> Row:
        """Return the row of an answer, checked."""
        value, failed = answer.get("value"), true_or_false(answer.get("failed", False), "failed")
        if failed and value is not None:
            raise LossError(
                f"{name} failed and has the value {shown(value)}: a failed trial has no value. "
                "Nothing was changed."
            )
        result = nan if failed else value
        if type(result) is not float:
            result = as_float(value)
        if result is None or not (failed or abs(result) < LARGEST):
            raise LossError(
                f"the value of {name} must be a finite number below {LARGEST:g}, got "
                f"{shown(value if result is None else result)}. Report a trial without a value as "
                "tell(trial, failed=True), or forget it. Nothing was changed."
            )
        metrics = checked_metrics(answer.get("metrics"), self.limits, failed)
        return Row(value=result, failed=failed, metrics=metrics, **known)

    def _certify(self, row: Row, play: Play | None, weights: Array) -> None:
        """Add a round to the certificate. The next value replaces an unknown expected value."""
        loss = self._loss(row)
        if loss is not None:
            for first, other, its in self._unexpected:
                self._certificate.add(first._replace(expected=loss), other, its)
            self._unexpected.clear()
        shares = weights if self.contexts.size else None
        if play is None:
            self._certificate.add_other()
        elif isfinite(play.expected):
            self._certificate.add(play, loss, shares)
        else:
            self._unexpected.append((play, loss, shares))

    def _add(self, row: Row, weights: Array) -> None:
        """Learn a row in a context with these weights, and keep it."""
        known = len(self.covariates.means)
        z = self.covariates.include(row.covariates)
        if row.round == 0 and not self._search.history:
            before, self._search = self._search, self._new_search(history=True)
            self._search.continue_at(before)
            self._learn_all(before.left_out)
        elif len(z) > known:
            self._search.widen(len(z) - known)
        if not row.paused:
            self._learn(row, weights, z)
        self.rounds, self.added = self.rounds + (row.round > 0), self.added + (row.round == 0)
        self._history.append(row._replace(center=self._center(weights)))

    def _learn(self, row: Row, weights: Array, z: Array, settle: bool = True) -> None:
        measured = {FAILED: float(row.failed), **row.metrics}
        self._search.tell(
            *self.space.locate(np.asarray(row.point)),
            self._loss(row),
            weights=weights,
            covariates=z,
            metrics=[limit.sign * measured.get(limit.metric, nan) for limit in self.limits],
            history=row.round == 0,
            settle=settle,
        )

    def _loss(self, row: Row) -> float | None:
        """Return the value as it is learnt, None for a failure."""
        low, high = self.value_range or (-inf, inf)
        return None if row.failed else self._sign * min(max(row.value, low), high)

    def _learn_all(self, left_out: int) -> None:
        """Learn all rows of the history once more."""
        for row in self._history:
            if not row.paused:
                z = self.covariates.features(row.covariates)
                self._learn(row, self.contexts.weights(row.context), z, settle=False)
        self._search.left_out = left_out

    @locked
    def add_trial(
        self,
        params: Mapping[str, Any],
        value: Any = None,
        *,
        metrics: Mapping[str, Any] | None = None,
        context: Mapping[str, Any] | None = None,
        covariates: Mapping[str, Any] | None = None,
        failed: bool = False,
    ) -> None:
        """Learn from a trial that the tuner did not ask for: a log of last month, another tuner.

        Such rows are history: they count where they agree with the trials that are asked for. They
        do not count in `rounds`, the uplift and the certificate.

        Parameters
        ----------
        params : mapping
            The setting by name, inside the ranges.
        value, metrics, context, covariates, failed
            As for `ask` and `tell`.
        """
        known = {"metrics": metrics, "context": context, "covariates": covariates}
        row = self.checked_trial({"params": params, "value": value, "failed": failed} | known)
        self._add(row, self.contexts.weights(row.context))

    @locked
    def set_parameters(
        self, parameters: Mapping[str, ParameterKind], constraints: str | Sequence[str] = ()
    ) -> None:
        """Change ranges, or add and remove parameters.

        The last 10,000 rounds are learnt anew. An added parameter counts as having been at its
        start in every round so far. Rounds with a level or a choice that is gone are dropped. The
        control of a holdback stays the same setting. Open trials are forgotten.

        Parameters
        ----------
        parameters : mapping
            All parameters from now on.
        constraints : sequence of str, optional
            All constraints from now on.
        """
        space = Space(parameters, constraints)
        control = (self.control or {}).items()
        kept = {name: value for name, value in control if name in space.parameters}
        control_values = space.checked(kept, "control", whole=False)
        best = space.converted(self.center, self.space)
        before, self.space = self.space, space
        self._set_control(control_values)
        rows = deque[Row](maxlen=self._rows(HISTORY))
        for row in self._history:
            point, center = (
                space.converted(np.asarray(each), before) for each in (row.point, row.center)
            )
            if point is not None:
                center = space.start_values if center is None else center
                rows.append(row._replace(point=point, center=center))
        self._history = rows
        waiting = self.open_queries
        self._open.clear()
        for trial in waiting:
            self._close(trial, missed=True)
        self._certificate = self._new_certificate()
        self._unexpected.clear()
        left_out = self.left_out
        self._search = self._new_search(any(row.round == 0 for row in rows))
        self._search.start_at(*space.locate(space.start_values if best is None else best))
        self._learn_all(left_out)

    @locked
    def forget(self, query: Query | int) -> None:
        trial = self.open_trial(query)
        del self._open[trial.id]
        self._close(trial, missed=True)

    @locked
    def pause(self) -> None:
        """Use the best setting and learn nothing until `resume`."""
        self.paused = True

    @locked
    def resume(self) -> None:
        """Explore and learn again. A guard that holds begins anew."""
        self.paused = False
        if self._worth is not None and self._worth.reason is not None:
            self._worth.resume()

    # --- results -------------------------------------------------------------------------------

    @property
    def left_out(self) -> int:
        """Number of values that were left out or bounded, because they look like faults."""
        return self._search.left_out

    @property
    def columns(self) -> tuple[str, ...]:
        """A name for each number of `trial.point` and `center`."""
        return self.space.columns

    def _center(self, weights: Array | None = None) -> Array:
        if not self._history and not self.rounds:
            return self.space.start_values.copy()
        return self.space.values(*self._search.best(weights))

    @property
    @locked
    def center(self) -> Array:
        """The best setting as a row of numbers, in the mean of contexts."""
        return self._center()

    @property
    @locked
    def best(self) -> Params:
        """The best setting by name, the start before the first value.

        With contexts it raises a `StateError`: each has a best setting, `best_for`.
        """
        if self.contexts.size:
            raise StateError(ONE_FOR_EACH_CONTEXT + ", ".join(self.contexts.kinds))
        return self.space.params(self._center())

    @locked
    def best_for(self, context: Mapping[str, Any] | None = None) -> Params:
        """Return the best setting in a context, by name."""
        return self.space.params(self._center(self._weights(context)))

    def _weights(self, context: Any) -> Array:
        return self.contexts.weights(self.contexts.checked(context))

    @locked
    def recommend(self, context: Mapping[str, Any] | None = None) -> Recommendation:
        """Return the best setting with its expected value, intervals and importance."""
        weights = self._weights(context)
        space, found = self.space, self._search.found(weights)
        intervals, importance = dict[str, Interval](), dict[str, Interval]()
        for place in space.places:
            name, i = place.name, place.at.start
            if place.pick is not None:
                importance[name] = found.options[place.pick]
            elif len(place.columns) == 1:
                importance[name] = found.importance[i]
                if isfinite(found.value.mean):
                    intervals[name] = Interval(*space.interval(place, found.intervals[i]))
        limits, broken = dict[str, Interval](), []
        for (text, metric, sign, bound), known in zip(self.limits, found.limits, strict=True):
            share = Interval(*np.clip(known, 0.0, 1.0).tolist()) if metric == FAILED else known
            limits[text] = _signed(sign, share)
            if share.low > sign * bound:
                broken.append(text)
        return Recommendation(
            space.params(self._center(weights)),
            _signed(self._sign, found.value),
            intervals,
            importance,
            limits,
            tuple(broken),
        )

    @property
    def control(self) -> Params | None:
        """The setting of trials that are held back, by name, or None without a holdback."""
        return None if self._worth is None else self.space.params(self._control)

    @property
    @locked
    def uplift(self) -> Uplift:
        """The gain of a tuned trial over the control, with an interval to read at any time.

        Without a holdback it raises a `StateError`.
        """
        if self._worth is None:
            raise StateError(NO_HOLDBACK)
        return self._worth.uplift()

    @property
    def guard_reason(self) -> str | None:
        """The reason why the guard holds, as a sentence, or None."""
        return None if self._worth is None else self._worth.reason

    @property
    def certificate(self) -> float:
        """The bound on the expected regret of the rounds so far.

        NaN without a constant, and with limits, choices and whole numbers.
        """
        return self._certificate.value if self._is_certified else nan

    @property
    def _is_certified(self) -> bool:
        search = self._search
        return not (search.limits or search.grids or search.options)

    @locked
    def certificate_for(
        self, *, smoothness: float | None = None, lipschitz: float | None = None
    ) -> float:
        constants = (
            None if smoothness is None else positive(smoothness, "smoothness") / 4.0,
            None if lipschitz is None else positive(lipschitz, "lipschitz") / 2.0,
        )
        bound = self._certificate.certificate_for(smoothness=constants[0], lipschitz=constants[1])
        return bound if self._is_certified else nan

    @locked
    def summary(self) -> Status:
        """Return the status: rounds, best setting, its value with an interval, warnings."""
        space, spec, worth, contexts = self.space, self.spec(), self._worth, self.contexts
        recent, left_out = [], reversed(self._search.recent)
        for row in islice(reversed(self._history), RECENT):
            learnt = not row.paused and (row.round > 0 or row.failed)
            is_fault = learnt and next(left_out, False)
            if row.round and not (is_fault or row.failed or row.held_back):
                recent.append(row.value)
        value, by_context = UNKNOWN, None
        if contexts.size:
            first = islice(contexts.places(), MOST_SHOWN)
            by_context = {label: self.best_for(context) for label, context in first}
        else:
            value = _signed(self._sign, self._search.value_of_best(self._weights(None)))
        return Status(
            space=space.spec(),
            columns=space.columns,
            ranges=[[axis.low, axis.high] for axis in space.axes],
            log=[axis.log for axis in space.axes],
            labels=[list(axis.labels) for axis in space.axes],
            **{name: spec[name] for name in ("maximize", "value_range", "holdback", "guard")},
            paused=self.paused,
            rounds=self.rounds,
            asked=self.asked,
            open=OpenQueries(len(self._open), next(iter(self._open), None)),
            start=space.params(space.start_values),
            best=space.params(self.center),
            center=self.center,
            recent_rounds=len(recent),
            recent_mean=float(np.mean(recent)) if recent else nan,
            best_value=list(value) if isfinite(value.mean) else None,
            certificate=self.certificate,
            contexts=spec["context"],
            by_context=by_context,
            covariates=self.covariates.spec() or None,
            limits=spec["limits"] or None,
            left_out=self.left_out,
            failed=sum(row.failed for row in self._history),
            added=self.added,
            control=spec["control"],
            uplift=None if worth is None else worth.uplift(),
            guard_reason=self.guard_reason,
            warnings=tuple(self._warnings().values()),
        )

    def _warnings(self) -> dict[str, str]:
        """Return the conditions that need attention, each with a name that stays."""
        found = {} if self._worth is None else self._worth.warnings()
        share = self._search.recent.count(True) / LATELY
        if share > MOST_LEFT_OUT:
            found["left out"] = (
                f"{100 * share:.0f} % of the last values were left out or bounded because they are "
                "far from what was expected. Report timeouts and crashes with failed=True, or "
                "declare value_range if such values are real."
            )
        return found

    def _warn(self) -> None:
        """Log each warning when it begins. The guard has logged its own."""
        now = self._warnings()
        for name in now.keys() - self._warned - {"guard"}:
            logger.warning("round %d: %s", self.rounds, now[name])
        self._warned = set(now)

    # --- tables and figures --------------------------------------------------------------------

    @locked
    def history(self) -> Table:
        """Return the last 10,000 rounds since the tuner was made or loaded. A `Study` keeps all.

        Returns
        -------
        numpy.ndarray
            A structured array with the columns round (0 for a trial that was added), the name of
            each value (`columns`), value (NaN for a failure), expected, paused, failed, and the
            best setting after the round (`best.` before each name). Then follow the metrics
            (`metric.`), contexts (`context.`) and covariates (`covariate.` before each name), NaN
            or an empty text where one was missing, and with a holdback held_back and
            expected_control, NaN where no coin decided the round.
        """
        return history_table(
            self.space,
            self._history,
            self.covariates.spec(),
            contexts=self.contexts.spec(),
            compared=self._worth is not None,
        )

    def to_frame(self) -> Any:
        """Return the history as a pandas DataFrame, one row a round."""
        return to_frame(self.history())

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw the history of each parameter and of the value.

        With a holdback the figure also has the gain over the control with its interval.

        Parameters
        ----------
        path : str or os.PathLike, optional
            A file to write, ending in .png, .svg or .pdf. None is written without one.

        Returns
        -------
        matplotlib.figure.Figure
            The drawing.
        """
        return figure_of(self.history(), self.summary(), self.space, path)

    def __repr__(self) -> str:
        sense = "maximize" if self.maximize else "minimize"
        return f"<Tuner {sense} {', '.join(self.space.parameters)}, {self.rounds} rounds>"

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    # --- state ---------------------------------------------------------------------------------

    @locked
    def state(self, rounds: int = KEPT) -> dict[str, Any]:
        """Return everything that the future depends on, as plain JSON values."""
        kept = self._rows(rounds)
        return {
            "version": VERSION,
            "tuner": self.spec(),
            "key": self._key,
            "rounds": self.rounds,
            "paused": self.paused,
            "next": self._open.next_id,
            "asked": self.asked,
            "added": self.added,
            "open": {
                str(trial.id): self._fact(trial) | {"number": trial.number}
                for trial in self.open_queries
            },
            "certificate": self._certificate.state(),
            "unexpected": plain(self._unexpected),
            "covariates": self.covariates.state(),
            "control": self._control.tolist(),
            "waited": self._waited,
            "worth": self._worth and self._worth.state(),
            "search": self._search.state(),
            "columns": list(Row._fields),
            "history": plain([*self._history][-kept:] if kept else []),
        }

    def spec(self) -> dict[str, Any]:
        """Return the arguments of the constructor as JSON values, but for the seed."""
        worth = self._worth
        return self.space.spec() | {
            "maximize": self.maximize,
            "limits": [limit.text for limit in self.limits],
            "context": self.contexts.spec() or None,
            "covariates": self.covariates.declared or None,
            "holdback": 0.0 if worth is None else worth.holdback,
            "control": self.control,
            "guard": None if worth is None else worth.limit,
            "value_range": self.value_range and list(self.value_range),
            "smoothness": self.smoothness,
            "lipschitz": self.lipschitz,
        }

    @classmethod
    def restore(cls, state: dict[str, Any], checked: bool = False) -> Tuner:
        """Return a tuner that continues exactly as the tuner that gave the state.

        Parameters
        ----------
        state : dict
            Data that `state` returned.
        checked : bool, default False
            True if a digest has shown that nothing was altered, which takes less time.
        """
        known = dict(state["tuner"])
        parameters = Space.from_spec(known).parameters
        tuner = cls(**known | {"parameters": parameters})
        tuner._restored, tuner._key = True, str(state["key"])
        tuner.covariates.restore(state["covariates"])
        control = np.array(state["control"], dtype=float)
        if control.shape != (len(tuner.columns),) or not np.isfinite(control).all():
            raise StateError(f"the control of a state cannot be {shown(state['control'])}")
        tuner._set_control(control)
        tuner._waited = count_of(state["waited"])
        if tuner._worth is not None:
            tuner._worth.restore(state["worth"])
        tuner.rounds, tuner.paused = int(state["rounds"]), bool(state["paused"])
        tuner._history.extend(rows_of(state))
        search = state["search"]
        tuner._search = tuner._new_search(bool(search["history"]))
        if state.get("version") == VERSION:
            tuner._search.restore(search, checked)
        elif tuner._history:
            tuner._search.start_at(*tuner.space.locate(np.asarray(tuner._history[-1].center)))
            tuner._learn_all(int(search["left_out"]))
            logger.warning(
                "%r is of another version: it learnt its last %d rounds anew",
                tuner,
                tuner.kept_rounds,
            )
        for id, fact in state["open"].items():
            tuner.open_fact(int(id), fact)
        tuner._open.next_id, tuner.added = (
            int(state["next"]),
            count_of(state["added"] if "version" in state else 0),
        )
        tuner.asked = int(state["asked"])
        tuner._certificate.restore(state["certificate"])
        tuner._unexpected = [
            (Play.from_json(row), loss, None if shares is None else np.array(shares))
            for row, loss, shares in state["unexpected"]
        ]
        return tuner

    # --- for a study ---------------------------------------------------------------------------

    @locked
    def draft(
        self, context: Values, covariates: Values, id: int, draw: int | None = None
    ) -> tuple[Trial, dict[str, Any]]:
        """Return a trial that is not open yet, and its fact, with which any copy can open it.

        `draw` is the number of its draw, the id by default.
        """
        trial = self._drawn(id, context, covariates, draw)
        center = self._center(self.contexts.weights(context))
        return trial, self._fact(trial) | {"center": center.tolist()}

    def _fact(self, trial: Trial) -> dict[str, Any]:
        """Return a trial with the data that its answer needs, as plain JSON values."""
        parts = ("point", "expected", "paused", "covariates", "context", "held_back", "play")
        fact = {name: plain(getattr(trial, name)) for name in parts}
        return fact if self._worth is None else fact | {"control": plain(trial.expected_control)}

    @locked
    def open_fact(self, id: int, fact: Mapping[str, Any]) -> Trial:
        """Open a trial that another copy of this tuner drafted. Nothing is drawn.

        Afterwards `tell` does the same as it does there, whatever this copy would have asked.
        """
        if id in self._open:
            raise StateError(f"trial {id} is open already. Nothing was changed.")
        trial = trial_of(self.space, id, fact, self.asked)
        self.contexts.checked(trial.context or None)
        self.covariates.checked(trial.covariates)
        self._enter(trial)
        return trial

    def open_trial(self, trial: Query | int) -> Trial:
        """Return an open trial, or raise the error of `tell` if it is not open here."""
        found: Any = self._open.find(trial)[0]
        asked: Trial = found
        return asked

    def checked_answer(self, trial: Query | int, answer: Mapping[str, Any]) -> Row:
        """Return the row of an answer, or raise the error of `tell`. Nothing changes."""
        asked = self.open_trial(trial)
        return self._row(
            f"trial {asked.id}",
            answer,
            round=self.rounds + 1,
            paused=self.paused or asked.paused,
            covariates=self.covariates.merged(asked.covariates, answer.get("covariates")),
            **{name: getattr(asked, name) for name in SAME},
        )

    def checked_trial(self, trial: Mapping[str, Any]) -> Row:
        """Return the row of an added trial, or raise the error of `add_trial`. Nothing changes."""
        return self._row(
            "the trial",
            trial,
            round=0,
            point=self.space.checked(trial["params"], "the setting"),
            covariates=self.covariates.checked(trial.get("covariates")),
            context=self.contexts.checked(trial.get("context")),
        )

    @property
    def kept_rounds(self) -> int:
        """Number of rounds that are kept, for tables and to learn from after a change."""
        return len(self._history)

    @locked
    def recall(self, rounds: Sequence[Row]) -> None:
        """Keep these rounds, which were learnt already. The last of them are kept as they are."""
        earlier = rounds[: max(0, len(rounds) - len(self._history))]
        self._history = deque([*earlier, *self._history], maxlen=self._rows(HISTORY))

    def state_in_study(self, name: str) -> dict[str, Any]:
        """Return the state with which a study of this name begins, with streams of its own."""
        return self.state() | {"key": named_key(self._key, name)}

    def identity(self) -> dict[str, Any]:
        """Return the parts on which two clients of one study must agree."""
        spec, parameters = self.spec(), self.space.parameters
        # Without the start: the current value changes from day to day.
        same = {f"parameter {name!r},": p.with_start(None) for name, p in parameters.items()}
        return {"kind": "tuner", "parameters": list(spec.pop("parameters")), **same, **spec}


def _signed(sign: float, found: Interval) -> Interval:
    low, high = sorted((sign * found.low, sign * found.high))
    return Interval(sign * found.mean, low, high)
