"""Exact averages over the directions that a learner might draw, with its own ellipsoids."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from dikin import Query
from dikin.learners.adaptive import Adaptive
from dikin.learners.barrier_ftrl import RATE, TOTAL
from dikin.open_queries import OpenQueries
from domains.geometry_laws import Direction
from paper.charts import Array, Chart
from paper.runs import ANSWERS, Record, build

Loss = Callable[[Array], float]


@dataclass
class Given:
    """Noise that is told what to be."""

    noise: Array

    def draw(self) -> Array:
        return self.noise


def plane(learner: Adaptive) -> Array:
    """Columns: an orthonormal basis of the directions s that the learner's noise is turned into.

    The square of a direction is |P noise|^2, P a projector: polarise it.
    """
    size = learner.geometry.size
    unit = np.eye(size)
    squares = [
        [seen(learner, a + b).square - seen(learner, a - b).square for a in unit] for b in unit
    ]
    values, vectors = np.linalg.eigh(np.array(squares) / 4)
    kept = size - learner.domain.dim
    np.testing.assert_allclose(values, [0] * kept + [1] * learner.domain.dim, atol=1e-9)
    return np.asarray(vectors[:, kept:])


def seen(learner: Adaptive, noise: Array) -> Direction:
    """The direction that the learner would make of noise."""
    numbers, iterate = learner._state.numbers, learner._state.iterate
    shift = numbers[RATE] * numbers[TOTAL]
    return Direction(learner.geometry, iterate, learner._schedule.kappa, shift, noise)


def trace_of(learner: Adaptive) -> float:
    """tr(H^-1) at the present centre."""
    return seen(learner, np.ones(learner.geometry.size)).trace


def played(learner: Adaptive, noise: Array) -> tuple[Adaptive, Query, Array]:
    """A twin of the learner that has asked with this noise, its query, and the normalised point."""
    twin = object.__new__(type(learner))  # an answer replaces its arrays and changes none
    vars(twin).update(vars(learner), _noise=Given(noise), _open=OpenQueries())
    query = twin.ask()
    return twin, query, twin.domain.locate(query.point) / twin.units.radius


def estimate(learner: Adaptive, noise: Array, loss: Loss, sigma: float) -> Array:
    """g_t in chart coordinates: what one answer adds to the linear term, without its damping."""
    twin, query, x = played(learner, noise)
    units, domain = twin.units, twin.domain
    value = loss(x)
    twin.tell(query, units.loss_offset + units.loss_scale * value, sigma)
    added = twin._state.numbers[TOTAL] - learner._state.numbers[TOTAL]
    moved = twin.geometry.outward(twin._state.linear - learner._state.linear)
    return domain.inward(moved.reshape(domain.point_shape)) + added * standing(learner)


def on_the_way(kind: str, domain: Any, rounds: int = 15) -> Adaptive:
    return Record(build(kind, domain)).play(ANSWERS["alternating"], rounds).learner


def standing(learner: Adaptive) -> Array:
    """y_t, normalised."""
    return learner.domain.locate(learner.center) / learner.units.radius


def regularisation(learner: Adaptive, sigma: float) -> float:
    return learner._schedule.regularisation(
        learner._state.numbers[TOTAL] + learner.units.curvature(sigma)
    )


def dense_hessian(learner: Adaptive, y: Array) -> Array:
    shift = learner._state.numbers[RATE] * learner._state.numbers[TOTAL] * np.eye(y.size)
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
