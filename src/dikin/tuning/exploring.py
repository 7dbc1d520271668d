"""What exploring has cost at most, from the values alone: nothing needs to be declared.

A round plays y + z, and z is as likely as -z. A convex loss has f(y) >= f(y + z) - f'(y + z).z, so

    E f(y + z) - f(y)  <=  E f'(y + z).z  =  tr d/dy E[f(y + z) z].

The left side is what exploring costs, and no value shows it: y itself is never played. The right
side is a regression of r z on y, r the surprise: the trace of its coefficients. It equals the cost
where y is the tip of a kink, and twice the cost at the bottom of a bowl. The round is a second
regressor, so that the minimum may move steadily meanwhile. Centres follow the noise of earlier
values, and so the regression finds too much slope: the bound is wide where noise is large
(docs/memory.md shows how wide).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, nan, sqrt
from typing import Any, Self

import numpy as np

from dikin.serialization import decode, encode, refuse_other_form
from dikin.vectors import Array

FIRST = 32
"""Rounds of the first block; every other one has twice as many as the one before."""
ENOUGH = 4
"""Times the regressors: with fewer rounds nothing is said."""
LARGEST_SIZE = 16
"""The most coordinates for which the sums are kept: they have the square of it."""
ERRORS = 2.0
"""Standard errors that are added."""
RANK = 1e-9
"""Of the largest eigenvalue of the correlations: less is no direction in which the centre moved."""


@dataclass(slots=True)
class Moments:
    """Mean and products of deviations of rows that come one by one (Chan, Golub, LeVeque 1983)."""

    rounds: float
    mean: Array
    products: Array

    @classmethod
    def of_none(cls, width: int) -> Self:
        """No row yet."""
        return cls(0.0, np.zeros(width), np.zeros((width, width)))

    def add(self, row: Array) -> None:
        """Count a row."""
        self.rounds += 1.0
        away = row - self.mean
        self.mean += away / self.rounds
        self.products += away[:, None] * (row - self.mean)

    def with_rows_of(self, other: Moments) -> Moments:
        """The moments of the rows of both."""
        rounds = self.rounds + other.rounds
        apart, share = other.mean - self.mean, other.rounds / max(rounds, 1.0)
        products = self.products + other.products
        products = products + self.rounds * share * np.outer(apart, apart)
        return Moments(rounds, self.mean + share * apart, products)


class ExploringCost:
    """A bound on the mean cost of exploring in the newer half of the rounds, or a little more.

    Parameters
    ----------
    size : int
        How many coordinates a centre has.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        width = 1 + 2 * size if size <= LARGEST_SIZE else 0
        self._older, self._newer = Moments.of_none(width), Moments.of_none(width)

    @property
    def rounds(self) -> int:
        """The rounds that it is about."""
        return int(self._older.rounds + self._newer.rounds)

    def add(self, round: int, center: Array, step: Array, surprise: float) -> None:
        """Count a round that played center + step; not the first, of which nothing was expected."""
        if self._size > LARGEST_SIZE or not isfinite(surprise):
            return
        if self._newer.rounds >= max(FIRST, 2.0 * self._older.rounds):
            self._older, self._newer = self._newer, Moments.of_none(1 + 2 * self._size)
        row = np.empty(1 + 2 * self._size)
        row[0], row[1 : 1 + self._size] = round, center
        np.multiply(step, surprise, row[1 + self._size :])
        self._newer.add(row)

    @property
    def at_most(self) -> float:
        """The slope along what is explored, and two standard errors; NaN if it is not known yet."""
        regressors = 1 + self._size
        if self.rounds < ENOUGH * (1 + regressors):
            return nan
        both = self._older.with_rows_of(self._newer)
        if not np.isfinite(both.products).all():
            return nan
        inverse = _inverse(both.products[:regressors, :regressors])
        coefficients = inverse @ both.products[:regressors, regressors:]
        noise = both.products[regressors:, regressors:] / both.rounds
        error = sqrt(max(float(np.sum(inverse[1:, 1:] * noise)), 0.0))
        return max(float(np.trace(coefficients[1:])), 0.0) + ERRORS * error

    def standing(self) -> dict[str, Any]:
        """What a status says of it."""
        return {"exploring_measured": self.at_most, "exploring_rounds": self.rounds}

    def state(self) -> list[Any]:
        """Everything as plain JSON values."""
        blocks = self._older, self._newer
        return [encode((block.rounds, block.mean, block.products)) for block in blocks]

    def take_over(self, state: Any) -> None:
        """Continue from what `state` gave."""
        refuse_other_form(state, self.state(), "exploring")
        self._older, self._newer = (Moments(*decode(block)) for block in state)


def _inverse(products: Array) -> Array:
    """The inverse in the directions in which there is any deviation."""
    scale = np.sqrt(np.maximum(np.diag(products), 0.0))
    scale[scale == 0.0] = 1.0
    correlations = products / np.outer(scale, scale)
    inverse: Array = np.linalg.pinv(correlations, rcond=RANK, hermitian=True)
    inverse /= np.outer(scale, scale)
    return inverse
