"""How far the values of either arm lie from the forecast of a tuned round.

A forecast may be off by something that lasts, as a user's own may be: the tuned arm's offset is the
mean of what it was off by. Of the control there are two ideas. One moves with the forecast, as a
season moves both arms; the other stays where it is while tuning moves the forecast. Their mean, by
the inverse of their mean squared errors (Bates and Granger, Operational Research Quarterly 1969),
is close to the better one, whichever that is at the time.
"""

from __future__ import annotations

from dataclasses import dataclass

MEMORY = 50.0
"""Answers of an arm that its offset remembers."""
LONG = 64.0
"""Rounds that the mean of the forecasts remembers."""


@dataclass(slots=True)
class Offsets:
    """The offsets of both arms."""

    tuned: float = 0.0
    """By how much tuned values are above the forecast, on average."""
    tuned_answers: int = 0
    control_answers: int = 0
    moving: float = 0.0
    still: float = 0.0
    """By how much the control is above the forecast, if it moves with it, and if it does not."""
    moving_square: float = 0.0
    still_square: float = 0.0
    """The mean squared errors of these two."""
    mean_forecast: float = 0.0
    """The recent mean of the forecasts."""
    rounds: int = 0
    """The forecasts that it is made of."""

    @property
    def control(self) -> float:
        """Return by how much the control is above the forecast."""
        total = self.moving_square + self.still_square
        if not total > 0.0:
            return self.moving
        return (self.still_square * self.moving + self.moving_square * self.still) / total

    def learn(self, distance: float, held_back: bool, forecast: float) -> None:
        """Take in a round; `distance` is the value less the forecast of it as a tuned round."""
        if held_back:
            self._learn_control(distance)
        else:
            self.tuned_answers += 1
            # As if an offset of zero had been seen once before.
            self.tuned += (distance - self.tuned) / min(self.tuned_answers + 1, MEMORY)
        self.rounds += 1
        if self.rounds == 1:
            self.mean_forecast = forecast
        step = (forecast - self.mean_forecast) / min(self.rounds, LONG)
        self.mean_forecast += step
        self.still -= step

    def _learn_control(self, distance: float) -> None:
        moving, still, before = distance - self.moving, distance - self.still, self.control_answers
        if before > 0:  # at first neither knows anything
            window = min(before, MEMORY)
            self.moving_square += (moving**2 - self.moving_square) / window
            self.still_square += (still**2 - self.still_square) / window
        self.control_answers += 1
        window = min(self.control_answers, MEMORY)
        self.moving += moving / window
        self.still += still / window
