"""Whether a learner is still in the process that made it.

A forked child has its parent's learners, generators and all: both would play the same directions.
"""

from __future__ import annotations

import os
import warnings

from dikin.errors import ForkWarning

process = object()
"""Stands for this process; another object in every forked child."""


def _begin() -> None:
    global process
    process = object()


if hasattr(os, "register_at_fork"):  # there are no forks where there is none
    os.register_at_fork(after_in_child=_begin)


def warn_of_fork(name: str) -> object:
    """Say that a learner came with a fork; gives what stands for this process.

    Parameters
    ----------
    name
        The class of the learner.
    """
    warnings.warn(
        f"this process was forked from the one that made the {name}: both draw the same directions "
        "from here on, and neither learns from the other. Make a learner in each process, with a "
        "seed of its own, or share one with dikin.Study",
        ForkWarning,
        stacklevel=3,
    )
    return process
