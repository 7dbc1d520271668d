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
    """Estimate the gain of tuned rounds over the control, round by round.

    Each round that a coin decided is added once its value has come. `holdback` is the probability
    of the coin, `value_range` the least and the largest possible value (with it nothing is
    clipped), `confidence` the probability that the truth never leaves the interval. `level` is how
    far from its guess a value counts, and `clipped` the number of rounds beyond it.

    >>> from dikin.worth import is_held_back
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
        """Return the value to expect of the control in the next round, before its coin is known.

        `forecast` is the expected value of a tuned round; NaN gives NaN.
        """
        return in_range(forecast + self._offsets.control, self.value_range)

    def add(self, value: float, held_back: bool, forecast: float, control_guess: float) -> None:
        """Add a round that a coin decided, once its value has come.

        The guesses were made before the coin fell, alike whichever way it fell. The mean error of
        earlier forecasts of tuned rounds is added. If one is NaN, nothing was known, and the round
        is not counted. Raise a `LossError` if the value is not finite, or outside of its range.
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
            for sums in state["windows"]:
                refuse_altered(sums, asdict(Sums()), "an uplift")
            found._windows = [Sums(**sums) for sums in state["windows"]]
            if not 1 <= len(found._windows) <= 2:
                raise StateError(f"an uplift has one or two windows, got {len(found._windows)}")
        return found
