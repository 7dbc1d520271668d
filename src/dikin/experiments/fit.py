"""Growth of regret: slopes with intervals, and means over runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dikin.vectors import Array

Result = dict[str, Any]
"""Seed, regret and certificate (in units of half the range of the losses), seconds, compiled."""
INTERVAL = 0.95


def half_interval(values: ArrayLike) -> Any:
    """Half of Student's 95% interval for the mean over runs, the first axis. NaN for one run."""
    from scipy.stats import t as student

    games = np.asarray(values, dtype=float)
    count = len(games)
    if count < 2:
        return np.full(games.shape[1:], np.nan)[()]
    quantile = float(student.ppf((1 + INTERVAL) / 2, count - 1))
    return quantile * games.std(axis=0, ddof=1) / np.sqrt(count)


@dataclass(frozen=True)
class PowerFit:
    """regret = factor * size^exponent, with the 95% interval of the exponent."""

    exponent: float
    low: float
    high: float
    factor: float

    def at(self, sizes: Array) -> Array:
        return np.asarray(self.factor * sizes**self.exponent)


@dataclass(frozen=True)
class Curve:
    """Regrets at several sizes: horizons, or dimensions."""

    sizes: Array
    regrets: Array
    """A row per size, a column per run."""
    fitted: int | None = None
    """Number of the largest sizes to which the power is fitted, None for all."""
    proved: float = nan
    """The exponent that a theorem has."""

    @classmethod
    def of(
        cls,
        parts: Iterable[tuple[int, list[Result]]],
        fitted: int | None = None,
        proved: float = nan,
        value: str = "regret",
    ) -> Curve:
        """Return a curve from a value of the results of cells, each with its size."""
        by_size: dict[int, list[float]] = {}
        for size, results in parts:
            by_size.setdefault(size, []).extend(result[value] for result in results)
        return cls(
            np.array([*by_size], float), np.array([*by_size.values()], float), fitted, proved
        )

    @property
    def games(self) -> int:
        return int(self.regrets.shape[1])

    @property
    def means(self) -> Array:
        return np.asarray(self.regrets.mean(axis=1))

    @property
    def band(self) -> tuple[Array, Array, Array]:
        """Sizes, means and half of the 95% interval of each mean, 0 for a single run."""
        return self.sizes, self.means, np.nan_to_num(half_interval(self.regrets.T))

    @property
    def tail(self) -> Array:
        """The sizes to which the power is fitted."""
        return self.sizes[-(self.fitted or 0) :]

    @cached_property
    def power(self) -> PowerFit:
        """Least squares on the log-log curve of means."""
        return fit_power(self.tail, self.regrets[-len(self.tail) :])


def fit_power(sizes: Array, regrets: Array) -> PowerFit:
    """Return the slope of log mean regret, to first order a mean over runs, by least squares."""
    logs, means = np.log(sizes), np.maximum(regrets.mean(axis=1), 1e-12)
    slope, intercept = np.polyfit(logs, np.log(means), 1)
    away = logs - logs.mean()
    half = float(half_interval((away / away.dot(away) / means) @ regrets))
    return PowerFit(float(slope), slope - half, slope + half, float(np.exp(intercept)))
