"""The laws of what a domain says about its set as a whole: how far it reaches, and how evenly.

Regret bounds compare with the worst point of a set. They need the largest value of a linear
function there, of the barrier a little inside, and how far the set is from being symmetric.
"""

from __future__ import annotations

from math import log

import numpy as np

from dikin.checks.failure import at_most, require
from dikin.checks.sample_points import ends
from dikin.domains.base import Array, Domain
from dikin.domains.dense import DenseGeometry
from dikin.rng import Generator

SLACK = 1e-9
"""Relative slack of an inequality between numbers that are exact except for rounding."""


def check_support_bounds_the_set(domain: Domain, rng: Generator) -> None:
    """No point of the set goes farther along a direction than `support` says.

    Points are where rays leave the set, and the farthest one that Newton's method finds. A support
    that is declared exact is reached: to 1e-6 of the radius.
    """
    points = np.array(list(ends(domain, rng)))
    slopes = rng.standard_normal((3, domain.dim)) * [[1.0], [1.0], [1 / domain.radius]]
    for c in (np.eye(domain.dim)[0], *slopes):
        bound, size = domain.support(c), domain.radius * float(np.linalg.norm(c))
        most = max(float((points @ c).max()), _farthest(domain, c))
        at_most(domain, "the farthest point", most, bound + SLACK * size, along=c)
        if domain.exact_support:
            at_most(domain, "the exact support", bound, most + 1e-6 * size, along=c)


def check_barrier_growth_bounds_the_barrier_of_a_shrunk_set(domain: Domain, rng: Generator) -> None:
    """psi((1 - e) v) - psi(0) <= barrier_growth(e) <= nu ln(1/e), for v in the set and 0 < e <= 1.

    psi is convex, so that points far from the centre show most. v is known to 1e-11.
    """
    least, points = domain.barrier(np.zeros(domain.dim)), list(ends(domain, rng))
    for share in (1.0, 0.5, 0.1, 1e-3, 1e-6):
        bound, most = domain.barrier_growth(share), domain.nu * log(1 / share)
        at_most(domain, f"barrier_growth({share:g})", bound, most + SLACK * (1 + most))
        limit = bound + 1e-4 * share + SLACK * (1 + abs(least) + most)
        for end in points:
            rise = domain.barrier((1 - share) * end) - least
            at_most(domain, f"the rise of psi to {share:g} from the end", rise, limit, end=end)


def check_symmetry_turns_the_set_into_itself(domain: Domain, rng: Generator) -> None:
    """-s v belongs to the set for every v of it, 0 < s <= 1; v is known to 1e-11."""
    s = domain.symmetry
    require(0 < s <= 1, domain, "the symmetry", s, "a number in (0, 1]")
    for end in ends(domain, rng):
        at_most(domain, "the gauge of -s v", domain.gauge(-s * end), 1 + SLACK, s=s, v=end)


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
