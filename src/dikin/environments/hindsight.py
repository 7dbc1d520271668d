"""The best fixed point in hindsight, for a linear sum of losses and for a sum of scalar losses.

Both follow the central path. Let F be the sum. At the minimiser v of F + w psi the slope of F is
-w grad psi(v), and grad psi(v).(u - v) <= nu for all u of the set: F(v) is within nu w of the least
F. A small w settles it; w falls by tens so that each minimum starts next to the last.
"""

from __future__ import annotations

import numpy as np

from dikin.curvature.losses import ScalarLoss
from dikin.curvature.projection import Projection
from dikin.domains.base import Array, Domain
from dikin.domains.newton import minimise
from dikin.errors import NumericalError

GAP = 1e-11
"""How far, relative to its size, the sum at the returned point may be above the minimum."""


def linear_minimiser(domain: Domain, slope: Array) -> Array:
    """The displacement v from the centre with the least slope.v, flattened."""
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


def sum_minimiser(
    domain: Domain, contexts: Array, targets: Array, weights: Array, loss: ScalarLoss, size: float
) -> Array:
    """A point with sum_i weights_i loss(contexts_i.x, targets_i) within `GAP * size` of the least.

    Newton's method for any barrier.
    """
    rows, middle = Projection(domain).apply(contexts), contexts @ domain.center.ravel()
    shares = weights / size
    v, weight = np.zeros(domain.dim), 1.0
    while weight * domain.nu > GAP:
        weight /= 10

        def gradient(v: Array, w: float = weight) -> Array:
            slopes = shares * loss.derivative(middle + rows @ v, targets)
            return domain.gradient(v) + slopes @ rows / w

        def hessian(v: Array, w: float = weight) -> Array:
            curvatures = shares * loss.second_derivative(middle + rows @ v, targets)
            return domain.hessian(v) + (rows.T * curvatures) @ rows / w

        v, decrement = minimise(domain.barrier, gradient, hessian, v)
        if not decrement < 0.1:
            raise NumericalError(f"the best fixed point was not found: decrement {decrement:.1e}")
    return _inside(domain, v)


def _inside(domain: Domain, v: Array) -> Array:
    """The point of a chart vector; rounding may have put it slightly outside."""
    point, shrink = domain.point(v), 1e-16
    while domain.margin(point) < 0:
        shrink *= 4
        point = domain.point(v * (1 - shrink))
    return point
