"""Curvature of f(x) = sum_i w_i g_i(c_i.x) from the contexts c_i.

On the domain, x = center + Bv with v in R^d and B the domain's basis, |x - x'| = |v - v'|. There

    Hessian f = sum_i w_i g_i''(c_i.x) (B'c_i)(B'c_i)',

and with mu_i <= g_i'' <= beta_i wherever c_i.x can be on the domain

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

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dikin.curvature.gram import Gram, context_rows, one_per_row
from dikin.curvature.spectrum import gamma
from dikin.domains.base import Array, Domain
from dikin.errors import CurvatureError, ParameterError


class Curvature(NamedTuple):
    """Bounds on the curvature of a loss that hold on a whole domain.

    Tell the first to a learner with the loss, and declare the second as its smoothness. Those of a
    sum of losses are at least and at most the sums of both.

    Parameters
    ----------
    strong_convexity : float
        At most the true sigma; 0 where nothing is known.
    smoothness : float
        At least the true beta; infinite where nothing is known.
    """

    strong_convexity: float
    smoothness: float


def of_contexts(
    domain: Domain,
    contexts: ArrayLike,
    *,
    weights: ArrayLike = 1.0,
    second_derivative: tuple[ArrayLike, ArrayLike] = (1.0, 1.0),
) -> Curvature:
    """Curvature on a domain of the sum of weights_i g_i(contexts_i.x).

    Parameters
    ----------
    domain : Domain
        The set on which the bounds hold.
    contexts : array_like
        A row for each loss, as long as a flattened point of the domain.
    weights : array_like, default 1.0
        One number for all rows, or one for each, not negative; 1/n for the mean of n losses.
    second_derivative : tuple of array_like, default (1.0, 1.0)
        Bounds mu <= g_i'' <= beta at every prediction contexts_i.x of the domain, each one number
        for all rows or one for each. The default is that of the squared loss g(z) = (z - y)^2/2,
        whatever y. beta may be infinite.

    Returns
    -------
    Curvature
        Bounds that are true, rounding included. The strong convexity is exactly 0 where there are
        fewer rows than dimensions.

    Raises
    ------
    ParameterError
        If `domain` is not a domain, a number is not finite or a weight negative.
    CurvatureError
        If mu is negative, or above beta.

    Examples
    --------
    >>> from dikin import Ball
    >>> rows = [[1.0, 0.2], [0.1, 0.9], [0.5, -0.4]]
    >>> round(of_contexts(Ball(2), rows).strong_convexity, 6)
    0.980971
    >>> of_contexts(Ball(2), rows[:1]).strong_convexity
    0.0
    """
    if not isinstance(domain, Domain):
        raise ParameterError(f"domain must be a dikin domain such as Box, got {domain!r}")
    rows = context_rows(contexts, domain.center.size)
    scale = one_per_row(weights, len(rows), "weights")
    try:
        mu, beta = (np.broadcast_to(np.asarray(b, float), len(rows)) for b in second_derivative)
        known = bool(((mu >= 0) & (mu < np.inf) & (beta >= mu)).all())
    except (TypeError, ValueError):
        known = False
    if not known:
        raise CurvatureError(
            f"second_derivative must be (mu, beta) with mu finite and 0 <= mu <= beta, each one "
            f"number or one for each of the {len(rows)} rows, got {second_derivative!r}"
        )
    # What overflows makes a matrix without bounds, a valid result.
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.sum(rows**2, axis=1)
        ends = scale * mu, scale * beta
    moved = row_error(domain)
    chart = rows @ domain.basis if moved else rows
    low, high = (Gram(domain.dim, moved) for _ in range(2))
    for gram, end in zip((low, high), ends, strict=True):
        gram.add(chart, end, squares)
    least = low.least() if len(rows) >= domain.dim else 0.0
    return Curvature(least, max(high.greatest(), least))


def row_error(domain: Domain) -> float:
    """At most |computed B'c - B'c| / |c|: d sums of m products, each off by gamma_m |c|.

    It is 0 where B is the identity, and nothing is projected.
    """
    basis: Array = domain.basis
    if basis.shape[0] == basis.shape[1] and (basis == np.eye(len(basis))).all():
        return 0.0
    return sqrt(domain.dim) * gamma(domain.center.size + 3)
