"""Domains of every kind, with barriers by hand, where `Predictive` works: x = c + R M u."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np
from scipy.linalg import block_diag, sqrtm

import dikin
from paper.runs import shipped_domain
from reference.barriers import (
    Array,
    BallBarrier,
    BoxBarrier,
    Normalised,
    SimplexBarrier,
    UserBarrier,
    examples,
    rotated_ellipsoid,
)


class Blocks:
    """The sum of the barriers of k parts, each of radius 1/sqrt(k)."""

    def __init__(self, parts: list[Normalised]) -> None:
        self.parts, self.scale = parts, sqrt(len(parts))
        self.dim = sum(part.dim for part in parts)
        self.nu = sum(part.nu for part in parts)
        ends = np.cumsum([0, *(part.dim for part in parts)]).tolist()
        self.ranges = [slice(*ends) for ends in pairwise(ends)]

    def each(self, u: Array) -> list[tuple[Normalised, Array]]:
        return [(p, self.scale * u[r]) for p, r in zip(self.parts, self.ranges, strict=True)]

    def gradient(self, u: Array) -> Array:
        return self.scale * np.concatenate([part.gradient(w) for part, w in self.each(u)])

    def hessian(self, u: Array) -> Array:
        found = np.zeros((self.dim, self.dim))  # `block_diag` takes ten times as long
        for (part, w), r in zip(self.each(u), self.ranges, strict=True):
            found[r, r] = self.scale**2 * part.hessian(w)
        return found

    def support(self, slope: Array) -> float:
        pairs = zip(self.parts, self.ranges, strict=True)
        return sum(part.support(slope[where]) for part, where in pairs) / self.scale


@dataclass(frozen=True)
class Space:
    domain: Any
    psi: Any
    matrix: Array
    """M."""

    @property
    def dim(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def radius(self) -> float:
        return float(self.domain.radius)

    @cached_property
    def inverse(self) -> Array:
        return np.asarray(np.linalg.pinv(self.matrix))

    @cached_property
    def shortest(self) -> float:
        return float(np.linalg.svd(self.matrix, compute_uv=False)[-1])

    @cached_property
    def longest(self) -> float:
        return float(np.linalg.svd(self.matrix, compute_uv=False)[0])

    def to_work(self, point: Array) -> Array:
        return np.asarray(self.inverse @ (point - self.domain.center) / self.radius)

    def to_user(self, u: Array) -> Array:
        return np.asarray(self.domain.center + self.radius * (self.matrix @ u))


def plain(barrier: UserBarrier) -> Space:
    """A set whose working form is the set itself, in units of its radius."""
    domain = shipped_domain(barrier)
    psi = Normalised(barrier, domain.radius)
    return Space(domain, psi, psi.basis)


def unit_cube(dim: int) -> Normalised:
    """Of radius one."""
    corner = np.full(dim, 1 / sqrt(dim))
    return Normalised(BoxBarrier(-corner, corner), 1.0)


def long_box() -> Space:
    """A side is 2 half_i, and 2 R/sqrt(d) in the cube of the same radius."""
    domain = dikin.Box([-1.0, 2.0, 0.0], [0.5, 62.0, 1.0])
    half = (domain.upper - domain.lower) / 2
    return Space(domain, unit_cube(3), np.diag(half * sqrt(3) / domain.radius))


def ellipsoid() -> Space:
    barrier = rotated_ellipsoid()
    domain = dikin.Ellipsoid(barrier.center, barrier.shape)
    ball = Normalised(BallBarrier(np.zeros(3), 1.0), 1.0)
    return Space(domain, ball, np.real(sqrtm(barrier.shape)) / domain.radius)


def product() -> Space:
    """An interval of length 8, and probability vectors."""
    domain = dikin.Product(dikin.Box([1], [9]), dikin.Simplex(3))
    parts = [Normalised(BoxBarrier(np.array([1.0]), np.array([9.0])), 4.0)]
    parts.append(Normalised(SimplexBarrier(3), sqrt(2 / 3)))
    stretched = [sqrt(2) * part.radius / domain.radius * part.basis for part in parts]
    return Space(domain, Blocks(parts), np.asarray(block_diag(*stretched)))


SPACES: dict[str, Callable[[], Space]] = {
    "disc": lambda: plain(examples()["unit ball"]),
    "long box": long_box,
    "simplex": lambda: plain(examples()["simplex"]),
    "ellipsoid": ellipsoid,
    "polytope": lambda: plain(examples()["random polytope"]),
    "product": product,
}
