"""Where the laws look: directions, boundary points, interior points, and how many digits count.

Everything here needs the barrier's oracles alone. Interior points keep a bounded depth: a walk that
runs into the boundary ends where slacks have no digits left, and every difference quotient lies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite, sqrt
from typing import NamedTuple, NoReturn

import numpy as np

from dikin.domains.base import Array, Domain
from dikin.errors import CheckFailedError
from dikin.streams import Generator

EPS = float(np.finfo(float).eps)
DEEPEST = 0.98
"""How far on the way from the centre to the boundary an interior point may lie."""
ENDLESS = 1e9
"""Length of a ray, in the local norm of the centre, after which a set counts as unbounded."""


def fail(subject: object, message: str) -> NoReturn:
    """A broken law, with the object's name and the number that broke it."""
    raise CheckFailedError(f"{subject}: {message}")


class Spot(NamedTuple):
    """A chart vector with the Hessian there and its Cholesky factor: H = root root'."""

    v: Array
    hessian: Array
    root: Array

    def length(self, step: Array) -> float:
        """The local norm of a step."""
        return float(np.linalg.norm(step @ self.root))

    def dual(self, slope: Array) -> float:
        """The dual local norm of a gradient."""
        return float(np.linalg.norm(np.linalg.solve(self.root, slope)))


def spot(domain: Domain, v: Array) -> Spot:
    """The spot of a chart vector; there a barrier of a bounded set curves in every direction."""
    hessian = domain.hessian(v)
    try:
        return Spot(v, hessian, np.linalg.cholesky(hessian))
    except np.linalg.LinAlgError:
        least = float(np.linalg.eigvalsh(hessian)[0])
        fail(domain, f"the least eigenvalue of the Hessian at {v} is {least:.3g}")


def rounding(domain: Domain, at: Spot) -> float:
    """How far, in the local norm, one rounding of every coordinate can move a point.

    A difference of this size says nothing: tolerances grow by a multiple of it.
    """
    far = np.abs(domain.basis).T @ np.abs(domain.center).ravel()
    return EPS * float((np.abs(at.v) + far) @ np.sqrt(np.diag(at.hessian)))


def finite_inside(domain: Domain, v: Array) -> bool:
    """Whether the barrier calls a chart vector interior."""
    with np.errstate(all="ignore"):  # outside the set a formula may do as it likes
        return isfinite(domain.barrier(v))


def margin_inside(domain: Domain, v: Array) -> bool:
    """Whether the margin calls the point of a chart vector a point of the set."""
    with np.errstate(all="ignore"):
        return domain.margin(domain.point(v)) >= 0


Inside = Callable[[Domain, Array], bool]


def reach(
    domain: Domain, direction: Array, inside: Inside = finite_inside, digits: float = 1e-14
) -> float:
    """The multiple of a direction at which a ray from the centre leaves the set, by bisection."""
    low, high = 0.0, 1.0
    while inside(domain, high * direction):
        low, high = high, 2 * high
        if high > ENDLESS:
            fail(domain, f"{high:.1g} times {direction} is still inside: the set has no end there")
    while high - low > digits * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if inside(domain, middle * direction) else (low, middle)
    return low


def directions(domain: Domain, at: Spot, rng: Generator, count: int) -> Iterator[Array]:
    """Directions of local norm one: random ones, the axes of the chart, and away from the centre.

    The last is where a barrier bends most; no random direction of many dimensions comes near it.
    """
    random = np.linalg.solve(at.root.T, rng.standard_normal((domain.dim, count))).T
    for step in (*random, *np.eye(domain.dim)[:count], at.v):
        length = at.length(step)
        if length > 0:
            yield step / length


def climb(domain: Domain, goal: Array, steps: int) -> Iterator[Spot]:
    """Dikin steps from the centre along a goal, as far as `DEEPEST`: they end near a corner."""
    v = np.zeros(domain.dim)
    for _ in range(steps):
        at = spot(domain, v)
        step = np.linalg.solve(at.root.T, np.linalg.solve(at.root, goal))
        v = v + 0.9 * step / at.length(step)
        v = v * min(1.0, DEEPEST * reach(domain, v, digits=1e-3))
        yield spot(domain, v)


def interior(domain: Domain, rng: Generator, walks: int = 3) -> Iterator[Spot]:
    """The centre, and points on the way from it towards random corners and faces."""
    yield spot(domain, np.zeros(domain.dim))
    for _ in range(walks):
        start = spot(domain, np.zeros(domain.dim))
        goal = start.root @ rng.standard_normal(domain.dim)
        for i, at in enumerate(climb(domain, goal, 9)):
            if i in (0, 3, 8):
                yield at


def boundary(domain: Domain, rng: Generator, count: int = 12) -> Iterator[Array]:
    """Boundary points on rays from the centre."""
    center = spot(domain, np.zeros(domain.dim))
    for step in directions(domain, center, rng, count):
        yield step * reach(domain, step)


def corners(domain: Domain, rng: Generator, walks: int = 4) -> Iterator[Array]:
    """Boundary points that are far from the centre: each walk heads where it already is."""
    center = spot(domain, np.zeros(domain.dim))
    for start in directions(domain, center, rng, walks):
        goal = start
        for _ in range(3):
            *_, at = climb(domain, goal, 6)
            goal = at.v
        yield goal * reach(domain, goal)


def faces(domain: Domain, rng: Generator, walks: int = 4) -> Iterator[Array]:
    """Boundary points near to the centre: each ray takes the normal of where the last one ended."""
    center = spot(domain, np.zeros(domain.dim))
    for step in directions(domain, center, rng, walks):
        for _ in range(3):
            end = step * reach(domain, step)
            normal = domain.gradient(DEEPEST * end)
            step = normal * (sqrt(end @ end) / sqrt(normal @ normal))
        yield step * reach(domain, step)
