"""The best fixed point for a weighted sum of scalar losses: sum_i w_i g(c_i.x, y_i) over a domain.

Newton's method along the central path. Let F be the sum. At the minimiser v of F + w psi the slope
of F is -w grad psi(v), and grad psi(v).(u - v) <= nu for all u of the set: F(v) is within nu w of
the least F. A small w settles it; w falls by tens so that each minimum starts next to the last.
"""

from __future__ import annotations

import numpy as np

from dikin.curvature.losses import ScalarLoss
from dikin.curvature.plane import Plane
from dikin.domains.base import Array, Domain
from dikin.domains.newton import minimise
from dikin.errors import NumericalError

GAP = 1e-11
"""How far, relative to `size`, the sum at the point found may be above the least there is."""


def least_point(
    domain: Domain, contexts: Array, targets: Array, weights: Array, loss: ScalarLoss, size: float
) -> Array:
    """A point of the domain whose sum of losses is within `GAP * size` of the least."""
    rows, middle = Plane(domain).rows(contexts), contexts @ domain.center.ravel()
    shares = weights / size
    v, weight = np.zeros(domain.dim), 1.0
    while weight * domain.nu > GAP:
        weight /= 10

        def gradient(v: Array, w: float = weight) -> Array:
            slopes = shares * loss.slope(middle + rows @ v, targets)
            return domain.gradient(v) + slopes @ rows / w

        def hessian(v: Array, w: float = weight) -> Array:
            bends = shares * loss.bend(middle + rows @ v, targets)
            return domain.hessian(v) + (rows.T * bends) @ rows / w

        v, decrement = minimise(domain.barrier, gradient, hessian, v)
        if not decrement < 0.1:
            raise NumericalError(f"the best fixed point was not found: decrement {decrement:.1e}")
    return _inside(domain, v)


def _inside(domain: Domain, v: Array) -> Array:
    """The point of a chart vector; rounding may have put it a hair outside."""
    point, shrink = domain.point(v), 1e-16
    while domain.margin(point) < 0:
        shrink *= 4
        point = domain.point(v * (1 - shrink))
    return point
