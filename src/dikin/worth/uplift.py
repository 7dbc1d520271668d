"""The uplift: how much a tuned round gains over the control, with an interval for any time.

A coin plays the control with probability q; otherwise the round is tuned. With guesses m1 and m0 of
the value in either arm that were made before the coin fell, and r the value minus the guess of its
arm, clipped at a level c that was known before too,

    m1 + r/(1 - q) if tuned, else m1        and        m0 + r/q if held back, else m0

have the means v(tuned) and v(control), whatever drifts, however bad the guesses are. Their
difference is the estimate of the round's gain (augmented inverse probability weighting); the
estimand at a time is the mean of the true gains of the rounds so far, in which a value counts up to
c from its guess.

The interval (docs/mathematics.md, 14): the variance of the sum of t such differences is at most
about t (s1/(1 - q) + s0/q) with the mean squares s1, s0 of r in either arm, and the sum stays
within the boundary of a normal mixture for this variance at all times. As there are few control
answers, s0 is increased by the factor 1 + 2/n, and is at least s1: what upsets the many tuned
rounds upsets the control as well. Where the values lie in a declared range nothing is clipped, and
`exact` gives an interval that needs no limit: an empirical Bernstein bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import ceil, copysign, exp, floor, inf, isfinite, isnan, log10, nan, sqrt
from typing import Any, Self

from dikin.arguments import LARGEST, number, true_or_false
from dikin.errors import LossError, ParameterError, StateError, shown
from dikin.serialization import (
    finite_or_none,
    number_or_nan,
    refuse_infinite,
    refuse_other_form,
)
from dikin.units import checked_range
from dikin.worth.holdback import holdback_share
from dikin.worth.intervals import best_scale, empirical_bernstein, normal_mixture

FEWEST = 10
"""Control answers before there is an interval."""
NARROWEST = 60
"""Control answers for which the interval is tuned."""
MEMORY = 50.0
"""Control answers that the guess of the control remembers."""
RECENT = 50
"""Control answers that are expected in a window of recent rounds."""
QUANTILE, TIMES, STEP = 0.98, 3.0, 0.5
"""The level of clipping is three times the 98 % quantile of the residuals, 7 standard deviations of
normal ones; it follows in steps of up to a factor exp(1/2)."""


# --- what is read --------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Uplift:
    """What a tuned round gains over the control; `print` it, or read its parts.

    Parameters
    ----------
    mean : float
        The estimated gain of a round; above zero is better, also where small values are good. NaN
        before the control was played.
    low, high : float
        The interval of the true mean gain so far; infinite until ten control answers have come. It
        may be looked at after every round: the truth is outside at *any* time with a probability of
        1 - confidence.
    mean_percent, low_percent, high_percent : float
        The same in per cent of the control's mean value; NaN or infinite where that may be zero.
    control_mean : float
        The estimated mean value of the control over the same rounds, in the user's sense.
    tuned_rounds, held_back_rounds : int
        The rounds that were counted in either arm.
    confidence : float
        The probability that the truth never leaves the interval.
    maximize : bool
        Whether large values are good.
    """

    mean: float
    low: float
    high: float
    mean_percent: float
    low_percent: float
    high_percent: float
    control_mean: float
    tuned_rounds: int
    held_back_rounds: int
    confidence: float
    maximize: bool

    @property
    def rounds(self) -> int:
        """The rounds that were counted."""
        return self.tuned_rounds + self.held_back_rounds

    @property
    def total(self) -> float:
        """What all tuned rounds together have gained: the mean times their number."""
        return self.mean * self.tuned_rounds

    @property
    def is_known(self) -> bool:
        """Whether there is an interval."""
        return isfinite(self.high - self.low)

    @property
    def has_percent(self) -> bool:
        """Whether it is known in per cent of the control's mean value too."""
        return all(map(isfinite, (self.mean_percent, self.low_percent, self.high_percent)))

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON values, `total` included; what is not finite is None."""
        found = asdict(self) | {"total": self.total}
        return {
            name: finite_or_none(value) if isinstance(value, float) else value
            for name, value in found.items()
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        """The record that `to_json` wrote.

        Parameters
        ----------
        content : dict
            What `to_json` gave.

        Returns
        -------
        Uplift
            The same record.
        """
        unknown = {"low": -inf, "high": inf}
        parts: dict[str, Any] = {
            name: unknown.get(name.partition("_")[0], nan) if value is None else value
            for name, value in content.items()
            if name != "total"
        }
        return cls(**parts)

    def __str__(self) -> str:
        if not self.is_known:
            came = f"{self.held_back_rounds:,} of {FEWEST} answers of the control have come"
            if self.held_back_rounds >= FEWEST:
                came = "all values were the same"
            return f"not known yet: {came}"
        parts = self.mean_percent, self.low_percent, self.high_percent
        unit = " %"
        if not self.has_percent:
            parts, unit = (self.mean, self.low, self.high), ""
        mean, low, high = signed(parts)
        sure = f"{100 * self.confidence:g} %: {low} to {high}, valid at any time"
        return f"{mean}{unit} a round ({sure}), {self.total_text} so far"

    @property
    def total_text(self) -> str:
        """The total in words: so much earned, saved or lost."""
        good = "earned" if self.maximize else "saved"
        digits = max(0, 2 - floor(log10(abs(self.total)))) if self.total else 0
        return f"{abs(self.total):,.{digits}f} {good if self.total >= 0 else 'lost'}"


def signed(parts: tuple[float, float, float]) -> Iterator[str]:
    """A mean and its interval with as many digits as half of the width has significant ones.

    Parameters
    ----------
    parts : tuple of float
        Mean, lower end and upper end, all finite.

    Yields
    ------
    str
        Each with its sign.
    """
    half = (parts[2] - parts[1]) / 2
    digits = max(0, 1 - floor(log10(half))) if half > 0 else 1
    for part in parts:
        yield f"{part:+,.{digits}f}"


# --- sums ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class Sums:
    """What is added up over some rounds.

    Parameters
    ----------
    tuned, held_back : int
        Rounds in either arm.
    tuned_values, control_values : float
        The sums of the unbiased estimates of the values in either arm, over all of the rounds.
    tuned_squares, control_squares : float
        The sums of the squared residuals of the rounds of either arm.
    first_spread : float
        The variance when there was an interval for the first time, which fixes the mixture; zero
        before.
    """

    tuned: int = 0
    held_back: int = 0
    tuned_values: float = 0.0
    control_values: float = 0.0
    tuned_squares: float = 0.0
    control_squares: float = 0.0
    first_spread: float = 0.0

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


def next_level(level: float, size: float) -> float:
    """The level of clipping after a residual of some size.

    Parameters
    ----------
    level : float
        The level so far; infinite before a residual was other than zero.
    size : float
        The absolute value of the residual, not clipped.

    Returns
    -------
    float
        Larger if the size is above a third of the level, slightly smaller otherwise, so that one
        residual in fifty is above that third in the long run.
    """
    if size == 0.0:
        return level
    if level == inf:
        return TIMES * size
    return level * exp(STEP * (QUANTILE if TIMES * size > level else QUANTILE - 1.0))


# --- the estimate --------------------------------------------------------------------------------


class UpliftEstimate:
    """Estimate what tuned rounds gain over the control, while they are played.

    Each round that a coin decided is added once its value has come. Numbers that do not change with
    the number of rounds: a few dozen in all.

    Parameters
    ----------
    holdback : float
        The probability of the coin that holds a round back, above 0 and at most 0.5.
    maximize : bool, default False
        Whether large values are good.
    value_range : tuple of float, optional
        The least and the largest possible value. With it nothing is clipped, and `exact` has an
        interval.
    confidence : float, default 0.95
        The probability that the truth never leaves the interval.

    Attributes
    ----------
    holdback : float
        As given.
    maximize : bool
        As given.
    value_range : tuple of float or None
        As given.
    confidence : float
        As given.
    level : float
        How far from its guess a value counts; infinite where nothing is clipped.
    clipped : int
        The rounds whose values were clipped.
    window : int
        The number of rounds after which a window of recent rounds begins; `recent` counts as many,
        and up to twice as many.

    Raises
    ------
    ParameterError
        If an argument is unusable.

    Examples
    --------
    >>> from dikin.worth import UpliftEstimate, is_held_back
    >>> estimate = UpliftEstimate(0.1, maximize=True)
    >>> for id in range(500):
    ...     held_back = is_held_back("key", id, 0.1)
    ...     value = (100.0 if held_back else 104.0) + id % 7
    ...     estimate.add(value, held_back, *estimate.guesses(107.0))
    >>> print(estimate.uplift())
    +3.7 % a round (95 %: +2.6 to +4.9, valid at any time), 1,735 earned so far
    """

    def __init__(
        self,
        holdback: float,
        *,
        maximize: bool = False,
        value_range: tuple[float, float] | None = None,
        confidence: float = 0.95,
    ) -> None:
        self.holdback = holdback_share(holdback)
        if self.holdback == 0.0:
            raise ParameterError(
                "holdback must be above 0: without rounds that play the control there is nothing "
                "to compare with. Choose a share such as 0.05"
            )
        self.maximize = true_or_false(maximize, "maximize")
        self.value_range = (
            value_range if value_range is None else checked_range(value_range, "value")
        )
        self.confidence = number(confidence, "confidence")
        if not 0.0 < self.confidence < 1.0:
            raise ParameterError(
                f"confidence must be between 0 and 1, such as 0.95, got {shown(confidence)}"
            )
        self.level, self.clipped = inf, 0
        self.window = ceil(RECENT / self.holdback)
        self._offset, self._offsets = 0.0, 0
        """The mean of the control minus the tuned arm's guess, with a memory; its rounds."""
        self._reach = [0.0, 0.0]
        """The least that a term of the sum can be, and of its negative: for the exact interval."""
        self._all = Sums()
        self._windows = [Sums()]
        """Those of recent rounds; a new one begins every `window` rounds."""
        self._first_window = 0
        """The number of the first of them."""

    # --- rounds --------------------------------------------------------------------------------

    def guesses(self, forecast: float) -> tuple[float, float]:
        """What to expect of the next round in either arm: ask before its coin is known.

        The control's is the forecast and the mean distance of the control from it. So what moves
        both arms, as a season does, is in both guesses as soon as it is in the forecast.

        Parameters
        ----------
        forecast : float
            The expected value of a tuned round; NaN if nothing is known.

        Returns
        -------
        tuple of float
            The guess of the tuned arm, and that of the control.
        """
        guesses = forecast, forecast + self._offset
        if self.value_range is not None:
            low, high = self.value_range
            return limited(guesses[0], low, high), limited(guesses[1], low, high)
        return guesses

    def add(self, value: float, held_back: bool, guess_tuned: float, guess_control: float) -> None:
        """Add a round that a coin decided, once its value has come.

        Parameters
        ----------
        value : float
            The value, in the user's sense.
        held_back : bool
            Whether the round played the control.
        guess_tuned, guess_control : float
            What was expected of either arm, before the coin fell, of the two alike whichever way it
            fell. If one is NaN, the round is not counted: nothing was known.

        Raises
        ------
        LossError
            If the value is not a finite number, or lies outside the declared range.
        """
        self._refuse(value)
        if isnan(guess_tuned) or isnan(guess_control):
            return
        residual = value - (guess_control if held_back else guess_tuned)
        clipped = limited(residual, -self.level, self.level)
        self.clipped += clipped != residual
        guesses = guess_tuned, guess_control
        self._all.add(clipped, held_back, guesses, self.holdback)
        for sums in self._windows:
            sums.add(clipped, held_back, guesses, self.holdback)
        self._turn_windows()
        if self.value_range is None:
            self.level = next_level(self.level, abs(residual))
        else:
            self._widen_reach(*guesses)
        if held_back:
            self._offsets += 1
            distance = guess_control + clipped - guess_tuned
            self._offset += (distance - self._offset) / min(self._offsets, MEMORY)

    def _refuse(self, value: float) -> None:
        if not abs(value) < LARGEST:
            raise LossError(
                f"a value must be a finite number below {LARGEST:g}, got {shown(value)}. Nothing "
                "was changed"
            )
        if self.value_range is not None and not self.value_range[0] <= value <= self.value_range[1]:
            raise LossError(
                f"a value must lie in the declared value_range {self.value_range}, got "
                f"{shown(value)}: the exact interval depends on it. Nothing was changed"
            )

    def _turn_windows(self) -> None:
        """Begin a window, and end the one that has grown to twice its length."""
        if self._all.rounds % self.window == 0:
            self._windows.append(Sums())
            if len(self._windows) > 2:
                del self._windows[0]
                self._first_window += 1

    def _widen_reach(self, guess_tuned: float, guess_control: float) -> None:
        """Count how far a round of these guesses could have gone, below and above."""
        low, high = self.value_range or (nan, nan)
        q = self.holdback
        below = max((guess_tuned - low) / (1 - q), (high - guess_control) / q)
        above = max((high - guess_tuned) / (1 - q), (guess_control - low) / q)
        self._reach = [max(self._reach[0], below), max(self._reach[1], above)]

    # --- what is known -------------------------------------------------------------------------

    def uplift(self) -> Uplift:
        """The gain over all rounds."""
        return self._uplift(self._all, 1.0 - self.confidence)

    def recent(self) -> Uplift:
        """The gain over the recent rounds: the last `window` of them, and up to twice as many.

        The intervals of all windows together are valid at any time: the one with number j = 0, 1,
        ... may fail with a probability of 1/((j + 1)(j + 2)) of the whole.
        """
        return self._uplift(self._windows[0], self._window_alpha(0))

    def exact(self) -> Uplift:
        """The gain over all rounds with an interval that is exact in every round.

        It needs a declared `value_range`, and no limit, many rounds or control answers; it is wide
        while the range of a value, times 1/holdback, is not small in comparison with the rounds.
        Without a range it is infinite.
        """
        sums, sense = self._all, 1.0 if self.maximize else -1.0
        found = self._uplift(sums, 1.0 - self.confidence)
        ends = self._exact_ends() if self.value_range is not None and sums.rounds else (-inf, inf)
        low, high = sorted(sense * end for end in ends)
        unknown = {"low_percent": -inf, "high_percent": inf}
        return Uplift(**vars(found) | unknown | {"low": low, "high": high})

    def _exact_ends(self) -> tuple[float, float]:
        """The ends of the exact interval of v(tuned) - v(control)."""
        sums, q, alpha = self._all, self.holdback, 1.0 - self.confidence
        low, high = self.value_range or (nan, nan)
        squares = sums.tuned_squares / (1 - q) ** 2 + sums.control_squares / q**2
        below, above = (
            empirical_bernstein(squares, reach, (high - low) / q, alpha / 2)
            for reach in self._reach
        )
        middle = sums.tuned_values - sums.control_values
        return (middle - below) / sums.rounds, (middle + above) / sums.rounds

    def _window_alpha(self, place: int) -> float:
        index = self._first_window + place
        return (1.0 - self.confidence) / ((index + 1.0) * (index + 2.0))

    def _uplift(self, sums: Sums, alpha: float) -> Uplift:
        q, rounds = self.holdback, max(sums.rounds, 1)
        sense = 1.0 if self.maximize else -1.0
        known = sums.held_back > 0 and sums.tuned > 0
        control = sums.control_values / rounds if known else nan
        mean = sense * (sums.tuned_values - sums.control_values) / rounds if known else nan
        low, high = sorted(sense * end for end in sums.interval(q, alpha))
        side = sense * copysign(1.0, sums.control_values)
        low_ratio, high_ratio = sorted(side * (y - 1.0) for y in sums.ratios(q, alpha))
        return Uplift(
            mean=mean,
            low=low,
            high=high,
            mean_percent=100.0 * mean / abs(control) if control else nan,
            low_percent=100.0 * low_ratio,
            high_percent=100.0 * high_ratio,
            control_mean=control,
            tuned_rounds=sums.tuned,
            held_back_rounds=sums.held_back,
            confidence=self.confidence,
            maximize=self.maximize,
        )

    def shortfall(self, limit: float) -> Uplift | None:
        """The rounds, all or recent, in which tuning is surely worse than a limit allows.

        Parameters
        ----------
        limit : float
            The share of the control's mean value by which tuned rounds may be worse.

        Returns
        -------
        Uplift or None
            That of the rounds that show it; None if none do.
        """
        alpha = 1.0 - self.confidence
        windows = ((sums, self._window_alpha(i)) for i, sums in enumerate(self._windows))
        for sums, error in ((self._all, alpha), *windows):
            if self._is_short(sums, error, limit):
                return self._uplift(sums, error)
        return None

    def _is_short(self, sums: Sums, alpha: float, limit: float) -> bool:
        """Whether v(tuned) - v(control) is surely below -limit |v(control)|, in the good sense."""
        if sums.first_spread == 0.0:
            return False
        for weight in (1.0 - limit, 1.0 + limit):
            low, high = sums.interval(self.holdback, alpha, weight)
            if (high if self.maximize else -low) >= 0.0:
                return False
        return True

    # --- state ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, as plain JSON values."""
        return {
            "holdback": self.holdback,
            "maximize": self.maximize,
            "value_range": self.value_range and list(self.value_range),
            "confidence": self.confidence,
            "level": finite_or_none(self.level),
            "clipped": self.clipped,
            "offset": [self._offset, self._offsets],
            "reach": list(self._reach),
            "all": asdict(self._all),
            "first_window": self._first_window,
            "windows": [asdict(sums) for sums in self._windows],
        }

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        """An estimate that continues exactly as the one that gave the state would have.

        Parameters
        ----------
        state : dict
            What `state` gave.

        Returns
        -------
        UpliftEstimate
            With the same future.

        Raises
        ------
        StateError
            If the state was altered.
        """
        try:
            found = cls(
                state["holdback"],
                maximize=state["maximize"],
                value_range=state["value_range"],
                confidence=state["confidence"],
            )
            refuse_other_form(
                {**state, "level": None, "value_range": None, "windows": None},
                {**found.state(), "level": None, "value_range": None, "windows": None},
                "an uplift",
            )
            refuse_infinite(state, "an uplift")
            level = number_or_nan(state["level"])
            found.level = inf if isnan(level) else float(level)
            found.clipped = int(state["clipped"])
            found._offset, found._offsets = float(state["offset"][0]), int(state["offset"][1])
            found._reach = [float(each) for each in state["reach"]]
            found._all = Sums(**state["all"])
            found._first_window = int(state["first_window"])
            found._windows = [Sums(**sums) for sums in state["windows"]]
            if not 1 <= len(found._windows) <= 2:
                raise StateError(f"an uplift has one or two windows, got {len(found._windows)}")
        except (KeyError, TypeError, ParameterError) as reason:
            raise StateError(f"the state of an uplift is not whole: {reason}") from reason
        return found


def limited(x: float, low: float, high: float) -> float:
    """The number of the range that is nearest; NaN for NaN."""
    return x if isnan(x) else min(max(x, low), high)
