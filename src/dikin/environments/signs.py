"""Random signs from a round's uniform number, and the two sums of a displacement, for kernels."""

from __future__ import annotations

from dikin.domains.base import Array
from dikin.kernel import compilable, reordered


@compilable
def one_sign(chance: float) -> float:
    """A random sign from a uniform number."""
    return 1.0 if chance >= 0.5 else -1.0


@compilable
def two_signs(chance: float) -> tuple[float, float]:
    """Two independent random signs from one uniform number."""
    quarter = int(4.0 * chance)
    return (1.0 if quarter >= 2 else -1.0), (1.0 if quarter % 2 == 1 else -1.0)


@reordered
def displacement_sums(x: Array, theta: Array, a: Array) -> tuple[float, float]:
    """a.v and |v|^2 for v = x - theta."""
    along = square = 0.0
    for i in range(x.size):
        v = x[i] - theta[i]
        along += a[i] * v
        square += v * v
    return along, square
