"""The corollaries and the two tables: what the theorems say of particular curvature patterns.

Each corollary is its expression inside O~, logarithms and constants dropped, with nu = O(d) as in
the paper. Behind all of them stand two prices, with k and target as in `tuning`:

    n rounds without curvature        (target n^k)^(1/(k+1))
    n rounds of curvature sigma each  (target/sigma)^(1/k) n^((k-1)/k)

The Lipschitz corollaries leave out the d^(4/3) nu T^(1/3) of their theorem, as the paper does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dikin.errors import ParameterError
from dikin.theory.tuning import LIPSCHITZ, SMOOTH, lipschitz_target, smooth_target

# --- smooth losses -----------------------------------------------------------------------------


def smooth_zero(dim: int, horizon: float, smoothness: float) -> float:
    """Corollary 8 (cor: only-smooth): sigma_t = 0.

    Parameters
    ----------
    dim : int
        The dimension d.
    horizon : float
        The number of rounds T.
    smoothness : float
        The smoothness beta; not negative.

    Returns
    -------
    float
        The expression inside O~.
    """
    return _barrier(dim, horizon) + _flat(horizon, smooth_target(dim, smoothness), SMOOTH)


def smooth_constant(dim: int, horizon: float, smoothness: float, sigma: float) -> float:
    """Corollary 9 (cor: strongly-convex-smooth): sigma_t = sigma.

    Parameters
    ----------
    dim : int
        The dimension d.
    horizon : float
        The number of rounds T.
    smoothness : float
        The smoothness beta; not negative.
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
    target = smooth_target(dim, smoothness)
    return _barrier(dim, horizon) + _curved(horizon, sigma, target, SMOOTH)


def smooth_flat_first(
    dim: int, horizon: float, smoothness: float, sigma: float, flat: float
) -> float:
    """Corollary 10 (cor: worst-best-case), first bound: `flat` rounds have no curvature.

    They may come at any time; first is the worst.

    Parameters
    ----------
    dim : int
        The dimension d.
    horizon : float
        The number of rounds T.
    smoothness : float
        The smoothness beta; not negative.
    sigma : float
        The strong convexity of the curved rounds; positive.
    flat : float
        How many of the rounds have no curvature.

    Returns
    -------
    float
        The expression inside O~.

    Raises
    ------
    ParameterError
        If `sigma` is not positive, or `flat` not between 0 and the horizon.
    """
    _check_flat(flat, horizon)
    target = smooth_target(dim, smoothness)
    mixed = _flat(flat, target, SMOOTH) + _curved(horizon - flat, sigma, target, SMOOTH)
    return _barrier(dim, horizon) + mixed


def smooth_flat_last(
    dim: int, horizon: float, smoothness: float, sigma: float, flat: float
) -> float:
    """Corollary 10 (cor: worst-best-case), second bound: the last `flat` rounds are flat.

    Parameters
    ----------
    dim : int
        The dimension d.
    horizon : float
        The number of rounds T.
    smoothness : float
        The smoothness beta; not negative.
    sigma : float
        The strong convexity of the curved rounds; positive.
    flat : float
        How many of the rounds have no curvature.

    Returns
    -------
    float
        The expression inside O~.

    Raises
    ------
    ParameterError
        If `sigma` is not positive, or not one round is curved.
    """
    target = smooth_target(dim, smoothness)
    return _barrier(dim, horizon) + _flat_last(horizon, sigma, flat, target, SMOOTH)


def smooth_decaying(dim: int, horizon: float, smoothness: float, alpha: float) -> float:
    """Corollary 11 (cor: intermediate-case): sigma_t = t^-alpha.

    Parameters
    ----------
    dim : int
        The dimension d.
    horizon : float
        The number of rounds T.
    smoothness : float
        The smoothness beta; not negative.
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
    target = smooth_target(dim, smoothness)
    return _barrier(dim, horizon) + _decaying(horizon, alpha, target, SMOOTH)


def decaying_smooth_exponent(alpha: float) -> float:
    """Exponent of T in Corollary 11 (cor: intermediate-case); its kink is at 1/3.

    Parameters
    ----------
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
    return min((1 + alpha) / 2, 2 / 3)


# --- Lipschitz losses --------------------------------------------------------------------------


def lipschitz_zero(dim: int, horizon: float, lipschitz: float) -> float:
    """Corollary 13 (cor: only-Lipschitz): sigma_t = 0.

    Parameters
    ----------
    dim : int
        The dimension d.
    horizon : float
        The number of rounds T.
    lipschitz : float
        The Lipschitz constant L; not negative.

    Returns
    -------
    float
        The expression inside O~.
    """
    return _flat(horizon, lipschitz_target(dim, lipschitz), LIPSCHITZ)


def lipschitz_constant(dim: int, horizon: float, lipschitz: float, sigma: float) -> float:
    """Corollary 14 (cor: only-Lipschitz-strongly-cvx): sigma_t = sigma.

    Parameters
    ----------
    dim : int
        The dimension d.
    horizon : float
        The number of rounds T.
    lipschitz : float
        The Lipschitz constant L; not negative.
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
    return _curved(horizon, sigma, lipschitz_target(dim, lipschitz), LIPSCHITZ)


def lipschitz_flat_first(
    dim: int, horizon: float, lipschitz: float, sigma: float, flat: float
) -> float:
    """Corollary 15 (cor: only-lipschitz-worst-best-case), first bound.

    `flat` rounds have no curvature. They may come at any time; first is the worst.

    Parameters
    ----------
    dim : int
        The dimension d.
    horizon : float
        The number of rounds T.
    lipschitz : float
        The Lipschitz constant L; not negative.
    sigma : float
        The strong convexity of the curved rounds; positive.
    flat : float
        How many of the rounds have no curvature.

    Returns
    -------
    float
        The expression inside O~.

    Raises
    ------
    ParameterError
        If `sigma` is not positive, or `flat` not between 0 and the horizon.
    """
    _check_flat(flat, horizon)
    target = lipschitz_target(dim, lipschitz)
    return _flat(flat, target, LIPSCHITZ) + _curved(horizon - flat, sigma, target, LIPSCHITZ)


def lipschitz_flat_last(
    dim: int, horizon: float, lipschitz: float, sigma: float, flat: float
) -> float:
    """Corollary 15 (cor: only-lipschitz-worst-best-case), second bound: the last are flat.

    Parameters
    ----------
    dim : int
        The dimension d.
    horizon : float
        The number of rounds T.
    lipschitz : float
        The Lipschitz constant L; not negative.
    sigma : float
        The strong convexity of the curved rounds; positive.
    flat : float
        How many of the rounds have no curvature.

    Returns
    -------
    float
        The expression inside O~.

    Raises
    ------
    ParameterError
        If `sigma` is not positive, or not one round is curved.
    """
    return _flat_last(horizon, sigma, flat, lipschitz_target(dim, lipschitz), LIPSCHITZ)


def lipschitz_decaying(dim: int, horizon: float, lipschitz: float, alpha: float) -> float:
    """Corollary 16 (cor: only-lipschitz-intermediate-case): sigma_t = t^-alpha.

    Parameters
    ----------
    dim : int
        The dimension d.
    horizon : float
        The number of rounds T.
    lipschitz : float
        The Lipschitz constant L; not negative.
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
    return _decaying(horizon, alpha, lipschitz_target(dim, lipschitz), LIPSCHITZ)


def decaying_lipschitz_exponent(alpha: float) -> float:
    """Exponent of T in Corollary 16 (cor: only-lipschitz-intermediate-case); its kink is at 1/4.

    Parameters
    ----------
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
    return min((2 + alpha) / 3, 3 / 4)


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


def table1(alphas: Iterable[float] = (1 / 6, 2 / 3)) -> tuple[Rate, ...]:
    """Table 1 (tab: res_smooth), with one row for each decay t^-alpha.

    Parameters
    ----------
    alphas : iterable of float, default (1/6, 2/3)
        The decays t^-alpha for which a row is wanted, each from 0 to 1.

    Returns
    -------
    tuple of Rate
        The rows, in the order of the paper.
    """
    return (
        Rate("zero", 2 / 3, 2 / 3, "cor: only-smooth"),
        Rate("constant", 1 / 2, 3 / 2, "cor: strongly-convex-smooth"),
        Rate("first T^(3/4) flat", 1 / 2, 3 / 2, "cor: worst-best-case"),
        Rate("second half flat", 1 / 2, 3 / 2, "cor: worst-best-case"),
        *(
            Rate(
                f"decaying t^-{alpha:.3g}",
                decaying_smooth_exponent(alpha),
                3 / 2 if alpha < 1 / 3 else 2 / 3,
                "cor: intermediate-case",
            )
            for alpha in alphas
        ),
    )


def table2(alphas: Iterable[float] = (1 / 8, 1 / 2)) -> tuple[Rate, ...]:
    """Table 2 (tab: res_lipschitz), with one row for each decay t^-alpha.

    Parameters
    ----------
    alphas : iterable of float, default (1/8, 1/2)
        The decays t^-alpha for which a row is wanted, each from 0 to 1.

    Returns
    -------
    tuple of Rate
        The rows, in the order of the paper.
    """
    return (
        Rate("zero", 3 / 4, 1 / 2, "cor: only-Lipschitz"),
        Rate("constant", 2 / 3, 2 / 3, "cor: only-Lipschitz-strongly-cvx"),
        Rate("first T^(8/9) flat", 2 / 3, 2 / 3, "cor: only-lipschitz-worst-best-case"),
        Rate("second half flat", 2 / 3, 2 / 3, "cor: only-lipschitz-worst-best-case"),
        *(
            Rate(
                f"decaying t^-{alpha:.3g}",
                decaying_lipschitz_exponent(alpha),
                2 / 3 if alpha < 1 / 4 else 1 / 2,
                "cor: only-lipschitz-intermediate-case",
            )
            for alpha in alphas
        ),
    )


# --- the prices --------------------------------------------------------------------------------


def _barrier(dim: int, horizon: float) -> float:
    """Price of the barrier, d sqrt(nu T), with nu = d."""
    return float(dim**1.5 * horizon**0.5)


def _flat(rounds: float, target: float, order: int) -> float:
    return float((target * rounds**order) ** (1 / (order + 1)))


def _curved(rounds: float, sigma: float, target: float, order: int) -> float:
    if not sigma > 0:
        raise ParameterError(f"sigma is {sigma}; wanted a positive number.")
    return float((target / sigma) ** (1 / order) * rounds ** (1 - 1 / order))


def _flat_last(horizon: float, sigma: float, flat: float, target: float, order: int) -> float:
    _check_flat(flat, horizon)
    # Every round at the price of a curved one: what the first rounds gathered lasts to the end.
    curved = horizon - flat
    if not curved > 0:
        raise ParameterError(f"flat is {flat} of {horizon} rounds; wanted at least one curved one.")
    return horizon / curved * _curved(curved, sigma, target, order)


def _decaying(horizon: float, alpha: float, target: float, order: int) -> float:
    _check_alpha(alpha)
    # The paper's two cases meet where they are equal, so the smaller one is its case distinction;
    # it also covers d^2 (1 + beta) > T, where the paper's first range of alpha is empty.
    curved = target ** (1 / order) * horizon ** (1 - (1 - alpha) / order)
    return min(float(curved), _flat(horizon, target, order))


def _check_alpha(alpha: float) -> None:
    if not 0 <= alpha <= 1:
        raise ParameterError(f"alpha is {alpha}; wanted a number in [0, 1].")


def _check_flat(flat: float, horizon: float) -> None:
    if not 0 <= flat <= horizon:
        raise ParameterError(f"flat is {flat}; wanted between 0 and the {horizon} rounds played.")
