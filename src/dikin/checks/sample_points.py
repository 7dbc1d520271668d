"""The points at which laws are checked, from the barrier's oracles alone, and their rounding.

Interior points keep a bounded depth: near the boundary slacks have lost all digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite, sqrt

import numpy as np

from dikin.checks.failure import at_most, require
from dikin.domains.base import Array, Domain
from dikin.rng import Generator

EPS = float(np.finfo(float).eps)
DEEPEST = 0.98
"""How far on the way from the centre to the boundary an interior point may lie."""
UNBOUNDED = 1e9
"""Length of a ray, in the local norm of the centre, after which a set counts as unbounded."""


@dataclass(frozen=True)
class InteriorPoint:
    """A chart vector inside a domain, with the local norm |h|_v = sqrt(h' Hessian(psi)(v) h)."""

    domain: Domain
    v: Array

    @cached_property
    def hessian(self) -> Array:
        """Hessian of psi."""
        return self.domain.hessian(self.v)

    @cached_property
    def root(self) -> Array:
        """Its Cholesky factor: a barrier of a bounded set curves in every direction."""
        try:
            return np.asarray(np.linalg.cholesky(self.hessian), dtype=float)
        except np.linalg.LinAlgError:
            least = float(np.linalg.eigvalsh(self.hessian)[0])
            require(
                False, self.domain, "the least eigenvalue of the Hessian", least, "> 0", at=self.v
            )
            raise

    @cached_property
    def rounding(self) -> float:
        """The effect of rounding on a point and on its gradient, in the local norm."""
        return self.point_rounding(self.v) + EPS * float(np.sqrt(magnification(self.hessian)).sum())

    @cached_property
    def hessian_rounding(self) -> float:
        """The effect of rounding on the Hessian and so, relatively, on the local norm itself."""
        return EPS * float(magnification(self.hessian).sum())

    def point_rounding(self, v: Array) -> float:
        """Return how far, in the norm of this point, rounding of every coordinate can move v."""
        far = np.abs(self.domain.basis).T @ np.abs(self.domain.center).ravel()
        return EPS * float((np.abs(v) + far) @ np.sqrt(np.abs(np.diag(self.hessian))))

    def length(self, step: Array) -> float:
        """The local norm of a step."""
        return float(np.linalg.norm(step @ self.root))

    def dual(self, slope: Array) -> float:
        """The dual local norm of a gradient."""
        return float(np.linalg.norm(np.linalg.solve(self.root, slope)))


def magnification(matrix: Array) -> Array:
    """The diagonal of C^-1, for a matrix scaled to a C with a diagonal of ones."""
    scale = np.sqrt(np.abs(np.diag(matrix)))
    try:
        values = np.diag(np.linalg.inv(matrix / np.outer(scale, scale)))
    except np.linalg.LinAlgError:
        return np.full(scale.size, inf)
    return np.where(values > 0, values, inf)  # nothing of it left: as good as singular


def center_of(domain: Domain) -> InteriorPoint:
    """The analytic centre as an interior point."""
    return InteriorPoint(domain, np.zeros(domain.dim))


def finite_inside(domain: Domain, v: Array) -> bool:
    """Return whether the barrier calls a chart vector interior."""
    with np.errstate(all="ignore"):  # outside the set a formula may return anything
        return isfinite(domain.barrier(v))


def margin_inside(domain: Domain, v: Array) -> bool:
    """Return whether the margin calls the point of a chart vector a point of the set."""
    with np.errstate(all="ignore"):
        return domain.margin(domain.point(v)) >= 0


def exit_multiple(
    domain: Domain,
    direction: Array,
    inside: Callable[[Domain, Array], bool] = finite_inside,
    digits: float = 1e-11,
) -> float:
    """The multiple of a direction at which a ray from the centre leaves the set, by bisection."""
    low, high = 0.0, 1.0
    while inside(domain, high * direction):
        low, high = high, 2 * high
        at_most(domain, "the length of a ray that is still inside", high, UNBOUNDED, on=direction)
    while high - low > digits * high:
        require(high >= 1e-12, domain, "the end of the ray", high, "well outside", on=direction)
        middle = (low + high) / 2
        low, high = (middle, high) if inside(domain, middle * direction) else (low, middle)
    return low


def directions(at: InteriorPoint, rng: Generator, count: int) -> Iterator[Array]:
    """Directions of local norm one: random ones, the chart's axes, and away from the centre."""
    dim = at.domain.dim
    random = np.linalg.solve(at.root.T, rng.standard_normal((dim, count))).T
    for step in (*random, *np.eye(dim)[:count], at.v):
        length = at.length(step)
        if length > 0:
            yield step / length


def dikin_walk(
    domain: Domain, goal: Array | None, start: Array, steps: int
) -> Iterator[InteriorPoint]:
    """Steps of 0.9 in the local norm along `goal`, or away from the centre, towards a corner."""
    v = start
    for _ in range(steps):
        at = InteriorPoint(domain, v)
        step = np.linalg.solve(at.root.T, np.linalg.solve(at.root, v if goal is None else goal))
        v = v + 0.9 * step / at.length(step)
        if not finite_inside(domain, v / DEEPEST):
            v = v * (DEEPEST * exit_multiple(domain, v, digits=1e-3))
        yield InteriorPoint(domain, v)


def interior(domain: Domain, rng: Generator, walks: int = 3) -> Iterator[InteriorPoint]:
    """The centre, and points on the way from it towards random corners and faces."""
    center = center_of(domain)
    yield center
    for _ in range(walks):
        goal = center.root @ rng.standard_normal(domain.dim)
        walk = list(dikin_walk(domain, goal, center.v, 9))
        yield from (walk[0], walk[3], walk[8])


def ends(domain: Domain, rng: Generator, count: int = 6) -> Iterator[Array]:
    """Boundary points on rays from the centre, and some as far from it as a walk comes."""
    center = center_of(domain)
    for step in directions(center, rng, count):
        yield step * exit_multiple(domain, step)
    for start in directions(center, rng, 4):
        *_, at = dikin_walk(domain, None, start / 2, 9)
        yield at.v * exit_multiple(domain, at.v)


def faces(domain: Domain, rng: Generator) -> Iterator[Array]:
    """Boundary points near to the centre: each ray takes the normal of where the last one ended."""
    for step in directions(center_of(domain), rng, 4):
        for _ in range(3):
            end = step * exit_multiple(domain, step)
            normal = domain.gradient(DEEPEST * end)
            step = normal * (sqrt(end @ end) / sqrt(normal @ normal))
        yield step * exit_multiple(domain, step)
