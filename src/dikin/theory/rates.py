"""The two tables: the rates that the theorems give under particular curvature patterns.

With k = 2 for smooth losses and 3 for Lipschitz ones, T rounds without curvature cost T^(k/(k+1))
and as many of constant curvature T^((k-1)/k), logarithms and constants dropped and nu = O(d) as in
the paper. For smooth losses the price of the barrier, d^(3/2) T^(1/2), is added.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dikin.errors import ParameterError

SMOOTH, LIPSCHITZ = 2, 3  # k

STATEMENTS = {
    SMOOTH: (
        "cor: only-smooth",
        "cor: strongly-convex-smooth",
        "cor: worst-best-case",
        "cor: intermediate-case",
    ),
    LIPSCHITZ: (
        "cor: only-Lipschitz",
        "cor: only-Lipschitz-strongly-cvx",
        "cor: only-lipschitz-worst-best-case",
        "cor: only-lipschitz-intermediate-case",
    ),
}
"""The corollaries' labels in the paper's source: no curvature, constant, some flat, decaying."""


@dataclass(frozen=True)
class Rate:
    """One row of a table: regret O~(d^dim_exponent T^horizon_exponent) under a pattern."""

    pattern: str
    horizon_exponent: float
    dim_exponent: float
    statement: str  # one of STATEMENTS


def decaying_exponent(order: int, alpha: float) -> float:
    """Return the exponent of T in Corollaries 11 and 16. Its kink is at alpha = 1/(k+1)."""
    if not 0 <= alpha <= 1:
        raise ParameterError(f"alpha is {alpha}; wanted a number in [0, 1].")
    return min((order - 1 + alpha) / order, order / (order + 1))


def target(order: int, dim: int, constant: float) -> float:
    """Return d^2 (constant + 1)^(k-1): as lambda_0 it keeps every lambda_t below 1."""
    return float(dim**2 * (constant + 1.0) ** (order - 1))


def uncurved(first: float, target: float, rounds: int, order: int) -> float:
    """Return about S_T without curvature, from T alone: it solves dS/dt = (target/S)^(1/k)."""
    power = 1 + 1 / order
    return float((first**power + power * target ** (1 / order) * rounds) ** (1 / power))


def table(order: int, alphas: Iterable[float]) -> tuple[Rate, ...]:
    """Return Table 1 (tab: res_smooth) or 2 (tab: res_lipschitz), with a row for each t^-alpha."""
    zero, constant, some_flat, decay = STATEMENTS[order]
    square = order**2
    flat_dim = 2 / (order + 1)
    curved_dim = 3 / 2 if order == SMOOTH else 2 / order  # the barrier's exceeds 2/2
    curved_horizon = (order - 1) / order
    return (
        Rate("zero", order / (order + 1), flat_dim, zero),
        Rate("constant", curved_horizon, curved_dim, constant),
        Rate(f"first T^({square - 1}/{square}) flat", curved_horizon, curved_dim, some_flat),
        Rate("second half flat", curved_horizon, curved_dim, some_flat),
        *(
            Rate(
                f"decaying t^-{alpha:.3g}",
                decaying_exponent(order, alpha),
                curved_dim if alpha < 1 / (order + 1) else flat_dim,
                decay,
            )
            for alpha in alphas
        ),
    )
