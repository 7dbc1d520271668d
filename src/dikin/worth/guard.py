"""The guard: stop tuning that does harm.

It holds as soon as it is sure that tuned rounds are worse than the control by more than a limit,
over all rounds or over recent ones. Tuning that does no harm is held with a probability of 5 % at
most, over all times together: 2.5 % for either interval, which has two sides.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, Self

from dikin.worth.estimate import UpliftEstimate
from dikin.worth.holdback import limit_share
from dikin.worth.states import whole_state
from dikin.worth.uplift import Uplift


class Guard:
    """Hold at the control as soon as tuned rounds are surely worse than a limit allows.

    `limit` is the share of the control's mean value by which tuned rounds may be worse; `reason` is
    a sentence while it holds, and None while it does not.
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
        self.reason: str | None = None

    @property
    def holds(self) -> bool:
        """Return whether every round is to use the control."""
        return self.reason is not None

    def add(self, value: float, held_back: bool, forecast: float, control_guess: float) -> None:
        """Add a round that a coin decided, as `UpliftEstimate.add`."""
        self._estimate.add(value, held_back, forecast, control_guess)
        if self.reason is None:
            found = self._estimate.shortfall(self.limit)
            if found is not None:
                self.reason = self._sentence(found)

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
        self.reason = None

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, as plain JSON values."""
        return {
            "limit": self.limit,
            "reason": self.reason,
            "estimate": self._estimate.state(),
        }

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        """The guard that gave the state."""
        with whole_state("a guard"):
            estimate = UpliftEstimate.restore(state["estimate"])
            found = cls(state["limit"], estimate.holdback)
            found._estimate = estimate
            if state["reason"] is not None:
                found.reason = str(state["reason"])
        return found
