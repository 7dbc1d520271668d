"""Follow the regularised leader with a barrier, and explore Dikin's ellipsoid.

In the paper's units, with S_t = lambda_0 + sum_{s<=t} (sigma_s + lambda_s):

    H_t     = kappa Hessian(psi)(y_t) + eta_t S_{t-1} I
    x_t     = y_t + z_t,  z_t = delta H_t^(-1/2) s_t,  s_t uniform on the unit sphere
    f~_t    = f_t(x_t) + lambda_t/2 |x_t|^2
    g_t     = (d/delta^2) f~_t H_t z_t
    y_{t+1} = argmin_u  G_t.u + S_t/2 |u|^2 + (kappa/eta_{t+1}) psi(u),
    G_t     = sum_{s<=t} g_s - (sigma_s + lambda_s) y_s

With delta = 1 this is the paper's algorithm in R^{d+1} with its lifting carried out
(docs/mathematics.md, "The reduced form"). A learner's own file has only its `Schedule`: the
formulas for eta_t and lambda_t, how far it explores, and which curvature it assumes.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple, Protocol

import numpy as np

from dikin.domains.base import Array
from dikin.kernel import compilable
from dikin.learners.kernel_learner import (
    CompiledParts,
    KernelLearner,
    LearnerState,
    Memo,
    Proposal,
)
from dikin.theory.certificate import RANGE, Account, Part
from dikin.vectors import combine, dot

TOTAL, RATE, SPENT, HELD, MEAN, LOWERED = range(6)
"""The numbers of the state: S, eta, two sums over the rounds for the certificate, and two more.

SPENT is the sum of g_t.y_t + a_t - (sigma_t/2 + lambda_t) |y_t|^2, with the whole range of the
losses for a round that was thrown away. `Account.spent` is this minus the least value of what
y_{t+1} minimises. HELD is `Account.held`, lambda_0 + sum_t lambda_t. MEAN is the mean of 1 and of
the shares of the declared constant that the rounds so far had, and LOWERED the sum of all by which
the barrier's weight was ever lowered.
"""
MOST = 1.0
"""The largest lambda: the rates are made for it. It is less without a constant that is told."""
RISE = 2.0
"""A rate rises by this factor at least, or stays: so it rises ln T times at most."""


class Schedule(Protocol):
    """How a learner regularises, steps and computes its certificate.

    A schedule is a NamedTuple of floats whose methods use nothing but its fields, its arguments and
    `math`, so that they compile unchanged. Everything is in the paper's units.
    """

    @property
    def dim(self) -> float: ...

    @property
    def kappa(self) -> float:
        """The weight of the barrier: 400 in the paper, though 1 suffices."""
        ...

    @property
    def first(self) -> float:
        """lambda_0."""
        ...

    @property
    def reach(self) -> float:
        """delta: the share of the ellipsoid's radius at which points are played, at most 1."""
        ...

    @property
    def trust(self) -> float:
        """1 to use the curvature that is told, 0 to ignore it."""
        ...

    @property
    def assumed(self) -> float:
        """The curvature assumed of every round, also of the next one before it is played."""
        ...

    @property
    def order(self) -> int:
        """The k by which the rate follows the constants that are told; any, where none can be."""
        ...

    @property
    def least(self) -> float:
        """A round that is told less curvature than this is thrown away."""
        ...

    def regularisation(self, total: float) -> float:
        """lambda_t from total = S_{t-1} + sigma_t."""
        ...

    def rate(self, total: float, round: int) -> float:
        """eta_t from total = S_{t-1} and the round t."""
        ...

    def price(self, sigma: float, trace: float) -> float:
        """a_t of the certificate, from delta^2 tr(H^-1): `dikin.theory.certificate`."""
        ...

    def typical(self, rounds: int) -> float:
        """A rate near eta_{T+1} that depends on T alone: it places the certificate's comparator."""
        ...


class TakesConstants(Protocol):
    """What the constants that are told of single losses change in a round."""

    def told_shares(self, round: int, memo: Memo, numbers: Any) -> tuple[float, float, float]:
        """The round's share of the declared constant, and what scales lambda_t and S_t by it."""
        ...

    def raise_rate(self, state: LearnerState, weight: float, wanted: float) -> None:
        """Let a rate rise that steeper losses had lowered."""
        ...


class BarrierKernel(NamedTuple):
    """A round of follow the regularised leader, where every loss has the declared constants.

    A compiler sees that all shares are 1, and leaves out what is computed of them: that takes
    longer than the rest of a round in a few dimensions.
    """

    geometry: Any
    schedule: Any

    def told_shares(self, round: int, memo: Memo, numbers: Any) -> tuple[float, float, float]:
        return 1.0, 1.0, 1.0

    def raise_rate(self, state: LearnerState, weight: float, wanted: float) -> None:
        pass

    def ask(self, state: LearnerState, s: Array, metric: Array, u: Array) -> Proposal:
        schedule, geometry, numbers = self.schedule, self.geometry, state.numbers
        shift = numbers[RATE] * (numbers[TOTAL] + schedule.assumed)
        square, trace = geometry.explore(state.iterate, schedule.kappa, shift, s, metric)
        unit = 1.0 / sqrt(square)
        played_square = geometry.point(state.iterate, metric, s, schedule.reach * unit, u)
        return played_square, trace, unit

    def tell(
        self, round: int, memo: Memo, loss: float, curvature: float, state: LearnerState
    ) -> None:
        schedule, numbers, (played_square, trace, unit) = self.schedule, state.numbers, memo.asked
        total, reach = numbers[TOTAL], schedule.reach
        # A round that is thrown away adds zero: a branch here would cost time in every round.
        counts = 1.0 if curvature >= schedule.least else 0.0
        sigma = schedule.trust * curvature + schedule.assumed
        share, scale_up, steepness = self.told_shares(round, memo, numbers)
        lam = min(scale_up * schedule.regularisation((total + sigma) / scale_up), MOST)
        slope = schedule.dim / reach * (loss + 0.5 * lam * played_square)
        added, scale = counts * (sigma + lam), counts * slope * unit
        along, square = self.geometry.linear_update(
            memo.state.iterate, memo.metric, memo.s, scale, added, state.linear
        )
        tau = reach * reach * trace
        price = schedule.price(sigma, tau) - (1.0 - share) * schedule.price(0.0, tau)
        price = counts * price + (1.0 - counts) * RANGE
        numbers[SPENT] += price + along - 0.5 * (added + counts * lam) * square
        numbers[HELD] += counts * lam
        numbers[TOTAL] = total + added
        wanted = schedule.rate(numbers[TOTAL] / steepness, round + 1)
        numbers[RATE] = min(numbers[RATE], wanted)
        weight = schedule.kappa / numbers[RATE]
        self.geometry.solve(state.linear, numbers[TOTAL], weight, state.iterate)
        self.raise_rate(state, weight, wanted)


class ToldBarrierKernel(BarrierKernel):
    """The same, where losses may have smaller constants, which are told with their answers."""

    def told_shares(self, round: int, memo: Memo, numbers: Any) -> tuple[float, float, float]:
        order, share, mean = self.schedule.order, min(memo.shares[0], memo.shares[1]), numbers[MEAN]
        scale_up = regularisation_factor(share, recent_share(mean, round), order)
        numbers[MEAN] = mean + (share - mean) / (round + 1)
        return share, scale_up, recent_share(numbers[MEAN], round + 1) ** (order - 1)

    def raise_rate(self, state: LearnerState, weight: float, wanted: float) -> None:
        if wanted >= RISE * state.numbers[RATE]:
            lower_barrier(self.geometry, state, weight, self.schedule.kappa / wanted)
            state.numbers[RATE] = wanted


@compilable
def recent_share(mean: float, round: int) -> float:
    """The share that a round is expected to have: with less than t^(-1/2) no rate would improve."""
    return max(mean, 1.0 / sqrt(round))


@compilable
def regularisation_factor(share: float, mean: float, order: int) -> float:
    """c, for which c lambda(S/c) is the root of lambda^k (S + lambda) = p_t^k.

    p_t^k is mean^(k-1) ((1 + share/mean)/2)^k times the target of the declared constant.
    """
    balance = 0.5 * (1.0 + share / mean)
    factor: float = (mean ** (order - 1) * balance**order) ** (1.0 / (order + 1))
    return factor


@compilable
def lower_barrier(geometry: Any, state: LearnerState, weight: float, lower: float) -> None:
    """Lower the weight of the barrier, around the centre: it stays the minimiser, at no cost.

    The divergence of psi from the centre y, (weight - lower) (psi(x) - psi(y) - psi'(y).(x - y)),
    is taken off, and psi'(y) = -(G + S y)/weight, as y is the minimiser.
    """
    numbers, y = state.numbers, state.scratch
    geometry.write_vector(state.iterate, 1.0, y)
    kept, total = lower / weight, numbers[TOTAL]
    along = geometry.product(state.iterate, state.linear) + total * dot(y, y)
    fall = (weight - lower) * (geometry.barrier(state.iterate) + along / weight)
    numbers[SPENT] -= fall
    numbers[LOWERED] += weight - lower
    combine(kept, state.linear, (kept - 1.0) * total, y, state.linear)


class BarrierFTRL(KernelLearner):
    """Follow the regularised leader with a barrier; subclasses supply the schedule."""

    @property
    def _schedule(self) -> Schedule:
        assert isinstance(self._kernel, BarrierKernel)
        schedule: Schedule = self._kernel.schedule
        return schedule

    def _follow(self, schedule: Schedule) -> None:
        geometry = self.geometry
        rate = schedule.rate(schedule.first, 1)
        numbers = [schedule.first, rate, 0.0, schedule.first, 1.0, 0.0]
        linear, scratch = np.zeros(geometry.size), np.zeros(geometry.size)
        state = LearnerState(numbers, linear, geometry.start(), scratch=scratch)
        kind = ToldBarrierKernel if self.takes_constants else BarrierKernel
        self._begin(kind(geometry, schedule), state)

    def compiled_parts(self, told: bool = True) -> CompiledParts | None:
        parts = super().compiled_parts(told)
        if parts is not None and not told and self._state.numbers[MEAN] == 1.0:  # nor was before
            parts.kernel = BarrierKernel(self.geometry, self._schedule)
        return parts

    def _has_converged(self, state: LearnerState) -> bool:
        return self.geometry.converged(state.iterate)

    def _certificate_part(self) -> Part | None:
        """None if the centre is not known accurately enough for a certificate."""
        geometry, schedule = self.geometry, self._schedule
        numbers, linear, iterate = self._state[:3]
        if not self._has_converged(self._state):
            return None
        y, weight = geometry.vector(iterate), schedule.kappa / numbers[RATE]
        least = float(linear.dot(y)) + 0.5 * numbers[TOTAL] * float(y.dot(y))
        least += weight * geometry.barrier(iterate)
        stiff = weight + numbers[LOWERED]
        account = Account(self._rounds_in_range, numbers[SPENT] - least, numbers[HELD], stiff)
        return Part(account, schedule, self.units.loss_scale)
