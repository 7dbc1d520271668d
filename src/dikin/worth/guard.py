"""When to stop: a guard against tuning that does harm, and a budget for what it may cost.

The *guard* holds as soon as it is sure that tuned rounds are worse than the control by more than a
limit, over all rounds or over recent ones. One that does no harm is held with a probability of 5 %
at most, over all times together: 2.5 % for either interval, which has two sides.

The *budget* (conservative bandits: Wu, Shariff, Lattimore, Szepesvári, ICML 2016) keeps an account
of the played values against 1 - share of what the control would have earned. Its entries are right
on average, whatever the values are, also in rounds that did not play the control. Tuned rounds are
played only if the account stays at zero or above whatever comes next: so it is never overdrawn, and
neither, on average, is the budget (docs/mathematics.md, 14.4).
"""

from __future__ import annotations

from math import inf, isfinite, isnan, nan
from typing import Any, Self

from dikin.arguments import LARGEST, number, true_or_false
from dikin.errors import LossError, ParameterError, StateError, shown
from dikin.serialization import finite_or_none, refuse_infinite, refuse_other_form
from dikin.units import checked_range
from dikin.worth.holdback import holdback_share
from dikin.worth.uplift import MEMORY, Uplift, UpliftEstimate, limited, next_level


def limit_share(value: Any, name: str) -> float:
    """A share of what the control earns, checked.

    Parameters
    ----------
    value : float
        Above 0 and below 1.
    name : str
        The name of the argument, for the message.

    Returns
    -------
    float
        The share.

    Raises
    ------
    ParameterError
        If it is not such a number.
    """
    share = number(value, name)
    if not 0.0 < share < 1.0:
        hint = f". If you mean {share:g} %, write {share / 100:g}" if 1 <= share < 100 else ""
        raise ParameterError(
            f"{name} must be a share of what the control earns, above 0 and below 1, got "
            f"{shown(value)}{hint}"
        )
    return share


class Guard:
    """Hold at the control as soon as tuned rounds are surely worse than a limit allows.

    Parameters
    ----------
    limit : float
        The share of the control's mean value by which tuned rounds may be worse; 0.02 is usual.
    holdback : float
        The probability of the coin that holds a round back.
    maximize : bool, default False
        Whether large values are good.
    value_range : tuple of float, optional
        The least and the largest possible value, if they are known: nothing is clipped then.

    Attributes
    ----------
    limit : float
        As given.
    reason : str or None
        Why it holds, as a sentence; None while it does not.
    shown_by : Uplift or None
        The uplift that decided it.

    Raises
    ------
    ParameterError
        If an argument is unusable.
    """

    def __init__(
        self,
        limit: float,
        holdback: float,
        *,
        maximize: bool = False,
        value_range: tuple[float, float] | None = None,
    ) -> None:
        self.limit = limit_share(limit, "guard")
        self._estimate = UpliftEstimate(holdback, maximize=maximize, value_range=value_range)
        self.shown_by: Uplift | None = None
        self.reason: str | None = None

    @property
    def holds(self) -> bool:
        """Whether the control is to be played."""
        return self.reason is not None

    def add(self, value: float, held_back: bool, guess_tuned: float, guess_control: float) -> None:
        """Add a round that a coin decided; see `UpliftEstimate.add`.

        Parameters
        ----------
        value, held_back, guess_tuned, guess_control
            As for `UpliftEstimate.add`.
        """
        self._estimate.add(value, held_back, guess_tuned, guess_control)
        if self.reason is None:
            self.shown_by = self._estimate.shortfall(self.limit)
            if self.shown_by is not None:
                self.reason = self._sentence(self.shown_by)

    def _sentence(self, found: Uplift) -> str:
        least, most = -found.high_percent, -found.low_percent
        size = f", by {least:.3g} % to {most:.3g} %," if isfinite(most - least) else ""
        return (
            f"Over {found.rounds:,} rounds, {found.held_back_rounds:,} of them held back, tuned "
            f"rounds were worse than the control{size} and surely by more than "
            f"{100 * self.limit:g} %: the control is played until somebody resumes."
        )

    def resume(self) -> None:
        """Tune again: what was seen before counts no more."""
        old = self._estimate
        self._estimate = UpliftEstimate(
            old.holdback, maximize=old.maximize, value_range=old.value_range
        )
        self.reason = self.shown_by = None

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, as plain JSON values."""
        shown_by = None if self.shown_by is None else self.shown_by.to_json()
        return {
            "limit": self.limit,
            "reason": self.reason,
            "shown_by": shown_by,
            "estimate": self._estimate.state(),
        }

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        """A guard that continues exactly as the one that gave the state would have.

        Parameters
        ----------
        state : dict
            What `state` gave.

        Returns
        -------
        Guard
            With the same future.

        Raises
        ------
        StateError
            If the state was altered.
        """
        try:
            estimate = UpliftEstimate.restore(state["estimate"])
            found = cls(state["limit"], estimate.holdback)
            found._estimate = estimate
            if state["reason"] is not None:
                found.reason = str(state["reason"])
                found.shown_by = Uplift.from_json(state["shown_by"])
        except (KeyError, TypeError, ParameterError) as reason:
            raise StateError(f"the state of a guard is not whole: {reason}") from reason
        return found


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
        self.holdback = holdback_share(holdback)
        if self.holdback == 0.0:
            raise ParameterError(
                "a budget needs a holdback above 0: without rounds that play the control nobody "
                "knows what it would have earned. Choose a share such as 0.05"
            )
        self.maximize = true_or_false(maximize, "maximize")
        self.value_range = (
            value_range if value_range is None else checked_range(value_range, "value")
        )
        if self.value_range is not None and self.value_range[0] < 0.0:
            raise ParameterError(
                "a budget is a share of what the control earns or costs, which must not be "
                f"negative, got value_range={shown(value_range)}"
            )
        self.account, self.set_aside, self.level = 0.0, 0.0, inf
        self._mean, self._answers = nan, 0
        """The mean of the control's answers, with a memory; their number."""

    def guess(self, guess_control: float = nan) -> float:
        """The guess of the control's value in a round.

        Parameters
        ----------
        guess_control : float, optional
            A guess that is known; NaN if there is none.

        Returns
        -------
        float
            The same, or in its place the mean of the control's recent answers.
        """
        return self._mean if isnan(guess_control) else guess_control

    def ask(self, guess_control: float = nan) -> float | None:
        """Set aside what the next round may cost, if a coin may decide it.

        Parameters
        ----------
        guess_control : float, optional
            What is expected of the control in that round.

        Returns
        -------
        float or None
            What was set aside, which `add` or `forget` is to be given; None if the round must play
            the control.
        """
        amount = self.reserve(guess_control)
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

    def reserve(self, guess_control: float = nan) -> float:
        """By how much the account may fall in the next round if a coin decides it.

        Parameters
        ----------
        guess_control : float, optional
            What is expected of the control in that round.

        Returns
        -------
        float
            The most that it can be; infinite while nothing is known.
        """
        guess = self.guess(guess_control)
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
        self, value: float, held_back: bool, guess_control: float, amount: float | None
    ) -> None:
        """Add a round once its value has come.

        Parameters
        ----------
        value : float
            The value, in the user's sense.
        held_back : bool
            Whether the round played the control.
        guess_control : float
            What was expected of the control, as `ask` was told.
        amount : float or None
            What `ask` gave: None where no coin decided the round, and the control was played.

        Raises
        ------
        LossError
            If the value is negative or not a finite number, or lies outside the declared range.
        """
        self.refuse(value)
        guess = self.guess(guess_control)
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
        try:
            found = cls(
                state["share"],
                state["holdback"],
                maximize=state["maximize"],
                value_range=state["value_range"],
            )
            refuse_other_form(
                state,
                {**found.state(), "level": None, "mean": None, "value_range": None},
                "a budget",
            )
            refuse_infinite(state, "a budget")
            found.account, found._answers = float(state["account"]), int(state["answers"])
            found.set_aside = float(state["set_aside"])
            found.level = inf if state["level"] is None else float(state["level"])
            found._mean = nan if state["mean"] is None else float(state["mean"])
        except (KeyError, TypeError, ParameterError) as reason:
            raise StateError(f"the state of a budget is not whole: {reason}") from reason
        return found
