"""The budget: what tuning may cost (conservative bandits: Wu, Shariff, Lattimore, Szepesvári 2016).

An account of the played values is kept against 1 - share of what the control would have earned. Its
entries are right on average, whatever the values are, also in rounds that did not play the control.
Tuned rounds are played only if the account stays at zero or above whatever comes next: so it is
never overdrawn, and neither, on average, is the budget (docs/mathematics.md, 14.4).
"""

from __future__ import annotations

from math import inf, isfinite, isnan, nan
from typing import Any, Self

from dikin.arguments import LARGEST, true_or_false
from dikin.errors import LossError, ParameterError, shown
from dikin.serialization import finite_or_none
from dikin.worth.clipping import declared_range, limited, next_level
from dikin.worth.holdback import limit_share, share_above_zero
from dikin.worth.offsets import MEMORY
from dikin.worth.states import number_or, refuse_altered, whole_state


class Budget:
    """Play tuned rounds only while what they cost stays below a share of the control's earnings.

    Values must not be negative: earnings with `maximize`, else costs. Without a declared range they
    count up to a level from the control's guess, which follows their size; with one, the promise is
    exact: at every time, the mean over the coins of what was played is at least 1 - share of what
    the control would have earned, or at most 1 + share of what it would have cost. Before the first
    tuned round the control is played until the budget covers the worst that one round can show.

    Parameters
    ----------
    share : float
        The budget as a share of what the control earns or costs; 0.05 is usual.
    holdback : float
        The probability of the coin that holds a round back.
    maximize : bool, default False
        Whether large values are good.
    value_range : tuple of float, optional
        The least and the largest possible value, if they are known.

    Attributes
    ----------
    share : float
        As given.
    holdback : float
        As given.
    maximize : bool
        As given.
    value_range : tuple of float or None
        As given.
    account : float
        What is left of the budget; right on average, and never below zero.
    set_aside : float
        The part of it that rounds without an answer may still cost.
    level : float
        How far from the control's guess a value counts.

    Raises
    ------
    ParameterError
        If an argument is unusable.
    """

    def __init__(
        self,
        share: float,
        holdback: float,
        *,
        maximize: bool = False,
        value_range: tuple[float, float] | None = None,
    ) -> None:
        self.share = limit_share(share, "budget")
        self.holdback = share_above_zero(holdback)
        self.maximize = true_or_false(maximize, "maximize")
        self.value_range = declared_range(value_range)
        if self.value_range is not None and self.value_range[0] < 0.0:
            raise ParameterError(
                "a budget is a share of what the control earns or costs, which must not be "
                f"negative, got value_range={shown(value_range)}"
            )
        self.account, self.set_aside, self.level = 0.0, 0.0, inf
        self._mean, self._answers = nan, 0
        """The mean of the control's answers, with a memory; their number."""

    def guess(self, control_guess: float = nan) -> float:
        """The guess of the control's value in a round.

        Parameters
        ----------
        control_guess : float, optional
            A guess that is known; NaN if there is none.

        Returns
        -------
        float
            The same, or in its place the mean of the control's recent answers.
        """
        return self._mean if isnan(control_guess) else control_guess

    def ask(self, control_guess: float = nan) -> float | None:
        """Set aside what the next round may cost, if a coin may decide it.

        Parameters
        ----------
        control_guess : float, optional
            What is expected of the control in that round.

        Returns
        -------
        float or None
            What was set aside, which `add` or `forget` is to be given; None if the round must play
            the control.
        """
        amount = self.reserve(control_guess)
        if not self.account - self.set_aside >= amount:
            return None
        self.set_aside += amount
        return amount

    def forget(self, amount: float | None) -> None:
        """Release what was set aside for a round whose value will not come.

        Parameters
        ----------
        amount : float or None
            What `ask` gave.
        """
        self.set_aside -= amount or 0.0

    def reserve(self, control_guess: float = nan) -> float:
        """By how much the account may fall in the next round if a coin decides it.

        Parameters
        ----------
        control_guess : float, optional
            What is expected of the control in that round.

        Returns
        -------
        float
            The most that it can be; infinite while nothing is known.
        """
        guess = self.guess(control_guess)
        if isnan(guess) or (self.level == inf and self.value_range is None):
            return inf
        ends = self._ends(guess)
        return -min(self._entry(end, held, guess) for end in ends for held in (True, False))

    def _ends(self, guess: float) -> tuple[float, float]:
        """The least and the largest value that counts."""
        if self.value_range is not None:
            return self.value_range
        return guess - self.level, guess + self.level

    def _entry(self, value: float, held_back: bool, guess: float) -> float:
        """What a round that a coin decided adds: played against control, and the budget."""
        control = guess + (value - guess) / self.holdback if held_back else guess
        gain = value - control if self.maximize else control - value
        return gain + self.share * control

    def add(
        self, value: float, held_back: bool, control_guess: float, amount: float | None
    ) -> None:
        """Add a round once its value has come.

        Parameters
        ----------
        value : float
            The value, in the user's sense.
        held_back : bool
            Whether the round played the control.
        control_guess : float
            What was expected of the control, as `ask` was told.
        amount : float or None
            What `ask` gave: None where no coin decided the round, and the control was played.

        Raises
        ------
        LossError
            If the value is negative or not a finite number, or lies outside the declared range.
        """
        self.refuse(value)
        guess = self.guess(control_guess)
        if amount is None:
            self.account += self.share * value
        else:
            self.set_aside -= amount
            self.account += self._entry(limited(value, *self._ends(guess)), held_back, guess)
        if isfinite(guess) and self.value_range is None:
            self.level = next_level(self.level, abs(value - guess))
        if held_back:
            self._answers += 1
            first = self._answers == 1
            step = (value - self._mean) / min(self._answers, MEMORY)
            self._mean = value if first else self._mean + step

    def refuse(self, value: float) -> None:
        """Refuse a value that cannot be counted; nothing is changed.

        Parameters
        ----------
        value : float
            The value, in the user's sense.

        Raises
        ------
        LossError
            If it is negative or not a finite number, or lies outside the declared range.
        """
        if not 0.0 <= value < LARGEST:
            raise LossError(
                "with a budget, a value must be a finite number that is not negative, got "
                f"{shown(value)}. Nothing was changed"
            )
        if self.value_range is not None and not self.value_range[0] <= value <= self.value_range[1]:
            raise LossError(
                f"a value must lie in the declared value_range {self.value_range}, got "
                f"{shown(value)}. Nothing was changed"
            )

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, as plain JSON values."""
        return {
            "share": self.share,
            "holdback": self.holdback,
            "maximize": self.maximize,
            "value_range": self.value_range and list(self.value_range),
            "account": self.account,
            "set_aside": self.set_aside,
            "level": finite_or_none(self.level),
            "mean": finite_or_none(self._mean),
            "answers": self._answers,
        }

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        """A budget that continues exactly as the one that gave the state would have.

        Parameters
        ----------
        state : dict
            What `state` gave.

        Returns
        -------
        Budget
            With the same future.

        Raises
        ------
        StateError
            If the state was altered.
        """
        with whole_state("a budget"):
            found = cls(
                state["share"],
                state["holdback"],
                maximize=state["maximize"],
                value_range=state["value_range"],
            )
            form = {**found.state(), "level": None, "mean": None, "value_range": None}
            refuse_altered(state, form, "a budget")
            found.account, found._answers = float(state["account"]), int(state["answers"])
            found.set_aside = float(state["set_aside"])
            found.level, found._mean = number_or(inf, state["level"]), number_or(nan, state["mean"])
        return found
