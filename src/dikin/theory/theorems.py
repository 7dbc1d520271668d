"""Regret bounds: the paper's Theorems 7 and 12 inside O~, and Theorem 2 with all its constants.

Theorem 7 (thm:main-result-smooth) and 12 (thm:main-result-lipschitz) are given as the expression
inside the paper's O~, logarithms and constant factors dropped: the values are for comparing
horizons, dimensions and curvature patterns, not for printing beside a run. Theorem 2 of
docs/mathematics.md is the guarantee of this library's default constants (`constants="sharp"`), and
may be printed. T is the number of sigmas throughout, and the free sequence lambda*_1, ...,
lambda*_T >= 0 is chosen best.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from dikin.errors import ParameterError
from dikin.theory.schedules import SMOOTH, Setting


def regret(setting: Setting, sigmas: ArrayLike, nu: float, first: float | None = None) -> float:
    """Theorems 7 (thm:main-result-smooth) and 12 (thm:main-result-lipschitz): the regret's order.

    smooth, the least of   d sqrt(nu T) + lambda*_{1:T-1}
                           + sum_{t=1}^{T-1} d sqrt(beta+1) / sqrt(sigma_{1:t} + lambda*_{0:t})
    Lipschitz, that of     d^(4/3) nu T^(1/3) + lambda*_{0:T}
                           + sum_{t=1}^T (d(L+1))^(2/3) / (sigma_{1:t-1} + lambda*_{0:t-1})^(1/3)

    with lambda*_0 = lambda_0. Both contain the objective of Lemmas 6 and 22 on T - 1 rounds. For
    smooth losses the paper counts lambda_0 as O(1). For Lipschitz ones round t pays by the
    curvature before it, so round 1 pays by lambda_0 alone, and lambda*_T is best 0.

    Parameters
    ----------
    setting : Setting
        The setting, with its constant in the paper's units.
    sigmas : array_like
        The strong convexity of every round, in the paper's units, not negative.
    nu : float
        The parameter of the domain's barrier.
    first : float, optional
        The regularisation lambda_0 before the first round, positive. The default is the smallest
        that keeps every lambda_t below 1.

    Returns
    -------
    float
        The expression inside O~.

    Raises
    ------
    ParameterError
        If `sigmas` is not a vector of one or more rounds.
        If a sigma is negative or not finite.
    """
    array = np.asarray(sigmas, dtype=np.float64)
    if array.ndim != 1 or not array.size:
        raise ParameterError(
            f"sigmas have shape {array.shape}; wanted a vector of one or more rounds."
        )
    if first is None:
        first = setting.target
    # sigma_T comes too late for any play to depend on it.
    price, _ = setting.minimum(array[:-1], first)
    if setting.order == SMOOTH:
        return setting.dim * math.sqrt(nu * array.size) + price
    barrier: float = setting.dim ** (4 / 3) * nu * array.size ** (1 / 3)
    round_one: float = (setting.target / first) ** (1 / 3)
    return barrier + first + round_one + price


def sharp_regret(setting: Setting, sigmas: ArrayLike, nu: float) -> float:
    """Theorem 2 of docs/mathematics.md: the guarantee of `AdaptiveSmooth` and `AdaptiveLipschitz`.

        smooth:     E[regret] <= 8 + lambda_0/2 + 6.2 OPT_T + 3 d nu ln T
                                 + 3.2 d sqrt(nu T ln T)
        Lipschitz:  E[regret] <= 8 + lambda_0/2 + 6.3 OPT_T + 3 d nu ln T
                                 + d^(4/3) (L+1)^(-2/3) S_T^(1/3) nu ln T

    for T >= 3, with lambda_0 the target of the setting, OPT_T the best price in hindsight of Lemma
    6 or 22, and S_T = lambda_{0:T} + sigma_{1:T} the curvature after the last round. The first has
    horizon = T. Without a horizon its last term is 4.3 d sqrt(nu (T+1) ln T). The second needs no
    horizon.

    Parameters
    ----------
    setting, sigmas, nu
        As for `regret`.

    Returns
    -------
    float
        A bound on the expected regret in the paper's units. `units.regret` gives the user's.

    Raises
    ------
    ParameterError
        If `sigmas` is not a vector of three or more rounds.
        If a sigma is negative or not finite.
    """
    shape = np.shape(sigmas)
    if len(shape) != 1 or shape[0] < 3:
        raise ParameterError(
            f"sigmas have shape {shape}; wanted a vector of three or more rounds, as ln T/T falls "
            "only from there on."
        )
    dim, first, log = setting.dim, setting.target, math.log(shape[0])
    best, _ = setting.minimum(sigmas, first)
    if setting.order == SMOOTH:
        price = 6.2 * best + 3.2 * dim * math.sqrt(nu * shape[0] * log)
    else:
        last = first + float(setting.adaptive_lambdas(sigmas, first).sum() + np.sum(sigmas))
        inverse_rate = dim ** (4 / 3) * (setting.constant + 1) ** (-2 / 3) * last ** (1 / 3)
        price = 6.3 * best + inverse_rate * nu * log
    return 8 + first / 2 + price + 3 * dim * nu * log
