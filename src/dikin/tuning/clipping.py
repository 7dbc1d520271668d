"""Values of which not all is learnt, as they look like faults."""

from __future__ import annotations

from typing import Any

from dikin.learners.predictive import Predictive


def tell_clipped(learner: Predictive, query: Any, loss: float, curvature: float = 0.0) -> bool:
    """Tell a learner a loss.

    Parameters
    ----------
    learner : Predictive
        What learns.
    query : Query or int
        What is answered.
    loss : float
        In the learner's sense.
    curvature : float, default 0.0
        How strongly convex the loss was.

    Returns
    -------
    bool
        Whether not all of it was learnt: its surprise was clipped or taken for a fault, or it lies
        outside the `loss_range` that was declared.
    """
    before = learner._plan.keep * learner.clipped  # what a memory leaves of the count
    learner.tell(query, loss, curvature)
    return learner.clipped > before
