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
`predictive_schedule`. All of it may be anything that is known before s_t is drawn, and so may y_t:
with memory="auto" the curvature and the memory are measured (`predictive_adaptation`), and in
contexts y_t is the mean of several such points (`predictive_centres`). The certificate is made of
the estimates alone,

    sum [ghat_t.y_t + a_t] - min_u sum ghat_t.u        (sigma_t = 0; ghat_t: with r_t not clipped)

with a_t what exploring costs (`predictive_certificate`). docs/mathematics.md, section 13, proves it
for late answers, curvature, memories and contexts at once.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isfinite, nan, sqrt
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from dikin import forecasts
from dikin.arguments import (
    LARGEST,
    moderate,
    nonnegative,
    number,
    optional,
    real_number,
    true_or_false,
    whole,
)
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
from dikin.kernel import compilable, from_values, to_saved
from dikin.learners import predictive_adaptation as adaptation
from dikin.learners import predictive_centres as centres
from dikin.learners import predictive_certificate as certificate
from dikin.learners import predictive_expected as contextual
from dikin.learners import predictive_levels as levels
from dikin.learners import predictive_schedule as schedule
from dikin.learners.base import ROUNDING, range_limit
from dikin.learners.kernel_learner import (
    EMPTY,
    CompiledParts,
    KernelLearner,
    LearnerState,
    Memo,
    Proposal,
)
from dikin.learners.parameters import (
    LIPSCHITZ,
    SMOOTHNESS,
    Parameter,
    limit_of_lipschitz,
    limit_of_smooth,
)
from dikin.learners.predictive_adaptation import TRACKS
from dikin.learners.predictive_levels import REACH, clip, measuring
from dikin.learners.predictive_state import MEASURED, Levels, Numbers, Plan, first_numbers
from dikin.learners.threads import locked
from dikin.log_limit import LogLimit
from dikin.units import LossRange, Units
from dikin.vectors import clear

logger = logging.getLogger("dikin")

AUTO: Literal["auto"] = "auto"
"""The `memory` of a learner that finds out itself how much to remember."""
AUTO_MEMORIES = (inf, 4000.0, 1000.0, 250.0)
"""The memories for which such a learner has certificates."""
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
        square, trace = self.geometry.explore(state.iterate, 1.0, n.shift, s, metric)
        unit = 1.0 / sqrt(square)
        far = REACH * unit if measuring(n.levels) else unit
        norm = self.geometry.point(state.iterate, metric, far, u)
        return norm, trace, unit

    def tell(
        self, round: int, memo: Memo, loss: float, curvature: float, state: LearnerState
    ) -> None:
        if not measuring(state.numbers.levels):
            learn(self.geometry, self.plan, round, memo, loss, curvature, state)
            return
        learn_size(self.geometry, self.plan, round, memo, loss, state)
        if not measuring(state.numbers.levels):
            centres.begin_at_start(self.geometry, self.plan, state)


@compilable
def write_estimate(
    geometry: Any, memo: Memo, slope: float, state: LearnerState
) -> tuple[float, float]:
    """The estimate g for a surprise of 1 and the centre y, into the scratch; g.y and |y|^2."""
    size, iterate = geometry.size, memo.state.iterate
    gradient = state.scratch[:size]
    clear(gradient)
    products: tuple[float, float] = geometry.linear_update(
        iterate, memo.metric, slope, 0.0, gradient
    )
    geometry.write_vector(iterate, 1.0, state.scratch[size : 2 * size])
    return products


@compilable
def certify(
    geometry: Any,
    plan: Plan,
    state: LearnerState,
    features: list[float],
    surprise: float,
    products: tuple[float, float],
    trace: float,
    reach: float,
    sigma: float,
    shares: tuple[float, float],
) -> tuple[float, bool]:
    """Enter an answer, whose estimate is in the scratch, in the certificate; the price it pays.

    `reach` is the largest |y - u|_H, divided by how far out it was played.
    """
    n, size = state.numbers, geometry.size
    price = certificate.exploring_price(plan, n.levels, trace, shares[0], shares[1])
    swing = certificate.swing_of(plan, reach)
    curved = certificate.certified_curvature(plan, features, sigma)
    certificate.add_answer(
        plan, n.sums, surprise * products[0], products[1], trace, swing, price[0], curved
    )
    certificate.add_estimate(
        plan,
        n,
        features,
        surprise,
        state.scratch[:size],
        curved,
        state.scratch[size : 2 * size],
        state.estimates,
    )
    return price


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
    """Take in an answer."""
    n, then, features = state.numbers, memo.state.numbers, memo.state.numbers.features
    _, trace, unit = memo.asked
    stiff, precision, far = plan.dim / trace - then.shift, then.forecasters.precision, 1.0
    if measuring(then.levels):
        # Late: today's forecast and level serve, which its direction did not move.
        then, trace, unit, far = n, REACH * REACH * trace, unit / REACH, 1.0 / REACH
    expected, level = expectation(plan, then), then.levels.current
    surprise = clip(loss, 0.5 * plan.widest) - expected
    weighed, told = surprise, loss
    if precision != 1.0:
        weighed, told = precision * surprise, expected + precision * (loss - expected)
    learnt = levels.clipped_surprise(plan, n.levels, weighed, level)
    certificate.discount(plan, n, state.estimates)  # not before: what was asked may be the same
    if not levels.is_fault(plan, weighed, level):
        value = believed(then, expected, told)
        learn_forecast(n, then, value, round)
        contextual.learn_in_context(plan, n, features, value)
    else:
        contextual.count_far(plan, n, features, loss, expected)
    products = write_estimate(geometry, memo, plan.dim * unit, state)
    reach = far * geometry.stiffness(memo.metric) * (1.0 + sqrt(products[1]))
    price = certify(
        geometry, plan, state, features, surprise, products, trace, reach, curvature, memo.shares
    )
    schedule.average_shares(plan, n, memo.shares, round)
    above = learnt >= level and levels.is_young(plan, n.levels, round)
    least = adaptation.least_curvature(plan, state, stiff) if above else 0.0
    centres.add_to_centres(geometry, plan, state, features, learnt, curvature, least, price, trace)
    centres.compare_features(geometry, plan, state, features, learnt)
    levels.update_levels(plan, n, weighed, level, loss, round)
    if abs(loss) > 0.5 * plan.widest + ROUNDING and learnt == weighed:
        levels.count_clipped(n)
    centres.move_centres(geometry, plan, state, features, stiff, learnt != weighed)


@compilable
def learn_size(
    geometry: Any, plan: Plan, round: int, memo: Memo, loss: float, state: LearnerState
) -> None:
    """Take in an answer that shows how large losses are: it does not move the centre.

    What it says of the gradient counts in the certificate alone. The surprise is the difference
    from the median of the losses before it, and that of the first loss from the second. A curvature
    that is told meanwhile is not used. With a memory the first eight weigh the same, however many
    there are: what a round weighs must not depend on losses.
    """
    n, features = state.numbers, memo.state.numbers.features
    _, trace, unit = memo.asked
    if round > MEASURED:
        certificate.discount(plan, n, state.estimates)
    surprise = 1.0
    if round > 1:
        surprise = loss - levels.sample_median(n.levels.samples, round - 1)
    if round == 2:
        certificate.rescale_estimates(n, -surprise, state.estimates)
    products = write_estimate(geometry, memo, plan.dim * unit / REACH, state)
    reach = geometry.stiffness(memo.metric) * (1.0 + sqrt(products[1])) / REACH
    tau = REACH * REACH * trace
    certify(geometry, plan, state, features, surprise, products, tau, reach, 0.0, memo.shares)
    schedule.average_shares(plan, n, memo.shares, round)
    learn_forecast(n, memo.state.numbers, loss, round)
    contextual.learn_in_context(plan, n, features, loss)
    levels.measure(plan, n, loss, round)


@compilable
def typical(known: Levels) -> float:
    """The typical surprise, at least as large as the rate is made for."""
    return max(sqrt(known.mean_square), known.current / schedule.SPREAD)


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


def _remembered(value: Any, name: str) -> float | str:
    if isinstance(value, str) and value == AUTO:
        return AUTO
    rounds = number(value, name)
    if not 2.0 <= rounds < LARGEST:
        raise ParameterError(
            f"{name} is the number of rounds to remember, at least 2, None for all, or "
            f'"{AUTO}" where it should choose itself; got {shown(value)}'
        )
    return rounds


def keep_of(memory: float) -> float:
    """gamma: what a round leaves of the terms before it."""
    return 1.0 - 1.0 / memory


def _feature_count(value: Any, name: str) -> int:
    return whole(value, name, 0, "how many features a context has")


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
    _last_clipped = False
    """Whether not all of the last loss was learnt: it looked like a fault."""
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
        'the regret of about the last so many rounds. None for all; "auto" for several memories at '
        "once, of which it finds out which is best, and the certificate of all rounds.",
        optional(_remembered),
    )
    contexts = Parameter(
        "How many features a context has: `ask(context=weights)` then wants as many weights, not "
        "negative, that add up to one. What is played is the mean of one centre for each feature, "
        "and the certificate bounds the regret against the best such policy. 0 for no contexts.",
        _feature_count,
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
        memory: float | Literal["auto"] | None = None,
        seed: int | None = None,
        by_lot: bool = False,
        contexts: int = 0,
    ) -> None:
        self.smoothness, self.lipschitz, self.memory = smoothness, lipschitz, memory
        self.by_lot, self.contexts = by_lot, contexts
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
        self._features: list[float] | None = None
        """The context of the query that is about to be asked."""
        plan = self._planned()
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
        beta, scaled, memory = -1.0, inf, self._remembered_rounds
        if self.lipschitz is not None:
            beta = inf
            scaled = moderate(
                self.units.slope(self.lipschitz) * longest, "lipschitz", self.lipschitz
            )
            if 0.0 < scaled < 1.0 / LARGEST:  # its square would be 0
                raise ParameterError(
                    f"lipschitz={self.lipschitz:g} is {scaled:g} in units of the domain's radius "
                    f"and the losses' range; at least {1.0 / LARGEST:g} can be computed with: is "
                    "that range too wide?"
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
            slope=slope,
            lift=lift,
            memory=memory,
            keep=keep_of(memory),
            adaptive=self.memory == AUTO,
            cells=1 + self.contexts,
            normals=self._normals() if self.contexts else EMPTY,
            certified=tuple(map(keep_of, self.memories)),
        )

    def _normals(self) -> Array:
        """What is normal to the plane of the set, in working vectors, one after the other."""
        domain, geometry = self.domain, self.geometry
        axes = np.eye(domain.dim)
        plane = np.array([np.ravel(geometry.preimage(domain.outward(axis))) for axis in axes])
        return np.linalg.svd(plane)[2][domain.dim :].ravel()

    @property
    def memories(self) -> tuple[float, ...]:
        """Rounds for which there is a certificate of about the last so many; infinity for all."""
        return AUTO_MEMORIES if self.memory == AUTO else (self._remembered_rounds,)

    @property
    def _remembered_rounds(self) -> float:
        return inf if self.memory is None or self.memory == AUTO else float(self.memory)

    def _first_state(self, plan: Plan) -> LearnerState:
        """The state at the start."""
        geometry, cells = self.geometry, plan.cells
        start, size = geometry.start(), geometry.size
        state = LearnerState(
            first_numbers(plan),
            np.zeros(cells * size),
            start,
            np.zeros(len(plan.certified) * cells * size),
            np.tile(start, cells) if cells > 1 else EMPTY,
            np.zeros(cells * TRACKS * size) if plan.adaptive or cells > 1 else EMPTY,
            np.zeros(4 * size),
        )
        centres.begin_at_start(geometry, plan, state)
        return state

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

    def _take_context(self, context: Any) -> None:
        if self.contexts:
            self._features = [1.0, *_checked_weights(context, self.contexts)]
        else:
            super()._take_context(context)

    def compiled_parts(self) -> CompiledParts | None:
        # The compiled loop has no contexts to give.
        return None if self.contexts else super().compiled_parts()

    def _propose(self) -> tuple[Array, float, Memo]:
        state = self._state
        if self._own != forecasts.NONE or self._features is not None:
            state = state._replace(numbers=state.numbers.copy())
            state.numbers.forecasters.own, self._own = self._own, forecasts.NONE
        if self._features is not None:
            state = self._state_for(state, self._features)
            self._features = None
        return self._propose_from(state, self._noise.draw())

    def _state_for(self, state: LearnerState, features: list[float]) -> LearnerState:
        """A state whose centre is that of a context; its numbers are written."""
        state.numbers.features = features
        contextual.expect_in_context(self._plan, state.numbers)
        state = state._replace(iterate=state.iterate.copy(), centres=state.centres.copy())
        centres.solve_features(self.geometry, self._plan, state)
        centres.combine_centres(self.geometry, self._plan, state)
        return state

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        before, beside = self._state.numbers, self._beside
        if beside is not None:
            memo = self._with_besides(memo, beside)
            beside.believed = self._believed(memo.state.numbers, loss)
        super()._learn(memo, loss, curvature)
        # The count fades where there is a memory.
        faded = self._plan.certified[0] * before.sums.clipped[0]
        self._last_clipped = self._state.numbers.sums.clipped[0] > faded
        if self._last_clipped:
            self._report(loss, memo.state.numbers, before)

    def _with_besides(self, memo: Memo, beside: Besides) -> Memo:
        """A query with what came with its answer."""
        n, f = memo.state.numbers, memo.state.numbers.forecasters.copy()
        f.precision = beside.precision
        if beside.regression != forecasts.NONE and not measuring(n.levels):
            f.regression = self._within_reach(beside.regression, n)
        return memo._replace(state=memo.state._replace(numbers=replace(n, forecasters=f)))

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

    def _is_fault(self, surprise: float) -> bool:
        """Whether nothing would be learnt now from so large a surprise, in the user's units."""
        now = self._n.levels
        scaled = surprise / self.units.loss_scale
        return not measuring(now) and bool(levels.is_fault(self._plan, scaled, now.current))

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
        return super()._numbers() | {
            "estimates": self._state.estimates,
            "centres": self._state.centres,
            "tracks": self._state.tracks,
        }

    def _set_numbers(self, numbers: dict[str, Any]) -> None:
        super()._set_numbers(numbers)
        vectors = {name: numbers[name] for name in ("estimates", "centres", "tracks")}
        self._state = self._state._replace(**vectors)

    def _memo_state(self, memo: Memo) -> tuple[Any, ...]:
        n = memo.state.numbers
        parts = {name: to_saved(getattr(n, name)) for name in ("forecasters", "levels")}
        return n.shift, n.features, parts, memo.state.iterate, memo.noise

    def _memo_from(self, state: tuple[Any, ...]) -> Memo:
        shift, features, parts, iterate, noise = state
        n = self._n.copy()
        n.shift, n.features = float(shift), list(map(float, features))
        n.forecasters = from_values(n.forecasters, parts["forecasters"])
        n.levels = from_values(n.levels, parts["levels"])
        then = self._state._replace(numbers=n, iterate=iterate)
        return self._propose_from(then, noise)[2]

    # --- what it knows -------------------------------------------------------------------------

    @property
    def forecast(self) -> float:
        """What it expects of the next loss; NaN before the first one."""
        return self._forecast_with(forecasts.NONE)

    def _forecast_with(self, regression: float, forecast: Any = None) -> float:
        """The same if a regression on covariates expects this, and the user that."""
        if self.rounds == 0:
            return nan
        n, own = self._n, forecasts.NONE
        if forecast is not None:
            own = self._within_reach(self.units.loss(_checked_forecast(forecast)), n)
        if regression != forecasts.NONE:
            regression = self._within_reach(regression, n)
        expected = forecasts.mixed(n.forecasters, own, regression)
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
        return self._n.sums.clipped[0]

    @locked
    def center_for(self, context: ArrayLike) -> Array:
        """The present guess of the best point in a context.

        Parameters
        ----------
        context
            As many weights as there are `contexts`, not negative, that add up to one.

        Returns
        -------
        Array
            The point around which it would explore.

        Raises
        ------
        FeedbackError
            If these are no such weights, or the learner was built without contexts.
        """
        if not self.contexts:
            self._take_context(context)
        features = [1.0, *_checked_weights(context, self.contexts)]
        state = self._state_for(self._state._replace(numbers=self._n.copy()), features)
        return self._center_at(state.iterate)

    def _center_at(self, iterate: Array) -> Array:
        """The point that an iterate describes."""
        return self._inside(self.geometry.vector(iterate))

    @property
    @locked
    def certificate(self) -> float:
        """The bound on the regret so far, in the user's units: E[regret] <= E[certificate].

        NaN where neither `smoothness` nor `lipschitz` was given (`certificate_for` takes a constant
        that one believes in afterwards), and without a `loss_range` in the first eight rounds (more
        while all losses are the same). With a `memory` it bounds the regret in which a round weighs
        1 - 1/memory of the next; without a range the first eight weigh the same. With `contexts`
        the regret is that against the best policy, one point for each feature.

        What is told may have noise whose mean is 0 at every point; its law may depend on the point.
        With a `loss_range` it lies in it, noise included. Answers may be late: which of them have
        come must depend neither on their directions nor on their losses. In the first eight rounds
        without a range their order must not either, and losses must not depend on the directions of
        those before.
        """
        if not self._has_constant:
            return nan
        return self._certified(0, self._n.sums.exploring[0])

    @locked
    def certificate_for(
        self,
        *,
        smoothness: float | None = None,
        lipschitz: float | None = None,
        memory: float | None = None,
        nonconvexity: float = 0.0,
    ) -> float:
        """The certificate for losses of a constant that was not declared, or of another one.

        Choose the constant without looking at the values: the smaller of two certificates of one
        run is no bound.

        Parameters
        ----------
        smoothness, lipschitz
            One of them, in the sense of the constructor.
        memory
            With `memory="auto"`: one of `memories`, to bound the regret of about so many rounds. By
            default that of the learner, and of all rounds with "auto".
        nonconvexity
            How far a loss may be from a convex one with that constant, at any point.

        Returns
        -------
        float
            The bound on the expected regret so far, in the user's units.

        Raises
        ------
        ParameterError
            If not exactly one of the two constants is given, the memory is none of `memories`, or
            the nonconvexity is negative.
        """
        longest, plan, sums = self.geometry.longest, self._plan, self._n.sums
        if (smoothness is None) == (lipschitz is None):
            raise ParameterError(
                "certificate_for needs one of smoothness=... and lipschitz=..., got "
                f"smoothness={shown(smoothness)} and lipschitz={shown(lipschitz)}"
            )
        m = self._place_of(memory)
        deviation = nonnegative(nonconvexity, "nonconvexity") / self.units.loss_scale
        if smoothness is not None:
            beta = self.units.curvature(nonnegative(smoothness, "smoothness")) * longest**2
            exploring = beta * plan.square_price * sums.tau[m]
        else:
            scaled = self.units.slope(nonnegative(lipschitz, "lipschitz")) * longest
            exploring = scaled * plan.length_price * sums.root_tau[m]
        exploring += certificate.nonconvex_price(sums, m, deviation)
        return self._certified(m, exploring)

    def _place_of(self, memory: float | None) -> int:
        """Which of the certificates is that of a memory."""
        if memory is None:
            return 0
        rounds = number(memory, "memory") if memory != inf else inf
        if rounds not in self.memories:
            raise ParameterError(
                f"there is no certificate for memory={shown(memory)}: this learner remembers "
                f"{', '.join(f'{known:g}' for known in self.memories)} rounds"
            )
        return self.memories.index(rounds)

    def _certified(self, m: int, exploring: float) -> float:
        """The bound for one of the memories and what exploring costs."""
        plan, n = self._plan, self._n
        if measuring(n.levels):
            return nan
        value = certificate.bound(self.geometry, plan, n, self._state.estimates, m, exploring)
        return self.units.regret(value)

    @property
    def _has_constant(self) -> bool:
        """Whether there is a constant to bound with."""
        return self.smoothness is not None or self.lipschitz is not None

    @cached_property
    def _fixed_limit(self) -> tuple[float, str]:
        stretch = (self.geometry.longest / self._shortest) ** 2
        most, reason = self._declared_limit() or range_limit(self.units, self.domain)
        return most * stretch, reason

    @property
    def curvature_limit(self) -> tuple[float, str]:
        """The largest possible curvature in the user's units, and the reason for it."""
        if self._ranged or self._has_constant:
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
        yield cls(domain, memory=AUTO, seed=seed)


def _checked_weights(context: Any, count: int) -> list[float]:
    """The weights of a context's features."""
    try:
        weights = np.asarray(context, dtype=float)
    except (TypeError, ValueError):
        weights = np.zeros(0)
    if weights.shape != (count,) or not abs(weights.sum() - 1.0) <= ROUNDING or weights.min() < 0.0:
        raise FeedbackError(
            f"a context is {count} weights, not negative, that add up to one; got "
            f"{shown(context)}. Nothing was changed."
        )
    return [float(weight) for weight in weights / weights.sum()]


def _checked_forecast(forecast: Any) -> float:
    """A forecast that was given to ask."""
    try:
        value = real_number(forecast, "forecast", FeedbackError)
    except FeedbackError as reason:
        raise FeedbackError(
            f"a forecast is one number, the loss that you expect; got {shown(forecast)}. Nothing "
            "was changed."
        ) from reason
    if not abs(value) < LARGEST:
        raise FeedbackError(
            f"a forecast must be a finite number below {LARGEST:g}, got {value}. Nothing was "
            "changed."
        )
    return value


def _checked_start(domain: Domain, start: ArrayLike) -> Array:
    point = domain.require(start)
    room = 1.0 - domain.gauge(domain.locate(point))
    advice = f"for example a tenth of the way to the centre {domain.center}"
    if room < EDGE:
        raise DomainError(
            f"{domain}: start={point} lies on the boundary, or within a thousandth of it, where "
            f"the barrier is too steep to leave; begin a little inside, {advice}"
        )
    if room < NEAR:
        warnings.warn(
            f"start={point} is close to the boundary of {domain}, where steps are small: if the "
            f"best point is far away, it takes long to get there. Better begin inside, {advice}",
            SlowLearnerWarning,
            stacklevel=4,
        )
    point.setflags(write=False)
    return point
