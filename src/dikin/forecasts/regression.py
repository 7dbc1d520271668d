"""A regression of losses on features that the point played cannot influence.

What it expects of a round is a level and a correction, theta.e, where e are the deviations of the
features from their recent means. The level is a mixture of the forecasters that look at losses
alone (`mixture`), run on what the correction leaves of each loss. theta is the ridge regression on
e_s of v_s, the deviations of the losses from their own recent mean; it forgets in 2,000 rounds:

    theta = argmin  sum_s gamma^(t-s) w_s (v_s - theta.e_s)^2 + RIDGE sum_i q_i theta_i^2,

where q_i is the mean of e_i^2, so that units do not matter: it is as if RIDGE more rounds had been
seen in which every feature deviated as usual and the loss did not. Both means have the same weights
and know nothing of theta: what changes slowly drops out on both sides. theta is solved for in each
of the first 64 rounds, then in every sixteenth. Features are few: lists are faster than arrays.

A feature that is missing from a round is taken for its mean. A feature without bounds is limited to
four standard deviations (beyond a thousand it counts as missing), and begins to count when eight
numbers have shown how large it is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from math import nan, sqrt
from statistics import median
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.errors import StateError, shown
from dikin.forecasts import mixture
from dikin.forecasts.mixture import Forecasters
from dikin.kernel import from_values, to_saved
from dikin.serialization import count_of, finite_or_none, number_or_nan

SHORT, LONG = 64.0, 2000.0
"""Rounds after which the means and the slopes forget."""
RIDGE = 2.0
"""Rounds that stand against every slope."""
SPREAD = 4.0
"""Standard deviations to which a feature without bounds is limited."""
ABSURD = 250.0
"""Beyond so many times that it counts as missing: a thousand standard deviations are an error."""
SEEN = 8
"""Numbers that show how large a feature without bounds is."""
WIDEST = 2.0
"""How far apart two numbers of a feature with bounds can be: it lies in [-1, 1]."""
EARLY, EVERY = 64, 16
"""After so many rounds theta is solved for in every sixteenth: it hardly changes in between."""
FORGOTTEN = 1e-100
"""The weight of a feature that was not there for very long."""
KEEP = 1.0 - 1.0 / LONG
"""What a round leaves of the sums before it."""
NORMAL = 0.95
"""The third largest of eight normal numbers less the third least, in standard deviations."""


class Fit(NamedTuple):
    """What a forecast needs of a regression, as it was when a round was asked."""

    mean: list[float]
    limit: list[float]
    """The largest deviation of a feature; 0 while it does not count."""
    slope: list[float]
    middle: float
    """The recent mean of the losses."""
    level: Forecasters
    """Of the losses, less their corrections. Nothing of all this is written."""

    def deviations(self, features: Sequence[float]) -> list[float]:
        """How far features are from their means, within the limits.

        Parameters
        ----------
        features
            One number for each, NaN where it is missing. Those after the known ones do not count.

        Returns
        -------
        list of float
            One number for each feature that was known; 0 for one that is missing.
        """
        found = []
        for number, mean, limit in zip(features, self.mean, self.limit, strict=False):
            away = number - mean
            if not abs(away) <= ABSURD * limit:  # nor for NaN, which is missing
                away = 0.0
            found.append(limit if away > limit else -limit if away < -limit else away)
        return found

    def correction(self, deviations: Sequence[float]) -> float:
        """What the deviations of the features add to a loss.

        Parameters
        ----------
        deviations
            As `deviations` gives them.

        Returns
        -------
        float
            theta.e.
        """
        total = 0.0
        for slope, away in zip(self.slope, deviations, strict=False):
            total += slope * away
        return total

    def forecast(self, deviations: Sequence[float]) -> float:
        """What is expected of a loss.

        Parameters
        ----------
        deviations
            As `deviations` gives them.

        Returns
        -------
        float
            The level and the correction.
        """
        return self.level.mixture + self.correction(deviations)

    def state(self) -> tuple[Any, ...]:
        """The fit as nested tuples and numbers."""
        return (*map(tuple, self[:3]), self.middle, to_saved(self.level))

    @classmethod
    def restore(cls, state: tuple[Any, ...]) -> Fit:
        """The fit that gave the state.

        Parameters
        ----------
        state
            What `state` gave.

        Returns
        -------
        Fit
            The same.
        """
        mean, limit, slope, middle, level = state
        known, size = from_values(Forecasters(), level), len(mean)
        mean, limit, slope = (_finite_numbers(part, size) for part in (mean, limit, slope))
        return cls(mean, limit, slope, _finite_number(middle), known)


class Lesson(NamedTuple):
    """A round from which slopes are learnt."""

    deviations: tuple[float, ...]
    loss: float
    """The deviation of the loss from the recent mean."""
    weight: float


class Regression:
    """The sums of the regression, for features that may become more.

    Attributes
    ----------
    fit
        What a forecast needs. It is replaced, not written: who keeps one has that of then.
    """

    def __init__(self) -> None:
        self.fit = Fit([], [], [], 0.0, Forecasters())
        self._rounds = 0
        """Losses that the level has learnt; 0 before it begins."""
        self._answers = 0
        """Those of them that came with features, or after the first that did."""
        self._early: list[tuple[tuple[float, ...], float]] = []
        """Features and losses of the rounds before that."""
        self._bounded: list[bool] = []
        """For each feature, whether it lies in [-1, 1]."""
        self._samples: list[list[float]] = []
        """The numbers of each feature that does not count yet."""
        self._count: list[float] = []
        """In how many rounds a feature was there."""
        self._square: list[float] = []
        """The mean square of its deviations."""
        self._lessons: list[Lesson] = []
        """What has not been added to the following sums yet."""
        self._learnt = 0
        """Rounds that slopes were learnt from."""
        self._weight, self._product, self._gram = np.zeros(0), np.zeros(0), np.zeros((0, 0))
        """Of 1 where the feature was there, of e v and of e e'."""
        self._total = self._left = 0.0
        """Of v^2, and of what forecasts left of it."""

    def add_features(self, bounded: list[bool]) -> None:
        """Take in more features, about which nothing is known.

        Parameters
        ----------
        bounded
            For each of them, whether it lies in [-1, 1], as a share or a sine does.
        """
        more, none = len(bounded), [0.0 for _ in bounded]
        self._bounded += bounded
        self._samples += [[] for _ in bounded]
        self._count, self._square = self._count + none, self._square + none
        self._weight = np.pad(self._weight, (0, more))
        self._product = np.pad(self._product, (0, more))
        self._gram = np.pad(self._gram, (0, more))
        mean, limit, slope, middle, level = self.fit
        self.fit = Fit(mean + none, limit + none, slope + none, middle, level)

    # --- where features lie --------------------------------------------------------------------

    def observe(self, features: Sequence[float]) -> None:
        """Take in where the features of a round lie.

        Parameters
        ----------
        features
            One number for each, NaN where it is missing.
        """
        mean, limit = self.fit.mean.copy(), self.fit.limit.copy()
        for place, number in enumerate(features):
            if number != number:  # NaN
                continue
            if limit[place] > 0.0:
                away = min(max(number - mean[place], -limit[place]), limit[place])
                self._count[place] += 1.0
                window = min(self._count[place], SHORT)
                mean[place] += away / window
                self._square[place] += (away * away - self._square[place]) / window
            else:
                samples = self._samples[place]
                samples.append(number)
                if len(samples) < SEEN and not self._bounded[place]:
                    continue
                mean[place], self._count[place] = median(samples), float(len(samples))
                self._square[place], self._samples[place] = _variance(sorted(samples)), []
            limit[place] = self._limit(place, mean[place])
        self.fit = Fit(mean, limit, *self.fit[2:])

    def _limit(self, place: int, mean: float) -> float:
        """How far a feature may be from its mean; one that never varied, by its size."""
        if self._bounded[place]:
            return WIDEST
        square = self._square[place]
        return SPREAD * (sqrt(square) if square > 0.0 else max(abs(mean), 1.0))

    # --- the first rounds ----------------------------------------------------------------------

    @property
    def begun(self) -> bool:
        """Whether it forecasts losses: before that it gathers rounds, from which it begins."""
        return self._rounds > 0

    @property
    def gathered(self) -> int:
        """Rounds that were gathered."""
        return len(self._early)

    def gather(self, features: Sequence[float], loss: float) -> None:
        """Take in a round of the first ones.

        Parameters
        ----------
        features
            One number for each, NaN where it is missing.
        loss
            The loss.
        """
        self._early.append((tuple(features), loss))
        self.observe(features)

    def begin(self, level: Forecasters, rounds: int, error_scale: float) -> None:
        """Begin with the level of the losses so far, and learn what was gathered.

        Parameters
        ----------
        level
            What is expected without features.
        rounds
            How many losses made it.
        error_scale
            The size to which deviations from it are limited.
        """
        self._rounds, middle = rounds, level.mixture
        self.fit = self.fit._replace(middle=middle, level=level.copy())
        for features, loss in self._early:
            deviations = self.fit.deviations(features)
            if any(deviations):
                away = min(max(loss - middle, -error_scale), error_scale)
                self.learn_slopes(deviations, away)
        self._answers, self._early = len(self._early), []

    # --- learning ------------------------------------------------------------------------------

    def learn(
        self,
        fit: Fit,
        deviations: Sequence[float],
        loss: float,
        error_scale: float,
        weight: float = 1.0,
    ) -> None:
        """Take in a loss, after it was forecast.

        Parameters
        ----------
        fit
            With which it was forecast.
        deviations
            Of the features, by that fit.
        loss
            The loss.
        error_scale
            The size of an error that is nothing special.
        weight
            What the round counts for, at most 1.
        """
        before, left = fit.level.mixture, loss - fit.correction(deviations)
        mean, limit, slope, middle, level = self.fit
        self._rounds += 1
        self._answers += 1
        level, learnt = level.copy(), before + weight * (left - before)
        mixture.learn(level, fit.level, learnt, error_scale, float(self._rounds))
        middle += weight * (loss - middle) / min(float(self._answers), SHORT)
        self.fit = Fit(mean, limit, slope, middle, level)
        if any(deviations):
            self.learn_slopes(deviations, loss - fit.middle, weight)

    def learn_slopes(self, deviations: Sequence[float], loss: float, weight: float = 1.0) -> None:
        """Take in what a loss says of the slopes, and nothing else.

        Parameters
        ----------
        deviations
            Of the features from their means.
        loss
            The deviation of the loss from the recent mean of comparable ones.
        weight
            What the round counts for.
        """
        left = loss - self.fit.correction(deviations)
        self._total = KEEP * self._total + weight * loss * loss
        self._left = KEEP * self._left + weight * left * left
        self._lessons.append(Lesson(tuple(deviations), loss, weight))
        self._learnt += 1
        if self._learnt <= EARLY or self._learnt % EVERY == 0:
            self._add_lessons()
            self.fit = self.fit._replace(slope=self._solved())

    def _add_lessons(self) -> None:
        """Add to the sums what was learnt since the last time."""
        count, known = len(self._lessons), len(self._bounded)
        e, weights, losses = np.zeros((count, known)), np.empty(count), np.empty(count)
        for i, (deviations, loss, weight) in enumerate(self._lessons):
            e[i, : len(deviations)] = deviations
            weights[i], losses[i] = KEEP ** (count - 1 - i) * weight, loss
        keep, weighted = KEEP**count, weights[:, None] * e
        self._gram = keep * self._gram + weighted.T @ e
        self._product = keep * self._product + losses @ weighted
        self._weight = keep * self._weight + weights @ (e != 0.0)
        self._lessons = []

    def _solved(self) -> list[float]:
        """theta."""
        squares = np.diagonal(self._gram)
        scale = np.sqrt(np.where(squares > 0.0, squares, 1.0))
        normal = self._gram / (scale[:, None] * scale)
        normal.flat[:: squares.size + 1] = 1.0 + RIDGE / np.maximum(self._weight, FORGOTTEN)
        slope: list[float] = (np.linalg.solve(normal, self._product / scale) / scale).tolist()
        return slope

    # --- what it knows -------------------------------------------------------------------------

    @property
    def explained(self) -> float:
        """The share of the variance of the losses that its forecasts explained; NaN before any.

        Each loss was forecast before it was learnt: a useless feature explains nothing, and chance
        may make that a little less.
        """
        return max(0.0, 1.0 - self._left / self._total) if self._total > 0.0 else nan

    @property
    def contributions(self) -> list[float]:
        """The parts of the features in what the slopes explain, in no particular unit."""
        return [slope * part for slope, part in zip(self.fit.slope, self._product, strict=True)]

    # --- state ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, as nested tuples, arrays and numbers."""
        return {
            "fit": self.fit.state(),
            "rounds": (self._rounds, self._answers),
            "early": tuple((tuple(map(finite_or_none, e)), loss) for e, loss in self._early),
            "bounded": tuple(self._bounded),
            "samples": tuple(map(tuple, self._samples)),
            "spread": (tuple(self._count), tuple(self._square)),
            "lessons": tuple(map(tuple, self._lessons)),
            "learnt": self._learnt,
            "sums": (self._weight, self._product, self._gram),
            "variance": (self._total, self._left),
        }

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        """The regression that gave the state.

        Parameters
        ----------
        state
            What `state` gave.

        Returns
        -------
        Regression
            With the same future.

        Raises
        ------
        StateError
            If the state was altered.
        """
        regression = cls()
        regression.fit = Fit.restore(state["fit"])
        size = len(regression.fit.mean)
        regression._rounds, regression._answers = map(count_of, state["rounds"])
        regression._early = [
            (tuple(map(number_or_nan, e)), _finite_number(loss)) for e, loss in state["early"]
        ]
        regression._bounded = list(map(bool, state["bounded"]))
        regression._samples = [_finite_numbers(part, len(part)) for part in state["samples"]]
        _refuse_other_count(regression._bounded, size)
        _refuse_other_count(regression._samples, size)
        regression._count, regression._square = (
            _finite_numbers(part, size) for part in state["spread"]
        )
        if min([*regression._count, *regression._square], default=0.0) < 0.0:
            raise StateError("the counts and squares of a regression in a state are below 0")
        regression._lessons = [_restored_lesson(*lesson) for lesson in state["lessons"]]
        regression._learnt = count_of(state["learnt"])
        regression._weight, regression._product, regression._gram = (
            np.asarray(part, dtype=float).reshape(shape)
            for part, shape in zip(state["sums"], (size, size, (size, size)), strict=True)
        )
        regression._total, regression._left = _finite_numbers(state["variance"], 2)
        longest = max((len(lesson.deviations) for lesson in regression._lessons), default=0)
        if max([longest, *(len(e) for e, _ in regression._early)]) > size:
            raise StateError(f"a round of a regression of {size} features in a state has more")
        return regression


def _restored_lesson(deviations: Any, loss: Any, weight: Any) -> Lesson:
    known = _finite_numbers(deviations, len(deviations))
    return Lesson(tuple(known), _finite_number(loss), _finite_number(weight))


def _refuse_other_count(parts: Sequence[Any], size: int) -> None:
    """Raise an error unless a state has as many parts as there are features."""
    if len(parts) != size:
        raise StateError(f"a regression in a state needs {size} numbers, got {shown(parts)}")


def _finite_numbers(values: Iterable[Any], size: int) -> list[float]:
    """The numbers of a state, which must be so many."""
    numbers = list(map(_finite_number, values))
    _refuse_other_count(numbers, size)
    return numbers


def _finite_number(value: Any) -> float:
    """A number of a state, as it is."""
    if type(value) not in (int, float) or not abs(value) <= sys.float_info.max:
        raise StateError(f"a regression in a state has {shown(value)} in place of a number")
    number: float = value
    return number


def _variance(samples: list[float]) -> float:
    """The variance by eight sorted numbers, of which two on either side may be absurd."""
    if len(samples) < SEEN:
        return 0.0
    deviation = (samples[-3] - samples[2]) / NORMAL or 0.5 * (samples[-2] - samples[1])
    return deviation * deviation
