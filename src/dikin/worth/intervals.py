"""The boundary that a martingale stays within at all times, with a stated probability.

If exp(a S_t - a^2 W_t/2) is a supermartingale for every a, then, by Ville's
inequality for its mean over a ~ N(0, scale), with probability 1 - alpha at all times

    S_t^2  <=  (W_t + 1/scale) ln((W_t scale + 1)/alpha^2).

Proof: docs/mathematics.md, 14.2.
"""

from __future__ import annotations

from functools import lru_cache
from math import log, sqrt


def best_scale(spread: float, alpha: float) -> float:
    """The scale of a normal mixture that makes its boundary lowest at a given spread W.

    `alpha` is the probability to leave it at some time.
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
    """The factor k with |S| <= sqrt(k W) at all times, but for a probability of alpha.

    `spread` is the variance W of the sum so far, above zero; `scale` the variance of the mixture.
    """
    grown = spread * scale
    return (1.0 + 1.0 / grown) * log((grown + 1.0) / alpha**2)


def half_width(spread: float, scale: float, alpha: float) -> float:
    """Half of the interval of a sum by the normal mixture."""
    return sqrt(normal_mixture(spread, scale, alpha) * spread)
