"""Sums over rounds of either arm, and the interval of the gain (docs/mathematics.md, 14.2).

The largest square counts three times in both arms, because an arm of few answers has seen few of
its rare values. The control's mean square is at least that of the tuned rounds: a change that
upsets the many tuned rounds upsets the control as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import inf, log, sqrt

FEWEST, ANSWERS = 10, 20
"""Control answers before there is an interval for the guard, and before one is printed."""
NARROWEST = 60
"""Control answers for which the interval is tuned."""
AGAIN = 2.0
"""How often the largest square counts again, in either arm."""
ALIKE = 0.25
"""Share of half of the interval that may have been clipped off."""


@lru_cache(256)
def best_product(alpha: float) -> float:
    """Return where (1 + 1/x) ln((x + 1)/alpha^2) is smallest: x = ln((x + 1)/alpha^2)."""
    x = 1.0
    for _ in range(60):  # a contraction: the derivative 1/(x + 1) is below a half from x = 1 on
        x = log((x + 1.0) / alpha**2)
    return x


def mixture_factor(grown: float, alpha: float) -> float:
    """Return k with S^2 <= k W at all times but for a probability alpha, `grown` = W scale."""
    return (1.0 + 1.0 / grown) * log((grown + 1.0) / alpha**2)


@dataclass(slots=True)
class Sums:
    tuned: int = 0
    held_back: int = 0
    tuned_values: float = 0.0
    control_values: float = 0.0
    """The sums of the unbiased estimates of the values in either arm, over all of the rounds."""
    tuned_squares: float = 0.0
    control_squares: float = 0.0
    """The sums of the squared residuals of the rounds of either arm."""
    largest: float = 0.0
    """The largest of these squares."""
    beyond: float = 0.0
    """The gain that was clipped off: the sum without clipping less the one with it."""
    first_spread: float = 0.0
    """The variance when the control had `FEWEST` answers, which fixes the mixture."""

    @property
    def rounds(self) -> int:
        return self.tuned + self.held_back

    def add(
        self,
        residual: float,
        beyond: float,
        held_back: bool,
        guesses: tuple[float, float],
        share: float,
    ) -> None:
        """Add a round. `guesses` are those of the tuned arm and of the control."""
        square = residual * residual
        if held_back:
            self.held_back += 1
            self.control_squares += square
            self.control_values += residual / share
            self.beyond -= beyond / share
        else:
            self.tuned += 1
            self.tuned_squares += square
            self.tuned_values += residual / (1.0 - share)
            self.beyond += beyond / (1.0 - share)
        self.tuned_values += guesses[0]
        self.control_values += guesses[1]
        self.largest = max(self.largest, square)
        if self.first_spread == 0.0 and self.held_back >= FEWEST:
            self.first_spread = sum(self.spreads(share))

    def spreads(self, share: float) -> tuple[float, float]:
        """Return about the variances of `tuned_values` and `control_values`, or more."""
        tuned = (self.tuned_squares + AGAIN * self.largest) / max(self.tuned, 1)
        control = (self.control_squares + AGAIN * self.largest) / max(self.held_back, 1)
        rounds = self.tuned + self.held_back
        return rounds * tuned / (1.0 - share), rounds * max(control, tuned) / share

    def factor(self, share: float, alpha: float) -> float:
        """Return the square of half an interval over the variance, infinite at first."""
        if self.first_spread == 0.0:
            return inf
        grown = sum(self.spreads(share)) / self.first_spread * (FEWEST / NARROWEST)
        return mixture_factor(grown * best_product(alpha), alpha)

    def interval(self, share: float, alpha: float, weight: float = 1.0) -> tuple[float, float]:
        """Return the interval of the mean of v(tuned) - weight v(control)."""
        rounds, factor = max(self.rounds, 1), self.factor(share, alpha)
        middle = (self.tuned_values - weight * self.control_values) / rounds
        tuned, control = self.spreads(share)
        half = sqrt(factor * (tuned + weight**2 * control)) / rounds if factor < inf else inf
        return middle - half, middle + half

    def ratios(self, share: float, alpha: float) -> tuple[float, float]:
        """Return the ratios y for which the interval of v(tuned) - y v(control) has 0 (Fieller)."""
        factor, control = self.factor(share, alpha), self.control_values
        if factor == inf or control == 0.0:
            return -inf, inf
        parts = [sqrt(factor * spread) / control for spread in self.spreads(share)]
        middle, left = self.tuned_values / control, 1.0 - parts[1] * parts[1]
        if not left > 0.0:  # the control may earn nothing: any ratio is possible
            return -inf, inf
        square = middle * middle - left * (middle * middle - parts[0] * parts[0])
        root = sqrt(max(square, 0.0))
        return (middle - root) / left, (middle + root) / left

    def doubt(self, share: float, alpha: float) -> str | None:
        if self.held_back < FEWEST:
            return f"{self.held_back} of {FEWEST} answers of the control have come"
        if self.largest == 0.0:
            return "all values are as expected, without any noise"
        low, high = self.interval(share, alpha)
        excess = 2.0 * abs(self.beyond) / (ALIKE * self.rounds * (high - low))
        if excess > 1.0:
            return (
                "values far from all others change the gain by "
                f"{self.beyond / self.rounds:+.3g} a round, and too few of them have come. That "
                f"takes about {two_digits(self.rounds * (excess - 1.0))} more rounds. Declare "
                "value_range if they are faults"
            )
        return None


def two_digits(count: float) -> str:
    return f"{float(f'{min(count, 1e15):.2g}'):,.0f}"
