"""The bound for one run and the price of losses that are not convex, as their proofs state them.

Units as in `reference.predictive`. With h = H^(1/2) (y - u) and Ghat = d r H z,

    X_t(u) = r_t - Ghat_t.(y_t - u),      V(u) = sum X_t(u)^2,
    F(u)   = sum [Ghat_t.(y_t - u) - (sigma_t/2)|y_t - u|^2 + a_t].

u' is drawn from the ball of radius 1 + e around 0 (e = 1/2). With h_t the most by which X_t may be
below 0 on that ball, for the r and z that were seen, and c_t for any r and z, for every rate
l < 1/c of a list of K, but for a chance of delta, at all times and for all u

    sum [v_t - f_t(u)] <= F(u) + (psi_h(l)/l) [V(u) + e^2/(d+2) sum |Ghat_t|^2]
                          + [d ln(1 + 1/e) + ln(K/delta)]/l,
    psi_h(l) = (-ln(1 - l h) - l h)/h^2.

Nothing here is fast: every sum is over all answers. V is bounded around a point by its largest
eigenvalue, as the page says, so that the largest right side has a closed form.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from reference.predictive import Answer, Array

SPREAD = 0.5
RATES = tuple(0.5 ** (k / 2) for k in range(4, 28))


@dataclass(frozen=True)
class OneRun:
    """All answers of a run, with the price of each round."""

    answers: Sequence[Answer]
    prices: Sequence[float]
    nearest: Callable[[Array], Array]
    """The point of X nearest to another."""
    support: Callable[[Array], float]
    """The largest slope.u over X."""

    @property
    def dim(self) -> int:
        return self.answers[0].query.z.size

    # One round

    def deviation(self, answer: Answer, u: Array) -> float:
        """X_t(u)."""
        return answer.surprise - float(answer.full_estimate @ (answer.query.center - u))

    def depth(self, answer: Answer) -> float:
        """h_t."""
        length = (1 + SPREAD) * float(np.linalg.norm(answer.full_estimate))
        return max(0.0, length - self.deviation(answer, np.zeros(self.dim)))

    def stiffness(self, answer: Answer) -> float:
        return sqrt(float(np.linalg.eigvalsh(answer.query.metric)[-1]))

    def most(self, answer: Answer) -> float:
        """c_t, with |y| + 1 + e for the farthest point."""
        far = float(np.linalg.norm(answer.query.center)) + 1 + SPREAD
        return (1 + abs(answer.forecast)) * (1 + self.dim * self.stiffness(answer) * far)

    def swing(self, answer: Answer) -> float:
        """A bound on the mean of |1 - d s.h| for any u of the unit ball."""
        h = self.stiffness(answer) * (1 + float(np.linalg.norm(answer.query.center)))
        return sqrt(1 + self.dim * h**2)

    def nonconvexity(self, deviation: float) -> float:
        return sum(deviation * (1 + self.swing(answer)) for answer in self.answers)

    # All rounds

    def estimate(self, u: Array) -> float:
        """F(u)."""
        total = 0.0
        for answer, price in zip(self.answers, self.prices, strict=True):
            away = answer.query.center - u
            total += float(answer.full_estimate @ away) - answer.sigma / 2 * float(away @ away)
            total += price
        return total

    def squares(self, u: Array) -> float:
        """V(u)."""
        return sum(self.deviation(answer, u) ** 2 for answer in self.answers)

    def second_moments(self) -> Array:
        return np.sum([np.outer(a.full_estimate, a.full_estimate) for a in self.answers], axis=0)

    def price_of_squares(self, rate: float) -> float:
        """psi_h(l)/l."""
        h = max(self.depth(answer) for answer in self.answers)
        return (-log(1 - rate * h) - rate * h) / h**2 / rate

    def odds(self, failure: float) -> float:
        return self.dim * log((1 + SPREAD) / SPREAD) + log(len(RATES) / failure)

    def largest(self, rate: float, around: Array) -> float:
        """At least max F + (psi/l) V over X.

        Both are quadratics, which three values give along any direction. Around a point z the one
        of V is replaced by its largest eigenvalue; if the sum is then convex, by its value on the
        unit sphere.
        """
        price, moments = self.price_of_squares(rate), self.second_moments()
        top = float(np.linalg.eigvalsh(moments)[-1])
        sigma = sum(answer.sigma for answer in self.answers)
        slope_v = 2 * sum(
            (self.deviation(a, around) * a.full_estimate for a in self.answers), np.zeros(self.dim)
        )
        slope_f = sum(
            (a.sigma * (a.query.center - around) - a.full_estimate for a in self.answers),
            np.zeros(self.dim),
        )
        value = self.estimate(around) + price * self.squares(around)
        slope, bend = slope_f + price * slope_v, 2 * price * top - sigma
        if bend < 0:
            u = self.nearest(around - slope / bend)
            away = u - around
            return value + float(slope @ away) + bend / 2 * float(away @ away)
        # |u - z|^2 = |u|^2 - 2 u.z + |z|^2 with 1 for |u|^2.
        flat = slope - bend * around
        constant = value - float(slope @ around) + bend / 2 * (1 + float(around @ around))
        return constant + self.support(flat)

    def bound(self, failure: float, around: Array) -> float:
        """The least over all rates, or what the range says by itself."""
        most = max(self.most(answer) for answer in self.answers)
        spread = SPREAD**2 / (self.dim + 2) * float(np.trace(self.second_moments()))
        bounds = [
            self.largest(rate, around)
            + self.price_of_squares(rate) * spread
            + self.odds(failure) / rate
            for rate in RATES
            if rate * most < 1
        ]
        return min([sum(answer.loss + 1 for answer in self.answers), *bounds])
