"""Gradient descent with projections: five learners without a barrier that differ in their pace.

A step of delta from (1 - delta/r) X stays in X, where r is the inradius. In the paper's units,

    x_t     = y_t + delta_t s_t,      s_t uniform on the unit sphere of the set's plane
    g_t     = (d/delta_t) (f_t(x_t) - b_t) s_t
    y_{t+1} = the point of `shrink` X nearest to y_t - eta_t g_t

    FKM                 eta and delta fixed, for Lipschitz or for bounded losses        b_t = 0
    AgarwalDekelXiao    eta_t = 1/(sigma t), for strongly convex losses
    TwoPoint            (f_t(y_t + delta s_t) - f_t(y_t - delta s_t))/2 in place of f_t(x_t)
    PseudoLine          s_t a random sign times the direction of a context, d = 1
    OneMeasurementSPSA  eta_t and delta_t fall with powers of t, b_t is a running mean
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from math import log, sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.arguments import positive
from dikin.domains.base import Array, Domain
from dikin.errors import FeedbackError
from dikin.feedback import Feedback
from dikin.kernel import compilable
from dikin.learners import parameters
from dikin.learners.kernel_learner import Asked, KernelLearner, LearnerState, Proposal
from dikin.learners.parameters import (
    CURVATURE,
    LIPSCHITZ,
    assumed_curvature,
    finite_array,
    optional,
    parameter,
    two_parts,
)

FIRST_REACH = 0.1
"""delta_1 of OneMeasurementSPSA, in units of the inradius."""
ROUNDING = 1e-12
"""The share of a context within the set's plane below which it counts as rounding."""
BASELINE, ANSWERS = 0, 1
"""The numbers of a state: b, and the answers so far."""


class Pace(NamedTuple):
    """How far a learner explores and how fast it steps."""

    dim: float
    reach: float  # delta_1
    shrink: float  # the share of the set in which the centre stays, at most 1 - delta_1/r
    eta: float  # eta_1
    slow: float = 0.0  # A: eta_t = eta_1 ((A + 1)/(A + t))^power
    power: float = 0.0
    reach_power: float = 0.0  # delta_t = delta_1 t^-reach_power
    baseline: bool = False  # whether b_t is a running mean with weights t^(-1/2)


@compilable
def reach_of(pace: Pace, numbers: Any) -> float:
    """delta_t."""
    reach: float = pace.reach * int(numbers[ANSWERS] + 1.0) ** -pace.reach_power
    return reach


class DescentKernel(NamedTuple):
    """A round of gradient descent. The iterate is y_t/shrink, a point of the whole set."""

    geometry: Any
    pace: Pace

    def ask(self, state: LearnerState, s: Array, metric: Array, u: Array) -> Proposal:
        geometry, shrink = self.geometry, self.pace.shrink
        seen = geometry.explore(state.iterate, 0.0, 1.0, s, metric)
        unit = 1.0 / sqrt(seen[0]) if seen[0] > 0.0 else 0.0  # else there is nothing to explore
        far = reach_of(self.pace, state.numbers) / shrink * unit
        norm = geometry.point(state.iterate, metric, seen, far, u)
        np.multiply(u, shrink, u)
        return shrink * shrink * norm, unit, seen

    def tell(
        self, round: int, asked: Asked, loss: float, curvature: float, state: LearnerState
    ) -> None:
        geometry, pace, n = self.geometry, self.pace, state.numbers
        (then, _, iterate), metric, (_, unit, seen) = asked
        value = loss
        if pace.baseline:  # the first answer has nothing to be compared with
            value = loss - n[BASELINE] if round > 1 else 0.0
            n[BASELINE] += round**-0.5 * (loss - n[BASELINE])
        eta = pace.eta * ((pace.slow + 1.0) / (pace.slow + round)) ** pace.power
        slope = eta * pace.dim * value / (reach_of(pace, then) * pace.shrink)
        n[ANSWERS] = float(round)
        np.multiply(state.iterate[0], -1.0, state.linear)
        geometry.linear_update(iterate, metric, seen, slope * unit, 0.0, state.linear)
        geometry.project(state.linear, state.iterate)


class Descent(KernelLearner):
    """Projected gradient descent on an estimate from values. Subclasses supply the pace."""

    def _begin(self) -> None:
        geometry, self._pace = self.geometry, self._choose_pace()
        state = LearnerState([0.0, 0.0], np.zeros(geometry.size), geometry.start())
        self._start(DescentKernel(geometry, self._pace), state)

    @abstractmethod
    def _choose_pace(self) -> Pace:
        """The pace, from the arguments."""

    def _center_vector(self) -> Array:
        return super()._center_vector() * self._pace.shrink

    @property
    def _inradius(self) -> float:
        return self.domain.inradius / self.domain.radius


def fixed_pace(dim: int, inradius: float, horizon: int, lipschitz: float | None) -> Pace:
    """FKM's tunings, eta = delta/(d sqrt T), with limits for small T.

    Lipschitz:  regret <= 2 T^(3/4) sqrt(3 d (L + 1/r)),   general:  3 12^(1/3) T^(5/6) (d/r)^(1/3)
    """
    if lipschitz is not None:
        reach = horizon**-0.25 * sqrt(dim * inradius / (3.0 * (lipschitz * inradius + 1.0)))
        reach = min(reach, inradius / 2.0)
        shrink = 1.0 - reach / inradius
    else:
        alpha = min((3.0 * dim / (2.0 * inradius * sqrt(horizon))) ** (1.0 / 3.0), 0.5)
        reach = min((inradius * dim**2 / (12.0 * horizon)) ** (1.0 / 3.0), alpha * inradius)
        shrink = 1.0 - alpha
    return Pace(dim, reach, shrink, reach / (dim * sqrt(horizon)))


class FKM(Descent):
    """Learner for convex losses, `lipschitz` or merely bounded (None), over a known horizon.

    Regret of order sqrt(d) T^(3/4) for Lipschitz losses, T^(5/6) for bounded ones. Curvature is not
    used.

    Notes
    -----
    Published: the algorithm, and delta, the step and the shrunk set of both tunings.

    Ours: the constants of the two bounds, and the limits on delta for small T.

    References
    ----------
    Flaxman, Kalai, McMahan: Online convex optimization in the bandit setting: gradient descent
    without a gradient. SODA 2005.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = FKM(Ball(2), horizon=1000, lipschitz=1.0, seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    """

    horizon: int = parameters.horizon(1, "the step depends on it")
    lipschitz: float | None = parameter(
        LIPSCHITZ + " None for losses that are only bounded.", optional(positive), default=None
    )

    def _choose_pace(self) -> Pace:
        slope = None if self.lipschitz is None else self._in_units("lipschitz")
        return fixed_pace(self.domain.dim, self._inradius, self.horizon, slope)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 1000, seed=seed)
        yield cls(domain, 5000, 2.0 / domain.radius, loss_range=(3, 11), seed=seed)


class AgarwalDekelXiao(Descent):
    """Learner for `lipschitz` losses that are all `curvature`-strongly convex.

    Regret of order (d T)^(2/3), up to a logarithm, over a known horizon. It assumes the curvature
    in every round, whatever it is told.

    Notes
    -----
    Published: the one-point estimate, steps of 1/(sigma t), the shrunk set, and the rate T^(2/3).

    Ours: the constant in delta and the constants of the bound, derived independently, the price S
    of the shrunk comparator, and the limit r/2 on delta.

    References
    ----------
    Agarwal, Dekel, Xiao: Optimal algorithms for online convex optimization with multi-point
    bandit feedback. COLT 2010.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = AgarwalDekelXiao(Ball(2), horizon=1000, lipschitz=1.0, curvature=0.5, seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    """

    horizon: int = parameters.horizon(1, "the exploration depends on it")
    lipschitz: float = parameter(LIPSCHITZ, positive)
    curvature: float = parameter(CURVATURE, positive)

    def _choose_pace(self) -> Pace:
        """regret <= d^2 (1 + ln T)/(2 sigma delta^2) + (3 L + min{2, L}/r) delta T."""
        slope, sigma = self._in_units("lipschitz"), assumed_curvature(self, self.curvature)
        dim, inradius, horizon = self.domain.dim, self._inradius, self.horizon
        drift = 3.0 * slope + min(2.0, slope) / inradius
        reach = (dim**2 * (1.0 + log(horizon)) / (sigma * drift * horizon)) ** (1.0 / 3.0)
        reach = min(reach, inradius / 2.0)
        return Pace(dim, reach, 1.0 - reach / inradius, 1.0 / sigma, power=1.0)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        unit = 1.0 / domain.radius
        yield cls(domain, 1000, unit, 0.5 * unit**2, seed=seed)
        yield cls(domain, 10**6, 20 * unit, 4 * unit**2, loss_range=(3, 11), seed=seed)


class TwoPoint(Descent):
    """Learner that is told `lipschitz` losses at two points a round, over a known horizon.

    `curvature` is the strong convexity of every loss, or None. Both `point[0]` and `point[1]` of a
    query are played, and their mean is paid. The answer is the pair of their losses, which must
    come from one function, noise included: a difference in noise would be divided by delta.

    Notes
    -----
    Published: the estimate from two points, the steps, and the rates.

    Ours: the constants, derived independently, the step 1/(L sqrt(d T)), which uses the smaller
    second moment of Shamir (JMLR 2017), and the limit r/2 on delta.

    References
    ----------
    Agarwal, Dekel, Xiao: Optimal algorithms for online convex optimization with multi-point
    bandit feedback. COLT 2010.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = TwoPoint(Ball(3), horizon=1000, lipschitz=1.0, seed=1)
    >>> query = learner.ask()
    >>> query.point.shape
    (2, 3)
    >>> learner.tell(query, (0.3, 0.2))
    """

    feedback = Feedback.PAIR
    horizon: int = parameters.horizon(2, "the exploration contains ln T")
    lipschitz: float = parameter(LIPSCHITZ, positive)
    curvature: float | None = parameter(
        CURVATURE + " None for convex losses.", optional(positive), default=None
    )

    def _choose_pace(self) -> Pace:
        """regret of order L sqrt(d T), or <= d^2 L^2 (1 + ln T)/(2 sigma) + L ln T (3 + 1/r)."""
        dim, inradius, horizon = self.domain.dim, self._inradius, self.horizon
        slope = self._in_units("lipschitz")
        # The estimate does not grow when delta falls, which is almost zero.
        if self.curvature is None:
            reach = min(1.0 / horizon, inradius / 2.0)
            shrink, eta = 1.0 - reach / inradius, 1.0 / (slope * sqrt(dim * horizon))
            return Pace(dim, reach, shrink, eta)
        reach = min(log(horizon) / horizon, inradius / 2.0)
        eta = 1.0 / assumed_curvature(self, self.curvature)
        return Pace(dim, reach, 1.0 - reach / inradius, eta, power=1.0)

    def _propose(self, *given: Any) -> tuple[Array, float, Asked]:
        """Propose two vectors, one in each row, with the larger of their squares."""
        one, square, asked = super()._propose()
        pace, two, ((_, _, y), metric, (_, unit, seen)) = self._pace, np.empty_like(one), asked
        far = -pace.reach / pace.shrink * unit
        other = pace.shrink**2 * self.geometry.point(y, metric, seen, far, two)
        return np.stack([one, pace.shrink * two]), max(square, other), asked

    def _point(self, u: Array) -> Array:
        return super()._point(u) if u.ndim == 1 else np.stack(list(map(super()._point, u)))

    def _inside(self, u: Array, point: Array | None = None) -> Array:
        return super()._inside(u, point) if u.ndim == 1 else np.stack(list(map(super()._inside, u)))

    def _scaled_answer(self, answer: Any) -> float:
        """Half the difference of the two losses, in place of the one loss of other learners."""
        one, two = (super(TwoPoint, self)._scaled_answer(each) for each in two_parts(self, answer))
        return float(one - two) / 2.0

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        unit = 1.0 / domain.radius
        yield cls(domain, 1000, unit, seed=seed)
        yield cls(domain, 5000, 20 * unit, 4 * unit**2, loss_range=(3, 11), seed=seed)


class PseudoLine(Descent):
    """Learner for `lipschitz` losses l_t(z_t.x) with z_t known beforehand, over a known horizon.

    `ask(z)` takes z_t as an array of the shape of a point, in the user's coordinates: z.x is the
    sum of the products of their entries. Only that line is explored: this is `FKM` with d = 1, and
    has its tuning and its bound, 2 T^(3/4) sqrt(3 (L + 1/r)) for any d, with L the constant of the
    losses on the domain. The centre itself is played where z.x is the same on the whole domain.

    Notes
    -----
    Published: losses of one known product can be learnt at the rate T^(3/4) for any d, and at the
    rate sqrt(d T).

    Ours: the algorithm for the first rate, reconstructed from the idea and not from the printed
    algorithm. The one for sqrt(d T) is not implemented: its cover of the set grows exponentially
    with d.

    References
    ----------
    Saha, Natarajan, Netrapalli, Jain: Optimal regret algorithm for pseudo-1d bandit convex
    optimization. ICML 2021.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = PseudoLine(Ball(3), horizon=1000, lipschitz=1.0, seed=1)
    >>> query = learner.ask([0.0, 2.0, 0.0])
    >>> abs(query.point).round(3)
    array([0.   , 0.073, 0.   ])
    >>> learner.tell(query, 0.3)
    """

    feedback = Feedback.CONTEXT
    horizon: int = parameters.horizon(1, "the step depends on it")
    lipschitz: float = parameter(LIPSCHITZ, positive)

    def _choose_pace(self) -> Pace:
        slope = self._in_units("lipschitz")
        return fixed_pace(1, self._inradius, self.horizon, slope)

    def _propose(self, *given: Any) -> tuple[Array, float, Asked]:
        raise FeedbackError(
            "PseudoLine needs a context: call ask(z), where the loss is a function of z.x and z "
            f"has the shape {self.domain.point_shape}"
        )

    def _propose_knowing(self, context: Any, forecast: Any) -> tuple[Array, float, Asked]:
        """Propose on the line of a context. Nothing is explored if the prediction is constant."""
        if forecast is not None:
            return super()._propose_knowing(None, forecast)
        z = finite_array(context, self.domain.point_shape, "context")
        z /= float(np.abs(z).max()) or 1.0  # otherwise its square might overflow
        line = self.geometry.inward(z)
        length = float(np.linalg.norm(line))
        constant = length <= ROUNDING * float(np.linalg.norm(z))
        side = 1.0 if self._noise.draw()[0] >= 0.0 else -1.0
        return super()._propose(s=(0.0 if constant else side / length) * line)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 1000, 4.0 / domain.radius, loss_range=(3, 11), seed=seed)


class OneMeasurementSPSA(Descent):
    """Stochastic approximation from one value a round, compared with a running mean.

    It needs neither a constant nor a horizon. Losses that change void its guarantee.

    Notes
    -----
    Published: the estimate from one measurement. The powers .602 and .101 with which step and reach
    fall, and the rule for the first step, are those of Spall, IEEE Transactions on Aerospace and
    Electronic Systems 34, 1998.

    Ours: the running mean of the losses as a baseline, which must move faster than the centre.
    Directions uniform on the sphere, where Spall draws each entry from {-1, 1}. The projection, and
    the constants, such as the 100 rounds in which the step hardly falls.

    References
    ----------
    Spall: A one-measurement form of simultaneous perturbation stochastic approximation. Automatica
    33, 1997.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = OneMeasurementSPSA(Ball(2), seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    """

    step: float = parameter(
        "The first step for a surprise of 1, in units of the radius.", positive, default=0.5
    )

    def _choose_pace(self) -> Pace:
        dim, reach = self.domain.dim, FIRST_REACH * self._inradius
        eta = self.step * reach / dim
        return Pace(dim, reach, 1.0 - FIRST_REACH, eta, 100.0, 0.602, 0.101, baseline=True)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, seed=seed)
        yield cls(domain, 0.1, loss_range=(3, 11), seed=seed)
