"""Box {x : lower <= x <= upper}.   Barrier -sum_i ln(1 - ((x_i - c_i)/h_i)^2), nu = d.

Each interval's barrier has nu = 1 (not the 2 one gets by counting its two ends).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, log, sqrt
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from dikin.domains.base import Array, Domain, frozen
from dikin.domains.geometry import ClosedForm, Geometry, Stretched, diagonal_metric, diagonal_roots
from dikin.domains.roots import cold_start_gap
from dikin.errors import DomainError
from dikin.kernel import choose, compilable, looped
from dikin.vectors import dot

FEW = 6
"""Up to so many sides the update is computed one by one: NumPy's calls take longer than that."""


class Box(Domain):
    """All points between `lower` and `upper`, entry by entry.

    Parameters
    ----------
    lower : array_like
        The least value of every entry.
    upper : array_like
        The largest value of every entry.

    Attributes
    ----------
    half : Array
        Half the length of every side.

    Raises
    ------
    DomainError
        If the two have different lengths.

    Examples
    --------
    >>> Box([0, 0], [10, 2]).center
    array([5., 1.])
    """

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        self.lower, self.upper = frozen(lower, "lower", 1), frozen(upper, "upper", 1)
        if self.lower.shape != self.upper.shape:
            raise DomainError(
                f"lower has {self.lower.size} entries and upper {self.upper.size}; they must agree"
            )
        self.dim = self.lower.size
        self.nu, self.symmetry = float(self.dim), 1.0
        self.half = self.upper / 2 - self.lower / 2
        self.center = self.lower + self.half
        self.radius = float(np.linalg.norm(self.half))
        self.inradius = float(self.half.min())
        self.diameter = 2 * self.radius
        for i in np.flatnonzero(self.lower > self.upper):
            raise DomainError(
                f"Box: lower[{i}] = {self.lower[i]:g} exceeds upper[{i}] = {self.upper[i]:g}"
            )
        for i in np.flatnonzero(~(self.half > 0)):
            raise DomainError(
                f"Box: lower[{i}] = upper[{i}] = {self.lower[i]:g} leaves no interior; "
                "drop that coordinate"
            )

    def barrier(self, v: Array) -> float:
        slack = self._slack(v)
        return float(-np.log(slack).sum()) if (slack > 0).all() else inf

    def gradient(self, v: Array) -> Array:
        return 2 * v / (self.half**2 * self._slack(v))

    def hessian(self, v: Array) -> Array:
        slack = self._slack(v)
        return np.diag(2 * (2 - slack) / (self.half * slack) ** 2)

    def _slack(self, v: Array) -> Array:
        r = np.abs(v) / self.half
        return np.where(r < 1, (1 - r) * (1 + r), 0.0)

    def margin(self, point: Array) -> float:
        return float(np.minimum(point - self.lower, self.upper - point).min())

    def gauge(self, v: Array) -> float:
        return float((np.abs(v) / self.half).max())

    def barrier_growth(self, share: float) -> float:
        return -self.dim * log(share * (2.0 - share))  # in the corners

    def geometry(self, scale: float, equal_sides: bool = False) -> Geometry:
        if not equal_sides or self.half.max() == self.half.min():
            return BoxGeometry(self.dim, 3, 4, 1.0, self.half / scale)
        side = self.radius / sqrt(self.dim)  # of the cube with the same radius
        cube = np.full(self.dim, side / scale)
        return StretchedBox(self.dim, 3, 4, 1.0, cube, self.half / side)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls([-1, -1, -1], [1, 1, 1])
        yield cls([2.0], [2.5])
        yield cls([0, -1e3, 5], [1e-2, 1e3, 6])


class BoxGeometry(ClosedForm):
    """|u_i| <= h_i.   iterate = (y, slack, Hessian), slack_i = 1 - (y_i/h_i)^2."""

    def start(self) -> Array:
        iterate = super().start()
        iterate[2] = 2.0 / self.sides**2
        return iterate

    def solve(self, linear: Array, quadratic: float, weight: float, iterate: Array) -> None:
        box_solve(self.sides, linear, quadratic, weight, iterate)

    def explore(
        self, iterate: Array, kappa: float, shift: float, s: Array, metric: Array
    ) -> tuple[float, float]:
        diagonal_roots(iterate[2], kappa, shift, metric)
        diagonal_metric(s, s, metric)
        return dot(s, s), dot(metric[3], metric[3])

    def barrier(self, iterate: Array) -> float:
        return -float(np.log(iterate[1]).sum())


class StretchedBox(Stretched, BoxGeometry):
    """A box with unequal sides as a cube."""


@compilable
def box_entry(
    half: float, linear: float, quadratic: float, weight: float
) -> tuple[float, float, float]:
    """The update of one coordinate, its slack, and the second derivative of psi there."""
    gap = cold_start_gap(abs(half * linear), quadratic * half * half, weight)
    slack = gap * (2.0 - gap)
    distance = half * slack
    hessian = 2.0 * (2.0 - slack) / (distance * distance)
    return choose(linear > 0.0, -half, half) * (1.0 - gap), slack, hessian


def _box_solve(half: Array, linear: Array, quadratic: float, weight: float, iterate: Array) -> None:
    for i in range(len(half)):
        iterate[0, i], iterate[1, i], iterate[2, i] = box_entry(
            half[i], linear[i], quadratic, weight
        )


@looped(_box_solve)
def box_solve(half: Array, linear: Array, quadratic: float, weight: float, iterate: Array) -> None:
    """The update of every coordinate."""
    if half.size <= FEW:
        _box_solve(half.tolist(), linear.tolist(), quadratic, weight, iterate)
    else:
        iterate[:3] = box_entry(half, linear, quadratic, weight)  # type: ignore[arg-type]
