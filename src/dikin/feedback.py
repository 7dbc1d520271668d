"""What a learner is told of a round: a declared type, so that a mismatch is an error.

A learner that sees more than one value of a loss plays another game; it must say so (`feedback`),
and the world it plays against must offer as much (`offers`).
"""

from __future__ import annotations

from enum import Enum


class Feedback(Enum):
    """One kind of answer; the value says what to tell."""

    VALUE = "loss, the loss at the point"
    PAIR = "(loss, loss), the losses at the two points"
    GRADIENT = "(loss, gradient), the loss at the point and its gradient there"
    CONTEXT = "loss, the loss at the point, after a context was given to ask(context)"
