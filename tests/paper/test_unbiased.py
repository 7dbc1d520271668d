"""lem: unbiased: E_t[g_t] is the gradient at y_t of the smoothed, regularised loss f^_t.

f~_t(u) = f_t(u) + lambda_t/2 |u|^2, f^_t(u) = E f~_t(u + H_t^(-1/2) b), b uniform in the unit ball.
What the learners themselves add to their linear term is averaged over directions s, three ways:

- Quadratic f~: exactly. g(s) = d (c + b.z + z'Az/2) H^(1/2) s with z = H^(-1/2) s. The terms with c
  and A are odd in s and cancel between s and -s. The term with b is d H^(1/2) s s' H^(-1/2) b, and
  s s' averages to I/d over any orthonormal basis. So the mean over both signs of the columns of any
  orthogonal matrix is b, the gradient at y; smoothing a quadratic adds a constant and leaves it.
- Any smooth f~ in one or two dimensions: to rounding, since equal angles integrate a smooth
  periodic function with exponentially small error, and the disc is angles times Gauss-Legendre
  nodes in the square of the radius.
- The learner's own directions: Monte Carlo, by Bernstein's inequality with a stated false alarm.
"""

import copy
from collections.abc import Callable
from math import exp, sqrt
from typing import Any

import numpy as np
import pytest

from dikin.learners.adaptive import Adaptive
from paper.averages import (
    Loss,
    ball,
    dense_hessian,
    estimate,
    on_the_way,
    plane,
    regularisation,
    sphere,
    standing,
)
from paper.charts import CHARTS, Array, holds
from paper.runs import SETS

both = pytest.mark.parametrize("kind", ["smooth", "lipschitz"])


# --- exactly, for quadratics -------------------------------------------------------------------


def quadratic(dim: int, seed: int) -> tuple[Loss, Callable[[Array], Array]]:
    """c + b.u + u'Au/2 with |f| <= 1 on the unit ball, and its gradient."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(dim, dim))
    a = root @ root.T
    a *= 0.8 / np.linalg.norm(a, 2)
    b = rng.normal(size=dim)
    b *= 0.3 / np.linalg.norm(b)
    return lambda u: float(-0.3 + b @ u + u @ a @ u / 2), lambda u: b + a @ u


def check_quadratic(learner: Adaptive, weight: float) -> None:
    """`weight` of lambda_t y_t in the gradient that is expected."""
    dim, sigma = learner.domain.dim, 0.5 * learner.curvature_limit[0]
    loss, gradient = quadratic(dim, dim)
    y = standing(learner)
    turn = np.linalg.qr(np.random.default_rng(dim).normal(size=(dim, dim)))[0]
    columns = (plane(learner) @ turn).T
    sides = [estimate(learner, side * s, loss, sigma) for s in columns for side in (1, -1)]
    away = np.mean(sides, axis=0) - gradient(y) - weight * regularisation(learner, sigma) * y
    # In the local norm, where |g| = d |f~|.
    assert sqrt(away @ np.linalg.solve(dense_hessian(learner, y), away)) <= 1e-8


def crossed(right: Any) -> Any:
    """A geometry whose estimator uses another ellipsoid than its exploration."""
    explore, size = right.explore, right.metric_size

    class Crossed(type(right)):  # type: ignore[misc]
        metric_size = 2 * size

        def explore(
            self, iterate: Array, kappa: float, shift: float, noise: Array, out: Array
        ) -> Any:
            explore(iterate, kappa, 1.5 * shift, noise.copy(), out[size:])
            return explore(iterate, kappa, shift, noise, out[:size])

        def point(self, iterate: Array, direction: Array, *rest: Any) -> Any:
            return right.point(iterate, direction[:size], *rest)

        def linear_update(self, iterate: Array, direction: Array, *rest: Any) -> Any:
            return right.linear_update(iterate, direction[size:], *rest)

    if isinstance(right, tuple):
        return Crossed(*right)
    twin = copy.copy(right)
    twin.__class__, twin.metric_size = Crossed, 2 * size
    return twin


@both
@pytest.mark.parametrize("name", [n for n in CHARTS if n not in ("ball-2", "box-2")])
def test_lem_unbiased_exact_on_quadratics(kind: str, name: str) -> None:
    """Two domains are too far away or too thin for 1e-8 in the user's coordinates."""

    def check(variant: str) -> None:
        learner = on_the_way(kind, CHARTS[name].domain)
        if variant == "d + 1":
            dim = learner.domain.dim + 1
            schedule = type(learner._schedule)(learner._schedule, dim=dim)
            learner._kernel = learner._kernel._replace(schedule=schedule)
        if variant == "two ellipsoids":
            geometry = crossed(learner.geometry)
            learner._kernel = learner._kernel._replace(geometry=geometry)
            learner._metric_form = geometry.metric_size, geometry.size
        check_quadratic(learner, weight=0.0 if variant == "f, not f~" else 1.0)

    holds(check, "right", "d + 1", "two ellipsoids", "f, not f~")


# --- to rounding, for smooth losses in one and two dimensions ----------------------------------


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
