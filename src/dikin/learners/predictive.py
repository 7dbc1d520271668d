"""Learn from the surprise, not from the loss: the learner to begin with.

The estimate of a gradient from one value is as noisy as that value is large. A constant may be
taken off it without bias, if it is fixed before the direction is drawn: a forecast b_t of the loss.
What is left is the surprise r_t. In working units, with S_t = sum_{s<=t} (sigma_s + lambda_s),

    H_t     = Hessian(psi)(y_t) + eta_t S_{t-1} I
    x_t     = y_t + z_t,  z_t = H_t^(-1/2) s_t,  s_t uniform on the unit sphere
    r_t     = f_t(x_t) - b_t, clipped to [-c_t, c_t]
    g_t     = d r_t H_t z_t
    y_{t+1} = argmin_u  sum_{s<=t} [ g_s.u + sigma_s/2 |u - y_s|^2 + lambda_s/2 |u|^2 ]
                        + psi_0(u)/eta_{t+1}

where psi_0(u) = psi(u) - psi(u_0) - psi'(u_0).(u - u_0) is least at the start u_0: there it begins.
The quadratic of lambda is around the analytic centre, wherever it begins. With a memory of m rounds
every older term is multiplied by 1 - 1/m a round.

How b_t comes about is in `dikin.forecasts`, c_t in `predictive_levels`, lambda_t and eta_t in
`predictive_schedule`. All of it may be anything that is known before s_t is drawn: the certificate
(`predictive_certificate`) pays for whatever was chosen, and docs/mathematics.md, section 13, proves
it for late answers, a start and a memory at once.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite, isnan, nan, sqrt
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from dikin import forecasts
from dikin.arguments import (
    LARGEST,
    moderate,
    nonnegative,
    number,
    optional,
    true_or_false,
    whole,
)
from dikin.domains.base import Array, Domain, Geometry
from dikin.errors import (
    ForecastError,
    LossError,
    LossRangeError,
    OutsideDomainError,
    ParameterError,
    StartWarning,
    shown,
)
from dikin.kernel import compilable
from dikin.learners import predictive_certificate as certificate
from dikin.learners import predictive_levels as levels
from dikin.learners import predictive_schedule as schedule
from dikin.learners.base import ROUNDING, range_limit, real_number
from dikin.learners.kernel_learner import KernelLearner, LearnerState, Memo, Proposal
from dikin.learners.parameters import (
    LIPSCHITZ,
    SMOOTHNESS,
    Parameter,
    limit_of_lipschitz,
    limit_of_smooth,
)
from dikin.learners.predictive_certificate import Bound, Centre, look_ahead
from dikin.learners.predictive_levels import REACH, clip, measuring
from dikin.learners.predictive_state import MEASURED, Numbers, Plan, first_numbers, smoothness_of
from dikin.learners.threads import locked
from dikin.log_limit import LogLimit
from dikin.units import LossRange, Units
from dikin.vectors import add_scaled, multiply

logger = logging.getLogger("dikin")

ENORMOUS = 1e6
"""Times the curvature of a bowl that fills the range: more is taken for an error."""
EDGE, NEAR = 1e-3, 0.05
"""How far from the boundary a start must be, and should be, as a share of the way from the centre.
The barrier is steep there: the nearer, the longer it takes to leave."""


@dataclass(slots=True)
class Besides:
    """What comes with an answer besides the loss, and what the loss says of it."""

    regression: float = forecasts.NONE
    """What a regression on covariates expects of the loss, without having seen it; or NONE."""
    precision: float = 1.0
    """How much the loss teaches: 1, and less where it is known to be noisier."""
    believed: float | None = None
    """Written by the learner: the loss as forecasters learn it; None if they do not."""


class PredictiveKernel(NamedTuple):
    """A round of the learner."""

    geometry: Any
    plan: Any

    def ask(self, state: LearnerState, s: Array, metric: Array, u: Array) -> Proposal:
        n = state.numbers
        shift = n.rate * n.sums.curvature
        square, trace = self.geometry.explore(state.iterate, 1.0, shift, s, metric)
        unit = 1.0 / sqrt(square)
        far = REACH * unit if measuring(n.levels) else unit
        norm = self.geometry.point(state.iterate, metric, s, far, u)
        return norm, trace, unit

    def tell(
        self, round: int, memo: Memo, loss: float, curvature: float, state: LearnerState
    ) -> None:
        plan, n, linear = self.plan, state.numbers, state.linear
        before = n.rate
        if measuring(n.levels):
            learn_size(self.geometry, plan, round, memo, loss, state)
            if not measuring(n.levels):
                begin_at_start(self.geometry, plan, state)
            return
        weight = 1.0 / before
        learn(self.geometry, plan, round, memo, loss, curvature, state)
        after = weight if n.rate == before else 1.0 / n.rate
        if plan.slope.size > 0:
            add_scaled(plan.keep * weight - after, plan.slope, linear)
        self.geometry.solve(linear, n.sums.curvature, after, state.iterate)
        if n.rate != before:
            barrier = certificate.start_barrier(self.geometry, plan, state.iterate)
            if not schedule.pay_for_rate(plan, n, float(round), weight, barrier):
                n.rate = before
                if plan.slope.size > 0:
                    add_scaled(after - weight, plan.slope, linear)
                self.geometry.solve(linear, n.sums.curvature, weight, state.iterate)


@compilable
def fade(plan: Plan, state: LearnerState) -> None:
    """What a round leaves of the sums before it."""
    if plan.keep < 1.0:
        certificate.discount(state.numbers.sums, plan.keep)
        multiply(plan.keep, state.linear, state.linear)
        multiply(plan.keep, state.excess, state.excess)


@compilable
def begin_at_start(geometry: Any, plan: Plan, state: LearnerState) -> None:
    """The centre at the start, with the rate that has just been chosen."""
    n = state.numbers
    weight = 1.0 / n.rate
    if plan.slope.size > 0:
        multiply(-weight, plan.slope, state.linear)
    geometry.solve(state.linear, n.sums.curvature, weight, state.iterate)


@compilable
def learn(
    geometry: Any,
    plan: Plan,
    round: int,
    memo: Memo,
    loss: float,
    curvature: float,
    state: LearnerState,
) -> None:
    """Take in an answer, but for the new centre."""
    n, then, iterate = state.numbers, memo.state.numbers, memo.state.iterate
    _, trace, unit = memo.asked
    stiff = plan.dim / trace - then.rate * then.sums.curvature
    precision = then.forecasters.precision
    if measuring(then.levels):
        # Late: today's forecast and level serve, which its direction did not move.
        then, trace, unit = n, REACH * REACH * trace, unit / REACH
    expected, level = expectation(plan, then), then.levels.current
    surprise = clip(loss, 0.5 * plan.widest) - expected
    weighed, told = surprise, loss
    if precision != 1.0:
        weighed, told = precision * surprise, expected + precision * (loss - expected)
    learnt, slope = levels.clipped_surprise(plan, n.levels, weighed, level), plan.dim * unit
    fade(plan, state)  # not before: the state that was asked may be the same
    if not levels.is_fault(plan, weighed, level):
        learn_forecast(n, then, believed(then, expected, told), round)
    g_y, square = geometry.linear_update(
        iterate, memo.metric, memo.s, slope * learnt, curvature, state.linear
    )
    if learnt != surprise:
        g_y += geometry.linear_update(
            iterate, memo.metric, memo.s, slope * (surprise - learnt), 0.0, state.excess
        )[0]
    cost, smooth = certificate.exploring_price(plan, n.levels, trace)
    lam = schedule.regularisation(plan, n, cost, smooth, trace, curvature)
    certificate.add_answer(n.sums, g_y, square, trace, cost, curvature, lam)
    levels.update_levels(plan, n, weighed, level, loss, round)
    if abs(loss) > 0.5 * plan.widest + ROUNDING and learnt == weighed:
        n.sums.clipped += 1.0
    schedule.update_rate(plan, n, learnt != weighed, round, stiff)


@compilable
def learn_size(
    geometry: Any, plan: Plan, round: int, memo: Memo, loss: float, state: LearnerState
) -> None:
    """Take in an answer that shows how large losses are: it does not move the centre.

    What it says of the gradient goes into the excess, as if all of it had been clipped: the
    certificate counts it. The surprise is the difference from the median of the losses before it,
    and that of the first loss from the second. A curvature that is told meanwhile is not used. With
    a memory the first eight weigh the same, however many there are: what a round weighs must not
    depend on losses.
    """
    n, excess = state.numbers, state.excess
    _, trace, unit = memo.asked
    if round > MEASURED:
        fade(plan, state)
    trace, slope = REACH * REACH * trace, plan.dim * unit / REACH
    surprise = 1.0
    if round > 1:
        surprise = loss - levels.sample_median(n.levels.samples, round - 1)
    if round == 2:
        multiply(-surprise, excess, excess)
        n.sums.g_y *= -surprise
    g_y, square = geometry.linear_update(
        memo.state.iterate, memo.metric, memo.s, slope * surprise, 0.0, excess
    )
    cost = certificate.exploring_price(plan, n.levels, trace)[0]
    certificate.add_answer(n.sums, g_y, square, trace, cost, 0.0, 0.0)
    learn_forecast(n, memo.state.numbers, loss, round)
    levels.measure(plan, n, loss, round)


@compilable
def expectation(plan: Plan, n: Numbers) -> float:
    """The forecast of the loss of a round, from the numbers when it was asked."""
    return clip(forecasts.forecast(n.forecasters), 0.5 * plan.widest)


@compilable
def believed(n: Numbers, expected: float, loss: float) -> float:
    """The loss as the forecasters learn it: within the level of what they or the user expected."""
    mixture, level = n.forecasters.mixture, n.levels.current
    return min(max(loss, min(expected, mixture) - level), max(expected, mixture) + level)


@compilable
def learn_forecast(n: Numbers, then: Numbers, value: float, rounds: int) -> None:
    """Forecasters learn a value, clipped as it may be.

    `rounds` counts the answers, this one included; `then` are the numbers when it was asked.
    """
    n.levels.low = min(n.levels.low, value)
    n.levels.high = max(n.levels.high, value)
    forecasts.learn(n.forecasters, then.forecasters, value, n.levels.current, float(rounds))


def _remembered(value: Any, name: str) -> float:
    rounds = number(value, name)
    if not 2.0 <= rounds < LARGEST:
        raise ParameterError(
            f"{name} is the number of rounds to remember, at least 2, or None for all; got "
            f"{shown(value)}"
        )
    return rounds


class Predictive(KernelLearner):
    """The learner to begin with: smooth or Lipschitz losses, and no constant that must be known.

    Before each round it forecasts the loss, and it learns from the surprise alone. Where losses can
    be foreseen it has a fraction of the regret of learners that learn from the loss; where they
    cannot, about as much; and what is proved for it holds for any convex losses
    (docs/mathematics.md, section 13).

    Notes
    -----
    On a `Box`, an `Ellipsoid` or a `Product` lengths are measured after every side (axis, part) was
    made equally long, so that units do not matter. There |v| means, in `smoothness` and
    `lipschitz`, the length of v after every side was stretched to the longest, and in the curvature
    that is told its length after every side was shrunk to the shortest. Constants for the plain
    Euclidean length are therefore always right, and may be larger than needed.

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
    equal_sides = True
    _user_sense = ("loss", 1.0)
    """What the user calls a loss, and its sign: a tuner is told values."""
    smoothness = Parameter(
        SMOOTHNESS + " Without one it is tuned for a bowl that fills the range of the losses.",
        optional(nonnegative),
        scaled=Units.curvature,
        limit=limit_of_smooth,
    )
    lipschitz = Parameter(
        LIPSCHITZ + " Both constants may be given.",
        optional(nonnegative),
        scaled=Units.slope,
        limit=limit_of_lipschitz,
    )
    memory = Parameter(
        "Rounds that are remembered, for losses whose minimum drifts: the certificate then bounds "
        "the regret of about the last so many rounds. None for all.",
        optional(_remembered),
    )
    by_lot = Parameter(
        "Whether what is played at a point is decided by lot, as a whole number between two is. "
        "Values that come rarely then say as much as frequent ones, and the level above which a "
        "surprise is clipped does not fall.",
        true_or_false,
    )
    meanings = {
        "loss_range": "The least and the largest loss; one that is told outside counts as the "
        "nearer end. Without it the first eight rounds show how large losses are, and what is "
        "absurdly large afterwards is not learnt from.",
        "start": "A point inside the domain at which to begin: today's setting. None for the "
        "centre.",
    }

    def __init__(
        self,
        domain: Domain,
        smoothness: float | None = None,
        lipschitz: float | None = None,
        loss_range: LossRange = None,
        start: ArrayLike | None = None,
        memory: float | None = None,
        seed: int | None = None,
        by_lot: bool = False,
    ) -> None:
        self.smoothness, self.lipschitz, self.memory = smoothness, lipschitz, memory
        self.by_lot = by_lot
        self._ranged = loss_range is not None
        super().__init__(domain, loss_range, seed)
        self._shortest = self.geometry.shortest  # a search through all sides, and every tell asks
        self.start = None if start is None else _checked_start(domain, start)
        """Where it begins, or None for the centre."""
        self._own = forecasts.NONE
        """The user's forecast of the query that is about to be asked."""
        self._beside: Besides | None = None
        """What came with the answer that is about to be learnt."""
        self._log_limit = LogLimit()
        plan = self._planned()
        self._bound = self._bound_from(plan)
        self._begin(PredictiveKernel(self.geometry, plan), self._first_state(plan))

    @property
    def _plan(self) -> Plan:
        assert isinstance(self._kernel, PredictiveKernel)
        plan: Plan = self._kernel.plan
        return plan

    @property
    def _n(self) -> Numbers:
        numbers: Numbers = self._state.numbers
        return numbers

    def _form(self) -> Geometry:
        return self.domain.equal_sided_geometry(self.units.radius)

    def _planned(self) -> Plan:
        longest, d = self.geometry.longest, float(self.domain.dim)
        slope, lift = np.zeros(0), 0.0
        if self.start is not None:
            slope = self.units.radius * self.geometry.inward(
                self.domain.outward(self._start_gradient())
            )
            chart = self.domain.locate(self.start)
            lift = float(slope @ self._start_vector())
            lift += self.domain.barrier(0.0 * chart) - self.domain.barrier(chart)
        beta, scaled = -1.0, inf
        if self.lipschitz is not None:
            beta = inf
            scaled = moderate(
                self.units.slope(self.lipschitz) * longest, "lipschitz", self.lipschitz
            )
        if self.smoothness is not None:
            beta = self.units.curvature(self.smoothness) * longest**2
            moderate(beta, "smoothness", self.smoothness)
        return Plan(
            dim=d,
            nu=self.domain.nu,
            square_price=(d + 1.0) / (d * (d + 2.0)),
            length_price=1.0 / sqrt(d),
            smoothness=beta,
            guess=schedule.GUESS_RANGED if self._ranged else schedule.GUESS_MEASURED * sqrt(d),
            cap=schedule.CAP if self._ranged else schedule.CAP * (1.0 + 1.0 / sqrt(d)),
            share=schedule.SHARE_RANGED if self._ranged else schedule.SHARE_MEASURED,
            lipschitz=scaled,
            widest=2.0 if self._ranged else inf,
            by_lot=self.by_lot,
            curved=schedule.CURVED if self._ranged else schedule.CURVED_MEASURED,
            keep=1.0 if self.memory is None else 1.0 - 1.0 / self.memory,
            memory=inf if self.memory is None else self.memory,
            slope=slope,
            lift=lift,
        )

    def _first_state(self, plan: Plan) -> LearnerState:
        """The state at the start."""
        geometry, zero = self.geometry, np.zeros(self.geometry.size)
        state = LearnerState(first_numbers(plan), zero, geometry.start(), zero.copy())
        if self.start is not None:
            begin_at_start(geometry, plan, state)
        return state

    def _bound_from(self, plan: Plan) -> Bound:
        """The theorem for the set and the start."""
        if self.start is None:
            return Bound(plan, self.domain)
        u = self._start_vector()
        steepest = self.domain.support(-self._start_gradient())
        return Bound(
            plan, self.domain, sqrt(float(u @ u)), steepest, steepest + float(plan.slope @ u)
        )

    def _start_vector(self) -> Array:
        """u_0."""
        assert self.start is not None
        return self.geometry.preimage((self.start - self.domain.center) / self.units.radius)

    def _start_gradient(self) -> Array:
        """psi'(u_0), as a chart vector."""
        assert self.start is not None
        return self.domain.gradient(self.domain.locate(self.start))

    # --- the game ------------------------------------------------------------------------------

    def _expect(self, forecast: Any) -> None:
        """The forecast counts as far as it lies within reach of the losses told so far.

        An absurd one would else move the mixture however little it weighs.
        """
        self._own = self._within_reach(self.units.loss(_checked_forecast(forecast)), self._n)

    def _within_reach(self, expected: float, n: Numbers) -> float:
        """What is expected of a loss, as far as it is not absurd by the losses told before."""
        known = n.levels
        if self._ranged:
            return clip(expected, 0.5 * self._plan.widest)
        if known.current > 0.0:
            middle, width = 0.5 * (known.low + known.high), known.high - known.low
            return middle + clip(expected - middle, 1.5 * width)
        return expected

    def _propose(self) -> tuple[Array, float, Memo]:
        state = self._state
        if self._own != forecasts.NONE:
            numbers = state.numbers.copy()
            numbers.forecasters.own, self._own = self._own, forecasts.NONE
            state = state._replace(numbers=numbers)
        return self._propose_from(state, self._noise.draw())

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        before, beside = self._n, self._beside
        if beside is not None:
            memo = self._with_besides(memo, beside)
            beside.believed = self._believed(memo.state.numbers, loss)
        super()._learn(memo, loss, curvature)
        if self.clipped > self._plan.keep * before.sums.clipped:
            self._report(loss, memo.state.numbers, before)

    def _with_besides(self, memo: Memo, beside: Besides) -> Memo:
        """A query with what came with its answer."""
        n, f = memo.state.numbers, memo.state.numbers.forecasters.copy()
        f.precision = beside.precision
        if beside.regression != forecasts.NONE and not measuring(n.levels):
            f.regression = self._within_reach(beside.regression, n)
        own = Numbers(n.rate, f, n.levels, n.sums)
        return Memo(LearnerState(own, *memo.state[1:]), *memo[1:])

    def _believed(self, then: Numbers, loss: float) -> float | None:
        """A loss as forecasters learn it; None if they do not.

        `then` are the numbers when it was asked.
        """
        if measuring(self._n.levels):
            return loss
        then = self._n if measuring(then.levels) else then
        expected, precision = expectation(self._plan, then), then.forecasters.precision
        if levels.is_fault(self._plan, precision * (loss - expected), then.levels.current):
            return None
        return believed(then, expected, loss)

    def _has_converged(self, state: LearnerState) -> bool:
        return self.geometry.converged(state.iterate)

    def _report(self, loss: float, then: Numbers, now: Numbers) -> None:
        """A line in the log for a loss of which not all was learnt; some a minute at most."""
        known = now if measuring(then.levels) else then
        if measuring(known.levels) or levels.provisional(self._plan, known.levels):
            return
        expected, level = expectation(self._plan, known), known.levels.current
        surprise = clip(loss, 0.5 * self._plan.widest) - expected
        learnt = levels.clipped_surprise(self._plan, known.levels, surprise, level)
        outside = self._ranged and abs(loss) > 1.0 + ROUNDING
        if not self._log_limit.allows():
            return
        noun, sense = self._user_sense
        scale, offset = sense * self.units.loss_scale, sense * self.units.loss_offset
        low, high = sorted(sense * end for end in self.units.loss_range)
        fault = levels.is_fault(self._plan, surprise, level)
        logger.warning(
            "round %d: the %s %g %s, %g was expected; %s%s",
            self.rounds,
            noun,
            offset + scale * loss,
            f"lies outside {noun}_range=({low:g}, {high:g})" if outside else "is far off",
            offset + scale * expected,
            "nothing is learnt from it"
            if fault
            else f"it is learnt as {offset + scale * (expected + learnt):g}",
            self._log_limit.passed_over(),
        )

    def _numbers(self) -> dict[str, Any]:
        return super()._numbers() | {"excess": self._state.excess}

    def _set_numbers(self, numbers: dict[str, Any]) -> None:
        super()._set_numbers(numbers)
        self._state = self._state._replace(excess=numbers["excess"])

    # --- what it knows -------------------------------------------------------------------------

    @property
    def forecast(self) -> float:
        """What it expects of the next loss; NaN before the first one."""
        return self._forecast_with(forecasts.NONE)

    def _forecast_with(self, regression: float) -> float:
        """The same if a regression on covariates expects this."""
        if self.rounds == 0:
            return nan
        n = self._n
        if regression != forecasts.NONE:
            regression = self._within_reach(regression, n)
        expected = forecasts.mixed(n.forecasters, forecasts.NONE, regression)
        expected = clip(expected, 0.5 * self._plan.widest)
        return self.units.loss_offset + self.units.loss_scale * expected

    @property
    def surprise(self) -> float:
        """How far off its recent forecasts were: the root of their mean squared error.

        NaN before the first one.
        """
        square = self._n.levels.mean_square
        return self.units.loss_scale * sqrt(square) if square > 0.0 else nan

    @property
    def forecasters(self) -> dict[str, float]:
        """The weight of each forecaster in the mixture."""
        return self._n.forecasters.weights

    @property
    def clipped(self) -> float:
        """Rounds whose surprise was clipped (discounted, with a memory)."""
        return self._n.sums.clipped

    @property
    @locked
    def certificate(self) -> float:
        """The bound on the regret so far, in the user's units: E[regret] <= E[certificate].

        NaN where neither `smoothness` nor `lipschitz` was given (`certificate_for` takes a constant
        that one believes in afterwards), where rounding at the boundary decides the centre, and
        without a `loss_range` in the first eight rounds (more while all losses are the same). With
        a `memory` it bounds the regret in which a round weighs 1 - 1/memory of the next; without a
        range the first eight weigh the same.

        What is told may have noise whose mean is 0 at every point; its law may depend on the point.
        With a `loss_range` it lies in it, noise included. Answers may be late: which of them have
        come must depend neither on their directions nor on their losses. In the first eight rounds
        without a range their order must not either, and losses must not depend on the directions of
        those before.
        """
        plan = self._plan
        if self.smoothness is None and self.lipschitz is None:
            return nan
        return self._certified(plan.smoothness, plan.lipschitz, self._n.sums.exploring)

    @locked
    def certificate_for(
        self,
        *,
        smoothness: float | None = None,
        lipschitz: float | None = None,
        varies: float | None = None,
    ) -> float:
        """The certificate for losses of a constant that was not declared, or of another one.

        Choose the constant without looking at the values: the smaller of two certificates of one
        run is no bound.

        Parameters
        ----------
        smoothness, lipschitz
            One of them, in the sense of the constructor.
        varies
            The most by which one loss varies on the domain. By default the width of `loss_range`;
            where none was given nothing is assumed of it.

        Returns
        -------
        float
            The bound on the expected regret so far, in the user's units.

        Raises
        ------
        ParameterError
            If not exactly one of the two constants is given.
        """
        longest, plan, sums = self.geometry.longest, self._plan, self._n.sums
        if (smoothness is None) == (lipschitz is None):
            raise ParameterError(
                "certificate_for needs one of smoothness=... and lipschitz=..., got "
                f"smoothness={shown(smoothness)} and lipschitz={shown(lipschitz)}"
            )
        if smoothness is not None:
            beta = self.units.curvature(nonnegative(smoothness, "smoothness")) * longest**2
            return self._certified(beta, inf, beta * plan.square_price * sums.tau, varies)
        scaled = self.units.slope(nonnegative(lipschitz, "lipschitz")) * longest
        return self._certified(inf, scaled, scaled * plan.length_price * sums.root_tau, varies)

    def _certified(
        self, smoothness: float, lipschitz: float, exploring: float, varies: float | None = None
    ) -> float:
        """The bound for some constants and what exploring costs with them."""
        width = self._plan.widest
        if varies is not None:
            width = nonnegative(varies, "varies") / self.units.loss_scale
        bound = self._bound.value(
            self._n, self._objective(), smoothness, lipschitz, exploring, width
        )
        return self.units.regret(bound)

    def _objective(self) -> float:
        """The least of the sum that the certificate is made of."""
        return certificate.least_objective(self.geometry, self._plan, self._state)

    @property
    @locked
    def exploring_cost(self) -> float:
        """What exploring costs at most in the next round, in the user's units.

        It is for the constants that were declared; where none was, for the smoothness that is
        guessed, and then it is no bound. NaN while losses are only measured.
        """
        n = self._n
        if measuring(n.levels):
            return nan
        trace = self._trace(n.rate * n.sums.curvature)
        return self.units.regret(certificate.exploring_price(self._plan, n.levels, trace)[0])

    @locked
    def outlook(self, rounds: int = 1000) -> float:
        """How much the certificate is expected to grow: a forecast of the bound, not a bound.

        It is what the tuning would come to if surprises stayed as large as they are now, none were
        clipped, the curvature told stayed at its mean and the centre did not move. Where no
        constant was declared, it is for the smoothness that is guessed. With a `memory` the
        certificate forgets, and the growth may be negative.

        Parameters
        ----------
        rounds
            How many rounds to look ahead.

        Returns
        -------
        float
            The growth over these rounds, in the user's units; NaN while losses are only measured.
        """
        ahead = whole(rounds, "rounds", 1, "how many rounds to look ahead")
        plan, n, objective = self._plan, self._n, self._objective()
        if measuring(n.levels) or isnan(objective):
            return nan
        later, y = n.copy(), self._center_vector()
        barrier = certificate.start_barrier(self.geometry, plan, self._state.iterate)
        centre = Centre(self._trace, barrier, float(y @ y))
        noise, left = look_ahead(plan, later, self._rounds_in_range, ahead, centre)
        then = left * (objective - centre.regularisers(n)) - noise + centre.regularisers(later)
        beta, lipschitz, bound = smoothness_of(plan, n.levels), plan.lipschitz, self._bound.value
        return self.units.regret(
            bound(later, then, beta, lipschitz, later.sums.exploring, plan.widest)
        ) - self.units.regret(bound(n, objective, beta, lipschitz, n.sums.exploring, plan.widest))

    def _trace(self, shift: float) -> float:
        """The trace of H^-1 at the centre, where `shift` is eta S."""
        direction, metric = np.zeros(self.geometry.size), np.empty(self._metric_size)
        trace: float = self.geometry.explore(self._state.iterate, 1.0, shift, direction, metric)[1]
        return trace

    @cached_property
    def _fixed_limit(self) -> tuple[float, str]:
        stretch = (self.geometry.longest / self._shortest) ** 2
        most, reason = self._declared_limit() or range_limit(self.units, self.domain)
        return most * stretch, reason

    @property
    def curvature_limit(self) -> tuple[float, str]:
        """The largest possible curvature in the user's units, and the reason for it."""
        if self._ranged or self.smoothness is not None or self.lipschitz is not None:
            return self._fixed_limit
        if measuring(self._n.levels):
            return LARGEST, "the largest number that can be computed with"
        most = ENORMOUS * self._n.levels.top / (self.domain.radius * self._shortest) ** 2
        return most, "a million times what a bowl has that fills the range of the losses so far"

    @property
    def accepts(self) -> tuple[float, float]:
        """Any loss may be told."""
        return -inf, inf

    def _scaled_loss(self, loss: Any) -> float:
        value = loss if type(loss) is float else real_number(loss, "loss", LossError)
        if not isfinite(value):
            raise LossError(f"the loss must be a finite number, got {value}. Nothing was changed.")
        if not abs(value) < LARGEST:
            raise LossRangeError(
                f"the loss {value:g} is too large to compute with; at most {LARGEST:g}, choose "
                "another unit of loss. Nothing was changed."
            )
        return self.units.loss(value)

    def _scaled_curvature(self, curvature: float) -> float:
        return super()._scaled_curvature(curvature) * self._shortest**2

    def arguments(self) -> dict[str, Any]:
        start = None if self.start is None else self.start.tolist()
        return super().arguments() | {"start": start}

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        unit = 1.0 / domain.radius**2
        inner = domain.point(0.5 * domain.inradius * np.eye(domain.dim)[0])
        yield cls(domain, unit, loss_range=(3, 11), seed=seed)
        yield cls(domain, lipschitz=2.0 / domain.radius, start=inner, memory=100, seed=seed)
        yield cls(domain, 20 * unit, 3.0 / domain.radius, loss_range=(-1, 1), seed=seed)
        yield cls(domain, seed=seed)


def _checked_forecast(forecast: Any) -> float:
    """A forecast that was given to ask."""
    try:
        value = real_number(forecast, "forecast", ForecastError)
    except ForecastError as reason:
        raise ForecastError(
            f"a forecast is one number, the loss that you expect; got {shown(forecast)}. Nothing "
            "was changed."
        ) from reason
    if not abs(value) < LARGEST:
        raise ForecastError(
            f"a forecast must be a finite number below {LARGEST:g}, got {value}. Nothing was "
            "changed."
        )
    return value


def _checked_start(domain: Domain, start: ArrayLike) -> Array:
    point = domain.require(start)
    room = 1.0 - domain.gauge(domain.locate(point))
    advice = f"for example a tenth of the way to the centre {domain.center}"
    if room < EDGE:
        raise OutsideDomainError(
            f"{domain}: start={point} lies on the boundary, or within a thousandth of it, where "
            f"the barrier is too steep to leave; begin a little inside, {advice}"
        )
    if room < NEAR:
        warnings.warn(
            f"start={point} is close to the boundary of {domain}, where steps are small: if the "
            f"best point is far away, it takes long to get there. Better begin inside, {advice}",
            StartWarning,
            stacklevel=4,
        )
    point.setflags(write=False)
    return point
