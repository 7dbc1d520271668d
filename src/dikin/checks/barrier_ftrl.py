"""The laws of learners that run on the one FTRL machine: how they explore, estimate and account.

Here the laws look inside: an estimate of a gradient is not to be seen from without.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from math import isfinite, isnan, sqrt
from typing import NamedTuple

import numpy as np

from dikin.checks.learner import loss_at, play
from dikin.checks.probing import fail
from dikin.domains.base import Array
from dikin.errors import CertificateVoidWarning
from dikin.learners.barrier_ftrl import Asked, BarrierFTRL

Make = Callable[[int], BarrierFTRL]
SAMPLES = 1500


class Glance(NamedTuple):
    """A query of a learner that stands still: s on the unit sphere of a root of H, and its memo."""

    s: Array
    asked: Asked


class Stand(NamedTuple):
    """A learner somewhere on its way, and H there with its root, by the domain's oracles."""

    learner: BarrierFTRL
    root: Array

    def chart(self, u: Array) -> Array:
        """A working vector in the chart."""
        return self.learner.domain.inward(self.learner.geometry.outward(u))

    def glances(self, count: int) -> Iterator[Glance]:
        """Queries without answers."""
        learner = self.learner
        center = learner.center
        for _ in range(count):
            query = learner.ask()
            step = learner.domain.inward(query.point - center) / learner.units.radius
            yield Glance(step @ self.root, learner._open[query.id][1])


def stand(make: Make, seed: int) -> Stand:
    """A learner that was driven off the centre."""
    learner = make(seed)
    for _ in play(learner, 20, "driving"):
        pass
    radius, domain = learner.units.radius, learner.domain
    bend = domain.hessian(domain.locate(learner.center))
    shift = learner._rate * learner._total
    H = learner._schedule.kappa * radius**2 * bend + shift * np.eye(domain.dim)
    return Stand(learner, np.linalg.cholesky(H))


def _name(learner: BarrierFTRL) -> str:
    return f"{type(learner).__name__} on {learner.domain}"


def check_points_lie_on_the_ellipsoid_of_h(make: Make, seed: int) -> None:
    """x = y + z with z'Hz = 1, H = kappa Hessian(psi)(y) + eta S I.

    The point is rounded to the user's coordinates, far from whose origin a small set may lie.
    """
    here = stand(make, seed)
    domain = here.learner.domain
    digits = 1e-15 * float(np.abs(domain.center).max()) / domain.radius * float(here.root.max())
    for glance in here.glances(20):
        length = float(np.linalg.norm(glance.s))
        if not abs(length - 1) <= 1e-7 + 100 * digits:
            fail(_name(here.learner), f"z'Hz is {length**2:.9g}, wanted 1")


def check_estimate_is_unbiased_for_linear_losses(make: Make, seed: int) -> None:
    """E[d f(x) H z] = a for f(x) = a.x + b.

    On the sphere of H the loss is a.s + b with |a| = 1 and the estimate d (a.s + b) s, an entry of
    which has a standard deviation of at most sqrt(2) + |b| sqrt(d). Over n queries the band is six
    of them: a true learner of ten dimensions fails less than once in 10^7 runs.
    """
    here = stand(make, seed)
    d, b = here.learner.domain.dim, 0.3
    a = np.linspace(1, 2, d) / np.linalg.norm(np.linspace(1, 2, d))
    total = np.zeros(d)
    for glance in here.glances(SAMPLES):
        loss = float(a @ glance.s) + b
        pull = here.chart(glance.asked.aim.recoil(d * loss * glance.asked.scale, 0.0))
        total += np.linalg.solve(here.root, pull)
    off = float(np.abs(total / SAMPLES - a).max())
    band = 6 * (sqrt(2) + b * sqrt(d)) / sqrt(SAMPLES)
    if not off <= band:
        fail(_name(here.learner), f"the mean estimate is {off:.3g} from the slope, band {band:.3g}")


def check_certificate_grows_with_the_rounds(make: Make, seed: int) -> None:
    """With one query at a time the certificate is finite, positive, and no round lowers it.

    Each round's share is not negative: the convexity that it subtracts is at most what the loss's
    smoothness, or its Lipschitz constant and the set's diameter, allow.
    """
    learner = make(seed)
    last = learner.certificate
    if not (isfinite(last) and last > 0):
        fail(_name(learner), f"the certificate begins with {last}")
    for query in play(learner, 100, "alternating"):
        now = learner.certificate
        if not (isfinite(now) and now >= last):
            fail(_name(learner), f"before query {query.id} the certificate is {now}, was {last}")
        last = now


def check_certificate_is_void_after_overlapping_answers(make: Make, seed: int) -> None:
    """An answer whose centre has moved on makes the certificate NaN, with one warning, for good."""
    learner = make(seed)
    first, second, third = (learner.ask() for _ in range(3))
    learner.tell(first, loss_at(learner, 0.5))
    if not isfinite(learner.certificate):
        fail(_name(learner), f"the certificate is {learner.certificate} before any overlap")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learner.tell(second, loss_at(learner, 0.5))
        learner.tell(third, loss_at(learner, 0.5))
        learner.tell(learner.ask(), loss_at(learner, 0.5))
    heard = sum(issubclass(warning.category, CertificateVoidWarning) for warning in caught)
    if not isnan(learner.certificate):
        fail(_name(learner), f"the certificate is {learner.certificate} after an overlap")
    if heard != 1:
        fail(_name(learner), f"warned {heard} times that the certificate is void, wanted once")
