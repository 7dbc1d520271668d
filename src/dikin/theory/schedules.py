"""lambda_t of both algorithms, by the equations that Lemmas 6 and 22 of the paper are about.

Both settings are one formula. With S_t = sigma_{1:t} + lambda_{0:t}, the curvature after round t,

    lambda_t = (target / S_t)^(1/k),  that is  lambda_t^k S_t = target

where k = 2 and target = d^2 (beta + 1) for smooth losses, k = 3 and target = d^2 (L + 1)^2 for
Lipschitz ones. The lemmas (lemma:H-function-main, lemma:H-function-lip-app) say that sum_t lambda_t
+ sum_t (target / S_t)^(1/k) is at most twice its minimum over all sequences.
"""

from __future__ import annotations

from dikin.kernel import compilable

SMOOTH, LIPSCHITZ = 2, 3  # k


def target(order: int, dim: int, constant: float) -> float:
    """Return d^2 (constant + 1)^(k-1): as lambda_0 it keeps every lambda_t below 1."""
    found: float = dim**2 * (constant + 1.0) ** (order - 1)
    return found


def uncurved(first: float, target: float, rounds: int, order: int) -> float:
    """Return about S_T where no round is strongly convex, from T alone; `first` is lambda_0.

    lambda_t = (target/S_t)^(1/k) is a step of dS/dt = (target/S)^(1/k), of which this is the
    solution.
    """
    power = 1 + 1 / order
    total: float = (first**power + power * target ** (1 / order) * rounds) ** (1 / power)
    return total


STEPS = 60
"""Three are enough. With numbers that are none, which only an altered state has, none would be."""


@compilable
def regularisation(total: float, target: float, order: int) -> float:
    """Return the root lambda > 0 of lambda^k (total + lambda) = target, the paper's lambda_t.

    The equations are eqn:oracle-tuning-strongly-main and eqn:oracle-tuning-Lipschitz-main. Both
    (target/total)^(1/k) and target^(1/(k+1)) are at or above the root (put them in), and
    total >= target puts the first at or below 1. The smaller one is close, and Halley's method
    cubes the error: a step that moves by less than 1e-6 is the last.
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
