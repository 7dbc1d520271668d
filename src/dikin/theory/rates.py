"""The corollaries and the two tables: what the theorems say of particular curvature patterns.

Each corollary is its expression inside O~, logarithms and constants dropped, with nu = O(d) as in
the paper. Behind all of them stand two prices, with k and target as in `tuning`:

    n rounds without curvature        (target n^k)^(1/(k+1))
    n rounds of curvature sigma each  (target/sigma)^(1/k) n^((k-1)/k)

For smooth losses d sqrt(nu T), the price of the barrier, is added. The Lipschitz corollaries leave
out the d^(4/3) nu T^(1/3) of their theorem, as the paper does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dikin.errors import ParameterError
from dikin.theory.tuning import LIPSCHITZ, SMOOTH, Setting

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


# --- the corollaries ---------------------------------------------------------------------------


def flat(setting: Setting, horizon: float) -> float:
    """Corollaries 8 (cor: only-smooth) and 13 (cor: only-Lipschitz): sigma_t = 0.

    Parameters
    ----------
    setting : Setting
        The setting.
    horizon : float
        The number of rounds T.

    Returns
    -------
    float
        The expression inside O~.
    """
    return _barrier(setting, horizon) + _flat(setting, horizon)


def curved(setting: Setting, horizon: float, sigma: float) -> float:
    """Corollaries 9 (cor: strongly-convex-smooth), 14 (cor: only-Lipschitz-strongly-cvx).

    The curvature of all rounds is sigma_t = sigma.

    Parameters
    ----------
    setting, horizon
        As for `flat`.
    sigma : float
        The strong convexity of the curved rounds; positive.

    Returns
    -------
    float
        The expression inside O~.

    Raises
    ------
    ParameterError
        If `sigma` is not positive.
    """
    return _barrier(setting, horizon) + _curved(setting, horizon, sigma)


def flat_first(setting: Setting, horizon: float, sigma: float, rounds: float) -> float:
    """Corollaries 10 (cor: worst-best-case), 15 (cor: only-lipschitz-worst-best-case), first bound.

    Some rounds have no curvature. They may come at any time; first is the worst.

    Parameters
    ----------
    setting, horizon, sigma
        As for `curved`.
    rounds : float
        How many of the rounds have no curvature.

    Returns
    -------
    float
        The expression inside O~.

    Raises
    ------
    ParameterError
        If `sigma` is not positive, or `rounds` not between 0 and the horizon.
    """
    _check_rounds(rounds, horizon)
    mixed = _flat(setting, rounds) + _curved(setting, horizon - rounds, sigma)
    return _barrier(setting, horizon) + mixed


def flat_last(setting: Setting, horizon: float, sigma: float, rounds: float) -> float:
    """Corollaries 10 (cor: worst-best-case), 15 (cor: only-lipschitz-worst-best-case), the second.

    The last rounds have no curvature.

    Parameters
    ----------
    setting, horizon, sigma, rounds
        As for `flat_first`.

    Returns
    -------
    float
        The expression inside O~.

    Raises
    ------
    ParameterError
        If `sigma` is not positive, or not one round is curved.
    """
    _check_rounds(rounds, horizon)
    early = horizon - rounds
    if not early > 0:
        raise ParameterError(
            f"rounds is {rounds} of {horizon} rounds; wanted at least one curved one."
        )
    # Every round at the price of a curved one: what the first rounds gathered lasts to the end.
    return _barrier(setting, horizon) + horizon / early * _curved(setting, early, sigma)


def decaying(setting: Setting, horizon: float, alpha: float) -> float:
    """Corollaries 11 (cor: intermediate-case) and 16 (cor: only-lipschitz-intermediate-case).

    The curvature falls as sigma_t = t^-alpha.

    Parameters
    ----------
    setting, horizon
        As for `flat`.
    alpha : float
        How fast the curvature falls, from 0 to 1.

    Returns
    -------
    float
        The expression inside O~.

    Raises
    ------
    ParameterError
        If `alpha` is not in [0, 1].
    """
    _check_alpha(alpha)
    # The paper's two cases meet where they are equal, so the smaller one is its case distinction;
    # it also covers target > T, where the paper's first range of alpha is empty.
    price = setting.target ** (1 / setting.order) * horizon ** (1 - (1 - alpha) / setting.order)
    return _barrier(setting, horizon) + min(float(price), _flat(setting, horizon))


# --- the two tables ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Rate:
    """One row of a table: regret O~(d^dim_exponent T^horizon_exponent) under a pattern.

    Parameters
    ----------
    pattern : str
        The curvature of the rounds, in words.
    horizon_exponent : float
        The exponent of the number of rounds T.
    dim_exponent : float
        The exponent of the dimension d.
    statement : str
        The label of the corollary in the paper's source.
    """

    pattern: str
    horizon_exponent: float
    dim_exponent: float
    statement: str


def decaying_exponent(order: int, alpha: float) -> float:
    """Exponent of T in Corollaries 11 and 16; its kink is at alpha = 1/(k+1).

    Parameters
    ----------
    order : int
        The k of the setting: `tuning.SMOOTH` or `tuning.LIPSCHITZ`.
    alpha : float
        How fast the curvature falls, from 0 to 1.

    Returns
    -------
    float
        The exponent of T.

    Raises
    ------
    ParameterError
        If `alpha` is not in [0, 1].
    """
    _check_alpha(alpha)
    return min((order - 1 + alpha) / order, order / (order + 1))


def table(order: int, alphas: Iterable[float]) -> tuple[Rate, ...]:
    """Table 1 (tab: res_smooth) or 2 (tab: res_lipschitz), with a row for each decay t^-alpha.

    Parameters
    ----------
    order : int
        The k of the setting: `tuning.SMOOTH` for Table 1, `tuning.LIPSCHITZ` for Table 2.
    alphas : iterable of float
        The decays t^-alpha for which a row is wanted, each from 0 to 1.

    Returns
    -------
    tuple of Rate
        The rows, in the order of the paper.
    """
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


# --- the prices --------------------------------------------------------------------------------


def _barrier(setting: Setting, horizon: float) -> float:
    """Price of the barrier, d sqrt(nu T), with nu = d; the Lipschitz corollaries leave it out."""
    if setting.order != SMOOTH:
        return 0.0
    return float(setting.dim**1.5 * horizon**0.5)


def _flat(setting: Setting, rounds: float) -> float:
    return float((setting.target * rounds**setting.order) ** (1 / (setting.order + 1)))


def _curved(setting: Setting, rounds: float, sigma: float) -> float:
    if not sigma > 0:
        raise ParameterError(f"sigma is {sigma}; wanted a positive number.")
    power = 1 / setting.order
    return float((setting.target / sigma) ** power * rounds ** (1 - power))


def _check_alpha(alpha: float) -> None:
    if not 0 <= alpha <= 1:
        raise ParameterError(f"alpha is {alpha}; wanted a number in [0, 1].")


def _check_rounds(rounds: float, horizon: float) -> None:
    if not 0 <= rounds <= horizon:
        raise ParameterError(
            f"rounds is {rounds}; wanted between 0 and the {horizon} rounds played."
        )
