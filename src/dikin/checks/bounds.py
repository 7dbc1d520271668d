"""The laws of what a domain says about its set as a whole: how far it reaches, and how evenly.

Regret bounds compare with the worst point of a set. They need the largest value of a linear
function there, of the barrier a little inside, and how far the set is from being symmetric.
"""

from __future__ import annotations

from math import log

import numpy as np

from dikin.checks.failure import fail
from dikin.checks.sample_points import boundary, corners
from dikin.domains.base import Array, Domain
from dikin.domains.dense import DenseGeometry
from dikin.rng import Generator

SLACK = 1e-9
"""Relative slack of an inequality between numbers that are exact except for rounding."""


def check_support_bounds_the_set(domain: Domain, rng: Generator) -> None:
    """No point of the set goes farther along a direction than `support` says.

    Points are where rays leave the set, and the farthest one that Newton's method finds.
    """
    ends = np.array([*boundary(domain, rng), *corners(domain, rng)])
    for direction in _slopes(domain, rng):
        bound = domain.support(direction)
        most = max(float((ends @ direction).max()), _farthest(domain, direction))
        slack = SLACK * domain.radius * float(np.linalg.norm(direction))
        if not most <= bound + slack:
            fail(domain, f"along {direction} a point lies at {most:.9g}", f"at most {bound:.9g}")


def check_exact_support_is_reached(domain: Domain, rng: Generator) -> None:
    """A support that is declared exact is reached by a point of the set: to 1e-6 of the radius."""
    if not domain.exact_support:
        return
    for direction in _slopes(domain, rng):
        bound, most = domain.support(direction), _farthest(domain, direction)
        if not bound <= most + 1e-6 * domain.radius * float(np.linalg.norm(direction)):
            fail(domain, f"along {direction} the support is {bound:.9g}", f"{most:.9g}")


def check_barrier_growth_bounds_the_barrier_of_a_shrunk_set(domain: Domain, rng: Generator) -> None:
    """psi((1 - e) v) - psi(0) <= barrier_growth(e) <= nu ln(1/e), for v in the set and 0 < e <= 1.

    psi is convex, so that points far from the centre show most. v is known to 1e-11.
    """
    least = domain.barrier(np.zeros(domain.dim))
    ends = [*boundary(domain, rng), *corners(domain, rng)]
    for share in (1.0, 0.5, 0.1, 1e-3, 1e-6):
        bound, most = domain.barrier_growth(share), domain.nu * log(1 / share)
        if not bound <= most + SLACK * (1 + most):
            fail(
                domain,
                f"barrier_growth({share:g}) is {bound:.9g}",
                f"at most nu ln(1/e) = {most:.9g}",
            )
        for end in ends:
            rise = domain.barrier((1 - share) * end) - least
            if not rise <= bound + 1e-4 * share + SLACK * (1 + abs(least) + most):
                fail(
                    domain,
                    f"psi rises by {rise:.9g} to {share:g} from {end}",
                    f"at most {bound:.9g}",
                )


def check_symmetry_turns_the_set_into_itself(domain: Domain, rng: Generator) -> None:
    """-s v belongs to the set for every v of it, 0 < s <= 1; v is known to 1e-11."""
    s = domain.symmetry
    if not 0 < s <= 1:
        fail(domain, f"the symmetry is {s:.9g}", "a number in (0, 1]")
    for end in (*boundary(domain, rng), *corners(domain, rng)):
        gauge = domain.gauge(-s * end)
        if not gauge <= 1 + SLACK:
            fail(
                domain,
                f"{-s:.9g} times the boundary point {end} has the gauge {gauge:.9g}",
                "at most 1",
            )


def _slopes(domain: Domain, rng: Generator) -> Array:
    """An axis, and directions in the unit of length of the user and of the set."""
    slopes = rng.standard_normal((3, domain.dim)) * [[1.0], [1.0], [1 / domain.radius]]
    return np.vstack([np.eye(domain.dim)[0], slopes])


def _farthest(domain: Domain, direction: Array) -> float:
    """direction.v at the end of a path towards the farthest point v.

    The minimiser of -direction.v + w psi(v) falls short of the maximum by at most nu w.
    """
    dense = DenseGeometry(domain, domain.radius)
    length = float(np.linalg.norm(direction))
    iterate = dense.start()
    for weight in np.geomspace(1.0, 1e-7 / domain.nu, 16).tolist():
        dense.solve(-direction / length, 0.0, weight, iterate)
    return domain.radius * float(direction @ dense.vector(iterate))
