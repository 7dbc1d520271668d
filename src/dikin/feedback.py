"""Kinds of answers: a learner declares its kind, and an environment those that it offers."""

from __future__ import annotations

from enum import Enum


class Feedback(Enum):
    """Answer of a round to a learner. The value of a member is its description.

    Attributes
    ----------
    VALUE
        The loss at the played point: the bandit problem proper.
    PAIR
        The losses at two points. The round costs their mean.
    GRADIENT
        The loss at the played point, and its gradient there.
    CONTEXT
        The loss at the played point. It is a function of z.x, where z was known before.
    """

    VALUE = "loss, the loss at the point"
    PAIR = "(loss, loss), the losses at the two points"
    GRADIENT = "(loss, gradient), the loss at the point and its gradient there"
    CONTEXT = "loss, the loss at the point, after a context was given to ask(context)"
