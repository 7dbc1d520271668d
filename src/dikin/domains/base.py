"""The interface of a domain: a convex set in the user's coordinates, with a barrier."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from inspect import signature
from math import isfinite, log, sqrt
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from dikin.arguments import frozen as frozen
from dikin.arguments import not_finite
from dikin.domains.dense import DenseGeometry
from dikin.domains.geometry import Geometry as Geometry
from dikin.errors import DomainError, shown
from dikin.registry import Registered, Registry
from dikin.vectors import Array as Array


class Domain(Registered, ABC):
    """A bounded convex set with interior, and a self-concordant barrier psi on it.

    Points are arrays in the user's own coordinates. The barrier is a function of chart vectors: the
    displacement from the analytic centre in an orthonormal basis of the set's affine hull. So 0 is
    the centre, every v in R^dim makes sense, and no digits are lost on a small set far from the
    origin. For a set with interior in R^d a chart vector is x - center.

    A domain is a value: once built it does not change.

    In every method `v` is a chart vector and `direction` one of any length, `point` an array of
    shape `point_shape`, `displacement` a difference of points, `scale` the length that becomes one,
    and `share` how much the set is shrunk towards its centre.

    Attributes
    ----------
    kind : str
        Name in files and on the command line: the class name in lower case.
    dim : int
        Dimension d of the set (n - 1 for probability vectors of n entries).
    nu : float
        Parameter of the barrier: its Newton decrement is at most sqrt(nu).
    center : Array
        Analytic centre, the minimiser of psi, in the user's coordinates.
    radius : float
        At least the distance from the centre to the farthest point.
    inradius : float
        At most the distance from the centre to the nearest boundary point.
    diameter : float
        At most the largest distance between two points.
    symmetry : float
        Symmetry about the centre: an s in (0, 1] with -s v in the set for all of its v.

    See Also
    --------
    dikin.check_domain : Checks every law of a domain, also of one that you wrote.

    References
    ----------
    .. [1] Y. Nesterov and A. Nemirovskii, Interior-Point Polynomial Algorithms in Convex
       Programming, SIAM, 1994: self-concordant barriers.
    .. [2] J. Abernethy, E. Hazan and A. Rakhlin, Competing in the Dark: An Efficient Algorithm for
       Bandit Linear Optimization, COLT 2008: learners that explore Dikin's ellipsoid of a barrier.
    """

    dim: int
    nu: float
    center: Array
    radius: float
    inradius: float
    diameter: float

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__:
            raise AttributeError(f"{self!r} is a value: build another instead of changing {name}")
        if name == "center":
            value.setflags(write=False)
        super().__setattr__(name, value)

    # --- the barrier, at chart vectors ---------------------------------------------------------

    @abstractmethod
    def barrier(self, v: Array) -> float:
        """Return the value psi(v) of the barrier: infinite outside the set."""

    @abstractmethod
    def gradient(self, v: Array) -> Array:
        """Return the gradient of psi at v, of `dim` entries."""

    @abstractmethod
    def hessian(self, v: Array) -> Array:
        """Return the Hessian of psi at v, positive definite."""

    # --- points of the user --------------------------------------------------------------------

    @abstractmethod
    def margin(self, point: Array) -> float:
        """Return the depth of a point, in a unit of the set: negative exactly outside."""

    def arguments(self) -> dict[str, Any]:
        """Return the constructor's arguments: the attributes that bear their names."""
        return {name: getattr(self, name) for name in signature(type(self)).parameters}

    @classmethod
    @abstractmethod
    def examples(cls) -> Iterator[Self]:
        """Yield small awkward instances for checks: off-centre, badly scaled, of dimension one."""

    def outward(self, v: Array) -> Array:
        """Return the displacement from the centre of a chart vector, as long as v."""
        return v

    def inward(self, displacement: Array) -> Array:
        """Return the chart vector of a displacement: the nearest, for a set in a plane."""
        return displacement

    def geometry(self, scale: float, equal_sides: bool = False) -> Geometry:
        """Return the working form of (X - center)/scale, for learners.

        Parameters
        ----------
        scale : float
            The length that becomes 1.
        equal_sides : bool, optional
            Map unequal sides or axes linearly to equal ones, with the same radius. Sets without
            sides or axes are not changed.

        Returns
        -------
        Geometry
            Closed forms, or dense matrices.
        """
        return DenseGeometry(self, scale)

    def contains(self, point: ArrayLike) -> bool:
        """Return whether a point is finite and in the set, boundary included."""
        array = self._shaped(point)
        return bool(np.isfinite(array).all()) and self.margin(array) >= 0

    def require(self, point: ArrayLike) -> Array:
        """Return a copy of a point, or raise a `DomainError`: it is not finite, or outside."""
        array = self._shaped(point)
        if not np.isfinite(array).all():
            where, value = not_finite(array)
            raise DomainError(f"{self}: entry [{where}] of the point is {value}")
        margin = self.margin(array)
        if margin < 0:
            raise DomainError(f"{self}: {array} lies outside, by {-margin:.3g}")
        return array

    def _shaped(self, point: ArrayLike) -> Array:
        try:
            array = np.array(point, dtype=float)
        except (TypeError, ValueError, OverflowError) as reason:
            raise DomainError(f"{self}: a point must be numbers, got {shown(point)}") from reason
        if array.shape != self.point_shape:
            raise DomainError(f"{self}: a point has shape {self.point_shape}, got {array.shape}")
        return array

    def locate(self, point: ArrayLike) -> Array:
        """Return the chart vector of a point: the nearest, for a set in a plane."""
        return self.inward(np.asarray(point, dtype=float) - self.center)

    def point(self, v: Array) -> Array:
        """Return the point of a chart vector."""
        return self.center + self.outward(v)

    @property
    def point_shape(self) -> tuple[int, ...]:
        """Shape of a point."""
        return self.center.shape

    @cached_property
    def basis(self) -> Array:
        """Columns: the chart's unit vectors in the user's (flattened) coordinates."""
        return np.stack([self.outward(e).ravel() for e in np.eye(self.dim)], axis=1)

    def gauge(self, v: Array) -> float:
        """Return the least p with v/p in the set, to rounding: 1 on the boundary."""
        length = float(np.linalg.norm(v))
        # Sizes may be exact: the bracket is a little wider than they say.
        low, high = (1 - 1e-9) * length / self.radius, (1 + 1e-9) * length / self.inradius
        with np.errstate(all="ignore"):  # outside the set a formula may return anything
            while high - low > 4e-16 * high:
                middle = (low + high) / 2
                if isfinite(self.barrier(v / middle)):
                    high = middle
                else:
                    low = middle
        return high

    def barrier_growth(self, share: float) -> float:
        """Return at least the maximum of psi((1 - share) v) - psi(0) in the set, 0 < share <= 1."""
        return self.nu * log(1.0 / share)  # docs/mathematics.md, 5.1

    @cached_property
    def symmetry(self) -> float:
        """Symmetry about the centre, from the local balls that lie in the set and around it.

        Their radii are 1 and nu + 2 sqrt(nu) in the norm of the Hessian at the analytic centre
        (Nesterov, Introductory Lectures on Convex Optimization, Theorem 4.2.6).
        """
        return 1.0 / (self.nu + 2.0 * sqrt(self.nu))

    def spec(self) -> dict[str, Any]:
        """The domain as plain numbers, from which `dikin.load` builds an equal one."""
        return {"kind": self.kind} | {k: _plain(v) for k, v in self.arguments().items()}

    def require_registered(self) -> None:
        """Raise an error if the class of the domain, or of one of its parts, is unknown."""
        DOMAINS.require(type(self))
        for value in self.arguments().values():
            for part in value if isinstance(value, tuple) else (value,):
                if isinstance(part, Domain):
                    part.require_registered()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dim={self.dim})"


DOMAINS: Registry[Domain] = Registry("domain", Domain)  # type: ignore[type-abstract]


def _plain(value: Any) -> Any:
    if isinstance(value, Domain):
        return value.spec()
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value.tolist() if isinstance(value, np.ndarray) else value
