"""Product of domains: one part of the decision in each.   Barrier and nu add up.

A point is the concatenation of the parts' points, flattened; `split` takes it apart again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.domains.base import (
    Aim,
    Array,
    ClosedGeometry,
    Domain,
    Frame,
    Geometry,
    Kernel,
    Place,
)
from dikin.errors import DomainError


class Product(Domain):
    """The domain of tuples (x_1, x_2, ...) with x_i in the i-th part.

    >>> from dikin import Box, Simplex
    >>> both = Product(Box([0], [8]), Simplex(2))
    >>> both.center
    array([4. , 0.5, 0.5])
    >>> both.split(both.center)
    [array([4.]), array([0.5, 0.5])]
    """

    def __init__(self, *parts: Domain) -> None:
        if not parts:
            raise DomainError("Product needs at least one domain, got none")
        for i, part in enumerate(parts):
            if not isinstance(part, Domain):
                raise DomainError(f"Product: part {i} is {part!r}, wanted a domain")
        self.parts = parts
        self.dim = sum(part.dim for part in parts)
        self.nu = sum(part.nu for part in parts)
        self.exact_support = all(part.exact_support for part in parts)
        self.center = np.concatenate([part.center.ravel() for part in parts])
        self.center.setflags(write=False)
        self.point_shape = self.center.shape
        self.radius = sqrt(sum(part.radius**2 for part in parts))
        self.inradius = min(part.inradius for part in parts)
        self.diameter = sqrt(sum(part.diameter**2 for part in parts))
        self._charts = _ranges([part.dim for part in parts])
        self._points = _ranges([part.center.size for part in parts])

    def split(self, point: Array) -> list[Array]:
        """The point of each part, in its own shape."""
        return [
            point[where].reshape(part.point_shape)
            for part, where in zip(self.parts, self._points, strict=True)
        ]

    def _chart_parts(self, v: Array) -> Iterator[tuple[Domain, Array]]:
        return zip(self.parts, (v[where] for where in self._charts), strict=True)

    def outward(self, v: Array) -> Array:
        return np.concatenate([part.outward(w).ravel() for part, w in self._chart_parts(v)])

    def inward(self, displacement: Array) -> Array:
        pieces = zip(self.parts, self.split(displacement), strict=True)
        return np.concatenate([part.inward(piece) for part, piece in pieces])

    def barrier(self, v: Array) -> float:
        return sum(part.barrier(w) for part, w in self._chart_parts(v))

    def gradient(self, v: Array) -> Array:
        return np.concatenate([part.gradient(w) for part, w in self._chart_parts(v)])

    def hessian(self, v: Array) -> Array:
        matrix = np.zeros((self.dim, self.dim))
        for where, (part, w) in zip(self._charts, self._chart_parts(v), strict=True):
            matrix[where, where] = part.hessian(w)
        return matrix

    def margin(self, point: Array) -> float:
        return min(p.margin(x) for p, x in zip(self.parts, self.split(point), strict=True))

    def gauge(self, v: Array) -> float:
        return max(part.gauge(w) for part, w in self._chart_parts(v))

    def support(self, direction: Array) -> float:
        return sum(part.support(w) for part, w in self._chart_parts(direction))

    def rise(self, share: float) -> float:
        return sum(part.rise(share) for part in self.parts)

    @property
    def symmetry(self) -> float:
        return min(part.symmetry for part in self.parts)

    def geometry(self, scale: float) -> Geometry:
        parts = [part.geometry(scale) for part in self.parts]
        return _product(parts, [1.0] * len(parts))

    def equal_sided(self, scale: float) -> Geometry:
        """Every part equal-sided, and all of them of the same radius."""
        radius = self.radius / sqrt(len(self.parts))
        factors = [part.radius / radius for part in self.parts]
        pairs = zip(self.parts, factors, strict=True)
        return _product([part.equal_sided(scale * factor) for part, factor in pairs], factors)

    def arguments(self) -> dict[str, Any]:
        return {"parts": self.parts}

    @classmethod
    def examples(cls) -> Iterator[Self]:
        from dikin.domains.ball import Ball
        from dikin.domains.box import Box
        from dikin.domains.polytope import Polytope
        from dikin.domains.simplex import Simplex

        yield cls(Box([0], [10]), Simplex(3))
        yield cls(Ball(2, 0.1, [3, 3]), cls(Simplex(2), Polytope([[1.0], [-1.0]], [2.0, 5.0])))


def _product(parts: Sequence[Geometry], factors: Sequence[float]) -> Geometry:
    closed = [part for part in parts if isinstance(part, ClosedGeometry)]
    if len(closed) == len(parts):
        return ClosedProduct(closed, factors)
    return ProductGeometry(parts, factors)


class ProductGeometry(Geometry):
    """Block by block: the quadratic is isotropic.   place = the places of the parts.

    The displacement of part i is `factors[i]` times its own: all one, or what makes them equal.
    """

    def __init__(self, parts: Sequence[Geometry], factors: Sequence[float]) -> None:
        self.parts, self.factors = parts, factors
        pairs = list(zip(parts, factors, strict=True))
        self.shortest = min(part.shortest * factor for part, factor in pairs)
        self.longest = max(part.longest * factor for part, factor in pairs)
        self.dim = sum(part.dim for part in parts)
        self.size = sum(part.size for part in parts)
        self.nu = sum(part.nu for part in parts)
        self.ranges = _ranges([part.size for part in parts])
        self.points = _ranges([part.outward(np.zeros(part.size)).size for part in parts])
        """Where the parts' entries are in a point."""

    def start(self) -> Place:
        return tuple(part.start() for part in self.parts)

    def settled(self, place: Place) -> bool:
        return all(g.settled(p) for g, p in zip(self.parts, place, strict=True))

    def vector(self, place: Place) -> Array:
        return np.concatenate([g.vector(p) for g, p in zip(self.parts, place, strict=True)])

    def solve(self, linear: Array, quadratic: float, weight: float, near: Place) -> Place:
        return tuple(
            part.solve(linear[where], quadratic, weight, place)
            for part, where, place in zip(self.parts, self.ranges, near, strict=True)
        )

    def project(self, linear: Array, near: Place) -> Place:
        return tuple(
            part.project(linear[where], place)
            for part, where, place in zip(self.parts, self.ranges, near, strict=True)
        )

    def frame(self, place: Place, kappa: float, shift: float) -> ProductFrame:
        pairs = zip(self.parts, place, strict=True)
        return ProductFrame([part.frame(p, kappa, shift) for part, p in pairs], self.ranges)

    def barrier(self, place: Place) -> float:
        return sum(part.barrier(p) for part, p in zip(self.parts, place, strict=True))

    def outward(self, u: Array) -> Array:
        pieces = zip(self.parts, self.factors, self.ranges, strict=True)
        return np.concatenate([f * part.outward(u[where]).ravel() for part, f, where in pieces])

    def inward(self, displacement: Array) -> Array:
        pieces = zip(self.parts, self.factors, self.points, strict=True)
        return np.concatenate([f * part.inward(displacement[where]) for part, f, where in pieces])

    def locate(self, displacement: Array) -> Array:
        pieces = zip(self.parts, self.factors, self.points, strict=True)
        return np.concatenate([part.locate(displacement[where]) / f for part, f, where in pieces])

    def memory(self, place: Place) -> Place:
        return tuple(part.memory(p) for part, p in zip(self.parts, place, strict=True))

    def recall(self, memory: Place) -> Place:
        return tuple(part.recall(m) for part, m in zip(self.parts, memory, strict=True))


class ClosedProduct(ProductGeometry, ClosedGeometry):
    """A product whose parts all have kernels."""

    parts: Sequence[ClosedGeometry]

    def kernel(self) -> Kernel:
        kernel, factor = self.parts[-1].kernel(), self.factors[-1]
        pairs = list(zip(self.parts, self.factors, strict=True))
        for part, left in reversed(pairs[:-1]):
            kernel, factor = PairKernel.of(part.kernel(), left, kernel, factor), 1.0
        return kernel

    def pack(self, place: Place) -> Array:
        return np.concatenate([g.pack(p) for g, p in zip(self.parts, place, strict=True)])

    def unpack(self, linear: Array, state: Array) -> Place:
        states = _ranges([part.kernel().states for part in self.parts])
        blocks = zip(self.parts, self.ranges, states, strict=True)
        return tuple(g.unpack(linear[where].copy(), state[held]) for g, where, held in blocks)


class PairKernel(NamedTuple):
    """Two kernels side by side; longer products nest to the right."""

    size: int
    states: int
    works: int
    left: Any
    right: Any
    left_factor: float
    right_factor: float

    @classmethod
    def of(cls, left: Kernel, left_factor: float, right: Kernel, right_factor: float) -> PairKernel:
        return cls(
            left.size + right.size,
            left.states + right.states,
            left.works + right.works,
            left,
            right,
            left_factor,
            right_factor,
        )

    def solve(self, linear: Array, quadratic: float, weight: float, state: Array) -> None:
        n, k = self.left.size, self.left.states
        self.left.solve(linear[:n], quadratic, weight, state[:k])
        self.right.solve(linear[n:], quadratic, weight, state[k:])

    def aim(
        self, linear: Array, state: Array, kappa: float, shift: float, noise: Array, work: Array
    ) -> tuple[float, float]:
        n, k, m = self.left.size, self.left.states, self.left.works
        a, b = self.left.aim(linear[:n], state[:k], kappa, shift, noise[:n], work[:m])
        c, d = self.right.aim(linear[n:], state[k:], kappa, shift, noise[n:], work[m:])
        return a + c, b + d

    def point(
        self, linear: Array, state: Array, work: Array, noise: Array, scale: float, u: Array
    ) -> float:
        n, k, m = self.left.size, self.left.states, self.left.works
        left: float = self.left.point(linear[:n], state[:k], work[:m], noise[:n], scale, u[:n])
        right: float = self.right.point(linear[n:], state[k:], work[m:], noise[n:], scale, u[n:])
        return left + right

    def recoil(
        self, state: Array, work: Array, noise: Array, scale: float, damping: float, linear: Array
    ) -> tuple[float, float]:
        n, k, m = self.left.size, self.left.states, self.left.works
        a, b = self.left.recoil(state[:k], work[:m], noise[:n], scale, damping, linear[:n])
        c, d = self.right.recoil(state[k:], work[m:], noise[n:], scale, damping, linear[n:])
        return a + c, b + d

    def barrier(self, linear: Array, state: Array) -> float:
        n, k = self.left.size, self.left.states
        left: float = self.left.barrier(linear[:n], state[:k])
        right: float = self.right.barrier(linear[n:], state[k:])
        return left + right

    def outward(self, u: Array, center: Array, radius: float, x: Array) -> None:
        n = self.left.size
        self.left.outward(u[:n], center[:n], radius * self.left_factor, x[:n])
        self.right.outward(u[n:], center[n:], radius * self.right_factor, x[n:])


class ProductFrame:
    """A block-diagonal H; only the length of s couples the blocks."""

    def __init__(self, frames: Sequence[Frame], ranges: list[slice]) -> None:
        self.frames, self.ranges = frames, ranges
        self.trace = sum(frame.trace for frame in frames)

    def aim(self, noise: Array) -> ProductAim:
        blocks = zip(self.frames, self.ranges, strict=True)
        return ProductAim([frame.aim(noise[where]) for frame, where in blocks])


class ProductAim:
    """The aims of the blocks."""

    def __init__(self, aims: Sequence[Aim]) -> None:
        self.aims = aims
        self.square = sum(aim.square for aim in aims)

    def point(self, scale: float) -> Array:
        return np.concatenate([aim.point(scale) for aim in self.aims])

    def recoil(self, scale: float, damping: float) -> Array:
        return np.concatenate([aim.recoil(scale, damping) for aim in self.aims])


def _ranges(sizes: list[int]) -> list[slice]:
    ends = np.cumsum(sizes).tolist()
    return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
