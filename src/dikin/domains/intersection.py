"""Intersection of domains in one space.   Barrier and nu add up."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Self

import numpy as np

from dikin.domains.ball import Ball
from dikin.domains.base import Array, Domain, require_domains
from dikin.domains.box import Box
from dikin.domains.newton import find_center
from dikin.domains.simplex import Simplex
from dikin.errors import DomainError


class Intersection(Domain):
    """The points that belong to every part, such as probability vectors with capped entries.

    Parameters
    ----------
    *parts : Domain
        Two domains or more, whose points have the same shape. The affine hull of the one of least
        dimension must lie in those of the others.

    Examples
    --------
    >>> from dikin import Box, Simplex
    >>> capped = Intersection(Simplex(3), Box([-1, -1, -1], [0.5, 1, 1]))
    >>> capped.contains([0.6, 0.2, 0.2])
    False
    """

    def __init__(self, *parts: Domain) -> None:
        require_domains("Intersection", parts, 2)
        for i, part in enumerate(parts):
            if part.point_shape != parts[0].point_shape:
                raise DomainError(
                    f"Intersection: points of part {i} have shape {part.point_shape}, "
                    f"those of part 0 {parts[0].point_shape}"
                )
        self.parts = parts
        host = min(parts, key=lambda part: part.dim)
        self._host = host
        self.dim = host.dim
        self.nu = sum(part.nu for part in parts)
        self.point_shape = host.point_shape
        self._chart_maps = [_chart_map(host, part) for part in parts]
        self._origins = [part.locate(host.center) for part in parts]
        self.center = host.point(self._find_center())
        self._origins[:] = [part.locate(self.center) for part in parts]
        bound, self.inradius, self.diameter = self._extent()
        ranges = (p.radius + float(np.linalg.norm(self.center - p.center)) for p in parts)
        self.radius = min(bound, *ranges)

    def _find_center(self) -> Array:
        """The analytic centre, without knowing an inner point.

        Blow every part up around its own centre until all contain the host's, then shrink them
        back, keeping to the analytic centre of what they have in common.
        """
        v = np.zeros(self.dim)
        size = 1.1 * max(1.0, self._size(v))
        for _ in range(200):
            v = find_center(
                partial(self.barrier, size=size),
                partial(self.gradient, size=size),
                partial(self.hessian, size=size),
                v,
            )
            if size == 1.0:
                return v
            least = self._size(v)
            if least >= 1.0 and size - least < 1e-9 * size:
                raise DomainError(
                    f"Intersection: {', '.join(map(str, self.parts))} have no inner point in "
                    f"common: they meet only when grown {least:.6g}-fold around their centres"
                )
            size = max(1.0, least + 0.1 * (size - least)) if least >= 1.0 else 1.0
        raise DomainError(f"Intersection: found no inner point common to {self.parts}")

    def _size(self, v: Array) -> float:
        """The factor by which the parts must grow to contain v."""
        return max(part.gauge(w) for part, _, w in self._images(v))

    def _images(self, v: Array) -> Iterator[tuple[Domain, Array, Array]]:
        """Each part, the map from the host's chart to its own, and the image of v there."""
        for part, chart_map, origin in zip(
            self.parts, self._chart_maps, self._origins, strict=True
        ):
            yield part, chart_map, origin + chart_map @ v

    def barrier(self, v: Array, size: float = 1.0) -> float:
        return sum(part.barrier(w / size) for part, _, w in self._images(v))

    def gradient(self, v: Array, size: float = 1.0) -> Array:
        gradients = [part.gradient(w / size) @ m for part, m, w in self._images(v)]
        return np.asarray(sum(gradients)) / size

    def hessian(self, v: Array, size: float = 1.0) -> Array:
        hessians = [m.T @ part.hessian(w / size) @ m for part, m, w in self._images(v)]
        return np.asarray(sum(hessians)) / size**2

    def outward(self, v: Array) -> Array:
        return self._host.outward(v)

    def inward(self, displacement: Array) -> Array:
        return self._host.inward(displacement)

    def margin(self, point: Array) -> float:
        return min(part.margin(point) for part in self.parts)

    def support(self, direction: Array) -> float:
        # The least of the parts' bounds, each seen from its own origin.
        directions = [chart_map @ direction for chart_map in self._chart_maps]
        parts = zip(self.parts, directions, self._origins, strict=True)
        bounds = (part.support(w) - float(w @ origin) for part, w, origin in parts)
        return min(super().support(direction), *bounds)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(Ball(2), Ball(2, 1.0, [1.5, 0]))
        yield cls(Simplex(3), Box([-1, -1, -1], [0.1, 1, 1]))


def _chart_map(host: Domain, part: Domain) -> Array:
    """The matrix from the host's chart to the part's, whose plane must contain the host's."""
    chart_map = np.asarray(part.basis.T @ host.basis)
    away = (host.center - part.center).ravel()
    off = away - part.basis @ (part.basis.T @ away)
    tilted = np.abs(part.basis @ chart_map - host.basis).max() > 1e-9
    if tilted or np.linalg.norm(off) > 1e-9 * (part.radius + host.radius):
        raise DomainError(f"Intersection: {host} and {part} lie in different planes")
    return chart_map
