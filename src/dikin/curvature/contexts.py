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

from dikin.arguments import nonnegative, number
from dikin.curvature.bounds import Curvature
from dikin.curvature.gram import Gram, context_rows, one_per_row, row_weights
from dikin.curvature.losses import BoundedLoss, checked_loss
from dikin.curvature.projection import Projection
from dikin.domains.base import Domain
from dikin.errors import CurvatureError, ParameterError


def of_contexts(
    domain: Domain,
    contexts: ArrayLike,
    loss: BoundedLoss | None = None,
    *,
    targets: ArrayLike | None = None,
    weights: ArrayLike = 1.0,
) -> Curvature:
    """Curvature on a domain of the sum of weights_i loss(contexts_i.x, targets_i).

    Parameters
    ----------
    domain : Domain
        The set on which the bounds hold.
    contexts : array_like
        A row for each loss, as long as a flattened point of the domain.
    loss : Squared, Logistic, Huber or Between, optional
        The loss of one prediction; the squared one by default. An object of your own needs the
        method `second_derivative_bounds`.
    targets : array_like, optional
        What is predicted: one number for all rows, or one for each. Needed by `Huber` only.
    weights : array_like, default 1.0
        One number for all rows, or one for each, not negative; 1/n for the mean of n losses.

    Returns
    -------
    Curvature
        Bounds that are true, rounding included. The strong convexity is exactly 0 where there are
        fewer rows than dimensions.

    Examples
    --------
    >>> from dikin import Ball
    >>> rows = [[1.0, 0.2], [0.1, 0.9], [0.5, -0.4]]
    >>> round(of_contexts(Ball(2), rows).strong_convexity, 6)
    0.980971
    >>> of_contexts(Ball(2), rows[:1]).strong_convexity
    0.0
    """
    total = CurvatureSum(domain, loss)
    total.add(contexts, targets=targets, weights=weights)
    return total.curvature()


def of_eigenvalues(
    smallest: float,
    loss: BoundedLoss | None = None,
    *,
    largest: float = inf,
    reach: float = inf,
    weights: float = 1.0,
) -> Curvature:
    """Curvature from an eigenvalue of sum_i c_i c_i' alone: no context needs to be revealed.

    The holder of the contexts computes `eigenvalues(contexts)` and reveals one or both. A quadratic
    that is at least smallest |v|^2 on the whole space is so on the domain's plane.

    Parameters
    ----------
    smallest : float
        At most the least eigenvalue of sum_i c_i c_i'; not negative.
    loss : Squared, Logistic, Huber or Between, optional
        The loss of one prediction; the squared one by default.
    largest : float, default inf
        At least the greatest eigenvalue; infinite if not known.
    reach : float, default inf
        A bound on |c_i.x| for every row and point (for `Huber` on the residual |c_i.x - y_i|).
        Without one, losses whose curvature depends on the point have none.
    weights : float, default 1.0
        The weight of every row; 1/n for the mean of n losses.

    Returns
    -------
    Curvature
        Bounds that are true, rounding included, if the arguments are.

    Raises
    ------
    CurvatureError
        If `largest` is below `smallest`.
    ParameterError
        If `smallest` or `reach` is negative.

    Examples
    --------
    >>> from dikin.curvature import Logistic
    >>> of_eigenvalues(0.98)
    Curvature(strong_convexity=0.98, smoothness=inf)
    >>> round(of_eigenvalues(40.0, Logistic(), reach=2.0, weights=1 / 50).strong_convexity, 6)
    0.083995
    """
    low = nonnegative(smallest, "smallest")
    high, far = number(largest, "largest"), np.array([number(reach, "reach")])
    if not high >= low:
        raise CurvatureError(f"largest must be at least smallest = {low:g}, got {largest!r}")
    if not far[0] >= 0:
        raise ParameterError(f"reach must not be negative, got {reach!r}")
    least, most = checked_loss(loss).second_derivative_bounds(-far, far, np.zeros(1))
    bottom = (float(least[0]) * Curvature(low)).strong_convexity
    top = inf if isinf(most[0]) else (float(most[0]) * Curvature(0.0, high)).smoothness
    return weights * Curvature(bottom, max(top, bottom))


class CurvatureSum:
    """The curvature of a growing sum of losses: add rows in any portions; O(d^2) is stored.

    Parameters
    ----------
    domain : Domain
        The set on which the bounds hold.
    loss : Squared, Logistic, Huber or Between, optional
        The loss of one prediction; the squared one by default.

    Attributes
    ----------
    domain : Domain
        The set on which the bounds hold.
    loss : BoundedLoss
        The loss of one prediction.
    rows : int
        How many contexts have been added.

    Raises
    ------
    ParameterError
        If `domain` is not a domain or `loss` is not a loss.

    Examples
    --------
    >>> from dikin import Ball
    >>> total = CurvatureSum(Ball(2))
    >>> for row in ([1.0, 0.2], [0.1, 0.9], [0.5, -0.4]):
    ...     total.add([row])
    >>> total.rows, round(total.curvature().strong_convexity, 6)
    (3, 0.980971)
    """

    def __init__(self, domain: Domain, loss: BoundedLoss | None = None) -> None:
        if not isinstance(domain, Domain):
            raise ParameterError(f"domain must be a dikin domain such as Box, got {domain!r}")
        self.domain = domain
        self.loss = checked_loss(loss)
        self.rows = 0
        self._projection = Projection(domain)
        self._low, self._high = (
            Gram(domain.dim, self._projection.relative_error) for _ in range(2)
        )

    def add(
        self, contexts: ArrayLike, *, targets: ArrayLike | None = None, weights: ArrayLike = 1.0
    ) -> None:
        """Add the losses of some rows; on an error nothing has been added.

        Parameters
        ----------
        contexts : array_like
            A row for each loss, as long as a flattened point of the domain.
        targets : array_like, optional
            What is predicted: one number for all rows, or one for each. Needed by `Huber` only.
        weights : array_like, default 1.0
            One number for all rows, or one for each; not negative.
        """
        rows = context_rows(contexts, self.domain.center.size)
        scale = row_weights(weights, len(rows))
        known_targets = None if targets is None else one_per_row(targets, len(rows), "targets")
        # What overflows makes a matrix without bounds, a valid result.
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.sum(rows**2, axis=1)
            least, most = self.loss.second_derivative_bounds(
                *self._projection.prediction_range(rows), known_targets
            )
            lower, upper = scale * least, scale * most
        chart = self._projection.apply(rows)
        self._low.add(chart, lower, squares)
        self._high.add(chart, upper, squares)
        self.rows += len(rows)

    def curvature(self) -> Curvature:
        """Bounds for the sum of all losses so far."""
        least = self._low.least() if self.rows >= self.domain.dim else 0.0
        return Curvature(least, max(self._high.greatest(), least))
