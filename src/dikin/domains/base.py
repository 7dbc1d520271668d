"""What a domain must answer.

A `Domain` is a value: a convex set in the user's own coordinates, with a nu-self-concordant
barrier psi. Its oracles take a *chart vector* v, the displacement from the analytic centre in an
orthonormal basis of the set's affine hull, so that v = 0 is always the centre, R^dim is always the
right space, and no digits are lost on a small set far from the origin.

A `Geometry` is the working form of the same set, (X - center)/scale, for one learner. It does
the three things that a round needs: `solve` the FTRL update, `frame` the exploration ellipsoid, and
carry a vector `outward` to the user's space (and a gradient `inward`). Every domain inherits a
dense geometry from its oracles; a domain with closed forms returns its own, which does a round in
O(d).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import log, sqrt
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dikin.domains.arguments import frozen as frozen
from dikin.domains.arguments import not_finite
from dikin.domains.arguments import positive as positive
from dikin.domains.arguments import whole as whole
from dikin.domains.gauge import least_scale
from dikin.errors import NotSavableError, OutsideDomainError, ShapeError
from dikin.registry import Registry

Array = NDArray[np.float64]
Place = tuple[Any, ...]
"""Where the FTRL update landed: a geometry's own description of u, with what spares it work or
digits (a slack, a multiplier). Plain numbers and arrays only, so it can be written to a file."""

NOTHING = 1e-16
"""A weight of the barrier so small that the update is the projection, to nu times as much."""


class Frame(Protocol):
    """A place y with the ellipsoid {z : z'Hz <= 1}, H = kappa Hessian(psi)(y) + a I, factored."""

    @property
    def trace(self) -> float:
        """tr(H^-1); E|z|^2 = trace/d for z on the ellipsoid's surface."""
        ...

    def aim(self, noise: Array) -> Aim:
        """Turn standard normal noise of `size` entries into a direction s of the set's plane."""
        ...


class Aim(Protocol):
    """A direction s, standard normal in the set's plane, seen from a frame."""

    @property
    def square(self) -> float:
        """|s|^2; z lies on the ellipsoid's surface for scale = 1/|s|."""
        ...

    def point(self, scale: float) -> Array:
        """Y + scale H^(-1/2) s."""
        ...

    def recoil(self, scale: float, damping: float) -> Array:
        """What an answer adds to the linear term: scale H^(1/2) s - damping y."""
        ...


@dataclass(slots=True)
class LinearAim:
    """The aim of a frame that has both roots of H as functions."""

    frame: RootFrame
    s: Array
    square: float

    @classmethod
    def at(cls, frame: RootFrame, s: Array) -> LinearAim:
        return cls(frame, s, float(s.dot(s)))

    def point(self, scale: float) -> Array:
        return self.frame.y + self.frame.spread(self.s * scale)

    def recoil(self, scale: float, damping: float) -> Array:
        return self.frame.gather(self.s * scale) - self.frame.y * damping


class RootFrame(Protocol):
    """A frame that applies the two roots of H."""

    y: Array

    def spread(self, s: Array) -> Array:
        """H^(-1/2) s."""
        ...

    def gather(self, s: Array) -> Array:
        """H^(1/2) s."""
        ...


class Kernel(Protocol):
    """A geometry for the compiled loop: see `dikin.kernel`.

    `state` holds the place (apart from what the linear term says itself), `work` what a frame and
    an aim need, both as flat arrays.
    """

    @property
    def size(self) -> int:
        """Length of a working vector."""
        ...

    @property
    def states(self) -> int:
        """Length of the state."""
        ...

    @property
    def works(self) -> int:
        """Length of the work space."""
        ...

    def solve(self, linear: Array, quadratic: float, weight: float, state: Array) -> None:
        """`Geometry.solve`, from the state and into it."""
        ...

    def aim(
        self, linear: Array, state: Array, kappa: float, shift: float, noise: Array, work: Array
    ) -> tuple[float, float]:
        """`Geometry.frame` and `Frame.aim`: turns the noise into s; gives |s|^2 and tr(H^-1)."""
        ...

    def point(
        self, linear: Array, state: Array, work: Array, noise: Array, scale: float, u: Array
    ) -> float:
        """`Aim.point` into u; gives |u|^2."""
        ...

    def recoil(
        self, state: Array, work: Array, noise: Array, scale: float, damping: float, linear: Array
    ) -> tuple[float, float]:
        """`Aim.recoil`, added to the linear term; gives g.y and |y|^2 with g = scale H^(1/2) s."""
        ...

    def barrier(self, linear: Array, state: Array) -> float:
        """`Geometry.barrier`."""
        ...

    def outward(self, u: Array, center: Array, radius: float, x: Array) -> None:
        """Write the point of u into x, from its center and radius."""
        ...


class Geometry(ABC):
    """The set as the algorithm sees it: centred at its analytic centre, in the paper's units."""

    dim: int
    nu: float
    size: int
    """Length of a working vector; larger than dim where the set lies in a plane of its space."""
    shortest: float = 1.0
    longest: float = 1.0
    """The least and the largest length that `outward` gives a working vector of length one."""
    sides: Array | None = None
    """The lengths of the sides of a set that is a box; None for any other."""

    @abstractmethod
    def start(self) -> Place:
        """The place of the analytic centre."""

    @abstractmethod
    def solve(self, linear: Array, quadratic: float, weight: float, near: Place) -> Place:
        """Minimise linear.u + quadratic/2 |u|^2 + weight psi(u), starting near a known place."""

    @abstractmethod
    def project(self, linear: Array, near: Place) -> Place:
        """The point nearest to -linear: to 1e-10 nu in |.|^2/2."""

    @abstractmethod
    def frame(self, place: Place, kappa: float, shift: float) -> Frame:
        """Factor H = kappa Hessian(psi)(u) + shift I at a place."""

    @abstractmethod
    def outward(self, u: Array) -> Array:
        """The linear map from working vectors to displacements in the user's coordinates.

        An isometry, unless the sides of the set were made equal (`Domain.equal_sided`).
        """

    @abstractmethod
    def inward(self, displacement: Array) -> Array:
        """The working vector of a displacement (the nearest one, for a set in a plane).

        As the adjoint of `outward` it also turns a gradient into one in working vectors.
        """

    def locate(self, displacement: Array) -> Array:
        """The working vector that `outward` carries to a displacement."""
        return self.inward(displacement)

    def farthest(self, u: Array) -> float:
        """At least the distance from a working vector to every other one of the set."""
        return 1.0 + sqrt(float(u @ u))

    @abstractmethod
    def barrier(self, place: Place) -> float:
        """psi(u) - psi(0), from the place's own slacks, which keep their digits at the boundary."""

    def settled(self, place: Place) -> bool:
        """Whether the update is known to full precision there."""
        return True

    def vector(self, place: Place) -> Array:
        """The working vector u of a place."""
        return np.asarray(place[0])

    def memory(self, place: Place) -> Place:
        """The part of a place worth saving."""
        return place

    def recall(self, memory: Place) -> Place:
        """The place that `memory` was taken from."""
        return memory


class ClosedGeometry(Geometry):
    """A geometry with closed forms, which also has a kernel for the compiled loop."""

    def project(self, linear: Array, near: Place) -> Place:
        return self.solve(linear, 1.0, NOTHING, near)

    @abstractmethod
    def kernel(self) -> Kernel:
        """The same geometry for the compiled loop."""

    @abstractmethod
    def pack(self, place: Place) -> Array:
        """A place as the kernel's state."""

    @abstractmethod
    def unpack(self, linear: Array, state: Array) -> Place:
        """The place of a kernel's state; the linear term is the one that was solved."""


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
        from dikin.domains.dense import DenseGeometry  # SciPy only when it is needed

        return DenseGeometry(self, scale)

    def equal_sided(self, scale: float) -> Geometry:
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
        return least_scale(self.barrier, v, self.radius, self.inradius)

    def support(self, direction: Array) -> float:
        """At least the maximum of direction.v over the chart vectors v of the set."""
        return sqrt(direction @ direction) * self.radius

    def rise(self, share: float) -> float:
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
