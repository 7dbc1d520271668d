"""The one scalar equation of sets that are round in some direction.

For psi(r) = -ln(1 - r^2) on [0, 1) the FTRL update asks for the root of

    S r + 2 w r/(1 - r^2) = g,        g, S >= 0, w > 0.

Near the boundary r = 1 - gap has no digits left for the gap, and everything (Hessian, slack) is a
function of the gap. So solve for it: with 2r/(1-r^2) = 1/gap - 1/(2-gap) the equation becomes

    F(gap) = w - gap (g - S + S gap + w/(2 - gap)) = 0,     F(0) = w > 0,  F(1) = -g <= 0,

and F is concave. Newton's method from a point right of the root therefore falls monotonically onto
it. Replacing the convex w/(2-gap) by its tangent at 2/3, w (3/8 + 9/16 gap), gives a quadratic
whose root is such a point, and a close one. Each step squares the error, so one that moves the gap
by less than 1e-8 of itself is the last: two or three reach full precision.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from dikin.domains.base import Array


def boundary_gap(pull: float, quadratic: float, weight: float) -> float:
    """The gap 1 - r in (0, 1] of the root; plain arithmetic, so it can be compiled as it stands."""
    excess = pull - quadratic
    slope = excess + 0.375 * weight
    square = quadratic + 0.5625 * weight
    root = sqrt(slope * slope + 4.0 * square * weight)
    # The two forms of the quadratic's root: each subtracts nothing on its side.
    gap = 2.0 * weight / (slope + root) if slope >= 0.0 else (root - slope) / (2.0 * square)
    if gap > 1.0:
        gap = 1.0
    while True:
        far = 2.0 - gap
        value = weight - gap * (excess + quadratic * gap + weight / far)
        fall = excess + 2.0 * quadratic * gap + 2.0 * weight / (far * far)
        lower = gap + value / fall
        if not lower < gap * (1.0 - 1e-8):
            return lower
        gap = lower


def boundary_gaps(pull: Array, quadratic: Array, weight: float) -> Array:
    """`boundary_gap` for many coordinates at once."""
    excess = pull - quadratic
    slope = excess + 0.375 * weight
    square = quadratic + 0.5625 * weight
    root = np.sqrt(slope * slope + 4.0 * square * weight)
    with np.errstate(divide="ignore"):
        gap = np.where(slope >= 0, 2.0 * weight / (slope + root), (root - slope) / (2.0 * square))
    gap = np.minimum(gap, 1.0)
    while True:
        far = 2.0 - gap
        value = weight - gap * (excess + quadratic * gap + weight / far)
        fall = excess + 2.0 * quadratic * gap + 2.0 * weight / (far * far)
        lower = gap + value / fall
        if not (lower < gap * (1.0 - 1e-8)).any():
            return lower
        gap = lower
