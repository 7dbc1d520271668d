"""The two regret bounds: Theorem 7 (thm:main-result-smooth) and 12 (thm:main-result-lipschitz).

Each function is the expression inside the paper's O~, with the free sequence lambda*_1, ...,
lambda*_T >= 0 chosen best. As in the paper, logarithms and constant factors are dropped: the values
are for comparing horizons, dimensions and curvature patterns, not for printing beside a run. T is
the number of sigmas, `nu` the barrier parameter, and `first` is lambda_0; left out, it is the one
that just keeps every lambda_t below 1.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from dikin.errors import ParameterError
from dikin.theory.tuning import (
    Vector,
    lipschitz_minimum,
    lipschitz_target,
    smooth_minimum,
    smooth_target,
)


def smooth_regret(
    sigmas: ArrayLike, dim: int, nu: float, smoothness: float, first: float | None = None
) -> float:
    """Theorem 7 (thm:main-result-smooth).

    min over lambda* of  d sqrt(nu T) + lambda*_{1:T-1}
                         + sum_{t=1}^{T-1} d sqrt(beta+1) / sqrt(sigma_{1:t} + lambda*_{0:t})

    with lambda*_0 = lambda_0. The paper counts lambda_0 itself as O(1) here.
    """
    known, horizon = _known_before_last(sigmas)
    if first is None:
        first = smooth_target(dim, smoothness)
    price, _ = smooth_minimum(known, first, dim, smoothness)
    return dim * math.sqrt(nu * horizon) + price


def lipschitz_regret(
    sigmas: ArrayLike, dim: int, nu: float, lipschitz: float, first: float | None = None
) -> float:
    """Theorem 12 (thm:main-result-lipschitz).

    min over lambda* of  d^(4/3) nu T^(1/3) + lambda*_{0:T}
                         + sum_{t=1}^T (d(L+1))^(2/3) / (sigma_{1:t-1} + lambda*_{0:t-1})^(1/3)

    with lambda*_0 = lambda_0. Round t pays by the curvature before it, so round 1 pays by lambda_0
    alone, rounds 2 to T are the objective of Lemma 22 on T - 1 rounds, and lambda*_T is best 0.
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
