"""The law of learners that follow the regularised leader: the certificate is its formula."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dikin.checks.failure import at_most
from dikin.checks.learner import answer_at, ask, loss_at, name
from dikin.domains.base import Array
from dikin.errors import CertificateWarning
from dikin.learners.barrier_family import FixedRate
from dikin.learners.barrier_ftrl import RATE, TOTAL, BarrierFTRL
from dikin.learners.kernel_learner import LearnerState
from dikin.open_queries import Query
from domains.geometry_laws import Direction

BarrierFTRLFactory = Callable[[int], BarrierFTRL]

DIGITS = 1e-9
"""Relative slack of an equality between numbers that are exact except for rounding."""


def _fixed(learner: BarrierFTRL) -> FixedRate:
    """The share of the ellipsoid and the curvatures of a learner, as of one at a fixed rate."""
    found = learner._schedule
    return found if isinstance(found, FixedRate) else FixedRate(found.dim, 1.0)


def _shift(learner: BarrierFTRL, state: LearnerState) -> float:
    return float(state.numbers[RATE] * (state.numbers[TOTAL] + _fixed(learner).curvature))


def _direction(learner: BarrierFTRL, state: LearnerState, noise: Array) -> Direction:
    """The direction that a learner explores from a state."""
    schedule = learner._schedule
    shift = _shift(learner, state)
    return Direction(learner.geometry, state.iterate, schedule.kappa, shift, noise)


def _counted_curvature(learner: BarrierFTRL) -> float:
    """A curvature that, told, makes the round count."""
    return _fixed(learner).least / learner.units.curvature(1.0) * (1 + 1e-12)


class Surrogate(NamedTuple):
    """The loss l(x) = g.x + (sigma + lambda)/2 |x - y|^2 of an answer. y is its centre."""

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
    learner = make(seed)
    if learner.may_restart:  # a first loss places the range
        learner.tell(ask(learner), answer_at(learner, 0.0))
    if learner.may_restart and learner._certificate_part() is None:
        return  # it has a certificate for a known range only
    rounds: list[Surrogate] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error", CertificateWarning)
        for lot in range(1, 8):
            for query in [learner.ask() for _ in range(lot)][::-1]:
                rounds.append(_surrogate(learner, query, loss_at(learner, (-1.0) ** query.id)))
            certificate, size = _certificate(learner, rounds)
            off = abs(learner.certificate - certificate)
            at_most(name(learner), "the error of the certificate", off, DIGITS * size)


def _surrogate(learner: BarrierFTRL, query: Query, loss: float) -> Surrogate:
    """Tell an answer, and return what was learnt from it."""
    (asked_in, *_), before = learner._open[query.id][1], learner._state
    learner.tell(query, loss, _counted_curvature(learner))
    after = learner._state
    sigma = _fixed(learner).curvature  # which learners at a fixed rate use instead of the answer's
    if not isinstance(learner._schedule, FixedRate):
        sigma = learner.units.curvature(_counted_curvature(learner))
    lam = after.numbers[TOTAL] - before.numbers[TOTAL] - sigma
    trace = _direction(learner, asked_in, np.ones(learner.geometry.size)).trace
    y = learner.geometry.vector(asked_in.iterate)
    return Surrogate(
        y, after.linear - before.linear, sigma, lam, _fixed(learner).reach ** 2 * trace
    )


def _price_paid(schedule: Any, surrogate: Surrogate) -> float:
    y = surrogate.y
    d, tau = schedule.dim, surrogate.trace
    price = schedule.smoothness * tau / d / 2 + schedule.lipschitz * np.sqrt(tau / d)
    price += (schedule.smoothness - surrogate.sigma) * tau / (d + 2) / 2
    return float(price) - surrogate.lam / 2 * float(y @ y)


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
