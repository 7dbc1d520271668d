"""Any convex set from a barrier of your own: value, gradient, Hessian, nu and an inner point."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf, isfinite
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from dikin.arguments import frozen, positive
from dikin.domains.base import Array, Domain
from dikin.domains.newton import find_center
from dikin.errors import DomainError, NotSavableError


class FromBarrier(Domain):
    """The domain of a nu-self-concordant barrier, described by three functions of a point.

    It works as any other domain but cannot be saved: functions are never written to a file.

    Parameters
    ----------
    value : callable
        The barrier at a point: a number inside, +inf or NaN outside.
    gradient : callable
        Its gradient, as many entries as a point has.
    hessian : callable
        Its Hessian, a positive definite matrix.
    nu : float
        The parameter of the barrier.
    interior : array_like
        A point inside, from which Newton's method finds the analytic centre.
    radius : float, optional
        At least the distance from the centre to the farthest point, if it is known. By default the
        bound of Dikin's ellipsoid at the centre, grown nu + 2 sqrt(nu) times.

    Raises
    ------
    DomainError
        If the barrier is not finite at the inner point.

    See Also
    --------
    dikin.check_domain : Checks that the functions are a self-concordant barrier.

    References
    ----------
    .. [1] Y. Nesterov, Introductory Lectures on Convex Optimization, Kluwer, 2004, Theorem 4.2.6:
       the two ellipsoids between which a set lies.

    Examples
    --------
    >>> import numpy as np
    >>> interval = FromBarrier(
    ...     value=lambda x: -np.log(x[0]) - np.log(3 - x[0]) if 0 < x[0] < 3 else np.inf,
    ...     gradient=lambda x: -1 / x + 1 / (3 - x),
    ...     hessian=lambda x: np.array([[x[0] ** -2 + (3 - x[0]) ** -2]]),
    ...     nu=2, interior=[1.0])
    >>> interval.center.round(9)
    array([1.5])
    """

    def __init__(
        self,
        value: Callable[[Array], float],
        gradient: Callable[[Array], ArrayLike],
        hessian: Callable[[Array], ArrayLike],
        nu: float,
        interior: ArrayLike,
        radius: float | None = None,
    ) -> None:
        self._value, self._gradient, self._hessian = value, gradient, hessian
        self.nu = positive(nu, "nu", DomainError)
        inner = frozen(interior, "interior", 1)
        if not isfinite(value(inner)):
            raise DomainError(
                f"FromBarrier: the barrier is {value(inner)} at the inner point {inner}"
            )
        self.dim = inner.size
        self.point_shape = inner.shape
        self.center = find_center(
            lambda x: float(value(x)),
            lambda x: np.asarray(gradient(x), dtype=float),
            lambda x: np.asarray(hessian(x), dtype=float),
            np.array(inner),
        )
        bound, self.inradius, self.diameter = self._extent()
        self.radius = bound if radius is None else positive(radius, "radius", DomainError)

    def barrier(self, v: Array) -> float:
        value = float(self._value(self.center + v))
        return value if isfinite(value) else inf

    def gradient(self, v: Array) -> Array:
        return np.asarray(self._gradient(self.center + v), dtype=float)

    def hessian(self, v: Array) -> Array:
        return np.asarray(self._hessian(self.center + v), dtype=float)

    def margin(self, point: Array) -> float:
        # The barrier distinguishes inside from outside but does not measure depth.
        return 1.0 if isfinite(float(self._value(point))) else -1.0

    def arguments(self) -> dict[str, Any]:
        raise NotSavableError(
            "a FromBarrier domain is made of Python functions, which are never written to a file; "
            "load with dikin.load(path, domain=...) and pass the domain again"
        )

    @classmethod
    def examples(cls) -> Iterator[Self]:
        def value(x: Array) -> float:
            slack = 1 - x[0] ** 2 - x[1]
            return float(-np.log(slack) - np.log(x[1])) if slack > 0 and x[1] > 0 else inf

        def gradient(x: Array) -> Array:
            slack = 1 - x[0] ** 2 - x[1]
            return np.array([2 * x[0] / slack, 1 / slack - 1 / x[1]])

        def hessian(x: Array) -> Array:
            slack = 1 - x[0] ** 2 - x[1]
            g = np.array([2 * x[0], 1.0]) / slack
            return np.outer(g, g) + np.diag([2 / slack, x[1] ** -2])

        yield cls(value, gradient, hessian, nu=2, interior=[0.5, 0.2])
