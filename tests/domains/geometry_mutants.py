"""Domains whose working form has one thing wrong, each beside the law that must notice."""

from __future__ import annotations

from typing import Any

import numpy as np

from checks.mutants import Wrong, ball, box, by_law, wrong
from dikin.domains.ball import BallGeometry
from dikin.domains.base import Array
from dikin.domains.box import BoxGeometry


def of(kind: type[BoxGeometry]) -> Any:
    """The geometry of a box as another kind."""
    stretch = np.ones(3)  # of the box that is changed
    return lambda self, scale: kind(3, self.half / scale, stretch)


class Displaced(BoxGeometry):
    def start(self) -> Array:
        return super().start() + np.array([[1e-12], [0.0]])


class Stretched(BoxGeometry):
    def write_point(self, u: Array, center: Array, radius: float, x: Array) -> None:
        super().write_point(1.001 * u, center, radius, x)


class Mirrored(BoxGeometry):
    def inward(self, displacement: Array) -> Array:
        return -displacement


class Heavier(BoxGeometry):
    def solve(self, linear: Array, quadratic: float, weight: float, iterate: Array) -> None:
        super().solve(linear, quadratic, 1.0001 * weight, iterate)


class Overshooting(BoxGeometry):
    def solve(self, linear: Array, quadratic: float, weight: float, iterate: Array) -> None:
        super().solve(linear, quadratic, 1e-16 * weight, iterate)


class Flat(BoxGeometry):
    def solve(self, linear: Array, quadratic: float, weight: float, iterate: Array) -> None:
        super().solve(linear, 0.0, weight, iterate)


class OneCoordinate(BoxGeometry):
    def barrier(self, iterate: Array) -> float:
        return -float(np.log(iterate[1].min()))


class OffZero(BoxGeometry):
    def barrier(self, iterate: Array) -> float:
        return super().barrier(iterate) + 1e-6


class HairOffZero(BoxGeometry):
    def barrier(self, iterate: Array) -> float:
        return super().barrier(iterate) + 1e-8


class Radial(BoxGeometry):
    """Shrinks a vector towards the centre instead of finding the nearest point."""

    def project(self, linear: Array, iterate: Array) -> None:
        most = float(np.abs(linear / self.half).max())
        super().project(linear / max(1.0, most), iterate)


class Blunt(BoxGeometry):
    def project(self, linear: Array, iterate: Array) -> None:
        self.solve(linear, 1.0, 1e-6, iterate)


class Wide(BoxGeometry):
    def explore(self, iterate: Array, kappa: float, shift: float, *rest: Any) -> Any:
        return super().explore(iterate, kappa, 0.999 * shift, *rest)


class Rootless(BoxGeometry):
    def explore(self, iterate: Array, kappa: float, shift: float, noise: Array, out: Array) -> Any:
        found = super().explore(iterate, kappa, shift, noise, out)
        out[0] **= 2
        return found


class OffMiddle(BoxGeometry):
    def point(self, iterate: Array, *rest: Any) -> float:
        return super().point(1.001 * iterate, *rest)


class WithoutDamping(BoxGeometry):
    def linear_update(self, *arguments: Any) -> Any:
        return super().linear_update(*arguments[:3], 0.0, arguments[-1])


class Backwards(BoxGeometry):
    def linear_update(self, iterate: Array, metric: Array, *rest: Any) -> Any:
        return super().linear_update(iterate, metric[[1, 0]], *rest)


class Untold(BoxGeometry):
    def linear_update(self, *arguments: Any) -> Any:
        along, square = super().linear_update(*arguments)
        return along + 1e-6, square


class Unsquared(BoxGeometry):
    def linear_update(self, *arguments: Any) -> Any:
        along, square = super().linear_update(*arguments)
        return along, 1.001 * square


class OffProduct(BoxGeometry):
    def product(self, iterate: Array, vector: Array) -> float:
        return super().product(iterate, vector) + 1e-9


class Unscaled(BoxGeometry):
    def write_vector(self, iterate: Array, factor: float, u: Array) -> None:
        super().write_vector(iterate, abs(factor), u)


class ShortBallGeometry(BallGeometry):
    def explore(self, *arguments: Any) -> tuple[float, float]:
        square, trace = super().explore(*arguments)
        return square, 0.999 * trace


class Lopsided(BoxGeometry):
    def explore(self, iterate: Array, kappa: float, shift: float, s: Array, out: Array) -> Any:
        s *= np.linspace(1, 2, s.size)
        return super().explore(iterate, kappa, shift, s, out)


class OneSided(BoxGeometry):
    def explore(self, iterate: Array, kappa: float, shift: float, s: Array, out: Array) -> Any:
        np.abs(s, s)
        return super().explore(iterate, kappa, shift, s, out)


def short_ball(domain: Any, scale: float) -> BallGeometry:
    return ShortBallGeometry(domain.dim, domain.radius / scale)


GEOMETRY: dict[str, list[Wrong]] = {
    "check_geometry_keeps_lengths_from_the_center": [
        wrong("not at zero", box, geometry=of(Displaced)),
        wrong("no isometry", box, geometry=of(Stretched)),
        wrong("the other way", box, geometry=of(Mirrored)),
    ],
    "check_solve_is_stationary": [
        wrong("the weight is wrong", box, geometry=of(Heavier)),
        wrong("onto the boundary", box, geometry=of(Overshooting)),
        wrong("no quadratic", box, geometry=of(Flat)),
    ],
    "check_barrier_of_an_iterate_is_the_oracle": [
        wrong("one coordinate", box, geometry=of(OneCoordinate)),
        wrong("not from the centre", box, geometry=of(OffZero)),
        wrong("a hair too much", box, geometry=of(HairOffZero)),
    ],
    "check_project_finds_the_nearest_point": [
        wrong("radially", box, geometry=of(Radial)),
        wrong("too far inside", box, geometry=of(Blunt)),
    ],
    "check_point_lies_on_the_ellipsoid": [
        wrong("too wide", box, geometry=of(Wide)),
        wrong("a root is missing", box, geometry=of(Rootless)),
        wrong("y is not amid", box, geometry=of(OffMiddle)),
        wrong("a thousandth is missing", ball, geometry=short_ball),
    ],
    "check_linear_update_is_the_hessian_times_the_step": [
        wrong("no damping", box, geometry=of(WithoutDamping)),
        wrong("the other root", box, geometry=of(Backwards)),
        wrong("another g.y", box, geometry=of(Untold)),
        wrong("another |y|^2", box, geometry=of(Unsquared)),
    ],
    "check_product_is_that_with_the_vector": [
        wrong("off", box, geometry=of(OffProduct)),
        wrong("no sign", box, geometry=of(Unscaled)),
    ],
    "check_exploration_is_uniform": [
        wrong("an axis is preferred", box, geometry=of(Lopsided)),
        wrong("a side is preferred", box, geometry=of(OneSided)),
    ],
}
GEOMETRY_MUTANTS = by_law(GEOMETRY)
