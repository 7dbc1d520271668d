"""Product of domains: one part of the decision in each.   Barrier and nu add up."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.domains.ball import Ball
from dikin.domains.base import Array, Domain
from dikin.domains.box import Box
from dikin.domains.geometry import Geometry
from dikin.domains.polytope import Polytope
from dikin.domains.simplex import Simplex
from dikin.errors import DomainError, shown


class Product(Domain):
    """The domain of tuples (x_1, x_2, ...) with x_i in the i-th part.

    A point is the concatenation of the parts' points, flattened. `split` takes it apart again.

    Parameters
    ----------
    *parts : Domain
        One domain or more.

    Raises
    ------
    DomainError
        If no part is given, or a part is not a domain.

    Examples
    --------
    >>> from dikin import Box, Simplex
    >>> both = Product(Box([0], [8]), Simplex(2))
    >>> both.center
    array([4. , 0.5, 0.5])
    >>> both.split(both.center)
    [array([4.]), array([0.5, 0.5])]
    """

    def __init__(self, *parts: Domain) -> None:
        if not parts:
            raise DomainError("Product needs at least one domain, got 0")
        for i, part in enumerate(parts):
            if not isinstance(part, Domain):
                raise DomainError(f"Product: part {i} is {shown(part)}, wanted a domain")
        self.parts = parts
        self.dim = sum(part.dim for part in parts)
        self.nu = sum(part.nu for part in parts)
        self.symmetry = min(part.symmetry for part in parts)
        self.center = np.concatenate([part.center.ravel() for part in parts])
        self.radius = sqrt(sum(part.radius**2 for part in parts))
        self.inradius = min(part.inradius for part in parts)
        self.diameter = sqrt(sum(part.diameter**2 for part in parts))
        self._charts = _ranges([part.dim for part in parts])
        self._points = _ranges([part.center.size for part in parts])

    def split(self, point: Array) -> list[Array]:
        """The point of each part, in its own shape.

        Parameters
        ----------
        point : Array
            A point of the product.

        Returns
        -------
        list of Array
            The points of the parts, in their order.
        """
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

    def barrier_growth(self, share: float) -> float:
        return sum(part.barrier_growth(share) for part in self.parts)

    def geometry(self, scale: float, equal_sides: bool = False) -> Geometry:
        # With equal sides all parts have the same radius. Longer products nest to the right.
        shares = [part.radius * sqrt(len(self.parts)) / self.radius for part in self.parts]
        factors = shares if equal_sides else [1.0] * len(self.parts)
        *pairs, (last, factor) = zip(self.parts, factors, strict=True)
        product = last.geometry(scale * factor, equal_sides)
        for domain, left_factor in reversed(pairs):
            left = domain.geometry(scale * left_factor, equal_sides)
            product = PairGeometry(
                left.size + product.size,
                left,
                product,
                left_factor,
                factor,
                left.entries,
                max(left.iterate_size, product.iterate_size),
                max(left.metric_size, product.metric_size),
            )
            factor = 1.0
        return product

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(Box([0], [10]), Simplex(3))
        yield cls(Ball(2, 0.1, [3, 3]), cls(Simplex(2), Polytope([[1.0], [-1.0]], [2.0, 5.0])))


class PairNumbers(NamedTuple):
    """The constants of a pair, for the compiled loop."""

    size: int
    left: Any
    right: Any
    left_factor: float
    """Factor of the displacement of the left part: 1, or the one that makes sides equal."""
    right_factor: float
    left_entries: int
    """Entries of a point of the left part."""
    iterate_size: int
    metric_size: int


class PairGeometry(PairNumbers, Geometry):
    """Block by block, as the quadratic is isotropic.

    H is block-diagonal: only the length of s couples the blocks. The first columns of an iterate
    and of a metric are those of the left part.
    """

    @property
    def compilable(self) -> bool:
        return bool(self.left.compilable and self.right.compilable)

    @property
    def squares(self) -> Array:
        left, right = self.left_factor**2 * self.left.squares, self.right_factor**2
        return np.concatenate([left, right * self.right.squares])

    @property
    def entries(self) -> int:
        return int(self.left_entries + self.right.entries)

    def start(self) -> Array:
        iterate, n = np.zeros((self.iterate_size, self.size)), self.left.size
        iterate[: self.left.iterate_size, :n] = self.left.start()
        iterate[: self.right.iterate_size, n:] = self.right.start()
        return iterate

    def converged(self, iterate: Array) -> bool:
        n = self.left.size
        return bool(self.left.converged(iterate[:, :n]) and self.right.converged(iterate[:, n:]))

    def solve(self, linear: Array, quadratic: float, weight: float, iterate: Array) -> None:
        n = self.left.size
        self.left.solve(linear[:n], quadratic, weight, iterate[:, :n])
        self.right.solve(linear[n:], quadratic, weight, iterate[:, n:])

    def project(self, linear: Array, iterate: Array) -> None:
        n = self.left.size
        self.left.project(linear[:n], iterate[:, :n])
        self.right.project(linear[n:], iterate[:, n:])

    def explore(
        self, iterate: Array, kappa: float, shift: float, s: Array, metric: Array
    ) -> tuple[float, float, Any, Any]:
        n = self.left.size
        left = self.left.explore(iterate[:, :n], kappa, shift, s[:n], metric[:, :n])
        right = self.right.explore(iterate[:, n:], kappa, shift, s[n:], metric[:, n:])
        return left[0] + right[0], left[1] + right[1], left, right

    def point(self, iterate: Array, metric: Array, seen: Any, scale: float, u: Array) -> float:
        n, (_, _, left, right) = self.left.size, seen
        a: float = self.left.point(iterate[:, :n], metric[:, :n], left, scale, u[:n])
        b: float = self.right.point(iterate[:, n:], metric[:, n:], right, scale, u[n:])
        return a + b

    def linear_update(
        self, iterate: Array, metric: Array, seen: Any, scale: float, damping: float, out: Array
    ) -> tuple[float, float]:
        n, (_, _, left, right) = self.left.size, seen
        a, b = self.left.linear_update(iterate[:, :n], metric[:, :n], left, scale, damping, out[:n])
        c, d = self.right.linear_update(
            iterate[:, n:], metric[:, n:], right, scale, damping, out[n:]
        )
        return a + c, b + d

    def barrier(self, iterate: Array) -> float:
        n = self.left.size
        return float(self.left.barrier(iterate[:, :n]) + self.right.barrier(iterate[:, n:]))

    def write_point(self, u: Array, center: Array, radius: float, x: Array) -> None:
        n, m = self.left.size, self.left_entries
        self.left.write_point(u[:n], center[:m], radius * self.left_factor, x[:m])
        self.right.write_point(u[n:], center[m:], radius * self.right_factor, x[m:])

    def inward(self, displacement: Array) -> Array:
        left, right = displacement[: self.left_entries], displacement[self.left_entries :]
        inner = self.left.inward(left), self.right.inward(right)
        return np.concatenate([self.left_factor * inner[0], self.right_factor * inner[1]])


def _ranges(sizes: list[int]) -> list[slice]:
    ends = np.cumsum(sizes).tolist()
    return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
