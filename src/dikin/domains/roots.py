"""The one scalar equation of sets that are round in some direction.

For psi(r) = -ln(1 - r^2) on [0, 1) the FTRL update asks for the root of

    S r + 2 w r/(1 - r^2) = g,        g, S >= 0, w > 0.

Near the boundary r = 1 - gap leaves the gap without digits, and everything (Hessian, slack) is a
function of the gap. So solve for it: with 2r/(1-r^2) = 1/gap - 1/(2-gap) the equation becomes

    F(gap) = w - gap (g - S + S gap + w/(2 - gap)) = 0,     F(0) = w > 0,  F(1) = -g <= 0,

and F is concave. Newton's method from a point right of the root therefore falls monotonically onto
it. Replacing the convex w/(2-gap) by its tangent at 2/3, w (3/8 + 9/16 gap), gives a quadratic
whose root is such a point, and so close a one that four steps always reach full precision, for
every g, S and w.
"""

from __future__ import annotations

import numpy as np

from dikin.kernel import choose, compilable


@compilable
def cold_start_gap(linear: float, quadratic: float, weight: float) -> float:
    """Return the gap of the root without a known one nearby, for a number or for each entry."""
    excess = linear - quadratic
    slope = excess + 0.375 * weight
    square = quadratic + 0.5625 * weight
    root = np.sqrt(slope * slope + 4.0 * square * weight)
    # The root of the quadratic in two forms: each is free of subtractions on its side.
    total = abs(slope) + root
    gap = choose(slope >= 0.0, 2.0 * weight / total, total / (2.0 * square))
    gap = choose(gap < 1.0, gap, 1.0)
    for _ in range(4):
        # Newton's step for F, numerator and denominator times (2 - gap)^2 to spare divisions.
        far = 2.0 - gap
        value = far * (weight - gap * (excess + quadratic * gap)) - gap * weight
        fall = far * far * (excess + 2.0 * quadratic * gap) + 2.0 * weight
        gap = gap + far * value / fall
    return gap
