"""The laws of a domain's working form: the update and the exploration.

The oracles of the domain, which have their own laws, are the reference: whatever closed form a
geometry uses, its answers are carried into the chart and compared there. With u in the set of
scale r, v = r u is the chart vector and r^2 Hessian(psi)(v) the Hessian in u.
"""

from collections.abc import Iterator
from math import sqrt
from typing import NamedTuple

import numpy as np

from dikin.checks.failure import at_most, require
from dikin.checks.sample_points import (
    EPS,
    InteriorPoint,
    ends,
    exit_multiple,
    finite_inside,
    magnification,
)
from dikin.domains.base import Array, Domain, Geometry
from dikin.rng import Generator

DIGITS = 1e-9
"""Relative slack of an equality between numbers that are exact except for rounding."""


class ScaledGeometry(NamedTuple):
    """A geometry of a domain, with the way from its working vectors to the chart."""

    domain: Domain
    geometry: Geometry
    scale: float

    def chart(self, u: Array) -> Array:
        """The chart vector, in the scale of u, of a working vector."""
        return self.domain.inward(self.geometry.outward(u).reshape(self.domain.point_shape))

    def interior_point(self, iterate: Array) -> InteriorPoint:
        """The interior point of an iterate."""
        return InteriorPoint(self.domain, self.scale * self.chart(self.geometry.vector(iterate)))

    def matrix(self, at: InteriorPoint, kappa: float, shift: float) -> Array:
        """H = kappa Hessian(psi) + shift I, by the oracle."""
        return kappa * self.scale**2 * at.hessian + shift * np.eye(self.domain.dim)


class Solution(NamedTuple):
    """The arguments of an update, where it ended, and that point in the chart."""

    linear: Array
    quadratic: float
    weight: float
    iterate: Array
    at: InteriorPoint


def scaled_geometries(domain: Domain) -> Iterator[ScaledGeometry]:
    """The form that a learner uses, and one of another scale, which no law may depend on."""
    for scale in (domain.radius, domain.radius / 3):
        yield ScaledGeometry(domain, domain.geometry(scale), scale)


def solutions(form: ScaledGeometry, rng: Generator) -> Iterator[Solution]:
    """Paths of updates with linear terms and weights from 1e-3 to 1e8, then jumps to and fro.

    On a path every weight starts from the iterate of the last one, which is near, as `solve` may
    expect. It ends where rounding has taken half of a slack's digits: the oracles cannot judge from
    there on.
    """
    n = form.geometry.size
    for size in (0.0, 1e-3, 1.0, 1e4, 1e8):
        oblique = rng.standard_normal(n) / sqrt(n)
        for direction in (oblique, np.eye(n)[rng.integers(n)]):
            quadratic = float(10 ** rng.uniform(-3, 8))
            weights = np.geomspace(1e8, 1e-3, 12).tolist()
            for found in _follow(form, [(size * direction, quadratic, w) for w in weights]):
                rounding = found.at.rounding
                if size <= 1e3 * found.weight:
                    required = f"inside by more than rounding, for the weight {found.weight}"
                    require(rounding < 1e-3, form.domain, "a solution", found.at.v, required)
                if rounding > 1e-8 or found.at.hessian_rounding > 1e-3:
                    break
                yield found
    linears = [rng.standard_normal(n) * 10 ** rng.uniform(-1, 1) for _ in range(8)]
    yield from _follow(form, [(each, float(rng.uniform(0.1, 9)), 1.0) for each in linears])


def _follow(form: ScaledGeometry, updates: list[tuple[Array, float, float]]) -> Iterator[Solution]:
    iterate = form.geometry.start()
    for update in updates:
        iterate = iterate.copy()
        form.geometry.solve(*update, iterate)
        yield Solution(*update, iterate, form.interior_point(iterate))


def iterates(form: ScaledGeometry, rng: Generator) -> Iterator[Array]:
    """The start, and iterates at moderate depth in several directions."""
    iterate = form.geometry.start()
    yield iterate
    for size in (1.0, 20.0, 20.0):
        linear = size * rng.standard_normal(form.geometry.size)
        iterate = iterate.copy()
        form.geometry.solve(linear, 0.5, 1.0, iterate)
        yield iterate


class Direction:
    """A direction that a geometry explores from an iterate."""

    def __init__(
        self, geometry: Geometry, iterate: Array, kappa: float, shift: float, noise: Array
    ) -> None:
        self.geometry, self.iterate = geometry, iterate
        self.array, self.s = np.empty((geometry.metric_size, noise.size)), noise.copy()
        self.seen = geometry.explore(iterate, kappa, shift, self.s, self.array)
        self.square, self.trace = self.seen[:2]

    def point(self, scale: float) -> Array:
        """The vector y + scale H^(-1/2) s."""
        u = np.empty(self.geometry.size)
        self.geometry.point(self.iterate, self.array, self.seen, scale, u)
        return u

    def linear_update(self, scale: float, damping: float) -> tuple[Array, float, float]:
        """Return g - damping y with g = scale H^(1/2) s, and the products g.y and |y|^2."""
        linear = np.zeros(self.geometry.size)
        products = self.geometry.linear_update(
            self.iterate, self.array, self.seen, scale, damping, linear
        )
        return linear, *products


def check_geometry_keeps_lengths_from_the_center(domain: Domain, rng: Generator) -> None:
    """The working form starts at zero, `outward` keeps lengths, and `inward` undoes it.

    `inward` takes any displacement to the nearest one of the set's plane. Both are sums of as many
    products as the set has dimensions; 1e-12 is thousands of roundings.
    """
    for form in scaled_geometries(domain):
        geometry = form.geometry
        start = float(np.abs(geometry.vector(geometry.start())).max())
        require(start == 0.0, domain, "the distance of the start", start, 0)
        for iterate in iterates(form, rng):
            u = geometry.vector(iterate)
            inner, outer = float(np.linalg.norm(u)), float(np.linalg.norm(geometry.outward(u)))
            at_most(domain, "the stretch of u", abs(inner - outer), 1e-12 * (1 + inner), u=u)
            back = float(np.abs(geometry.inward(geometry.outward(u)) - u).max())
            at_most(domain, "inward(outward(u)) - u", back, 1e-12 * (1 + float(np.abs(u).max())))
        step = rng.standard_normal(domain.point_shape)
        nearest = domain.outward(domain.inward(step)).ravel()
        off = float(np.abs(geometry.outward(geometry.inward(step)) - nearest).max())
        limit = 1e-12 * (1 + float(np.abs(step).max()))
        at_most(domain, "the distance of inward from the nearest vector", off, limit)


def check_solve_is_stationary(domain: Domain, rng: Generator) -> None:
    """A solve leaves linear + quadratic u + weight grad psi(u) = 0, at weights from 1e-3 to 1e8.

    Its size is the Newton decrement of the update's objective over the weight.
    """
    for form in scaled_geometries(domain):
        for linear, quadratic, weight, _, at in solutions(form, rng):
            slope = form.chart(linear) + quadratic / form.scale * at.v
            slope = slope + weight * form.scale * domain.gradient(at.v)
            hessian = form.matrix(at, weight, quadratic)
            off = sqrt(max(float(slope @ np.linalg.solve(hessian, slope)) / weight, 0.0))
            update = (linear, quadratic, weight)
            at_most(domain, "the decrement", off, DIGITS + 1000 * at.rounding, update=update)


def check_barrier_of_an_iterate_is_the_oracle(domain: Domain, rng: Generator) -> None:
    """`barrier` is psi - psi(0), at weights from 1e-3 to 1e8.

    A point known to r in the local norm has its psi to sqrt(nu) r, as psi changes no faster.
    """
    least = domain.barrier(np.zeros(domain.dim))
    for form in scaled_geometries(domain):
        start = form.geometry.barrier(form.geometry.start())
        at_most(domain, "the barrier of the start", abs(start), DIGITS)
        for *_, iterate, at in solutions(form, rng):
            oracle = domain.barrier(at.v)
            off = abs(form.geometry.barrier(iterate) - (oracle - least))
            blurred = 1000 * sqrt(domain.nu) * at.rounding
            limit = DIGITS * (1 + abs(oracle) + abs(least)) + blurred
            at_most(domain, "the error of psi - psi(0)", off, limit, at=at.v)


def check_project_finds_the_nearest_point(domain: Domain, rng: Generator) -> None:
    """(w - p).(v - p) <= 0 for every v of the set, if p is the point of the set nearest to w.

    The update with the weight e ends at w - p = e grad psi(p), and grad psi(p).(v - p) <= nu. The
    path ends at e = 1e-10; the rest is rounding. Points v are where rays leave the set, among them
    the ray through p.
    """
    points = list(ends(domain, rng, 12))
    for form in scaled_geometries(domain):
        iterate = form.geometry.start()
        for length in (0.01, 0.3, 1.0, 3.0, 10.0):
            noise = rng.standard_normal(form.geometry.size)
            direction = Direction(form.geometry, form.geometry.start(), 0.0, 1.0, noise)
            w = direction.point(length * domain.radius / form.scale / sqrt(direction.square))
            form.geometry.project(-w, iterate)
            p = form.chart(form.geometry.vector(iterate))
            ahead = form.scale * p * exit_multiple(domain, form.scale * p)
            far = (float((form.chart(w) - p) @ (v / form.scale - p)) for v in (ahead, *points))
            limit = 1.01e-10 * domain.nu + 1e-12 * (domain.radius / form.scale) ** 2
            at_most(domain, "the largest (w - p).(v - p)", max(far), limit, w=w)
            inside = finite_inside(domain, (1 - DIGITS) * form.scale * p)
            require(inside, domain, f"the projection of {w}", "outside", "inside")


class View(NamedTuple):
    """An iterate, with the H of the oracles there, and the slack of both."""

    form: ScaledGeometry
    iterate: Array
    kappa: float
    shift: float
    H: Array
    slack: float

    @property
    def y(self) -> Array:
        """The working vector of the iterate."""
        return self.form.geometry.vector(self.iterate)

    def directions(self, rng: Generator, count: int) -> Iterator[Direction]:
        """Directions from noise."""
        for noise in rng.standard_normal((count, self.form.geometry.size)):
            yield Direction(self.form.geometry, self.iterate, self.kappa, self.shift, noise)

    def step(self, direction: Direction) -> Array:
        """The step from y along a direction to the ellipsoid's surface, in the chart."""
        return self.form.chart(direction.point(1 / sqrt(direction.square)) - self.y)


def views(domain: Domain, rng: Generator) -> Iterator[View]:
    """Views from several iterates, with and without the isotropic part."""
    for form in scaled_geometries(domain):
        for iterate in iterates(form, rng):
            at = form.interior_point(iterate)
            for kappa, shift in ((1.0, 1e-3), (400.0, 0.5), (1.0, 1e3)):
                H = form.matrix(at, kappa, shift)
                slack = DIGITS + 1000 * at.rounding + 100 * EPS * float(magnification(H).sum())
                yield View(form, iterate, kappa, shift, H, slack)


def check_point_lies_on_the_ellipsoid(domain: Domain, rng: Generator) -> None:
    """The step z to `point(1/|s|)` has z'Hz = 1, with y in the middle; the trace is tr(H^-1)."""
    for view in views(domain, rng):
        exact = float(np.trace(np.linalg.inv(view.H)))
        for direction in view.directions(rng, 3):
            z = view.step(direction)
            at_most(domain, "the error of z'Hz", abs(float(z @ view.H @ z) - 1), view.slack, z=z)
            middle = float(np.abs(direction.point(0.0) - view.y).max())
            at_most(domain, "the distance of point(0) from y", middle, 1e-12)
            off = abs(direction.trace - exact)
            at_most(domain, "the error of the trace", off, view.slack * exact)


def check_linear_update_is_the_hessian_times_the_step(domain: Domain, rng: Generator) -> None:
    """It adds g - damping y for g = scale H^(1/2) s = scale |s| H z; returns g.y and |y|^2."""
    for view in views(domain, rng):
        y = view.form.chart(view.y)
        for direction in view.directions(rng, 3):
            scale, damping = rng.uniform(-5, 5), rng.uniform(0, 5)
            g = scale * sqrt(direction.square) * view.H @ view.step(direction)
            linear, along, square = direction.linear_update(scale, damping)
            off = view.form.chart(linear) - (g - damping * y)
            length = sqrt(max(float(off @ np.linalg.solve(view.H, off)), 0.0))
            size = view.slack * (abs(scale) * sqrt(direction.square) + damping)
            at_most(domain, "the local norm of the update's error", length, size)
            local, error = sqrt(float(y @ view.H @ y)), abs(along - float(g @ y))
            at_most(domain, "the error of g.y", error, size * (1 + local))
            at_most(domain, "the error of |y|^2", abs(square - float(y @ y)), DIGITS)


def check_exploration_is_uniform(domain: Domain, rng: Generator) -> None:
    """E z = 0 and E zz' = H^-1/d for standard normal noise.

    Carried to the sphere by a root of H, entries of d zz' have a variance below 2 and those of
    sqrt(d) z one of 1. The band is six standard deviations of the mean of n: a true geometry of ten
    dimensions (65 numbers) fails less than once in 10^6 runs.
    """
    n, d = 1500, domain.dim
    *_, last = views(domain, rng)
    root = np.linalg.cholesky(last.H)
    z = np.array([last.step(direction) for direction in last.directions(rng, n)]) @ root
    mean = float(np.abs(z.mean(axis=0)).max()) * sqrt(d)
    at_most(domain, f"the mean of {n} steps", mean, 6 / sqrt(n))
    spread = float(np.abs(d * z.T @ z / n - np.eye(d)).max())
    at_most(domain, "the distance of d E zz' from the identity", spread, 6 * sqrt(2 / n))
