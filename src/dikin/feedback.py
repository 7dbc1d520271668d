"""What a learner is told about a round: a declared type, so that a mismatch is an error.

A learner that sees more than one value of a loss plays another game; it must declare this
(`feedback`), and the environment it plays against must offer as much (`offers`).
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

from dikin.errors import FeedbackError, shown


class Feedback(Enum):
    """What a learner is told about a round; the value of a member is its description.

    Attributes
    ----------
    VALUE
        One number, the loss at the played point: the bandit problem proper.
    PAIR
        The losses at two points; the round costs their mean.
    GRADIENT
        The loss at the played point, and its gradient there.
    CONTEXT
        The loss at the played point; it is a function of z.x, where z was known before.
    """

    VALUE = "loss, the loss at the point"
    PAIR = "(loss, loss), the losses at the two points"
    GRADIENT = "(loss, gradient), the loss at the point and its gradient there"
    CONTEXT = "loss, the loss at the point, after a context was given to ask(context)"

    def parts(self, name: str, answer: Any) -> tuple[Any, Any]:
        """Return the two parts of an answer to a learner of this name, or raise an error."""
        row = isinstance(answer, np.ndarray) and answer.ndim > 0
        parts = tuple(answer) if row or isinstance(answer, tuple | list) else ()
        if len(parts) != 2:
            raise FeedbackError(
                f"{name} must be told {self.value}; got {shown(answer)}. Nothing was changed."
            )
        return parts[0], parts[1]

    def losses(self, answer: Any) -> tuple[Any, ...]:
        """Return the losses in an answer."""
        if self is Feedback.PAIR:
            return tuple(answer)
        return (answer[0],) if self is Feedback.GRADIENT else (answer,)
