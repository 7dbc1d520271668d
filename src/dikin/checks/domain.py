"""The laws of a domain: its set, its barrier, its sizes. One function, one theorem.

Every `check_*` takes a domain and a generator and raises `CheckFailedError` with the number that
broke the law. Lengths are measured in the local norm |h|_v = sqrt(h' Hessian(psi)(v) h), in which
every nu-self-concordant barrier looks alike, so one tolerance serves a box of 1e-2 by 1e3 as well.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from math import isfinite, sqrt
from typing import Any

import numpy as np

from dikin import loading
from dikin.checks.failure import fail
from dikin.checks.sample_points import (
    EPS,
    boundary,
    center_of,
    corners,
    directions,
    exit_multiple,
    faces,
    finite_inside,
    interior,
    margin_inside,
)
from dikin.domains.base import Array, Domain
from dikin.errors import DikinError, DomainError, NotSavableError, ShapeError
from dikin.rng import Generator

DIGITS = 1e-9
"""Relative slack of an inequality between numbers that are exact except for rounding."""


# --- the barrier -------------------------------------------------------------------------------


def check_oracles_give_finite_numbers(domain: Domain, rng: Generator) -> None:
    """Inside, psi is a number, its gradient a vector of length d and its Hessian d x d."""
    d = domain.dim
    for at in interior(domain, rng):
        answers: dict[str, tuple[Any, tuple[int, ...]]] = {
            "barrier": (domain.barrier(at.v), ()),
            "gradient": (domain.gradient(at.v), (d,)),
            "Hessian": (at.hessian, (d, d)),
        }
        for name, (answer, shape) in answers.items():
            if np.shape(answer) != shape:
                fail(domain, f"the {name} has shape {np.shape(answer)}", f"{shape}")
            if not np.isfinite(answer).all():
                fail(domain, f"the {name} at the interior point {at.v} is {answer}", "finite")


def check_center_is_interior_and_stationary(domain: Domain, rng: Generator) -> None:
    """The chart's origin is the analytic centre: inside, with a gradient of zero."""
    origin = np.zeros(domain.dim)
    margin = domain.margin(domain.center)
    if not margin > 0:
        fail(domain, f"the margin of the centre is {margin:.3g}", "above 0")
    if not isfinite(domain.barrier(origin)):
        fail(domain, f"the barrier at the centre is {domain.barrier(origin)}", "finite")
    at = center_of(domain)
    slope = at.dual(domain.gradient(origin))
    # Newton's method ends at a decrement below 1e-9 and squares it, unless rounding is larger.
    if not slope <= 1e-8 + 100 * at.rounding:
        fail(domain, f"the gradient at the centre has local norm {slope:.3g}", "0")


def check_gradient_is_the_derivative_of_the_barrier(domain: Domain, rng: Generator) -> None:
    """Central differences of psi, with steps of local norm h, give the gradient.

    Self-concordance bounds |D3 psi[e,e,e]| by 2/(1-h)^3 within the step, so the difference quotient
    is right to h^2/(3 (1-h)^3) < h^2/2 on every domain.
    """
    h = 1e-3
    for at in interior(domain, rng):
        noise = sqrt(domain.nu) * at.rounding + EPS * abs(domain.barrier(at.v))
        slope = domain.gradient(at.v)
        for e in directions(at, rng, 4):
            rise = (domain.barrier(at.v + h * e) - domain.barrier(at.v - h * e)) / (2 * h)
            off = abs(rise - float(slope @ e))
            if not off <= h**2 / 2 + 20 * noise / h:
                fail(domain, f"along {e} at {at.v} psi rises by {rise:.9g}", f"{slope @ e:.9g}")


def check_hessian_is_positive_definite(domain: Domain, rng: Generator) -> None:
    """The Hessian is symmetric and, as the set contains no line, positive definite."""
    for at in interior(domain, rng):
        scale = np.linalg.norm(at.root, axis=1)  # the root exists, or says why not
        tilt = float((np.abs(at.hessian - at.hessian.T) / np.outer(scale, scale)).max())
        if not tilt <= DIGITS:
            fail(
                domain,
                f"the Hessian at {at.v} misses symmetry by {tilt:.3g} of its diagonal",
                "0",
            )


def check_hessian_is_the_derivative_of_the_gradient(domain: Domain, rng: Generator) -> None:
    """Central differences of the gradient, with steps of local norm h, give the Hessian.

    Within the step the Hessian changes by a factor of at most (1-h)^-2, so the quotient is right to
    h/(1-h) < 2h on every domain (to h^2 on most).
    """
    h = 1e-4
    for at in interior(domain, rng):
        for e in directions(at, rng, 4):
            change = (domain.gradient(at.v + h * e) - domain.gradient(at.v - h * e)) / (2 * h)
            off = at.dual(change - at.hessian @ e)
            if not off <= 2 * h + 20 * at.rounding / h + 100 * at.hessian_rounding:
                fail(
                    domain,
                    f"along {e} at {at.v} the Hessian is off by {off:.3g} in local norm",
                    "0",
                )


def check_barrier_is_self_concordant(domain: Domain, rng: Generator) -> None:
    """|D3 psi[e,e,e]| <= 2 for |e|_v = 1.

    Equivalently t -> (e' Hessian(v + te) e)^(-1/2) never changes faster than t: no derivative to
    approximate, and any step inside the Dikin ellipsoid will do.
    """
    for at in interior(domain, rng):
        for e in directions(at, rng, 4):
            for h in (0.05, 0.5):
                ends = [1 / sqrt(e @ domain.hessian(at.v + t * e) @ e) for t in (-h, h)]
                third = abs(ends[1] - ends[0]) / h
                if not third <= 2 * (1 + DIGITS) + 100 * (at.rounding + at.hessian_rounding) / h:
                    fail(domain, f"|D3 psi| is {third:.9g} along {e} near {at.v}", "at most 2")


def check_newton_decrement_is_at_most_root_nu(domain: Domain, rng: Generator) -> None:
    """The square g' H^-1 g is at most nu: the other half of what makes a barrier."""
    for at in interior(domain, rng):
        square = at.dual(domain.gradient(at.v)) ** 2
        if not square <= domain.nu * (1 + DIGITS + 100 * (at.rounding + at.hessian_rounding)):
            fail(domain, f"g'H^-1g is {square:.9g} at {at.v}", f"at most nu = {domain.nu:g}")


def check_gradient_sees_at_most_nu(domain: Domain, rng: Generator) -> None:
    """<grad psi(x), y - x> <= nu for every x inside and y in the set."""
    ends = [*boundary(domain, rng), *corners(domain, rng)]
    for at in interior(domain, rng):
        slope = domain.gradient(at.v)
        ahead = (
            [at.v * exit_multiple(domain, at.v)] if at.v.any() else []
        )  # where round sets attain nu
        for y in (*ends, *ahead):
            rise = float(slope @ (y - at.v))
            if not rise <= domain.nu * (1 + DIGITS + 100 * at.rounding):
                fail(
                    domain,
                    f"<g, y - x> is {rise:.9g} from {at.v} to {y}",
                    f"at most nu = {domain.nu:g}",
                )


# --- the set -----------------------------------------------------------------------------------


def check_dikin_ellipsoid_is_inside(domain: Domain, rng: Generator) -> None:
    """{y : |y - x|_x < 1} belongs to the set, by the barrier's word and by the margin's."""
    for at in interior(domain, rng):
        # It touches the boundary where the set is a half-space: keep clear by what rounding moves.
        length = max(0.5, 1 - 1e-6 - 10 * (at.rounding + at.hessian_rounding))
        for e in directions(at, rng, 8):
            for step in (length * e, -length * e):
                if not finite_inside(domain, at.v + step):
                    fail(
                        domain,
                        f"the barrier is infinite {length:.9g} from {at.v} along {step}",
                        "finite",
                    )
                if not margin_inside(domain, at.v + step):
                    margin = domain.margin(domain.point(at.v + step))
                    fail(
                        domain,
                        f"the margin is {margin:.3g} at {length:.9g} from {at.v}",
                        "at least 0",
                    )


def check_outer_ellipsoid_contains_the_set(domain: Domain, rng: Generator) -> None:
    """The set lies within nu + 2 sqrt(nu) of the centre, in the centre's local norm."""
    center = center_of(domain)
    limit = domain.nu + 2 * sqrt(domain.nu)
    for end in (*boundary(domain, rng), *corners(domain, rng)):
        length = center.length(end)
        if not length <= limit * (1 + DIGITS):
            fail(
                domain,
                f"{end} is {length:.9g} from the centre",
                f"at most nu + 2 sqrt(nu) = {limit:.9g}",
            )


def check_margin_and_barrier_agree_on_the_boundary(domain: Domain, rng: Generator) -> None:
    """The margin turns negative where the barrier turns infinite, and both stay so beyond."""
    center = center_of(domain)
    for e in directions(center, rng, 8):
        by_barrier, by_margin = exit_multiple(domain, e), exit_multiple(domain, e, margin_inside)
        off = abs(by_margin / by_barrier - 1)
        if not off <= DIGITS + 100 * center.point_rounding(by_barrier * e):
            fail(
                domain,
                f"along {e} the margin ends at {by_margin:.12g}",
                f"{by_barrier:.12g} as psi",
            )
        for factor in (1.01, 2.0, 7.0):
            for name, inside in (("barrier", finite_inside), ("margin", margin_inside)):
                if inside(domain, factor * by_barrier * e):
                    fail(
                        domain,
                        f"by its {name} {factor} times a boundary point is inside again",
                        "outside",
                    )


def check_gauge_is_one_on_the_boundary(domain: Domain, rng: Generator) -> None:
    """The gauge of a boundary point is 1, and t times that of t times the point; 0 at the centre.

    `exit_multiple` finds the boundary to 1e-11.
    """
    still = domain.gauge(np.zeros(domain.dim))
    if still != 0:
        fail(domain, f"the gauge of the centre is {still:.3g}", "0")
    for end in (*boundary(domain, rng), *corners(domain, rng)):
        for factor in (1.0, 0.1, 30.0):
            gauge = domain.gauge(factor * end)
            if not abs(gauge / factor - 1) <= DIGITS:
                fail(
                    domain,
                    f"{factor:g} times the boundary point {end} has the gauge {gauge:.9g}",
                    f"{factor:g}",
                )


def check_outward_is_an_isometry(domain: Domain, rng: Generator) -> None:
    """The chart keeps lengths, is linear, and `inward` undoes `outward`."""
    for _ in range(4):
        v, w = rng.standard_normal((2, domain.dim))
        image = domain.outward(v)
        if np.shape(image) != domain.point_shape:
            fail(domain, f"outward gives shape {np.shape(image)}", f"{domain.point_shape}")
        stretch = float(np.linalg.norm(image) / np.linalg.norm(v))
        back = float(np.abs(domain.inward(image) - v).max())
        nonlinearity = float(
            np.abs(domain.outward(v - 3 * w) - image + 3 * domain.outward(w)).max()
        )
        # Charts are made by one QR or Helmert matrix: a few ulps in every entry.
        if not abs(stretch - 1) <= 1e-12:
            fail(domain, f"outward stretches {v} by {stretch:.15g}", "1")
        if not back <= 1e-12 * (1 + np.abs(v).max()):
            fail(domain, f"inward(outward(v)) misses v by {back:.3g}", "0")
        if not nonlinearity <= 1e-12 * (1 + np.abs(v).max() + 3 * np.abs(w).max()):
            fail(domain, f"outward misses linearity by {nonlinearity:.3g}", "0")


# --- the sizes ---------------------------------------------------------------------------------


def check_radius_reaches_every_point(domain: Domain, rng: Generator) -> None:
    """No point of the set is farther from the centre than `radius`."""
    for end in (*boundary(domain, rng), *corners(domain, rng)):
        length = float(np.linalg.norm(end))
        if not length <= domain.radius * (1 + DIGITS):
            fail(
                domain,
                f"{end} is {length:.9g} from the centre",
                f"at most radius = {domain.radius:.9g}",
            )


def check_inradius_ball_is_inside(domain: Domain, rng: Generator) -> None:
    """No boundary point is nearer to the centre than `inradius`."""
    for end in (*boundary(domain, rng), *faces(domain, rng)):
        length = float(np.linalg.norm(end))
        if not 0 < domain.inradius <= length * (1 + DIGITS):
            fail(
                domain,
                f"{end} is {length:.9g} from the centre",
                f"at least inradius = {domain.inradius:.9g} > 0",
            )


def check_diameter_fits_between_the_balls(domain: Domain, rng: Generator) -> None:
    """The set contains a ball of `inradius` and lies in one of `radius`: so do its chords."""
    low, high = 2 * domain.inradius, 2 * domain.radius
    if not low * (1 - DIGITS) <= domain.diameter <= high * (1 + DIGITS):
        fail(domain, f"diameter = {domain.diameter:.9g}", f"between {low:.9g} and {high:.9g}")


# --- the value ---------------------------------------------------------------------------------


def check_spec_builds_an_equal_domain(domain: Domain, rng: Generator) -> None:
    """A spec survives JSON, and builds a domain that computes the same numbers, bit for bit.

    A domain made of functions has no spec, and raises `NotSavableError`.
    """
    try:
        spec = domain.spec()
    except NotSavableError:
        return
    twin = loading.domain_from_spec(json.loads(json.dumps(spec)))
    if type(twin) is not type(domain):
        fail(domain, f"its spec builds a {type(twin).__name__}", f"a {type(domain).__name__}")
    for name in ("dim", "nu", "point_shape", "center", "radius", "inradius", "diameter"):
        ours, theirs = getattr(domain, name), getattr(twin, name)
        if not np.array_equal(ours, theirs):
            fail(domain, f"after a spec round trip {name} is {theirs}", f"{ours}")
    for at in interior(domain, rng, walks=1):
        for name, ours, theirs in zip(
            ("psi", "gradient", "Hessian", "margin"),
            *map(_oracles(at.v), (domain, twin)),
            strict=True,
        ):
            if not np.array_equal(ours, theirs):
                fail(domain, f"after a spec round trip {name} at {at.v} is {theirs}", f"{ours}")


def _oracles(v: Array) -> Callable[[Domain], tuple[Any, ...]]:
    return lambda d: (d.barrier(v), d.gradient(v), d.hessian(v), d.margin(d.point(v)))


def check_require_refuses_what_is_no_point(domain: Domain, rng: Generator) -> None:
    """A wrong shape, NaN, infinity and a point outside raise errors with the domain's name."""
    inside = domain.require(domain.center)
    if not np.array_equal(inside, domain.center) or np.shares_memory(inside, domain.center):
        fail(domain, f"require(center) gave {inside}", "a copy of the centre")
    for shape in ((), (*domain.point_shape, 1), tuple(n + 1 for n in domain.point_shape)):
        _refused(domain, np.zeros(shape), ShapeError)
    for poison in (np.nan, np.inf, -np.inf):
        for where in np.ndindex(domain.point_shape):
            point = np.array(domain.center)
            point[where] = poison
            _refused(domain, point, DomainError)
            with np.errstate(invalid="ignore"):  # infinity minus infinity
                if domain.contains(point):
                    fail(domain, f"contains says that {point} is inside", "outside")
    for end in boundary(domain, rng, 2):
        _refused(domain, domain.point(1.01 * end), DomainError)


def _refused(domain: Domain, point: Array, kind: type[DikinError]) -> None:
    try:
        domain.require(point)
    except DikinError as error:
        if not isinstance(error, kind):
            fail(domain, f"{point} is rejected by {error!r}", f"a {kind.__name__}")
        if str(domain) not in str(error):
            fail(domain, f"{point} is rejected by {error!r}", "the domain's name in it")
        return
    fail(domain, f"require accepted {point}", f"a {kind.__name__}")


def check_domain_is_a_value(domain: Domain, rng: Generator) -> None:
    """Nothing about a domain can be changed, and no oracle stores or changes its argument.

    Learners rely on the centre and the sizes: a domain that moved would carry them outside.
    """
    for name in ("dim", "nu", "center", "radius", "inradius", "diameter"):
        try:
            setattr(copy.copy(domain), name, getattr(domain, name))
        except AttributeError:
            continue
        fail(domain, f"{name} can be assigned to", "an AttributeError")
    if domain.center.flags.writeable:
        fail(domain, f"entries of the centre {domain.center} can be assigned to", "read-only")
    first, *others = interior(domain, rng, walks=1)
    v = first.v + others[0].v / 2
    original, before = v.copy(), _oracles(v)(domain)
    _oracles(others[-1].v)(domain)
    for ours, again in zip(before, _oracles(v)(domain), strict=True):
        if not np.array_equal(ours, again):
            fail(domain, f"an oracle gave {again} at {v}", f"{ours} as before")
    if not np.array_equal(v, original):
        fail(domain, f"an oracle changed its argument to {v}", f"{original} as it was")
