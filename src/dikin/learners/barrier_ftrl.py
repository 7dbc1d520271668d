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
from dikin.learners.kernel_learner import KernelLearner, LearnerState, Memo, Proposal
from dikin.theory.certificate import RANGE, Account, Part

TOTAL, RATE, SPENT, HELD = range(4)
"""The numbers of the state: S, eta, and two sums over the rounds for the certificate.

SPENT is the sum of g_t.y_t + a_t - (sigma_t/2 + lambda_t) |y_t|^2, with the whole range of the
losses for a round that was thrown away. `Account.spent` is this minus the least value of what
y_{t+1} minimises. HELD is `Account.held`, lambda_0 + sum_t lambda_t.
"""


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


class BarrierKernel(NamedTuple):
    """A round of follow the regularised leader."""

    geometry: Any
    schedule: Any

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
        lam = schedule.regularisation(total + sigma)
        slope = schedule.dim / reach * (loss + 0.5 * lam * played_square)
        added, scale = counts * (sigma + lam), counts * slope * unit
        along, square = self.geometry.linear_update(
            memo.state.iterate, memo.metric, memo.s, scale, added, state.linear
        )
        price = counts * schedule.price(sigma, reach * reach * trace) + (1.0 - counts) * RANGE
        numbers[SPENT] += price + along - 0.5 * (added + counts * lam) * square
        numbers[HELD] += counts * lam
        numbers[TOTAL] = total + added
        numbers[RATE] = schedule.rate(numbers[TOTAL], round + 1)
        weight = schedule.kappa / numbers[RATE]
        self.geometry.solve(state.linear, numbers[TOTAL], weight, state.iterate)


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
        numbers = [schedule.first, rate, 0.0, schedule.first]
        state = LearnerState(numbers, np.zeros(geometry.size), geometry.start())
        self._begin(BarrierKernel(geometry, schedule), state)

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
        account = Account(self._rounds_in_range, numbers[SPENT] - least, numbers[HELD], weight)
        return Part(account, schedule, self.units.loss_scale)
