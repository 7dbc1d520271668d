"""Curvature of f(x) = sum_i w_i g_i(c_i.x) from the contexts c_i.

On the domain, x = center + Bv with v in R^d and B the domain's basis, |x - x'| = |v - v'|. There

    Hessian f = sum_i w_i g_i''(c_i.x) (B'c_i)(B'c_i)',

and c_i.x stays within c_i.center +- |B'c_i| radius. With mu_i <= g_i'' <= beta_i on that interval

    lambda_min(sum_i w_i mu_i B'c_i c_i'B)  <=  sigma,     beta  <=  lambda_max(... beta_i ...).

A simplex lies in a plane: what curvature f has across the plane is of no use, and what it lacks
does no harm, so the eigenvalues are those of the d x d matrix in the plane.

Rounding. A computed Gram matrix of n rows differs from the true one by at most

    (gamma_{n+6} + 3 sqrt(d) gamma_{m+3}) sum_i w_i mu_i |c_i|^2   in the 2-norm

(sums in any order; the second term, for rows of m entries carried into the plane, is absent where
the domain has its whole space). This is subtracted from a proven eigenvalue (`spectrum`) and
the result cut off at 0. A true lower bound that is not negative is 0 for a batch without curvature:
fewer rows than dimensions, or contexts in a common plane, give exactly 0.
"""

from __future__ import annotations

from math import inf, isinf

import numpy as np
from numpy.typing import ArrayLike

from dikin.curvature.bounds import Curvature
from dikin.curvature.gram import Gram, column, table, weights_of
from dikin.curvature.losses import Bends, known_bends
from dikin.curvature.plane import Plane
from dikin.domains.base import Domain
from dikin.errors import CurvatureError, ParameterError
from dikin.units import nonnegative, number


def of_contexts(
    domain: Domain,
    contexts: ArrayLike,
    loss: Bends | None = None,
    *,
    targets: ArrayLike | None = None,
    weights: ArrayLike = 1.0,
) -> Curvature:
    """Curvature on the domain of the sum of weights_i loss(contexts_i.x, targets_i).

    `loss` is `Squared()` unless told otherwise; `weights` is one number or one for each row, 1/n
    for the mean. Targets are needed by `Huber` only.

    >>> from dikin import Ball
    >>> rows = [[1.0, 0.2], [0.1, 0.9], [0.5, -0.4]]
    >>> round(of_contexts(Ball(2), rows).strong_convexity, 6)
    0.980971
    >>> of_contexts(Ball(2), rows[:1]).strong_convexity
    0.0
    """
    tally = Tally(domain, loss)
    tally.add(contexts, targets=targets, weights=weights)
    return tally.curvature()


def revealed(
    smallest: float,
    loss: Bends | None = None,
    *,
    largest: float = inf,
    reach: float = inf,
    weights: float = 1.0,
) -> Curvature:
    """Curvature from an eigenvalue of sum_i c_i c_i' alone: no context needs to be shown.

    Whoever holds the contexts computes `eigenvalues(contexts)` and reveals one or both.
    `reach` bounds |c_i.x| for every row and point (for `Huber` the residual |c_i.x - y_i|); without
    it, losses whose curvature depends on the point have none. `weights` is that of every row.
    A form that is at least smallest |v|^2 on the whole space is so on the domain's plane.

    >>> from dikin.curvature import Logistic
    >>> revealed(0.98)
    Curvature(strong_convexity=0.98, smoothness=inf)
    >>> round(revealed(40.0, Logistic(), reach=2.0, weights=1 / 50).strong_convexity, 6)
    0.083995
    """
    low = nonnegative(smallest, "smallest")
    high, far = number(largest, "largest"), np.array([number(reach, "reach")])
    if not high >= low:
        raise CurvatureError(f"largest must be at least smallest = {low:g}, got {largest!r}")
    if not far[0] >= 0:
        raise ParameterError(f"reach must not be negative, got {reach!r}")
    least, most = known_bends(loss).bends(-far, far, np.zeros(1))
    bottom = (float(least[0]) * Curvature(low)).strong_convexity
    top = inf if isinf(most[0]) else (float(most[0]) * Curvature(0.0, high)).smoothness
    return weights * Curvature(bottom, max(top, bottom))


class Tally:
    """The curvature of a growing sum of losses: rows come in any portions, O(d^2) is kept.

    >>> from dikin import Ball
    >>> tally = Tally(Ball(2))
    >>> for row in ([1.0, 0.2], [0.1, 0.9], [0.5, -0.4]):
    ...     tally.add([row])
    >>> tally.rows, round(tally.curvature().strong_convexity, 6)
    (3, 0.980971)
    """

    def __init__(self, domain: Domain, loss: Bends | None = None) -> None:
        if not isinstance(domain, Domain):
            raise ParameterError(f"domain must be a dikin domain such as Box, got {domain!r}")
        self.domain = domain
        self.loss = known_bends(loss)
        self.rows = 0
        """How many contexts have been added."""
        self._plane = Plane(domain)
        self._low, self._high = (Gram(domain.dim, self._plane.turn) for _ in range(2))

    def add(
        self, contexts: ArrayLike, *, targets: ArrayLike | None = None, weights: ArrayLike = 1.0
    ) -> None:
        """Add the losses of some rows; on an error nothing has been added."""
        rows = table(contexts, self.domain.center.size)
        scale = weights_of(weights, len(rows))
        aims = None if targets is None else column(targets, len(rows), "targets")
        # What overflows makes a matrix without bounds, which is true of it.
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.sum(rows**2, axis=1)
            least, most = self.loss.bends(*self._plane.span(rows), aims)
            lower, upper = scale * least, scale * most
        chart = self._plane.rows(rows)
        self._low.add(chart, lower, squares)
        self._high.add(chart, upper, squares)
        self.rows += len(rows)

    def curvature(self) -> Curvature:
        """Bounds for the sum of all losses so far."""
        least = self._low.least() if self.rows >= self.domain.dim else 0.0
        return Curvature(least, max(self._high.greatest(), least))
