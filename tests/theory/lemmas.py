"""Lemmas 6 and 22 of the paper: the price of a sequence of lambdas, and the least price."""

from typing import Any

import numpy as np

from dikin.learners.adaptive import regularisation


def free(sigmas: Any, first: float) -> Any:
    """lambda_0 + sigma_{1:t} for every t: the curvature that costs nothing."""
    return first + np.cumsum(np.asarray(sigmas, dtype=float))


def price(order: int, target: float, lambdas: Any, sigmas: Any, first: float) -> float:
    """lambda_{1:T} + sum_t (target / S_t)^(1/k)."""
    total = free(sigmas, first) + np.cumsum(lambdas)
    return float(np.sum(lambdas) + ((target / total) ** (1 / order)).sum())


def minimum(order: int, target: float, sigmas: Any, first: float) -> tuple[float, float]:
    """The least price over lambda_1, ..., lambda_T >= 0, and the mass m of a minimiser.

    All of it sits on round 1: moving it there leaves the sum as it is, and no S_t falls. The rest
    is to minimise the convex m + sum_t (target / (A_t + m))^p over m >= 0, by Newton's method for
    g(m)^(-1/(p+1)) = 1, where g is minus the derivative of the sum: increasing and concave in m.
    """
    curvature, power, mass = free(sigmas, first), 1 / order, 0.0
    while curvature.size:
        total = curvature + mass
        terms = total ** (-power - 1)
        saved = power * target**power * float(terms.sum())
        step = (saved ** (1 / (power + 1)) - 1) * float(terms.sum() / (terms / total).sum())
        if not mass + step > mass:
            return mass + float(((target / total) ** power).sum()), mass
        mass += step
    return 0.0, 0.0


def adaptive(order: int, target: float, sigmas: Any, first: float) -> Any:
    """The lambda_1, ..., lambda_T of the library, each from its own past alone."""
    lambdas: list[float] = []
    for curvature in free(sigmas, first).tolist():
        lambdas.append(regularisation(curvature + sum(lambdas), target, order))
    return np.array(lambdas)
