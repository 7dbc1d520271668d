"""Intersection of domains in one space.   Barrier and nu add up."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Self

import numpy as np

from dikin.domains.ball import Ball
from dikin.domains.base import Array, Domain
from dikin.domains.box import Box
from dikin.domains.newton import dikin_extent, find_center
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
        _refuse_mismatch(parts)
        self.parts = parts
        host = min(parts, key=lambda part: part.dim)
        self._host = host
        self.dim = host.dim
        self.nu = sum(part.nu for part in parts)
        self.point_shape = host.point_shape
        self._chart_maps = [_chart_map(host, part) for part in parts]
        self.center = host.point(self._find_center([part.locate(host.center) for part in parts]))
        self.center.setflags(write=False)
        self._origins = [part.locate(self.center) for part in parts]
        extent = dikin_extent(self.hessian(np.zeros(self.dim)), self.nu)
        ranges = (p.radius + float(np.linalg.norm(self.center - p.center)) for p in parts)
        self.radius = min(extent.radius, *ranges)
        self.inradius, self.diameter = extent.inradius, extent.diameter

    def _find_center(self, origins: list[Array]) -> Array:
        """The analytic centre, without knowing an inner point.

        Blow every part up around its own centre until all contain the host's, then shrink them
        back, keeping to the analytic centre of what they have in common.
        """
        v = np.zeros(self.dim)
        size = 1.1 * max(1.0, self._size(v, origins))
        for _ in range(200):
            v = find_center(
                partial(self._barrier, origins=origins, size=size),
                partial(self._gradient, origins=origins, size=size),
                partial(self._hessian, origins=origins, size=size),
                v,
            )
            if size == 1.0:
                return v
            least = self._size(v, origins)
            if least >= 1.0 and size - least < 1e-9 * size:
                raise DomainError(
                    f"Intersection: {', '.join(map(str, self.parts))} have no inner point in "
                    f"common: they meet only when grown {least:.6g}-fold around their centres"
                )
            size = max(1.0, least + 0.1 * (size - least)) if least >= 1.0 else 1.0
        raise DomainError(f"Intersection: found no inner point common to {self.parts}")

    def _size(self, v: Array, origins: list[Array]) -> float:
        """How many-fold the parts must grow to contain v."""
        return max(part.gauge(w) for part, _, w in self._images(v, origins))

    def _images(self, v: Array, origins: list[Array]) -> Iterator[tuple[Domain, Array, Array]]:
        """Each part, the map from the host's chart to its own, and the image of v there."""
        for part, chart_map, origin in zip(self.parts, self._chart_maps, origins, strict=True):
            yield part, chart_map, origin + chart_map @ v

    def _barrier(self, v: Array, origins: list[Array], size: float = 1.0) -> float:
        return sum(part.barrier(w / size) for part, _, w in self._images(v, origins))

    def _gradient(self, v: Array, origins: list[Array], size: float = 1.0) -> Array:
        gradients = [part.gradient(w / size) @ m for part, m, w in self._images(v, origins)]
        return np.asarray(sum(gradients)) / size

    def _hessian(self, v: Array, origins: list[Array], size: float = 1.0) -> Array:
        hessians = [m.T @ part.hessian(w / size) @ m for part, m, w in self._images(v, origins)]
        return np.asarray(sum(hessians)) / size**2

    def outward(self, v: Array) -> Array:
        return self._host.outward(v)

    def inward(self, displacement: Array) -> Array:
        return self._host.inward(displacement)

    def barrier(self, v: Array) -> float:
        return self._barrier(v, self._origins)

    def gradient(self, v: Array) -> Array:
        return self._gradient(v, self._origins)

    def hessian(self, v: Array) -> Array:
        return self._hessian(v, self._origins)

    def margin(self, point: Array) -> float:
        return min(part.margin(point) for part in self.parts)

    def support(self, direction: Array) -> float:
        # The least of the parts' bounds, each seen from its own origin.
        directions = [chart_map @ direction for chart_map in self._chart_maps]
        parts = zip(self.parts, directions, self._origins, strict=True)
        bounds = (part.support(w) - float(w @ origin) for part, w, origin in parts)
        return min(super().support(direction), *bounds)

    def arguments(self) -> dict[str, Any]:
        return {"parts": self.parts}

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(Ball(2), Ball(2, 1.0, [1.5, 0]))
        yield cls(Simplex(3), Box([-1, -1, -1], [0.1, 1, 1]))


def _refuse_mismatch(parts: tuple[Domain, ...]) -> None:
    if len(parts) < 2:
        raise DomainError(f"Intersection needs at least two domains, got {len(parts)}")
    for i, part in enumerate(parts):
        if not isinstance(part, Domain):
            raise DomainError(f"Intersection: part {i} is {part!r}, wanted a domain")
        if part.point_shape != parts[0].point_shape:
            raise DomainError(
                f"Intersection: points of part {i} have shape {part.point_shape}, "
                f"those of part 0 {parts[0].point_shape}"
            )


def _chart_map(host: Domain, part: Domain) -> Array:
    """The matrix from the host's chart to the part's, whose plane must contain the host's."""
    chart_map = np.asarray(part.basis.T @ host.basis)
    away = (host.center - part.center).ravel()
    off = away - part.basis @ (part.basis.T @ away)
    tilted = np.abs(part.basis @ chart_map - host.basis).max() > 1e-9
    if tilted or np.linalg.norm(off) > 1e-9 * (part.radius + host.radius):
        raise DomainError(f"Intersection: {host} and {part} lie in different planes")
    return chart_map
