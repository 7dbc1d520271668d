"""A regression of losses on features that the point played cannot influence.

What it expects of a round is a level and a correction, theta.e, where e are the deviations of the
features from their recent means. The level is a mixture of the forecasters that look at losses
alone (`mixture`), run on what the correction leaves of each loss. theta is the ridge regression of
the deviations v_s of the losses from the level before round s on e_s; it forgets in 2,000 rounds:

    theta = argmin  sum_s gamma^(t-s) w_s (v_s - theta.e_s)^2 + RIDGE sum_i q_i theta_i^2,

where q_i is the mean of e_i^2, so that units do not matter: it is as if RIDGE more rounds had been
seen in which every feature deviated as usual and the loss did not.

A feature that is missing from a round is taken for its mean. A feature without bounds is limited to
some standard deviations, and begins to count when eight numbers have shown how large it is.
"""

from __future__ import annotations

from math import nan
from statistics import median
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.forecasts import mixture
from dikin.forecasts.mixture import Forecasters
from dikin.kernel import from_values, to_saved
from dikin.vectors import Array

SHORT, LONG = 64.0, 2000.0
"""Rounds after which the means and the slopes forget."""
RIDGE = 2.0
"""Rounds that stand against every slope."""
SPREAD = 4.0
"""Standard deviations to which a feature without bounds is limited."""
SEEN = 8
"""Numbers that show how large a feature without bounds is."""
WIDEST = 2.0
"""How far apart two numbers of a feature with bounds can be: it lies in [-1, 1]."""
FORGOTTEN = 1e-100
"""The weight of a feature that was not there for very long."""
KEEP = 1.0 - 1.0 / LONG
"""What a round leaves of the sums before it."""
NORMAL = 0.95
"""The third largest of eight normal numbers less the third least, in standard deviations."""

EMPTY: Array = np.zeros(0)


class Fit(NamedTuple):
    """What a forecast needs of a regression, as it was when a round was asked."""

    mean: Array
    limit: Array
    """The largest deviation of a feature; 0 while it does not count."""
    slope: Array
    level: Forecasters
    """Of the losses, less their corrections. It is not written."""

    def deviations(self, features: Array) -> Array:
        """How far features are from their means, within the limits.

        Parameters
        ----------
        features
            One number for each, NaN where it is missing. Those after the known ones do not count.

        Returns
        -------
        Array
            One number for each feature that was known; 0 for one that is missing.
        """
        away = features[: self.mean.size] - self.mean
        return _limited(np.where(away == away, away, 0.0), self.limit)  # NaN is what is missing

    def correction(self, deviations: Array) -> float:
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
        return float(self.slope[: deviations.size] @ deviations)

    def forecast(self, deviations: Array) -> float:
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
        """The fit as nested tuples, arrays and numbers."""
        return (*self[:3], to_saved(self.level))

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
        mean, limit, slope, level = state
        return cls(mean, limit, slope, from_values(Forecasters(), level))


class Regression:
    """The sums of the regression, for features that may become more.

    Attributes
    ----------
    fit
        What a forecast needs. It is replaced, not written: who keeps one has that of then.
    """

    def __init__(self) -> None:
        self.fit = Fit(EMPTY, EMPTY, EMPTY, Forecasters())
        self._rounds = 0
        """Losses that the level has learnt; 0 before it begins."""
        self._early: list[tuple[Array, float]] = []
        """Features and losses of the rounds before that."""
        self._bounded: list[bool] = []
        """For each feature, whether it lies in [-1, 1]."""
        self._samples: list[list[float]] = []
        """The numbers of each feature that does not count yet."""
        self._count = self._square = EMPTY
        """In how many rounds a feature was there; the mean square of its deviations."""
        self._weight = self._product = EMPTY
        """Sums over the rounds learnt: of 1 where the feature was there; of e v."""
        self._gram = np.zeros((0, 0))
        """The sum of e e'."""
        self._total = self._left = 0.0
        """The sums of v^2, and of what forecasts left of it."""

    def add_features(self, bounded: list[bool]) -> None:
        """Take in more features, about which nothing is known.

        Parameters
        ----------
        bounded
            For each of them, whether it lies in [-1, 1], as a share or a sine does.
        """
        more = len(bounded)
        self._bounded += bounded
        self._samples += [[] for _ in bounded]
        self._count, self._square = _longer(self._count, more), _longer(self._square, more)
        self._weight, self._product = _longer(self._weight, more), _longer(self._product, more)
        self._gram = np.pad(self._gram, (0, more))
        mean, limit, slope, level = self.fit
        mean, limit, slope = (_longer(each, more) for each in (mean, limit, slope))
        self.fit = Fit(mean, limit, slope, level)

    # --- learning ------------------------------------------------------------------------------

    def observe(self, features: Array) -> None:
        """Take in where the features of a round lie.

        Parameters
        ----------
        features
            One number for each, NaN where it is missing.
        """
        mean, limit = self.fit.mean, self.fit.limit
        given = features == features  # not NaN
        settled = given & (limit > 0.0)
        if settled.any():
            away = _limited(np.where(settled, features - mean, 0.0), limit)
            self._count = self._count + settled
            share = settled / np.minimum(np.maximum(self._count, 1.0), SHORT)
            self._square = self._square + share * (away * away - self._square)
            self._move(mean + share * away, limit > 0.0)
        if (given > settled).any():
            for place in np.flatnonzero(given > settled).tolist():
                self._observe_early(place, float(features[place]))

    def _observe_early(self, place: int, number: float) -> None:
        """Take in a number of a feature that does not count yet."""
        samples = self._samples[place]
        samples.append(number)
        if len(samples) < SEEN and not self._bounded[place]:
            return
        mean, counts = self.fit.mean.copy(), self.fit.limit > 0.0
        self._count, self._square = self._count.copy(), self._square.copy()
        mean[place], counts[place] = median(samples), True
        self._count[place], self._square[place] = len(samples), _variance(sorted(samples))
        self._samples[place] = []
        self._move(mean, counts)

    def _move(self, mean: Array, counts: Any) -> None:
        """New means and limits; a feature that never varied is limited by its size."""
        spread = np.sqrt(self._square)
        size = np.where(spread > 0.0, spread, np.maximum(np.abs(mean), 1.0))
        limit = np.where(counts, np.where(self._bounded, WIDEST, SPREAD * size), 0.0)
        self.fit = self.fit._replace(mean=mean, limit=limit)

    @property
    def begun(self) -> bool:
        """Whether it forecasts losses: before that it gathers rounds, from which it begins."""
        return self._rounds > 0

    @property
    def gathered(self) -> int:
        """Rounds that were gathered."""
        return len(self._early)

    def gather(self, features: Array, loss: float) -> None:
        """Take in a round of the first ones.

        Parameters
        ----------
        features
            One number for each, NaN where it is missing.
        loss
            The loss.
        """
        self._early.append((features, loss))
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
        self._rounds, self.fit = rounds, self.fit._replace(level=level.copy())
        for features, loss in self._early:
            known = _longer(features, self.fit.mean.size - features.size, nan)
            deviations = self.fit.deviations(known)
            if deviations.any():
                away = min(max(loss - level.mixture, -error_scale), error_scale)
                self.learn_slopes(deviations, away)
        self._early = []

    def learn(
        self, fit: Fit, deviations: Array, loss: float, error_scale: float, weight: float = 1.0
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
        level = self.fit.level.copy()
        self._rounds += 1
        learnt = before + weight * (left - before)
        mixture.learn(level, fit.level, learnt, error_scale, float(self._rounds))
        self.fit = self.fit._replace(level=level)
        if deviations.any():
            self.learn_slopes(deviations, loss - before, weight)

    def learn_slopes(self, deviations: Array, loss: float, weight: float = 1.0) -> None:
        """Take in what a loss says of the slopes, and nothing else.

        Parameters
        ----------
        deviations
            Of the features from their means.
        loss
            The deviation of the loss from the level of comparable ones before it.
        weight
            What the round counts for.
        """
        e = _longer(deviations, self.fit.mean.size - deviations.size)
        left = loss - self.fit.correction(e)
        self._total = KEEP * self._total + weight * loss * loss
        self._left = KEEP * self._left + weight * left * left
        self._weight = KEEP * self._weight + weight * (e != 0.0)
        self._product = KEEP * self._product + (weight * loss) * e
        self._gram = KEEP * self._gram + (weight * e)[:, None] * e
        self.fit = self.fit._replace(slope=self._solved())

    def _solved(self) -> Array:
        """theta."""
        squares = np.diagonal(self._gram)
        counts = squares > 0.0
        scale = np.sqrt(np.where(counts, squares, 1.0))
        normal = self._gram / (scale[:, None] * scale)
        normal.flat[:: squares.size + 1] = 1.0 + RIDGE / np.maximum(self._weight, FORGOTTEN)
        return np.linalg.solve(normal, self._product / scale) / scale

    # --- what it knows -------------------------------------------------------------------------

    @property
    def explained(self) -> float:
        """The share of the variance of the losses that its forecasts explained; NaN before any.

        Each loss was forecast before it was learnt: a useless feature explains nothing, and chance
        may make that a little less.
        """
        return max(0.0, 1.0 - self._left / self._total) if self._total > 0.0 else nan

    @property
    def contributions(self) -> Array:
        """The share of each feature in what the slopes explain of the losses learnt."""
        return self.fit.slope * self._product / self._total if self._total > 0.0 else self._product

    # --- state ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, as nested tuples, arrays and numbers."""
        return {
            "bounded": tuple(self._bounded),
            "samples": tuple(map(tuple, self._samples)),
            "fit": self.fit.state(),
            "rounds": self._rounds,
            "early": tuple(self._early),
            "sums": (self._count, self._square, self._weight, self._product, self._gram),
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
        """
        regression = cls()
        regression._bounded = list(map(bool, state["bounded"]))
        regression._samples = list(map(list, state["samples"]))
        regression.fit = Fit.restore(state["fit"])
        regression._rounds, regression._early = int(state["rounds"]), list(state["early"])
        (
            regression._count,
            regression._square,
            regression._weight,
            regression._product,
            regression._gram,
        ) = state["sums"]
        regression._total, regression._left = state["variance"]
        return regression


def _longer(values: Array, more: int, filler: float = 0.0) -> Array:
    """The same with so many zeros behind, or others."""
    return np.concatenate([values, np.full(more, filler)]) if more else values


def _limited(away: Array, limit: Array) -> Array:
    return np.minimum(np.maximum(away, -limit), limit)


def _variance(samples: list[float]) -> float:
    """The variance by eight sorted numbers, of which two on either side may be absurd."""
    if len(samples) < SEEN:
        return 0.0
    deviation = (samples[-3] - samples[2]) / NORMAL or 0.5 * (samples[-2] - samples[1])
    return deviation * deviation
