"""The laws of learners that run on the one FTRL machine: how they explore, estimate and account.

Here the laws look inside: the estimate of a gradient is not to be seen from without.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import isfinite, isnan, sqrt
from typing import Any, NamedTuple

import numpy as np

from dikin.checks.learner import loss_at, name, play
from dikin.checks.probing import EPS, fail
from dikin.domains.base import Array
from dikin.errors import CertificateVoidWarning
from dikin.learners.barrier_ftrl import BarrierFTRL

Make = Callable[[int], BarrierFTRL]


class Stand(NamedTuple):
    """A learner somewhere on its way, and a root of H there by the domain's oracles."""

    learner: BarrierFTRL
    root: Array
    digits: float
    """What is lost where a point is rounded to the user's coordinates, in the local norm."""

    def chart(self, u: Array) -> Array:
        """A working vector in the chart."""
        return self.learner.domain.inward(self.learner.geometry.outward(u))

    def sphere(self, noise: Array) -> Array:
        """H^(1/2) z for the step z that noise leads to: linear, and standard normal, in it."""
        geometry, place = self.learner.geometry, self.learner._place
        frame = geometry.frame(place, self.learner._schedule.kappa, _shift(self.learner))
        step = frame.aim(noise).point(1.0) - geometry.vector(place)
        return np.asarray(self.chart(step) @ self.root)


def stand(make: Make, seed: int) -> Stand:
    """A learner that was driven off the centre."""
    learner = make(seed)
    for _ in play(learner, 20, "driving"):
        pass
    domain, geometry, radius = learner.domain, learner.geometry, learner.units.radius
    v = radius * domain.inward(geometry.outward(geometry.vector(learner._place)))
    bend = learner._schedule.kappa * radius**2 * domain.hessian(v)
    root = np.asarray(np.linalg.cholesky(bend + _shift(learner) * np.eye(domain.dim)))
    far = float(np.abs(domain.center).max()) / radius
    return Stand(learner, root, EPS * (1 + far) * float(np.abs(root).sum()))


def _shift(learner: BarrierFTRL) -> float:
    return learner._rate * (learner._total + learner._schedule.assumed)


def _heeded(learner: BarrierFTRL) -> float:
    """A curvature that, told, makes the round count."""
    return learner._schedule.least / learner.units.curvature(1.0) * (1 + 1e-12)


def check_points_are_uniform_on_the_ellipsoid_of_h(make: Make, seed: int) -> None:
    """Points are y + delta z, z'Hz = 1, E zz' = H^-1/d, for H = kappa Hessian(psi)(y) + eta S I.

    On the sphere of H an entry of d ss' has a variance below 2. The band is six standard deviations
    of the mean of n: a true learner of ten dimensions fails less than once in 10^6 runs.
    """
    here, n = stand(make, seed), 1000
    learner = here.learner
    d, radius, center = learner.domain.dim, learner.units.radius, learner.center
    steps = [learner.domain.inward(learner.ask().point - center) for _ in range(n)]
    s = np.array(steps) / (radius * learner._schedule.reach) @ here.root
    length = float(np.abs(np.linalg.norm(s, axis=1) - 1).max())
    if not length <= 1e-7 + 100 * here.digits:
        fail(name(learner), f"(z'Hz)^(1/2) is {length:.3g} from 1")
    spread = float(np.abs(d * s.T @ s / n - np.eye(d)).max())
    if not spread <= 6 * sqrt(2 / n):
        fail(
            name(learner), f"d E ss' is {spread:.3g} from the identity, band {6 * sqrt(2 / n):.3g}"
        )


class Given:
    """Noise that is known beforehand."""

    def __init__(self, noise: Array) -> None:
        self.noise = noise

    def draw(self) -> Array:
        """The one vector."""
        return self.noise


def check_estimate_is_unbiased_for_linear_losses(make: Make, seed: int) -> None:
    """A round adds to the linear term, in the mean, the slope a of the loss f(x) = a.x + b.

    The estimate d f~(x) H z is a polynomial of degree three in the direction, and 2d directions
    along some axes and against them average such polynomials as the whole sphere does: the mean is
    exact, and no chance is in it. The regulariser's share, lambda y, is subtracted again, and that
    of the believed curvature, -sigma y, is known.
    """
    here = stand(make, seed)
    learner, d = here.learner, here.learner.domain.dim
    a = np.linspace(1, 2, d) / np.linalg.norm(np.linspace(1, 2, d))
    sphere = np.array([here.sphere(e) for e in np.eye(learner.geometry.size)])
    before, total = dict(vars(learner)), np.zeros(d)
    schedule, y = learner._schedule, learner.geometry.vector(learner._place)
    sigma = schedule.trust * learner.units.curvature(_heeded(learner)) + schedule.assumed
    for noise in (*sphere.T, *-sphere.T):
        change: dict[str, Any] = {"_noise": Given(noise)}
        vars(learner).update(change)
        position = float(np.clip(a @ here.sphere(noise), -1, 1))
        learner.tell(learner.ask(), loss_at(learner, position), _heeded(learner))
        added = learner._linear - before["_linear"] + sigma * y
        total += np.linalg.solve(here.root, here.chart(added)) * learner._schedule.reach
        vars(learner).update(before)
    off = float(np.abs(total / (2 * d) - a).max())
    if not off <= 1e-7 + 100 * here.digits:
        fail(name(learner), f"the mean estimate misses the slope by {off:.3g} of its length")


def check_certificate_grows_with_the_rounds(make: Make, seed: int) -> None:
    """With one query at a time the certificate is finite, positive, and no round lowers it.

    Each round's share is not negative: the convexity that it subtracts is at most what the loss's
    smoothness, or its Lipschitz constant and the set's diameter, allow.
    """
    learner = make(seed)
    last = 0.0
    for query in play(learner, 100, "alternating"):
        now = learner.certificate
        if not (isfinite(now) and now > 0 and now >= last):
            fail(name(learner), f"at query {query.id} the certificate is {now}, before {last}")
        last = now


def check_certificate_is_void_after_overlapping_answers(make: Make, seed: int) -> None:
    """An answer whose centre has moved on makes the certificate NaN, with one warning, for good."""
    learner = make(seed)
    first, second, third = (learner.ask() for _ in range(3))
    curvature = _heeded(learner)
    learner.tell(first, loss_at(learner, 0.5), curvature)
    if not isfinite(learner.certificate):
        fail(name(learner), f"the certificate is {learner.certificate} before any overlap")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for query in (second, third):
            learner.tell(query, loss_at(learner, 0.5), curvature)
        learner.tell(learner.ask(), loss_at(learner, 0.5), curvature)
    heard = sum(issubclass(warning.category, CertificateVoidWarning) for warning in caught)
    if not isnan(learner.certificate):
        fail(name(learner), f"the certificate is {learner.certificate} after an overlap")
    if heard != 1:
        fail(name(learner), f"warned {heard} times that the certificate is void, wanted once")
