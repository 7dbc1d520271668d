"""Values of which not all is learnt, as they look like faults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dikin.learners.predictive import Predictive


def tell_clipped(learner: Predictive, tell: Callable[..., None], *answer: Any) -> bool:
    """Tell an answer, and say whether not all of it was learnt.

    Parameters
    ----------
    learner : Predictive
        What learns.
    tell : callable
        Its `tell`, or that of the tuner around it.
    *answer
        What is told: the query, the number and perhaps a curvature.

    Returns
    -------
    bool
        Whether its surprise was clipped or taken for a fault, or it lies outside the range that
        was declared.
    """
    before = learner._plan.certified[0] * learner.clipped  # what a memory leaves of the count
    tell(*answer)
    return learner.clipped > before
