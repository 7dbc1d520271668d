"""docs/mathematics.md, 5.5: what a round costs that ends a range because its loss lies outside.

With n = y - u and q(x) the part of f(x) outside the range, b = d E[q(y + z) z'H n] is what the
gradients of the clipped losses miss. The lemma says that b <= d Lambda P, with P the chance that
the played point or its mirror image sees a loss outside, however close to the boundary y is. The
mean is taken over directions of the plane on a grid: no chance is in it.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from paper.charts import Array, holds

ANGLES = 2 * np.pi * (np.arange(4000) + 0.5) / 4000
SPHERE = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
DISC = np.array(
    [[r * np.cos(a), r * np.sin(a)] for r in np.linspace(0, 1, 40) for a in ANGLES[::50]]
)


class Scene(NamedTuple):
    """A convex quadratic f(x) = x'Ax/2 + b.x on the unit disc, a centre, a comparator, a range."""

    matrix: Array
    slope: Array
    y: Array
    u: Array
    low: float
    high: float

    def loss(self, x: Array) -> Array:
        return np.asarray(0.5 * np.einsum("...i,ij,...j", x, self.matrix, x) + x @ self.slope)

    @property
    def steepest(self) -> float:
        """Lambda = W + (beta/2) D^2."""
        values = self.loss(DISC)
        return float(values.max() - values.min() + 2 * np.linalg.eigvalsh(self.matrix)[-1])


def scenes(gap: float) -> list[Scene]:
    """Centres at a gap from the boundary; ranges that some of the ellipsoid's points leave."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(60):
        turn = np.linalg.qr(rng.standard_normal((2, 2)))[0]
        matrix = turn @ np.diag(rng.uniform(0, 3, 2) * rng.integers(0, 2, 2)) @ turn.T
        y, u = turn[0] * (1 - gap), -turn[0] if rng.random() < 0.5 else turn[1]
        scene = Scene(matrix, rng.standard_normal(2), y, u, -np.inf, np.inf)
        seen = scene.loss(y + ellipsoid(y))
        ends = np.quantile(seen, sorted(rng.uniform(-0.2, 1.2, 2).clip(0, 1)))
        found.append(scene._replace(low=float(ends[0]), high=float(ends[1])))
    return found


def hessian(y: Array) -> Array:
    """Of -ln(1 - |x|^2)."""
    slack = 1 - y @ y
    return np.asarray(2 / slack * np.eye(2) + 4 / slack**2 * np.outer(y, y))


def ellipsoid(y: Array) -> Array:
    """H^(-1/2) s for every direction s."""
    values, vectors = np.linalg.eigh(hessian(y))
    return np.asarray(SPHERE @ (vectors / np.sqrt(values) @ vectors.T))


def bias(scene: Scene, missed: Callable[[Scene, Array], Array]) -> tuple[float, float]:
    """b, and the chance that a point or its mirror image sees a loss outside."""
    n, h = scene.y - scene.u, hessian(scene.y)
    z = ellipsoid(scene.y)
    mirrored = z - 2 * np.outer(z @ h @ n, n) / (n @ h @ n)
    seen = [scene.loss(scene.y + each) for each in (z, mirrored)]
    outside = np.any([(f < scene.low) | (f > scene.high) for f in seen], axis=0)
    return float(2 * np.mean(missed(scene, seen[0]) * (z @ h @ n))), float(outside.mean())


def clipped(scene: Scene, f: Array) -> Array:
    return f - np.clip(f, scene.low, scene.high)


def dropped(scene: Scene, f: Array) -> Array:
    """Of a round that is not learnt from at all everything is missed."""
    return np.where((f < scene.low) | (f > scene.high), f, 0.0)


@pytest.mark.parametrize("gap", [0.5, 1e-2, 1e-5])
def test_clipping_costs_a_bounded_amount_however_close_the_boundary(gap: float) -> None:
    most = 0.0
    for scene in scenes(gap):
        b, chance = bias(scene, clipped)
        # Rounding: f at y + z loses as many digits as z'Hn is large.
        assert b <= 2 * scene.steepest * chance + 1e-9
        most = max(most, b / scene.steepest)
    assert most > 0.01  # so the bound is about something


def test_a_round_that_is_not_learnt_from_would_cost_without_bound() -> None:
    def bounded(missed: Callable[[Scene, Array], Array]) -> None:
        for scene in scenes(1e-5):
            assert bias(scene, missed)[0] <= 4 * scene.steepest

    holds(bounded, clipped, dropped)
