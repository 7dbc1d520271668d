"""Sums over rounds of either arm, and the interval of the gain that follows from them.

The variance of the sum of t estimates of the gain is at most about t (s1/(1 - q) + s0/q) with the
mean squares s1, s0 of the residuals in either arm, and the sum stays within the boundary of a
normal mixture for this variance at all times (docs/mathematics.md, 14.2). As there are few control
answers, s0 is increased by the factor 1 + 2/n, and is at least s1: what upsets the many tuned
rounds upsets the control as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

from dikin.worth.intervals import best_scale, normal_mixture

FEWEST = 10
"""Control answers before there is an interval."""
NARROWEST = 60
"""Control answers for which the interval is tuned."""


@dataclass(slots=True)
class Sums:
    """Sums over some rounds."""

    tuned: int = 0
    held_back: int = 0
    tuned_values: float = 0.0
    control_values: float = 0.0
    """The sums of the unbiased estimates of the values in either arm, over all of the rounds."""
    tuned_squares: float = 0.0
    control_squares: float = 0.0
    """The sums of the squared residuals of the rounds of either arm."""
    first_spread: float = 0.0
    """The variance when there was an interval for the first time, which fixes the mixture."""

    @property
    def rounds(self) -> int:
        return self.tuned + self.held_back

    def add(
        self, residual: float, held_back: bool, guesses: tuple[float, float], share: float
    ) -> None:
        """Add a round; `guesses` are those of the tuned arm and of the control."""
        if held_back:
            self.held_back += 1
            self.control_squares += residual**2
            self.control_values += residual / share
        else:
            self.tuned += 1
            self.tuned_squares += residual**2
            self.tuned_values += residual / (1.0 - share)
        self.tuned_values += guesses[0]
        self.control_values += guesses[1]
        if self.first_spread == 0.0 and self.held_back >= FEWEST:
            self.first_spread = sum(self.spreads(share))

    def spreads(self, share: float) -> tuple[float, float]:
        """About the variances of `tuned_values` and `control_values`, or more."""
        tuned = self.tuned_squares / max(self.tuned, 1)
        own = self.control_squares / max(self.held_back, 1) * (1.0 + 2.0 / max(self.held_back, 1))
        return self.rounds * tuned / (1.0 - share), self.rounds * max(own, tuned) / share

    def factor(self, share: float, alpha: float) -> float:
        """The square of half of an interval over the variance; infinite before there is one."""
        if self.first_spread == 0.0:
            return inf
        scale = best_scale(self.first_spread * (NARROWEST / FEWEST), alpha)
        return normal_mixture(sum(self.spreads(share)), scale, alpha)

    def interval(self, share: float, alpha: float, weight: float = 1.0) -> tuple[float, float]:
        """The interval of the mean of v(tuned) - weight v(control)."""
        rounds = max(self.rounds, 1)
        middle = (self.tuned_values - weight * self.control_values) / rounds
        tuned, control = self.spreads(share)
        factor = self.factor(share, alpha)
        half = sqrt(factor * (tuned + weight**2 * control)) / rounds if factor < inf else inf
        return middle - half, middle + half

    def ratios(self, share: float, alpha: float) -> tuple[float, float]:
        """The ratios y for which the interval of v(tuned) - y v(control) has zero (Fieller)."""
        factor = self.factor(share, alpha)
        if factor == inf:
            return -inf, inf
        tuned, control = self.spreads(share)
        square = self.control_values**2 - factor * control
        if not square > 0.0:  # the control may earn nothing: any ratio is possible
            return -inf, inf
        half = self.tuned_values * self.control_values
        constant = self.tuned_values**2 - factor * tuned
        root = sqrt(max(half**2 - square * constant, 0.0))
        return (half - root) / square, (half + root) / square
