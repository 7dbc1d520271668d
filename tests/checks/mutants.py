"""Domains with one thing wrong, each beside the law that must notice."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log, sqrt
from types import FunctionType, MethodType
from typing import Any, TypeVar

import numpy as np

from dikin.checks import laws
from dikin.domains.ball import Ball
from dikin.domains.base import Array, Domain
from dikin.domains.box import Box
from dikin.domains.simplex import Simplex

T = TypeVar("T")
DOMAIN_LAWS = laws("dikin.checks.domain") | laws("domains.geometry_laws")


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


Wrong = tuple[str, Callable[[], Domain], dict[str, Any]]


def wrong(what: str, sound: Callable[[], Domain], **changes: Any) -> Wrong:
    return what, sound, changes


def by_law(table: dict[str, list[Wrong]]) -> list[DomainMutant]:
    return [DomainMutant(law, *each) for law, rows in table.items() for each in rows]


def ball() -> Ball:
    return Ball(3, 0.5, [4.0, -1.0, 0.3])


def box() -> Box:
    return Box([0, -1, 5], [1, 3, 5.5])


def simplex() -> Simplex:
    return Simplex(4)


def with_a_hole(slope: Array) -> Array:
    return np.where(slope > 0, slope, np.nan)


LAST_LOST = np.diag([1.0, 1.0, 0.0])


def shifted(v: Array) -> Array:
    """A chart vector of a ball seen from a point beside its centre."""
    return np.asarray(v + 0.1 * np.eye(v.size)[0])


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
    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


def writing_gradient(self: Ball, v: Array) -> Array:
    slope = Ball.gradient(self, v)
    v /= self.radius
    return slope


def broadcasting_require(self: Ball, point: Any) -> Array:
    return Ball.require(self, np.broadcast_to(point, self.point_shape))


def forgiving_contains(self: Box, point: Array) -> bool:
    """NaN is neither less nor more than anything."""
    return not self.margin(point) < 0


def of_ball(method: str, change: Callable[[Any], Any], moved: Any = lambda v: v) -> Any:
    """A method of a ball whose value or argument is changed."""
    return lambda self, v: change(getattr(Ball, method)(self, moved(v)))


ORACLES = ("barrier", "gradient", "hessian")
BARRIER: dict[str, list[Wrong]] = {
    "check_oracles_give_finite_numbers": [
        wrong("the gradient has a hole", ball, gradient=of_ball("gradient", with_a_hole))
    ],
    "check_center_is_interior_and_stationary": [
        wrong("the margin forgets it", ball, margin=lambda self, x: self.radius - sqrt(x @ x)),
        wrong(
            "the centre is inside but not the analytic one",
            ball,
            **{name: of_ball(name, lambda x: x, shifted) for name in (*ORACLES, "margin")},
        ),
    ],
    "check_gradient_is_the_derivative_of_the_barrier": [
        wrong("a hundredth off", ball, gradient=of_ball("gradient", lambda g: 1.01 * g))
    ],
    "check_hessian_is_positive_definite": [
        wrong("a direction is lost", ball, hessian=of_ball("hessian", lambda H: H * LAST_LOST))
    ],
    "check_hessian_is_the_derivative_of_the_gradient": [
        wrong(
            "the rank-one term is missing",
            ball,
            hessian=lambda self, v: 2 / (self.radius**2 * self._slack(v)) * np.eye(3),
        )
    ],
    "check_barrier_is_self_concordant": [
        wrong("half of one", ball, **{name: of_ball(name, lambda x: x / 2) for name in ORACLES})
    ],
    "check_newton_decrement_is_at_most_root_nu": [wrong("nu is too small", ball, nu=0.9)],
    "check_gradient_sees_at_most_nu": [wrong("nu is too small", ball, nu=0.95)],
    "check_dikin_ellipsoid_is_inside": [
        wrong(
            "the barrier ends before the boundary",
            ball,
            barrier=lambda self, v: Ball.barrier(self, v) if v @ v < 0.1 else inf,
        )
    ],
    "check_margin_and_barrier_agree_on_the_boundary": [
        wrong("the barrier is finite again beyond an edge", box, barrier=without_guard),
        wrong("the margin has no end", ball, margin=lambda self, point: 1.0),
    ],
    "check_gauge_is_one_on_the_boundary": [
        wrong(
            "the gauge knows one half-width only",
            box,
            gauge=lambda self, v: float(np.abs(v).max() / self.inradius),
        ),
        wrong("the centre has a gauge", ball, gauge=of_ball("gauge", lambda x: max(1e-9, x))),
    ],
    "check_barrier_growth_bounds_the_barrier_of_a_shrunk_set": [
        wrong(
            "one corner's entry too many",
            simplex,
            barrier_growth=lambda self, e: -(self.n - 1) * log(e) - 2 * log(self.n * (1 - e) + e),
        )
    ],
    "check_symmetry_turns_the_set_into_itself": [
        wrong("a hair too much", simplex, symmetry=(1 + 1e-8) / 3)
    ],
    "check_outward_is_an_isometry": [
        wrong(
            "the chart is stretched",
            simplex,
            outward=lambda self, v: 1.1 * Simplex.outward(self, v),
            inward=lambda self, w: Simplex.inward(self, w) / 1.1,
        )
    ],
    "check_radius_reaches_every_point": [wrong("the corners are out", box, radius=2.0)],
    "check_inradius_ball_is_inside": [wrong("the mean half-width", box, inradius=0.26)],
    "check_diameter_fits_between_the_balls": [
        wrong("a hair too long", ball, diameter=1 + 1e-8),
        wrong("too short", ball, diameter=0.99),
    ],
    "check_spec_builds_an_equal_domain": [
        wrong("the barrier is not in it", ball, barrier=of_ball("barrier", lambda x: x + 1e-15))
    ],
    "check_require_refuses_what_is_no_point": [
        wrong("any shape will do", ball, require=broadcasting_require),
        wrong("NaN is inside", box, contains=forgiving_contains),
    ],
    "check_domain_is_a_value": [
        wrong("the centre can be written", ball, center=np.ones(3)),
        wrong("an oracle writes", ball, gradient=writing_gradient),
        wrong("an oracle is late", ball, gradient=Stale(ball())),
        wrong("values change", ball, __class__=LooseBall),
    ],
}
BARRIER_MUTANTS = by_law(BARRIER)
