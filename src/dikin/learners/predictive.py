"""Learn from the surprise, not from the loss: the learner to begin with.

In working units, with a forecast b_t that is fixed before the direction is drawn, a start u_0 and
S_t = sum_{s<=t} (sigma_s + lambda_s),

    H_t     = Hessian(psi)(y_t) + eta_t S_{t-1} I
    x_t     = y_t + z_t,  z_t = H_t^(-1/2) s_t,  s_t uniform on the unit sphere
    r_t     = f_t(x_t) - b_t, clipped to [-c_t, c_t]
    g_t     = d r_t H_t z_t
    y_{t+1} = argmin_u  sum_{s<=t} [ g_s.u + sigma_s/2 |u - y_s|^2 + lambda_s/2 |u|^2 ]
                        + psi_0(u)/eta_{t+1},  psi_0(u) = psi(u) - psi(u_0) - psi'(u_0).(u - u_0)

With a memory of m rounds every older term is multiplied by 1 - 1/m a round. lambda_t, eta_t and c_t
are in `predictive_schedule`. docs/mathematics.md, section 13, has the certificate and all proofs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import inf, nan, sqrt
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from dikin.arguments import LARGEST, checked_range, nonnegative, number
from dikin.domains.base import Array, Domain, Geometry
from dikin.errors import (
    DomainError,
    FeedbackError,
    LossError,
    LossRangeError,
    ParameterError,
    SlowLearnerWarning,
    shown,
)
from dikin.kernel import compilable
from dikin.learners import parameters
from dikin.learners import predictive_schedule as schedule
from dikin.learners.base import ROUNDING
from dikin.learners.kernel_learner import Asked, KernelLearner, LearnerState, Proposal
from dikin.learners.parameters import optional, parameter
from dikin.learners.predictive_schedule import (
    CLIPPED,
    CURVATURE,
    DISCOUNTED,
    EXPLORING,
    G_Y,
    HIGH,
    LEVEL,
    LOW,
    MIXTURE,
    OWN,
    PRICE,
    RATE,
    RATE_CHANGES,
    REACH,
    ROOT_TAU,
    SIGMA,
    SIGMA_TAU,
    SIGMA_Y_SQUARE,
    TAU,
    TOP,
    Constants,
    clip,
    expectation,
    first_numbers,
    learn_forecast,
    measuring,
)
from dikin.learners.units import LossRange, moderate
from dikin.players import locked
from dikin.silence import warn
from dikin.vectors import add_combination, combine, dot

ACCURACY, STEP, SMALLEST = 1e-11, 1e-2, 1e-250
"""Accuracy of the least of the models in units of its largest value, the factor by which the weight
of the barrier falls on the way there, and the size below which models are bounded by their size."""
EDGE, NEAR = 1e-3, 0.05
"""Least distance of a start from the boundary, as a share of the way from the centre, and the one
below which it is warned of: the barrier is steep there."""


class Round(Constants):
    """A round of the learner on a set."""

    def ask(self, state: LearnerState, s: Array, metric: Array, u: Array) -> Proposal:
        n = state.numbers
        shift = n[RATE] * n[CURVATURE]
        seen = self.geometry.explore(state.iterate, 1.0, shift, s, metric[2:])
        unit = (REACH if measuring(n) else 1.0) / sqrt(seen[0])
        return self.geometry.point(state.iterate, metric[2:], seen, unit, u), unit, seen

    def tell(
        self, round: int, asked: Asked, loss: float, curvature: float, state: LearnerState
    ) -> None:
        (then, _, _), _, (_, _, seen) = asked
        stiff = self.dim / seen[1] - then[RATE] * then[CURVATURE]
        discount(self, round, state)
        if not measuring(state.numbers):
            learn(self, round, asked, loss, curvature, stiff, state)
            return
        learn_size(self, round, asked, loss, state)
        if not measuring(state.numbers):
            begin_at_start(self, state)


@compilable
def learn(
    c: Constants,
    round: int,
    asked: Asked,
    loss: float,
    sigma: float,
    stiff: float,
    state: LearnerState,
) -> None:
    """Take in an answer."""
    n, size, ((then, _, _), metric, (_, unit, seen)) = state.numbers, c.geometry.size, asked
    trace = seen[1]
    if measuring(then):
        # Late: today's forecast and level serve, which its direction did not move.
        then, trace, unit = n, REACH * REACH * trace, unit / (REACH * REACH)
    # The surprise r, the part of it that is learnt, and the forecast.
    expected, level = expectation(c, then), then[LEVEL]
    surprise = clip(loss, 0.5 * c.widest) - expected
    fault = schedule.is_fault(c, surprise, level)
    learnt = 0.0 if fault else clip(surprise, level)
    if not fault:  # forecasters learn what is within the level of what they or the user expected
        mixture = then[MIXTURE]
        low, high = min(expected, mixture) - level, max(expected, mixture) + level
        learn_forecast(n, then, min(max(loss, low), high), round)
    # The certificate, of the whole surprise, and the models, of what is learnt. Lambda.
    price, smooth = certify(c, asked, c.dim * unit, surprise, trace, sigma, state)
    add_combination(learnt, metric[0], -sigma, metric[1], state.linear[:size])
    n[CURVATURE] += sigma + schedule.regularisation(c, n, price, smooth, trace, sigma)
    n[EXPLORING] += price
    # The level, the rate, the centre.
    schedule.update_levels(c, n, surprise, level, loss, round)
    if abs(loss) > 0.5 * c.widest + ROUNDING and learnt == surprise:
        n[CLIPPED] += 1.0
    move_centre(c, state, round, stiff, learnt != surprise)


@compilable
def learn_size(c: Constants, round: int, asked: Asked, loss: float, state: LearnerState) -> None:
    """Take in an answer that shows how large losses are. Only the certificate counts it."""
    n, size, ((then, _, _), _, (_, unit, seen)) = state.numbers, c.geometry.size, asked
    surprise = 1.0
    if round > 1:
        last = min(round - 1, schedule.MEASURED) - 1
        surprise = loss - 0.5 * (n[last // 2] + n[(last + 1) // 2])
    if round == 2:  # the surprise of the first answer is known now
        np.multiply(state.linear[size:], -surprise, state.linear[size:])
        n[G_Y] *= -surprise
    square = REACH * REACH
    certify(c, asked, c.dim * unit / square, surprise, square * seen[1], 0.0, state)
    learn_forecast(n, then, loss, round)
    schedule.measure(c, n, loss, round)


@compilable
def discount(c: Constants, round: int, state: LearnerState) -> None:
    """Discount all sums where the memory is finite. The first answers weigh the same."""
    n, keep = state.numbers, c.keep
    if keep < 1.0 and (round > schedule.MEASURED or not measuring(n)):
        np.multiply(state.linear, keep, state.linear)
        for i in DISCOUNTED:
            n[i] *= keep


# --- the certificate, of any schedule and centres: docs/mathematics.md, Theorem 13 ---------------


@compilable
def certify(
    c: Constants,
    asked: Asked,
    slope: float,
    surprise: float,
    tau: float,
    sigma: float,
    state: LearnerState,
) -> tuple[float, bool]:
    """Add an answer, and return the price of exploring and whether it is that of a smooth loss.

    The first rows of the metric become the estimate for a surprise of 1, and the centre.
    """
    n, size, ((_, _, iterate), metric, (_, _, seen)) = state.numbers, c.geometry.size, asked
    gradient, centre = metric[0], metric[1]
    gradient[:] = 0.0
    g_y, y_square = c.geometry.linear_update(iterate, metric[2:], seen, slope, 0.0, gradient)
    np.multiply(iterate[0], 1.0, centre)
    d = c.dim
    smooth = schedule.smoothness_of(c, n) * (d + 1.0) / (d * (d + 2.0)) * tau
    price = min(smooth, c.lipschitz * sqrt(tau / d))
    n[G_Y] += surprise * g_y
    n[SIGMA] += sigma
    n[SIGMA_Y_SQUARE] += sigma * y_square
    n[TAU] += tau
    n[ROOT_TAU] += sqrt(tau)
    n[SIGMA_TAU] += sigma * tau
    n[PRICE] += price
    add_combination(surprise, gradient, -sigma, centre, state.linear[size:])
    return price, price == smooth


def least_of_models(geometry: Any, nu: float, linear: Array, sigma: float) -> float:
    """At most min linear.u + sigma/2 |u|^2 over the set, and less by ACCURACY only."""
    with np.errstate(over="ignore"):
        most = float(np.linalg.norm(linear)) + sigma  # the set lies in the unit ball
    if not SMALLEST < most < inf:
        return -most if most <= SMALLEST else nan  # of sums that overflowed nothing is known
    linear, sigma, iterate = linear / most, sigma / most, geometry.start()
    last = 0.5 * ACCURACY / nu
    weight = last if geometry.compilable else 1.0
    while True:
        geometry.solve(linear, sigma, weight, iterate)
        if weight == last:
            u = geometry.vector(iterate)
            return most * (float(linear @ u) + 0.5 * sigma * float(u @ u) - nu * weight)
        weight = max(weight * STEP, last)


# --- the centre ----------------------------------------------------------------------------------


@compilable
def begin_at_start(c: Constants, state: LearnerState) -> None:
    """Put the centre at the start, with the rate that has just been chosen."""
    state.linear[: c.geometry.size] = 0.0
    solve_centre(c, state, -1.0 / state.numbers[RATE])


@compilable
def move_centre(c: Constants, state: LearnerState, round: int, stiff: float, clipped: bool) -> None:
    """The next rate, if it is due, and the next centre. A rise must be within its budget."""
    n, before = state.numbers, state.numbers[RATE]
    if clipped or round < schedule.WINDOW or round % schedule.EVERY == 0:
        n[RATE] = schedule.next_rate(c, n, min(round + 1.0, c.memory), stiff)
    after = n[RATE]
    solve_centre(c, state, c.keep / before - 1.0 / after)
    if after != before:
        barrier = c.geometry.barrier(state.iterate)  # psi_0
        if c.slope.size > 0:
            barrier += c.lift - dot(state.iterate[0], c.slope)
        cost = (c.keep / before - 1.0 / after) * barrier
        if cost > 0.0 and n[RATE_CHANGES] + cost > schedule.budget(c, n, round):
            n[RATE] = before
            solve_centre(c, state, 1.0 / after - 1.0 / before)
        else:
            n[RATE_CHANGES] += cost


@compilable
def solve_centre(c: Constants, state: LearnerState, more: float) -> None:
    """The centre, where psi'(u_0) counts so much more than before."""
    n, linear = state.numbers, state.linear[: c.geometry.size]
    if c.slope.size > 0:
        combine(more, c.slope, 1.0, linear, linear)
    c.geometry.solve(linear, n[CURVATURE], 1.0 / n[RATE], state.iterate)


def _remembered(value: Any, name: str) -> float:
    rounds = number(value, name)
    if not 2.0 <= rounds < LARGEST:
        raise ParameterError(f"{name} must be at least 2 rounds, or None for all, got {rounds}")
    return rounds


class Predictive(KernelLearner):
    """The learner to begin with: smooth or Lipschitz losses, and no constant that must be known.

    Before each round it forecasts the loss, and it learns from the surprise alone. Where losses can
    be foreseen it has a fraction of the regret of other learners, and elsewhere about as much. Its
    guarantee holds for any convex losses (docs/mathematics.md, section 13).

    Notes
    -----
    On a `Box`, an `Ellipsoid` or a `Product` lengths are measured after every side (axis, part) was
    stretched to the longest, in `smoothness` and `lipschitz`, or shrunk to the shortest, in the
    curvature that is told. Constants for the Euclidean length are right, if larger than needed.

    Examples
    --------
    >>> from dikin import Box
    >>> learner = Predictive(Box([0, 0], [10, 2]), seed=7)
    >>> query = learner.ask()
    >>> learner.tell(query, loss=12.3)
    >>> learner.rounds
    1
    """

    measures_range = True
    smoothness: float | None = parameter(
        parameters.SMOOTHNESS + " By default that of a bowl that fills the range of the losses.",
        optional(nonnegative),
        default=None,
    )
    lipschitz: float | None = parameter(
        parameters.LIPSCHITZ + " Both constants may be given.",
        optional(nonnegative),
        default=None,
        kw_only=True,
    )
    loss_range: LossRange = parameter(
        "The least and the largest loss. A loss outside counts as the nearer end. Without a range "
        "the first eight rounds show how large losses are, and nothing is learnt afterwards from "
        "absurdly large ones.",
        optional(lambda ends, _: checked_range(ends)),
        default=None,
        kw_only=True,
    )
    memory: float | None = parameter(
        "Number of rounds to remember, for losses whose minimum drifts: the certificate then "
        "bounds the regret of about the last so many rounds. None for all.",
        optional(_remembered),
        default=None,
        kw_only=True,
    )
    start: ArrayLike | None = parameter(
        "A point inside the domain at which to begin. None for the centre.",
        default=None,
        kw_only=True,
    )

    def _begin(self) -> None:
        self._ranged = self.loss_range is not None
        self._first = None if self.start is None else _checked_start(self.domain, self.start)
        self.start = None if self._first is None else self._first.tolist()
        kernel, n, zeros = self._constants(), first_numbers(), np.zeros(2 * self.geometry.size)
        if self._ranged:
            n[LEVEL] = n[TOP] = kernel.widest
            n[RATE] = schedule.largest_rate(kernel, n[LEVEL])
        state = LearnerState(n, zeros, self.geometry.start())
        begin_at_start(kernel, state)
        self._start(kernel, state, own_rows=2)

    def _form(self) -> Geometry:
        return self.domain.geometry(self.units.radius, equal_sides=True)

    def _constants(self) -> Round:
        d, memory = float(self.domain.dim), self.memory or inf
        slope, lift = np.zeros(0), 0.0
        if self._first is not None:
            chart = self.domain.locate(self._first)
            outward = self.domain.outward(self.domain.gradient(chart))
            slope = self.units.radius * self.geometry.inward(outward)
            u_0 = self.geometry.inward((self._first - self.domain.center) / self.units.radius)
            lift = float(slope @ (u_0 / self.geometry.squares))
            lift += self.domain.barrier(0.0 * chart) - self.domain.barrier(chart)
        beta, scaled = -1.0, inf
        if self.lipschitz is not None:
            beta, scaled = inf, self._in_units("lipschitz") * self.geometry.longest
            moderate(scaled, "lipschitz", self.lipschitz)
            if scaled > 0.0:  # a larger one is safe, and the square of a smaller one would be 0
                scaled = max(scaled, 1.0 / LARGEST)
        if self.smoothness is not None:
            beta = self._in_units("smoothness") * self.geometry.longest**2
            moderate(beta, "smoothness", self.smoothness)
        declared = self.geometry, d, self.domain.nu, beta, scaled
        return Round(
            *declared, slope, lift, memory, 1.0 - 1.0 / memory, *schedule.tuned(self._ranged, d)
        )

    def _propose_knowing(self, context: Any, forecast: Any) -> tuple[Array, float, Asked]:
        """Propose with the user's forecast, within reach of the losses so far."""
        if context is not None:
            return super()._propose_knowing(context, None)
        value = number(forecast, "the forecast", FeedbackError)
        if not abs(value) < LARGEST:
            raise FeedbackError(f"a forecast must be below {LARGEST:g}, got {value}")
        n = self._state.numbers.copy()
        n[OWN] = clip(self.units.loss(value), 0.5 * self._kernel.widest)
        if not (self._ranged or measuring(n)):
            middle, width = 0.5 * (n[LOW] + n[HIGH]), n[HIGH] - n[LOW]
            n[OWN] = middle + clip(n[OWN] - middle, 1.5 * width)
        return self._propose(n)

    @property
    def forecast(self) -> float:
        """The forecast of the next loss. NaN before the first one."""
        expected = expectation(self._kernel, self._state.numbers)
        return self.units.loss_offset + self.units.loss_scale * expected if self.rounds else nan

    @property
    def clipped(self) -> float:
        """The number of rounds whose surprise was clipped (discounted, with a memory)."""
        return float(self._state.numbers[CLIPPED])

    @property
    @locked
    def certificate(self) -> float:
        """The bound on the regret so far, in the user's units: E[regret] <= E[certificate].

        NaN where neither `smoothness` nor `lipschitz` was given (see `certificate_for`), and while
        the size of losses is measured. With a `memory` a round weighs 1 - 1/memory of the next, and
        those that were measured weigh the same. Losses may have noise of mean 0, within a declared
        `loss_range`. The set of answers that have come must depend neither on their directions nor
        on their losses. Before the eighth their order must not either.
        """
        known = self.smoothness is not None or self.lipschitz is not None
        return self._bound(self._state.numbers[PRICE]) if known else nan

    @locked
    def certificate_for(
        self, *, smoothness: float | None = None, lipschitz: float | None = None
    ) -> float:
        longest, d, n = self.geometry.longest, self._kernel.dim, self._state.numbers
        if smoothness is not None and lipschitz is None:
            beta = self.units.curvature(nonnegative(smoothness, "smoothness")) * longest**2
            return self._bound(beta * (d + 1.0) / (d * (d + 2.0)) * n[TAU])
        if lipschitz is not None and smoothness is None:
            scaled = self.units.slope(nonnegative(lipschitz, "lipschitz")) * longest
            return self._bound(scaled / sqrt(d) * n[ROOT_TAU])
        raise ParameterError(
            "certificate_for needs one of smoothness=... and lipschitz=..., got "
            f"smoothness={shown(smoothness)} and lipschitz={shown(lipschitz)}"
        )

    def _bound(self, exploring: float) -> float:
        """The bound of Theorem 13, where exploring costs this."""
        n, estimates = self._state.numbers, self._state.linear[self.geometry.size :]
        if measuring(n):
            return nan
        total = exploring - 0.5 * n[SIGMA_TAU] / (self._kernel.dim + 2.0)
        total += n[G_Y] - 0.5 * n[SIGMA_Y_SQUARE]
        total -= least_of_models(self.geometry, self._kernel.nu, estimates, n[SIGMA])
        return self.units.regret(total)

    @cached_property
    def curvature_limit(self) -> tuple[float, str]:
        """The largest possible curvature in the user's units, and the reason for it."""
        limit = self._declared_limit()
        if limit is None and not self._ranged:
            return LARGEST, "the largest number that can be computed with"
        most, reason = limit or self._range_limit()
        return most * (self.geometry.longest / self.geometry.shortest) ** 2, reason

    @property
    def accepts(self) -> tuple[float, float]:
        """Any loss may be told."""
        return -inf, inf

    def _scaled_answer(self, loss: Any) -> float:
        value = loss if type(loss) is float else number(loss, "the loss", LossError)
        if not abs(value) < LARGEST:
            raise LossRangeError(
                f"the loss must be a finite number below {LARGEST:g}, got {value:g}: choose "
                "another unit of loss. Nothing was changed."
            )
        return self.units.loss(value)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        unit = 1.0 / domain.radius**2
        inner = domain.point(0.5 * domain.inradius * np.eye(domain.dim)[0])
        yield cls(domain, unit, loss_range=(3, 11), seed=seed)
        yield cls(domain, lipschitz=2.0 / domain.radius, start=inner, memory=100, seed=seed)
        yield cls(domain, 20 * unit, lipschitz=3.0 / domain.radius, loss_range=(-1, 1), seed=seed)
        yield cls(domain, seed=seed)


def _checked_start(domain: Domain, start: ArrayLike) -> Array:
    point = domain.require(start)
    point.setflags(write=False)
    room = 1.0 - domain.gauge(domain.locate(point))
    where = f"start={point} is close to the boundary of {domain}, where"
    advice = f"begin inside, for example a tenth of the way to the centre {domain.center}"
    if room < EDGE:
        raise DomainError(f"{where} the barrier is too steep to leave; {advice}")
    if room < NEAR:
        warn(f"{where} steps are small; {advice}", SlowLearnerWarning, stacklevel=4)
    return point
