"""lem: unbiased: E_t[g_t] is the gradient at y_t of the smoothed, regularised loss f^_t.

f~_t(u) = f_t(u) + lambda_t/2 |u|^2, f^_t(u) = E f~_t(u + H_t^(-1/2) b), b uniform in the unit ball.
What a learner adds to its linear term is averaged over directions s, in one or two dimensions, to
rounding: equal angles integrate a smooth periodic function with exponentially small error, and
the disc is angles times Gauss-Legendre nodes in the square of the radius. In more dimensions
`test_lifted_equals_shipped` compares g_t with the paper's.
"""

from math import exp, sqrt

import numpy as np
import pytest

from paper.averages import (
    ball,
    dense_hessian,
    estimate,
    on_the_way,
    plane,
    regularisation,
    sphere,
    standing,
)
from paper.charts import Array, holds
from paper.runs import SETS

both = pytest.mark.parametrize("kind", ["smooth", "lipschitz"])


def bent(u: Array) -> float:
    return 0.4 * exp(0.9 * float(u.sum())) - 0.2 * float(u @ u) ** 2 - 0.2


def bent_gradient(u: Array) -> Array:
    return 0.36 * exp(0.9 * float(u.sum())) * np.ones(u.size) - 0.8 * float(u @ u) * u


@both
@pytest.mark.parametrize("name", [n for n in SETS if SETS[n].dim <= 2])
def test_lem_unbiased_by_quadrature_for_any_smooth_loss(kind: str, name: str) -> None:
    learner = on_the_way(kind, SETS[name])
    dim, sigma = learner.domain.dim, 0.2 * learner.curvature_limit[0]
    y = standing(learner)
    hessian = dense_hessian(learner, y)
    spread = np.linalg.inv(np.linalg.cholesky(hessian)).T
    lam = regularisation(learner, sigma)

    def smoothed(radius: float) -> Array:
        """The gradient of f^ at y, with b in a ball of another radius."""
        points = ((w, y + radius * (spread @ b)) for w, b in ball(dim))
        return np.asarray(sum(w * (bent_gradient(u) + lam * u) for w, u in points))

    basis = plane(learner)
    mean = np.mean([estimate(learner, basis @ s, bent, sigma) for s in sphere(dim)], axis=0)

    def check(radius: float) -> None:
        away = mean - smoothed(radius)
        assert sqrt(away @ np.linalg.solve(hessian, away)) <= 1e-9

    holds(check, 1.0, 0.0, 0.9, sqrt(dim / (dim + 2)))
