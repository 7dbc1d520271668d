"""Domains and learners with one thing wrong, each beside the law that must notice.

A mutant is a sound object of which some methods or values are replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log, sqrt
from types import FunctionType, MethodType
from typing import Any, TypeVar

import numpy as np

from dikin.domains.ball import Ball, BallGeometry
from dikin.domains.base import Array, Domain, LinearAim
from dikin.domains.box import Box, BoxGeometry, DiagonalFrame
from dikin.domains.simplex import Simplex

T = TypeVar("T")


def patched(thing: T, **changes: Any) -> T:
    """The thing itself with other methods (functions of self) and values."""
    for name, value in changes.items():
        if name == "__class__":
            object.__setattr__(thing, name, value)
        else:
            method = isinstance(value, FunctionType)
            vars(thing)[name] = MethodType(value, thing) if method else value
    return thing


@dataclass(frozen=True)
class DomainMutant:
    """What is wrong with a domain, and the law that this breaks."""

    law: str
    wrong: str
    sound: Callable[[], Domain]
    changes: dict[str, Any]

    def broken(self) -> Domain:
        return patched(self.sound(), **self.changes)


def ball() -> Ball:
    return Ball(3, 0.5, [4.0, -1.0, 0.3])


def box() -> Box:
    return Box([0, -1, 5], [1, 3, 5.5])


def simplex() -> Simplex:
    return Simplex(4)


# --- broken barriers and sets --------------------------------------------------------------------


def shifted(v: Array) -> Array:
    """A chart vector of a ball seen from a point beside its centre."""
    return v + 0.1 * np.eye(v.size)[0]


def without_guard(self: Box, v: Array) -> float:
    """Two negative slacks make a positive product: finite again beyond an edge."""
    slack = float(np.prod(1 - (v / self.half) ** 2))
    return -log(slack) if slack > 0 else inf


class Stale:
    """An oracle that answers about the point before."""

    def __init__(self, domain: Domain) -> None:
        self.domain, self.last = domain, np.zeros(domain.dim)

    def __call__(self, v: Array) -> Array:
        self.last, v = v, self.last
        return type(self.domain).gradient(self.domain, v)


class LooseBall(Ball):
    __setattr__ = object.__setattr__


def writing_gradient(self: Ball, v: Array) -> Array:
    slope = Ball.gradient(self, v)
    v /= self.radius
    return slope


def broadcasting_require(self: Ball, point: Any) -> Array:
    return Ball.require(self, np.broadcast_to(point, self.point_shape))


def nameless_require(self: Ball, point: Any) -> Array:
    try:
        return Ball.require(self, point)
    except Exception as error:
        raise type(error)("no such point") from None


def forgiving_margin(self: Box, point: Array) -> float:
    """NaN is neither less nor more than anything."""
    return float(min([1.0, *(point - self.lower), *(self.upper - point)]))


BARRIER_MUTANTS = [
    DomainMutant(
        "check_oracles_give_finite_numbers",
        "the gradient is a row",
        ball,
        {"gradient": lambda self, v: Ball.gradient(self, v)[None]},
    ),
    DomainMutant(
        "check_oracles_give_finite_numbers",
        "the gradient has a hole",
        ball,
        {"gradient": lambda self, v: np.where(v @ v < 0.1, Ball.gradient(self, v), np.nan)},
    ),
    DomainMutant(
        "check_center_is_interior_and_stationary",
        "the margin forgets the centre",
        ball,
        {"margin": lambda self, point: self.radius - sqrt(point @ point)},
    ),
    DomainMutant(
        "check_center_is_interior_and_stationary",
        "the centre is inside but not the analytic one",
        ball,
        {
            "barrier": lambda self, v: Ball.barrier(self, shifted(v)),
            "gradient": lambda self, v: Ball.gradient(self, shifted(v)),
            "hessian": lambda self, v: Ball.hessian(self, shifted(v)),
            "margin": lambda self, point: Ball.margin(self, shifted(point)),
        },
    ),
    DomainMutant(
        "check_gradient_is_the_derivative_of_the_barrier",
        "a factor of two is missing",
        ball,
        {"gradient": lambda self, v: Ball.gradient(self, v) / 2},
    ),
    DomainMutant(
        "check_gradient_is_the_derivative_of_the_barrier",
        "the gradient is a hundredth off",
        simplex,
        {"gradient": lambda self, v: 1.01 * Simplex.gradient(self, v)},
    ),
    DomainMutant(
        "check_hessian_is_positive_definite",
        "the Hessian is not symmetric",
        ball,
        {"hessian": lambda self, v: Ball.hessian(self, v) + np.triu(np.ones((3, 3)), 1)},
    ),
    DomainMutant(
        "check_hessian_is_positive_definite",
        "the Hessian lost a direction",
        box,
        {"hessian": lambda self, v: Box.hessian(self, v) * np.diag([1.0, 1.0, 0.0])},
    ),
    DomainMutant(
        "check_hessian_is_the_derivative_of_the_gradient",
        "the rank-one term is missing",
        ball,
        {"hessian": lambda self, v: 2 / (self.radius**2 * self._slack(v)) * np.eye(3)},
    ),
    DomainMutant(
        "check_barrier_is_self_concordant",
        "half of a self-concordant barrier",
        ball,
        {
            "barrier": lambda self, v: Ball.barrier(self, v) / 2,
            "gradient": lambda self, v: Ball.gradient(self, v) / 2,
            "hessian": lambda self, v: Ball.hessian(self, v) / 2,
        },
    ),
    DomainMutant("check_newton_decrement_is_at_most_root_nu", "nu is too small", ball, {"nu": 0.9}),
    DomainMutant("check_newton_decrement_is_at_most_root_nu", "nu is not d", box, {"nu": 2.5}),
    DomainMutant("check_gradient_sees_at_most_nu", "nu is too small", ball, {"nu": 0.95}),
    DomainMutant("check_gradient_sees_at_most_nu", "nu is not n", simplex, {"nu": 2.5}),
    DomainMutant(
        "check_dikin_ellipsoid_is_inside",
        "the margin squares the radius",
        ball,
        {"margin": lambda self, point: self.radius**2 - float(np.linalg.norm(point - self.center))},
    ),
    DomainMutant(
        "check_dikin_ellipsoid_is_inside",
        "the barrier ends before the boundary",
        ball,
        {"barrier": lambda self, v: Ball.barrier(self, v) if v @ v < 0.1 else inf},
    ),
    DomainMutant(
        "check_outer_ellipsoid_contains_the_set", "nu is far too small", ball, {"nu": 0.2}
    ),
    DomainMutant(
        "check_margin_and_barrier_agree_on_the_boundary",
        "the margin is a millionth too lenient",
        ball,
        {"margin": lambda self, point: Ball.margin(self, point) + 1e-6},
    ),
    DomainMutant(
        "check_margin_and_barrier_agree_on_the_boundary",
        "the barrier is finite again beyond an edge",
        box,
        {"barrier": without_guard},
    ),
    DomainMutant(
        "check_outward_is_an_isometry",
        "the chart is stretched",
        simplex,
        {
            "outward": lambda self, v: 1.1 * Simplex.outward(self, v),
            "inward": lambda self, w: Simplex.inward(self, w) / 1.1,
        },
    ),
    DomainMutant(
        "check_outward_is_an_isometry",
        "inward is not the way back",
        simplex,
        {"inward": lambda self, w: Simplex.inward(self, w)[::-1]},
    ),
    DomainMutant(
        "check_outward_is_an_isometry",
        "outward is not linear",
        ball,
        {"outward": np.abs, "inward": lambda self, w: w},
    ),
    DomainMutant("check_radius_reaches_every_point", "the corners are out", box, {"radius": 2.0}),
    DomainMutant(
        "check_radius_reaches_every_point", "one per cent short", simplex, {"radius": 0.857}
    ),
    DomainMutant("check_inradius_ball_is_inside", "the mean half-width", box, {"inradius": 0.26}),
    DomainMutant("check_diameter_fits_between_the_balls", "too long", ball, {"diameter": 1.01}),
    DomainMutant("check_diameter_fits_between_the_balls", "too short", ball, {"diameter": 0.99}),
    DomainMutant(
        "check_spec_builds_an_equal_domain",
        "the spec forgets the centre",
        ball,
        {"arguments": lambda self: {"dim": self.dim, "radius": self.radius}},
    ),
    DomainMutant(
        "check_spec_builds_an_equal_domain",
        "the spec is of another kind",
        ball,
        {"spec": lambda self: box().spec()},
    ),
    DomainMutant(
        "check_spec_builds_an_equal_domain",
        "the barrier is not in the spec",
        ball,
        {"barrier": lambda self, v: Ball.barrier(self, v) + 1e-15},
    ),
    DomainMutant(
        "check_require_refuses_what_is_no_point",
        "any shape will do",
        ball,
        {"require": broadcasting_require},
    ),
    DomainMutant(
        "check_require_refuses_what_is_no_point",
        "the refusal does not name the domain",
        ball,
        {"require": nameless_require},
    ),
    DomainMutant(
        "check_require_refuses_what_is_no_point",
        "NaN is inside",
        box,
        {"margin": forgiving_margin},
    ),
    DomainMutant(
        "check_require_refuses_what_is_no_point",
        "the centre itself is handed out",
        ball,
        {"require": lambda self, p: self.center if p is self.center else Ball.require(self, p)},
    ),
    DomainMutant(
        "check_domain_is_a_value", "the centre can be written", ball, {"center": np.ones(3)}
    ),
    DomainMutant(
        "check_domain_is_a_value", "an oracle writes", ball, {"gradient": writing_gradient}
    ),
    DomainMutant("check_domain_is_a_value", "an oracle is late", ball, {"gradient": Stale(ball())}),
    DomainMutant("check_domain_is_a_value", "values change", ball, {"__class__": LooseBall}),
]


# --- broken geometries ---------------------------------------------------------------------------


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


class Heavier(BoxGeometry):
    def solve(self, linear: Array, quadratic: float, weight: float, near: Any) -> Any:
        return super().solve(linear, quadratic, 1.0001 * weight, near)


class Flat(BoxGeometry):
    def solve(self, linear: Array, quadratic: float, weight: float, near: Any) -> Any:
        return super().solve(linear, 0.0, weight, near)


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
    DomainMutant("check_solve_is_stationary", "the weight is wrong", box, geometry(Heavier)),
    DomainMutant("check_solve_is_stationary", "no quadratic", box, geometry(Flat)),
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

DOMAIN_MUTANTS = BARRIER_MUTANTS + GEOMETRY_MUTANTS
