"""Domains whose working form has one thing wrong, each beside the law that must notice."""

from __future__ import annotations

from typing import Any

import numpy as np

from checks.mutants import DomainMutant, ball, box
from dikin.domains.ball import BallGeometry
from dikin.domains.base import Array, LinearAim
from dikin.domains.box import BoxGeometry, DiagonalFrame


def geometry(kind: type[BoxGeometry]) -> dict[str, Any]:
    """A change of geometry for a box."""
    return {"geometry": lambda self, scale: kind(self.half / scale)}


class Displaced(BoxGeometry):
    def start(self) -> Any:
        return np.full(self.dim, 1e-12), np.ones(self.dim)


class Stretched(BoxGeometry):
    def outward(self, u: Array) -> Array:
        return 1.001 * u


class Miscounted(BoxGeometry):
    def __init__(self, half: Array) -> None:
        super().__init__(half)
        self.nu = 2.0 * self.nu  # two ends an interval


class Mirrored(BoxGeometry):
    def inward(self, displacement: Array) -> Array:
        return -displacement


class Heavier(BoxGeometry):
    def solve(self, linear: Array, quadratic: float, weight: float, near: Any) -> Any:
        return super().solve(linear, quadratic, 1.0001 * weight, near)


class Overshooting(BoxGeometry):
    def solve(self, linear: Array, quadratic: float, weight: float, near: Any) -> Any:
        return super().solve(linear, quadratic, 1e-16 * weight, near)


class Flat(BoxGeometry):
    def solve(self, linear: Array, quadratic: float, weight: float, near: Any) -> Any:
        return super().solve(linear, 0.0, weight, near)


class OneCoordinate(BoxGeometry):
    def barrier(self, place: Any) -> float:
        return -float(np.log(place[1].min()))


class OffZero(BoxGeometry):
    def barrier(self, place: Any) -> float:
        return super().barrier(place) + 1e-6


class Radial(BoxGeometry):
    """Shrinks a vector towards the centre instead of finding the nearest point."""

    def project(self, linear: Array, near: Any) -> Any:
        most = float(np.abs(linear / self.half).max())
        return super().project(linear / max(1.0, most), near)


class Blunt(BoxGeometry):
    def project(self, linear: Array, near: Any) -> Any:
        return self.solve(linear, 1.0, 1e-6, near)


class Wide(BoxGeometry):
    def frame(self, place: Any, kappa: float, shift: float) -> Any:
        return super().frame(place, kappa, 0.999 * shift)


class Rootless(BoxGeometry):
    def frame(self, place: Any, kappa: float, shift: float) -> Any:
        frame = super().frame(place, kappa, shift)
        return DiagonalFrame(frame.y, frame.root**2)


class OffMiddle(BoxGeometry):
    def frame(self, place: Any, kappa: float, shift: float) -> Any:
        frame = super().frame(place, kappa, shift)
        return DiagonalFrame(frame.y * 1.001, frame.root)


class Undamped(LinearAim):
    def recoil(self, scale: float, damping: float) -> Array:
        return super().recoil(scale, 0.0)


class UndampedFrame(DiagonalFrame):
    def aim(self, noise: Array) -> LinearAim:
        return Undamped.at(self, noise)


class WithoutDamping(BoxGeometry):
    def frame(self, place: Any, kappa: float, shift: float) -> Any:
        frame = super().frame(place, kappa, shift)
        return UndampedFrame(frame.y, frame.root)


class SpreadFrame(DiagonalFrame):
    def gather(self, s: Array) -> Array:
        return s / self.root


class Backwards(BoxGeometry):
    def frame(self, place: Any, kappa: float, shift: float) -> Any:
        frame = super().frame(place, kappa, shift)
        return SpreadFrame(frame.y, frame.root)


class ShortBallGeometry(BallGeometry):
    def frame(self, place: Any, kappa: float, shift: float) -> Any:
        frame = super().frame(place, kappa, shift)
        frame.trace -= frame.trace / 1000
        return frame


class Lopsided(DiagonalFrame):
    def aim(self, noise: Array) -> LinearAim:
        return super().aim(noise * np.linspace(1, 2, noise.size))


class OneSided(DiagonalFrame):
    def aim(self, noise: Array) -> LinearAim:
        return super().aim(np.abs(noise))


def explored(kind: type[DiagonalFrame]) -> dict[str, Any]:
    """A change of what a box's frame does with noise."""

    class Biased(BoxGeometry):
        def frame(self, place: Any, kappa: float, shift: float) -> Any:
            frame = super().frame(place, kappa, shift)
            return kind(frame.y, frame.root)

    return geometry(Biased)


class Short(BoxGeometry):
    def memory(self, place: Any) -> Any:
        return tuple(part.astype(np.float32).astype(float) for part in place)


class Recomputed(BoxGeometry):
    def recall(self, memory: Any) -> Any:
        return memory[0], 1 - (memory[0] / self.half) ** 2


GEOMETRY_MUTANTS = [
    DomainMutant("check_geometry_starts_at_the_center", "not at zero", box, geometry(Displaced)),
    DomainMutant("check_geometry_starts_at_the_center", "no isometry", box, geometry(Stretched)),
    DomainMutant("check_geometry_starts_at_the_center", "another nu", box, geometry(Miscounted)),
    DomainMutant("check_inward_is_the_way_back", "the other way", box, geometry(Mirrored)),
    DomainMutant("check_solve_is_stationary", "the weight is wrong", box, geometry(Heavier)),
    DomainMutant("check_solve_is_stationary", "onto the boundary", box, geometry(Overshooting)),
    DomainMutant("check_solve_is_stationary", "no quadratic", box, geometry(Flat)),
    DomainMutant(
        "check_barrier_of_a_place_is_the_oracle", "one coordinate", box, geometry(OneCoordinate)
    ),
    DomainMutant(
        "check_barrier_of_a_place_is_the_oracle", "not from the centre", box, geometry(OffZero)
    ),
    DomainMutant("check_project_finds_the_nearest_point", "radially", box, geometry(Radial)),
    DomainMutant("check_project_finds_the_nearest_point", "too far inside", box, geometry(Blunt)),
    DomainMutant("check_geometry_agrees_with_the_oracles", "another place", box, geometry(Heavier)),
    DomainMutant("check_geometry_agrees_with_the_oracles", "too wide", box, geometry(Wide)),
    DomainMutant("check_aim_lies_on_the_ellipsoid", "a root is missing", box, geometry(Rootless)),
    DomainMutant("check_aim_lies_on_the_ellipsoid", "y is not amid", box, geometry(OffMiddle)),
    DomainMutant(
        "check_recoil_is_the_hessian_times_the_step", "no damping", box, geometry(WithoutDamping)
    ),
    DomainMutant(
        "check_recoil_is_the_hessian_times_the_step", "the other root", box, geometry(Backwards)
    ),
    DomainMutant(
        "check_trace_is_that_of_the_inverse",
        "a thousandth is missing",
        ball,
        {"geometry": lambda self, scale: ShortBallGeometry(self.dim, self.radius / scale)},
    ),
    DomainMutant("check_aim_is_uniform", "one axis is preferred", box, explored(Lopsided)),
    DomainMutant("check_aim_is_uniform", "one side is preferred", box, explored(OneSided)),
    DomainMutant("check_memory_recalls_every_bit", "digits are dropped", box, geometry(Short)),
    DomainMutant("check_memory_recalls_every_bit", "slacks are guessed", box, geometry(Recomputed)),
]
