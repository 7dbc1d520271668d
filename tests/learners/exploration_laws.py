"""The laws of learners that explore around a centre: those of the two families of kernels."""

from math import sqrt

import numpy as np

from dikin.checks import LearnerFactory
from dikin.checks.failure import at_most
from dikin.checks.learner import ask, name, play, points_of


def check_points_surround_the_center(make: LearnerFactory, seed: int) -> None:
    """Between two answers the asked points have the learner's centre as their mean.

    The band is six standard deviations of the mean, each estimated from the points themselves: a
    true learner of ten dimensions fails less than once in 10^7 runs.
    """
    learner, n = make(seed), 1000
    for _ in play(learner, 20, "driving"):
        pass
    center = learner.domain.locate(learner.center)
    steps = np.array(
        [learner.domain.locate(points_of(learner, ask(learner))[0]) - center for _ in range(n)]
    )
    bias = np.abs(steps.mean(axis=0)) * sqrt(n) / steps.std(axis=0).clip(1e-300)
    at_most(name(learner), f"the distance of the mean of {n} points in sd", float(bias.max()), 6)
