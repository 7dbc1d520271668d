"""Regret bounds: the paper's Theorems 7 and 12 inside O~, and Theorem 2 with all its constants.

Theorem 7 (thm:main-result-smooth) and 12 (thm:main-result-lipschitz) are given as the expression
inside the paper's O~, logarithms and constant factors dropped: the values are for comparing
horizons, dimensions and curvature patterns, not for printing beside a run. Theorem 2 of
docs/mathematics.md is what this library's default constants (`constants="sharp"`) guarantee, and
may be printed. T is the number of sigmas throughout, and the free sequence lambda*_1, ...,
lambda*_T >= 0 is chosen best.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from dikin.errors import ParameterError
from dikin.theory.tuning import (
    Vector,
    adaptive_lambdas_lipschitz,
    lipschitz_minimum,
    lipschitz_target,
    smooth_minimum,
    smooth_target,
)

# --- Theorems 7 and 12 of the paper --------------------------------------------------------------


def smooth_regret(
    sigmas: ArrayLike, dim: int, nu: float, smoothness: float, first: float | None = None
) -> float:
    """Theorem 7 (thm:main-result-smooth): the order of the regret for smooth losses.

    min over lambda* of  d sqrt(nu T) + lambda*_{1:T-1}
                         + sum_{t=1}^{T-1} d sqrt(beta+1) / sqrt(sigma_{1:t} + lambda*_{0:t})

    with lambda*_0 = lambda_0. The paper counts lambda_0 itself as O(1) here.

    Parameters
    ----------
    sigmas : array_like
        The strong convexity of every round, in the paper's units; not negative.
    dim : int
        The dimension d of the domain.
    nu : float
        The parameter of its barrier.
    smoothness : float
        The smoothness beta of the losses, in the paper's units.
    first : float, optional
        The regularisation lambda_0 before the first round, positive; by default the least that
        keeps every lambda_t below 1.

    Returns
    -------
    float
        The expression inside O~.

    Raises
    ------
    ParameterError
        If `sigmas` is no vector of one or more rounds.
    CurvatureError
        If a sigma is negative or not finite.

    References
    ----------
    Luo, Zhang and Zhao, "Adaptive Bandit Convex Optimization with Heterogeneous Curvature",
    COLT 2022, Theorem 7.
    """
    known, horizon = _known_before_last(sigmas)
    if first is None:
        first = smooth_target(dim, smoothness)
    price, _ = smooth_minimum(known, first, dim, smoothness)
    return dim * math.sqrt(nu * horizon) + price


def lipschitz_regret(
    sigmas: ArrayLike, dim: int, nu: float, lipschitz: float, first: float | None = None
) -> float:
    """Theorem 12 (thm:main-result-lipschitz): the order of the regret for Lipschitz losses.

    min over lambda* of  d^(4/3) nu T^(1/3) + lambda*_{0:T}
                         + sum_{t=1}^T (d(L+1))^(2/3) / (sigma_{1:t-1} + lambda*_{0:t-1})^(1/3)

    with lambda*_0 = lambda_0. Round t pays by the curvature before it, so round 1 pays by lambda_0
    alone, rounds 2 to T are the objective of Lemma 22 on T - 1 rounds, and lambda*_T is best 0.

    Parameters
    ----------
    sigmas : array_like
        The strong convexity of every round, in the paper's units; not negative.
    dim : int
        The dimension d of the domain.
    nu : float
        The parameter of its barrier.
    lipschitz : float
        The Lipschitz constant L of the losses, in the paper's units.
    first : float, optional
        The regularisation lambda_0 before the first round, positive; by default the least that
        keeps every lambda_t below 1.

    Returns
    -------
    float
        The expression inside O~.

    Raises
    ------
    ParameterError
        If `sigmas` is no vector of one or more rounds.
    CurvatureError
        If a sigma is negative or not finite.

    References
    ----------
    Luo, Zhang and Zhao, "Adaptive Bandit Convex Optimization with Heterogeneous Curvature",
    COLT 2022, Theorem 12.
    """
    known, horizon = _known_before_last(sigmas)
    target = lipschitz_target(dim, lipschitz)
    if first is None:
        first = target
    price, _ = lipschitz_minimum(known, first, dim, lipschitz)
    barrier: float = dim ** (4 / 3) * nu * horizon ** (1 / 3)
    round_one: float = (target / first) ** (1 / 3)
    return barrier + first + round_one + price


def _known_before_last(sigmas: ArrayLike) -> tuple[Vector, int]:
    """sigma_1, ..., sigma_{T-1}, all that any play depended on, and T."""
    given = np.asarray(sigmas, dtype=np.float64)
    if given.ndim != 1 or not given.size:
        raise ParameterError(
            f"sigmas have shape {given.shape}; wanted a vector of one or more rounds."
        )
    return given[:-1], given.size


# --- Theorem 2: the library's own constants ------------------------------------------------------


def sharp_smooth_regret(sigmas: ArrayLike, dim: int, nu: float, smoothness: float) -> float:
    """Theorem 2 for smooth losses: what `AdaptiveSmooth` guarantees, before the game is played.

    E[regret] <= 8 + lambda_0/2 + 6.2 OPT_T + 3.2 d sqrt(nu T ln T) + 3 d nu ln T,

    with horizon = T >= 3, lambda_0 = d^2 (beta+1) and OPT_T the best price in hindsight of Lemma 6.
    Without a horizon the fourth term is 4.3 d sqrt(nu (T+1) ln T).

    Parameters
    ----------
    sigmas : array_like
        The strong convexity of every round, in the paper's units; not negative.
    dim : int
        The dimension d of the domain.
    nu : float
        The parameter of its barrier.
    smoothness : float
        The smoothness beta of the losses, in the paper's units.

    Returns
    -------
    float
        A bound on the expected regret in the paper's units; `units.regret` gives the user's.

    Raises
    ------
    ParameterError
        If `sigmas` is no vector of three or more rounds.
    CurvatureError
        If a sigma is negative or not finite.

    References
    ----------
    docs/mathematics.md, Theorem 2; proof in its sections 4.1, 4.2, 5.1 and 5.3.
    """
    rounds = _horizon(sigmas)
    first = smooth_target(dim, smoothness)
    best, _ = smooth_minimum(sigmas, first, dim, smoothness)
    barrier = 3.2 * dim * math.sqrt(nu * rounds * math.log(rounds)) + 3 * dim * nu * math.log(
        rounds
    )
    return 8 + first / 2 + 6.2 * best + barrier


def sharp_lipschitz_regret(sigmas: ArrayLike, dim: int, nu: float, lipschitz: float) -> float:
    """Theorem 2 for Lipschitz losses: what `AdaptiveLipschitz` guarantees, before the game.

    E[regret] <= 8 + lambda_0/2 + 6.3 OPT_T + nu ln T (3d + d^(4/3) (L+1)^(-2/3) S_T^(1/3)),

    for T >= 3, with lambda_0 = d^2 (L+1)^2, OPT_T the best price in hindsight of Lemma 22 and
    S_T = lambda_{0:T} + sigma_{1:T} the curvature after the last round. No horizon is needed.

    Parameters
    ----------
    sigmas : array_like
        The strong convexity of every round, in the paper's units; not negative.
    dim : int
        The dimension d of the domain.
    nu : float
        The parameter of its barrier.
    lipschitz : float
        The Lipschitz constant L of the losses, in the paper's units.

    Returns
    -------
    float
        A bound on the expected regret in the paper's units; `units.regret` gives the user's.

    Raises
    ------
    ParameterError
        If `sigmas` is no vector of three or more rounds.
    CurvatureError
        If a sigma is negative or not finite.

    References
    ----------
    docs/mathematics.md, Theorem 2; proof in its sections 4.1, 4.2, 5.1 and 5.3.
    """
    rounds = _horizon(sigmas)
    first = lipschitz_target(dim, lipschitz)
    best, _ = lipschitz_minimum(sigmas, first, dim, lipschitz)
    added = adaptive_lambdas_lipschitz(sigmas, first, dim, lipschitz)
    last = first + float(added.sum() + np.sum(sigmas))
    inverse_rate: float = 3 * dim + dim ** (4 / 3) * (lipschitz + 1) ** (-2 / 3) * last ** (1 / 3)
    return 8 + first / 2 + 6.3 * best + nu * math.log(rounds) * inverse_rate


def _horizon(sigmas: ArrayLike) -> int:
    """The number of rounds of which Theorem 2 speaks."""
    shape = np.shape(sigmas)
    if len(shape) != 1 or shape[0] < 3:
        raise ParameterError(
            f"sigmas have shape {shape}; wanted a vector of three or more rounds, as ln T/T falls "
            "only from there on."
        )
    return int(shape[0])
