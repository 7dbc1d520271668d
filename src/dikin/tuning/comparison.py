"""Tuned rounds against the control: which rounds use it, the gain over it, and when to stop.

A coin that depends on nothing but the tuner's key and the trial's id holds some rounds back: they
use the control. What is expected of either arm is fixed before the coin falls, and kept with the
open trial. Rounds that no coin decided, on hold or under a guard, are no part of the comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import nan
from typing import Any, NamedTuple

import numpy as np

from dikin.errors import ParameterError, StateError, shown
from dikin.serialization import count_of, finite_or_none, number_or_nan
from dikin.vectors import Array
from dikin.worth.estimate import UpliftEstimate, in_range
from dikin.worth.holdback import holdback_share, is_held_back, lost_answers
from dikin.worth.uplift import Uplift

LATE = 50
"""Trials that are answered before an open trial counts as one without a value."""


class Draw(NamedTuple):
    """The arm of a trial, and the value expected of the control, fixed when it was asked."""

    held_back: bool
    """True if it uses the control."""
    by_coin: bool
    """True if a coin decided that."""
    control: float
    """The value that is expected of the control; NaN if nothing is known."""


class Comparison:
    """The comparison of a tuner with its control, the values of a setting as numbers."""

    def __init__(
        self,
        holdback: float,
        control: Array,
        guard: float | None,
        maximize: bool,
        value_range: tuple[float, float] | None = None,
    ) -> None:
        self.control = control
        self.estimate = UpliftEstimate(
            holdback, maximize=maximize, value_range=value_range, guard=guard
        )
        self.draws: dict[int, Draw] = {}
        """Those of the open trials, by id."""
        self.missing = [0, 0]
        """Trials without a value, tuned and held back: failed, forgotten or overtaken."""
        self._waited = 0
        """The id below which every open trial counts as one without a value."""
        self.lost: str | None = None
        """A warning where the values of one arm are missing."""

    @property
    def holdback(self) -> float:
        """The share of rounds that are held back, above 0."""
        return self.estimate.holdback

    @property
    def reason(self) -> str | None:
        """The reason why the guard holds; None if it does not."""
        return self.estimate.reason

    # --- rounds --------------------------------------------------------------------------------

    def draw(self, key: str, id: int, control: float, held: bool, number: int) -> Draw | None:
        """Decide which arm a trial uses, and keep that; None on hold by a person, in neither arm.

        `control` is the value that is expected of the control, `number` that of the draw.
        """
        if held and self.reason is None:
            return None
        by_coin = self.reason is None
        held_back = not by_coin or is_held_back(key, number, self.holdback)
        self.draws[id] = draw = Draw(held_back, by_coin, control)
        return draw

    def add(self, id: int, value: float, expected: float) -> bool:
        """Count the value of a trial; returns whether the guard holds now and did not before."""
        draw, before = self.draws.get(id), self.reason
        self.close(id, failed=False)
        if draw is None or not draw.by_coin:
            return False
        value = in_range(value, self.estimate.value_range)
        self.estimate.add(value, draw.held_back, expected, draw.control)
        return before is None and self.reason is not None

    def close(self, id: int, *, failed: bool = True) -> None:
        """Count a trial that gets no value, and those that have been open for too long."""
        draw, first, end = self.draws.pop(id, None), self._waited, id - LATE
        if draw is not None and failed and id >= first:
            self._miss(draw)
        if end > first:
            few = end - first <= len(self.draws)
            for late in range(first, end) if few else [*self.draws]:
                if first <= late < end and late in self.draws:
                    self._miss(self.draws[late])
            self._waited = end

    def _miss(self, draw: Draw) -> None:
        if draw.by_coin:
            self.missing[draw.held_back] += 1
            self.lost = lost_answers(self.holdback, *self.missing)

    def forget(self, open_ids: Iterable[int]) -> None:
        """Give up the trials that are not open any more."""
        for id in sorted(self.draws.keys() - set(open_ids)):
            self.close(id)

    def resume(self) -> None:
        """Let the guard begin again if it holds."""
        if self.reason is not None:
            self.estimate.resume()

    def fact(self, id: int) -> dict[str, Any]:
        """Return what the answer of an open trial needs, as JSON values."""
        draw = self.draws.get(id)
        if draw is None:
            return {"by_coin": None, "control": None}
        return {"by_coin": draw.by_coin, "control": finite_or_none(draw.control)}

    def open_fact(self, id: int, fact: Mapping[str, Any]) -> None:
        """Keep what `fact` gave for a trial."""
        if fact["by_coin"] is not None:
            control = number_or_nan(fact["control"])
            self.draws[id] = Draw(bool(fact["held_back"]), bool(fact["by_coin"]), control)

    # --- what is known -------------------------------------------------------------------------

    def uplift(self) -> Uplift:
        """Return the gain of a tuned trial over the control."""
        return self.estimate.uplift(self.lost)

    def warnings(self) -> dict[str, str]:
        """Return what speaks against the comparison, each with a name that stays."""
        found = {}
        if self.reason is not None:
            found["guard"] = f"The guard holds. {self.reason}"
        doubt = self.estimate.guard_doubt()
        if doubt is not None:
            found["guard cannot know"] = f"The guard cannot know whether tuning does harm: {doubt}."
        if self.lost is not None:
            found["lost"] = f"Uplift and guard cannot be trusted: {self.lost}."
        return found

    def standing(self) -> dict[str, Any]:
        """Return the parts of a status that it knows."""
        return {
            "holdback": self.holdback,
            "uplift": self.uplift(),
            "guard": self.estimate.limit,
            "guard_reason": self.reason,
        }

    # --- state ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return everything that the future depends on, as plain JSON values."""
        return {
            "control": self.control.tolist(),
            "estimate": self.estimate.state(),
            "missing": [*self.missing, self._waited],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what `state` gave."""
        self.estimate = UpliftEstimate.restore(state["estimate"])
        control = np.array(state["control"], dtype=float)
        if control.shape != self.control.shape or not np.isfinite(control).all():
            raise StateError(f"the control of a state cannot be {shown(state['control'])}")
        self.control = control
        *self.missing, self._waited = map(count_of, state["missing"])
        self.lost = lost_answers(self.holdback, *self.missing)


def guess_in(draw: Draw | None) -> float:
    """Return the value expected of the control; NaN where a round is no part of the comparison."""
    return draw.control if draw is not None and draw.by_coin else nan


def checked_holdback(holdback: Any, control: Any, guard: Any) -> float:
    """Return the share of rounds to hold back; the other arguments need one above 0."""
    share = holdback_share(holdback)
    if share == 0.0:
        for name, given in (("control", control), ("guard", guard)):
            if given is not None:
                raise ParameterError(
                    f"{name}={shown(given)} needs a holdback above 0: without rounds that use the "
                    "control there is nothing to compare with. Choose a share such as holdback=0.05"
                )
    return share
