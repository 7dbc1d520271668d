"""The learner `Predictive` as its theorem states it: dense sums over all answers, nothing tuned.

Units: the set X has its analytic centre at the origin and lies in the unit ball. psi is its barrier
with parameter nu. Every sequence comes from outside: forecast b and clip level c of a query, the
displacement z that was played, and with the answer the loss f, its strong convexity sigma, the
regularisation lambda and the next rate eta. The class draws nothing and chooses nothing.

    psi_0(x) = psi(x) - psi(x_0) - grad psi(x_0).(x - x_0)          least at the start x_0 = y_1
    query    at the centre y: H = hess psi(y) + eta S I, played y + z with z'Hz = 1
    answer   r = f - b, of which rbar is learnt: r clipped to [-c, c], or whatever one likes;
             g = d rbar H z;  l(x) = g.x + (sigma/2)|x - y|^2
             with y, H, z, b, c of its query, however late it comes
             (played at y + q z, 0 < q <= 1: g = d rbar H z/q and tau q^2 for tau below)
    Phi(x)   = sum_s gamma^(T-s) [l_s(x) + (lambda_s/2)|x|^2] + psi_0(x)/eta         after T answers
    centre   = argmin Phi,   S = sum_s gamma^(T-s) (sigma_s + lambda_s),   gamma = 1 - 1/memory or 1

Answers are numbered as they arrive; tau = tr(H^-1) of the query, and all sums have the weights
gamma^(T-s). Let L_s be l_s with r in the place of rbar. Then

    C_T = sum a_s + sum L_s(y_s) - min over X of sum L_s           (y_s: the centre of query s)
    a   = min{(beta/2) (tau/d + tau/(d+2)), L sqrt(tau/d)} - (sigma/2) tau/(d+2)

bounds the mean of sum [f_s(x_s) - f_s(u)], for every u in X. Neither the rates nor the lambdas nor
what was learnt are in it, nor how the centres came about.

It is Theorem 13 of docs/mathematics.md, with its proof.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt

import numpy as np

from reference.barriers import Array, Barrier, minimum

ELLIPSOID_TOLERANCE = 1e-9
# The last weight of the barrier on the path to a minimum over the set, times nu, in units of the
# largest slope.
PATH_END = 1e-10


class OffTheEllipsoidError(AssertionError):
    """A replayed displacement that the learner could not have drawn."""


@dataclass(frozen=True)
class Query:
    """What is fixed before the direction is drawn, and the displacement z."""

    center: Array
    metric: Array  # H
    forecast: float
    level: float
    z: Array
    reach: float = 1.0

    @cached_property
    def trace(self) -> float:
        """tau = tr(H^-1)."""
        return float(np.trace(np.linalg.inv(self.metric)))


@dataclass(frozen=True)
class Answer:
    query: Query
    loss: float
    sigma: float
    lam: float
    forecast: float
    learnt: float  # rbar

    @property
    def surprise(self) -> float:
        return self.loss - self.forecast

    @property
    def trace(self) -> float:
        return self.query.trace * self.query.reach**2

    @property
    def direction(self) -> Array:
        """d H z, by the reach of the query: what a surprise of 1 says of the gradient."""
        z = self.query.z
        return z.size / self.query.reach * (self.query.metric @ z)

    @cached_property
    def estimate(self) -> Array:
        """g = d rbar H z."""
        return self.learnt * self.direction

    @cached_property
    def full_estimate(self) -> Array:
        """d r H z."""
        return self.surprise * self.direction


def inside(psi: Barrier, rng: np.random.Generator, depth: float = 0.6, steps: int = 2) -> Array:
    """A point off the centre, by steps of local length `depth`."""
    u = np.zeros(psi.dim)
    for _ in range(steps):
        direction = rng.normal(size=psi.dim)
        u = u + depth * direction / sqrt(direction @ psi.hessian(u) @ direction)
    return u


class PredictiveReference:
    """One run. `ask` and `tell` replay what somebody else played; `center` is the next centre."""

    def __init__(
        self, barrier: Barrier, dim: int, start: Array, memory: float | None, rate: float
    ) -> None:
        self.psi = barrier
        self.dim = dim
        self.start = start
        self.gamma = 1.0 if memory is None else 1 - 1 / memory
        self.queries: list[Query] = []
        self.answers: list[Answer] = []
        self.rates = [rate]
        self.centers = [start]
        self.measured = 0  # answers that only measure

    @property
    def center(self) -> Array:
        return self.centers[-1].copy()

    @property
    def rate(self) -> float:
        return self.rates[-1]

    @property
    def weights(self) -> Array:
        """gamma^(T-s) for the answers s = 1, ..., T. Those that only measure weigh the same."""
        T = len(self.answers)
        order = np.maximum(np.arange(1, T + 1), self.measured)
        return self.gamma ** (max(T, self.measured) - order).astype(float)

    @property
    def S(self) -> float:  # noqa: N802 - the paper's letter
        return self.discounted([answer.sigma + answer.lam for answer in self.answers])

    @property
    def metric(self) -> Array:
        """H at the present centre."""
        return self.psi.hessian(self.center) + self.rate * self.S * np.eye(self.dim)

    def discounted(self, terms: Sequence[float]) -> float:
        return float(self.weights @ np.array(terms, dtype=np.float64))

    def ask(self, forecast: float, level: float, z: Array, reach: float = 1.0) -> int:
        """Record that center + reach z was played; the key is for `tell`."""
        metric = self.metric
        length = float(z @ metric @ z)
        if not abs(length - 1) <= ELLIPSOID_TOLERANCE:
            raise OffTheEllipsoidError(f"query {len(self.queries)}: z'Hz = {length}, wanted 1")
        self.queries.append(Query(self.center, metric, forecast, level, z.copy(), reach))
        return len(self.queries) - 1

    def tell(
        self,
        key: int,
        loss: float,
        sigma: float,
        lam: float,
        next_rate: float,
        forecast: float,
        learnt: float,
    ) -> None:
        """Learn an answer. Keys may come in any order, and some never."""
        query = self.queries[key]
        self.answers.append(Answer(query, loss, sigma, lam, forecast, learnt))
        self.rates.append(next_rate)
        self.centers.append(self.minimiser())

    # Phi and its minimiser

    def objective_gradient(self, x: Array) -> Array:
        terms = [a.estimate + a.sigma * (x - a.query.center) + a.lam * x for a in self.answers]
        slope = self.psi.gradient(x) - self.psi.gradient(self.start)
        return self.weights @ np.array(terms) + slope / self.rate

    def objective_hessian(self, x: Array) -> Array:
        return self.S * np.eye(self.dim) + self.psi.hessian(x) / self.rate

    def minimiser(self) -> Array:
        """The minimiser of Phi: eta Phi is self-concordant. It stays while answers only measure."""
        if len(self.answers) < self.measured:
            return self.center
        return minimum(
            lambda x: self.rate * self.objective_gradient(x),
            lambda x: self.rate * self.objective_hessian(x),
            self.center,
        )

    # The certificate

    def round_price(
        self, answer: Answer, smoothness: float | None, lipschitz: float | None
    ) -> float:
        """a: exploration and smoothing of one query, less its own curvature."""
        tau, d = answer.trace, self.dim
        curved = inf if smoothness is None else smoothness * (tau / d + tau / (d + 2)) / 2
        steep = inf if lipschitz is None else lipschitz * sqrt(tau / d)
        return min(curved, steep) - answer.sigma / 2 * tau / (d + 2)

    def least_of_models(self) -> float:
        """min of sum L_s over X: by the support function, or with curvature on the central path.

        The latter ends at most nu times its last weight above the minimum.
        """
        linear = np.zeros(self.dim)
        for weight, answer in zip(self.weights, self.answers, strict=True):
            linear += weight * (answer.full_estimate - answer.sigma * answer.query.center)
        sigma = self.discounted([answer.sigma for answer in self.answers])
        squares = [a.sigma / 2 * float(a.query.center @ a.query.center) for a in self.answers]
        if sigma == 0:
            return -self.psi.support(-linear)
        x = least_on_path(self.psi, linear, sigma, PATH_END / self.psi.nu)
        return float(linear @ x + sigma / 2 * (x @ x)) + self.discounted(squares)

    def exploring(self, smoothness: float | None, lipschitz: float | None) -> float:
        """The part of C_T that depends on the constants."""
        rounds = [self.round_price(a, smoothness, lipschitz) for a in self.answers]
        return self.discounted(rounds)

    def lost_to_the_best(self) -> float:
        """The part of C_T that does not: sum L_s(y_s) - min of sum L_s."""
        own = [float(a.full_estimate @ a.query.center) for a in self.answers]
        return self.discounted(own) - self.least_of_models()


def least_on_path(psi: Barrier, linear: Array, sigma: float, last: float) -> Array:
    """argmin linear.x + sigma/2 |x|^2 + w psi(x), for a small share w of the largest slope."""
    scale = float(np.linalg.norm(linear)) + sigma

    def at(weight: float, x: Array, near: float) -> Array:
        bend = sigma / weight * np.eye(x.size)
        return minimum(
            lambda x: linear / weight + bend @ x + psi.gradient(x),
            lambda x: psi.hessian(x) + bend,
            x,
            near,
        )

    x, weight = np.zeros(linear.size), scale
    if scale == 0:
        return x
    while weight > 10 * last * scale:
        weight /= 10
        x = at(weight, x, 0.25)  # on the way there
    return at(last * scale, x, 0.0)
