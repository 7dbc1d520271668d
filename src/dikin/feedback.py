"""What a learner is told about a round: a declared type, so that a mismatch is an error.

A learner that sees more than one value of a loss plays another game; it must declare this
(`feedback`), and the environment it plays against must offer as much (`offers`).
"""

from __future__ import annotations

from enum import Enum


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
