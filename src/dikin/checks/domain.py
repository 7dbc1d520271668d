"""The laws of a domain: its set, its barrier, its sizes. One function, one theorem.

Lengths are in the local norm |h|_v = sqrt(h' Hessian(psi)(v) h), in which every nu-self-concordant
barrier looks alike, so one tolerance serves all sets.
"""

from __future__ import annotations

import copy
import json
from itertools import islice
from math import isfinite, log, sqrt
from typing import Any

import numpy as np

from dikin import loading
from dikin.checks.failure import at_most, require
from dikin.checks.sample_points import (
    EPS,
    center_of,
    directions,
    ends,
    exit_multiple,
    faces,
    finite_inside,
    interior,
    margin_inside,
)
from dikin.domains.base import Array, Domain
from dikin.errors import DikinError, DomainError
from dikin.rng import Generator

DIGITS = 1e-9
"""Relative slack of an inequality between numbers that are exact except for rounding."""


# --- the barrier -------------------------------------------------------------------------------


def check_oracles_give_finite_numbers(domain: Domain, rng: Generator) -> None:
    """Inside, psi is a number, its gradient a vector of length d and its Hessian d x d."""
    d = domain.dim
    for at in interior(domain, rng):
        shapes = {"barrier": (), "gradient": (d,), "Hessian": (d, d)}
        answers: tuple[Any, ...] = (domain.barrier(at.v), domain.gradient(at.v), at.hessian)
        for (name, shape), answer in zip(shapes.items(), answers, strict=True):
            found = np.shape(answer)
            require(found == shape, domain, f"the shape of the {name}", found, shape)
            finite = bool(np.isfinite(answer).all())
            require(finite, domain, f"the {name}", answer, "finite", at=at.v)


def check_center_is_interior_and_stationary(domain: Domain, rng: Generator) -> None:
    """The chart's origin is the analytic centre: inside, with a gradient of zero."""
    origin, at = np.zeros(domain.dim), center_of(domain)
    margin, height = domain.margin(domain.center), domain.barrier(origin)
    require(margin > 0, domain, "the margin of the centre", margin, "above 0")
    require(isfinite(height), domain, "the barrier at the centre", height, "finite")
    slope = at.dual(domain.gradient(origin))
    # Newton's method ends at a decrement below 1e-9 and squares it, unless rounding is larger.
    at_most(domain, "the gradient's norm at the centre", slope, 1e-8 + 100 * at.rounding)


def check_gradient_is_the_derivative_of_the_barrier(domain: Domain, rng: Generator) -> None:
    """Central differences of psi with steps of local norm h are right to h^2/2."""
    h = 1e-3
    for at in interior(domain, rng):
        noise = sqrt(domain.nu) * at.rounding + EPS * abs(domain.barrier(at.v))
        slope = domain.gradient(at.v)
        for e in directions(at, rng, 4):
            rise = (domain.barrier(at.v + h * e) - domain.barrier(at.v - h * e)) / (2 * h)
            off, limit = abs(rise - float(slope @ e)), h**2 / 2 + 20 * noise / h
            at_most(domain, "the error of the slope", off, limit, at=at.v, along=e)


def check_hessian_is_positive_definite(domain: Domain, rng: Generator) -> None:
    """The Hessian is symmetric and, as the set contains no line, positive definite."""
    for at in interior(domain, rng):
        scale = np.linalg.norm(at.root, axis=1)  # the root exists, or says why not
        tilt = float((np.abs(at.hessian - at.hessian.T) / np.outer(scale, scale)).max())
        at_most(domain, "the asymmetry of the Hessian", tilt, DIGITS, at=at.v)


def check_hessian_is_the_derivative_of_the_gradient(domain: Domain, rng: Generator) -> None:
    """Central differences of the gradient with steps of local norm h are right to 2h."""
    h = 1e-4
    for at in interior(domain, rng):
        limit = 2 * h + 20 * at.rounding / h + 100 * at.hessian_rounding
        for e in directions(at, rng, 4):
            change = (domain.gradient(at.v + h * e) - domain.gradient(at.v - h * e)) / (2 * h)
            off = at.dual(change - at.hessian @ e)
            at_most(domain, "the error of the Hessian", off, limit, at=at.v, along=e)


def check_barrier_is_self_concordant(domain: Domain, rng: Generator) -> None:
    """|D3 psi[e,e,e]| <= 2: (e' Hessian(v + te) e)^(-1/2) never changes faster than t."""
    for at in interior(domain, rng):
        for e in directions(at, rng, 4):
            for h in (0.05, 0.5):
                low, high = (1 / sqrt(e @ domain.hessian(at.v + t * e) @ e) for t in (-h, h))
                limit = 2 * (1 + DIGITS) + 100 * (at.rounding + at.hessian_rounding) / h
                at_most(domain, "|D3 psi|", abs(high - low) / h, limit, at=at.v, along=e)


def check_newton_decrement_is_at_most_root_nu(domain: Domain, rng: Generator) -> None:
    """The square g' H^-1 g is at most nu: the second half of the definition of a barrier."""
    for at in interior(domain, rng):
        square = at.dual(domain.gradient(at.v)) ** 2
        limit = domain.nu * (1 + DIGITS + 100 * (at.rounding + at.hessian_rounding))
        at_most(domain, "g' H^-1 g", square, limit, at=at.v)


def check_gradient_sees_at_most_nu(domain: Domain, rng: Generator) -> None:
    """<grad psi(x), y - x> <= nu for every x inside and y in the set."""
    far = list(ends(domain, rng))
    for at in interior(domain, rng):
        slope, limit = domain.gradient(at.v), domain.nu * (1 + DIGITS + 100 * at.rounding)
        ahead = [at.v * exit_multiple(domain, at.v)] if at.v.any() else []  # round sets attain nu
        for y in (*far, *ahead):
            at_most(domain, "<g, y - x>", float(slope @ (y - at.v)), limit, x=at.v, y=y)


# --- the set -----------------------------------------------------------------------------------


def check_dikin_ellipsoid_is_inside(domain: Domain, rng: Generator) -> None:
    """{y : |y - x|_x < 1} belongs to the set, by the barrier's word and by the margin's."""
    for at in interior(domain, rng):
        # It touches the boundary where the set is a half-space: keep clear by what rounding moves.
        length = max(0.5, 1 - 1e-6 - 10 * (at.rounding + at.hessian_rounding))
        for e in directions(at, rng, 8):
            for y in (at.v + length * e, at.v - length * e):
                require(finite_inside(domain, y), domain, "the barrier", "infinite", "finite", at=y)
                margin = domain.margin(domain.point(y))
                require(margin >= 0, domain, "the margin", margin, "at least 0", at=y)


def check_margin_and_barrier_agree_on_the_boundary(domain: Domain, rng: Generator) -> None:
    """The margin turns negative where the barrier turns infinite, and both stay so beyond."""
    center = center_of(domain)
    for e in directions(center, rng, 8):
        by_barrier, by_margin = exit_multiple(domain, e), exit_multiple(domain, e, margin_inside)
        off = abs(by_margin / by_barrier - 1)
        limit = DIGITS + 100 * center.point_rounding(by_barrier * e)
        at_most(domain, "the gap between margin and barrier", off, limit, along=e)
        for end in (1.01 * by_barrier * e, 2.0 * by_barrier * e, 7.0 * by_barrier * e):
            for name, inside in (("barrier", finite_inside), ("margin", margin_inside)):
                require(not inside(domain, end), domain, f"by its {name} {end}", "in", "outside")


def check_gauge_is_one_on_the_boundary(domain: Domain, rng: Generator) -> None:
    """The gauge of t times a boundary point is t, and that of the centre 0."""
    still = domain.gauge(np.zeros(domain.dim))
    require(still == 0, domain, "the gauge of the centre", still, 0)
    for end in ends(domain, rng):
        for factor in (1.0, 0.1, 30.0):
            off = abs(domain.gauge(factor * end) / factor - 1)
            at_most(domain, "the error of the gauge", off, DIGITS, at=factor * end)


def check_outward_is_an_isometry(domain: Domain, rng: Generator) -> None:
    """The chart keeps lengths, is linear, and `inward` undoes `outward`."""
    for _ in range(4):
        v, w = rng.standard_normal((2, domain.dim))
        image, size = domain.outward(v), float(np.abs(v).max() + 3 * np.abs(w).max())
        found = np.shape(image)
        require(found == domain.point_shape, domain, "outward's shape", found, domain.point_shape)
        stretch = float(np.linalg.norm(image) / np.linalg.norm(v))
        back = float(np.abs(domain.inward(image) - v).max())
        bent = float(np.abs(domain.outward(v - 3 * w) - image + 3 * domain.outward(w)).max())
        # Charts are made by one QR or Helmert matrix: a few ulps in every entry.
        at_most(domain, "the stretch by outward", abs(stretch - 1), 1e-12, of=v)
        at_most(domain, "inward(outward(v)) - v", back, 1e-12 * (1 + size), v=v)
        at_most(domain, "the nonlinearity of outward", bent, 1e-12 * (1 + size))


# --- the sizes ---------------------------------------------------------------------------------


def check_radius_reaches_every_point(domain: Domain, rng: Generator) -> None:
    """No point of the set is farther from the centre than `radius`."""
    for end in ends(domain, rng):
        length = float(np.linalg.norm(end))
        at_most(domain, "the distance from the centre", length, domain.radius * (1 + DIGITS))


def check_inradius_ball_is_inside(domain: Domain, rng: Generator) -> None:
    """No boundary point is nearer to the centre than `inradius`."""
    inradius = domain.inradius
    require(inradius > 0, domain, "the inradius", inradius, "above 0")
    for end in (*ends(domain, rng), *faces(domain, rng)):
        length = float(np.linalg.norm(end))
        at_most(domain, "the inradius", inradius, length * (1 + DIGITS), boundary=end)


def check_diameter_fits_between_the_balls(domain: Domain, rng: Generator) -> None:
    """The set contains a ball of `inradius` and lies in one of `radius`: so do its chords."""
    at_most(domain, "the diameter", domain.diameter, 2 * domain.radius * (1 + DIGITS))
    at_most(domain, "twice the inradius", 2 * domain.inradius * (1 - DIGITS), domain.diameter)


# --- the set as a whole: what regret bounds compare with --------------------------------------


def check_barrier_growth_bounds_the_barrier_of_a_shrunk_set(domain: Domain, rng: Generator) -> None:
    """psi((1 - e) v) - psi(0) <= barrier_growth(e) <= nu ln(1/e), for v in the set, 0 < e <= 1."""
    least, points = domain.barrier(np.zeros(domain.dim)), list(ends(domain, rng))
    for share in (1.0, 0.5, 0.1, 1e-3, 1e-6):
        bound, most = domain.barrier_growth(share), domain.nu * log(1 / share)
        at_most(domain, f"barrier_growth({share:g})", bound, most + DIGITS * (1 + most))
        limit = bound + 1e-4 * share + DIGITS * (1 + abs(least) + most)
        for end in points:
            rise = domain.barrier((1 - share) * end) - least
            at_most(domain, f"the rise of psi to {share:g} from the end", rise, limit, end=end)


def check_symmetry_turns_the_set_into_itself(domain: Domain, rng: Generator) -> None:
    """-s v belongs to the set for every v of it, 0 < s <= 1. V is known to 1e-11."""
    s = domain.symmetry
    require(0 < s <= 1, domain, "the symmetry", s, "a number in (0, 1]")
    for end in ends(domain, rng):
        at_most(domain, "the gauge of -s v", domain.gauge(-s * end), 1 + DIGITS, s=s, v=end)


# --- the value ---------------------------------------------------------------------------------


def check_spec_builds_an_equal_domain(domain: Domain, rng: Generator) -> None:
    """A spec survives JSON, and builds a domain that computes the same numbers, bit for bit."""
    twin = loading.domain_from_spec(json.loads(json.dumps(domain.spec())))
    require(type(twin) is type(domain), domain, "the class by its spec", type(twin), type(domain))
    for name in ("dim", "nu", "point_shape", "center", "radius", "inradius", "diameter"):
        ours, theirs = getattr(domain, name), getattr(twin, name)
        require(np.array_equal(ours, theirs), domain, f"by its spec {name}", theirs, ours)
    for at in interior(domain, rng, walks=1):
        for ours, theirs in zip(_oracles(domain, at.v), _oracles(twin, at.v), strict=True):
            same = np.array_equal(ours, theirs)
            require(same, domain, "by its spec an oracle", theirs, ours, at=at.v)


def _oracles(domain: Domain, v: Array) -> tuple[Any, ...]:
    """Return the values of all oracles at a chart vector."""
    margin = domain.margin(domain.point(v))
    return domain.barrier(v), domain.gradient(v), domain.hessian(v), margin


def check_require_refuses_what_is_no_point(domain: Domain, rng: Generator) -> None:
    """A wrong shape, NaN, infinity and a point outside raise errors with the domain's name."""
    inside = domain.require(domain.center)
    same = np.array_equal(inside, domain.center)
    copied = same and not np.shares_memory(inside, domain.center)
    require(copied, domain, "require(center)", inside, "a copy of the centre")
    for shape in ((), (*domain.point_shape, 1), tuple(n + 1 for n in domain.point_shape)):
        _refused(domain, np.zeros(shape), "shape")
    for poison in (np.nan, np.inf, -np.inf):
        for where in np.ndindex(domain.point_shape):
            point = np.array(domain.center)
            point[where] = poison
            _refused(domain, point)
            with np.errstate(invalid="ignore"):  # infinity minus infinity
                require(not domain.contains(point), domain, f"{point}", "inside", "outside")
    for end in islice(ends(domain, rng, 2), 2):
        _refused(domain, domain.point(1.01 * end))


def _refused(domain: Domain, point: Array, word: str = "") -> None:
    found: DikinError | None = None
    try:
        domain.require(point)
    except DikinError as error:
        found = error
    named = isinstance(found, DomainError) and str(domain) in str(found) and word in str(found)
    wanted = f"a DomainError with the domain's name {word and 'and the shape'}"
    require(named, domain, f"the answer to {point}", repr(found), wanted)


def check_domain_is_a_value(domain: Domain, rng: Generator) -> None:
    """Nothing about a domain can be changed, and no oracle stores or changes its argument."""
    for name in ("dim", "nu", "center", "radius", "inradius", "diameter"):
        try:
            setattr(copy.copy(domain), name, getattr(domain, name))
        except AttributeError:
            continue
        require(False, domain, name, "assigned to", "an AttributeError")
    require(not domain.center.flags.writeable, domain, "the centre", "writeable", "read-only")
    first, *others = interior(domain, rng, walks=1)
    v = first.v + others[0].v / 2
    original, before = v.copy(), _oracles(domain, v)
    _oracles(domain, others[-1].v)
    for ours, again in zip(before, _oracles(domain, v), strict=True):
        require(np.array_equal(ours, again), domain, "an oracle", again, f"{ours} as before", at=v)
    require(np.array_equal(v, original), domain, "an oracle's argument", v, original)
