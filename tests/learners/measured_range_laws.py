"""The laws of a learner that finds the range of the losses itself, without starting again.

Every `check_*` takes `make`, which builds a learner, and a seed, and judges the same learner
without a range.
"""

from __future__ import annotations

from math import inf, nan

import numpy as np

from dikin.checks import LearnerFactory
from dikin.checks.failure import at_most, require
from dikin.checks.learner import ask, name, refused, shaped
from dikin.errors import LossError
from dikin.learners.base import Learner
from learners.unknown_range_laws import without_range

ROUNDS = 60


def bowl(learner: Learner, point: np.ndarray, scale: float, offset: float) -> float:
    """A loss that any domain has: the squared distance from the centre, in units of the radius."""
    away = learner.domain.locate(point) / learner.domain.radius
    return offset + scale * float(away @ away + 0.1 * away.sum())


def check_any_finite_loss_is_taken_and_nothing_else(make: LearnerFactory, seed: int) -> None:
    """Losses of every size and sign count as rounds; a loss that is not finite changes nothing."""
    learner = without_range(make, seed)
    for loss in (0.0, 5.0, -3e6, 1e-9, 1e6, 2.0, 2.0, 2.0, -1e12, 1e30, 1.0, 2.0):
        learner.tell(ask(learner), shaped(learner, loss))
    query = ask(learner)
    before = learner.state()
    for wrong in (nan, inf, -inf, "5", None):
        refused(learner, LossError, learner.tell, query, shaped(learner, wrong))
    same = learner.state() == before
    require(same, name(learner), "the state after refusals", learner.state(), before)
    require(learner.rounds == 12, name(learner), "the number of rounds", learner.rounds, 12)


def check_unit_and_zero_of_the_losses_do_not_matter(make: LearnerFactory, seed: int) -> None:
    """Losses in another unit, from another zero, lead to the same points.

    Powers of two are exact; a learner whose constants are declared in a unit of loss has them
    scaled along.
    """
    small, large = (without_range(make, seed) for _ in range(2))
    arguments = large.arguments()
    for constant in ("smoothness", "lipschitz"):
        if arguments[constant] is not None:
            arguments[constant] *= 1024.0
    large = large._anew(large.domain, arguments, seed)
    for t in range(ROUNDS):
        one, two = ask(small), ask(large)
        gap = float(np.abs(one.point - two.point).max())
        most = 1e-6 * small.domain.radius
        at_most(name(small), "the distance in another unit", gap, most, round=t)
        small.tell(one, bowl(small, one.point, 1.0, 0.0))
        large.tell(two, bowl(large, one.point, 1024.0, 4096.0))


def check_a_fault_costs_little(make: LearnerFactory, seed: int) -> None:
    """After one measurement of a million the centre is not far from where it would have been."""
    calm, disturbed = (without_range(make, seed) for _ in range(2))
    for t in range(ROUNDS):
        for learner in (calm, disturbed):
            query = ask(learner)
            fault = 1e6 if learner is disturbed and t == ROUNDS // 2 else 0.0
            learner.tell(query, bowl(learner, query.point, 1.0, 0.0) + fault)
    domain = calm.domain
    apart = domain.locate(calm.center) - domain.locate(disturbed.center)
    away = domain.gauge(domain.locate(disturbed.center))
    near = away <= 0.99 and bool(np.isfinite(apart).all())
    require(near, name(calm), "the centre after a fault", disturbed.center, f"about {calm.center}")
