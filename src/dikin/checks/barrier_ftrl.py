"""The laws of learners that follow the regularised leader: how they explore, estimate, account.

These laws look inside: the estimate of a gradient is not visible from outside.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from dikin.checks.failure import fail
from dikin.checks.geometry import Direction
from dikin.checks.learner import loss_at, name, play, with_range
from dikin.checks.sample_points import EPS
from dikin.domains.base import Array
from dikin.errors import CertificateWarning
from dikin.learners.barrier_ftrl import RATE, TOTAL, BarrierFTRL, Schedule
from dikin.learners.kernel_learner import LearnerState
from dikin.open_queries import Query

BarrierFTRLFactory = Callable[[int], BarrierFTRL]

DIGITS = 1e-9
"""Relative slack of an equality between numbers that are exact except for rounding."""


class DrivenLearner(NamedTuple):
    """A learner in the middle of a game, and a root of H there by the domain's oracles."""

    learner: BarrierFTRL
    root: Array
    digits: float
    """What is lost where a point is rounded to the user's coordinates, in the local norm."""

    def chart(self, u: Array) -> Array:
        """A working vector in the chart."""
        domain = self.learner.domain
        return domain.inward(self.learner.geometry.outward(u).reshape(domain.point_shape))

    def sphere(self, noise: Array) -> Array:
        """H^(1/2) z for the step z that noise leads to: linear, and standard normal, in it."""
        learner, state = self.learner, self.learner._state
        direction = _direction(learner, state, noise)
        step = direction.point(1.0) - learner.geometry.vector(state.iterate)
        return np.asarray(self.chart(step) @ self.root)


def driven_learner(make: BarrierFTRLFactory, seed: int) -> DrivenLearner:
    """A learner that was driven off the centre."""
    learner = make(seed)
    for _ in play(learner, 20, "driving"):
        pass
    domain, geometry, radius = learner.domain, learner.geometry, learner.units.radius
    y = geometry.vector(learner._state.iterate)
    v = radius * domain.inward(geometry.outward(y).reshape(domain.point_shape))
    hessian = learner._schedule.kappa * radius**2 * domain.hessian(v)
    shift = _shift(learner._schedule, learner._state)
    root = np.asarray(np.linalg.cholesky(hessian + shift * np.eye(domain.dim)))
    far = float(np.abs(domain.center).max()) / radius
    return DrivenLearner(learner, root, EPS * (1 + far) * float(np.abs(root).sum()))


def _shift(schedule: Schedule, state: LearnerState) -> float:
    return float(state.numbers[RATE] * (state.numbers[TOTAL] + schedule.assumed))


def _direction(learner: BarrierFTRL, state: LearnerState, noise: Array) -> Direction:
    """The direction that a learner explores from a state."""
    schedule = learner._schedule
    shift = _shift(schedule, state)
    return Direction(learner.geometry, state.iterate, schedule.kappa, shift, noise)


def _counted_curvature(learner: BarrierFTRL) -> float:
    """A curvature that, told, makes the round count."""
    return learner._schedule.least / learner.units.curvature(1.0) * (1 + 1e-12)


def check_points_are_uniform_on_the_ellipsoid_of_h(make: BarrierFTRLFactory, seed: int) -> None:
    """Points are y + delta z, z'Hz = 1, E zz' = H^-1/d, for H = kappa Hessian(psi)(y) + eta S I.

    On the sphere of H an entry of d ss' has a variance below 2. The band is six standard deviations
    of the mean of n: a true learner of ten dimensions fails less than once in 10^6 runs.
    """
    here, n = driven_learner(make, seed), 1000
    learner = here.learner
    d, radius, center = learner.domain.dim, learner.units.radius, learner.center
    steps = [learner.domain.inward(learner.ask().point - center) for _ in range(n)]
    s = np.array(steps) / (radius * learner._schedule.reach) @ here.root
    length = float(np.abs(np.linalg.norm(s, axis=1) - 1).max())
    if not length <= 1e-7 + 100 * here.digits:
        fail(name(learner), f"(z'Hz)^(1/2) misses 1 by {length:.3g}", "0")
    spread = float(np.abs(d * s.T @ s / n - np.eye(d)).max())
    if not spread <= 6 * sqrt(2 / n):
        fail(
            name(learner),
            f"d E ss' is {spread:.3g} from the identity",
            f"at most {6 * sqrt(2 / n):.3g}",
        )


class FixedNoise:
    """Noise that is fixed in advance."""

    def __init__(self, noise: Array) -> None:
        self.noise = noise

    def draw(self) -> Array:
        """The one vector."""
        return self.noise


def check_estimate_is_unbiased_for_linear_losses(make: BarrierFTRLFactory, seed: int) -> None:
    """A round adds to the linear term, in the mean, the slope a of the loss f(x) = a.x + b.

    The estimate d f~(x) H z is a polynomial of degree three in the direction, and 2d directions
    along some axes and against them average such polynomials as the whole sphere does: the mean is
    exact, and no chance is in it. The regulariser's share, lambda y, is subtracted again, and that
    of the believed curvature, -sigma y, is known.
    """
    here = driven_learner(make, seed)
    learner, d = here.learner, here.learner.domain.dim
    a = np.linspace(1, 2, d) / np.linalg.norm(np.linspace(1, 2, d))
    sphere = np.array([here.sphere(e) for e in np.eye(learner.geometry.size)])
    before, total = dict(vars(learner)), np.zeros(d)
    schedule, y = learner._schedule, learner.geometry.vector(learner._state.iterate)
    sigma = schedule.trust * learner.units.curvature(_counted_curvature(learner)) + schedule.assumed
    for noise in (*sphere.T, *-sphere.T):
        change: dict[str, Any] = {"_noise": FixedNoise(noise)}
        vars(learner).update(change)
        position = float(np.clip(a @ here.sphere(noise), -1, 1))
        learner.tell(learner.ask(), loss_at(learner, position), _counted_curvature(learner))
        added = learner._state.linear - before["_state"].linear + sigma * y
        total += np.linalg.solve(here.root, here.chart(added)) * learner._schedule.reach
        vars(learner).update(before)
    off = float(np.abs(total / (2 * d) - a).max())
    if not off <= 1e-7 + 100 * here.digits:
        fail(
            name(learner),
            f"the mean estimate misses the slope by {off:.3g} of its length",
            "0",
        )


class Surrogate(NamedTuple):
    """The surrogate loss l(x) = g.x + (sigma + lambda)/2 |x - y|^2 of an answer.

    y is the centre of its query.
    """

    y: Array
    update: Array
    """g - (sigma + lambda) y."""
    sigma: float
    lam: float
    trace: float
    """Of the query's ellipsoid."""

    def __call__(self, x: Array) -> float:
        """l(x)."""
        added, away = self.sigma + self.lam, x - self.y
        g = self.update + added * self.y
        return float(g @ x) + added / 2 * float(away @ away)


def check_certificate_adds_up_with_late_answers(make: BarrierFTRLFactory, seed: int) -> None:
    """The certificate is its formula, summed round by round at the centres of the queries.

    Answers come late and in reverse. The learner keeps a few sums only; here l_t is evaluated at
    both centres for every round, and psi by the domain's oracle. 1e-9 of all terms is what rounding
    may take.
    """
    learner = with_range(make(seed))
    if learner.may_restart and learner._certificate_part() is None:
        return  # it has a certificate for a known range only
    rounds: list[Surrogate] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error", CertificateWarning)
        for lot in range(1, 8):
            for query in [learner.ask() for _ in range(lot)][::-1]:
                rounds.append(_surrogate(learner, query, loss_at(learner, (-1.0) ** query.id)))
            certificate, size = _certificate(learner, rounds)
            if not abs(learner.certificate - certificate) <= DIGITS * size:
                fail(name(learner), f"the certificate is {learner.certificate}", f"{certificate}")


def _surrogate(learner: BarrierFTRL, query: Query, loss: float) -> Surrogate:
    """Tell an answer, and return what was learnt from it."""
    memo, before, schedule = learner._open[query.id][1], learner._state, learner._schedule
    learner.tell(query, loss, _counted_curvature(learner))
    after = learner._state
    sigma = schedule.trust * learner.units.curvature(_counted_curvature(learner)) + schedule.assumed
    lam = after.numbers[TOTAL] - before.numbers[TOTAL] - sigma
    trace = _direction(learner, memo.state, memo.noise).trace
    y = learner.geometry.vector(memo.state.iterate)
    return Surrogate(y, after.linear - before.linear, sigma, lam, schedule.reach**2 * trace)


def _price_paid(schedule: Schedule, surrogate: Surrogate) -> float:
    y = surrogate.y
    return schedule.price(surrogate.sigma, surrogate.trace) - surrogate.lam / 2 * float(y @ y)


def _loss_variation(learner: BarrierFTRL) -> float:
    """The most by which one loss varies on the domain, in halves of the range."""
    slope = getattr(learner, "lipschitz", 0.0) if learner.may_restart else 0.0
    return max(2.0, 2.0 * learner.units.slope(slope))


def _certificate(learner: BarrierFTRL, rounds: list[Surrogate]) -> tuple[float, float]:
    """The certificate, and the sum of the sizes of its terms."""
    domain, geometry, schedule = learner.domain, learner.geometry, learner._schedule
    numbers, iterate = learner._state.numbers, learner._state.iterate
    y, weight = geometry.vector(iterate), schedule.kappa / numbers[RATE]
    v = learner.units.radius * domain.inward(geometry.outward(y).reshape(domain.point_shape))
    fall = _loss_variation(learner) / (1 + domain.symmetry)
    price = schedule.kappa * domain.nu / schedule.typical(learner.rounds)
    # The range's own width places the comparator: it is known before the rounds are played.
    share = min(1.0, price / (2.0 / (1 + domain.symmetry) * learner.rounds))
    terms = [
        fall * share * len(rounds),
        _loss_variation(learner)
        * (learner.rounds - len(rounds)),  # a first loss that placed the range
        weight * domain.barrier_growth(share),
        (1 - share) ** 2 / 2 * (schedule.first + sum(each.lam for each in rounds)),
        *(each(each.y) for each in rounds),
        *(-each(y) for each in rounds),
        *(_price_paid(schedule, each) for each in rounds),
        -schedule.first / 2 * float(y @ y),
        -weight * (domain.barrier(v) - domain.barrier(np.zeros(domain.dim))),
    ]
    return learner.units.loss_scale * sum(terms), learner.units.loss_scale * sum(map(abs, terms))
