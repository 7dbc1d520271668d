"""What a learner drew, for a text that is to draw the same."""

from typing import Any

from dikin.domains.base import Array


class Tap:
    """The noise of a learner; the last vector drawn stays to be seen."""

    def __init__(self, noise: Any) -> None:
        self.noise = noise

    def draw(self) -> Array:
        self.last: Array = self.noise.draw().copy()
        return self.last.copy()


def tapped(learner: Any) -> Tap:
    """The tap, put into the learner."""
    tap = Tap(learner._noise)
    vars(learner)["_noise"] = tap
    return tap
