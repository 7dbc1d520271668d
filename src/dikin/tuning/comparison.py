"""Tuned rounds against the control: who plays it, what is known of the gain, and when to stop.

A coin that depends on nothing but the tuner's key and the trial's id holds some rounds back: they
play the control. What is expected of either arm is fixed before the coin falls, and kept with the
open trial. Rounds that no coin decided, on hold or without a budget, are no part of the comparison.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import nan
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.errors import ParameterError, StateError, shown
from dikin.serialization import finite_or_none, number_or_nan
from dikin.vectors import Array
from dikin.worth.budget import Budget
from dikin.worth.clipping import in_range
from dikin.worth.estimate import UpliftEstimate
from dikin.worth.guard import Guard
from dikin.worth.holdback import holdback_share, is_held_back
from dikin.worth.uplift import Uplift


class Draw(NamedTuple):
    """What was fixed of a trial when it was asked, besides what a tuned round is expected to be."""

    held_back: bool
    """Whether it plays the control."""
    by_coin: bool
    """Whether a coin decided that."""
    control: float
    """What is expected of the control; NaN if nothing is known."""
    amount: float | None
    """What the budget set aside; None if there is none, or no coin decided."""


class Comparison:
    """The comparison of a tuner with its control.

    Parameters
    ----------
    holdback : float
        The share of rounds that are held back, above 0.
    control : Array
        The values that they play.
    guard, budget : float or None
        The limits of `Guard` and `Budget`.
    maximize : bool
        Whether large values are good.
    value_range : tuple of float, optional
        The least and the largest possible value, if they are declared. A value outside is a fault,
        and counts as the nearer end.

    Attributes
    ----------
    holdback : float
        As given.
    control : Array
        As given.
    estimate : UpliftEstimate
        Of the gain.
    guard : Guard or None
        What stops harm.
    budget : Budget or None
        What limits the cost.
    draws : dict
        Of the open trials, by id.
    """

    def __init__(
        self,
        holdback: float,
        control: Array,
        guard: float | None,
        budget: float | None,
        maximize: bool,
        value_range: tuple[float, float] | None = None,
    ) -> None:
        self.holdback, self.control = holdback, control
        known: dict[str, Any] = {"maximize": maximize, "value_range": value_range}
        self.estimate = UpliftEstimate(holdback, **known)
        self.guard = None if guard is None else Guard(guard, holdback, **known)
        self.budget = None if budget is None else Budget(budget, holdback, **known)
        self.draws: dict[int, Draw] = {}

    @property
    def reason(self) -> str | None:
        """Why the guard holds; None if it does not."""
        return None if self.guard is None else self.guard.reason

    # --- rounds --------------------------------------------------------------------------------

    def draw(self, key: str, id: int, expected: float, held: bool) -> Draw | None:
        """Decide which arm a trial plays, and keep that.

        Parameters
        ----------
        key : str
            Of the tuner, for the coin.
        id : int
            The trial.
        expected : float
            What is expected of a tuned round.
        held : bool
            Whether the tuner is on hold.

        Returns
        -------
        Draw or None
            None if it plays neither arm: a person put the tuner on hold at its best setting.
        """
        if held and self.reason is None:
            return None
        control = self.estimate.control_guess(expected)
        if self.budget is not None:
            control = self.budget.guess(control)
        draw = self._decided(key, id, control)
        self.draws[id] = draw
        return draw

    def _decided(self, key: str, id: int, control: float) -> Draw:
        without_coin = Draw(True, False, control, None)
        if self.reason is not None:
            return without_coin
        amount = None
        if self.budget is not None:
            amount = self.budget.ask(control)
            if amount is None:
                return without_coin
        return Draw(is_held_back(key, id, self.holdback), True, control, amount)

    def refuse(self, value: float) -> None:
        """Refuse a value that a budget cannot count.

        Parameters
        ----------
        value : float
            In the user's sense.

        Raises
        ------
        LossError
            If there is a budget and it is negative.
        """
        if self.budget is not None:
            self.budget.refuse(in_range(value, self.estimate.value_range))

    def add(self, id: int, value: float, expected: float) -> bool:
        """Count the value of a trial.

        Parameters
        ----------
        id : int
            The trial.
        value : float
            In the user's sense; not refused before.
        expected : float
            What was expected of it as a tuned round, when it was asked.

        Returns
        -------
        bool
            Whether the guard holds now and did not before.
        """
        draw, before = self.draws.pop(id, None), self.reason
        if draw is None:
            return False
        value = in_range(value, self.estimate.value_range)
        if self.budget is not None:
            self.budget.add(value, draw.held_back, draw.control, draw.amount)
        if draw.by_coin:
            self.estimate.add(value, draw.held_back, expected, draw.control)
            if self.guard is not None:
                self.guard.add(value, draw.held_back, expected, draw.control)
        return before is None and self.reason is not None

    def forget(self, open_ids: Iterable[int]) -> None:
        """Give up the trials that are not open any more.

        Parameters
        ----------
        open_ids : iterable of int
            Those that are.
        """
        for id in self.draws.keys() - set(open_ids):
            draw = self.draws.pop(id)
            if self.budget is not None:
                self.budget.forget(draw.amount)

    def resume(self) -> None:
        """Let the guard begin again."""
        if self.guard is not None and self.guard.holds:
            self.guard.resume()

    # --- what is known -------------------------------------------------------------------------

    @property
    def uplift(self) -> Uplift:
        """The gain over all rounds."""
        return self.estimate.uplift()

    @property
    def recent_uplift(self) -> Uplift:
        """The gain over the recent rounds."""
        return self.estimate.recent()

    @property
    def exact_uplift(self) -> Uplift | None:
        """The gain with its exact interval; None where no range of values is declared."""
        return None if self.estimate.value_range is None else self.estimate.exact()

    def standing(self) -> dict[str, Any]:
        """The parts of a status that it knows."""
        return {
            "holdback": self.holdback,
            "uplift": self.uplift,
            "guard": None if self.guard is None else self.guard.limit,
            "guard_reason": self.reason,
        }

    def notes(self, id: int) -> dict[str, Any]:
        """What a journal notes of an open trial.

        Parameters
        ----------
        id : int
            The trial.

        Returns
        -------
        dict
            JSON values by name.
        """
        draw = self.draws.get(id)
        held_back = draw is not None and draw.held_back
        return {"held_back": held_back, "expected_control": finite_or_none(guess_in(draw))}

    def arguments(self, columns: tuple[str, ...]) -> dict[str, Any]:
        """What it was made with, as JSON values.

        Parameters
        ----------
        columns : tuple of str
            A name for each value of the control.

        Returns
        -------
        dict
            By name.
        """
        return {
            "holdback": self.holdback,
            "control": dict(zip(columns, self.control.tolist(), strict=True)),
            "guard": None if self.guard is None else self.guard.limit,
            "budget": None if self.budget is None else self.budget.share,
        }

    # --- state ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, as plain JSON values."""
        return {
            "control": self.control.tolist(),
            "estimate": self.estimate.state(),
            "guard": self.guard and self.guard.state(),
            "budget": self.budget and self.budget.state(),
            "draws": [
                [id, draw.held_back, draw.by_coin, finite_or_none(draw.control), draw.amount]
                for id, draw in self.draws.items()
            ],
        }

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        """The comparison that gave the state.

        Parameters
        ----------
        state : dict
            What `state` gave.

        Returns
        -------
        Comparison
            With the same future.

        Raises
        ------
        StateError
            If the state was altered.
        """
        estimate = UpliftEstimate.restore(state["estimate"])
        control = np.array(state["control"], dtype=float)
        if not np.isfinite(control).all():
            raise StateError(f"the control of a state cannot be {shown(state['control'])}")
        found = cls(estimate.holdback, control, None, None, estimate.maximize)
        found.estimate = estimate
        found.guard = state["guard"] and Guard.restore(state["guard"])
        found.budget = state["budget"] and Budget.restore(state["budget"])
        for id, held_back, by_coin, expected, amount in state["draws"]:
            reserved = None if amount is None else float(amount)
            found.draws[int(id)] = Draw(
                bool(held_back), bool(by_coin), number_or_nan(expected), reserved
            )
        return found


def guess_in(draw: Draw | None) -> float:
    """What was expected of the control in a round of the comparison; NaN if it is no part of it.

    Parameters
    ----------
    draw : Draw or None
        Of a trial.

    Returns
    -------
    float
        The guess.
    """
    return draw.control if draw is not None and draw.by_coin else nan


def checked_holdback(holdback: Any, control: Any, guard: Any, budget: Any) -> float:
    """The share of rounds to hold back; the other arguments need one above 0.

    Parameters
    ----------
    holdback, control, guard, budget
        As the tuner was given them.

    Returns
    -------
    float
        The share.

    Raises
    ------
    ParameterError
        If it is not one, or is 0 and another argument needs it.
    """
    share = holdback_share(holdback)
    if share == 0.0:
        for name, given in (("control", control), ("guard", guard), ("budget", budget)):
            if given is not None:
                raise ParameterError(
                    f"{name}={shown(given)} needs a holdback above 0: without rounds that play "
                    "the control there is nothing to compare with. Choose a share such as "
                    "holdback=0.05"
                )
    return share
