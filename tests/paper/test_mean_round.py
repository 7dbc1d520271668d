"""One round of a learner in the mean over its directions, without any sampling.

Equal angles integrate a smooth periodic function with exponentially small error, and the disc is
angles times Gauss-Legendre nodes in the square of the radius. In more dimensions
`test_lifted_equals_shipped` compares g_t with the paper's.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import exp, log, log1p, sqrt
from typing import Any

import numpy as np
import pytest

from dikin.checks.sample_points import interior
from dikin.learners.adaptive import Adaptive
from dikin.learners.barrier_ftrl import RATE, TOTAL
from dikin.open_queries import OpenQueries
from dikin.rng import stream
from paper.charts import Array, Chart, holds
from paper.runs import SETS, Record, alternating, build

Loss = Callable[[Array], float]
both = pytest.mark.parametrize("kind", ["smooth", "lipschitz"])
flat_or_line = pytest.mark.parametrize("name", ["interval", "disc", "ellipsoid"])


@dataclass
class Given:
    """Noise that is told what to be."""

    noise: Array

    def draw(self) -> Array:
        return self.noise


def played(learner: Adaptive, noise: Array, loss: Loss, sigma: float) -> tuple[float, Array]:
    """The loss of a round with this noise, and g_t."""
    twin = object.__new__(type(learner))  # an answer replaces its arrays and changes none
    vars(twin).update(vars(learner), _noise=Given(noise), _open=OpenQueries())
    query, units, domain = twin.ask(), twin.units, twin.domain
    value = loss(domain.locate(query.point) / units.radius)
    twin.tell(query, units.loss_offset + units.loss_scale * value, sigma)
    added = twin._state.numbers[TOTAL] - learner._state.numbers[TOTAL]
    moved = twin.geometry.outward(twin._state.linear - learner._state.linear)
    return value, domain.inward(moved.reshape(domain.point_shape)) + added * standing(learner)


def on_the_way(kind: str, name: str) -> Adaptive:
    return Record(build(kind, SETS[name])).play(alternating, 15).learner


def standing(learner: Adaptive) -> Array:
    """y_t, normalised."""
    return learner.domain.locate(learner.center) / learner.units.radius


def regularisation(learner: Adaptive, sigma: float) -> float:
    return learner._schedule.regularisation(
        learner._state.numbers[TOTAL] + learner.units.curvature(sigma)
    )


def dense_hessian(learner: Adaptive) -> Array:
    y, numbers = standing(learner), learner._state.numbers
    shift = numbers[RATE] * numbers[TOTAL] * np.eye(y.size)
    return learner._schedule.kappa * Chart(learner.domain).hessian(y) + shift


def sphere(dim: int, count: int = 48) -> Array:
    if dim == 1:
        return np.array([[1.0], [-1.0]])
    angles = 2 * np.pi * np.arange(count) / count
    return np.column_stack([np.cos(angles), np.sin(angles)])


def ball(dim: int) -> Iterator[tuple[float, Array]]:
    """Weights and nodes of the unit ball: |b|^2 is uniform in the disc, b in the interval."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    for weight, node in zip(weights / 2, nodes, strict=True):
        if dim == 1:
            yield weight, np.array([node])
        else:
            for s in sphere(2):
                yield weight / 48, sqrt((1 + node) / 2) * s


def bent(u: Array) -> float:
    return 0.4 * exp(0.9 * float(u.sum())) - 0.2 * float(u @ u) ** 2 - 0.2


def bent_gradient(u: Array) -> Array:
    return 0.36 * exp(0.9 * float(u.sum())) * np.ones(u.size) - 0.8 * float(u @ u) * u


@both
@flat_or_line
def test_lem_unbiased_by_quadrature_for_any_smooth_loss(kind: str, name: str) -> None:
    learner = on_the_way(kind, name)
    dim, sigma, y = learner.domain.dim, 0.2 * learner.curvature_limit[0], standing(learner)
    hessian, lam = dense_hessian(learner), regularisation(learner, sigma)
    spread = np.linalg.inv(np.linalg.cholesky(hessian)).T

    def smoothed(radius: float) -> Array:
        """The gradient of f^ at y, with b in a ball of another radius."""
        points = ((w, y + radius * (spread @ b)) for w, b in ball(dim))
        return np.asarray(sum(w * (bent_gradient(u) + lam * u) for w, u in points))

    mean = np.mean([played(learner, s, bent, sigma)[1] for s in sphere(dim)], axis=0)

    def check(radius: float) -> None:
        away = mean - smoothed(radius)
        assert sqrt(away @ np.linalg.solve(hessian, away)) <= 1e-9

    holds(check, 1.0, 0.0, 0.9, sqrt(dim / (dim + 2)))


def bend(y: Array, a: Array, sigma: float, size: float) -> tuple[Loss, float, float]:
    """sigma/2 |u|^2 + 0.3 ln cosh(m a.(u - o))/m, its smoothness and its slope."""
    o, m = y - 0.5 * size * a, 8 / size

    def loss(u: Array) -> float:
        x = abs(m * float(a @ (u - o)))
        return sigma / 2 * float(u @ u) + 0.3 * (x + log1p(exp(-2 * x)) - log(2)) / m

    return loss, sigma + 0.3 * m, sigma + 0.3


def smooth_price(beta: float, slope: float, sigma: float, tau: float, dim: int) -> float:
    return beta / 2 * tau / dim + (beta - sigma) / 2 * tau / (dim + 2)


def lipschitz_price(beta: float, slope: float, sigma: float, tau: float, dim: int) -> float:
    return slope * sqrt(tau / dim) - sigma / 2 * tau / (dim + 2)


def check_round(price: Callable[..., float], learner: Adaptive, rounds: list[Any]) -> None:
    """E f(x) - f(u) <= E[g].(y-u) - (sigma+lambda)/2 |y-u|^2 + lambda/2 (|u|^2-|y|^2) + price."""
    y, dim, told = standing(learner), learner.domain.dim, 0.5 * learner.curvature_limit[0]
    sigma, lam = learner.units.curvature(told), regularisation(learner, told)
    tau = float(np.trace(np.linalg.inv(dense_hessian(learner))))
    inside = [at.v / learner.domain.radius for at in interior(learner.domain, stream(8, "round"))]
    for loss, beta, slope, mean, seen in rounds:
        for u in [y, *inside]:
            away = y - u
            bound = float(mean @ away) - (sigma + lam) / 2 * float(away @ away)
            bound += lam / 2 * float(u @ u - y @ y) + price(beta, slope, sigma, tau, dim)
            assert seen - loss(u) <= bound + 1e-9


@both
@flat_or_line
def test_certificate_price_of_a_round_without_leaving_the_set(kind: str, name: str) -> None:
    """For every u of the set. The losses bend near y: without a price the bound is false."""
    learner, rounds = on_the_way(kind, name), []
    told, dim = 0.5 * learner.curvature_limit[0], learner.domain.dim
    size = sqrt(float(np.trace(np.linalg.inv(dense_hessian(learner)))) / dim)
    for way in sphere(dim, 4):
        constants = bend(standing(learner), way, learner.units.curvature(told), size)
        found = [played(learner, s, constants[0], told) for s in sphere(dim, 120)]
        seen, mean = (np.mean(each, axis=0) for each in zip(*found, strict=True))
        rounds.append((*constants, mean, float(seen)))
    right = smooth_price if kind == "smooth" else lipschitz_price
    holds(partial(check_round, learner=learner, rounds=rounds), right, lambda *_: 0.0)
