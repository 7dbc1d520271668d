"""Boundaries that a martingale stays within at all times, with a stated probability.

`normal_mixture`: if exp(a S_t - a^2 W_t/2) is a supermartingale for every a, then, by Ville's
inequality for its mean over a ~ N(0, scale), with probability 1 - alpha at all times

    S_t^2  <=  (W_t + 1/scale) ln((W_t scale + 1)/alpha^2).

`empirical_bernstein`: if S_t is a sum of x_s - E[x_s | past] with x_s >= -reach, and V_t is the sum
of the x_s^2, then exp(a S_t - psi(a) V_t) is a supermartingale for 0 <= a < 1/reach, where
psi(a) = (-ln(1 - a reach) - a reach)/reach^2, whatever the x_s are. Its mean over a fixed grid of a
gives a boundary of one side that is exact at every round. Proofs: docs/mathematics.md, 14.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, log, log1p, sqrt

GRID = 40
"""Numbers of the grid; each is smaller than the one before by the root of two."""


def best_scale(spread: float, alpha: float) -> float:
    """The scale of a normal mixture that makes its boundary lowest at a given spread.

    Parameters
    ----------
    spread : float
        The variance W for which it is to be narrow.
    alpha : float
        The probability to leave it at some time.

    Returns
    -------
    float
        The best one.
    """
    return _best_product(alpha) / spread


@lru_cache(256)
def _best_product(alpha: float) -> float:
    """Where the derivative of (1 + 1/x) ln((x + 1)/alpha^2) is zero: x = ln((x + 1)/alpha^2)."""
    x = 1.0
    for _ in range(60):  # a contraction: the derivative 1/(x + 1) is below a half from x = 1 on
        x = log((x + 1.0) / alpha**2)
    return x


def normal_mixture(spread: float, scale: float, alpha: float) -> float:
    """How far a sum may be from its mean at any time: the square of it, over the spread.

    Parameters
    ----------
    spread : float
        The variance W of the sum so far, above zero.
    scale : float
        The variance of the mixture.
    alpha : float
        The probability to be farther away at some time.

    Returns
    -------
    float
        The factor k: |S| <= sqrt(k W) at all times.
    """
    grown = spread * scale
    return (1.0 + 1.0 / grown) * log((grown + 1.0) / alpha**2)


def empirical_bernstein(squares: float, reach: float, largest: float, alpha: float) -> float:
    """How far a sum of terms of at least -reach may rise above its mean at any time.

    Parameters
    ----------
    squares : float
        The sum V of the squares of the terms.
    reach : float
        No term so far was below -reach; it may grow.
    largest : float
        What the reach can become at most; the grid is made for it.
    alpha : float
        The probability to rise higher at some time.

    Returns
    -------
    float
        The root s of mean exp(a s - psi(a) V) = 1/alpha.
    """
    lines = []
    for place in range(GRID):
        a = 2.0 ** (1.0 - place / 2.0) / largest
        if a * reach < 1.0:
            psi = (-log1p(-a * reach) - a * reach) / reach**2
            weight = 1.0 / ((place + 1.0) * (place + 2.0))
            lines.append((a, log(alpha * weight) - psi * squares))
    return _root(lines)


def _root(lines: list[tuple[float, float]]) -> float:
    """Where the sum of exp(slope s + offset) is 1: Newton's method on its convex logarithm."""
    s = min((-offset / slope for slope, offset in lines), default=inf)
    for _ in range(50):
        terms = [exp(slope * s + offset) for slope, offset in lines]
        total = sum(terms)
        rise = sum(slope * term for (slope, _), term in zip(lines, terms, strict=True)) / total
        step = log(total) / rise
        s -= step
        if not abs(step) > 1e-12 * abs(s):
            break
    return s


def half_width(spread: float, scale: float, alpha: float) -> float:
    """Half of the interval of a sum by the normal mixture.

    Parameters
    ----------
    spread, scale, alpha : float
        As for `normal_mixture`.

    Returns
    -------
    float
        How far the sum may be from its mean at any time.
    """
    return sqrt(normal_mixture(spread, scale, alpha) * spread)
