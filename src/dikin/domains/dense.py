"""Any domain from its barrier oracles alone: Newton's method and one Cholesky factor a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf, isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np

from dikin.domains.base import Array, Domain, Geometry, LinearAim, Place
from dikin.errors import NumericalError

FRESH, REUSED = 1e-7, 1e-11
"""Decrements after which a step is the last: one with a new Hessian squares the error, one with the
Hessian of a nearby point multiplies it by their distance."""
CLOSE = 1e-2
"""A decrement below which the Hessian need not be computed anew."""
INSIDE = 0.25
"""A decrement below which a full step is taken, and squares what is left."""
LAST, NEXT = 1e-10, 1e-2
"""The weight of the barrier at the end of a projection, and the factor on the way there."""


class Minimum(NamedTuple):
    """Where Newton's method ended, and the decrement of its last step."""

    x: Array
    decrement: float


def minimise(
    barrier: Callable[[Array], float],
    gradient: Callable[[Array], Array],
    hessian: Callable[[Array], Array],
    start: Array,
    enough: float = 0.0,
) -> Minimum:
    """The minimiser of a self-concordant function, from any point of its domain.

    A decrement that is `enough` ends it early.

    The decrement, the length of the Newton step in the local norm, says both how far the minimiser
    is and how far one may step: below 1 a full step stays inside, above 1/4 it is damped. So close
    to the boundary that slacks have no digits left, the best point that rounding admits is given.
    """
    best = Minimum(start, inf)
    with np.errstate(divide="raise", invalid="raise", over="raise"):
        try:
            for found in _steps(gradient, hessian, start):
                best = found
                if found.decrement <= enough:
                    break
        except (FloatingPointError, NumericalError, np.linalg.LinAlgError):
            pass  # on the boundary to within rounding: nothing better is known
    return best if isfinite(barrier(best.x)) else Minimum(start, inf)


def _steps(
    gradient: Callable[[Array], Array], hessian: Callable[[Array], Array], x: Array
) -> Iterator[Minimum]:
    """Newton steps; one with a new Hessian while far away, then with the last one."""
    last, lower = inf, None
    for _ in range(100):
        g, fresh = gradient(x), lower is None
        if lower is None:
            lower = cholesky(hessian(x))
        step = -solve(lower, g)
        decrement = sqrt(max(-float(g @ step), 0.0))
        # Such a step makes the next one many times smaller; if it did not, rounding in the gradient
        # is all that is left.
        if last <= 1e-4 and decrement > last / 2:
            return
        x = x + (step if decrement <= INSIDE else step / (1.0 + decrement))
        yield Minimum(x, decrement)
        if decrement <= (FRESH if fresh else REUSED):
            return
        last = decrement
        if decrement > CLOSE:
            lower = None


def find_center(
    barrier: Callable[[Array], float],
    gradient: Callable[[Array], Array],
    hessian: Callable[[Array], Array],
    start: Array,
) -> Array:
    """The analytic centre, which must be found to all digits."""
    center, decrement = minimise(barrier, gradient, hessian, start)
    if not decrement <= 1e-4:
        raise NumericalError(f"the analytic centre was not found: decrement {decrement:.1e}")
    center.setflags(write=False)
    return center


def cholesky(matrix: Array) -> Array:
    """The factor L of a positive definite matrix L L'.

    Where rounding has taken the definiteness of a matrix that has it by theory, as much is added to
    the diagonal as rounding may have taken.
    """
    for added in (0.0, 1e-15, 1e-13, 1e-11, 1e-9):
        tried = matrix if added == 0.0 else matrix + np.diag(added * np.diag(matrix))
        lower, failed = _lapack().dpotrf(tried, lower=1, clean=1)
        if not failed:
            return np.asarray(lower)
    raise NumericalError("a Hessian is not positive definite")


def solve(lower: Array, right: Array) -> Array:
    """(L L')^-1 right."""
    solution, _ = _lapack().dpotrs(lower, right, lower=1)
    return np.asarray(solution)


class Extent(NamedTuple):
    """Bounds on a set's size."""

    radius: float
    """Suffices from the centre."""
    inradius: float
    """Fits around the centre."""
    diameter: float
    """Is reached."""


def dikin_extent(hessian: Array, nu: float) -> Extent:
    """What the Hessian at the analytic centre says about the size of the set.

    The set lies inside the local ball of radius nu + 2 sqrt(nu) and contains the one of radius 1
    (Nesterov, Introductory Lectures on Convex Optimization, Theorem 4.2.6).
    """
    values = np.linalg.eigvalsh(hessian)
    least, most = sqrt(float(values[0])), sqrt(float(values[-1]))
    return Extent((nu + 2.0 * sqrt(nu)) / least, 1.0 / most, 2.0 / least)


def _lapack() -> Any:
    from scipy.linalg import lapack  # a tenth of a second, for dense domains only

    return lapack


class DenseGeometry(Geometry):
    """place = (u, Hessian of psi at u, Newton decrement), chart vectors divided by the scale."""

    def __init__(self, domain: Domain, scale: float) -> None:
        self.domain, self.scale = domain, scale
        self.dim = self.size = domain.dim
        self.nu = domain.nu
        self.eye = np.eye(domain.dim)
        self._least = domain.barrier(np.zeros(domain.dim))

    def start(self) -> Place:
        return self.recall((np.zeros(self.dim), 0.0))

    def barrier(self, place: Place) -> float:
        return self.value(place[0]) - self._least

    def value(self, u: Array) -> float:
        """The value of psi at a working vector."""
        return self.domain.barrier(self.scale * u)

    def gradient(self, u: Array) -> Array:
        return self.scale * self.domain.gradient(self.scale * u)

    def hessian(self, u: Array) -> Array:
        return self.scale**2 * self.domain.hessian(self.scale * u)

    def solve(self, linear: Array, quadratic: float, weight: float, near: Place) -> Place:
        start, curved, _ = near
        pull, shift = linear / weight, quadratic / weight
        found = minimise(
            self.value,
            lambda u: pull + shift * u + self.gradient(u),
            lambda u: (curved if u is start else self.hessian(u)) + shift * self.eye,
            start,
        )
        return self.recall(found)

    def project(self, linear: Array, near: Place) -> Place:
        if isfinite(self.value(-linear)):  # inside: its own projection
            return self.recall((-linear, 0.0))
        u, weight = np.zeros(self.dim), 1.0
        while weight > 2 * LAST:
            u, weight = self._ahead(linear, u, weight), weight * NEXT
        return self.solve(linear, 1.0, LAST, self.recall((u, 0.0)))

    def _ahead(self, linear: Array, u: Array, weight: float) -> Array:
        """From near a point of the projection's central path to near the one of the next weight.

        The path u + linear + weight grad psi(u) = 0 has the tangent
        (1 + weight Hessian)^-1 (u + linear) in ln(weight), and is all but straight in the weight.
        """
        u, _ = minimise(
            self.value,
            lambda u: (linear + u) / weight + self.gradient(u),
            lambda u: self.hessian(u) + self.eye / weight,
            u,
            INSIDE,
        )
        lower = cholesky(weight * self.hessian(u) + self.eye)
        ahead = u - (1.0 - NEXT) * solve(lower, linear + u)
        return ahead if isfinite(self.value(ahead)) else u

    def frame(self, place: Place, kappa: float, shift: float) -> DenseFrame:
        return DenseFrame(place[0], cholesky(kappa * place[1] + shift * self.eye))

    def outward(self, u: Array) -> Array:
        return self.domain.outward(u)

    def inward(self, displacement: Array) -> Array:
        return self.domain.inward(displacement.reshape(self.domain.point_shape))

    def memory(self, place: Place) -> Place:
        u, _, decrement = place
        return u, decrement

    def recall(self, memory: Place) -> Place:
        u, decrement = memory
        return u, self.hessian(u), decrement

    def settled(self, place: Place) -> bool:
        return bool(place[2] <= 1e-4)


class DenseFrame:
    """H = L L'."""

    def __init__(self, y: Array, lower: Array) -> None:
        self.y, self.lower = y, lower
        self.inverse, _ = _lapack().dtrtri(lower, lower=1)
        self.trace = float(np.vdot(self.inverse, self.inverse))

    def aim(self, noise: Array) -> LinearAim:
        return LinearAim.at(self, noise)

    def spread(self, s: Array) -> Array:
        return np.asarray(s @ self.inverse)

    def gather(self, s: Array) -> Array:
        return np.asarray(self.lower @ s)
