"""Estimate the uplift while it is played, with an interval for any time.

A coin plays the control with probability q; otherwise the round is tuned. With guesses m1 and m0 of
the value in either arm that know nothing of the round's coin, and r the value minus the guess of
its arm, clipped at a level c that was known before too,

    m1 + r/(1 - q) if tuned, else m1        and        m0 + r/q if held back, else m0

have the means v(tuned) and v(control), whatever drifts, however bad the guesses are. Their
difference is the estimate of the round's gain (augmented inverse probability weighting); the
estimand at a time is the mean of the true gains of the rounds so far, in which a value counts up to
c from its guess.

`sums` has the interval, `offsets` the guesses, `clipping` the level (docs/mathematics.md, 14).
Where the values lie in a declared range nothing is clipped.
"""

from __future__ import annotations

from dataclasses import asdict
from math import ceil, copysign, inf, isnan, nan
from typing import Any, Self

from dikin.arguments import LARGEST, number, true_or_false
from dikin.errors import LossError, ParameterError, StateError, shown
from dikin.serialization import finite_or_none
from dikin.worth.clipping import declared_range, in_range, limited, next_level
from dikin.worth.holdback import share_above_zero
from dikin.worth.offsets import Offsets
from dikin.worth.states import number_or, refuse_altered, whole_state
from dikin.worth.sums import Sums
from dikin.worth.uplift import Uplift

RECENT = 50
"""Control answers that are expected in a window of recent rounds."""


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
        The least and the largest possible value. With it nothing is clipped.
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
    ...     estimate.add(value, held_back, 107.0, estimate.control_guess(107.0))
    >>> print(estimate.uplift())
    +3.7 % a round (95 %: +2.6 to +4.9, valid at any time), 1,737 earned so far
    """

    def __init__(
        self,
        holdback: float,
        *,
        maximize: bool = False,
        value_range: tuple[float, float] | None = None,
        confidence: float = 0.95,
    ) -> None:
        self.holdback = share_above_zero(holdback)
        self.maximize = true_or_false(maximize, "maximize")
        self.value_range = declared_range(value_range)
        self.confidence = number(confidence, "confidence")
        if not 0.0 < self.confidence < 1.0:
            raise ParameterError(
                f"confidence must be between 0 and 1, such as 0.95, got {shown(confidence)}"
            )
        self.level, self.clipped = inf, 0
        self._window = ceil(RECENT / self.holdback)
        self._offsets = Offsets()
        self._all = Sums()
        self._windows = [Sums()]
        """Those of recent rounds, for the guard; a new one begins every `window` rounds."""
        self._first_window = 0
        """The number of the first of them."""

    # --- rounds --------------------------------------------------------------------------------

    def control_guess(self, forecast: float) -> float:
        """What to expect of the control in the next round: ask before its coin is known.

        Parameters
        ----------
        forecast : float
            The expected value of a tuned round; NaN if nothing is known.

        Returns
        -------
        float
            The guess; NaN if nothing is known.
        """
        return in_range(forecast + self._offsets.control, self.value_range)

    def add(self, value: float, held_back: bool, forecast: float, control_guess: float) -> None:
        """Add a round that a coin decided, once its value has come.

        Parameters
        ----------
        value : float
            The value, in the user's sense.
        held_back : bool
            Whether the round played the control.
        forecast, control_guess : float
            What was expected of a tuned round and of the control, before the coin fell, of the two
            alike whichever way it fell. What tuned rounds were off by before is added to the
            forecast. If one is NaN, the round is not counted: nothing was known.

        Raises
        ------
        LossError
            If the value is not a finite number, or lies outside the declared range.
        """
        self._refuse(value)
        if isnan(forecast) or isnan(control_guess):
            return
        guesses = in_range(forecast + self._offsets.tuned, self.value_range), control_guess
        guess = control_guess if held_back else guesses[0]
        residual = value - guess
        clipped = limited(residual, -self.level, self.level)
        self.clipped += clipped != residual
        for sums in (self._all, *self._windows):
            sums.add(clipped, held_back, guesses, self.holdback)
        self._turn_windows()
        if self.value_range is None:
            self.level = next_level(self.level, abs(residual))
        self._offsets.learn(guess + clipped - forecast, held_back, forecast)

    def _refuse(self, value: float) -> None:
        if not abs(value) < LARGEST:
            raise LossError(
                f"a value must be a finite number below {LARGEST:g}, got {shown(value)}. Nothing "
                "was changed"
            )
        if self.value_range is not None and not self.value_range[0] <= value <= self.value_range[1]:
            raise LossError(
                f"a value must lie in the declared value_range {self.value_range}, got "
                f"{shown(value)}. Nothing was changed"
            )

    def _turn_windows(self) -> None:
        """Begin a window, and end the one that has grown to twice its length."""
        if self._all.rounds % self._window == 0:
            self._windows.append(Sums())
            if len(self._windows) > 2:
                del self._windows[0]
                self._first_window += 1

    @property
    def answers(self) -> tuple[int, int]:
        """The answers of tuned rounds and of those held back."""
        return self._all.tuned, self._all.held_back

    # --- what is known -------------------------------------------------------------------------

    def uplift(self) -> Uplift:
        """The gain over all rounds."""
        return self._uplift(self._all, 1.0 - self.confidence)

    def _window_alpha(self, place: int) -> float:
        """The chance that the interval of a window fails.

        The window with number j = 0, 1, ... may fail with a probability of 1/((j + 1)(j + 2)) of
        the whole, so that the intervals of all windows together are valid at any time.
        """
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
        """The rounds, all or recent, in which tuning is surely worse than a limit allows, or None.

        `limit` is the share of the control's mean value by which tuned rounds may be worse.
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
            "offsets": asdict(self._offsets),
            "all": asdict(self._all),
            "first_window": self._first_window,
            "windows": [asdict(sums) for sums in self._windows],
        }

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        """The estimate that gave the state."""
        with whole_state("an uplift"):
            found = cls(
                state["holdback"],
                maximize=state["maximize"],
                value_range=state["value_range"],
                confidence=state["confidence"],
            )
            form = {**found.state(), "level": None, "value_range": None, "windows": None}
            refuse_altered(state, form, "an uplift")
            found.level = number_or(inf, state["level"])
            found.clipped = int(state["clipped"])
            found._offsets = Offsets(**state["offsets"])
            found._all = Sums(**state["all"])
            found._first_window = int(state["first_window"])
            found._windows = [Sums(**sums) for sums in state["windows"]]
            if not 1 <= len(found._windows) <= 2:
                raise StateError(f"an uplift has one or two windows, got {len(found._windows)}")
        return found
