"""lambda_t of both algorithms: lambda_t^k S_t = target, with S_t = sigma_{1:t} + lambda_{0:t}.

k = 2 and target = d^2 (beta + 1) for smooth losses, k = 3 and target = d^2 (L + 1)^2 for Lipschitz
ones: the equations that Lemmas 6 and 22 of the paper are about.
"""

from __future__ import annotations

from dikin.kernel import compilable

SMOOTH, LIPSCHITZ = 2, 3  # k


def target(order: int, dim: int, constant: float) -> float:
    """Return d^2 (constant + 1)^(k-1): as lambda_0 it keeps every lambda_t below 1."""
    found: float = dim**2 * (constant + 1.0) ** (order - 1)
    return found


def uncurved(first: float, target: float, rounds: int, order: int) -> float:
    """Return about S_T without curvature, from T alone: it solves dS/dt = (target/S)^(1/k)."""
    power = 1 + 1 / order
    total: float = (first**power + power * target ** (1 / order) * rounds) ** (1 / power)
    return total


STEPS = 60
"""Three are enough. With numbers that are none, which only an altered state has, none would be."""


@compilable
def regularisation(total: float, target: float, order: int) -> float:
    """Return the root lambda > 0 of lambda^k (total + lambda) = target, the paper's lambda_t.

    (target/total)^(1/k) and target^(1/(k+1)) are at or above it. The smaller one is close, and
    Halley's method cubes the error: a step that moves by less than 1e-6 is the last.
    """
    k = float(order)
    root: float = (target / total) ** (1.0 / k)
    if root > total:  # exactly when target^(1/(k+1)) is the smaller of the two
        root = target ** (1.0 / (k + 1.0))
    for _ in range(STEPS):
        power = root if order == SMOOTH else root * root  # root^(k-1)
        value = power * root * (total + root) - target
        slope = power * (k * total + (k + 1.0) * root)
        bend = 0.5 * k * power / root * ((k - 1.0) * total + (k + 1.0) * root)
        fall = value * slope / (slope * slope - value * bend)
        root -= fall
        if abs(fall) < 1e-6 * root:
            break
    return root
