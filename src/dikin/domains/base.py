"""What a domain must answer.

A `Domain` is a value: a convex set in the user's own coordinates, with a nu-self-concordant
barrier psi. Its oracles take a *chart vector* v, the displacement from the analytic centre in an
orthonormal basis of the set's affine hull, so that v = 0 is always the centre, R^dim is always the
right space, and no digits are lost on a small set far from the origin.

`Domain.geometry` gives the working form of the same set for one learner (`dikin.domains.geometry`).
Every domain inherits one from its oracles, which factors a matrix in every round; a domain with
closed forms returns its own, which does a round in O(d).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from math import log, sqrt
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dikin.domains.arguments import frozen as frozen
from dikin.domains.arguments import not_finite
from dikin.domains.arguments import positive as positive
from dikin.domains.arguments import whole as whole
from dikin.domains.dense import DenseGeometry
from dikin.domains.gauge import gauge_by_bisection
from dikin.domains.geometry import Geometry as Geometry
from dikin.errors import NotSavableError, OutsideDomainError, ShapeError
from dikin.registry import Registry

Array = NDArray[np.float64]


class Domain(ABC):
    """A bounded convex set with interior, and a self-concordant barrier on it."""

    kind: ClassVar[str] = ""
    """Name in specs and on the command line: the class name in lower case."""

    dim: int
    """Dimension d of the set (n - 1 for probability vectors of n entries)."""
    nu: float
    """Barrier parameter."""
    point_shape: tuple[int, ...]
    """Shape of a point."""
    center: Array
    """Analytic centre, argmin psi, in the user's coordinates."""
    radius: float
    """At least the distance from the centre to the farthest point."""
    inradius: float
    """At most the distance from the centre to the nearest boundary point."""
    diameter: float
    """At most the largest distance between two points."""
    exact_support: bool = False
    """Whether `support` is the maximum itself, and not only a bound."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.kind = cls.__name__.lower()

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__:
            raise AttributeError(f"{self!r} is a value: build another instead of changing {name}")
        super().__setattr__(name, value)

    # --- the barrier, at chart vectors ---------------------------------------------------------

    @abstractmethod
    def barrier(self, v: Array) -> float:
        """psi, +inf outside."""

    @abstractmethod
    def gradient(self, v: Array) -> Array:
        """Gradient of psi."""

    @abstractmethod
    def hessian(self, v: Array) -> Array:
        """Hessian of psi."""

    # --- points of the user --------------------------------------------------------------------

    @abstractmethod
    def margin(self, point: Array) -> float:
        """How deep a point lies inside; negative outside. The sign is exact, the unit the set's."""

    @abstractmethod
    def arguments(self) -> dict[str, Any]:
        """The constructor's arguments, of which `spec` is made."""

    @classmethod
    @abstractmethod
    def examples(cls) -> Iterator[Self]:
        """Small awkward instances for the checks: moved, badly scaled, of dimension one."""

    def outward(self, v: Array) -> Array:
        """The displacement from the centre, in the user's coordinates, of a chart vector."""
        return v

    def inward(self, displacement: Array) -> Array:
        """The chart vector of a displacement (the nearest one, for a set in a plane)."""
        return displacement

    def geometry(self, scale: float) -> Geometry:
        """The working form of (X - center)/scale."""
        return DenseGeometry(self, scale)

    def equal_sided_geometry(self, scale: float) -> Geometry:
        """The working form after a linear map that makes unequal sides equal; R stays as it is.

        For sets that have sides or axes of their own; for every other set the working form.
        """
        return self.geometry(scale)

    def contains(self, point: ArrayLike) -> bool:
        """Whether a point of the right shape lies in the set."""
        array = self._shaped(point)
        return bool(np.isfinite(array).all()) and self.margin(array) >= 0

    def require(self, point: ArrayLike) -> Array:
        """The point as an array, or an error that says why it is not in the set."""
        array = self._shaped(point)
        if not np.isfinite(array).all():
            where, value = not_finite(array)
            raise OutsideDomainError(f"{self}: entry [{where}] of the point is {value}")
        margin = self.margin(array)
        if margin < 0:
            raise OutsideDomainError(f"{self}: {array} lies outside, by {-margin:.3g}")
        return array

    def _shaped(self, point: ArrayLike) -> Array:
        try:
            array = np.array(point, dtype=float)
        except (TypeError, ValueError, OverflowError) as reason:
            raise ShapeError(f"{self}: a point is made of numbers, got {point!r}") from reason
        if array.shape != self.point_shape:
            raise ShapeError(f"{self}: a point has shape {self.point_shape}, got {array.shape}")
        return array

    def locate(self, point: ArrayLike) -> Array:
        """The chart vector of a point."""
        return self.inward(np.asarray(point, dtype=float) - self.center)

    def point(self, v: Array) -> Array:
        """The point of a chart vector."""
        return self.center + self.outward(v)

    @cached_property
    def basis(self) -> Array:
        """Columns: the chart's unit vectors in the user's (flattened) coordinates."""
        return np.stack([self.outward(e).ravel() for e in np.eye(self.dim)], axis=1)

    def gauge(self, v: Array) -> float:
        """The least p with v/p in the set, to rounding: 1 on the boundary, 0 at the centre."""
        return gauge_by_bisection(self.barrier, v, self.radius, self.inradius)

    def support(self, direction: Array) -> float:
        """At least the maximum of direction.v over the chart vectors v of the set."""
        return sqrt(direction @ direction) * self.radius

    def barrier_growth(self, share: float) -> float:
        """At least the maximum of psi((1 - share) v) - psi(0) over the vectors v of the set."""
        return self.nu * log(1.0 / share)  # docs/mathematics.md, 5.1

    @property
    def symmetry(self) -> float:
        """An s such that -s v belongs to the set for all of its chart vectors v: 1 for a ball."""
        return 1.0 / (self.nu + 2.0 * sqrt(self.nu))  # by the ellipsoids of `dikin_extent`

    def spec(self) -> dict[str, Any]:
        """Plain numbers from which `dikin.loading.domain_from_spec` builds an equal domain."""
        return {"kind": self.kind} | {k: _plain(v) for k, v in self.arguments().items()}

    def require_registered(self) -> None:
        """Refuse a domain that cannot be loaded as its class, or that of a part, is not known."""
        DOMAINS.require(type(self))
        try:
            arguments = self.arguments()
        except NotSavableError:  # made of functions: it will be given again
            return
        for part in _domains_in(list(arguments.values())):
            part.require_registered()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dim={self.dim})"


DOMAINS: Registry[Domain] = Registry("domain", Domain)  # type: ignore[type-abstract]


def _domains_in(value: Any) -> Iterator[Domain]:
    if isinstance(value, Domain):
        yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _domains_in(part)


def _plain(value: Any) -> Any:
    if isinstance(value, Domain):
        return value.spec()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value
