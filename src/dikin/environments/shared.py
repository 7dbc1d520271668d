"""What several environments are made of: random signs, sums over a point, a linear minimum."""

from __future__ import annotations

import numpy as np

from dikin.domains.base import Array, Domain
from dikin.kernel import compiled, reordered

GAP = 1e-11
"""How far, relative to the largest value, the least of a linear function may be from the true."""


@compiled
def one_sign(chance: float) -> float:
    """A random sign from a uniform number."""
    return 1.0 if chance >= 0.5 else -1.0


@compiled
def two_signs(chance: float) -> tuple[float, float]:
    """Two independent random signs from one uniform number."""
    quarter = int(4.0 * chance)
    return (1.0 if quarter >= 2 else -1.0), (1.0 if quarter % 2 == 1 else -1.0)


@reordered
def ridge_sums(x: Array, theta: Array, a: Array) -> tuple[float, float]:
    """a.v and |v|^2 for v = x - theta."""
    along = square = 0.0
    for i in range(x.size):
        v = x[i] - theta[i]
        along += a[i] * v
        square += v * v
    return along, square


def least_linear(domain: Domain, slope: Array) -> Array:
    """The displacement v from the centre with the least slope.v, flattened, from the central path.

    The minimiser of g.u + w psi(u) is within nu w of the least g.u, so a small w settles it; w
    falls by tens so that each solve starts next to its answer.
    """
    length = float(np.linalg.norm(slope))
    if length == 0.0:
        return np.zeros(domain.center.size)
    geometry = domain.geometry(domain.radius)
    pull = geometry.inward((slope / length).reshape(domain.point_shape))
    iterate, weight = geometry.start(), 1.0
    while weight * domain.nu > GAP:
        weight /= 10
        geometry.solve(pull, 0.0, weight, iterate)
    return domain.radius * geometry.outward(geometry.vector(iterate))
